//! Texel, pixel and vertex-attribute formats.
//!
//! A [`Format`] is the meaning of the number in a descriptor: one row of `format/table.rs`. With the memory
//! order (SWAP) and the transfer function (sRGB) it resolves to a [`Codec`], once per draw. A codec converts
//! between the bytes of a texel and four 32-bit lanes. A lane is the content of a shader register: binary32
//! bits, or an integer for the integer types. `format/convert.rs` defines the rounding.
pub mod arrangement;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
mod block;
mod codec;
mod convert;
mod srgb;
mod table;

use a4emu_decoder::a4xx::enums::{ColorFmt, ColorSwap, TexFmt, VtxFmt};

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
    /// The format of a texture descriptor. `None` for unknown numbers.
    pub const fn texture(fmt: TexFmt) -> Option<Self> {
        table::texture(fmt)
    }

    /// The format of a render target, copy destination or image.
    pub const fn color(fmt: ColorFmt) -> Option<Self> {
        table::color(fmt)
    }

    /// The format of a vertex attribute.
    pub const fn vertex(fmt: VtxFmt) -> Option<Self> {
        table::vertex(fmt)
    }

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
    pub fn codec(self, swap: ColorSwap, transfer: Transfer) -> Option<Codec> {
        Codec::new(self, swap, transfer)
    }
}
