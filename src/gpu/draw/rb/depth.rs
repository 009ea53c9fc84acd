//! Depth and stencil tests of 32 pixels at a time, for any layout.

use multiversion::multiversion;

use crate::draw::compare::Compare;
use crate::draw::gras::raster::{Signs, signs};
use crate::draw::gras::setup::{Face, ScreenPrimitive};
use crate::draw::rb::surface::PixelRows;

/// 32 values, one per pixel.
pub type Words = [u32; 32];

/// What a depth buffer holds of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthFormat {
    /// Nothing: there is no depth buffer.
    None,
    /// 16 bits, 0 to 1.
    Unorm16,
    /// 24 bits, 0 to 1, and 8 bits of stencil above them.
    Unorm24Stencil8,
    /// binary32.
    Float32,
}

/// What happens to a stencil value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StencilOp {
    /// The stencil value stays.
    Keep,
    /// The stencil value becomes 0.
    Zero,
    /// The stencil value becomes the reference.
    Replace,
    /// One more, up to 255.
    IncrementClamp,
    /// One less, down to 0.
    DecrementClamp,
    /// All bits are inverted.
    Invert,
    /// One more; 0 after 255.
    IncrementWrap,
    /// One less; 255 after 0.
    DecrementWrap,
}

impl StencilOp {
    /// Returns Mesa's name without its prefix, as answers have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "KEEP",
            Self::Zero => "ZERO",
            Self::Replace => "REPLACE",
            Self::IncrementClamp => "INCR_CLAMP",
            Self::DecrementClamp => "DECR_CLAMP",
            Self::Invert => "INVERT",
            Self::IncrementWrap => "INCR_WRAP",
            Self::DecrementWrap => "DECR_WRAP",
        }
    }
}

/// Stencil test and update of one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// Comparison of the reference with the buffer.
    pub func: Compare,
    /// Operation if the stencil test fails.
    pub fail: StencilOp,
    /// Operation if both tests pass.
    pub zpass: StencilOp,
    /// Operation if the depth test fails.
    pub zfail: StencilOp,
    /// Reference value.
    pub reference: u32,
    /// Bits to compare.
    pub mask: u32,
    /// Bits to write.
    pub write_mask: u32,
}

/// Whether a passed test stores its depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthWrite {
    /// The buffer keeps its value.
    Keep,
    /// The buffer takes the new value.
    Store,
}

/// All depth and stencil state of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthStencil {
    /// Layout of the depth buffer.
    pub format: DepthFormat,
    /// Test and write mode; `None` when the test is off.
    pub depth: Option<(Compare, DepthWrite)>,
    /// Depth limits, as window z.
    pub limits: [f32; 2],
    /// By [`Face`].
    pub stencil: Option<[StencilFace; 2]>,
}

/// The stored values of 32 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Depth in the format's encoding: unorm or float bits.
    pub depth: Words,
    /// Stencil.
    pub stencil: Words,
}

impl DepthStencil {
    /// Converts window z to the format of the buffer.
    pub fn quantise(&self, z: &[f32; 32]) -> Words {
        match self.format {
            DepthFormat::Unorm16 => quantise(z, self.limits, 65535.0),
            DepthFormat::Unorm24Stencil8 => quantise(z, self.limits, DEPTH24 as f32),
            _ => z.map(|z| z.max(self.limits[0]).min(self.limits[1]).to_bits()),
        }
    }

    /// Converts a stored value to window depth.
    pub fn window_depth(&self, raw: u32) -> f32 {
        match self.format {
            DepthFormat::Unorm16 => raw as f32 / 65535.0,
            DepthFormat::Unorm24Stencil8 => raw as f32 / DEPTH24 as f32,
            _ => f32::from_bits(raw),
        }
    }

    /// Returns the bits of depth and of stencil that may change.
    pub fn written(&self) -> [u32; 2] {
        let depth = match self.depth {
            Some((_, DepthWrite::Store)) => u32::MAX,
            Some((_, DepthWrite::Keep)) | None => 0,
        };
        [depth, self.stencil.map_or(0, |faces| faces[0].write_mask | faces[1].write_mask)]
    }

    /// Tests the pixels of `mask`; returns those that pass. Updates `stored` to the new contents of the
    /// buffer.
    pub fn test(&self, face: Face, z: &Words, stored: &mut Stored, mask: u32) -> u32 {
        let Some(faces) = &self.stencil else { return self.test_depth(z, stored, mask) };
        let face = &faces[face as usize];
        let passed_stencil = face.compare(&stored.stencil) & mask;
        let passed = self.test_depth(z, stored, passed_stencil);
        face.update(face.fail, &mut stored.stencil, mask & !passed_stencil);
        face.update(face.zfail, &mut stored.stencil, passed_stencil & !passed);
        face.update(face.zpass, &mut stored.stencil, passed);
        passed
    }

    /// Returns the bits of depth and of stencil that every pixel of `face` replaces. `None` unless all pixels
    /// pass and the result does not depend on the buffer.
    pub fn replaced(&self, face: Face) -> Option<[u32; 2]> {
        let depth = match self.depth {
            None | Some((Compare::Always, DepthWrite::Keep)) => 0,
            Some((Compare::Always, DepthWrite::Store)) => u32::MAX,
            Some(_) => return None,
        };
        let Some(faces) = &self.stencil else { return Some([depth, 0]) };
        let face = &faces[face as usize];
        match (face.func, face.zpass) {
            (Compare::Always, StencilOp::Keep) => Some([depth, 0]),
            (Compare::Always, StencilOp::Zero | StencilOp::Replace) => Some([depth, face.write_mask]),
            _ => None,
        }
    }

    /// Returns the stencil value that [`Self::replaced`] writes.
    pub fn replacement(&self, face: Face) -> u32 {
        self.stencil.map_or(0, |faces| {
            let face = &faces[face as usize];
            apply(face.zpass, 0, face.reference)
        })
    }

    /// Returns the packed form of the test, if there is one: dwords with 24-bit depth, and a stencil that is
    /// neither tested nor changed.
    pub fn packed(&self) -> Option<PackedTest> {
        let (None, DepthFormat::Unorm24Stencil8, Some((func, write))) =
            (&self.stencil, self.format, self.depth)
        else {
            return None;
        };
        let written = if write == DepthWrite::Store { DEPTH24 } else { 0 };
        Some(PackedTest { pass: outcomes(func), written, limits: self.limits })
    }

    fn test_depth(&self, z: &Words, stored: &mut Stored, mask: u32) -> u32 {
        let Some((func, write)) = self.depth else { return mask };
        let passed = compare(func, z, &stored.depth) & mask;
        if write == DepthWrite::Store {
            select(&mut stored.depth, z, passed);
        }
        passed
    }
}

impl StencilFace {
    /// Returns whether the test passes for a stored value.
    pub fn passes(&self, stored: u32) -> bool {
        self.compare(&[stored; 32]) != 0
    }

    fn compare(&self, stored: &Words) -> u32 {
        let reference = [self.reference & self.mask; 32];
        compare(self.func, &reference, &stored.map(|s| s & self.mask))
    }

    /// Applies `op` to the pixels of `mask`.
    fn update(&self, op: StencilOp, stored: &mut Words, mask: u32) {
        if mask == 0 || op == StencilOp::Keep {
            return;
        }
        let new = stored.map(|s| (apply(op, s, self.reference) & self.write_mask) | (s & !self.write_mask));
        select(stored, &new, mask);
    }
}

/// Applies `op` to the stencil value `s`.
fn apply(op: StencilOp, s: u32, reference: u32) -> u32 {
    match op {
        StencilOp::Zero => 0,
        StencilOp::Replace => reference,
        StencilOp::IncrementClamp => (s + 1).min(255),
        StencilOp::DecrementClamp => s.saturating_sub(1),
        StencilOp::Invert => !s & 255,
        StencilOp::IncrementWrap => (s + 1) & 255,
        StencilOp::DecrementWrap => s.wrapping_sub(1) & 255,
        StencilOp::Keep => s,
    }
}

/// Returns which of the outcomes less, equal, greater pass `func`, as all-ones words.
pub(super) fn outcomes(func: Compare) -> [u32; 3] {
    let bits = match func {
        Compare::Never => [false, false, false],
        Compare::Less => [true, false, false],
        Compare::Equal => [false, true, false],
        Compare::LessEqual => [true, true, false],
        Compare::Greater => [false, false, true],
        Compare::NotEqual => [true, false, true],
        Compare::GreaterEqual => [false, true, true],
        Compare::Always => [true, true, true],
    };
    bits.map(all_if)
}

/// Returns the lanes where `a func b` holds.
fn compare(func: Compare, a: &Words, b: &Words) -> u32 {
    match func {
        Compare::Always => u32::MAX,
        _ => compare_lanes(outcomes(func), a, b),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn compare_lanes(pass: [u32; 3], a: &Words, b: &Words) -> u32 {
    let mut passed = 0;
    for i in 0..32 {
        passed |= holds(pass, a[i], b[i]) & 1 << i;
    }
    passed
}

/// Returns all ones, or zero.
#[inline(always)]
fn all_if(holds: bool) -> u32 {
    0u32.wrapping_sub(holds.into())
}

/// Returns all ones if the outcome of comparing `a` with `b` passes.
#[inline(always)]
fn holds([less, equal, greater]: [u32; 3], a: u32, b: u32) -> u32 {
    let lt = if a < b { less } else { 0 };
    let eq = if a == b { equal } else { 0 };
    let gt = if a > b { greater } else { 0 };
    lt | eq | gt
}

/// Compares floats. NaN is not less, equal or greater, but it is not equal.
#[inline(always)]
pub(super) fn float_holds([less, equal, greater]: [u32; 3], a: f32, b: f32) -> u32 {
    let lt = if a < b { less } else { 0 };
    let eq = if a == b { equal } else { 0 };
    let gt = if a > b { greater } else { 0 };
    let unordered = if a.is_nan() { less & greater } else { 0 };
    lt | eq | gt | unordered
}

/// A depth test of dwords with depth in bits 23:0.
#[derive(Clone, Copy, Debug)]
pub struct PackedTest {
    /// Which of less, equal, greater pass, as all-ones words.
    pass: [u32; 3],
    /// Bits that a pixel that passes writes.
    written: u32,
    limits: [f32; 2],
}

impl PackedTest {
    /// Tests window z of the pixels of `mask`, and updates `words`; returns those that pass.
    pub fn test(&self, z: &[f32; 32], words: &mut Words, mask: u32) -> u32 {
        test_packed(self, z, words, mask)
    }

    /// Tests the 8x4 block at `at` in place, row by row, with the window z of `primitive`. Returns `None` and
    /// does nothing if a part of the block is outside the surface.
    #[inline(always)]
    pub fn test_rows(
        &self,
        signs: impl Signs,
        surface: &mut PixelRows<'_>,
        primitive: &ScreenPrimitive,
        at: [i32; 2],
        mask: u32,
    ) -> Option<u32> {
        let mut rows = surface.dwords::<8, 4>(at[0], at[1])?;
        let mut words = [0; 32];
        rows.load(&mut words);
        let z = |i: usize| primitive.depth_at(at, [i as i32 % 8, i as i32 / 8]);
        let passed = self.pixels(signs, z, &mut words, mask);
        rows.store(&words);
        Some(passed)
    }

    /// Tests the pixels of `mask`, with window z from `z`, and updates `words`. Returns those that pass.
    #[inline(always)]
    fn pixels(&self, signs: impl Signs, z: impl Fn(usize) -> f32, words: &mut Words, mask: u32) -> u32 {
        // Nearly all draws use one of these two comparisons.
        match self.pass {
            [u32::MAX, 0, 0] => self.pixels_by(|a, b| all_if(a < b), signs, z, words, mask),
            [u32::MAX, u32::MAX, 0] => self.pixels_by(|a, b| all_if(a <= b), signs, z, words, mask),
            pass => self.pixels_by(|a, b| holds(pass, a as u32, b as u32), signs, z, words, mask),
        }
    }

    /// Tests pixels with `passes`, which returns all ones or zero for a depth and a stored depth. Both are
    /// below 2^31, so they can be signed; signed comparison is one instruction on all processors.
    #[inline(always)]
    fn pixels_by(
        &self,
        passes: impl Fn(i32, i32) -> u32,
        signs: impl Signs,
        z: impl Fn(usize) -> f32,
        words: &mut Words,
        mask: u32,
    ) -> u32 {
        let mut all_passed = 0;
        for (half, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let mut passed = [0; 16];
            for l in 0..16 {
                let i = 16 * half + l;
                let (word, z) = (words[l], quantised(z(i), self.limits, DEPTH24 as f32));
                let covered = 0u32.wrapping_sub((mask >> i) & 1);
                let passes = passes(z as i32, (word & DEPTH24) as i32) & covered;
                (words[l], passed[l]) = (word ^ ((word ^ z) & (self.written & passes)), passes as i32);
            }
            all_passed |= u32::from(signs(&passed)) << (16 * half);
        }
        all_passed
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn test_packed(test: &PackedTest, z: &[f32; 32], words: &mut Words, mask: u32) -> u32 {
    test.pixels(signs, |i| z[i], words, mask)
}

/// Copies `new` to the lanes of `mask`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn select(old: &mut Words, new: &Words, mask: u32) {
    for i in 0..32 {
        let lane = 0u32.wrapping_sub((mask >> i) & 1);
        old[i] = (new[i] & lane) | (old[i] & !lane);
    }
}

/// Every float from here on is an integer.
const INTEGERS: f32 = 8_388_608.0;

/// Mask of the bits of a 24-bit depth.
pub const DEPTH24: u32 = 0xff_ffff;

/// Converts all of `z` by [`quantised`].
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn quantise(z: &[f32; 32], limits: [f32; 2], scale: f32) -> Words {
    let mut out = [0; 32];
    for i in 0..32 {
        out[i] = quantised(z[i], limits, scale);
    }
    out
}

/// Converts `z` within `limits` to an unsigned integer of `scale` (below 2^24), nearest (ties to even).
/// Adding 2^23 rounds and leaves the integer in the low bits. A sum of 2^24 carries into the exponent, which
/// is right too. From 2^23 on the value is already an integer. This is faster than a saturating conversion.
/// NaN becomes the lower limit; the limits are not NaN.
#[inline(always)]
fn quantised(z: f32, [low, high]: [f32; 2], scale: f32) -> u32 {
    let raised = if z > low { z } else { low };
    let scaled = if raised < high { raised } else { high } * scale;
    let large = scaled >= INTEGERS;
    let aligned = if large { scaled } else { scaled + INTEGERS };
    let above = if large { 0x80_0000 } else { 0 };
    aligned.to_bits().wrapping_sub(INTEGERS.to_bits()).wrapping_add(above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(func: Compare, write: DepthWrite) -> DepthStencil {
        let format = DepthFormat::Unorm24Stencil8;
        DepthStencil { format, depth: Some((func, write)), limits: [0.0, 1.0], stencil: None }
    }

    fn stored(depth: u32, stencil: u32) -> Stored {
        Stored { depth: [depth; 32], stencil: [stencil; 32] }
    }

    /// All functions, and which of less, equal, greater pass.
    const FUNCTIONS: [(Compare, [bool; 3]); 8] = [
        (Compare::Never, [false, false, false]),
        (Compare::Less, [true, false, false]),
        (Compare::Equal, [false, true, false]),
        (Compare::LessEqual, [true, true, false]),
        (Compare::Greater, [false, false, true]),
        (Compare::NotEqual, [true, false, true]),
        (Compare::GreaterEqual, [false, true, true]),
        (Compare::Always, [true, true, true]),
    ];

    #[test]
    fn the_short_form_of_the_test_does_what_the_long_one_does() {
        let z = [f32::NAN, -1.0, -0.0, 0.25, 0.5, 1.0, 2.0, f32::INFINITY];
        let held = [0, 0x3f_ffff, 0x40_0000, 0x7f_ffff, 0x80_0000, 0x80_0001, 0xff_fffe, DEPTH24];
        // Limits may exceed 1, and may be in the wrong order.
        let limits = [[0.0, 1.0], [0.25, 0.5], [0.5, 0.25], [0.0, 255.0]];
        for (func, limits) in FUNCTIONS.into_iter().flat_map(|(func, _)| limits.map(|limits| (func, limits)))
        {
            for (write, shift) in [DepthWrite::Store, DepthWrite::Keep].into_iter().zip([0, 4]) {
                let test = DepthStencil { limits, ..depth(func, write) };
                let z = std::array::from_fn(|i| z[i % 8]);
                let mut words = std::array::from_fn(|i| 0xab00_0000 | held[(i + i / 8 + shift) % 8]);
                let mut long = Stored { depth: words.map(|word| word & DEPTH24), stencil: [0; 32] };
                let mask = 0xffff_fff7;
                let passed = test.test(Face::Front, &test.quantise(&z), &mut long, mask);
                let short = test.packed().expect("neither stencil nor another format");
                assert_eq!(short.test(&z, &mut words, mask), passed, "{func:?} {limits:?}");
                assert_eq!(
                    words,
                    long.depth.map(|depth| 0xab00_0000 | depth & DEPTH24),
                    "{func:?} {limits:?}"
                );
            }
        }
    }

    #[test]
    fn every_function_agrees_with_its_name() {
        for (func, want) in FUNCTIONS {
            for (z, want) in [4, 5, 6].into_iter().zip(want) {
                let got =
                    depth(func, DepthWrite::Keep).test(Face::Front, &[z; 32], &mut stored(5, 0), 0xffff);
                assert_eq!(got, if want { 0xffff } else { 0 }, "{z} {func:?} 5");
            }
        }
    }

    #[test]
    fn only_passed_lanes_of_the_mask_are_stored() {
        let mut z = [3; 32];
        z[0] = 9;
        let mut buffer = stored(5, 0);
        let passed = depth(Compare::Less, DepthWrite::Store).test(Face::Front, &z, &mut buffer, 0b111);
        assert_eq!(passed, 0b110);
        assert_eq!(buffer.depth[..4], [5, 3, 3, 5]);
    }

    #[test]
    fn depth_is_rounded_to_nearest_and_limited() {
        let state = depth(Compare::Less, DepthWrite::Store);
        let mut z = [0.5; 32];
        z[0] = 1.5;
        z[1] = -0.5;
        z[2] = 1.0;
        assert_eq!(state.quantise(&z)[..4], [0xff_ffff, 0, 0xff_ffff, 0x80_0000]);
        let float = DepthStencil { format: DepthFormat::Float32, ..state };
        assert_eq!(float.quantise(&z)[3], 0.5f32.to_bits());
    }

    #[test]
    fn stencil_operations_follow_the_outcome() {
        let face = StencilFace {
            func: Compare::Equal,
            fail: StencilOp::Zero,
            zpass: StencilOp::IncrementWrap,
            zfail: StencilOp::Invert,
            reference: 0xff,
            mask: 0x0f,
            write_mask: 0xff,
        };
        let state = DepthStencil { stencil: Some([face; 2]), ..depth(Compare::Less, DepthWrite::Keep) };
        let mut buffer = stored(5, 0x2f);
        buffer.stencil[1] = 0x20;
        buffer.depth[2] = 1;
        let passed = state.test(Face::Back, &[3; 32], &mut buffer, 0b111);
        assert_eq!(passed, 0b001);
        assert_eq!(buffer.stencil[..4], [0x30, 0, 0xd0, 0x2f]);
    }
}
