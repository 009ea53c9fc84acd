//! Level of detail.
//!
//! Isotropic, as in softpipe and llvmpipe: the logarithm of the largest single derivative in texels, not of
//! the length of the gradient. Each pixel uses the derivative of its own row and column (guess
//! `level-of-detail`; docs/hardware/board-a420.md, D9). The result has 8 fraction bits, like the sampler's
//! limits and bias, and the result of getlod.
use multiversion::target::match_target;

use super::sampler::{Filter, Sampler};
use super::wrap::{Precision, whole};
use super::{Floats, Ints, simd};
use a4emu_shader::{LANES, Lanes};

/// Derivatives along screen x and screen y of each coordinate.
pub(super) struct Gradients<'a> {
    pub ddx: [&'a Floats; 3],
    pub ddy: [&'a Floats; 3],
}

/// Levels to read in each lane.
pub(super) struct Levels {
    pub near: Ints,
    /// Next smaller level; equal to `near` where only one level counts.
    pub far: Ints,
    /// Weight of `far`.
    pub weight: Floats,
    /// Nonzero where the magnification filter applies.
    pub magnified: Lanes,
}

simd! {
    /// Returns log2 of the footprint in texels. `size` is the size of level 0.
    pub(super) fn lambda(gradients: &Gradients<'_>, size: [f32; 3]) -> Floats {
        let mut rho = [0.0f32; LANES];
        for axis in 0..3 {
            let (ddx, ddy) = (gradients.ddx[axis], gradients.ddy[axis]);
            for i in 0..LANES {
                let (dx, dy) = (ddx[i].abs() * size[axis], ddy[i].abs() * size[axis]);
                // Comparisons with NaN are false, so NaN is ignored.
                rho[i] = if dx > rho[i] { dx } else { rho[i] };
                rho[i] = if dy > rho[i] { dy } else { rho[i] };
            }
        }
        log2(&rho)
    }
}

simd! {
    /// Returns the differences of `value` within each quad, along each lane's row and column.
    pub(super) fn differences(value: &Floats) -> [Floats; 2] {
        match_target! {
            "x86_64+avx512f" => within_quads_at_once(value),
            _ => within_quads(value),
        }
    }
}

/// Computes [`differences`], for callers that are already compiled for the widest vectors.
#[inline(always)]
fn within_quads(value: &Floats) -> [Floats; 2] {
    let (mut rows, mut columns) = ([0.0; LANES], [0.0; LANES]);
    let out = rows.as_chunks_mut::<4>().0.iter_mut().zip(columns.as_chunks_mut::<4>().0);
    for ([a, b, c, d], (row, column)) in value.as_chunks::<4>().0.iter().zip(out) {
        *row = [b - a, b - a, d - c, d - c];
        *column = [c - a, d - b, c - a, d - b];
    }
    [rows, columns]
}

/// Computes [`differences`] in registers. A loop would read unaligned memory that was just written.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn within_quads_at_once(value: &Floats) -> [Floats; 2] {
    use std::arch::x86_64::*;
    let [first, second]: [__m512; 2] = bytemuck::cast(*value);
    let rows = |v: __m512| _mm512_sub_ps(_mm512_movehdup_ps(v), _mm512_moveldup_ps(v));
    let columns = |v: __m512| {
        let [lower, upper] = [_mm512_permute_ps::<0b11_10_11_10>(v), _mm512_permute_ps::<0b01_00_01_00>(v)];
        _mm512_sub_ps(lower, upper)
    };
    [bytemuck::cast([rows(first), rows(second)]), bytemuck::cast([columns(first), columns(second)])]
}

/// Returns the footprint in texels, from the differences of two coordinates within each quad.
#[inline(always)]
fn of_quads(coords: [&Floats; 2], size: [f32; 2], differences: impl Fn(&Floats) -> [Floats; 2]) -> Floats {
    let mut rho = [0.0f32; LANES];
    for axis in 0..2 {
        let [rows, columns] = differences(coords[axis]);
        for i in 0..LANES {
            let (dx, dy) = (rows[i].abs() * size[axis], columns[i].abs() * size[axis]);
            // Comparisons with NaN are false, so NaN is ignored.
            rho[i] = if dx > rho[i] { dx } else { rho[i] };
            rho[i] = if dy > rho[i] { dy } else { rho[i] };
        }
    }
    rho
}

/// Level of detail of a warp.
#[derive(Default)]
pub(super) struct Detail {
    /// Level of detail of each lane, within the limits.
    pub lod: Floats,
    /// The last level.
    pub last: f32,
    /// Lowest and highest near level.
    pub near: [i32; 2],
    /// Lowest and highest far level.
    pub far: [i32; 2],
    /// Whether far levels may count.
    pub blended: bool,
    /// Whether the magnification filter applies in any lane, and in all lanes.
    pub magnified: [bool; 2],
}

simd! {
    /// Returns the detail of a request of two coordinates at the level from quad differences.
    pub(super) fn implicit(
        coords: [&Floats; 2],
        size: [f32; 2],
        (sampler, precision): (&Sampler, Precision),
        count: usize,
    ) -> Detail {
        let rho = match_target! {
            "x86_64+avx512f" => of_quads(coords, size, |value| within_quads_at_once(value)),
            _ => of_quads(coords, size, within_quads),
        };
        if sampler.bias == 0.0 && sampler.min_lod <= 0.0 && is_magnified(&rho, precision) {
            return Detail { magnified: [true; 2], ..Detail::default() };
        }
        let mut lambda = log2(&rho);
        for i in 0..LANES {
            lambda[i] += sampler.bias;
        }
        detail(clamp(&lambda, sampler, precision), sampler.mip, count)
    }
}

simd! {
    /// Returns the detail of a request at an explicit level per lane.
    pub(super) fn explicit(
        level: &Lanes,
        (sampler, precision): (&Sampler, Precision),
        count: usize,
    ) -> Detail {
        let mut lambda = [0.0; LANES];
        for i in 0..LANES {
            lambda[i] = f32::from_bits(level.0[i]) + sampler.bias;
        }
        detail(clamp(&lambda, sampler, precision), sampler.mip, count)
    }
}

simd! {
    /// Returns the detail of a request of level 0.
    pub(super) fn zero((sampler, precision): (&Sampler, Precision), count: usize) -> Detail {
        detail(clamp(&[0.0; LANES], sampler, precision), sampler.mip, count)
    }
}

/// Footprints up to this size have a level of detail below 1/512, which is 0 in steps of 1/256.
const HARDLY_MINIFIED: f32 = 1.001;

/// Returns whether all levels of detail are 0 or less, without computing logarithms.
#[inline(always)]
fn is_magnified(rho: &Floats, precision: Precision) -> bool {
    let most = match precision {
        Precision::Cut => HARDLY_MINIFIED,
        Precision::Exact => 1.0,
    };
    // No number is negative or NaN, so the order of bits is the order of numbers.
    rho.iter().fold(0, |all, rho| all.max(rho.to_bits())) <= most.to_bits()
}

#[inline(always)]
fn detail(lod: Floats, mip: Filter, count: usize) -> Detail {
    // For non-negative numbers, the order of bits is the order of numbers.
    let (mut low, mut high) = (u32::MAX, 0);
    for i in 0..LANES {
        let bits = raised(lod[i]).to_bits();
        low = low.min(bits);
        high = high.max(bits);
    }
    // The functions below are monotonic, so the results of all lanes are between these two.
    let ends = [f32::from_bits(low), f32::from_bits(high)];
    let last = (count - 1) as f32;
    let [first, second] = [lowered(ends[0], last), lowered(ends[1], last)];
    let near = [nearer(first, mip), nearer(second, mip)];
    let (far, blended) = match mip {
        Filter::Nearest => (near, false),
        Filter::Linear => {
            ([whole(first.ceil()), whole(second.ceil())], first != second || first != first.floor())
        }
    };
    Detail { lod, last, near, far, blended, magnified: [ends[0] <= 0.0, ends[1] <= 0.0] }
}

/// Returns the base-2 logarithm of non-negative numbers to about 1e-7, the same on every machine (library
/// results differ). 0 gives -127.
#[inline(always)]
fn log2(values: &Floats) -> Floats {
    const TWO_OVER_LN_2: f32 = 2.885_39;
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        let bits = values[i].to_bits();
        // Centred so that the mantissa lies in 0.707..1.414.
        let exponent = (bits.wrapping_sub(0x3f35_04f3) as i32) >> 23;
        let mantissa = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23));
        let z = (mantissa - 1.0) / (mantissa + 1.0);
        let z2 = z * z;
        let series = 1.0 + z2 * (1.0 / 3.0 + z2 * (1.0 / 5.0 + z2 * (1.0 / 7.0)));
        out[i] = if bits == 0 { -127.0 } else { exponent as f32 + z * series * TWO_OVER_LN_2 };
    }
    out
}

/// Rounds `lod` to its precision, and limits it to the sampler's limits. NaN becomes the lower limit.
#[inline(always)]
pub(super) fn clamp(lod: &Floats, sampler: &Sampler, precision: Precision) -> Floats {
    let mut out = *lod;
    if precision == Precision::Cut {
        for i in 0..LANES {
            out[i] = (out[i] * STEPS).round_ties_even() * (1.0 / STEPS);
        }
    }
    for i in 0..LANES {
        let raised = if out[i] > sampler.min_lod { out[i] } else { sampler.min_lod };
        out[i] = if raised < sampler.max_lod { raised } else { sampler.max_lod };
    }
    out
}

/// Steps of the level of detail between two levels.
pub(super) const STEPS: f32 = 256.0;

impl Detail {
    /// Returns whether the magnification filter applies in `lane`.
    #[inline(always)]
    pub fn is_magnified(&self, lane: usize) -> bool {
        self.lod[lane] <= 0.0
    }

    /// Returns the level of `lane`, with its fraction.
    #[inline(always)]
    fn level(&self, lane: usize) -> f32 {
        lowered(raised(self.lod[lane]), self.last)
    }

    /// Returns the weight of the far level of `lane`.
    #[inline(always)]
    pub fn weight(&self, lane: usize) -> f32 {
        let level = self.level(lane);
        level - level.floor()
    }
}

/// Selects the near or the far level around a level of detail.
#[derive(Clone, Copy)]
pub(super) enum Which {
    Near,
    Far,
}

simd! {
    /// Returns the level that each lane reads.
    pub(super) fn numbers(detail: &Detail, which: Which, mip: Filter) -> Ints {
        let mut numbers = [0; LANES];
        match which {
            Which::Near => {
                for i in 0..LANES {
                    numbers[i] = nearer(detail.level(i), mip);
                }
            }
            Which::Far => {
                for i in 0..LANES {
                    numbers[i] = whole(detail.level(i).ceil());
                }
            }
        }
        numbers
    }
}

simd! {
    /// Returns the levels of `count` that a clamped `lod` reads.
    pub(super) fn select(lod: &Floats, mip: Filter, count: usize) -> Levels {
        chosen(lod, mip, count)
    }
}

#[inline(always)]
fn chosen(lod: &Floats, mip: Filter, count: usize) -> Levels {
    let last = (count - 1) as f32;
    let (mut near, mut far, mut weight) = ([0; LANES], [0; LANES], [0.0; LANES]);
    let mut magnified = Lanes::ZERO;
    for i in 0..LANES {
        magnified.0[i] = u32::from(lod[i] <= 0.0);
    }
    match mip {
        Filter::Nearest => {
            for i in 0..LANES {
                near[i] = nearer(lowered(raised(lod[i]), last), mip);
            }
        }
        Filter::Linear => {
            for i in 0..LANES {
                let level = lowered(raised(lod[i]), last);
                near[i] = nearer(level, mip);
                weight[i] = level - near[i] as f32;
            }
        }
    }
    for i in 0..LANES {
        far[i] = near[i] + i32::from(weight[i] > 0.0);
    }
    Levels { near, far, weight, magnified }
}

/// Returns the lowest and highest level that levels of detail in `low..=high` read. The texture may have
/// fewer levels.
pub(super) fn reach([low, high]: [f32; 2], mip: Filter) -> [u32; 2] {
    let highest = match mip {
        Filter::Nearest => nearer(raised(high), mip),
        Filter::Linear => whole(raised(high).ceil()),
    };
    [nearer(raised(low), mip) as u32, highest as u32]
}

/// Limits the level of detail to 0 from below.
#[inline(always)]
fn raised(lod: f32) -> f32 {
    if lod > 0.0 { lod } else { 0.0 }
}

#[inline(always)]
fn lowered(level: f32, last: f32) -> f32 {
    if level < last { level } else { last }
}

/// Returns the near level.
#[inline(always)]
fn nearer(level: f32, mip: Filter) -> i32 {
    match mip {
        // Halves round down: ceil(level + 0.5) - 1.
        Filter::Nearest => whole((level + 0.5).ceil()) - 1,
        Filter::Linear => whole(level.floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_is_exact_at_powers_of_two_and_close_between() {
        for exponent in -20..20 {
            let power = 2f32.powi(exponent);
            assert_eq!(log2(&[power; LANES])[0], exponent as f32);
            for step in 1..16 {
                let value = power * (1.0 + step as f32 / 16.0);
                let error = f64::from(log2(&[value; LANES])[0]) - f64::from(value).log2();
                assert!(error.abs() < 2e-6, "{value}: {error}");
            }
        }
        assert_eq!(log2(&[0.0; LANES])[0], -127.0);
        assert!(log2(&[f32::INFINITY; LANES])[0] > 100.0);
    }

    /// The shortcut without logarithms agrees with the logarithm.
    #[test]
    fn level_of_detail_shortcut_agrees_with_the_logarithm() {
        let sampler = Sampler::default();
        let sampler = Sampler { max_lod: 14.0, ..sampler };
        for bits in 1f32.to_bits()..=HARDLY_MINIFIED.to_bits() {
            let rho = [f32::from_bits(bits); LANES];
            assert!(is_magnified(&rho, Precision::Cut));
            assert_eq!(clamp(&log2(&rho), &sampler, Precision::Cut)[0], 0.0, "{}", rho[0]);
            assert_eq!(is_magnified(&rho, Precision::Exact), rho[0] == 1.0);
        }
        for rho in [0.0, 1e-30, 0.7, 1.0] {
            assert!(clamp(&log2(&[rho; LANES]), &sampler, Precision::Exact)[0] <= 0.0);
        }
        let mut one_more = [0.5; LANES];
        one_more[31] = 1.01;
        assert!(!is_magnified(&one_more, Precision::Cut));
    }

    #[test]
    fn differences_are_the_same_at_once() {
        let value: Floats = std::array::from_fn(|i| ((i * 37) % 61) as f32 * 0.37 - 7.0);
        let [rows, columns] = within_quads(&value);
        assert_eq!((rows[5], columns[5]), (value[5] - value[4], value[7] - value[5]));
        assert_eq!(differences(&value), [rows, columns]);
    }

    #[test]
    fn nearest_level_rounds_half_down() {
        let near = |lod: f32| select(&[lod; LANES], Filter::Nearest, 5).near[0];
        assert_eq!(
            [near(0.125), near(0.5), near(0.51), near(1.5), near(9.0), near(-3.0)],
            [0, 0, 1, 1, 4, 0]
        );
    }

    #[test]
    fn linear_levels_blend_and_stop_at_the_last() {
        let at = |lod: f32| {
            let levels = select(&[lod; LANES], Filter::Linear, 3);
            (levels.near[0], levels.far[0], levels.weight[0], levels.magnified[0] != 0)
        };
        assert_eq!(at(0.0), (0, 0, 0.0, true));
        assert_eq!(at(1.25), (1, 2, 0.25, false));
        assert_eq!(at(2.0), (2, 2, 0.0, false));
        assert_eq!(at(7.0), (2, 2, 0.0, false));
    }
}
