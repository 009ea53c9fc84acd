//! Which surfaces in memory were rendered.

use a4emu_decoder::regs::enums::{ColorFmt, ColorSwap, DepthFormat};

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
