//! Assembles and disassembles whole programs with labels.
//!
//! ```text
//! ; a comment, also // or @ to the end of the line
//! loop:
//!     (jp)add.s r0.x, r0.x, -1
//!     cmps.s.gt p0.x, r0.x, 0
//!     br p0.x, #loop        ; or #l0, or the offset #-2
//!     end
//! ```
//!
//! A label `l<n>` that no line defines is the instruction at index n; the disassembler uses such labels. A
//! trailing `;` is allowed.
use super::Isa;
use std::collections::BTreeMap;
use std::fmt;

/// Why a program cannot be assembled, with line and column, which count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// Line of the source.
    pub line: usize,
    /// Column in bytes.
    pub column: usize,
    /// The error message.
    pub message: String,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for AsmError {}

/// A source line with an instruction.
struct Statement<'a> {
    line: usize,
    column: usize,
    text: &'a str,
}

/// Assembles a program of an A4xx to its words.
///
/// # Errors
/// As [`assemble_in`].
pub fn assemble(source: &str) -> Result<Vec<u64>, AsmError> {
    assemble_in(Isa::A4xx, source)
}

/// Assembles a program to words of `isa`.
///
/// # Errors
/// The first line that cannot be parsed, or that names an unknown label.
pub fn assemble_in(isa: Isa, source: &str) -> Result<Vec<u64>, AsmError> {
    let (statements, labels) = split(source)?;
    let words = statements.iter().enumerate().map(|(index, statement)| {
        let mut label = |name: &str| offset(&labels, name, index);
        let instr = isa.parse(statement.text, &mut label).map_err(|error| AsmError {
            line: statement.line,
            column: statement.column + error.offset,
            message: format!("expected {}", error.expected),
        })?;
        Ok(instr.encode())
    });
    words.collect()
}

/// The distance from the instruction at `index` to the label `name`.
fn offset(labels: &BTreeMap<&str, usize>, name: &str, index: usize) -> Option<i32> {
    let numbered = || name.strip_prefix('l').and_then(|n| n.parse::<usize>().ok());
    let target = labels.get(name).copied().or_else(numbered)?;
    i32::try_from(i64::try_from(target).ok()? - i64::try_from(index).ok()?).ok()
}

type Split<'a> = (Vec<Statement<'a>>, BTreeMap<&'a str, usize>);

/// Splits the source into statements and labels; a label has the index of the instruction after it.
fn split(source: &str) -> Result<Split<'_>, AsmError> {
    let mut statements = Vec::new();
    let mut labels = BTreeMap::new();
    for (number, line) in source.lines().enumerate() {
        let mut text = without_comment(line);
        while let Some((name, rest)) = label(text) {
            if labels.insert(name.trim(), statements.len()).is_some() {
                let message = format!("label {} is already defined", name.trim());
                return Err(AsmError {
                    line: number + 1,
                    column: 1 + line.len() - line.trim_start().len(),
                    message,
                });
            }
            text = rest;
        }
        let column = 1 + text.as_ptr() as usize - line.as_ptr() as usize;
        let leading = text.len() - text.trim_start().len();
        let text = text.trim();
        if !text.is_empty() {
            statements.push(Statement { line: number + 1, column: column + leading, text });
        }
    }
    Ok((statements, labels))
}

fn without_comment(line: &str) -> &str {
    let ends = [line.find(';'), line.find("//"), line.find('@')];
    &line[..ends.into_iter().flatten().min().unwrap_or(line.len())]
}

/// Splits `name:` from the start of the text.
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let inner = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let starts = inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (starts && inner.chars().all(plain)).then_some((name, rest))
}

/// Writes a program of an A4xx as text, as [`disassemble_in`].
///
/// # Errors
/// The errors of `out`.
pub fn disassemble(words: &[u64], out: &mut impl fmt::Write) -> fmt::Result {
    disassemble_in(Isa::A4xx, words, out)
}

/// Writes a program as text that [`assemble_in`] turns back into `words`: one instruction on a line, and a line
/// `l<n>:` before each target.
///
/// # Errors
/// The errors of `out`.
pub fn disassemble_in(isa: Isa, words: &[u64], out: &mut impl fmt::Write) -> fmt::Result {
    let targets = targets(isa, words);
    for (index, &word) in words.iter().enumerate() {
        if targets.get(index) == Some(&true) {
            writeln!(out, "l{index}:")?;
        }
        writeln!(out, "{}", isa.decode(word).in_program(index, words.len()))?;
    }
    Ok(())
}

/// Whether each instruction is the target of another one.
fn targets(isa: Isa, words: &[u64]) -> Vec<bool> {
    let mut targets = vec![false; words.len()];
    for (index, &word) in words.iter().enumerate() {
        if let Some(target) = isa.decode(word).target(index, words.len()) {
            targets[target] = true;
        }
    }
    targets
}
