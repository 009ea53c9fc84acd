//! The value conversion of category 1, as a scalar function of raw bits.
use super::operand::{Round, Type};

/// `cov.<src><dst>`: converts `bits`, a value of type `src`, to the bits of a `dst`.
///
/// Half registers hold their value in the low 16 bits, 8-bit types in the low 8; the result is zero above its
/// width. Float to integer truncates toward zero and saturates, and NaN gives 0. Integer to float rounds to
/// nearest even. Integer to integer extends by the source's signedness, then truncates; u8 extends its sign
/// (docs/hardware/ir3-isa.md, section 4). An explicit rounding replaces the default of a float result, or of
/// float to integer (guess `cov-integer-rounds` for the latter). f32 to f16 without one rounds toward zero
/// (guess `cov-half-truncates`).
#[inline(always)]
pub fn convert(bits: u32, src: Type, dst: Type, round: Round) -> u32 {
    match (src.is_float(), dst.is_float()) {
        _ if src as u8 == dst as u8 => bits & mask(dst),
        (true, true) if matches!(dst, Type::F32) => half_to_float(bits as u16).to_bits(),
        (true, true) => u32::from(float_to_half(f32::from_bits(bits), round)),
        (true, false) => float_to_int(float(bits, src), dst, round),
        (false, true) => int_to_float(integer(bits, src), dst, round),
        (false, false) if matches!(src, Type::U8) => i32::from(bits as i8) as u32 & mask(dst),
        (false, false) => integer(bits, src) as u32 & mask(dst),
    }
}

/// The bits that a value of this type occupies.
const fn mask(ty: Type) -> u32 {
    u32::MAX >> (32 - 8 * ty.bytes())
}

#[inline(always)]
fn float(bits: u32, ty: Type) -> f32 {
    match ty {
        Type::F16 => half_to_float(bits as u16),
        _ => f32::from_bits(bits),
    }
}

#[inline(always)]
fn integer(bits: u32, ty: Type) -> i64 {
    match ty {
        Type::S32 => i64::from(bits as i32),
        Type::S16 => i64::from(bits as i16),
        Type::U16 | Type::U8 | Type::U8Wide => i64::from(bits & mask(ty)),
        _ => i64::from(bits),
    }
}

#[inline(always)]
fn float_to_int(value: f32, dst: Type, round: Round) -> u32 {
    let whole = match round {
        Round::Default => value,
        Round::Even => value.round_ties_even(),
        Round::Up => value.ceil(),
        Round::Down => value.floor(),
    };
    let bits = match dst {
        Type::S32 => whole as i32 as u32,
        Type::S16 => whole as i16 as u32,
        Type::U16 => u32::from(whole as u16),
        Type::U8 | Type::U8Wide => u32::from(whole as u8),
        _ => whole as u32,
    };
    bits & mask(dst)
}

#[inline(always)]
fn int_to_float(value: i64, dst: Type, round: Round) -> u32 {
    match dst {
        Type::F32 => int_to_f32(value, round).to_bits(),
        // 32-bit integers are exact in f64; f32 would round twice.
        _ => u32::from(to_half(value as f64, if round as u8 == 0 { Round::Even } else { round })),
    }
}

#[inline(always)]
fn int_to_f32(value: i64, round: Round) -> f32 {
    let near = value as f32;
    let error = f64::from(near) - value as f64;
    match round {
        Round::Up if error < 0.0 => near.next_up(),
        Round::Down if error > 0.0 => near.next_down(),
        _ => near,
    }
}

/// The value of an f16.
#[inline(always)]
pub fn half_to_float(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    // Exponent and mantissa at f32's bit positions give a value that is 2^112 too small. The multiplication
    // also makes denormals normal. Inf and NaN keep an exponent of all ones.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let special = magnitude << 13 | 0x7f80_0000;
    let value = if magnitude >= 0x7c00 { special } else { scaled.to_bits() };
    f32::from_bits(value | sign)
}

/// Converts a value to f16; `Round::Default` rounds toward zero.
#[inline(always)]
pub fn float_to_half(value: f32, round: Round) -> u16 {
    if value.is_nan() {
        let payload = value.to_bits() >> 13 & 0x3ff;
        return (value.to_bits() >> 16 & 0x8000 | 0x7e00 | payload) as u16;
    }
    to_half(f64::from(value), round)
}

/// Rounds `value`, which is not NaN, to an f16 in the direction of `round`.
#[inline(always)]
fn to_half(value: f64, round: Round) -> u16 {
    let sign = (value.to_bits() >> 48 & 0x8000) as u16;
    let size = value.abs();
    // One unit in the last place of the result: 2^(e - 10), 2^-24 at least.
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).clamp(-14, 16);
    let unit = f64::from_bits(((exponent - 10 + 1023) as u64) << 52);
    let units = (size / unit).min(65536.0);
    let away = (round as u8 == Round::Up as u8) != (sign != 0);
    let whole = match round {
        Round::Default => units.trunc(),
        Round::Even => units.round_ties_even(),
        Round::Up | Round::Down if away => units.ceil(),
        Round::Up | Round::Down => units.floor(),
    };
    // `whole` counts up to 2048, which carries into the exponent by itself.
    let bits = ((exponent + 14) as u32 * 1024).wrapping_add(whole as u32);
    let grows = match round {
        Round::Default => false,
        Round::Even => true,
        Round::Up | Round::Down => away,
    };
    let infinite = size.is_infinite() || (bits >= 0x7c00 && grows);
    sign | if infinite { 0x7c00 } else { bits.min(0x7bff) as u16 }
}
