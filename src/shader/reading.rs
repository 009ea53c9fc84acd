//! How compiled code reads a texture: one level of normalised bytes in dwords, which lie row by row.

use std::fmt;

/// What of that is in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Four texels are mixed; else the nearest is taken.
    pub is_linear: bool,
    /// Along which axis it is repeated; else the texels at the edges go on.
    pub repeats: [bool; 2],
    /// What the components of an answer are.
    pub components: [Part; 4],
}

/// What a component is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This byte of the texels.
    Byte(u32),
    /// These bits.
    Constant(u32),
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filter = if self.is_linear { "linear" } else { "nearest" };
        let [s, t] = self.repeats.map(|repeats| if repeats { "repeated" } else { "clamped" });
        write!(f, "{filter}, s {s}, t {t}")?;
        self.components.iter().zip(["x", "y", "z", "w"]).try_for_each(|(part, component)| match part {
            Part::Byte(byte) => write!(f, ", {component} byte {byte}"),
            Part::Constant(bits) => write!(f, ", {component} {}", f32::from_bits(*bits)),
        })
    }
}

/// Where the level lies, for code to read when it runs.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct TexelExtent {
    /// What coordinates are multiplied with: texels, or 256 times as many where four are mixed.
    pub units: [f32; 2],
    /// Texels in a row, and rows.
    pub size: [u32; 2],
    /// Those but one.
    pub but_one: [u32; 2],
    /// Number of the dword that is the first texel.
    pub offset: u32,
    /// Dwords from one row to the next.
    pub pitch: u32,
}

impl TexelExtent {
    /// A level of `size` texels, both below 2^15, and so far from the texture's base, read so.
    pub fn new(size: [u32; 2], (offset, pitch): (u32, u32), reading: &Reading) -> Self {
        let units = if reading.is_linear { 256.0 } else { 1.0 };
        let but_one = size.map(|size| size.saturating_sub(1));
        Self { units: size.map(|size| units * size as f32), size, but_one, offset, pitch }
    }
}
