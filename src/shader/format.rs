//! Texel, pixel and vertex-attribute formats.
//!
//! A [`Format`] is the meaning of the number in a descriptor. A generation of the chip has a table of them
//! (`src/gpu/a4xx/formats.rs`). With the memory
//! order (SWAP) and the transfer function (sRGB) it resolves to a [`Codec`], once per draw. A codec converts
//! between the bytes of a texel and four 32-bit lanes. A lane is the content of a shader register: binary32
//! bits, or an integer for the integer types. `format/convert.rs` defines the rounding.
pub mod arrangement;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod block;
mod codec;
mod convert;
mod macrotiles;
mod srgb;

pub use block::{Block, Compression, Profile};
pub use codec::{Codec, UnormField};
pub use convert::{float_to_unorm, unorm_step, unorm_to_float};

/// Type of the bits of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Sint,
    /// Binary floating point of 32, 16, 11 or 10 bits.
    Float,
    /// Signed 16.16.
    Fixed,
}

/// Positions of the components of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Bit fields from the least significant bit (the lowest address) up.
    Fields {
        /// Bits of x, y, z, w; 0 where the component is absent.
        widths: [u32; 4],
        /// Components in memory order, before SWAP.
        order: [usize; 4],
    },
    /// 8 bits of luminance for x, y and z, then 8 bits of alpha.
    /// Guess `luminance-alpha`.
    LuminanceAlpha8,
    /// Depth in bits 23:0 of a dword. The rest is ignored.
    Depth24,
    /// Three 9-bit mantissas with a common 5-bit exponent.
    SharedExponent,
    /// Blocks of several texels.
    Block(Compression),
}

impl Layout {
    /// The first `count` components, of `bits` bits each.
    pub const fn array(count: u32, bits: u32) -> Self {
        let mut widths = [0; 4];
        let mut i = 0;
        while i < count {
            widths[i as usize] = bits;
            i += 1;
        }
        Self::packed(widths)
    }

    /// Fields with x in the lowest bits.
    pub const fn packed(widths: [u32; 4]) -> Self {
        Self::Fields { widths, order: [0, 1, 2, 3] }
    }

    /// Fields with w in the lowest bits, then z, y, x.
    pub const fn reversed(widths: [u32; 4]) -> Self {
        Self::Fields { widths, order: [3, 2, 1, 0] }
    }
}

/// Order of the components of a texel in memory, from the most significant to the least. The names are Mesa's.
#[allow(clippy::upper_case_acronyms, reason = "four components, not an acronym")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The format's own order.
    WZYX,
    /// x and z are exchanged.
    WXYZ,
    /// w is in the lowest place, before x, y, z.
    ZYXW,
    /// The reverse of the format's order.
    XYZW,
}

/// Whether x, y and z of a normalised format are stored in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Stored as linear values.
    Linear,
    /// Decoded when read, encoded when written; w stays linear.
    Srgb,
}

/// Layout and type of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Positions of the components.
    pub layout: Layout,
    /// Type of the components.
    pub ty: Type,
}

impl Format {
    /// Size of a texel or compressed block.
    pub const fn block(self) -> Block {
        let bytes = match self.layout {
            Layout::Fields { widths: [x, y, z, w], .. } => (x + y + z + w) / 8,
            Layout::LuminanceAlpha8 => 2,
            Layout::Depth24 | Layout::SharedExponent => 4,
            Layout::Block(compression) => return compression.block(),
        };
        Block { width: 1, height: 1, bytes }
    }

    /// Whether lanes hold integers rather than binary32.
    pub const fn is_integer(self) -> bool {
        matches!(self.ty, Type::Uint | Type::Sint)
    }

    /// The codec for single texels. `None` for compressed formats.
    pub fn codec(self, swap: Swap, transfer: Transfer) -> Option<Codec> {
        Codec::new(self, swap, transfer)
    }
}
