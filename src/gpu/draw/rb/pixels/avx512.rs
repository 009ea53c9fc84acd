//! Loads and stores 16 dword pixels at a time with AVX-512: two rows of an 8x4 block, or four quads at any
//! positions.
//!
//! The conversion between quad order (warp) and row order (surface) is one permutation here. Loops do it
//! through memory.
use std::arch::x86_64::*;

use crate::draw::rb::surface::{DwordQuads, Dwords};

/// Loads an 8x4 block in quad order.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn load(rows: &mut Dwords<'_, 8>) -> [u32; 32] {
    bytemuck::cast([load_half(rows, 0), load_half(rows, 1)])
}

/// Stores the pixels of an 8x4 block that are in `mask`, in quad order.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store(rows: &mut Dwords<'_, 8>, mask: u32, words: &[u32; 32]) {
    for (half, words) in words.as_chunks::<16>().0.iter().enumerate() {
        store_some(rows, half, mask, bytemuck::cast(*words));
    }
}

/// Stores quads to two of the four rows, where `mask` (of all pixels) is set.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store_some(rows: &mut Dwords<'_, 8>, half: usize, mask: u32, new: __m512i) {
    let pixels = mask_of_half(mask, half);
    let new = if pixels == __mmask16::MAX { new } else { chosen(pixels, new, load_half(rows, half)) };
    store_half(rows, half, new);
}

/// Loads two of the four rows in quad order.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn load_half(rows: &mut Dwords<'_, 8>, half: usize) -> __m512i {
    let upper: __m256i = bytemuck::cast(*rows.row(2 * half));
    let lower: __m256i = bytemuck::cast(*rows.row(2 * half + 1));
    let both = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(upper), lower);
    _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), both)
}

/// Loads the first or the last four quads directly into registers. A wide read of memory just written in
/// parts would stall.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn load_quads(quads: &mut DwordQuads<'_>, half: usize) -> __m512i {
    let first = 4 * half;
    let ([a, b], [c, d]) = (quads.pairs(first), quads.pairs(first + 1));
    let ([e, f], [g, h]) = (quads.pairs(first + 2), quads.pairs(first + 3));
    _mm512_setr_epi64(a as i64, b as i64, c as i64, d as i64, e as i64, f as i64, g as i64, h as i64)
}

/// Stores quads to two of the four rows.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn store_half(rows: &mut Dwords<'_, 8>, half: usize, quads: __m512i) {
    let both = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), quads);
    *rows.row(2 * half) = bytemuck::cast(_mm512_castsi512_si256(both));
    *rows.row(2 * half + 1) = bytemuck::cast(_mm512_extracti64x4_epi64::<1>(both));
}

/// Returns the first or the second 16 of 32 bits.
pub fn mask_of_half(mask: u32, half: usize) -> __mmask16 {
    (mask >> (16 * half)) as __mmask16
}

/// Returns `new` where `mask` is set, and `old` elsewhere.
#[target_feature(enable = "avx512f")]
#[inline]
pub fn chosen(mask: __mmask16, new: __m512i, old: __m512i) -> __m512i {
    _mm512_mask_mov_epi32(old, mask, new)
}
