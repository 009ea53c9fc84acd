//! The grammar, in nom: source text to statements.
//!
//! The first word decides the kind of a statement. So the parser never backtracks, and an error is reported
//! at the place where the text is wrong.

mod expr;
mod statement;
mod stream;
mod text;

use std::cell::Cell;

use nom::error::{ErrorKind, ParseError};
use nom::{IResult, Parser};

use super::ast::{Block, Name, Span};

/// A syntax error: what was expected, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Bytes from the offending text to the end of the source.
    pub left: usize,
    /// The message: one lower-case line.
    pub message: String,
}

impl ParseError<&str> for Trouble {
    fn from_error_kind(input: &str, _: ErrorKind) -> Self {
        Self { left: input.len(), message: "unexpected text".into() }
    }
    fn append(_: &str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

type Parsed<'s, T> = IResult<&'s str, T, Trouble>;

/// Largest depth of nested blocks and parentheses. The limit keeps sources from exhausting the stack.
const MAX_DEPTH: usize = 64;
/// Largest number of operators in one expression, with those in parentheses. It limits the depth of its tree.
const MAX_OPERATORS: usize = 256;
/// Largest number of statements and values in all files of a source together.
const MAX_NODES: usize = 1 << 23;

/// The parser's limits: current depth of nesting, and number of statements and values.
#[derive(Debug)]
pub(super) struct Nest {
    depth: Cell<usize>,
    /// Depth of nested expressions, and number of operators in the outermost one.
    expressions: Cell<usize>,
    operators: Cell<usize>,
    /// Number of statements and values that are still allowed.
    nodes_left: Cell<usize>,
}

impl Default for Nest {
    fn default() -> Self {
        Self::for_nodes(MAX_NODES)
    }
}

impl Nest {
    /// Limits for sources of at most `nodes` statements and values together.
    fn for_nodes(nodes: usize) -> Self {
        let [depth, expressions, operators] = [const { Cell::new(0) }; 3];
        Self { depth, expressions, operators, nodes_left: Cell::new(nodes) }
    }

    /// Runs `parse` one bracket deeper. The bracket is at the start of `input`.
    fn inside<'s, T>(&self, input: &'s str, parse: impl FnOnce() -> Parsed<'s, T>) -> Parsed<'s, T> {
        let depth = self.depth.get() + 1;
        if depth > MAX_DEPTH {
            return refuse(input, format!("more than {MAX_DEPTH} brackets inside each other"));
        }
        self.depth.set(depth);
        let parsed = parse();
        self.depth.set(depth - 1);
        parsed
    }

    /// Runs `parse` as an expression, which may be inside another one.
    fn expression<'s, T>(&self, parse: impl FnOnce() -> Parsed<'s, T>) -> Parsed<'s, T> {
        let outside = self.expressions.get();
        if outside == 0 {
            self.operators.set(0);
        }
        self.expressions.set(outside + 1);
        let parsed = parse();
        self.expressions.set(outside);
        parsed
    }

    /// Counts one more operator of the expression.
    fn operator(&self, input: &str) -> Result<(), nom::Err<Trouble>> {
        self.operators.set(self.operators.get() + 1);
        match self.operators.get() > MAX_OPERATORS {
            true => refuse(input, format!("more than {MAX_OPERATORS} operators in an expression")),
            false => Ok(()),
        }
    }

    /// Counts one more statement or value.
    fn node(&self, input: &str) -> Result<(), nom::Err<Trouble>> {
        let Some(left) = self.nodes_left.get().checked_sub(1) else {
            return refuse(input, "too many statements and values in a source".into());
        };
        self.nodes_left.set(left);
        Ok(())
    }
}

/// Parses a whole source into statements.
///
/// # Errors
/// The position at which parsing failed, and what was expected there.
pub(super) fn parse(source: &str, nest: &Nest) -> Result<Block, Trouble> {
    let (rest, block) = statement::statements(nest, source).map_err(trouble)?;
    match rest.is_empty() {
        true => Ok(block),
        false => Err(Trouble { left: rest.len(), message: "unmatched `}`".into() }),
    }
}

fn trouble(error: nom::Err<Trouble>) -> Trouble {
    match error {
        nom::Err::Error(trouble) | nom::Err::Failure(trouble) => trouble,
        nom::Err::Incomplete(_) => Trouble { left: 0, message: "unexpected end".into() },
    }
}

/// Ends the parse at `input` with `message`.
fn refuse<T>(input: &str, message: String) -> Result<T, nom::Err<Trouble>> {
    Err(nom::Err::Failure(Trouble { left: input.len(), message }))
}

fn expected<T>(input: &str, what: impl std::fmt::Display) -> Parsed<'_, T> {
    let found = match input.split_whitespace().next() {
        None => "the end of the file".into(),
        Some(word) => format!("`{}`", word.chars().take(40).collect::<String>()),
    };
    refuse(input, format!("expected {what}, found {found}"))
}

/// Skips spaces and tabs.
fn space(input: &str) -> &str {
    input.trim_start_matches([' ', '\t'])
}

/// Skips spaces, line ends and comments (`// ..` and `; ..`).
fn blank(mut input: &str) -> &str {
    loop {
        input = input.trim_start();
        if !input.starts_with("//") && !input.starts_with(';') {
            return input;
        }
        input = input.find('\n').map_or("", |end| &input[end..]);
    }
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// The identifier at the start of `input`; empty if there is none.
fn peek_name(input: &str) -> &str {
    if !input.starts_with(is_start) {
        return "";
    }
    let end = input.find(|c| !is_inside(c)).unwrap_or(input.len());
    // A range such as `a..b` ends the name, and so does a final point.
    let name = &input[..end];
    let name = name.find("..").map_or(name, |end| &name[..end]);
    name.trim_end_matches('.')
}

fn name(input: &str) -> Parsed<'_, Name> {
    let text = peek_name(input);
    if text.is_empty() {
        return expected(input, "a name");
    }
    let rest = &input[text.len()..];
    Ok((rest, Name { text: text.into(), span: Span { start: input.len(), end: rest.len() } }))
}

/// Consumes `token`, which must be there.
fn token<'s>(token: &str, input: &'s str) -> Parsed<'s, ()> {
    match input.strip_prefix(token) {
        Some(rest) => Ok((rest, ())),
        None => expected(input, format!("`{token}`")),
    }
}

/// Consumes `word`, if it is the next whole word.
fn keyword<'s>(word: &str, input: &'s str) -> Option<&'s str> {
    (peek_name(input) == word).then(|| &input[word.len()..])
}

/// One or more items with commas between them; a line may end after a comma.
fn list<'s, T>(
    mut item: impl Parser<&'s str, Output = T, Error = Trouble>,
    input: &'s str,
) -> Parsed<'s, Vec<T>> {
    let mut items = Vec::new();
    let mut rest = input;
    loop {
        let (after, value) = item.parse(rest)?;
        items.push(value);
        match space(after).strip_prefix(',') {
            Some(after) => rest = blank(after),
            None => return Ok((after, items)),
        }
    }
}

/// Zero or more items in parentheses.
fn arguments<'s, T>(
    nest: &Nest,
    item: impl Parser<&'s str, Output = T, Error = Trouble>,
    input: &'s str,
) -> Parsed<'s, Vec<T>> {
    let (rest, ()) = token("(", input)?;
    let rest = blank(rest);
    if let Some(rest) = rest.strip_prefix(')') {
        return Ok((rest, Vec::new()));
    }
    let (rest, items) = nest.inside(input, || list(item, rest))?;
    let (rest, ()) = token(")", blank(rest))?;
    Ok((rest, items))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Position, in bytes from the end, at which `source` is refused with a limit of `nodes`.
    fn refused(source: &str, nodes: usize) -> Option<usize> {
        let trouble = parse(source, &Nest::for_nodes(nodes)).err()?;
        assert!(trouble.message.contains("too many statements and values"), "{trouble:?}");
        Some(trouble.left)
    }

    /// Each statement and each value counts, also in blocks and lists.
    #[test]
    fn so_many_statements_and_values_and_no_more() {
        for (source, nodes) in [
            ("const a = 1\nconst b = 2\n", 4),
            ("u32 1, 2, 3\n", 4),
            ("repeat 2 { align 4 }\n", 4),
            ("const a = (1 + 2) * 3\n", 5),
        ] {
            assert_eq!(refused(source, nodes), None, "{source}");
            assert!(refused(source, nodes - 1).is_some_and(|left| left < source.len()), "{source}");
            assert_eq!(refused(source, 0), Some(source.len()), "{source}");
        }
    }

    /// The files of a source share one limit.
    #[test]
    fn files_of_a_source_share_one_node_limit() {
        let nest = Nest::for_nodes(5);
        assert!(parse("u32 1, 2\n", &nest).is_ok());
        assert!(parse("u32 1, 2\n", &nest).is_err());
        assert_eq!(Nest::default().nodes_left.get(), MAX_NODES);
    }
}
