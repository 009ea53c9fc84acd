//! Compressed formats: what a block covers and holds.

/// How a block of texels is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// S3TC, RGB with one-bit alpha.
    Dxt1,
    /// S3TC, four explicit alpha bits.
    Dxt3,
    /// S3TC, interpolated alpha.
    Dxt5,
    /// One component of 8 bits, interpolated.
    Rgtc1,
    /// Two components of 8 bits, interpolated.
    Rgtc2,
    /// RGBA, 8 modes.
    Bptc,
    /// Half-float RGB, signed.
    BptcFloat,
    /// Half-float RGB, unsigned.
    BptcUfloat,
    /// AMD's RGB.
    AtcRgb,
    /// AMD's RGB with four explicit alpha bits.
    AtcExplicit,
    /// AMD's RGB with interpolated alpha.
    AtcInterpolated,
    /// ETC2 RGB; ETC1 is a subset of it.
    Etc2Rgb,
    /// ETC2 RGB with EAC alpha.
    Etc2Rgba,
    /// ETC2 RGB with one-bit alpha.
    Etc2RgbA1,
    /// One component of 11 bits.
    EacR,
    /// Two components of 11 bits.
    EacRg,
    /// ASTC, low dynamic range, with this block size.
    Astc(u32, u32),
}

/// The smallest piece of a surface: one texel, or one compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Texels from left to right.
    pub width: u32,
    /// Texels from top to bottom.
    pub height: u32,
    /// Bytes in memory.
    pub bytes: u32,
}

impl Compression {
    /// Size of a block.
    pub const fn block(self) -> Block {
        use Compression::*;
        let (width, height) = match self {
            Astc(width, height) => (width, height),
            _ => (4, 4),
        };
        let bytes = match self {
            Dxt1 | Rgtc1 | AtcRgb | Etc2Rgb | Etc2RgbA1 | EacR => 8,
            Dxt3 | Dxt5 | Rgtc2 | Bptc | BptcFloat | BptcUfloat | AtcExplicit | AtcInterpolated
            | Etc2Rgba | EacRg | Astc(..) => 16,
        };
        Block { width, height, bytes }
    }
}
