//! Conversion of unorm bytes to floats, for 16 dwords at once, with AVX-512.
use std::arch::x86_64::*;

/// Converts byte `byte` of each dword to a float: its value times [`unorm_step`](super::unorm_step). The byte
/// is put into the low mantissa bits of 2^23, which adds it. A fused multiply-subtract of 2^23 steps (exact)
/// leaves the byte times the step, rounded once, like a single multiplication.
///
/// # Safety
/// The processor has AVX-512F and AVX-512BW.
/// The processor has AVX-512F and AVX-512BW.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub fn unorm8(dwords: __m512i, byte: u32) -> __m512 {
    const STEP: f32 = super::unorm_step(8);
    /// A float whose last mantissa bit has the value 1.
    const ABOVE: f32 = (1 << 23) as f32;
    const LOWEST_BYTES: __mmask64 = 0x1111_1111_1111_1111;
    // Moves the selected byte of each dword to its lowest byte, within each quarter of four dwords.
    let from = _mm512_set1_epi32(byte as i32);
    let from = _mm512_add_epi32(_mm512_broadcast_i32x4(_mm_setr_epi32(0, 4, 8, 12)), from);
    let above = _mm512_set1_epi32(ABOVE.to_bits() as i32);
    let sum = _mm512_castsi512_ps(_mm512_mask_shuffle_epi8(above, LOWEST_BYTES, dwords, from));
    _mm512_fmsub_ps(sum, _mm512_set1_ps(STEP), _mm512_set1_ps(ABOVE * STEP))
}
