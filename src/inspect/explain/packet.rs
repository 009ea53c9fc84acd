//! Explains packets: `explain pm4 DWORDS..`.

use std::fmt;

use a4emu_decoder::adreno::packet::{Packet, Packets};
use a4emu_decoder::adreno::pm4::PacketRow;
use a4emu_decoder::generation::Generation;
use serde::Serialize;

use super::fields::{Fields, about};
use super::register::Register;
use crate::register_names::Asked;

/// A decoded packet.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// Dwords before the packet.
    at: usize,
    header: u32,
    #[serde(rename = "type")]
    ty: u32,
    /// Opcode of a type-3 packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    opcode: Option<u8>,
    name: String,
    about: String,
    /// Whether it runs only if the predicate is set.
    predicated: bool,
    /// Payload of a type-3 packet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    payload: Vec<Dword>,
    /// Register writes of a type-0 or type-1 packet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<Register>,
}

/// A dword of a payload.
#[derive(Clone, Debug, Serialize)]
struct Dword {
    value: u32,
    #[serde(flatten)]
    fields: Fields,
}

/// Decodes the packets of `dwords`, a stream of `generation`. Returns them, and the error after the last one.
pub fn explain(generation: &'static Generation, dwords: &[u32]) -> (Vec<Explained>, Option<String>) {
    let (mut explained, mut wrong) = (Vec::new(), None);
    let mut packets = Packets::new(generation.framing, dwords);
    loop {
        let at = packets.offset();
        match packets.next() {
            None => return (explained, wrong),
            Some(Ok(packet)) => explained.push(Explained::new(generation, at, dwords[at], &packet)),
            Some(Err(error)) => wrong = Some(error.to_string()),
        }
    }
}

impl Explained {
    fn new(generation: &'static Generation, at: usize, header: u32, packet: &Packet<'_>) -> Self {
        let name = match packet {
            Packet::Registers { .. } => "register writes".to_owned(),
            Packet::TwoRegisters { .. } => "two register writes".to_owned(),
            Packet::Filler => "filler".to_owned(),
            Packet::Command { opcode, .. } => generation.packets.name(*opcode).to_string(),
        };
        let (opcode, predicated, payload) = match *packet {
            Packet::Command { opcode, predicated, payload } => (Some(opcode), predicated, payload),
            _ => (None, false, &[][..]),
        };
        let row = opcode.and_then(|opcode| generation.packets.row(opcode));
        Self {
            at,
            header,
            ty: generation.framing.type_of(header),
            opcode,
            name,
            about: row.map_or(String::new(), |row| about(row.doc)),
            predicated,
            payload: {
                let row = row.map(|row| row.laid_out(payload));
                (0..).zip(payload).map(|(index, &value)| Dword::new(row, index, value)).collect()
            },
            writes: packet.writes().map(|(offset, value)| write(generation, offset, value)).collect(),
        }
    }
}

fn write(generation: &'static Generation, offset: u32, value: u32) -> Register {
    Register::new(
        &Asked { registers: generation.registers, offset, field: None, by_pattern: false },
        Some(value),
    )
}

impl Dword {
    fn new(row: Option<&'static PacketRow>, index: usize, value: u32) -> Self {
        let row = row.and_then(|row| row.dword(index));
        Self { value, fields: Fields::new(row.map_or(&[], |row| row.fields), Some(value)) }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { header, name, about, .. } = self;
        let opcode = self.opcode.map_or(String::new(), |opcode| format!(", opcode {opcode:#x}"));
        let predicated = if self.predicated { ", predicated" } else { "" };
        writeln!(f, "{header:08x}  {name}: type {}{opcode}{predicated}", self.ty)?;
        if !about.is_empty() {
            writeln!(f, "  {about}")?;
        }
        for Dword { value, fields } in &self.payload {
            write!(f, "{value:08x}\n{fields}")?;
        }
        self.writes.iter().try_for_each(|write| write.fmt(f))
    }
}
