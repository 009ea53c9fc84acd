//! Fast path for texels with byte components in dwords, 16 lanes at a time with AVX-512.
//!
//! Results are equal to those of the scalar loops, bit for bit, with fewer steps:
//!
//! - Positions cut to 1/256 of a texel are integers in those units. Truncation by a conversion equals the
//!   floor of a non-negative number, and all later steps are exact in both forms.
//! - A byte under the bits of 2^23 is the number 2^23 plus the byte. A fused multiplication by the step and
//!   subtraction of 2^23 steps, which is exact, gives byte times step with one rounding. The plain product
//!   has the same value.
//! - The offset of a row is a product of 15-bit numbers.
use std::arch::x86_64::*;

use super::{Component, Edge, Extent, Filter, Ints, Lanes, Made, Planar, Request};
use crate::draw::tpl1::layout::MAX_LEVELS;
use a4emu_shader::format::avx512::unorm8;
use a4emu_shader::jit::Dwords;

/// Level of each lane. Offsets are in dwords.
#[derive(Clone, Copy)]
struct Image {
    width: __m512i,
    height: __m512i,
    offset: __m512i,
    pitch: __m512i,
}

/// Lanes per step.
const HALF: usize = 16;

/// Filters with the same level for all lanes. Returns false and does nothing where this path is not possible.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn of_one(
    planar: &Planar<'_>,
    request: &Request<'_>,
    filter: Filter,
    extent: Extent,
    out: &mut [Lanes; 4],
) -> bool {
    let Some(dwords) = planar.dwords(filter) else { return false };
    let Extent { width, height, offset, pitch } = extent;
    let image = Image {
        width: _mm512_set1_epi32(width),
        height: _mm512_set1_epi32(height),
        offset: _mm512_set1_epi32((offset / 4) as i32),
        pitch: _mm512_set1_epi32((pitch / 4) as i32),
    };
    filtered(planar.edges, request, dwords, filter, [image; 2], out);
    true
}

/// Filters with the levels of these numbers. Returns false and does nothing where this path is not possible.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn of_each(
    planar: &Planar<'_>,
    request: &Request<'_>,
    filter: Filter,
    numbers: &Ints,
    out: &mut [Lanes; 4],
) -> bool {
    let Some(dwords) = planar.dwords(filter) else { return false };
    let [width, height, _, offset, pitch, _] = &planar.texture.levels.table;
    let image = |half: usize| {
        let numbers = bytemuck::cast(*half_of(numbers, half));
        let pick = |table: &[u32; MAX_LEVELS]| _mm512_permutexvar_epi32(numbers, bytemuck::cast(*table));
        Image {
            width: pick(width),
            height: pick(height),
            offset: _mm512_srli_epi32::<2>(pick(offset)),
            pitch: _mm512_srli_epi32::<2>(pick(pitch)),
        }
    };
    filtered(planar.edges, request, dwords, filter, [image(0), image(1)], out);
    true
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn filtered(
    edges: [Edge; 2],
    request: &Request<'_>,
    dwords: Dwords<'_>,
    filter: Filter,
    images: [Image; 2],
    out: &mut [Lanes; 4],
) {
    match edges {
        [Edge::Repeat, Edge::Repeat] => filtered_by::<true, true>(request, dwords, filter, images, out),
        [Edge::Repeat, Edge::Clamp] => filtered_by::<true, false>(request, dwords, filter, images, out),
        [Edge::Clamp, Edge::Repeat] => filtered_by::<false, true>(request, dwords, filter, images, out),
        [Edge::Clamp, Edge::Clamp] => filtered_by::<false, false>(request, dwords, filter, images, out),
    }
}

/// Filters a texture. `S` and `T` select repeat instead of clamp.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn filtered_by<const S: bool, const T: bool>(
    request: &Request<'_>,
    dwords: Dwords<'_>,
    filter: Filter,
    images: [Image; 2],
    out: &mut [Lanes; 4],
) {
    let [s, t] = request.coords;
    for (half, image) in images.iter().enumerate() {
        let at = [bytemuck::cast(*half_of(s, half)), bytemuck::cast(*half_of(t, half))];
        match filter {
            Filter::Nearest => {
                let texels = nearest::<S, T>(dwords, image, at);
                components(&request.made, half, out, |byte| unorm8(texels, byte));
            }
            Filter::Linear => {
                let taps = linear::<S, T>(dwords, image, at);
                components(&request.made, half, out, |byte| taps.mixed(byte));
            }
        }
    }
}

/// Writes the requested components of half of the lanes. `value` returns the result of a byte number.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn components(made: &Made<'_>, half: usize, out: &mut [Lanes; 4], value: impl Fn(u32) -> __m512) {
    for (c, out) in out.iter_mut().enumerate().filter(|(c, _)| made.wanted >> c & 1 != 0) {
        let value = match made.unorm.components[c] {
            Component::Texels(field) => bytemuck::cast(value(field.byte().unwrap_or_default())),
            Component::Constant(bits) => [bits; HALF],
        };
        *out.0[HALF * half..].first_chunk_mut().expect("two halves") = value;
    }
}

/// Returns half of 32 numbers.
#[inline]
fn half_of<T>(all: &[T; 32], half: usize) -> &[T; HALF] {
    all[HALF * half..].first_chunk().expect("two halves")
}

/// Returns a coordinate in units of 1 / `size`, in `0..=size`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn position<const REPEAT: bool>(coord: __m512, size: __m512) -> __m512 {
    let zero = _mm512_setzero_ps();
    // If an operand is NaN, the instruction returns the second operand. The scalar code gives the same
    // result.
    if !REPEAT {
        return _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(coord, size), zero), size);
    }
    let floor = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(coord);
    let period = _mm512_max_ps(_mm512_sub_ps(coord, floor), zero);
    _mm512_mul_ps(_mm512_min_ps(period, _mm512_set1_ps(1.0)), size)
}

/// Wraps a texel in `-1..size`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn low<const REPEAT: bool>(texel: __m512i, size: __m512i) -> __m512i {
    match REPEAT {
        // As an unsigned number, -1 is the maximum.
        true => _mm512_min_epu32(texel, _mm512_add_epi32(texel, size)),
        false => _mm512_max_epi32(texel, _mm512_setzero_si512()),
    }
}

/// Wraps a texel in `0..=size`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn high<const REPEAT: bool>(texel: __m512i, size: __m512i) -> __m512i {
    match REPEAT {
        true => _mm512_min_epu32(texel, _mm512_sub_epi32(texel, size)),
        false => _mm512_min_epi32(texel, _mm512_sub_epi32(size, _mm512_set1_epi32(1))),
    }
}

/// Returns the offset of the first dword of a row.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn row(image: &Image, row: __m512i) -> __m512i {
    _mm512_add_epi32(image.offset, _mm512_madd_epi16(row, image.pitch))
}

/// Reads the texels at positions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn nearest<const S: bool, const T: bool>(dwords: Dwords<'_>, image: &Image, [s, t]: [__m512; 2]) -> __m512i {
    let x = _mm512_cvttps_epi32(position::<S>(s, _mm512_cvtepi32_ps(image.width)));
    let y = _mm512_cvttps_epi32(position::<T>(t, _mm512_cvtepi32_ps(image.height)));
    let [x, y] = [high::<S>(x, image.width), high::<T>(y, image.height)];
    dwords.at(_mm512_add_epi32(row(image, y), x))
}

/// The four texels around positions, with their weights.
struct Taps {
    /// Texels: left before right, upper before lower.
    texels: [__m512i; 4],
    x: __m512,
    y: __m512,
}

/// Fraction bits of a position.
const FRACTION: u32 = 8;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn linear<const S: bool, const T: bool>(dwords: Dwords<'_>, image: &Image, [s, t]: [__m512; 2]) -> Taps {
    const UNIT: f32 = (1 << FRACTION) as f32;
    let [width, height] = [image.width, image.height];
    let one = _mm512_set1_epi32(1);
    let units = |size: __m512i| _mm512_mul_ps(_mm512_cvtepi32_ps(size), _mm512_set1_ps(UNIT));
    // Relative to the centre of the previous texel.
    let from = |at: __m512| _mm512_sub_epi32(_mm512_cvttps_epi32(at), _mm512_set1_epi32(1 << (FRACTION - 1)));
    let [x, y] = [from(position::<S>(s, units(width))), from(position::<T>(t, units(height)))];
    let [column, upper] = [_mm512_srai_epi32::<FRACTION>(x), _mm512_srai_epi32::<FRACTION>(y)];
    let weight = |at: __m512i| {
        let rest = _mm512_and_si512(at, _mm512_set1_epi32((1 << FRACTION) - 1));
        _mm512_mul_ps(_mm512_cvtepi32_ps(rest), _mm512_set1_ps(1.0 / UNIT))
    };
    let rows = [low::<T>(upper, height), high::<T>(_mm512_add_epi32(upper, one), height)];
    let [upper, lower] = [row(image, rows[0]), row(image, rows[1])];
    let are_side_by_side = _mm512_cmplt_epu32_mask(column, _mm512_sub_epi32(width, one)) == __mmask16::MAX;
    let texels = match are_side_by_side {
        true => {
            let [upper, lower] = [_mm512_add_epi32(upper, column), _mm512_add_epi32(lower, column)];
            let [[a, b], [c, d]] = [dwords.pairs(upper), dwords.pairs(lower)];
            [a, b, c, d]
        }
        false => {
            let right = high::<S>(_mm512_add_epi32(column, one), width);
            let left = low::<S>(column, width);
            let at = |row: __m512i, column: __m512i| dwords.at(_mm512_add_epi32(row, column));
            [at(upper, left), at(upper, right), at(lower, left), at(lower, right)]
        }
    };
    Taps { texels, x: weight(x), y: weight(y) }
}

impl Taps {
    /// Mixes the four texels in this byte.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    fn mixed(&self, byte: u32) -> __m512 {
        let [a, b, c, d] = self.texels;
        let top = mix(unorm8(a, byte), unorm8(b, byte), self.x);
        let bottom = mix(unorm8(c, byte), unorm8(d, byte), self.x);
        mix(top, bottom, self.y)
    }
}

/// Mixes two numbers, as all linear filters do.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn mix(a: __m512, b: __m512, weight: __m512) -> __m512 {
    _mm512_add_ps(a, _mm512_mul_ps(weight, _mm512_sub_ps(b, a)))
}
