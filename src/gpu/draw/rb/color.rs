//! The last stage: writes colours to their targets, eight quads at a time.

#[cfg(target_arch = "x86_64")]
mod avx512;

use multiversion::multiversion;
use multiversion::target::match_target;

use a4emu_shader::format::{Codec, Type, unorm_step};
use a4emu_shader::{AlphaFactor, Epilogue, Lanes, Number, Warp};

use crate::draw::gras::quad::Quads;
use crate::draw::rb::blend::{Blend, Colors, Rop, limit, rop};
use crate::draw::rb::depth::{Words, select};
use crate::draw::rb::dither::Dither;
use crate::draw::rb::pixels::{Pixels, in_quads, in_rows, store_by_loops};
use crate::draw::rb::surface::{DwordQuads, PixelRows};

/// The register that holds a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColorOutput {
    /// First of four registers.
    pub regid: u32,
    /// Register file.
    pub precision: Precision,
    /// Number type of the registers.
    pub number: Number,
}

/// Selects a register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    Full,
    /// 16 bits.
    Half,
}

/// The components of 32 colours.
pub type Four<'a> = [&'a Words; 4];

/// Colours of an 8x4 block, quad by quad.
#[derive(Clone, Copy)]
pub struct BlockColors<'a> {
    /// The first pixel.
    pub at: [i32; 2],
    /// Pixels to write, four bits per quad.
    pub mask: u32,
    /// Colours of all pixels, and the second colours of dual-source blending.
    pub colors: [Four<'a>; 2],
}

/// One render target of a draw.
#[derive(Clone, Debug)]
pub struct ColorTarget {
    /// Index of its surface.
    pub surface: usize,
    /// Source of its colour.
    pub output: ColorOutput,
    /// Pixel format.
    pub codec: Codec,
    /// Blending; `None` stores the source.
    pub blend: Option<Blend>,
    /// Logic operation; `None` stores the source.
    pub rop: Option<Rop>,
    /// Bits of a pixel that may change.
    pub writable: u128,
    /// Byte order of an 8888 unorm format, for the fast path.
    pub unorm8: Option<[usize; 4]>,
    /// Dithering of its colours.
    pub dither: Option<Dither>,
}

/// Plain dword stores that take as long as blending one dword.
const BLENDED: u64 = 6;

impl ColorTarget {
    /// Returns the cost of a pixel in plain dword stores. Blending also reads and decodes the old pixel.
    pub fn dwords(&self) -> u64 {
        let dwords = u64::from(self.codec.bytes().div_ceil(4));
        let is_plain = self.blend.is_none() && self.rop.is_none();
        dwords * if is_plain { 1 } else { BLENDED }
    }

    /// Returns whether the write replaces all bits of a pixel.
    fn is_whole(&self) -> bool {
        self.rop.is_none() && self.writable == self.codec.all_bits()
    }

    /// Returns whether a pixel's new value depends on its old one.
    fn reads_target(&self) -> bool {
        self.blend.is_some() || !self.is_whole()
    }

    /// Returns whether storing byte colours in this component order only copies the bytes.
    pub fn stores_bytes(&self, order: [u32; 4]) -> bool {
        let is_plain = !self.reads_target() && self.dither.is_none();
        let is_same = |of: [usize; 4]| (0..).zip(of).all(|(byte, component)| order[component] == byte);
        is_plain && self.unorm8.is_some_and(is_same)
    }

    /// Encodes `colors` (bits) and returns the word of lane 0. `None` unless every covered pixel gets exactly
    /// this value, and it fits a dword.
    pub fn solid(&self, colors: &[Words; 4]) -> Option<u32> {
        if self.reads_target() || self.codec.bytes() != 4 || self.dither.is_some() {
            return None;
        }
        Some(self.encode(&colors.each_ref())[0])
    }

    /// Writes the pixels of `mask` (four bits per quad). Takes the colours by reference, because a copy of
    /// freshly written words is slow.
    pub fn write(
        &self,
        surface: &mut PixelRows<'_>,
        pixels: &Quads<'_>,
        mask: u32,
        colors: &Four<'_>,
        src1: &Four<'_>,
    ) {
        if let Some(order) = self.common() {
            if let Some(at) = pixels.block()
                && self
                    .write_blocks(surface, &[BlockColors { at, mask, colors: [*colors, *src1] }])
                    .is_empty()
            {
                return;
            }
            if let Some(mut quads) = surface.dword_quads(pixels, mask) {
                return match &self.blend {
                    Some(blend) => blend_quads(self, blend, [colors, src1], &mut quads, mask),
                    None => store_quads(order, colors, &mut quads, mask),
                };
            }
        }
        self.write_any(surface, pixels, mask, colors, src1);
    }

    /// Returns the byte order, if the write replaces the whole pixel in the common format.
    #[inline(always)]
    fn common(&self) -> Option<[usize; 4]> {
        self.unorm8.filter(|_| self.is_whole() && self.dither.is_none())
    }

    /// Returns how compiled code can finish a pixel, if it can.
    pub fn epilogue(&self) -> Option<Epilogue> {
        let order = self.common()?;
        let blend = match &self.blend {
            Some(blend) => Some(self.unorm8_by_alpha(blend)?.1),
            None => None,
        };
        let ColorOutput { regid, precision, .. } = self.output;
        let is_full = precision == Precision::Full && Warp::has_full(regid, 4);
        is_full.then_some(Epilogue { regid, order, blend, keeps_alpha: false })
    }

    /// Writes blocks one after the other while that is faster than writing quads. Returns the remaining
    /// blocks.
    pub fn write_blocks<'b, 'c>(
        &self,
        surface: &mut PixelRows<'_>,
        blocks: &'b [BlockColors<'c>],
    ) -> &'b [BlockColors<'c>] {
        match (self.common(), &self.blend) {
            (None, _) => blocks,
            (Some(_), Some(blend)) => blend_blocks(self, blend, surface, blocks),
            (Some(order), None) => store_blocks(order, surface, blocks),
        }
    }

    /// Writes pixels of any format and position.
    #[inline(never)]
    fn write_any(
        &self,
        surface: &mut PixelRows<'_>,
        pixels: &Quads<'_>,
        mask: u32,
        colors: &Four<'_>,
        src1: &Four<'_>,
    ) {
        if self.codec.bytes() > 4 || self.dither.is_some() {
            return self.write_wide(surface, pixels, mask, colors, src1);
        }
        if !self.reads_target() {
            return pixels.store(surface, mask, &self.encode(colors));
        }
        let old = pixels.load(surface, mask);
        let blended = match &self.blend {
            Some(blend) => blended_words(self, blend, [colors, src1], &old),
            None => self.encode(colors),
        };
        if self.is_whole() {
            return pixels.store(surface, mask, &blended);
        }
        let writable = self.writable as u32;
        let new = Lanes(std::array::from_fn(|i| {
            let result = match self.rop {
                Some(code) => rop(code, u128::from(blended[i]), u128::from(old[i])) as u32,
                None => blended[i],
            };
            (result & writable) | (old[i] & !writable)
        }));
        pixels.store(surface, mask, &new);
    }

    /// Writes formats of more than four bytes and dithered formats, pixel by pixel.
    fn write_wide(
        &self,
        surface: &mut PixelRows<'_>,
        pixels: &Quads<'_>,
        mask: u32,
        colors: &Four<'_>,
        src1: &Four<'_>,
    ) {
        let mut old = [0u128; 32];
        pixels.each_pixel(mask, |lane, x, y| {
            old[lane] = surface.pixels(x, y, 1).map_or(0, |bytes| self.codec.load(bytes));
        });
        let mut colors = match &self.blend {
            Some(blend) => {
                let mut dst = [[0; 32]; 4];
                for (lane, old) in old.iter().enumerate() {
                    self.codec.decode(*old).iter().enumerate().for_each(|(c, v)| dst[c][lane] = *v);
                }
                self.blended(blend, [colors, src1], &dst)
            }
            None => colors.map(|c| *c),
        };
        if let Some(dither) = &self.dither {
            dither.move_lanes(pixels, mask, &mut colors);
        }
        pixels.each_pixel(mask, |lane, x, y| {
            let mut new = self.codec.encode(colors.map(|c| c[lane]));
            if let Some(code) = self.rop {
                new = rop(code, new, old[lane]);
            }
            new = (new & self.writable) | (old[lane] & !self.writable);
            if let Some(bytes) = surface.pixels(x, y, 1) {
                self.codec.store(new, bytes);
            }
        });
    }

    /// Blends `src` (and the second colour of dual sources) with the target's contents `dst`.
    #[inline(always)]
    fn blended(&self, blend: &Blend, src: [&Four<'_>; 2], dst: &[Words; 4]) -> [Words; 4] {
        let floats = |words: &Four<'_>| -> Colors {
            let mut out = [[0.0; 32]; 4];
            out.iter_mut().zip(words).for_each(|(out, words)| *out = bytemuck::cast(**words));
            out
        };
        let [mut src0, mut src1] = [floats(src[0]), [[0.0; 32]; 4]];
        let mut dst = floats(&dst.each_ref());
        if !self.codec.has(3) {
            dst[3] = [1.0; 32];
        }
        let least = self.least();
        least.into_iter().for_each(|min| limit(&mut src0, min, 1.0));
        if blend.is_dual() {
            src1 = floats(src[1]);
            least.into_iter().for_each(|min| limit(&mut src1, min, 1.0));
        }
        bytemuck::cast(blend.apply(&src0, &src1, &dst))
    }

    /// Returns byte order and factors, if this is the common blending.
    #[inline(always)]
    fn unorm8_by_alpha(&self, blend: &Blend) -> Option<([usize; 4], [AlphaFactor; 2])> {
        let order = self.unorm8.filter(|_| self.codec.has(3))?;
        Some((order, blend.by_alpha()?))
    }

    /// Limits the blend constant to the range of a normalised format, as in GL. A float copy can lie outside.
    pub fn limit_constant(&mut self) {
        if let (Some(least), Some(blend)) = (self.least(), &mut self.blend) {
            blend.constant = blend.constant.map(|c| c.clamp(least, 1.0));
        }
    }

    /// Returns the minimum value of a normalised format.
    fn least(&self) -> Option<f32> {
        match self.codec.ty() {
            Type::Unorm => Some(0.0),
            Type::Snorm => Some(-1.0),
            _ => None,
        }
    }

    /// Encodes colours. The result is aligned to cache lines.
    fn encode(&self, colors: &Four<'_>) -> Lanes {
        match self.unorm8 {
            Some(order) => encode_unorm8(order, colors),
            None => Lanes(self.codec.encode_words(&colors.map(|c| *c))),
        }
    }
}

/// Blends pixels with contents `old`. Reading, blending and writing are one function, so that the compiler
/// uses the widest vectors for all of it.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn blended_words(target: &ColorTarget, blend: &Blend, src: [&Four<'_>; 2], old: &Words) -> Lanes {
    blended_all(target, blend, src, old)
}

/// Blends blocks in place, one after the other, while their pixels are contiguous on the surface. Returns the
/// remaining blocks.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma", "x86_64+avx2"))]
fn blend_blocks<'b, 'c>(
    target: &ColorTarget,
    blend: &Blend,
    surface: &mut PixelRows<'_>,
    blocks: &'b [BlockColors<'c>],
) -> &'b [BlockColors<'c>] {
    for (number, block) in blocks.iter().enumerate() {
        let BlockColors { at: [x, y], mask, colors: [colors, second] } = block;
        let Some(mut rows) = surface.dwords::<8, 4>(*x, *y) else { return &blocks[number..] };
        match_target! {
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => {
                if let Some((order, by)) = target.unorm8_by_alpha(blend) {
                    avx512::blend(order, colors, by, &mut rows, *mask);
                    continue;
                }
            }
            _ => (),
        }
        let mut old = [0; 32];
        rows.load(&mut old);
        let mut pixels = in_quads(&old);
        let new = blended_all(target, blend, [colors, second], &pixels);
        select(&mut pixels, &new, *mask);
        rows.store(&in_rows(&pixels));
    }
    &[]
}

/// Blends the pixels of quads in `mask`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma", "x86_64+avx2"))]
fn blend_quads(
    target: &ColorTarget,
    blend: &Blend,
    src: [&Four<'_>; 2],
    quads: &mut DwordQuads<'_>,
    mask: u32,
) {
    match_target! {
        "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => {
            if let Some((order, by)) = target.unorm8_by_alpha(blend) {
                return avx512::blend_quads(order, src[0], by, quads, mask);
            }
        }
        _ => (),
    }
    let new = blended_all(target, blend, src, &quads.load());
    quads.store(mask, &new);
}

#[inline(always)]
fn blended_all(target: &ColorTarget, blend: &Blend, src: [&Four<'_>; 2], old: &Words) -> Lanes {
    if let Some((order, by)) = target.unorm8_by_alpha(blend) {
        return unorm8_by_alpha(order, src[0], old, by);
    }
    match target.unorm8 {
        Some(order) => {
            let colors = target.blended(blend, src, &decode_unorm8(order, old));
            to_unorm8(order, &colors.each_ref())
        }
        None => {
            Lanes(target.codec.encode_words(&target.blended(blend, src, &target.codec.decode_words(old))))
        }
    }
}

/// Rounding constant: added to a float between 0 and 2^23, it leaves the nearest integer (ties to even) in
/// the low bits. This is faster than a saturating conversion.
const NEAREST: f32 = 8_388_608.0;

/// Encodes and stores the masked colours of blocks, one after the other, while their pixels are contiguous on
/// the surface. Returns the remaining blocks.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma", "x86_64+avx2"))]
fn store_blocks<'b, 'c>(
    order: [usize; 4],
    surface: &mut PixelRows<'_>,
    blocks: &'b [BlockColors<'c>],
) -> &'b [BlockColors<'c>] {
    for (number, BlockColors { at: [x, y], mask, colors: [colors, _] }) in blocks.iter().enumerate() {
        let Some(mut rows) = surface.dwords::<8, 4>(*x, *y) else { return &blocks[number..] };
        match_target! {
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => avx512::store(order, colors, &mut rows, *mask),
            _ => store_by_loops(&mut rows, *mask, &to_unorm8(order, colors)),
        }
    }
    &[]
}

/// Encodes and stores the colours of quads in `mask`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma", "x86_64+avx2"))]
fn store_quads(order: [usize; 4], colors: &Four<'_>, quads: &mut DwordQuads<'_>, mask: u32) {
    match_target! {
        "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => avx512::store_quads(order, colors, quads, mask),
        _ => quads.store(mask, &to_unorm8(order, colors)),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn encode_unorm8(order: [usize; 4], colors: &Four<'_>) -> Lanes {
    to_unorm8(order, colors)
}

/// Converts to bytes in the given order: nearest, ties to even, as in `format/convert.rs`.
#[inline(always)]
fn to_unorm8(order: [usize; 4], colors: &Four<'_>) -> Lanes {
    let [a, b, c, d] = order.map(|c| colors[c]);
    let mut out = Lanes::ZERO;
    for i in 0..32 {
        let [a, b, c, d] = [a[i], b[i], c[i], d[i]].map(|channel| unorm8(limited(channel)));
        out.0[i] = a | b << 8 | c << 16 | d << 24;
    }
    out
}

/// Limits a float to 0..1; NaN becomes zero.
#[inline(always)]
fn limited(bits: u32) -> f32 {
    let v = f32::from_bits(bits);
    (if v > 0.0 { v } else { 0.0 }).min(1.0)
}

/// The byte nearest to `v`, which is from 0 to 1.
#[inline(always)]
fn unorm8(v: f32) -> u32 {
    (v * 255.0 + NEAREST).to_bits() & 255
}

/// Returns the value of byte `byte` of `word`.
#[inline(always)]
fn from_unorm8(word: u32, byte: usize) -> f32 {
    const STEP: f32 = unorm_step(8);
    ((word >> (8 * byte)) & 255) as i32 as f32 * STEP
}

/// Blends each pixel with the common blending.
#[inline(always)]
fn unorm8_by_alpha(
    order: [usize; 4],
    src: &Four<'_>,
    old: &Words,
    [by_src, by_dst]: [AlphaFactor; 2],
) -> Lanes {
    let (channels, alpha) = (order.map(|c| src[c]), src[3]);
    let mut out = Lanes::ZERO;
    for i in 0..32 {
        let a = limited(alpha[i]);
        let (of_src, of_dst) = (by_src.at(a), by_dst.at(a));
        for (byte, channel) in channels.into_iter().enumerate() {
            let v = limited(channel[i]) * of_src + from_unorm8(old[i], byte) * of_dst;
            out.0[i] |= unorm8(v.min(1.0)) << (8 * byte);
        }
    }
    out
}

#[inline(always)]
fn decode_unorm8(order: [usize; 4], words: &Words) -> [Words; 4] {
    let mut out = [[0; 32]; 4];
    for (byte, c) in order.into_iter().enumerate() {
        for i in 0..32 {
            out[c][i] = from_unorm8(words[i], byte).to_bits();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::compare::Compare;
    use crate::draw::gras::quad::{Quad, quads};
    use crate::draw::rb::alpha_test::AlphaTest;
    use crate::draw::rb::blend::{BlendFactor, BlendOp, Equation};
    use crate::draw::rb::state::Targets;
    use a4emu_shader::format::{Format, Layout, Swap, Transfer};

    const RGBA8: Format = Format { layout: Layout::array(4, 8), ty: Type::Unorm };
    const RGBA16_FLOAT: Format = Format { layout: Layout::array(4, 16), ty: Type::Float };
    const RGBA8_SNORM: Format = Format { layout: Layout::array(4, 8), ty: Type::Snorm };
    const RGBA32_FLOAT: Format = Format { layout: Layout::array(4, 32), ty: Type::Float };

    fn target(format: Format, swap: Swap, unorm8: Option<[usize; 4]>) -> ColorTarget {
        let codec = format.codec(swap, Transfer::Linear).expect("a pixel format");
        let output = ColorOutput { regid: 0, precision: Precision::Full, number: Number::Float };
        let writable = codec.bits(15);
        ColorTarget { surface: 0, output, codec, blend: None, rop: None, writable, unorm8, dither: None }
    }

    fn color(c: [f32; 4]) -> [Words; 4] {
        c.map(|v| [v.to_bits(); 32])
    }

    const QUAD: Quad = Quad { x: 2, y: 0, mask: 15, primitive: 0 };

    /// Tests targets that compiled code may finish, and targets that it may not.
    #[test]
    fn code_finishes_what_needs_no_more_than_alpha() {
        let common = target(RGBA8, Swap::WXYZ, Some([2, 1, 0, 3]));
        let equation = |op| Equation { op, src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha };
        let blend = |op| Some(Blend { rgb: equation(op), alpha: equation(op), constant: [0.0; 4] });
        let half = ColorOutput { precision: Precision::Half, ..common.output };
        let all = |colors: &[&ColorTarget]| {
            let mut targets = crate::a4xx::rb::targets(&Default::default(), &mut Vec::new());
            targets.color = colors.iter().map(|target| (*target).clone()).collect();
            targets.outputs[0] = common.output;
            targets
        };
        let plain = Epilogue { regid: 0, order: [2, 1, 0, 3], blend: None, keeps_alpha: false };
        assert_eq!(all(&[&common]).epilogue(), Some((plain, 0)));
        let test = Some(AlphaTest { func: Compare::Less, reference: 0.5 });
        let tested = Targets { alpha_test: test, ..all(&[&common]) };
        assert_eq!(tested.epilogue(), Some((Epilogue { keeps_alpha: true, ..plain }, 0)));
        let blended = ColorTarget { blend: blend(BlendOp::Add), ..common.clone() };
        let factors =
            blended.epilogue().and_then(|epilogue| epilogue.blend).expect("they are of the alpha alone");
        assert_eq!(factors.map(|by| by.at(0.25)), [0.25, 0.75]);

        let mut other_alpha = Targets { alpha_test: test, ..all(&[&common]) };
        other_alpha.outputs[0].regid = 4;
        let unfinished = [all(&[]), all(&[&common, &common]), other_alpha];
        assert!(unfinished.iter().all(|targets| targets.epilogue().is_none()));
        assert_eq!(Targets { depth_output: Some(8), ..all(&[&common]) }.epilogue(), None);
        for other in [
            ColorTarget { output: half, ..common.clone() },
            ColorTarget { output: ColorOutput { regid: 252, ..common.output }, ..common.clone() },
            ColorTarget { blend: blend(BlendOp::Min), ..common.clone() },
            ColorTarget { rop: Some(Rop(0b0110)), ..common.clone() },
            ColorTarget { writable: common.codec.bits(7), ..common.clone() },
            target(RGBA16_FLOAT, Swap::WZYX, None),
        ] {
            assert_eq!(other.epilogue(), None, "{other:?}");
        }
    }

    #[test]
    fn the_fast_path_agrees_with_the_codec() {
        for (swap, order) in [(Swap::WZYX, [0, 1, 2, 3]), (Swap::WXYZ, [2, 1, 0, 3])] {
            let fast = target(RGBA8, swap, Some(order));
            let slow = target(RGBA8, swap, None);
            for c in [[0.0, 1.0, 0.5, 0.25], [-1.0, 2.0, f32::NAN, 0.1], [0.501_96, 0.498_04, 0.9999, 1e-9]] {
                let c = color(c);
                let words = fast.encode(&c.each_ref());
                assert_eq!(words, slow.encode(&c.each_ref()));
                assert_eq!(decode_unorm8(order, &words), slow.codec.decode_words(&words));
            }
        }
    }

    /// Compares whole blocks and partial blocks with pixels written quad by quad through the codec, for each
    /// factor.
    #[test]
    fn the_common_blending_agrees_with_the_general_one() {
        use BlendFactor::*;
        let values = [-1.0, 2.0, f32::NAN, 0.1, 0.0, 1.0, 0.999, 1e-9, 0.5, -0.0, f32::INFINITY];
        let c: [Words; 4] =
            std::array::from_fn(|c| std::array::from_fn(|i| values[(7 * c + 3 * i) % 11].to_bits()));
        let first: Vec<u8> = (0..16 * 8 * 4).map(|i| (i * 37 % 256) as u8).collect();
        let quads = quads(0, [8, 4], u32::MAX);
        let factors = [Zero, One, SrcAlpha, OneMinusSrcAlpha, DstAlpha];
        for (src, dst) in factors.into_iter().flat_map(|src| factors.map(|dst| (src, dst))) {
            let equation = Equation { op: BlendOp::Add, src, dst };
            let blended = Some(Blend { rgb: equation, alpha: equation, constant: [0.0; 4] });
            let wholes = [None, blended].map(|blend| (blend, 0b1111, None));
            let in_part = [(blended, 0b0101, None), (blended, 0b1111, Some(Rop(0b0110)))];
            for (blend, components, rop) in wholes.into_iter().chain(in_part) {
                let written = |unorm8, pixels: Quads<'_>, mask| {
                    let mut bytes = first.clone();
                    let mut rows = PixelRows::new(&mut bytes, 64, 4, [0, 0]);
                    let target = target(RGBA8, Swap::WXYZ, unorm8);
                    let writable = target.codec.bits(components);
                    let target = ColorTarget { blend, writable, rop, ..target };
                    target.write(&mut rows, &pixels, mask, &c.each_ref(), &c.each_ref());
                    bytes
                };
                for mask in [u32::MAX, 0x7fff_fffe, 0x0f31_c8a5] {
                    let fast = written(Some([2, 1, 0, 3]), Quads::of_block(&quads, [8, 4]), mask);
                    let general = written(None, Quads::new(&quads), mask);
                    assert!(fast == general, "{blend:?} {components:#b} {rop:?} {mask:#x}");
                    let quad_by_quad = written(Some([2, 1, 0, 3]), Quads::new(&quads), mask);
                    assert!(quad_by_quad == general, "{blend:?} {components:#b} {rop:?} {mask:#x}");
                    let leaves_all = (src, dst) == (Zero, One) && blend.is_some();
                    assert!(rop.is_some() || (fast == first) == leaves_all);
                }
            }
        }
    }

    /// Two primitives share a quad, and some quads lie outside the plane.
    #[test]
    fn quads_that_are_anywhere_are_written_pixel_by_pixel() {
        let c = color([0.25, 0.5, 0.75, 0.5]);
        let equation =
            Equation { op: BlendOp::Add, src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha };
        let blended = Some(Blend { rgb: equation, alpha: equation, constant: [0.0; 4] });
        let at = |x, y| Quad { x, y, mask: 15, primitive: 0 };
        let inside = [at(2, 0), at(0, 2), at(2, 0), at(6, 6), at(0, 0)];
        let beyond = [at(2, 0), at(0, 2), at(6, 8), at(-2, 0)];
        let first: Vec<u8> = (0..8 * 8 * 4).map(|i| (i * 37 % 256) as u8).collect();
        for (quads, mask) in [(&inside[..], 0xf_955a), (&inside[..2], 0x10), (&beyond[..], 0x33ff)] {
            for blend in [None, blended] {
                let mut bytes = [first.clone(), first.clone()];
                for (bytes, unorm8) in bytes.iter_mut().zip([Some([0, 1, 2, 3]), None]) {
                    let target = target(RGBA8, Swap::WZYX, unorm8);
                    let mut rows = PixelRows::new(bytes, 32, 4, [0, 0]);
                    let target = ColorTarget { blend, ..target };
                    if unorm8.is_some() {
                        target.write(&mut rows, &Quads::new(quads), mask, &c.each_ref(), &c.each_ref());
                        continue;
                    }
                    Quads::new(quads).each_quad(mask, |_, quad, bits| {
                        quad.covered(bits, |corner, _, _| {
                            let one = [*quad];
                            target.write(
                                &mut rows,
                                &Quads::new(&one),
                                1 << corner,
                                &c.each_ref(),
                                &c.each_ref(),
                            );
                        });
                    });
                }
                assert!(bytes[0] == bytes[1] && bytes[0] != first, "{mask:#x} {blend:?}");
            }
        }
    }

    #[test]
    fn only_covered_pixels_and_enabled_components_change() {
        let mut bytes = [9; 4 * 4 * 2];
        let mut target = target(RGBA8, Swap::WZYX, Some([0, 1, 2, 3]));
        target.writable = target.codec.bits(0b0001);
        let c = color([1.0; 4]);
        target.write(
            &mut PixelRows::new(&mut bytes, 16, 4, [0, 0]),
            &Quads::new(&[QUAD]),
            0b0110,
            &c.each_ref(),
            &c.each_ref(),
        );
        let changed: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] != 9).collect();
        assert_eq!(changed, [12, 24], "red of the upper right and the lower left pixel");
    }

    #[test]
    fn the_constant_keeps_to_the_range_of_the_format() {
        let equation = Equation { op: BlendOp::Add, src: BlendFactor::ConstantColor, dst: BlendFactor::Zero };
        let constant = [2.0, -2.0, 0.5, -0.5];
        for (format, limited) in
            [(RGBA8, [1.0, 0.0, 0.5, 0.0]), (RGBA8_SNORM, [1.0, -1.0, 0.5, -0.5]), (RGBA16_FLOAT, constant)]
        {
            let mut target = target(format, Swap::WZYX, None);
            target.blend = Some(Blend { rgb: equation, alpha: equation, constant });
            target.limit_constant();
            assert_eq!(target.blend.map(|blend| blend.constant), Some(limited), "{format:?}");
        }
    }

    #[test]
    fn wide_formats_blend_like_narrow_ones() {
        let blend = Blend {
            rgb: Equation { op: BlendOp::Add, src: BlendFactor::One, dst: BlendFactor::One },
            alpha: Equation { op: BlendOp::Add, src: BlendFactor::One, dst: BlendFactor::Zero },
            constant: [0.0; 4],
        };
        let mut bytes = [0; 16 * 4 * 2];
        let mut target = target(RGBA32_FLOAT, Swap::WZYX, None);
        target.blend = Some(blend);
        let c = color([1.5, 0.25, 0.0, 0.5]);
        for _ in 0..2 {
            target.write(
                &mut PixelRows::new(&mut bytes, 64, 16, [0, 0]),
                &Quads::new(&[QUAD]),
                1,
                &c.each_ref(),
                &c.each_ref(),
            );
        }
        let pixel: [f32; 4] =
            std::array::from_fn(|i| f32::from_le_bytes(std::array::from_fn(|k| bytes[2 * 16 + 4 * i + k])));
        assert_eq!(pixel, [3.0, 0.5, 0.0, 0.5]);
    }
}
