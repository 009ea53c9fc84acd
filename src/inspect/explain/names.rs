//! Explains names that are no registers: packets, enumerators, enumerations and operations of ir3.

use std::fmt;

use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::layout::CATEGORIES;
use a4emu_decoder::adreno::ir3::meaning::{Operation, operations};
use a4emu_decoder::adreno::pm4::{DwordRow, PacketRow};
use a4emu_decoder::adreno::registers::RegRef;
use a4emu_decoder::bits::{EnumTable, FieldRow, Kind};
use a4emu_decoder::generation::Generation;
use a4emu_decoder::names::fits;
use serde::Serialize;

use super::fields::{Fields, about};
use crate::subjects::{Source, Subject};

/// Most fields that are listed for an enumeration.
const MAX_USES: usize = 6;

/// A packet of the database.
#[derive(Clone, Debug, Serialize)]
pub struct PacketType {
    #[serde(skip)]
    ty: u32,
    name: &'static str,
    /// Older names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    older: Vec<&'static str>,
    opcode: u8,
    about: String,
    /// The dwords of the payload whose layout is known.
    payload: Vec<Fields>,
    /// How many of the last ones may be absent.
    optional: usize,
    /// The dwords that repeat after them.
    repeat: Vec<Fields>,
}

/// A value of an enumeration, or all of its values.
#[derive(Clone, Debug, Serialize)]
pub struct Enumeration {
    enumeration: &'static str,
    values: Vec<Value>,
    /// Fields of registers and packets that have this type. Each array counts once.
    used_by: Vec<String>,
}

/// A named value.
#[derive(Clone, Copy, Debug, Serialize)]
struct Value {
    name: &'static str,
    value: u32,
}

/// An operation of ir3.
#[derive(Clone, Debug, Serialize)]
pub struct Mnemonic {
    mnemonic: String,
    category: u8,
    category_about: &'static str,
    opcode: u8,
    /// The mnemonic of older assemblers.
    #[serde(skip)]
    old: Option<&'static str>,
    about: &'static str,
}

/// A dword of a packet, or a word of a descriptor in memory.
#[derive(Clone, Debug, Serialize)]
pub struct Word {
    name: String,
    /// What it is a part of.
    #[serde(skip)]
    of: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
    #[serde(flatten)]
    fields: Fields,
}

impl Word {
    /// The word of `subject`, with `value` decoded if given; `None` for a register.
    pub fn new(subject: &Subject, value: Option<u32>) -> Option<Self> {
        let of = match subject.source {
            Source::Register(_) => return None,
            Source::Dword(row, index) => format!("dword {index} of {}", row.name),
            Source::Word(_) => "word of a descriptor".to_owned(),
        };
        let word = value.map(|value| if subject.field.is_some() { value & subject.mask() } else { value });
        Some(Self { name: subject.source.name(), of, value, fields: Fields::new(subject.fields(), word) })
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.of)?;
        if let Some(value) = self.value {
            write!(f, " = {value:08x}")?;
        }
        write!(f, "\n{}", self.fields)
    }
}

/// The packets whose name fits `text`.
pub fn packets(generation: &Generation, text: &str) -> Vec<PacketType> {
    let of = |row: &PacketRow| {
        let fields = |rows: &'static [DwordRow]| -> Vec<Fields> {
            rows.iter().map(|row| Fields::new(row.fields, None)).collect()
        };
        let (payload, repeat) = (fields(row.dwords), fields(row.repeat));
        PacketType {
            ty: generation.framing.command_type(),
            name: row.name,
            older: row.names().skip(1).collect(),
            opcode: row.opcode,
            about: about(row.doc),
            payload,
            optional: row.optional,
            repeat,
        }
    };
    generation
        .packets
        .rows()
        .iter()
        .filter(|row| row.names().any(|name| is_named(name, text)))
        .map(of)
        .collect()
}

/// The enumerations whose name fits `text`, and the values of others that do.
pub fn enumerations(generation: &Generation, text: &str) -> Vec<Enumeration> {
    generation
        .enums()
        .filter_map(|table| {
            let is_whole = is_named(table.name, text);
            let is_asked = |name: &str| is_whole || is_named(name, text);
            let values = table.values.iter().filter(|(_, name)| is_asked(name));
            let values: Vec<Value> = values.map(|&(value, name)| Value { name, value }).collect();
            let found = Enumeration { enumeration: table.name, values, used_by: Vec::new() };
            (!found.values.is_empty()).then(|| Enumeration { used_by: uses(generation, table), ..found })
        })
        .collect()
}

/// The fields of type `table`.
fn uses(generation: &Generation, table: &EnumTable) -> Vec<String> {
    let is_of = |row: &&FieldRow| matches!(row.kind, Kind::Enum(of) if of.name == table.name);
    let of_packet = |packet: &'static PacketRow| {
        let fields = packet.dwords.iter().chain(packet.repeat).flat_map(|dword| dword.fields);
        fields.filter(is_of).map(|row| format!("{}.{}", packet.name, row.name))
    };
    let of_register =
        |reg: RegRef| reg.fields().iter().filter(is_of).map(move |row| format!("{}.{}", reg, row.name));
    let firsts = generation.registers.all().filter(|reg| reg.index == 0);
    firsts.flat_map(of_register).chain(generation.packets.rows().iter().flat_map(of_packet)).collect()
}

/// The operations of `isa` whose mnemonic fits `text`. The letters of a form (`atomic.s`, and from A6xx on `.a`, `.b`
/// and `.k`) are not part of it.
pub fn mnemonics(isa: Isa, text: &str) -> Vec<Mnemonic> {
    let mut text = text.replace("atomic.s.", "atomic.");
    if isa != Isa::A4xx {
        text = text.replace("atomic.g.", "atomic.").replace("atomic.b.", "atomic.");
        let form = [".a", ".b", ".k"].into_iter().find_map(|form| text.strip_suffix(form));
        let of_memory = form.filter(|name| ["ldg", "stg", "ldib", "stib", "resinfo", "ldc"].contains(name));
        text = of_memory.map(str::to_owned).unwrap_or(text);
    }
    let is_asked = |operation: &Operation| {
        let mut names = [operation.mnemonic.as_str()].into_iter().chain(operation.old);
        names.any(|name| is_named(name, &text))
    };
    let found = operations(isa).into_iter().filter(is_asked);
    found
        .map(|Operation { category, opcode, mnemonic, old, meaning }| Mnemonic {
            mnemonic,
            category,
            category_about: CATEGORIES[usize::from(category)],
            opcode,
            old,
            about: meaning,
        })
        .collect()
}

/// Whether `name` is what is asked for: a name in any case, or a pattern.
fn is_named(name: &str, asked: &str) -> bool {
    fits(asked, name)
}

/// All names that this file explains, for messages with similar names.
pub fn all(generation: &Generation) -> Vec<String> {
    let tables = generation.enums().flat_map(|table| {
        table.values.iter().map(|(_, name)| (*name).to_owned()).chain([table.name.to_owned()])
    });
    let packets = generation.packets.rows().iter().flat_map(|row| row.names()).map(str::to_owned);
    let operations = operations(generation.isa()).into_iter().map(|operation| operation.mnemonic);
    packets.chain(tables).chain(operations).collect()
}

impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ty, name, older, opcode, about, payload, optional, repeat } = self;
        let older = older.iter().map(|older| format!("; `{older}` in older headers")).collect::<String>();
        writeln!(f, "{name}: packet of type {ty}, opcode {opcode:#04x}{older}")?;
        if !about.is_empty() {
            writeln!(f, "  {about}")?;
        }
        for (index, fields) in payload.iter().enumerate() {
            let may_be_absent = if index + optional >= payload.len() { " (may be absent)" } else { "" };
            write!(f, "  dword {index}{may_be_absent}\n{fields}")?;
        }
        for (index, fields) in repeat.iter().enumerate() {
            write!(f, "  further dwords, {} of {}\n{fields}", index + 1, repeat.len())?;
        }
        Ok(())
    }
}

impl fmt::Display for Enumeration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Value { name, value } in &self.values {
            writeln!(f, "{name} = {value} ({value:#x}) of {}", self.enumeration)?;
        }
        for used in self.used_by.iter().take(MAX_USES) {
            writeln!(f, "  used by {used}")?;
        }
        match self.used_by.len().saturating_sub(MAX_USES) {
            0 => Ok(()),
            more => writeln!(f, "  and by {more} more fields"),
        }
    }
}

impl fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mnemonic, category, category_about, opcode, old, about } = self;
        let old = old.map_or(String::new(), |old| format!("; `{old}` in older assemblers"));
        writeln!(
            f,
            "{mnemonic}: ir3, category {category} ({category_about}), opcode {opcode}{old}\n  {about}"
        )
    }
}
