//! Texture reads in compiled code: one level of normalised bytes in dwords, stored row by row.

use std::fmt;

/// The parameters of a texture read that are part of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether four texels are mixed. Otherwise the nearest one is taken.
    pub is_linear: bool,
    /// Whether the texture repeats, per axis. Otherwise coordinates are clamped to the edge.
    pub repeats: [bool; 2],
    /// The source of each component of the result.
    pub components: [ComponentSource; 4],
}

/// The source of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComponentSource {
    /// A byte of each texel, with this index.
    Byte(u32),
    /// A constant, as bits.
    Constant(u32),
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = if self.is_linear { "linear" } else { "nearest" };
        let [s, t] = self.repeats.map(|repeats| if repeats { "repeated" } else { "clamped" });
        write!(f, "{filter}, s {s}, t {t}")?;
        self.components.iter().zip(["x", "y", "z", "w"]).try_for_each(|(part, component)| match part {
            ComponentSource::Byte(byte) => write!(f, ", {component} byte {byte}"),
            ComponentSource::Constant(bits) => write!(f, ", {component} {}", f32::from_bits(*bits)),
        })
    }
}

/// The layout of the level, which the code reads at run time.
#[derive(Clone, Copy, Debug)]
pub struct TexelExtent {
    /// Factor of the coordinates: the size in texels, or 256 times the size with linear filtering.
    pub units: [f32; 2],
    /// Texels in a row, and number of rows.
    pub size: [u32; 2],
    /// The size minus one.
    pub but_one: [u32; 2],
    /// Dword offset of the first texel.
    pub offset: u32,
    /// Distance of two rows, in dwords.
    pub pitch: u32,
}

impl TexelExtent {
    /// The layout of a level of `size` texels, both below 2^15, at a dword offset and pitch from the
    /// texture's base.
    pub fn new(size: [u32; 2], (offset, pitch): (u32, u32), reading: &Reading) -> Self {
        let units = if reading.is_linear { 256.0 } else { 1.0 };
        let but_one = size.map(|size| size.saturating_sub(1));
        Self { units: size.map(|size| units * size as f32), size, but_one, offset, pitch }
    }
}
