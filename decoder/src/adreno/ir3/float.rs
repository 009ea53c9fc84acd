//! Scalar float semantics that need more than Rust's operators.
//!
//! Rules:
//!
//! - f32 denormals and NaN results: [`crate::isa::semantics`] handles them for all ops; the functions here
//!   follow IEEE.
//! - f16 denormals are kept; rounding is to nearest even (guess `half-rounding`).
//! - `mad` rounds twice (guess `mad-rounds-twice`).
//! - `min` and `max` return the other source for a NaN (guess `nan-min-max`).
//! - Half ops compute in f32 and round the result to f16 once.
//! - The special functions (guess `special-functions`) use plain IEEE arithmetic, so results are equal on
//!   every machine. They are within 1 ulp (`rsq`: 1.5) for f32 arguments in range.

/// `min.f`: IEEE minNum; of two zeros, the second.
#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b || b.is_nan() { a } else { b }
}

/// `max.f`: IEEE maxNum; of two zeros, the second.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() { a } else { b }
}

/// `sign.f`: -1, 1, or the zero itself; 0 for NaN (nir_opcodes.py, `fsign`).
#[inline(always)]
pub fn sign(a: f32) -> f32 {
    // Selects without a branch, so that the compiler vectorises loops over lanes.
    let sign = a.to_bits() & 1 << 31;
    let one = if a.abs() > 0.0 { 1f32.to_bits() } else { 0 };
    f32::from_bits(if a.is_nan() { 0 } else { sign | one })
}

/// (sat) on a float: clamp to [0, 1]; NaN becomes 0 (guess `nan-saturate`).
#[inline(always)]
pub fn saturate(a: f32) -> f32 {
    let a = if a > 0.0 { a } else { 0.0 };
    if a < 1.0 { a } else { 1.0 }
}

/// `rcp`: IEEE division.
#[inline(always)]
pub fn rcp(a: f32) -> f32 {
    1.0 / a
}

/// `rsq`: a square root and a division, both IEEE, as in llvmpipe; within 1.5 ulp.
#[inline(always)]
pub fn rsq(a: f32) -> f32 {
    1.0 / a.sqrt()
}

/// Sum of `c[i] * x^i`.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    c[..N - 1].iter().rev().fold(c[N - 1], |sum, &c| sum * x + c)
}

/// `log2`: log2(0) = -inf, NaN below zero.
///
/// x = 2^e * m with m in [sqrt(1/2), sqrt(2)); log2(m) = 2/ln(2) * atanh(s),
/// s = (m - 1) / (m + 1), by its series; in f64, where every f32 is normal.
#[inline(always)]
pub fn log2(a: f32) -> f32 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = f64::from(a).to_bits();
    let shifted = bits.wrapping_sub(SQRT_HALF);
    let exponent = (shifted as i64 >> 52) as i32;
    let m = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff).wrapping_add(SQRT_HALF));
    let s = (m - 1.0) / (m + 1.0);
    let odd = [1.0, 1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0, 1.0 / 13.0];
    let log = f64::from(exponent) + s * (2.0 * std::f64::consts::LOG2_E) * polynomial(s * s, odd);
    let positive = if a < f32::INFINITY { log as f32 } else { a };
    if a > 0.0 {
        positive
    } else if a == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    }
}

/// `exp2`: 2^n by the exponent field, 2^f for |f| <= 1/2 by Taylor's series.
#[inline(always)]
pub fn exp2(a: f32) -> f32 {
    const LN2: f64 = std::f64::consts::LN_2;
    let clamped = max(min(a, 130.0), -152.0);
    let whole = clamped.round_ties_even();
    // The difference is exact in f32 too, and a vector holds twice as many f32 as f64.
    let (n, f) = (f64::from(whole), f64::from(clamped - whole) * LN2);
    let terms = [
        1.0,
        1.0,
        1.0 / 2.0,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40320.0,
        1.0 / 362_880.0,
    ];
    // Adding 1.5 * 2^52 puts an integer into the low bits. A conversion instruction would not vectorise.
    let biased = n + (1023.0 + 6_755_399_441_055_744.0);
    let scale = f64::from_bits(biased.to_bits() << 52);
    let value = (polynomial(f, terms) * scale) as f32;
    if a.is_nan() { f32::NAN } else { value }
}

/// `sin` in radians.
#[inline(always)]
pub fn sin(a: f32) -> f32 {
    if a == 0.0 { a } else { sin_of_quarter(a, 0.0) }
}

/// `cos` in radians.
#[inline(always)]
pub fn cos(a: f32) -> f32 {
    sin_of_quarter(a, 1.0)
}

/// sin(a + quarters * pi/2).
///
/// The chip is only accurate in [-pi, pi], and the compiler reduces arguments first. Results for huge
/// arguments are therefore free to choose. The reduction subtracts a multiple of an f64 pi/2: exact enough up
/// to about 2^20, then noise within [-1, 1].
#[inline(always)]
fn sin_of_quarter(a: f32, quarters: f64) -> f32 {
    use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};
    let x = f64::from(a);
    let k = (x * FRAC_2_PI).round_ties_even();
    let r = (x - k * FRAC_PI_2).clamp(-1.0, 1.0);
    let r2 = r * r;
    let sin = [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0];
    let cos =
        [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0, 1.0 / 479_001_600.0];
    let q = k + quarters;
    let q = q - 4.0 * (q * 0.25).floor();
    let even = q == 0.0 || q == 2.0;
    let value = if even { r * polynomial(r2, sin) } else { polynomial(r2, cos) };
    let value = if q >= 2.0 { -value } else { value };
    if a.is_finite() { value as f32 } else { f32::NAN }
}
