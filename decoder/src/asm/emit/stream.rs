//! Packets.

use super::super::ast::{Arg, Expr, Kind, Packet, RegName, Span, Word};
use super::super::pack;
use super::body::OpenPacket;
use super::{Emitter, Result};
use crate::a4xx::A4XX;
use crate::a4xx::pm4::PACKETS;
use crate::a4xx::regs::REGISTERS;
use crate::adreno::pm4::PacketRow;
use crate::bits::{FieldRow, WordRow};
use crate::similar::near;

/// A dword without named fields.
const NO_FIELDS: &[FieldRow] = &[];

/// The message that no packet is called `name`, with the most similar name.
fn unknown_packet(name: &str) -> String {
    let names = PACKETS.rows().iter().map(|row| row.name.to_owned());
    match near(name, names).first() {
        Some(near) => format!("no packet `{name}`; did you mean {near}?"),
        None => format!("no packet `{name}`"),
    }
}

impl Emitter<'_, '_> {
    pub(super) fn stream(&mut self, span: Span, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Write(reg, value) => self.write(reg, value),
            Kind::More(reg, value) => self.more(span, reg, value),
            Kind::OneReg(reg, values) => self.one_reg(reg, values),
            Kind::Packet(packet) => self.packet(packet),
            Kind::Load(target, first, source) => self.load(target, first.as_ref(), source),
            Kind::Call(target) => {
                let dwords = [self.dword(target)?, self.label_dwords(target)?];
                self.type3(span, pm4_opcode("CP_INDIRECT_BUFFER"), false, &dwords)
            }
            Kind::Pad => self.put(span, &crate::adreno::packet::TYPE2.to_le_bytes()),
            _ => unreachable!("the caller passes packets only"),
        }
    }

    fn put_dwords(&mut self, span: Span, dwords: &[u32]) -> Result<()> {
        dwords.iter().try_for_each(|dword| self.put(span, &dword.to_le_bytes()))
    }

    /// Emits a type-0 packet of one value, or a word of a descriptor.
    fn write(&mut self, reg: &RegName, value: &Word) -> Result<()> {
        if let Some(row) = descriptor(&reg.name) {
            let dword = self.word(row.fields, value)?;
            return self.put_dwords(reg.span, &[dword]);
        }
        let offset = self.register(reg)?;
        let value = self.word(REGISTERS.fields(offset), value)?;
        let header = self.body(reg.span)?.cursor;
        self.put_dwords(reg.span, &[pack::type0(offset, 1), value])?;
        let body = self.body(reg.span)?;
        body.open = Some(OpenPacket { header, first: offset, values: 1, end: body.cursor });
        Ok(())
    }

    /// Adds one more value to the previous packet.
    fn more(&mut self, span: Span, reg: &RegName, value: &Word) -> Result<()> {
        let offset = self.register(reg)?;
        let value = self.word(REGISTERS.fields(offset), value)?;
        let body = self.body(span)?;
        let open = body.open.filter(|open| open.end == body.cursor);
        let Some(open) = open else { return self.fail(span, "`+` continues a register write") };
        let next = open.first + open.values;
        if offset != next {
            let wanted = REGISTERS.name(next);
            return self.fail(reg.span, format!("`+` goes on with the next register, {wanted}"));
        }
        self.put_dwords(span, &[value])?;
        let header = pack::type0(open.first, open.values + 1).to_le_bytes();
        let body = self.body(span)?;
        body.bytes[open.header..open.header + 4].copy_from_slice(&header);
        body.open = Some(OpenPacket { values: open.values + 1, end: body.cursor, ..open });
        Ok(())
    }

    fn one_reg(&mut self, reg: &RegName, values: &[Expr]) -> Result<()> {
        let offset = self.register(reg)?;
        let rows = REGISTERS.fields(offset);
        let word = |value: &Expr| self.word(rows, &Word::Plain(value.clone()));
        let dwords = values.iter().map(word).collect::<Result<Vec<u32>>>()?;
        self.put_dwords(reg.span, &[pack::type0_one_reg(offset, dwords.len() as u32)])?;
        self.put_dwords(reg.span, &dwords)
    }

    /// Emits a type-3 packet with its header.
    pub(super) fn type3(&mut self, span: Span, opcode: u8, predicated: bool, payload: &[u32]) -> Result<()> {
        let count = payload.len() as u32;
        if count > pack::MAX_COUNT {
            return self.fail(span, format!("{count} dwords in one packet; {} fit", pack::MAX_COUNT));
        }
        let header = if predicated { pack::type3_predicated } else { pack::type3 };
        self.put_dwords(span, &[header(opcode, count)])?;
        self.put_dwords(span, payload)
    }

    fn packet(&mut self, packet: &Packet) -> Result<()> {
        let span = packet.name.span;
        let opcode = self.opcode(&packet.name.text, span)?;
        let row = PACKETS.row(opcode);
        let mut payload = Vec::new();
        for arg in &packet.args {
            self.argument(row, &mut payload, arg)?;
        }
        if let Some(data) = &packet.data {
            payload.extend(self.inner_dwords(span, data)?);
        }
        let fixed = row.map_or(0, |row| row.dwords.len() - row.optional);
        if payload.len() < fixed {
            return self
                .fail(span, format!("`{}` wants {fixed} dwords, not {}", packet.name.text, payload.len()));
        }
        if payload.is_empty() {
            payload.push(0);
        }
        self.type3(span, opcode, packet.predicated, &payload)
    }

    fn opcode(&self, name: &str, span: Span) -> Result<u8> {
        let number = name.strip_prefix("opcode_").and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match number.filter(|&opcode| opcode < 0x80) {
            Some(opcode) => Ok(opcode),
            None => match PACKETS.by_name(name) {
                Some(row) => Ok(row.opcode),
                None => self.fail(span, unknown_packet(name)),
            },
        }
    }

    fn argument(&self, row: Option<&'static PacketRow>, payload: &mut Vec<u32>, arg: &Arg) -> Result<()> {
        let fields = |index| row.and_then(|row| row.dword(index)).map_or(NO_FIELDS, |dword| dword.fields);
        match arg {
            Arg::Next(word) => payload.push(self.word(fields(payload.len()), word)?),
            Arg::Named(name, value) => {
                let reach = row.map_or(0, |row| row.dwords.len() + row.repeat.len()).max(payload.len() + 2);
                let named = |&index: &usize| matches!(fields(index), [field] if field.name == name.text);
                let Some(index) = (payload.len()..reach).find(named) else {
                    return self.fail(name.span, format!("no dword `{}` from here on", name.text));
                };
                payload.resize(index, 0);
                payload.push(self.field(&fields(index)[0], value)?);
            }
        }
        Ok(())
    }

    /// The dwords of a block inside a packet. Its labels get addresses in the section; the data of a load
    /// starts two dwords after the header.
    pub(super) fn inner_dwords(&mut self, span: Span, data: &[super::Statement]) -> Result<Vec<u32>> {
        let outer = self.body(span)?;
        let start = outer.cursor.next_multiple_of(4);
        let taken = std::mem::take(outer);
        let base = taken.base.wrapping_add(start as u64);
        self.body = Some(super::Body { base, ..super::Body::default() });
        self.block(data)?;
        let inner = self.body.replace(taken).unwrap_or_default();
        self.charge_bytes(span, inner.bytes.len())?;
        let (dwords, rest) = inner.bytes.as_chunks::<4>();
        match rest.is_empty() {
            true => Ok(dwords.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()),
            false => {
                self.fail(span, format!("{} bytes inside a packet are not whole dwords", inner.bytes.len()))
            }
        }
    }
}

fn descriptor(name: &str) -> Option<&'static WordRow> {
    let name = A4XX.without_prefix(name).unwrap_or(name);
    A4XX.descriptor_words().find(|row| row.name == name)
}

/// The opcode of the packet with this name.
pub(super) fn pm4_opcode(name: &str) -> u8 {
    PACKETS.by_name(name).map_or(0, |row| row.opcode)
}
