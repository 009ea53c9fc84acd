//! Operations for lowering that no instruction set names: moves, widening, narrowing, and the common
//! conversions in a form that vectorises.
use a4emu_decoder::adreno::ir3::convert::convert;
use a4emu_decoder::adreno::ir3::{Round, Type};
use a4emu_decoder::evaluate;

/// Rows of the operations, with the columns of [`a4emu_decoder::for_each_cat2`].
macro_rules! for_each_extra {
    ($callback:ident, $($arg:tt)*) => {
        $callback! { $($arg)*;
            { 0, Copy, "copy", Bits1, Keep, Common, |a, _w| a }
            { 1, Negate, "negate", Sint1, Keep, Common, |a, _w| a.wrapping_neg() }
            { 2, Absolute, "absolute", Sint1, Keep, Common, |a, _w| a.wrapping_abs() }
            { 3, AbsoluteNegate, "absolute negate", Sint1, Keep, Common, |a, _w| a.wrapping_abs().wrapping_neg() }
            { 4, Saturate, "saturate", Float1, Flush, Common, |a| a4emu_decoder::adreno::ir3::float::saturate(a) }
            { 5, Cut, "low bits", Bits1, Keep, Common, |a, w| a & (u32::MAX >> (32 - w)) }
            { 6, Extend, "sign-extend", Sint1, Keep, Common, |a, w| a << (32 - w) >> (32 - w) }
            { 7, HalfToFloat, "half to float", Bits1, Keep, Common, |a, _w| $crate::extra::to_float(a) }
            { 8, FloatToHalf, "float to half", Bits1, Keep, Common, |a, _w| $crate::extra::to_half(a) }
            { 9, UintToFloat, "u32 to float", Bits1, Keep, Common, |a, _w| (a as f32).to_bits() }
            { 10, SintToFloat, "s32 to float", Sint1, Keep, Common, |a, _w| (a as f32).to_bits() as i32 }
            { 11, FloatToUint, "float to u32", Bits1, Keep, Common, |a, _w| $crate::extra::to_uint(a) }
            { 12, FloatToSint, "float to s32", Bits1, Keep, Common, |a, _w| $crate::extra::to_sint(a) }
        }
    };
}
pub(super) use for_each_extra;

macro_rules! ops {
    ($name:ident; $({ $n:literal, $op:ident, $text:literal, $($row:tt)* })*) => {
        /// Such an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $text] $op,)*
        }

        #[cfg(test)]
        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$op,)*];
        }
    };
}
for_each_extra!(ops, Extra);
for_each_extra!(evaluate, Extra);

/// Converts f16 bits to f32 bits.
#[inline(always)]
pub fn to_float(bits: u32) -> u32 {
    convert(bits, Type::F16, Type::F32, Round::Default)
}

/// Converts f32 bits to the nearest f16, ties to even.
#[inline(always)]
pub fn to_half(bits: u32) -> u32 {
    convert(bits, Type::F32, Type::F16, Round::Even)
}

/// Converts f32 bits to u32, saturating. NaN becomes 0.
#[inline(always)]
pub fn to_uint(bits: u32) -> u32 {
    truncate(bits, 0.0, 4_294_967_295.0)
}

/// Converts f32 bits to s32, saturating. NaN becomes 0.
#[inline(always)]
pub fn to_sint(bits: u32) -> u32 {
    truncate(bits, -2_147_483_648.0, 2_147_483_647.0)
}

/// Converts f32 bits to an integer between two limits. NaN becomes 0. Equals a saturating cast, but it
/// vectorises: after adding 1.5 * 2^52, an f64 has the integer in its low bits.
#[inline(always)]
fn truncate(bits: u32, least: f64, greatest: f64) -> u32 {
    let value = f64::from(f32::from_bits(bits)).trunc();
    let value = if value > least { value } else { least };
    let value = if value < greatest { value } else { greatest };
    let whole = (value + 6_755_399_441_055_744.0).to_bits() as u32;
    if f32::from_bits(bits).is_nan() { 0 } else { whole }
}
