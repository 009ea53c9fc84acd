//! Explains instructions: `explain ir3 HI LO`; and lists many, a line each.

use std::fmt;

use a4emu_decoder::adreno::ir3::layout::{CATEGORIES, category, fields};
use a4emu_decoder::adreno::ir3::{Body, Isa};
use serde::Serialize;

/// A decoded instruction word.
#[derive(Clone, Debug, Serialize)]
pub struct Instruction {
    hi: u32,
    lo: u32,
    /// The text of the disassembler.
    text: String,
    category: usize,
    category_about: &'static str,
    /// Null for a word that a4emu does not know.
    mnemonic: Option<&'static str>,
    fields: Vec<Field>,
    /// Set bits that the instruction does not define.
    extra: String,
}

/// A field of the word.
#[derive(Clone, Copy, Debug, Serialize)]
struct Field {
    name: &'static str,
    lo: u32,
    hi: u32,
    raw: u64,
}

impl Instruction {
    /// Decodes the word of `hi` and `lo`, one of `isa`.
    pub fn new(isa: Isa, hi: u32, lo: u32) -> Self {
        let word = u64::from(hi) << 32 | u64::from(lo);
        let instr = isa.decode(word);
        let field = |field: a4emu_decoder::adreno::ir3::layout::WordField| Field {
            name: field.name,
            lo: field.lo,
            hi: field.hi,
            raw: field.raw(word),
        };
        Self {
            hi,
            lo,
            text: instr.to_string(),
            category: category(word),
            category_about: CATEGORIES[category(word)],
            mnemonic: instr.body.mnemonic(),
            fields: fields(isa, word).into_iter().map(field).collect(),
            extra: match instr.body {
                Body::Unknown => format!("{word:#018x}"),
                _ => format!("{:#x}", instr.extra),
            },
        }
    }
}

/// The line of a word in a list: the word and its text.
pub fn line(isa: Isa, hi: u32, lo: u32) -> String {
    let word = u64::from(hi) << 32 | u64::from(lo);
    format!("{hi:08x}_{lo:08x}\t{}\n", isa.decode(word))
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hi, lo, text, category, category_about, .. } = self;
        writeln!(f, "{hi:08x}_{lo:08x}  {text}")?;
        write!(f, "  category {category}: {category_about}")?;
        match self.mnemonic {
            Some(mnemonic) => writeln!(f, ", {mnemonic}")?,
            None => writeln!(f, "; the word is not known to a4emu")?,
        }
        for Field { name, lo, hi, raw } in &self.fields {
            let bits = if lo == hi { lo.to_string() } else { format!("{lo}..{hi}") };
            writeln!(f, "  {bits:7} {name:10} {raw:#x}")?;
        }
        match self.extra.as_str() {
            "0x0" => Ok(()),
            extra => writeln!(f, "  bits {extra} differ from what the instruction needs"),
        }
    }
}
