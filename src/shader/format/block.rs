//! Compressed formats: block sizes, and decoding of a block.
//!
//! | formats | decoder | errors of the decoder |
//! |---|---|---|
//! | DXT, RGTC, BPTC | bcdec_rs | |
//! | ETC2 RGB, RGBA | texture2ddecoder | |
//! | ETC2 punch-through | texture2ddecoder | colour of transparent texels, corrected here |
//! | EAC, R and RG | own code | the crates give 8 of the 11 bits |
//! | ATC | own code | see `atc.rs` |
//! | ASTC | own code | see `astc.rs` |
//!
//! `vectors.txt` holds expected results.
mod astc;
mod atc;

use super::convert::unorm_to_float;
use super::{Transfer, Type, srgb};

pub use astc::Profile;

/// Compression of a block of texels.
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
    /// ASTC with this block size.
    Astc(u32, u32),
}

/// The smallest unit of a surface: one texel, or one compressed block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Size in memory, in bytes.
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

/// The lanes of one texel, with defaults for absent components.
pub type Lanes4 = [u32; 4];

impl Compression {
    /// Decodes `block` ([`Compression::block`] gives its size), and calls `texel` with the lanes x, y, z, w
    /// (binary32) of each texel, row by row.
    ///
    /// Any bytes are valid input. Invalid codes, and codes that `profile` does not allow, give the decoder's
    /// error colour.
    pub fn decode(
        self,
        block: &[u8],
        ty: Type,
        transfer: Transfer,
        profile: Profile,
        mut texel: impl FnMut(Lanes4),
    ) {
        use Compression::*;
        let signed = ty == Type::Snorm;
        match self {
            Rgtc1 => rgtc::<1>(block, signed, texel),
            Rgtc2 => rgtc::<2>(block, signed, texel),
            EacR => eac::<1>(block, signed, texel),
            EacRg => eac::<2>(block, signed, texel),
            BptcFloat => bptc_float(block, true, texel),
            BptcUfloat => bptc_float(block, false, texel),
            Astc(width, height) => {
                let block = block.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes));
                astc::decode(block, [width, height], profile, transfer, texel);
            }
            _ => self.decode_rgba8(block, |rgba| texel(rgba8_to_lanes(rgba, transfer))),
        }
    }

    fn decode_rgba8(self, block: &[u8], mut texel: impl FnMut([u8; 4])) {
        use Compression::*;
        let mut rgba = [0; 64];
        let mut bgra = [0; 16];
        match self {
            Dxt1 => bcdec_rs::bc1(block, &mut rgba, 16),
            Dxt3 => bcdec_rs::bc2(block, &mut rgba, 16),
            Dxt5 => bcdec_rs::bc3(block, &mut rgba, 16),
            Bptc => bcdec_rs::bc7(block, &mut rgba, 16),
            Etc2Rgb => texture2ddecoder::decode_etc2_rgb_block(block, &mut bgra),
            Etc2Rgba => texture2ddecoder::decode_etc2_rgba8_block(block, &mut bgra),
            Etc2RgbA1 => texture2ddecoder::decode_etc2_rgba1_block(block, &mut bgra),
            AtcRgb => atc::rgb(block, &mut rgba),
            AtcExplicit => atc::explicit(block, &mut rgba),
            AtcInterpolated => atc::interpolated(block, &mut rgba),
            Rgtc1 | Rgtc2 | EacR | EacRg | BptcFloat | BptcUfloat | Astc(..) => {}
        }
        match self {
            Etc2RgbA1 => bgra.map(clear_if_transparent).iter().for_each(|&it| texel(it)),
            Etc2Rgb | Etc2Rgba => bgra.map(from_bgra).iter().for_each(|&it| texel(it)),
            _ => rgba.as_chunks().0.iter().for_each(|&it| texel(it)),
        }
    }
}

fn from_bgra(word: u32) -> [u8; 4] {
    let [b, g, r, a] = word.to_le_bytes();
    [r, g, b, a]
}

/// A texel of the punch-through format. texture2ddecoder keeps the colour of a transparent texel. The
/// specification makes it black (an A420 too: docs/hardware/board-a420.md, section 8).
fn clear_if_transparent(word: u32) -> [u8; 4] {
    match from_bgra(word) {
        [.., 0] => [0; 4],
        opaque => opaque,
    }
}

fn rgba8_to_lanes(rgba: [u8; 4], transfer: Transfer) -> Lanes4 {
    let linear = |v: u8| unorm_to_float(v.into(), 8);
    let [r, g, b, a] = rgba;
    let color = match transfer {
        Transfer::Linear => [r, g, b].map(linear),
        Transfer::Srgb => [r, g, b].map(srgb::decode),
    };
    [color[0], color[1], color[2], linear(a)].map(f32::to_bits)
}

fn with_defaults(color: [f32; 3]) -> Lanes4 {
    [color[0], color[1], color[2], 1.0].map(f32::to_bits)
}

/// Decodes `N` interpolated components.
fn rgtc<const N: usize>(block: &[u8], signed: bool, mut texel: impl FnMut(Lanes4)) {
    let mut out = [[0.0; 16]; N];
    for (out, part) in out.iter_mut().zip(block.chunks_exact(8)) {
        bcdec_rs::bc4_float(part, out, 4, signed);
    }
    for i in 0..16 {
        texel(with_defaults(std::array::from_fn(|c| out.get(c).map_or(0.0, |part| part[i]))));
    }
}

fn bptc_float(block: &[u8], signed: bool, mut texel: impl FnMut(Lanes4)) {
    let mut halves = [0; 48];
    bcdec_rs::bc6h_half(block, &mut halves, 12, signed);
    for half in halves.as_chunks::<3>().0 {
        texel(with_defaults(half.map(|bits| half::f16::from_bits(bits).to_f32())));
    }
}

/// Decodes `N` components of 11 bits. Own code: the crates give 8 bits. Source: OpenGL ES 3.0, appendix C.1.5
/// and C.1.6.
fn eac<const N: usize>(block: &[u8], signed: bool, mut texel: impl FnMut(Lanes4)) {
    let parts: [[f32; 16]; N] = std::array::from_fn(|c| eac_part(&block[c * 8..], signed));
    for y in 0..4 {
        for x in 0..4 {
            texel(with_defaults(std::array::from_fn(|c| parts.get(c).map_or(0.0, |part| part[x * 4 + y]))));
        }
    }
}

/// The texels in the block's own order, column by column.
fn eac_part(block: &[u8], signed: bool) -> [f32; 16] {
    const MODIFIERS: [[i32; 4]; 16] = [
        [-3, -6, -9, -15],
        [-3, -7, -10, -13],
        [-2, -5, -8, -13],
        [-2, -4, -6, -13],
        [-3, -6, -8, -12],
        [-3, -7, -9, -11],
        [-4, -7, -8, -11],
        [-3, -5, -8, -11],
        [-2, -6, -8, -10],
        [-2, -5, -8, -10],
        [-2, -4, -8, -10],
        [-2, -5, -7, -10],
        [-3, -4, -7, -10],
        [-1, -2, -3, -10],
        [-4, -6, -8, -9],
        [-3, -5, -7, -9],
    ];
    let bytes = block.first_chunk::<8>().copied().unwrap_or_default();
    let base = if signed { i32::from(bytes[0] as i8).max(-127) * 8 } else { i32::from(bytes[0]) * 8 + 4 };
    let step = (i32::from(bytes[1] >> 4) * 8).max(1);
    let modifiers = MODIFIERS[usize::from(bytes[1] & 0xf)];
    let indices = u64::from_be_bytes(bytes);
    std::array::from_fn(|i| {
        let index = (indices >> (45 - 3 * i)) as usize & 7;
        // An upper modifier is the negated lower one minus one.
        let modifier = if index < 4 { modifiers[index] } else { -modifiers[index - 4] - 1 };
        let value = base + modifier * step;
        if signed { value.clamp(-1023, 1023) as f32 / 1023.0 } else { value.clamp(0, 2047) as f32 / 2047.0 }
    })
}

#[cfg(test)]
mod tests;
