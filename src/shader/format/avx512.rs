//! Bytes that stand for numbers from 0 to 1, of 16 dwords at once in the instructions of AVX-512.
use std::arch::x86_64::*;

/// What byte `byte` of each dword stands for, which is [`unorm_step`](super::unorm_step) times that: a byte under the
/// bits of 2^23 is that number and the byte; a fused multiplication and subtraction of 2^23 steps, which is exact,
/// leaves the byte's steps, rounded once, as the product of both alone would be.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub fn unorm8(dwords: __m512i, byte: u32) -> __m512 {
    const STEP: f32 = super::unorm_step(8);
    /// Its last mantissa bit is worth 1.
    const ABOVE: f32 = (1 << 23) as f32;
    const LOWEST_BYTES: __mmask64 = 0x1111_1111_1111_1111;
    // Each dword's first byte becomes the one wanted, of the four dwords of a quarter.
    let from = _mm512_set1_epi32(byte as i32);
    let from = _mm512_add_epi32(_mm512_broadcast_i32x4(_mm_setr_epi32(0, 4, 8, 12)), from);
    let above = _mm512_set1_epi32(ABOVE.to_bits() as i32);
    let sum = _mm512_castsi512_ps(_mm512_mask_shuffle_epi8(above, LOWEST_BYTES, dwords, from));
    _mm512_fmsub_ps(sum, _mm512_set1_ps(STEP), _mm512_set1_ps(ABOVE * STEP))
}
