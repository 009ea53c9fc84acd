//! Transposes rows of vertices, 16 at a time with AVX-512. The compiler implements the scalar loops through
//! memory, number by number, and wide reads of that memory would stall.
use std::arch::x86_64::*;

use super::screen_vertex::Components;
use crate::draw::vertices::ScreenVertex;
use a4emu_shader::{LANES, Lanes};

/// Number of rows per step.
const ROWS: usize = 16;

/// Returns the first four words of each of 16 rows, by component.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in crate::draw) fn positions(rows: &[u32], stride: usize) -> [[f32; ROWS]; 4] {
    let mut offsets = [0; ROWS];
    for (row, offset) in offsets.iter_mut().enumerate() {
        *offset = (size_of::<u32>() * stride * row) as u64;
    }
    bytemuck::cast(columns(bytemuck::cast_slice(rows), &offsets))
}

/// Returns four dwords of each vertex of a warp at these offsets. `None` when some are out of range.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in crate::draw) fn dwords(bytes: &[u8], offsets: &[u64; LANES]) -> Option<[Lanes; 4]> {
    let room = bytes.len().checked_sub(FOUR)? as u64;
    if offsets.iter().any(|offset| *offset > room) {
        return None;
    }
    let mut all = [Lanes::ZERO; 4];
    for (half, offsets) in offsets.as_chunks().0.iter().enumerate() {
        let columns: [[u32; ROWS]; 4] = bytemuck::cast(columns(bytes, offsets));
        for (all, column) in all.iter_mut().zip(columns) {
            all.0.as_chunks_mut().0[half] = column;
        }
    }
    Some(all)
}

/// Size of four dwords in bytes.
const FOUR: usize = 16;

/// Returns four dwords at each offset, by component. The offsets must be in range.
#[target_feature(enable = "avx512f")]
#[inline]
fn columns(bytes: &[u8], offsets: &[u64; ROWS]) -> [__m512; 4] {
    let (a, b) = (every_fourth(bytes, offsets, 0), every_fourth(bytes, offsets, 1));
    let (c, d) = (every_fourth(bytes, offsets, 2), every_fourth(bytes, offsets, 3));
    transposed([a, b, c, d])
}

/// Returns the rows `first`, `first + 4` and so on.
#[target_feature(enable = "avx512f")]
#[inline]
fn every_fourth(bytes: &[u8], offsets: &[u64; ROWS], first: usize) -> __m512 {
    let all = _mm512_castps128_ps512(four_at(bytes, offsets[first]));
    let all = _mm512_insertf32x4::<1>(all, four_at(bytes, offsets[first + 4]));
    let all = _mm512_insertf32x4::<2>(all, four_at(bytes, offsets[first + 8]));
    _mm512_insertf32x4::<3>(all, four_at(bytes, offsets[first + 12]))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn four_at(bytes: &[u8], offset: u64) -> __m128 {
    let four: &[u8; FOUR] = bytes[offset as usize..].first_chunk().expect("they are there");
    bytemuck::cast(*four)
}

/// Writes 16 screen vertices from their components.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn on_screen(components: &Components, out: &mut [ScreenVertex; ROWS]) {
    let Components { xyz: [x, y, z], inv_w, snapped: [left, top], outcodes } = *components;
    let upper = by_row(bytemuck::cast([x, y, z, inv_w]));
    let lower = by_row([bytemuck::cast(left), bytemuck::cast(top), outcodes, [0; ROWS]]);
    for (at, four) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        for (quarter, out) in four.iter_mut().enumerate() {
            // Write each half separately. A wide read of memory just written in parts would stall.
            let out: &mut [[u32; 4]; 2] = bytemuck::cast_mut(out);
            out[0] = upper[quarter][at];
            out[1] = lower[quarter][at];
        }
    }
}

/// Writes four components of a warp's vertices to their rows, from word `at` of each on.
#[target_feature(enable = "avx512f")]
#[inline]
pub(in crate::draw) fn put(components: [&Lanes; 4], rows: &mut [u32], stride: usize, at: usize) {
    let [a, b, c, d] = components;
    for half in 0..LANES / ROWS {
        let all = by_row([of_half(a, half), of_half(b, half), of_half(c, half), of_half(d, half)]);
        for row in 0..ROWS {
            let Some(rest) = rows.get_mut((ROWS * half + row) * stride + at..) else { return };
            let Some(words) = rest.first_chunk_mut() else { return };
            *words = all[row % 4][row / 4];
        }
    }
}

/// Returns the first or the second 16 of 32.
fn of_half(component: &Lanes, half: usize) -> [u32; ROWS] {
    component.0.as_chunks().0[half]
}

/// Returns four numbers of each of 16 rows. Row `r` is in `[r % 4][r / 4]`.
#[target_feature(enable = "avx512f")]
#[inline]
fn by_row(components: [[u32; ROWS]; 4]) -> [[[u32; 4]; 4]; 4] {
    bytemuck::cast(transposed(bytemuck::cast(components)))
}

/// Transposes four 4x4 matrices. The function is its own inverse.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    /// The lower and the upper two numbers of both operands.
    const LOWER: i32 = 0x44;
    const UPPER: i32 = 0xee;
    let (ab, cd) = (_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
    [
        _mm512_shuffle_ps::<LOWER>(ab, cd),
        _mm512_shuffle_ps::<UPPER>(ab, cd),
        _mm512_shuffle_ps::<LOWER>(ab_high, cd_high),
        _mm512_shuffle_ps::<UPPER>(ab_high, cd_high),
    ]
}
