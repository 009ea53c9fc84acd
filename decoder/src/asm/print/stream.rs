//! Prints packets as statements.

use std::fmt::Write;

use super::out::Out;
use super::plan::Plan;
use super::{data, state};
use crate::a4xx::pm4::Pm4;
use crate::adreno::packet::{Packet, Packets};
use crate::adreno::pm4::{Outline, PacketRow};
use crate::bits::value::{FieldValue, Show, WordText, is_bare};
use crate::bits::{FieldRow, parse};
use crate::generation::{Framing, Generation};

const INDENT: &str = "    ";

/// The packet that `call` stands for.
pub(in crate::asm) const CALL: &str = "CP_INDIRECT_BUFFER";

/// The dwords of [`CALL`]: the address as wide as the generation has it, then the size in dwords.
pub(in crate::asm) fn call_dwords(generation: &Generation, address: u64, size: u32) -> Vec<u32> {
    match generation.address_bits {
        ..=32 => vec![address as u32, size],
        _ => vec![address as u32, (address >> 32) as u32, size],
    }
}

/// Prints the packets of a command buffer. Bytes that are no packet are printed as data.
pub(super) fn commands(out: &mut Out<'_>, plan: &Plan, bytes: &[u8]) {
    each(plan.generation, bytes, |packet, range| match packet {
        Some(packet) => statement(out, plan, packet, &bytes[range]),
        None => data::data(out, INDENT, &bytes[range]),
    });
}

/// The previous contents of a command buffer, and its offset in the buffer object.
pub(super) struct Changed<'a> {
    pub(super) old: &'a [u8],
    pub(super) start: usize,
}

/// Prints the packets that changed, each run of them at its offset.
pub(super) fn changes(out: &mut Out<'_>, plan: &Plan, bytes: &[u8], changed: Changed<'_>) {
    let mut written = None;
    each(plan.generation, bytes, |packet, range| {
        if bytes[range.clone()] == changed.old[range.clone()] {
            return;
        }
        if written != Some(range.start) {
            let _ = writeln!(out, "  at {:#x}", changed.start + range.start);
        }
        written = Some(range.end);
        match packet {
            Some(packet) => statement(out, plan, packet, &bytes[range]),
            None => data::data(out, INDENT, &bytes[range]),
        }
    });
}

/// Calls `visit` for every packet with the bytes that it covers, then for the bytes that are no packet.
fn each(
    generation: &Generation,
    bytes: &[u8],
    mut visit: impl FnMut(Option<&Packet<'_>>, std::ops::Range<usize>),
) {
    let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&dword| u32::from_le_bytes(dword)).collect();
    let mut packets = Packets::new(generation.framing, &words);
    let mut start = 0;
    while let Some(Ok(packet)) = packets.next() {
        let end = packets.offset() * 4;
        visit(Some(&packet), start..end);
        start = end;
    }
    if start < bytes.len() {
        visit(None, start..bytes.len());
    }
}

fn statement(out: &mut Out<'_>, plan: &Plan, packet: &Packet<'_>, bytes: &[u8]) {
    match *packet {
        Packet::Registers { reg, one_reg, values } => writes(out, plan, (reg, one_reg), values, bytes),
        Packet::TwoRegisters { .. } => data::data(out, INDENT, bytes),
        Packet::Filler => {
            let _ = writeln!(out, "{INDENT}pad");
        }
        Packet::Command { opcode, predicated, payload } => {
            command(out, plan, (opcode, predicated), payload, bytes)
        }
    }
}

fn writes(out: &mut Out<'_>, plan: &Plan, (reg, one_reg): (u32, bool), values: &[u32], bytes: &[u8]) {
    let registers = plan.generation.registers;
    let last = reg as usize + if one_reg { 0 } else { values.len().saturating_sub(1) };
    if last >= registers.space() || values.is_empty() {
        return data::data(out, INDENT, bytes);
    }
    if one_reg {
        match one_reg_values(registers.fields(reg), values) {
            Some(text) => {
                let _ = writeln!(out, "{INDENT}one_reg {} {text}", registers.name(reg));
            }
            None => data::data(out, INDENT, bytes),
        }
        return;
    }
    for (offset, &value) in (reg..).zip(values) {
        let more = if offset == reg { "" } else { "+ " };
        let _ = write!(out, "{INDENT}{more}{} ", registers.name(offset));
        let rows = registers.fields(offset);
        if rows.is_empty() || is_bare(rows) {
            out.push_str("= ");
        }
        word(out, rows, value);
        out.push('\n');
    }
}

/// The values, separated by commas, if each is read back to equal bits.
fn one_reg_values(rows: &'static [FieldRow], values: &[u32]) -> Option<String> {
    let text = |&raw: &u32| match rows {
        [row] if row.width() == 32 => {
            let text = FieldValue { row, raw }.to_string();
            (row.parse(&text) == Ok(raw)).then_some(text)
        }
        _ => Some(format!("{raw:#x}")),
    };
    values.iter().map(text).collect::<Option<Vec<String>>>().map(|texts| texts.join(", "))
}

/// Prints a word by its fields, or as bits if the fields would not give the word back.
pub(super) fn word(out: &mut Out<'_>, rows: &'static [FieldRow], word: u32) {
    let text = WordText { rows, word, show: Show::NonZero }.to_string();
    let _ = match (rows.is_empty(), parse::word(rows, &text)) {
        (true, _) => write!(out, "{word:#x}"),
        (false, Ok(same)) if same == word => out.write_str(&text),
        _ => write!(out, "{{ {word:#x} }}"),
    };
}

fn command(out: &mut Out<'_>, plan: &Plan, (opcode, predicated): (u8, bool), payload: &[u32], bytes: &[u8]) {
    if !predicated && friendly(out, plan, opcode, payload) {
        return;
    }
    // What a packet without arguments stands for: a type-3 packet has at least one dword.
    let nothing: &[u32] = match plan.generation.framing {
        Framing::Types0To3 => &[0],
        Framing::Types4And7 => &[],
    };
    let row = plan.generation.packets.row(opcode);
    let fixed = row.map_or(0, |row| row.dwords.len() - row.optional);
    if payload.len() < fixed {
        return data::data(out, INDENT, bytes);
    }
    out.push_str(INDENT);
    if predicated {
        out.push_str("pred ");
    }
    let _ = match row {
        Some(row) => out.write_str(row.name),
        None => write!(out, "opcode_{opcode:02x}"),
    };
    if fixed > 0 || payload != nothing {
        arguments(out, row, payload);
    }
    out.push('\n');
}

/// Writes a statement that is easier to read than the packet. Returns whether there is one.
fn friendly(out: &mut Out<'_>, plan: &Plan, opcode: u8, payload: &[u32]) -> bool {
    let is_call = plan.generation.packets.row(opcode).is_some_and(|row| row.name == CALL);
    match (plan.generation.framing, (plan.generation.outline)(opcode, payload)) {
        (_, Outline::Call(call)) if is_call => {
            let size = payload.last().copied().unwrap_or(0);
            let dwords = call_dwords(plan.generation, call.address.get(), size);
            let label = plan.label(call.address.get(), u64::from(size) * 4).filter(|_| dwords == payload);
            label.is_some_and(|label| writeln!(out, "{INDENT}call {label}").is_ok())
        }
        (Framing::Types0To3, Outline::Load) => match Pm4::parse(opcode, payload) {
            Pm4::LoadState4(load) => state::load(out, plan, &load, payload),
            _ => false,
        },
        _ => false,
    }
}

/// Writes the dwords with a known layout in parentheses, the others in braces.
fn arguments(out: &mut Out<'_>, row: Option<&'static PacketRow>, payload: &[u32]) {
    let row = row.map(|row| row.laid_out(payload));
    let repeats = row.is_some_and(|row| !row.repeat.is_empty());
    let laid_out = row.map_or(0, |row| row.dwords.len()).min(payload.len());
    let laid_out = if repeats { payload.len() } else { laid_out };
    if laid_out > 0 {
        out.push('(');
        for (index, &dword) in payload[..laid_out].iter().enumerate() {
            out.push_str(if index == 0 { "" } else { ", " });
            let fields = row.and_then(|row| row.dword(index)).map_or(&[][..], |dword| dword.fields);
            argument(out, fields, dword);
        }
        out.push(')');
    }
    if laid_out < payload.len() {
        out.push_str(" {\n");
        let bytes: Vec<u8> = payload[laid_out..].iter().flat_map(|dword| dword.to_le_bytes()).collect();
        data::data(out, "      ", &bytes);
        let _ = write!(out, "{INDENT}}}");
    }
}

fn argument(out: &mut Out<'_>, fields: &'static [FieldRow], dword: u32) {
    match fields {
        [row] if row.width() == 32 => {
            let text = FieldValue { row, raw: dword }.to_string();
            let _ = match row.parse(&text) {
                Ok(same) if same == dword => write!(out, "{} = {text}", row.name),
                _ => write!(out, "{{ {dword:#x} }}"),
            };
        }
        _ => word(out, fields, dword),
    }
}
