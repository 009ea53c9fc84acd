//! The contents of a section: labels and data.

use super::super::ast::{Block, Expr, ExprKind, Kind, Name, ShaderLine, Span, Type};
use super::value::{Value, literal};
use super::{Emitter, Extent, INSTRUCTION, Result};
use crate::adreno::ir3::program;

/// Units that `put_repeated` writes at once.
const UNITS: usize = 4096;

/// The payload that statements add to.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Address of byte 0.
    pub(super) base: u64,
    pub(super) bytes: Vec<u8>,
    /// Offset at which the next byte is written: the end, except under `again`.
    pub(super) cursor: usize,
    /// The type-0 packet that a `+` continues.
    pub(super) open: Option<OpenPacket>,
}

/// A type-0 packet that may grow.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPacket {
    /// Offset of its header.
    pub(super) header: usize,
    /// Register of its first value.
    pub(super) first: u32,
    /// Number of its values so far.
    pub(super) values: u32,
    /// Offset of its end.
    pub(super) end: usize,
}

impl Body {
    pub(super) fn address(&self) -> u64 {
        self.base.wrapping_add(self.cursor as u64)
    }

    /// Writes at the cursor: first over existing bytes, then at the end.
    fn put(&mut self, bytes: &[u8]) {
        let over = bytes.len().min(self.bytes.len() - self.cursor);
        self.bytes[self.cursor..self.cursor + over].copy_from_slice(&bytes[..over]);
        self.bytes.extend_from_slice(&bytes[over..]);
        self.cursor += bytes.len();
    }

    /// Calls [`Body::put`] with `unit`, `count` times.
    fn put_repeated(&mut self, unit: &[u8], count: usize) {
        let units = UNITS.min(count);
        let chunk = unit.repeat(units);
        (0..count / units.max(1)).for_each(|_| self.put(&chunk));
        self.put(&unit.repeat(count % units.max(1)));
    }
}

impl Emitter<'_, '_> {
    /// The open section.
    pub(super) fn body(&mut self, span: Span) -> Result<&mut Body> {
        if self.body.is_none() {
            return self.fail(span, "this belongs inside a buffer or a section");
        }
        Ok(self.body.as_mut().expect("tested above"))
    }

    /// Fails if a section cannot hold `more` bytes more.
    pub(super) fn room(&mut self, span: Span, more: usize) -> Result<()> {
        let cursor = self.body(span)?.cursor;
        self.must_fit(span, cursor.saturating_add(more))?;
        self.charge_bytes(span, more)
    }

    /// Fails if a section cannot hold `bytes` bytes.
    pub(super) fn must_fit(&self, span: Span, bytes: usize) -> Result<()> {
        let limit = self.project.bounds.section;
        match bytes <= limit {
            true => Ok(()),
            false => self.fail(span, format!("more than {limit:#x} bytes in one section")),
        }
    }

    pub(super) fn put(&mut self, span: Span, bytes: &[u8]) -> Result<()> {
        self.room(span, bytes.len())?;
        self.body(span)?.put(bytes);
        Ok(())
    }

    pub(super) fn data(&mut self, span: Span, kind: &Kind) -> Result<()> {
        match kind {
            Kind::Label(name, block) => self.place(name, block.as_ref()),
            Kind::Numbers(ty, values) => values.iter().try_for_each(|value| self.number(*ty, value)),
            Kind::Bytes(bytes) => self.put(span, bytes),
            Kind::Zero(count) => {
                let count = self.size(count)?;
                self.repeat_bytes(span, count, &[0])
            }
            Kind::Fill(count, value) => {
                let (count, value) = (self.size(count)?, self.dword(value)?);
                self.repeat_bytes(span, count, &value.to_le_bytes())
            }
            Kind::Align(unit) => self.align(unit),
            Kind::At(offset) => self.seek(offset),
            Kind::Png(path, pitch) => self.png(span, path, pitch.as_ref()),
            Kind::Shader(lines) => self.shader(span, lines),
            _ => unreachable!("the caller passes data only"),
        }
    }

    fn repeat_bytes(&mut self, span: Span, count: usize, unit: &[u8]) -> Result<()> {
        let bytes = count.saturating_mul(unit.len());
        self.room(span, bytes)?;
        self.body(span)?.put_repeated(unit, count);
        Ok(())
    }

    fn align(&mut self, unit: &Expr) -> Result<()> {
        let size = self.size(unit)?;
        let cursor = self.body(unit.span)?.cursor;
        match cursor.checked_next_multiple_of(size) {
            Some(end) => self.repeat_bytes(unit.span, end - cursor, &[0]),
            None => self.fail(unit.span, "cannot align to 0"),
        }
    }

    /// Moves the cursor to an offset: forward with zeros, or back into existing bytes.
    fn seek(&mut self, offset: &Expr) -> Result<()> {
        let offset_bytes = self.size(offset)?;
        let body = self.body(offset.span)?;
        if offset_bytes <= body.bytes.len() {
            body.cursor = offset_bytes;
            return Ok(());
        }
        body.cursor = body.bytes.len();
        let gap = offset_bytes - body.cursor;
        self.repeat_bytes(offset.span, gap, &[0])
    }

    fn place(&mut self, name: &Name, block: Option<&Block>) -> Result<()> {
        let address = self.body(name.span)?.address();
        self.define(name, Extent { address, bytes: None })?;
        let Some(block) = block else { return Ok(()) };
        self.block(block)?;
        let end = self.body(name.span)?.address();
        let extent = Extent { address, bytes: Some(end.saturating_sub(address)) };
        self.labels.insert(self.alias(&name.text).to_owned(), extent);
        Ok(())
    }

    /// Defines a new label.
    pub(super) fn define(&mut self, name: &Name, extent: Extent) -> Result<()> {
        let text = self.alias(&name.text).to_owned();
        match self.labels.insert(text.clone(), extent) {
            None => Ok(()),
            Some(_) => self.fail(name.span, format!("label `{text}` is already defined")),
        }
    }

    fn number(&mut self, ty: Type, value: &Expr) -> Result<()> {
        match ty {
            Type::F32 => {
                let bits = self.float_bits(value)?;
                self.put(value.span, &bits.to_le_bytes())
            }
            Type::F16 => {
                let bits = half::f16::from_f64(self.value(value)?.as_float()).to_bits();
                self.put(value.span, &bits.to_le_bytes())
            }
            Type::U8 => self.integer(value, 8, 0, 0xff),
            Type::I8 => self.integer(value, 8, -0x80, 0x7f),
            Type::U16 => self.integer(value, 16, 0, 0xffff),
            Type::I16 => self.integer(value, 16, -0x8000, 0x7fff),
            Type::U32 => self.integer(value, 32, 0, u32::MAX.into()),
            Type::I32 => self.integer(value, 32, i32::MIN.into(), i32::MAX.into()),
            Type::U64 => self.integer(value, 64, 0, u64::MAX.into()),
        }
    }

    fn integer(&mut self, expr: &Expr, bits: usize, least: i128, most: i128) -> Result<()> {
        let value = self.whole(expr)?;
        if !(least..=most).contains(&value) {
            return self.fail(expr.span, format!("{value} is not between {least} and {most}"));
        }
        self.put(expr.span, &value.to_le_bytes()[..bits / 8])
    }

    /// The bits of a 32-bit float. A hexadecimal literal gives the bits; a decimal one is rounded once, not
    /// through 64 bits.
    fn float_bits(&self, expr: &Expr) -> Result<u32> {
        let (sign, text) = match &expr.kind {
            ExprKind::Number(text) => (0, text),
            ExprKind::Unary('-', inner) => match &inner.kind {
                ExprKind::Number(text) => (1 << 31, text),
                _ => return Ok((self.float(inner)? as f32).to_bits() ^ 1 << 31),
            },
            _ => return Ok((self.float(expr)? as f32).to_bits()),
        };
        match (text.starts_with("0x"), text.parse::<f32>(), literal(text)) {
            (true, _, Some(Value::Int(bits))) => {
                self.at(expr.span, u32::try_from(bits)).map(|bits| bits ^ sign)
            }
            (false, Ok(value), _) => Ok(value.to_bits() ^ sign),
            _ => self.fail(expr.span, format!("`{text}` is not a number")),
        }
    }

    fn float(&self, expr: &Expr) -> Result<f64> {
        match &expr.kind {
            ExprKind::Name(name) if name == "inf" => Ok(f64::INFINITY),
            _ => self.value(expr).map(Value::as_float),
        }
    }

    /// Writes the rows of a picture in RGBA, each padded to `pitch` bytes.
    fn png(&mut self, span: Span, path: &str, pitch: Option<&Expr>) -> Result<()> {
        let image = self.image(span, path)?;
        let row = image.width as usize * 4;
        let pitch = pitch.map_or(Ok(row), |pitch| self.size(pitch))?;
        if pitch < row {
            return self.fail(span, format!("a row of this image has {row} bytes"));
        }
        self.room(span, pitch.saturating_mul(image.height as usize))?;
        self.charge(span, image.height as usize)?;
        for pixels in image.rgba.chunks(row.max(1)) {
            self.put(span, pixels)?;
            self.repeat_bytes(span, pitch - row, &[0])?;
        }
        Ok(())
    }

    fn image(&mut self, span: Span, path: &str) -> Result<std::rc::Rc<super::Image>> {
        let from = self.project.sources[self.file()].name.clone();
        let name = self.project.files.resolve(&from, path);
        if let Some(image) = self.project.images.get(&name) {
            return Ok(image.clone());
        }
        let image = self.project.files.image(&name);
        let image = std::rc::Rc::new(self.at(span, image)?);
        self.project.images.insert(name, image.clone());
        Ok(image)
    }

    fn shader(&mut self, span: Span, lines: &[ShaderLine]) -> Result<()> {
        self.charge(span, lines.len().saturating_mul(INSTRUCTION))?;
        let texts = lines.iter().map(|line| self.substituted(line)).collect::<Result<Vec<_>>>()?;
        let words = program::assemble_in(self.generation().isa(), &texts.join("\n")).or_else(|error| {
            let Some(line) = error.line.checked_sub(1).and_then(|line| lines.get(line)) else {
                return self.fail(span, error.message);
            };
            let column = error.column.saturating_sub(1);
            let start = line.span.start.saturating_sub(column).max(line.span.end);
            self.fail(Span { start, ..line.span }, error.message)
        })?;
        words.iter().try_for_each(|word| self.put(span, &word.to_le_bytes()))
    }

    /// The line with `${name}` replaced by the values of constants.
    fn substituted(&self, line: &ShaderLine) -> Result<String> {
        let mut text = String::new();
        let mut rest = line.text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                return self.fail(line.span, "`${` without `}`");
            };
            let kind = ExprKind::Name(name.trim().into());
            let value = self.whole(&Expr { span: line.span, kind })?;
            text += before;
            text += &value.to_string();
            rest = after;
        }
        Ok(text + rest)
    }
}
