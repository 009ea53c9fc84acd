//! List of the rendered surfaces in memory.

use std::fmt;

use a4emu_decoder::adreno::address::Address;

use super::depth::DepthFormat;
use super::state::Targets;
use super::surface::{Location, Surface};
use a4emu_shader::format::arrangement::Arrangement;
use a4emu_shader::format::{Format, Swap};

/// A value with the name that the chip's generation has for it. It is shown by that name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Named<T> {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: T,
}

impl<T> fmt::Debug for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Content of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Colours in the surface's own format.
    Color,
    /// Depth (and stencil) that was copied with a colour format.
    Depth(Named<DepthFormat>),
}

/// A surface in memory that was written by a resolve or a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Submit of the last write.
    pub submit: u32,
    /// Draw of the last write.
    pub draw: u32,
    /// Address of the first pixel.
    pub address: Address,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Format of a pixel.
    pub format: Named<Format>,
    /// Order of its components.
    pub swap: Swap,
    /// Arrangement of its pixels.
    pub arrangement: Arrangement,
    /// Content of the surface.
    pub content: Content,
}

impl Targets {
    /// Returns the colour targets in memory that draw `draw` of submit `submit` has written on `surfaces`.
    pub fn written(&self, surfaces: &[Surface], submit: u32, draw: u32) -> Vec<Written> {
        let [width, height] = self.size;
        let targets = self.color.iter().zip(&self.color_format);
        let written = targets.filter_map(|(target, &(format, swap))| {
            let surface = &surfaces[target.surface];
            let Location::Memory(address) = surface.location else { return None };
            let (pitch, content) = (surface.pitch, Content::Color);
            let arrangement = Arrangement { samples: self.samples.count() as u32, tiling: surface.tiling };
            Some(Written { submit, draw, address, width, height, pitch, format, swap, arrangement, content })
        });
        written.collect()
    }
}

/// Surfaces in the order of their last write.
#[derive(Clone, Debug, Default)]
pub struct Surfaces {
    list: Vec<Written>,
}

impl Surfaces {
    /// Records a write, and moves the surface to the end.
    pub fn note(&mut self, written: Written) {
        self.list.retain(|surface| surface.address != written.address);
        self.list.push(written);
    }

    /// Returns all surfaces in the order of their last write.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Written> {
        self.list.iter()
    }

    /// Returns the colour surface that was written last.
    pub fn last_color(&self) -> Option<&Written> {
        self.list.iter().rev().find(|surface| surface.content == Content::Color)
    }
}
