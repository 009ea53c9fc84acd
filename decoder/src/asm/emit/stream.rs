//! Packets.

use super::super::ast::{Arg, Expr, Kind, Packet, RegName, Span, Word};
use super::super::pack;
use super::super::print::{CALL, call_dwords};
use super::body::OpenPacket;
use super::{Emitter, Result};
use crate::adreno::pm4::PacketRow;
use crate::bits::{FieldRow, WordRow};
use crate::generation::{Framing, Generation};
use crate::similar::near;

/// A dword without named fields.
const NO_FIELDS: &[FieldRow] = &[];

/// The message that no packet is called `name`, with the most similar name.
fn unknown_packet(generation: &Generation, name: &str) -> String {
    let names = generation.packets.rows().iter().map(|row| row.name.to_owned());
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
                let (address, dwords) = (self.wide(target)?, self.label_dwords(target)?);
                let payload = call_dwords(self.generation(), address, dwords);
                self.command(span, self.pm4_opcode(CALL), false, &payload)
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
        if let Some(row) = descriptor(self.generation(), &reg.name) {
            let dword = self.word(row.fields, value)?;
            return self.put_dwords(reg.span, &[dword]);
        }
        let (offset, values) = self.values(reg, value)?;
        let header = self.body(reg.span)?.cursor;
        let count = values.len() as u32;
        self.put_dwords(reg.span, &[pack::writes(self.generation().framing, offset, count)])?;
        self.put_dwords(reg.span, &values)?;
        let body = self.body(reg.span)?;
        body.open = Some(OpenPacket { header, first: offset, values: count, end: body.cursor });
        Ok(())
    }

    /// The register that a write begins with, and its values: two where the name is that of an address in two registers.
    fn values(&self, reg: &RegName, value: &Word) -> Result<(u32, Vec<u32>)> {
        if let (Some(low), Word::Plain(value)) = (self.wide_register(reg)?, value) {
            let value = self.wide(value)?;
            return Ok((low, vec![value as u32, (value >> 32) as u32]));
        }
        let offset = self.register(reg)?;
        Ok((offset, vec![self.word(self.generation().registers.fields(offset), value)?]))
    }

    /// Evaluates a number of 64 bits.
    fn wide(&self, expr: &Expr) -> Result<u64> {
        let value = self.whole(expr)?;
        u64::try_from(value).or_else(|_| self.fail(expr.span, format!("{value} is not an address")))
    }

    /// Adds one more value to the previous packet.
    fn more(&mut self, span: Span, reg: &RegName, value: &Word) -> Result<()> {
        let (offset, values) = self.values(reg, value)?;
        let generation = self.generation();
        let body = self.body(span)?;
        let open = body.open.filter(|open| open.end == body.cursor);
        let Some(open) = open else { return self.fail(span, "`+` continues a register write") };
        let next = open.first + open.values;
        if offset != next {
            let wanted = generation.registers.name(next);
            return self.fail(reg.span, format!("`+` goes on with the next register, {wanted}"));
        }
        let count = open.values + values.len() as u32;
        let [most, _] = pack::most(generation.framing);
        if count > most {
            return self.fail(span, format!("{count} registers in one packet; {most} fit"));
        }
        self.put_dwords(span, &values)?;
        let header = pack::writes(generation.framing, open.first, count).to_le_bytes();
        let body = self.body(span)?;
        body.bytes[open.header..open.header + 4].copy_from_slice(&header);
        body.open = Some(OpenPacket { values: count, end: body.cursor, ..open });
        Ok(())
    }

    fn one_reg(&mut self, reg: &RegName, values: &[Expr]) -> Result<()> {
        let offset = self.register(reg)?;
        let generation = self.generation();
        if generation.framing != Framing::Types0To3 {
            let message =
                format!("an A{}xx has no packet of several writes to one register", generation.number);
            return self.fail(reg.span, message);
        }
        let rows = generation.registers.fields(offset);
        let word = |value: &Expr| self.word(rows, &Word::Plain(value.clone()));
        let dwords = values.iter().map(word).collect::<Result<Vec<u32>>>()?;
        self.put_dwords(reg.span, &[pack::type0_one_reg(offset, dwords.len() as u32)])?;
        self.put_dwords(reg.span, &dwords)
    }

    /// Emits a command with its header.
    pub(super) fn command(
        &mut self,
        span: Span,
        opcode: u8,
        predicated: bool,
        payload: &[u32],
    ) -> Result<()> {
        let count = payload.len() as u32;
        let generation = self.generation();
        let [_, most] = pack::most(generation.framing);
        if count > most {
            return self.fail(span, format!("{count} dwords in one packet; {most} fit"));
        }
        let header = match (predicated, generation.framing) {
            (false, framing) => pack::command(framing, opcode, count),
            (true, Framing::Types0To3) => pack::type3_predicated(opcode, count),
            (true, Framing::Types4And7) => {
                let message = format!("packets of an A{}xx have no predicate bit", generation.number);
                return self.fail(span, message);
            }
        };
        self.put_dwords(span, &[header])?;
        self.put_dwords(span, payload)
    }

    fn packet(&mut self, packet: &Packet) -> Result<()> {
        let span = packet.name.span;
        let opcode = self.opcode(&packet.name.text, span)?;
        let row = self.generation().packets.row(opcode);
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
        // A type-3 packet has at least one dword.
        if payload.is_empty() && self.generation().framing == Framing::Types0To3 {
            payload.push(0);
        }
        self.command(span, opcode, packet.predicated, &payload)
    }

    /// The opcode of the packet with this name, which every generation has.
    fn pm4_opcode(&self, name: &str) -> u8 {
        self.generation().packets.by_name(name).map_or(0, |row| row.opcode)
    }

    fn opcode(&self, name: &str, span: Span) -> Result<u8> {
        let number = name.strip_prefix("opcode_").and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match number.filter(|&opcode| opcode < 0x80) {
            Some(opcode) => Ok(opcode),
            None => match self.generation().packets.by_name(name) {
                Some(row) => Ok(row.opcode),
                None => self.fail(span, unknown_packet(self.generation(), name)),
            },
        }
    }

    fn argument(&self, row: Option<&'static PacketRow>, payload: &mut Vec<u32>, arg: &Arg) -> Result<()> {
        let row = row.map(|row| row.laid_out(payload));
        let fields = |index| row.and_then(|row| row.dword(index)).map_or(NO_FIELDS, |dword| dword.fields);
        match arg {
            Arg::Next(word) => payload.push(self.word(fields(payload.len()), word)?),
            Arg::Named(name, value) => {
                let reach = row.map_or(0, |row| row.dwords.len() + row.repeat.len()).max(payload.len() + 2);
                let is = |index: usize, text: &str| matches!(fields(index), [field] if field.name == text);
                let [low, high] = ["_LO", "_HI"].map(|half| format!("{}{half}", name.text));
                let named = |&index: &usize| is(index, &name.text) || is(index, &low);
                let Some(index) = (payload.len()..reach).find(named) else {
                    return self.fail(name.span, format!("no dword `{}` from here on", name.text));
                };
                payload.resize(index, 0);
                // An address in two dwords has one name for both.
                if is(index, &low) && is(index + 1, &high) {
                    let address = self.wide(value)?;
                    payload.extend([address as u32, (address >> 32) as u32]);
                } else {
                    payload.push(self.field(&fields(index)[0], value)?);
                }
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

fn descriptor(generation: &Generation, name: &str) -> Option<&'static WordRow> {
    let name = generation.without_prefix(name).unwrap_or(name);
    generation.descriptor_words().find(|row| row.name == name)
}
