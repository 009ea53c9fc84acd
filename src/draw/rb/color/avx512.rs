//! Colours of 8x4 pixels into dwords of four bytes, 16 pixels at once in the instructions of AVX-512.
//!
//! What comes out is what the loops beside it make, bit for bit. Those leave to the compiler what it does through
//! memory: the order of pixels, quad by quad in a warp and row by row on a surface, which is one permutation here.
use std::arch::x86_64::*;

use super::{Four, NEAREST};
use crate::draw::rb::blend::ByAlpha;
use crate::draw::rb::surface::Dwords;
use crate::format::avx512::unorm8;

/// Encodes colours, quad by quad, and stores those in `mask`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn store(order: [usize; 4], colors: &Four<'_>, rows: &mut Dwords<'_, 8>, mask: u32) {
    let channels = order.map(|c| colors[c]);
    for half in 0..2 {
        let bytes = channels.map(|channel| nearest(limited(of_half(channel, half))));
        let new = joined(bytes);
        let pixels = mask_of_half(mask, half);
        let new = if pixels == __mmask16::MAX { new } else { chosen(pixels, new, load_half(rows, half)) };
        store_half(rows, half, new);
    }
}

/// Blends colours, quad by quad, with what is there in the pixels of `mask`: times what `by_src` and `by_dst` say of their alpha, and added.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn blend(
    order: [usize; 4],
    colors: &Four<'_>,
    [by_src, by_dst]: [ByAlpha; 2],
    rows: &mut Dwords<'_, 8>,
    mask: u32,
) {
    let channels = order.map(|c| colors[c]);
    for half in 0..2 {
        let alpha = limited(of_half(colors[3], half));
        let factor = |by: ByAlpha| {
            let [one, times] = [by.one, by.alpha].map(|number| _mm512_set1_ps(number));
            _mm512_add_ps(one, _mm512_mul_ps(times, alpha))
        };
        let [of_src, of_dst] = [factor(by_src), factor(by_dst)];
        let old = load_half(rows, half);
        let bytes = [0, 1, 2, 3].map(|byte| {
            let src = _mm512_mul_ps(limited(of_half(channels[byte], half)), of_src);
            let dst = _mm512_mul_ps(unorm8(old, byte as u32), of_dst);
            nearest(_mm512_min_ps(_mm512_add_ps(src, dst), _mm512_set1_ps(1.0)))
        });
        store_half(rows, half, chosen(mask_of_half(mask, half), joined(bytes), old));
    }
}

/// The first or the second 16 of 32 bits.
fn mask_of_half(mask: u32, half: usize) -> __mmask16 {
    (mask >> (16 * half)) as __mmask16
}

/// `new` where `mask` says so, and `old`.
#[target_feature(enable = "avx512f")]
#[inline]
fn chosen(mask: __mmask16, new: __m512i, old: __m512i) -> __m512i {
    _mm512_mask_mov_epi32(old, mask, new)
}

/// The first or the second 16 of 32 numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn of_half(channel: &[u32; 32], half: usize) -> __m512 {
    bytemuck::cast(channel.as_chunks::<16>().0[half])
}

/// From 0 to 1; NaN becomes zero.
#[target_feature(enable = "avx512f")]
#[inline]
fn limited(v: __m512) -> __m512 {
    // Where one is NaN, or both are zero, the second counts.
    _mm512_min_ps(_mm512_max_ps(v, _mm512_setzero_ps()), _mm512_set1_ps(1.0))
}

/// The bytes nearest to numbers from 0 to 1, below other bits.
#[target_feature(enable = "avx512f")]
#[inline]
fn nearest(v: __m512) -> __m512i {
    _mm512_castps_si512(_mm512_add_ps(_mm512_mul_ps(v, _mm512_set1_ps(255.0)), _mm512_set1_ps(NEAREST)))
}

/// Dwords of four [`nearest`] bytes, the first the lowest.
#[target_feature(enable = "avx512f")]
#[inline]
fn joined([a, b, c, d]: [__m512i; 4]) -> __m512i {
    /// (A and B) or C.
    const AND_OR: i32 = 0xea;
    /// A or B or C.
    const OR: i32 = 0xfe;
    // What is above a byte are the bits of 2^23, of which none is left 8 bits further up but those of the exponent.
    let [b, c, d] = [_mm512_slli_epi32::<8>(b), _mm512_slli_epi32::<16>(c), _mm512_slli_epi32::<24>(d)];
    let lower = _mm512_ternarylogic_epi32::<AND_OR>(a, _mm512_set1_epi32(255), b);
    _mm512_ternarylogic_epi32::<OR>(lower, c, d)
}

/// Two of the four rows, quad by quad.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_half(rows: &mut Dwords<'_, 8>, half: usize) -> __m512i {
    let upper: __m256i = bytemuck::cast(*rows.row(2 * half));
    let lower: __m256i = bytemuck::cast(*rows.row(2 * half + 1));
    let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(upper), lower);
    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), both)
}

/// Makes those two rows of quads.
#[target_feature(enable = "avx512f")]
#[inline]
fn store_half(rows: &mut Dwords<'_, 8>, half: usize, quads: __m512i) {
    let both = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), quads);
    *rows.row(2 * half) = bytemuck::cast(_mm512_castsi512_si256(both));
    *rows.row(2 * half + 1) = bytemuck::cast(_mm512_extracti64x4_epi64::<1>(both));
}
