//! Writes colours of 8x4 blocks as dwords of four bytes, 16 pixels at a time with AVX-512.
//!
//! Results are equal to those of the scalar loops, bit for bit. The conversion between quad order (warp) and
//! row order (surface) is one permutation here. The compiler does it through memory in the loops.
//!
//! Do not pass closures to `map` and similar functions. Those functions are compiled for any processor, and
//! functions with more target features may not be inlined into them.
use std::arch::x86_64::*;

use super::{Four, NEAREST};
use crate::draw::rb::pixels::avx512::{chosen, load_half, load_quads, mask_of_half, store_half, store_some};
use crate::draw::rb::surface::{DwordQuads, Dwords};
use a4emu_shader::AlphaFactor;
use a4emu_shader::format::avx512::unorm8;

/// Encodes colours in quad order, and stores those in `mask`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn store(order: [usize; 4], colors: &Four<'_>, rows: &mut Dwords<'_, 8>, mask: u32) {
    for half in 0..2 {
        store_some(rows, half, mask, encoded(order, colors, half));
    }
}

/// Encodes and stores colours of quads at any positions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn store_quads(order: [usize; 4], colors: &Four<'_>, quads: &mut DwordQuads<'_>, mask: u32) {
    let new = [encoded(order, colors, 0), encoded(order, colors, 1)];
    quads.store(mask, &bytemuck::cast(new));
}

/// Blends colours in quad order with the pixels of `mask`. `by` gives the factors from their alpha; products
/// are added.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn blend(
    order: [usize; 4],
    colors: &Four<'_>,
    by: [AlphaFactor; 2],
    rows: &mut Dwords<'_, 8>,
    mask: u32,
) {
    for half in 0..2 {
        let old = load_half(rows, half);
        let new = blended(order, colors, by, old, half);
        store_half(rows, half, chosen(mask_of_half(mask, half), new, old));
    }
}

/// Blends colours of quads at any positions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
pub(super) fn blend_quads(
    order: [usize; 4],
    colors: &Four<'_>,
    by: [AlphaFactor; 2],
    quads: &mut DwordQuads<'_>,
    mask: u32,
) {
    // Load all before the first store. No two quads share a pixel.
    let (upper, lower) = (load_quads(quads, 0), load_quads(quads, 1));
    let new = [blended(order, colors, by, upper, 0), blended(order, colors, by, lower, 1)];
    quads.store(mask, &bytemuck::cast(new));
}

/// Encodes 16 colours.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn encoded(order: [usize; 4], colors: &Four<'_>, half: usize) -> __m512i {
    let [a, b, c, d] = order;
    joined([
        nearest(limited(of_half(colors[a], half))),
        nearest(limited(of_half(colors[b], half))),
        nearest(limited(of_half(colors[c], half))),
        nearest(limited(of_half(colors[d], half))),
    ])
}

/// Blends colours with pixels `old`. `by_src` and `by_dst` give the factors from the colours' alpha; products
/// are added.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
#[inline]
fn blended(
    order: [usize; 4],
    colors: &Four<'_>,
    [by_src, by_dst]: [AlphaFactor; 2],
    old: __m512i,
    half: usize,
) -> __m512i {
    let alpha = limited(of_half(colors[3], half));
    let (of_src, of_dst) = (factor(by_src, alpha), factor(by_dst, alpha));
    let mut bytes = [_mm512_setzero_si512(); 4];
    for byte in 0..4 {
        let src = _mm512_mul_ps(limited(of_half(colors[order[byte]], half)), of_src);
        let dst = _mm512_mul_ps(unorm8(old, byte as u32), of_dst);
        bytes[byte] = nearest(_mm512_min_ps(_mm512_add_ps(src, dst), _mm512_set1_ps(1.0)));
    }
    joined(bytes)
}

/// Returns the factors for these alphas.
#[target_feature(enable = "avx512f")]
#[inline]
fn factor(by: AlphaFactor, alpha: __m512) -> __m512 {
    _mm512_add_ps(_mm512_set1_ps(by.one), _mm512_mul_ps(_mm512_set1_ps(by.alpha), alpha))
}

/// Returns the first or the second 16 of 32 numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn of_half(channel: &[u32; 32], half: usize) -> __m512 {
    bytemuck::cast(channel.as_chunks::<16>().0[half])
}

/// Limits numbers to 0..1; NaN becomes zero.
#[target_feature(enable = "avx512f")]
#[inline]
fn limited(v: __m512) -> __m512 {
    // If an operand is NaN, or both are zero, the instruction returns the second operand.
    _mm512_min_ps(_mm512_max_ps(v, _mm512_setzero_ps()), _mm512_set1_ps(1.0))
}

/// Returns the bytes nearest to numbers from 0 to 1, in the low bits; the higher bits are undefined.
#[target_feature(enable = "avx512f")]
#[inline]
fn nearest(v: __m512) -> __m512i {
    _mm512_castps_si512(_mm512_add_ps(_mm512_mul_ps(v, _mm512_set1_ps(255.0)), _mm512_set1_ps(NEAREST)))
}

/// Joins four [`nearest`] bytes to dwords, the first in the low bits.
#[target_feature(enable = "avx512f")]
#[inline]
fn joined([a, b, c, d]: [__m512i; 4]) -> __m512i {
    /// (A and B) or C.
    const AND_OR: i32 = 0xea;
    /// A or B or C.
    const OR: i32 = 0xfe;
    // Above each byte are the bits of the float 2^23. The shifts remove all of them except exponent bits.
    let [b, c, d] = [_mm512_slli_epi32::<8>(b), _mm512_slli_epi32::<16>(c), _mm512_slli_epi32::<24>(d)];
    let lower = _mm512_ternarylogic_epi32::<AND_OR>(a, _mm512_set1_epi32(255), b);
    _mm512_ternarylogic_epi32::<OR>(lower, c, d)
}
