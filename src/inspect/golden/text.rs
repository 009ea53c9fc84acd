//! Writes and parses state files.

use std::fmt;

use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::bits::value::{Show, WordText, is_bare};
use a4emu_decoder::bits::{FieldRow, Kind};
use thiserror::Error;

use super::{LoadRecord, Record, State};
use a4emu_gpu::gpu::Chip;

/// The start of a state file; the number is the version of the format.
pub const MAGIC: &str = "a4emu state 2 gpu ";

/// The first line of a state file, with its newline.
pub fn header(chip: Chip) -> String {
    format!("{MAGIC}{}\n", chip.id)
}

/// Displays one record as its lines.
pub struct RecordText<'a> {
    /// The record.
    pub record: &'a Record,
    /// The registers of the chip's generation.
    pub registers: &'static RegisterTable,
}

impl fmt::Display for RecordText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { number, frame_draw, submit, call, written, hash, .. } = self.record;
        writeln!(f, "\ndraw {number} f{frame_draw} submit {submit} {call}")?;
        for (offset, value) in &self.record.registers {
            write_register(f, self.registers, *offset, *value)?;
        }
        for load in &self.record.loads {
            writeln!(f, "  {} {} {} {:016x}", load.kind, load.first, load.dwords, load.hash)?;
        }
        writeln!(f, "  written {written} state {hash:016x}")
    }
}

/// `  0x20a4 RB_MRT[0].CONTROL 0x0f000c00 { ROP_CODE = ROP_COPY | .. }`
fn write_register(
    f: &mut fmt::Formatter<'_>,
    registers: &'static RegisterTable,
    offset: u32,
    word: u32,
) -> fmt::Result {
    write!(f, "  {offset:#06x} {} {word:#010x}", registers.name(offset))?;
    if let Some(reg) = registers.lookup(offset).filter(|reg| !says_no_more(reg.fields())) {
        write!(f, " {}", WordText { rows: reg.fields(), word, show: Show::NonZero })?;
    }
    writeln!(f)
}

/// Whether the fields would only repeat the hexadecimal number.
fn says_no_more(rows: &[FieldRow]) -> bool {
    is_bare(rows) && matches!(rows[0].kind, Kind::Hex | Kind::Addr(_))
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&header(self.chip))?;
        let registers = self.chip.generation().registers;
        self.records.iter().try_for_each(|record| RecordText { record, registers }.fmt(f))
    }
}

/// The reason why a text is no state file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// The first line is not that of a state file of this version.
    #[error("not a state file of this format")]
    NotAState,
    /// A line cannot be parsed.
    #[error("line {number}: `{}` does not belong in a state file", short(text))]
    BadLine {
        /// Line number, from 1.
        number: usize,
        /// The line.
        text: String,
    },
}

/// The start of a line, with control characters escaped.
fn short(line: &str) -> String {
    let start: String = line.chars().take(60).flat_map(char::escape_debug).collect();
    if line.chars().count() > 60 { start + ".." } else { start }
}

/// Parses a state file.
///
/// # Errors
/// The call fails at the first line that cannot be parsed.
pub fn parse(text: &str) -> Result<State, ParseError> {
    let mut lines = text.lines().enumerate();
    let first = lines.next().and_then(|(_, line)| line.strip_prefix(MAGIC)?.trim().parse().ok());
    let mut state = State { chip: Chip { id: first.ok_or(ParseError::NotAState)? }, records: Vec::new() };
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let bad = || ParseError::BadLine { number: index + 1, text: line.to_owned() };
        match line.strip_prefix("draw ") {
            Some(rest) => state.records.push(parse_call(rest).ok_or_else(bad)?),
            None => parse_line(state.records.last_mut().ok_or_else(bad)?, line).ok_or_else(bad)?,
        }
    }
    Ok(state)
}

fn parse_call(rest: &str) -> Option<Record> {
    let mut words = rest.splitn(5, ' ');
    let number = words.next()?.parse().ok()?;
    let frame_draw = words.next()?.strip_prefix('f')?.parse().ok()?;
    let _submit = words.next().filter(|word| *word == "submit")?;
    let submit = words.next()?.parse().ok()?;
    Some(Record { number, frame_draw, submit, call: words.next()?.to_owned(), ..Record::default() })
}

/// Parses a line of a record: a register, a load, or its last line.
fn parse_line(record: &mut Record, line: &str) -> Option<()> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [offset, _, value, ..] if offset.starts_with("0x") => {
            record.registers.push((hex(offset)? as u32, hex(value)? as u32));
        }
        ["written", written, "state", hash] => {
            record.written = written.parse().ok()?;
            record.hash = u64::from_str_radix(hash, 16).ok()?;
        }
        [stage, kind, first, dwords, hash] => record.loads.push(LoadRecord {
            kind: format!("{stage} {kind}"),
            first: first.parse().ok()?,
            dwords: dwords.parse().ok()?,
            hash: u64::from_str_radix(hash, 16).ok()?,
        }),
        _ => return None,
    }
    Some(())
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
