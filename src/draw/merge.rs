//! The last stage: colours into their targets, eight quads at a time.

use a4emu_decoder::regs::enums::RopCode;
use multiversion::multiversion;

use crate::format::{Codec, Type, unorm_step};
use crate::shader::Number;

use super::blend::{Blend, Colors, limit, rop};
use super::depth::{DepthStencil, Stored, Words};
use super::plane::Plane;
use super::primitive::Face;

/// Quads in a warp.
pub const QUADS: usize = 8;

/// 2x2 pixels of one primitive. Bit 0 of the mask is the upper left pixel, bit 1 the upper
/// right, bits 2 and 3 the ones below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quad {
    /// Screen column of the left pixels.
    pub x: i32,
    /// Screen row of the upper pixels.
    pub y: i32,
    /// Covered pixels.
    pub mask: u32,
    /// Index of the primitive.
    pub primitive: u32,
}

/// The register that holds a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorOutput {
    /// First of four.
    pub regid: u32,
    /// In the half file.
    pub precision: Precision,
    /// What it holds.
    pub number: Number,
}

/// Which register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Full,
    /// 16 bits.
    Half,
}

/// One render target of a draw.
#[derive(Clone, Debug)]
pub struct ColorTarget {
    /// Index of its plane.
    pub plane: usize,
    /// Where its colour comes from.
    pub output: ColorOutput,
    /// Its format.
    pub codec: Codec,
    /// Blending; `None` stores the source.
    pub blend: Option<Blend>,
    /// Logic operation; `None` stores the source.
    pub rop: Option<RopCode>,
    /// Bits of a pixel that may change.
    pub writable: u128,
    /// 8888 unorm in this order of bytes, for the fast path.
    pub unorm8: Option<[usize; 4]>,
}

impl ColorTarget {
    /// Whether a pixel's new value depends on its old one.
    fn reads_target(&self) -> bool {
        self.blend.is_some() || self.rop.is_some() || self.writable != self.codec.bits(0xf)
    }

    /// The word that `colors` (bits) of one lane becomes, if every covered pixel gets just
    /// that, and fits a dword.
    pub fn solid(&self, colors: &[Words; 4]) -> Option<u32> {
        if self.reads_target() || self.codec.bytes() != 4 {
            return None;
        }
        Some(self.encode(colors)[0])
    }

    /// Writes the pixels of `mask` (four bits per quad).
    pub fn write(
        &self,
        plane: &mut Plane<'_>,
        quads: &[Quad],
        mask: u32,
        colors: &[Words; 4],
        src1: &[Words; 4],
    ) {
        if self.codec.bytes() > 4 {
            return self.write_wide(plane, quads, mask, colors, src1);
        }
        if !self.reads_target() {
            return store_words(plane, quads, mask, &self.encode(colors));
        }
        let old = load_words(plane, quads, mask);
        let blended = match &self.blend {
            Some(blend) => self.encode(&self.blended(blend, colors, src1, &self.decode(&old))),
            None => self.encode(colors),
        };
        let writable = self.writable as u32;
        let new: Words = std::array::from_fn(|i| {
            let result = match self.rop {
                Some(code) => rop(code, u128::from(blended[i]), u128::from(old[i])) as u32,
                None => blended[i],
            };
            (result & writable) | (old[i] & !writable)
        });
        store_words(plane, quads, mask, &new);
    }

    /// Formats of more than four bytes, pixel by pixel.
    fn write_wide(
        &self,
        plane: &mut Plane<'_>,
        quads: &[Quad],
        mask: u32,
        colors: &[Words; 4],
        src1: &[Words; 4],
    ) {
        let mut old = [0u128; 32];
        for_pixels(quads, mask, |lane, x, y| {
            old[lane] = plane.pixels(x, y, 1).map_or(0, |bytes| self.codec.load(bytes));
        });
        let colors = match &self.blend {
            Some(blend) => {
                let mut dst = [[0; 32]; 4];
                for (lane, old) in old.iter().enumerate() {
                    self.codec.decode(*old).iter().enumerate().for_each(|(c, v)| dst[c][lane] = *v);
                }
                self.blended(blend, colors, src1, &dst)
            }
            None => *colors,
        };
        for_pixels(quads, mask, |lane, x, y| {
            let mut new = self.codec.encode(colors.map(|c| c[lane]));
            if let Some(code) = self.rop {
                new = rop(code, new, old[lane]);
            }
            new = (new & self.writable) | (old[lane] & !self.writable);
            if let Some(bytes) = plane.pixels(x, y, 1) {
                self.codec.store(new, bytes);
            }
        });
    }

    fn blended(&self, blend: &Blend, src: &[Words; 4], src1: &[Words; 4], dst: &[Words; 4]) -> [Words; 4] {
        let mut src: Colors = src.map(|c| c.map(f32::from_bits));
        let mut src1: Colors = src1.map(|c| c.map(f32::from_bits));
        let mut dst: Colors = dst.map(|c| c.map(f32::from_bits));
        if !self.codec.has(3) {
            dst[3] = [1.0; 32];
        }
        if let Some(min) = self.least() {
            limit(&mut src, min, 1.0);
            limit(&mut src1, min, 1.0);
        }
        blend.apply(&src, &src1, &dst).map(|c| c.map(f32::to_bits))
    }

    /// Least value of a normalised format.
    fn least(&self) -> Option<f32> {
        match self.codec.ty() {
            Type::Unorm => Some(0.0),
            Type::Snorm => Some(-1.0),
            _ => None,
        }
    }

    fn encode(&self, colors: &[Words; 4]) -> Words {
        match self.unorm8 {
            Some(order) => encode_unorm8(order, colors),
            None => self.codec.encode_words(colors),
        }
    }

    fn decode(&self, words: &Words) -> [Words; 4] {
        match self.unorm8 {
            Some(order) => decode_unorm8(order, words),
            None => self.codec.decode_words(words),
        }
    }
}

/// Bytes in the given order, nearest, ties to even: the rule of `format/convert.rs`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn encode_unorm8(order: [usize; 4], colors: &[Words; 4]) -> Words {
    let mut out = [0; 32];
    for (byte, c) in order.into_iter().enumerate() {
        let channel = &colors[c];
        for i in 0..32 {
            let v = at_least_zero(channel[i]).min(1.0);
            out[i] |= ((v * 255.0).round_ties_even() as i32 as u32) << (8 * byte);
        }
    }
    out
}

/// A float that is not negative; NaN becomes zero.
#[inline(always)]
fn at_least_zero(bits: u32) -> f32 {
    f32::from_bits(bits).max(0.0)
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn decode_unorm8(order: [usize; 4], words: &Words) -> [Words; 4] {
    let step = unorm_step(8);
    let mut out = [[0; 32]; 4];
    for (byte, c) in order.into_iter().enumerate() {
        for i in 0..32 {
            let v = (words[i] >> (8 * byte)) & 255;
            out[c][i] = (v as i32 as f32 * step).to_bits();
        }
    }
    out
}

/// Calls `f` with lane and position of every pixel of `mask`.
fn for_pixels(quads: &[Quad], mask: u32, mut f: impl FnMut(usize, i32, i32)) {
    for lane in crate::shader::lanes_of(mask) {
        let Some(quad) = quads.get(lane / 4) else { return };
        f(lane, quad.x + (lane & 1) as i32, quad.y + (lane >> 1 & 1) as i32);
    }
}

/// Calls `f` with the first lane, position and two-bit mask of every pair of pixels in a row.
fn for_pairs(quads: &[Quad], mask: u32, mut f: impl FnMut(usize, i32, i32, u32)) {
    for (q, quad) in quads.iter().enumerate() {
        for row in 0..2 {
            let lane = 4 * q + 2 * row;
            let bits = (mask >> lane) & 3;
            if bits != 0 {
                f(lane, quad.x, quad.y + row as i32, bits);
            }
        }
    }
}

/// The pixels of quads, of at most four bytes each.
fn load_words(plane: &mut Plane<'_>, quads: &[Quad], mask: u32) -> Words {
    let mut out = [0; 32];
    if plane.cpp() == 4 {
        for_pairs(quads, mask, |lane, x, y, _| {
            if let Some(&mut [a, b, c, d, e, f, g, h]) = plane.pixels(x, y, 2) {
                out[lane] = u32::from_le_bytes([a, b, c, d]);
                out[lane + 1] = u32::from_le_bytes([e, f, g, h]);
            } else {
                out[lane] = load(plane, x, y);
                out[lane + 1] = load(plane, x + 1, y);
            }
        });
    } else {
        for_pixels(quads, mask, |lane, x, y| out[lane] = load(plane, x, y));
    }
    out
}

/// One pixel of at most four bytes; 0 outside the plane.
fn load(plane: &mut Plane<'_>, x: i32, y: i32) -> u32 {
    let mut word = [0; 4];
    if let Some(bytes) = plane.pixels(x, y, 1) {
        let len = bytes.len().min(4);
        word[..len].copy_from_slice(&bytes[..len]);
    }
    u32::from_le_bytes(word)
}

fn store(plane: &mut Plane<'_>, x: i32, y: i32, word: u32) {
    if let Some(bytes) = plane.pixels(x, y, 1) {
        let len = bytes.len().min(4);
        bytes[..len].copy_from_slice(&word.to_le_bytes()[..len]);
    }
}

fn store_words(plane: &mut Plane<'_>, quads: &[Quad], mask: u32, words: &Words) {
    if plane.cpp() != 4 {
        return for_pixels(quads, mask, |lane, x, y| store(plane, x, y, words[lane]));
    }
    for_pairs(quads, mask, |lane, x, y, bits| {
        if bits != 3 {
            let right = (bits >> 1) as usize;
            store(plane, x + right as i32, y, words[lane + right]);
        } else if let Some(bytes) = plane.pixels(x, y, 2) {
            let pair = u64::from(words[lane]) | u64::from(words[lane + 1]) << 32;
            bytes.copy_from_slice(&pair.to_le_bytes());
        }
    });
}

/// Where depth and stencil lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthLayout {
    /// A plane of 16 or 32-bit depth, and one of stencil if there is one.
    Separate {
        /// Index of the depth plane.
        depth: Option<usize>,
        /// Index of the stencil plane.
        stencil: Option<usize>,
    },
    /// Dwords with depth in bits 23:0 and stencil in 31:24.
    Packed(usize),
}

/// Depth and stencil of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthTarget {
    /// Tests and updates.
    pub state: DepthStencil,
    /// Where the values are.
    pub layout: DepthLayout,
}

impl DepthTarget {
    /// Tests quads; returns the lanes that pass.
    pub fn test_quads(
        &self,
        planes: &mut [Plane<'_>],
        quads: &[Quad],
        face: Face,
        z: &[f32; 32],
        mask: u32,
    ) -> u32 {
        let z = self.state.quantise(z);
        match self.layout {
            DepthLayout::Packed(plane) => {
                let old = load_words(&mut planes[plane], quads, mask);
                let mut stored = unpack(&old);
                let passed = self.state.test(face, &z, &mut stored, mask);
                store_words(&mut planes[plane], quads, mask, &pack(&stored));
                passed
            }
            DepthLayout::Separate { depth, stencil } => {
                let mut values = |plane: Option<usize>| {
                    plane.map_or([0; 32], |plane| load_words(&mut planes[plane], quads, mask))
                };
                let mut stored = Stored { depth: values(depth), stencil: values(stencil) };
                let passed = self.state.test(face, &z, &mut stored, mask);
                if let Some(plane) = depth {
                    store_words(&mut planes[plane], quads, mask, &stored.depth);
                }
                if let Some(plane) = stencil {
                    store_words(&mut planes[plane], quads, mask, &stored.stencil);
                }
                passed
            }
        }
    }

    /// Tests 8x4 pixels at (x, y), given and returned row by row.
    pub fn test_rows(
        &self,
        planes: &mut [Plane<'_>],
        [x, y]: [i32; 2],
        face: Face,
        z: &[f32; 32],
        mask: u32,
    ) -> u32 {
        let z = self.state.quantise(z);
        match self.layout {
            DepthLayout::Packed(plane) => {
                let plane = &mut planes[plane];
                let old = load_rows(plane, x, y, mask);
                let mut stored = unpack(&old);
                let passed = self.state.test(face, &z, &mut stored, mask);
                store_rows(plane, x, y, mask, &pack(&stored));
                passed
            }
            DepthLayout::Separate { depth, stencil } => {
                let mut values = |plane: Option<usize>| {
                    plane.map_or([0; 32], |plane| load_rows(&mut planes[plane], x, y, mask))
                };
                let mut stored = Stored { depth: values(depth), stencil: values(stencil) };
                let passed = self.state.test(face, &z, &mut stored, mask);
                if let Some(plane) = depth {
                    store_rows(&mut planes[plane], x, y, mask, &stored.depth);
                }
                if let Some(plane) = stencil {
                    store_rows(&mut planes[plane], x, y, mask, &stored.stencil);
                }
                passed
            }
        }
    }
}

fn unpack(words: &Words) -> Stored {
    Stored { depth: words.map(|w| w & 0xff_ffff), stencil: words.map(|w| w >> 24) }
}

fn pack(stored: &Stored) -> Words {
    std::array::from_fn(|i| stored.depth[i] | stored.stencil[i] << 24)
}

/// 8x4 pixels at (x, y), row by row. Only those of `mask` matter.
fn load_rows(plane: &mut Plane<'_>, x: i32, y: i32, mask: u32) -> Words {
    let mut out = [0; 32];
    for row in 0..4 {
        let bits = (mask >> (8 * row)) & 0xff;
        let lanes = &mut out[8 * row..][..8];
        if bits == 0 {
            continue;
        }
        match (plane.cpp(), plane.pixels(x, y + row as i32, 8)) {
            (4, Some(bytes)) => {
                bytemuck::cast_slice_mut::<u32, u8>(lanes).copy_from_slice(bytes);
                lanes.iter_mut().for_each(|word| *word = u32::from_le(*word));
            }
            (2, Some(bytes)) => {
                for (lane, pair) in lanes.iter_mut().zip(bytes.chunks_exact(2)) {
                    *lane = u32::from(u16::from_le_bytes([pair[0], pair[1]]));
                }
            }
            _ => {
                for (i, lane) in lanes.iter_mut().enumerate() {
                    *lane = load(plane, x + i as i32, y + row as i32);
                }
            }
        }
    }
    out
}

/// Stores 8x4 pixels at (x, y); those outside `mask` were loaded before and are unchanged.
fn store_rows(plane: &mut Plane<'_>, x: i32, y: i32, mask: u32, words: &Words) {
    for row in 0..4 {
        let bits = (mask >> (8 * row)) & 0xff;
        let lanes = &words[8 * row..][..8];
        if bits == 0 {
            continue;
        }
        match (plane.cpp(), plane.pixels(x, y + row as i32, 8)) {
            (4, Some(bytes)) => {
                for (to, word) in bytes.chunks_exact_mut(4).zip(lanes) {
                    to.copy_from_slice(&word.to_le_bytes());
                }
            }
            _ => {
                for i in (0..8).filter(|i| bits & (1 << i) != 0) {
                    store(plane, x + i as i32, y + row as i32, lanes[i]);
                }
            }
        }
    }
}

/// Puts one dword into the pixels of `mask` among the 8x4 at (x, y), row by row.
pub fn fill_rows(plane: &mut Plane<'_>, [x, y]: [i32; 2], mask: u32, word: u32) {
    for row in 0..4i32 {
        let bits = (mask >> (8 * row)) & 0xff;
        match plane.pixels(x, y + row, 8) {
            Some(bytes) if bits == 0xff => {
                bytes.chunks_exact_mut(4).for_each(|to| to.copy_from_slice(&word.to_le_bytes()));
            }
            _ => {
                for i in (0..8).filter(|i| bits & (1 << i) != 0) {
                    store(plane, x + i, y + row, word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::regs::enums::{
        BlendFactor, BlendOpcode, ColorFmt, ColorSwap, CompareFunc, DepthFormat,
    };

    use super::*;
    use crate::draw::blend::Equation;
    use crate::draw::depth::DepthWrite;
    use crate::format::{Format, Transfer};

    fn target(fmt: ColorFmt, swap: ColorSwap, unorm8: Option<[usize; 4]>) -> ColorTarget {
        let codec = Format::color(fmt).and_then(|f| f.codec(swap, Transfer::Linear)).expect("a pixel format");
        let output = ColorOutput { regid: 0, precision: Precision::Full, number: Number::Float };
        ColorTarget { plane: 0, output, codec, blend: None, rop: None, writable: codec.bits(15), unorm8 }
    }

    fn color(c: [f32; 4]) -> [Words; 4] {
        c.map(|v| [v.to_bits(); 32])
    }

    const QUAD: Quad = Quad { x: 2, y: 0, mask: 15, primitive: 0 };

    #[test]
    fn the_fast_path_agrees_with_the_codec() {
        for (swap, order) in [(ColorSwap::WZYX, [0, 1, 2, 3]), (ColorSwap::WXYZ, [2, 1, 0, 3])] {
            let fast = target(ColorFmt::RB4_R8G8B8A8_UNORM, swap, Some(order));
            let slow = target(ColorFmt::RB4_R8G8B8A8_UNORM, swap, None);
            for c in [[0.0, 1.0, 0.5, 0.25], [-1.0, 2.0, f32::NAN, 0.1], [0.501_96, 0.498_04, 0.9999, 1e-9]] {
                assert_eq!(fast.encode(&color(c)), slow.encode(&color(c)), "{c:?}");
                let words = fast.encode(&color(c));
                assert_eq!(fast.decode(&words), slow.decode(&words));
            }
        }
    }

    #[test]
    fn only_covered_pixels_and_enabled_components_change() {
        let mut bytes = [9; 4 * 4 * 2];
        let mut target = target(ColorFmt::RB4_R8G8B8A8_UNORM, ColorSwap::WZYX, Some([0, 1, 2, 3]));
        target.writable = target.codec.bits(0b0001);
        let c = color([1.0; 4]);
        target.write(&mut Plane::new(&mut bytes, 16, 4, [0, 0]), &[QUAD], 0b0110, &c, &c);
        let changed: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] != 9).collect();
        assert_eq!(changed, [12, 24], "red of the upper right and the lower left pixel");
    }

    #[test]
    fn wide_formats_blend_like_narrow_ones() {
        let blend = Blend {
            rgb: Equation {
                op: BlendOpcode::BLEND_DST_PLUS_SRC,
                src: BlendFactor::FACTOR_ONE,
                dst: BlendFactor::FACTOR_ONE,
            },
            alpha: Equation {
                op: BlendOpcode::BLEND_DST_PLUS_SRC,
                src: BlendFactor::FACTOR_ONE,
                dst: BlendFactor::FACTOR_ZERO,
            },
            constant: [0.0; 4],
        };
        let mut bytes = [0; 16 * 4 * 2];
        let mut target = target(ColorFmt::RB4_R32G32B32A32_FLOAT, ColorSwap::WZYX, None);
        target.blend = Some(blend);
        let c = color([1.5, 0.25, 0.0, 0.5]);
        for _ in 0..2 {
            target.write(&mut Plane::new(&mut bytes, 64, 16, [0, 0]), &[QUAD], 1, &c, &c);
        }
        let pixel: [f32; 4] =
            std::array::from_fn(|i| f32::from_le_bytes(std::array::from_fn(|k| bytes[2 * 16 + 4 * i + k])));
        assert_eq!(pixel, [3.0, 0.5, 0.0, 0.5]);
    }

    #[test]
    fn rows_and_quads_test_alike() {
        let state = DepthStencil {
            format: DepthFormat::DEPTH4_24_8,
            depth: Some((CompareFunc::FUNC_LESS, DepthWrite::Store)),
            limits: [0.0, 1.0],
            stencil: None,
        };
        let target = DepthTarget { state, layout: DepthLayout::Packed(0) };
        let mut by_rows = [0x40; 8 * 4 * 4];
        let mut by_quads = by_rows;
        let z = [0.125; 32];
        let rows = target.test_rows(
            &mut [Plane::new(&mut by_rows, 32, 4, [0, 0])],
            [0, 0],
            Face::Front,
            &z,
            0b0000_1100_0000_1100,
        );
        let quads =
            target.test_quads(&mut [Plane::new(&mut by_quads, 32, 4, [0, 0])], &[QUAD], Face::Front, &z, 15);
        assert_eq!((rows, quads), (0b0000_1100_0000_1100, 15));
        assert_eq!(by_rows, by_quads);
        assert_eq!(by_rows[8..12], [0, 0, 0x20, 0x40], "stencil stays");
    }

    #[test]
    fn a_fill_leaves_its_surroundings() {
        let mut bytes = [0; 8 * 4 * 4];
        fill_rows(&mut Plane::new(&mut bytes, 32, 4, [0, 0]), [0, 0], 0x00ff_0001, 7);
        let filled: Vec<usize> = (0..32).filter(|i| bytes[4 * i] == 7).collect();
        assert_eq!(filled, [0, 16, 17, 18, 19, 20, 21, 22, 23]);
    }
}
