//! Explains registers: `explain REGISTER [VALUE]`.

use std::fmt;

use a4emu_decoder::bits::Certainty;
use serde::Serialize;

use super::fields::{Fields, about};
use crate::register_names::Asked;

/// The database entry of a register.
#[derive(Clone, Debug, Serialize)]
pub struct Register {
    name: String,
    /// Dword offset.
    offset: u32,
    /// Name of its hardware block. The next field describes the block.
    block: Option<&'static str>,
    block_about: Option<&'static str>,
    /// Number of registers in its array; 1 outside of arrays.
    elements: u32,
    /// Dwords from one element to the next.
    stride: u32,
    /// Whether no public source names it.
    guess: bool,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(flatten)]
    fields: Fields,
}

impl Register {
    /// The entry of `asked`, with `value` decoded if given.
    pub fn new(asked: &Asked, value: Option<u32>) -> Self {
        let reg = asked.registers.lookup(asked.offset);
        let row = reg.map(|reg| reg.row);
        let block = asked.registers.block(asked.offset);
        let word = value.map(|value| value & asked.mask());
        Self {
            name: asked.register().to_string(),
            offset: asked.offset,
            block: block.map(|block| block.name),
            block_about: block.map(|block| block.about),
            elements: row.map_or(1, |row| row.len),
            stride: row.map_or(0, |row| row.stride),
            guess: row.is_none_or(|row| row.certainty == Certainty::Inferred),
            about: row.map_or(String::new(), |row| about(row.doc)),
            value,
            fields: Fields::new(asked.fields(), word),
        }
    }

    /// One line with its offset, name and description.
    pub fn line(&self) -> String {
        let Self { offset, name, about, elements, .. } = self;
        let array = if *elements > 1 { format!(" and {} more", elements - 1) } else { String::new() };
        format!("{offset:04x} {name}{array}  {about}").trim_end().to_owned()
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, offset, elements, stride, .. } = self;
        write!(f, "{name}  {offset:04x} ({offset})")?;
        if *elements > 1 {
            write!(f, ", one of {elements}, {stride} dwords apart")?;
        }
        if let Some(value) = self.value {
            write!(f, " = {value:08x}")?;
        }
        f.write_str("\n")?;
        match (self.block, self.block_about) {
            (Some(block), Some(about)) => writeln!(f, "  in {block}: {about}")?,
            _ => writeln!(f, "  nobody has named it")?,
        }
        if self.guess && self.block.is_some() {
            writeln!(f, "  a guess: no public source names it")?;
        }
        if !self.about.is_empty() {
            writeln!(f, "  {}", self.about)?;
        }
        self.fields.fmt(f)
    }
}
