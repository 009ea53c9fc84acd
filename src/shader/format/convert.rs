//! Conversion of one component between the bits of a texel and a 32-bit lane.
//!
//! A lane holds the content of a shader register. For normalised, fixed and float types these are binary32
//! bits; for integer types, a two's complement or unsigned integer.
//!
//! Rounding is defined here (guess `format-rounding`; these are the rules of GL and of the reference
//! rasterisers):
//!
//! | type | to float | from float |
//! |---|---|---|
//! | unorm, <= 16 bits | `v * (1 / (2^n - 1))` in binary32 | clamp to [0, 1], NaN to 0, `x * (2^n - 1)` to nearest, ties to even |
//! | unorm, > 16 bits | `v / (2^n - 1)` in binary64, rounded once | the same in binary64 |
//! | snorm | `max(v / (2^(n-1) - 1), -1)` (GL 4.2, ES 3.0) | clamp to [-1, 1], NaN to 0, to nearest even |
//! | float16 | exact | to nearest even, overflow to infinity |
//! | float11, float10 | exact | towards zero, negative to 0, overflow to the largest finite |
//! | fixed 16.16 | `v / 65536`, to nearest even | saturating |
//! | uint, sint | unchanged | saturated to the component's range (guess `integer-saturates`) |
use half::f16;

use super::Type;

/// The lane value of a component of `width` bits (1..=32) with bits `raw`.
pub fn decode(ty: Type, raw: u32, width: u32) -> u32 {
    match ty {
        Type::Unorm => unorm_to_float(raw, width).to_bits(),
        Type::Snorm => snorm_to_float(raw, width).to_bits(),
        Type::Uint => raw,
        Type::Sint => sign_extend(raw, width) as u32,
        Type::Float => small_to_float(raw, width).to_bits(),
        Type::Fixed => (raw as i32 as f32 / 65536.0).to_bits(),
    }
}

/// The bits of a component of `width` bits for a lane value.
pub fn encode(ty: Type, lane: u32, width: u32) -> u32 {
    match ty {
        Type::Unorm => float_to_unorm(f32::from_bits(lane), width),
        Type::Snorm => float_to_snorm(f32::from_bits(lane), width),
        Type::Uint => lane.min(mask(width)),
        Type::Sint => saturate(lane as i32, width),
        Type::Float => float_to_small(f32::from_bits(lane), width),
        Type::Fixed => (f64::from(f32::from_bits(lane)) * 65536.0) as i32 as u32,
    }
}

/// A mask of the lowest `width` bits.
pub const fn mask(width: u32) -> u32 {
    if width == 0 { 0 } else { u32::MAX >> (32 - width) }
}

/// The value of one step of a unorm of `width` <= 16 bits.
pub const fn unorm_step(width: u32) -> f32 {
    1.0 / mask(width) as f32
}

/// Converts unorm to float.
pub fn unorm_to_float(raw: u32, width: u32) -> f32 {
    match width {
        0..=16 => raw as f32 * unorm_step(width),
        _ => unorm_to_float_wide(raw, mask(width)),
    }
}

/// Converts a unorm of more than 16 bits to float. `mask` is its largest value.
#[inline(always)]
pub fn unorm_to_float_wide(raw: u32, mask: u32) -> f32 {
    (f64::from(raw) / f64::from(mask)) as f32
}

/// Converts float to unorm.
pub fn float_to_unorm(value: f32, width: u32) -> u32 {
    match width {
        // NaN survives the clamp and becomes 0 in the cast.
        0..=16 => (value.clamp(0.0, 1.0) * mask(width) as f32).round_ties_even() as u32,
        _ => (f64::from(value.clamp(0.0, 1.0)) * f64::from(mask(width))).round_ties_even() as u32,
    }
}

fn snorm_to_float(raw: u32, width: u32) -> f32 {
    (sign_extend(raw, width) as f32 / mask(width - 1) as f32).max(-1.0)
}

fn float_to_snorm(value: f32, width: u32) -> u32 {
    // NaN becomes 0 in the cast to an integer.
    let scaled = value.clamp(-1.0, 1.0) * mask(width - 1) as f32;
    scaled.round_ties_even() as i32 as u32 & mask(width)
}

fn sign_extend(raw: u32, width: u32) -> i32 {
    let shift = 32 - width;
    ((raw << shift) as i32) >> shift
}

fn saturate(value: i32, width: u32) -> u32 {
    let high = mask(width - 1) as i32;
    value.clamp(-high - 1, high) as u32 & mask(width)
}

fn small_to_float(raw: u32, width: u32) -> f32 {
    match width {
        32 => f32::from_bits(raw),
        _ => half_to_float(widen_to_half(raw, width)),
    }
}

/// Floats of 11 and 10 bits are a half without sign and low mantissa bits.
#[inline(always)]
pub fn widen_to_half(raw: u32, width: u32) -> u32 {
    if width == 16 { raw } else { raw << (15 - width) }
}

/// The value of the half in the low 16 bits. NaN payloads are kept. It has no branches or calls, so that
/// loops over it vectorise.
#[inline(always)]
pub fn half_to_float(half: u32) -> f32 {
    // 2^112, the difference of the exponent biases. Subnormals are correct too.
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = (half & 0x7fff) << 13;
    let finite = (f32::from_bits(magnitude) * REBIAS).to_bits();
    let special = magnitude | 0x7f80_0000;
    let bits = if half & 0x7c00 == 0x7c00 { special } else { finite };
    f32::from_bits(bits | (half & 0x8000) << 16)
}

fn float_to_small(value: f32, width: u32) -> u32 {
    match width {
        32 => value.to_bits(),
        16 => u32::from(f16::from_f32(value).to_bits()),
        _ => float_to_unsigned_half(value) >> (15 - width),
    }
}

/// The bits of a non-negative half, rounded towards zero, so that low mantissa bits can be cut off. NaN keeps
/// a bit above the cut.
fn float_to_unsigned_half(value: f32) -> u32 {
    const NAN: u32 = 0x7fff;
    const INFINITY: f32 = f32::INFINITY;
    match value {
        v if v.is_nan() => NAN,
        INFINITY => u32::from(f16::INFINITY.to_bits()),
        v => toward_zero(v.clamp(0.0, 65504.0)),
    }
}

/// `value` in 0..=65504 as a half, rounded towards zero.
fn toward_zero(value: f32) -> u32 {
    let nearest = f16::from_f32(value);
    u32::from(nearest.to_bits()) - u32::from(nearest.to_f32() > value)
}

/// Decodes shared-exponent RGB (9_9_9_E5): bits 8:0, 17:9, 26:18 and exponent 31:27.
pub fn decode_shared_exponent(word: u32) -> [f32; 3] {
    // 2^(e - 15 - 9), built from bits: e is 0..=31, so it is always normal.
    let scale = f32::from_bits(((word >> 27) + 127 - 24) << 23);
    [0, 9, 18].map(|shift| ((word >> shift) & 0x1ff) as f32 * scale)
}

/// Encodes shared-exponent RGB, by the rule of EXT_texture_shared_exponent.
pub fn encode_shared_exponent(rgb: [f32; 3]) -> u32 {
    const LARGEST: f32 = 65408.0;
    let clamped = rgb.map(|c| c.clamp(0.0, LARGEST));
    let top = clamped.iter().fold(0.0f32, |a, &b| a.max(b));
    let floor_log2 = (top.to_bits() >> 23) as i32 - 127;
    let guess = floor_log2.max(-16) + 16;
    // Rounding up can need an exponent one higher.
    let exponent = guess + i32::from(mantissa(top, guess) == 512);
    let [r, g, b] = clamped.map(|c| mantissa(c, exponent));
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

fn mantissa(value: f32, exponent: i32) -> u32 {
    let step = f64::from(f32::from_bits(((exponent + 127 - 24) as u32) << 23));
    (f64::from(value) / step + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unorm(value: f32, width: u32) -> u32 {
        float_to_unorm(value, width)
    }

    #[test]
    fn every_unorm_and_snorm_code_of_up_to_16_bits_round_trips() {
        for width in [1, 2, 4, 5, 6, 8, 10, 16] {
            for raw in 0..=mask(width) {
                assert_eq!(encode(Type::Unorm, decode(Type::Unorm, raw, width), width), raw);
            }
            assert_eq!(unorm_to_float(mask(width), width), 1.0);
        }
        for width in [8, 10, 16] {
            let lowest = 1 << (width - 1);
            for raw in (0..=mask(width)).filter(|&raw| raw != lowest) {
                assert_eq!(encode(Type::Snorm, decode(Type::Snorm, raw, width), width), raw);
            }
            assert_eq!(snorm_to_float(lowest, width), -1.0);
        }
    }

    #[test]
    fn depth_of_24_bits_round_trips() {
        for raw in (0..1 << 24).step_by(997).chain([1, 0xff_fffe, 0xff_ffff]) {
            assert_eq!(unorm(unorm_to_float(raw, 24), 24), raw);
        }
    }

    #[test]
    fn unorm_rounds_to_nearest_and_saturates() {
        assert_eq!([unorm(f32::NAN, 8), unorm(-0.5, 8), unorm(f32::NEG_INFINITY, 8)], [0; 3]);
        assert_eq!([unorm(1.5, 8), unorm(f32::INFINITY, 8)], [255; 2]);
        assert_eq!([unorm(0.5, 8), unorm(0.4999 / 255.0, 8), unorm(0.5001 / 255.0, 8)], [128, 0, 1]);
    }

    #[test]
    fn snorm_clamps_at_minus_one() {
        assert_eq!(float_to_snorm(-7.0, 8), 0x81);
        assert_eq!(float_to_snorm(7.0, 8), 0x7f);
        assert_eq!(float_to_snorm(f32::NAN, 8), 0);
        assert_eq!(snorm_to_float(0x80, 8), -1.0);
    }

    #[test]
    fn half_rounds_to_even_and_overflows_to_infinity() {
        let half = |v: f32| float_to_small(v, 16);
        assert_eq!([half(1.0), half(65504.0), half(65520.0), half(-0.0)], [0x3c00, 0x7bff, 0x7c00, 0x8000]);
        assert_eq!([half(2049.0), half(2051.0)], [0x6800, 0x6802]);
        assert_eq!(half(5.960_464_5e-8), 1);
    }

    #[test]
    fn halves_widen_exactly() {
        for bits in 0..=0xffffu16 {
            let (ours, theirs) = (half_to_float(bits.into()), f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan()), "{bits:x}");
        }
    }

    #[test]
    fn small_floats_round_trip_and_truncate() {
        for width in [10, 11] {
            let infinity = 0x1f << (width - 5);
            for raw in 0..=infinity {
                assert_eq!(float_to_small(small_to_float(raw, width), width), raw);
            }
            assert_eq!(float_to_small(1e30, width), infinity - 1);
            assert_eq!([float_to_small(-1.0, width), float_to_small(f32::NEG_INFINITY, width)], [0, 0]);
            assert!(small_to_float(float_to_small(f32::NAN, width), width).is_nan());
        }
        assert_eq!(float_to_small(1.999, 11), (15 << 6) | 63);
    }

    #[test]
    fn integers_saturate_to_the_component() {
        assert_eq!(encode(Type::Uint, 300, 8), 255);
        assert_eq!(encode(Type::Sint, -300i32 as u32, 8), 0x80);
        assert_eq!(encode(Type::Sint, 300, 8), 0x7f);
        assert_eq!(decode(Type::Sint, 0x80, 8) as i32, -128);
        assert_eq!(encode(Type::Sint, i32::MIN as u32, 32), i32::MIN as u32);
        assert_eq!(encode(Type::Uint, u32::MAX, 32), u32::MAX);
    }

    #[test]
    fn shared_exponent_round_trips() {
        for rgb in [[0.0; 3], [1.0, 0.5, 0.25], [65408.0, 0.0, 128.0], [1e-7, 0.0, 0.0]] {
            let word = encode_shared_exponent(rgb);
            assert_eq!(encode_shared_exponent(decode_shared_exponent(word)), word);
        }
        assert_eq!(decode_shared_exponent(encode_shared_exponent([1.0, 0.5, 0.25])), [1.0, 0.5, 0.25]);
        assert_eq!(
            decode_shared_exponent(encode_shared_exponent([1e9, f32::NAN, -1.0])),
            [65408.0, 0.0, 0.0]
        );
    }
}
