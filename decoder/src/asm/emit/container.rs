//! The sections of the capture.

use super::super::ast::{Block, Buffer, Expr, ExprKind, Kind, Name, Span};
use super::body::Body;
use super::{Emitter, Extent, Result};
use crate::adreno::capture::{ChipId, NamedChip, SectionId};
use crate::generation::{DEFAULT, Generation};

/// Buffers without an address start at multiples of this.
const PAGE: u64 = 0x1000;

/// The last dump of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dump {
    address: u64,
    size: u32,
    /// Offset and length of the contents in the capture; `None` if the buffer was only announced.
    contents: Option<(usize, usize)>,
}

impl Emitter<'_, '_> {
    pub(super) fn container(&mut self, span: Span, kind: &Kind) -> Result<()> {
        if self.body.is_some() {
            return self.fail(span, "this does not belong inside a buffer or a section");
        }
        match kind {
            Kind::GpuId(id) => {
                let id = self.dword(id)?;
                self.name_chip(NamedChip::GpuId(id));
                self.section(span, SectionId::GPU_ID.to_bits(), &id.to_le_bytes())
            }
            Kind::ChipId(id) => {
                let id = self.address(id)?;
                self.name_chip(NamedChip::ChipId(ChipId(id)));
                self.section(span, SectionId::CHIP_ID.to_bits(), &id.to_le_bytes())
            }
            Kind::Text(id, text) => self.section(span, *id, text),
            Kind::Form(bytes) => self.set_form(bytes),
            Kind::Origin(address) => {
                self.origin = self.address(address)?;
                Ok(())
            }
            Kind::Marker(count) => self.markers(span, count.as_ref()),
            Kind::Section(id, block) => {
                let id = self.section_id(id)?;
                let payload = self.payload(span, 0, Vec::new(), block)?;
                self.section(span, id, &payload)
            }
            Kind::Raw(block) => {
                let payload = self.payload(span, 0, Vec::new(), block)?;
                self.append(span, &[&payload])
            }
            Kind::Buffer(buffer) => self.buffer(buffer),
            Kind::Again(name, changes) => self.again(name, changes.as_ref()),
            Kind::Submit(target, dwords) => self.submit(span, target, dwords.as_ref()),
            _ => unreachable!("the caller passes sections only"),
        }
    }

    /// Statements from here on are for the generation of `chip`, unless one was named before.
    fn name_chip(&mut self, chip: NamedChip) {
        if self.chip.is_none() && chip.gpu_id() != Some(0) {
            self.chip = Some(Generation::of(chip).unwrap_or(DEFAULT));
        }
    }

    /// Appends to the capture.
    fn append(&mut self, span: Span, parts: &[&[u8]]) -> Result<()> {
        self.charge_bytes(span, parts.iter().map(|part| part.len()).sum())?;
        parts.iter().for_each(|part| self.capture.extend_from_slice(part));
        Ok(())
    }

    fn section(&mut self, span: Span, id: u32, payload: &[u8]) -> Result<()> {
        let size = payload.len() as u32;
        self.append(span, &[&id.to_le_bytes(), &size.to_le_bytes(), payload])
    }

    /// The payload that `block` produces, starting from `bytes`.
    fn payload(&mut self, span: Span, base: u64, bytes: Vec<u8>, block: &Block) -> Result<Vec<u8>> {
        self.body = Some(Body { base, bytes, ..Body::default() });
        self.block(block)?;
        match self.body.take() {
            Some(body) => Ok(body.bytes),
            None => self.fail(span, "a section ended inside another"),
        }
    }

    fn section_id(&self, id: &Expr) -> Result<u32> {
        let by_name = match &id.kind {
            ExprKind::Name(name) => SectionId::TABLE.value_of(name),
            _ => None,
        };
        by_name.map_or_else(|| self.dword(id), Ok)
    }

    /// Evaluates a 64-bit address.
    fn address(&self, expr: &Expr) -> Result<u64> {
        let value = self.whole(expr)?;
        u64::try_from(value).or_else(|_| self.fail(expr.span, format!("{value} is not an address")))
    }

    fn set_form(&mut self, bytes: &Expr) -> Result<()> {
        self.form = match self.size(bytes)? {
            form @ (super::super::NARROW_RECORD | super::super::WIDE_RECORD) => form,
            _ => return self.fail(bytes.span, "address records have 8 or 12 bytes"),
        };
        Ok(())
    }

    fn markers(&mut self, span: Span, count: Option<&Expr>) -> Result<()> {
        let count = count.map_or(Ok(1), |count| self.size(count))?;
        let bytes = count.saturating_mul(8);
        self.charge_bytes(span, bytes)?;
        self.append(span, &[&vec![0xff; bytes]])
    }

    /// Writes an address record. A record of 8 bytes has no high half.
    fn record(&mut self, span: Span, id: SectionId, address: u64, length: u32) -> Result<()> {
        let (low, high) = (address as u32, (address >> 32) as u32);
        if self.form == super::super::NARROW_RECORD && high != 0 {
            return self.fail(span, format!("{address:#x} needs the 12-byte form"));
        }
        let words = [low, length, high].map(u32::to_le_bytes);
        let bytes = words.as_flattened();
        self.section(span, id.to_bits(), &bytes[..self.form])
    }

    fn buffer(&mut self, buffer: &Buffer) -> Result<()> {
        let span = buffer.name.span;
        let address = match &buffer.address {
            Some(address) => self.address(address)?,
            None => self.free_page(&buffer.name)?,
        };
        let size = buffer.size.as_ref().map(|size| self.size(size)).transpose()?;
        // The label is defined first so that the contents can use it. Its size follows after them.
        self.define(&buffer.name, Extent { address, bytes: size.map(|size| size as u64) })?;
        let contents = match &buffer.contents {
            Some(block) => Some(self.sized_payload(span, address, size, block)?),
            None => None,
        };
        let bytes = contents.as_ref().map(Vec::len).or(size);
        let Some(bytes) = bytes else {
            return self.fail(span, "a buffer wants `size` or contents");
        };
        let extent = Extent { address, bytes: Some(bytes as u64) };
        self.labels.insert(self.alias(&buffer.name.text).to_owned(), extent);
        self.take(buffer, address, address.saturating_add(bytes as u64));
        self.dump(&buffer.name, address, bytes as u32, contents.as_deref())
    }

    /// The first free page with room for `name`. The size is the one from the previous pass.
    fn free_page(&self, name: &Name) -> Result<u64> {
        let extent = self.known.labels.get(self.alias(&name.text));
        let bytes = extent.and_then(|extent| extent.bytes).unwrap_or(0).max(1);
        let mut from = self.origin;
        loop {
            self.charge(name.span, 1)?;
            let page =
                from.checked_next_multiple_of(PAGE).and_then(|page| Some((page, page.checked_add(bytes)?)));
            let Some((start, end)) = page else { return self.fail(name.span, "no address is left") };
            let taken = self.known.given.overlap(start, end).or_else(|| self.placed.overlap(start, end));
            match taken {
                Some((_, behind)) => from = behind,
                None => return Ok(start),
            }
        }
    }

    /// Records that `buffer` occupies `start..end`.
    fn take(&mut self, buffer: &Buffer, start: u64, end: u64) {
        if buffer.address.is_none() {
            self.origin = end;
            return self.placed.add(start, end);
        }
        let other = self.submits.overlap(start, end).filter(|_| !buffer.overlaps && self.overlap.is_none());
        if let Some((from, to)) = other {
            let name = &buffer.name.text;
            let message = format!(
                "`{name}` at {start:#x} to {end:#x} overlaps memory of the same submit, {from:#x} to {to:#x} \
                 (if that is meant: `overlaps` behind the address)"
            );
            self.overlap = self.fail::<()>(buffer.name.span, message).err();
        }
        self.given.add(start, end);
        self.submits.add(start, end);
    }

    /// The contents of a buffer, filled with zeros to `size`.
    fn sized_payload(
        &mut self,
        span: Span,
        base: u64,
        size: Option<usize>,
        block: &Block,
    ) -> Result<Vec<u8>> {
        let mut payload = self.payload(span, base, Vec::new(), block)?;
        let Some(size) = size else { return Ok(payload) };
        if payload.len() > size {
            let message = format!("{:#x} bytes of contents for a size of {size:#x}", payload.len());
            return self.fail(span, message);
        }
        self.must_fit(span, size)?;
        self.charge_bytes(span, size)?;
        payload.resize(size, 0);
        Ok(payload)
    }

    /// Announces a buffer and stores its contents.
    fn dump(&mut self, name: &Name, address: u64, size: u32, contents: Option<&[u8]>) -> Result<()> {
        self.record(name.span, SectionId::GPUADDR, address, size)?;
        let place = match contents {
            None => None,
            Some(bytes) => {
                self.section(name.span, SectionId::BUFFER_CONTENTS.to_bits(), bytes)?;
                Some((self.capture.len() - bytes.len(), bytes.len()))
            }
        };
        self.dumps.insert(self.alias(&name.text).to_owned(), Dump { address, size, contents: place });
        Ok(())
    }

    /// Dumps a buffer once more, with changes to its last contents.
    fn again(&mut self, name: &Name, changes: Option<&Block>) -> Result<()> {
        let Some(&Dump { address, size, contents }) = self.dumps.get(self.alias(&name.text)) else {
            return self.fail(name.span, format!("no buffer `{}` so far", name.text));
        };
        self.charge_bytes(name.span, contents.map_or(0, |(_, length)| length))?;
        let old = contents.map(|(start, length)| self.capture[start..start + length].to_vec());
        let new = match (changes, old) {
            (None, old) => old,
            (Some(changes), old) => {
                let old = old.unwrap_or_default();
                let length = old.len();
                let new = self.payload(name.span, address, old, changes)?;
                if new.len() > length.max(size as usize) {
                    return self.fail(name.span, format!("`{}` has {size:#x} bytes", name.text));
                }
                Some(new)
            }
        };
        self.dump(name, address, size, new.as_deref())
    }

    fn submit(&mut self, span: Span, target: &Expr, dwords: Option<&Expr>) -> Result<()> {
        self.submits.clear();
        let address = self.address(target)?;
        let dwords = match dwords {
            Some(dwords) => self.size(dwords)? as u32,
            None => self.label_dwords(target)?,
        };
        self.record(span, SectionId::CMDSTREAM_ADDR, address, dwords)
    }

    /// Number of dwords in the block of a label.
    pub(super) fn label_dwords(&self, target: &Expr) -> Result<u32> {
        let bytes = self.extent(target)?.as_float() as u64;
        self.at(target.span, u32::try_from(bytes / 4))
    }
}
