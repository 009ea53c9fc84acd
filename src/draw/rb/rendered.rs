//! Which surfaces in memory were rendered, and their pictures.

use a4emu_decoder::regs::enums::{ColorFmt, ColorSwap, DepthFormat};

use crate::format::{Format, Transfer};
use crate::memory::Memory;

/// What a surface holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Colour in its own format.
    Color,
    /// Depth (and stencil) that was copied under a colour format.
    Depth(DepthFormat),
}

/// A surface in memory that was written by a resolve or a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Submit of the last write.
    pub submit: u32,
    /// Draw of the last write.
    pub draw: u32,
    /// Of the first pixel.
    pub address: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Format of a pixel.
    pub format: ColorFmt,
    /// Order of its components.
    pub swap: ColorSwap,
    /// What it holds.
    pub content: Content,
}

/// Surfaces in the order of their last write.
#[derive(Clone, Debug, Default)]
pub struct Surfaces {
    list: Vec<Written>,
}

impl Surfaces {
    /// Notes a write: the surface moves to the end.
    pub fn note(&mut self, written: Written) {
        self.list.retain(|surface| surface.address != written.address);
        self.list.push(written);
    }

    /// All surfaces, last written last.
    pub fn iter(&self) -> impl Iterator<Item = &Written> {
        self.list.iter()
    }

    /// The colour surface that was written last.
    pub fn last_color(&self) -> Option<&Written> {
        self.list.iter().rev().find(|surface| surface.content == Content::Color)
    }
}

/// A picture in memory row order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Four bytes a pixel.
    Rgba8(Vec<u8>),
    /// A 16-bit grey value a pixel.
    Grey16(Vec<u16>),
}

impl Written {
    /// The picture; what is not in memory is black. Integers are cut to a byte, floats to
    /// 0..1. `None` for formats without a pixel codec.
    pub fn picture(&self, memory: &Memory) -> Option<Picture> {
        match self.content {
            Content::Color => self.color(memory),
            Content::Depth(format) => Some(self.depth(memory, format)),
        }
    }

    fn rows<'m>(&self, memory: &'m Memory, cpp: u32) -> impl Iterator<Item = Vec<u8>> + use<'m> {
        let (base, pitch, len) = (self.address, self.pitch, (self.width * cpp) as usize);
        (0..self.height).map(move |y| {
            let mut row = vec![0; len];
            let address = u64::from(base) + u64::from(y) * u64::from(pitch);
            if let Ok(address) = u32::try_from(address) {
                let _missing_is_black = memory.read(address, &mut row);
            }
            row
        })
    }

    fn color(&self, memory: &Memory) -> Option<Picture> {
        let codec = Format::color(self.format)?.codec(self.swap, Transfer::Linear)?;
        let byte = |lane: u32| match codec.is_integer() {
            true => lane.min(255) as u8,
            false => (f32::from_bits(lane).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8,
        };
        let mut out = Vec::new();
        for row in self.rows(memory, codec.bytes()) {
            for texel in row.chunks_exact(codec.bytes() as usize) {
                out.extend(codec.decode(codec.load(texel)).map(byte));
            }
        }
        Some(Picture::Rgba8(out))
    }

    fn depth(&self, memory: &Memory, format: DepthFormat) -> Picture {
        let cpp = if format == DepthFormat::DEPTH4_16 { 2 } else { 4 };
        let value = |bytes: &[u8]| match (format, bytes) {
            (DepthFormat::DEPTH4_24_8, &[_, low, high, _]) => u16::from_le_bytes([low, high]),
            (_, &[low, high]) => u16::from_le_bytes([low, high]),
            (_, &[a, b, c, d]) => (f32::from_le_bytes([a, b, c, d]).clamp(0.0, 1.0) * 65535.0).round() as u16,
            _ => 0,
        };
        Picture::Grey16(
            self.rows(memory, cpp)
                .flat_map(|row| row.chunks_exact(cpp as usize).map(value).collect::<Vec<_>>())
                .collect(),
        )
    }
}
