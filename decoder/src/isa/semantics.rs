//! Turns the semantics column of an instruction row into a function of one lane.
//!
//! A row of a table of ops ends with four columns: a class, the treatment of denormal sources, whether
//! programs use the op often, and a closure. The class is a type in this module. Its function `lane`, such as
//! [`Float1::lane`], turns the closure into a function from source bits to result bits. That function is the
//! reference: `eval` of the tables calls it, and so does every loop over lanes in the emulator.
//!
//! Rules for floats:
//!
//! - A NaN result is always the canonical NaN: different code paths and host CPUs return different NaNs.
//! - A row with `Flush` treats a denormal f32 source as a zero of the same sign. It is used where the
//!   difference is visible (`x == 0`, `rcp`, `floor`).
//! - A row with `Keep` keeps denormal sources. The difference is less than 2^-126, and only a product with a
//!   huge number makes it visible. Keeping them makes add, mul, mad and max eight times as fast.
//! - Results keep denormals. Rows of integers have `Keep`.
//!
//! For A4xx the treatment of denormals is guess `denormals`. (Turnip flushes f32 denormals on A6xx and never
//! keeps them, tu_device.c; llvmpipe flushes too.)
use crate::adreno::ir3::Cond;

/// How an op treats a denormal f32 source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denormals {
    /// As a zero of the same sign.
    Flush,
    /// As its own value.
    Keep,
}

/// A comparison of two values.
pub trait Relation: Copy {
    /// Whether the condition holds for `a` and `b`.
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool;
}

impl Relation for Cond {
    #[inline(always)]
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        self.test(a, b)
    }
}

/// Parameters of an op's semantics besides its operands.
#[derive(Clone, Copy, Debug)]
pub struct How<R> {
    /// The row's column for denormal sources.
    pub denormals: Denormals,
    /// The condition of a compare.
    pub relation: R,
    /// Width of integer sources, 16 or 32 bits.
    pub width: u32,
}

impl<R> How<R> {
    #[inline(always)]
    fn float(&self, bits: u32) -> f32 {
        let zero = matches!(self.denormals, Denormals::Flush) && bits & 0x7f80_0000 == 0;
        f32::from_bits(if zero { bits & 0x8000_0000 } else { bits })
    }
}

/// The bits of a float result, with the canonical NaN for any NaN.
#[inline(always)]
pub fn float_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

macro_rules! classes {
    ($($(#[$meta:meta])* $name:ident $float:literal [$($arg:ident),*] ($($ty:ty),*) -> $result:ty, |$how:pat_param, $f:ident| $value:expr;)*) => {$(
        $(#[$meta])*
        pub struct $name;

        impl $name {
            /// Whether the sources are floats. Then (neg) and (abs) change their sign bit.
            pub const IS_FLOAT: bool = $float;

            /// The function from source bits to result bits for one lane.
            #[inline(always)]
            pub fn lane<R: Relation>($how: How<R>, $f: impl Fn($($ty),*) -> $result) -> impl Fn([u32; classes!(@count $($arg)*)]) -> u32 {
                #[inline(always)]
                move |[$($arg),*]| $value
            }
        }
    )*};
    (@count $a:ident) => { 1 };
    (@count $a:ident $b:ident) => { 2 };
    (@count $a:ident $b:ident $c:ident) => { 3 };
}

classes! {
    /// `|a: f32| -> f32`
    Float1 true [a] (f32) -> f32, |how, f| float_bits(f(how.float(a)));
    /// `|a: f32, b: f32| -> f32`
    Float2 true [a, b] (f32, f32) -> f32, |how, f| float_bits(f(how.float(a), how.float(b)));
    /// `|a: f32, b: f32, c: f32| -> f32`
    Float3 true [a, b, c] (f32, f32, f32) -> f32, |how, f| float_bits(f(how.float(a), how.float(b), how.float(c)));
    /// A compare of floats, then `|hit: bool| -> u32`.
    CmpF true [a, b] (bool) -> u32, |how, f| f(how.relation.holds(how.float(a), how.float(b)));
    /// A compare of unsigned integers, then `|hit: bool| -> u32`.
    CmpU false [a, b] (bool) -> u32, |how, f| f(how.relation.holds(a, b));
    /// A compare of signed integers, then `|hit: bool| -> u32`.
    CmpS false [a, b] (bool) -> u32, |how, f| f(how.relation.holds(a as i32, b as i32));
    /// `|a: u32, width: u32| -> u32`
    Bits1 false [a] (u32, u32) -> u32, |how, f| f(a, how.width);
    /// `|a: u32, b: u32, width: u32| -> u32`
    Bits2 false [a, b] (u32, u32, u32) -> u32, |how, f| f(a, b, how.width);
    /// `|a: u32, b: u32, c: u32| -> u32`
    Bits3 false [a, b, c] (u32, u32, u32) -> u32, |_, f| f(a, b, c);
    /// `|a: i32, width: u32| -> i32`
    Sint1 false [a] (i32, u32) -> i32, |how, f| f(a as i32, how.width) as u32;
    /// `|a: i32, b: i32, width: u32| -> i32`
    Sint2 false [a, b] (i32, i32, u32) -> i32, |how, f| f(a as i32, b as i32, how.width) as u32;
    /// `|a: i32, b: i32, c: i32| -> i32`
    Sint3 false [a, b, c] (i32, i32, i32) -> i32, |_, f| f(a as i32, b as i32, c as i32) as u32;
    /// `|a: i32| -> i32`
    Int1 false [a] (i32) -> i32, |_, f| f(a as i32) as u32;
    /// `|a: i32, b: i32| -> i32`
    Int2 false [a, b] (i32, i32) -> i32, |_, f| f(a as i32, b as i32) as u32;
}

/// The classes under the names that the instruction tables use.
#[allow(missing_docs)]
mod names {
    use super::{Bits2, Bits3, Float3, Sint3};
    pub type Uint2 = Bits2;
    pub type Float32 = Float3;
    pub type Float16 = Float3;
    pub type Uint32 = Bits3;
    pub type Uint16 = Bits3;
    pub type Bits32 = Bits3;
    pub type Bits16 = Bits3;
    pub type Sint32 = Sint3;
    pub type Sint16 = Sint3;
}
pub use names::*;

/// Applies `f` to as many of the sources as it takes.
#[inline(always)]
pub fn apply<const N: usize>(f: impl Fn([u32; N]) -> u32, src: [u32; 3]) -> u32 {
    f(std::array::from_fn(|n| src[n]))
}

/// Makes `eval` from rows: a callback for each `for_each_…!` whose rows have semantics.
#[macro_export]
macro_rules! evaluate {
    ($set:ident; $({ $opcode:literal, $op:ident, $text:literal $(since $since:ident)? $(until $until:ident)?,
        $($row:tt)* })*) => {
        impl $set {
            /// The result of one lane. Sources are in 32-bit form with modifiers applied; `cond` is used by
            /// compares, `width` (16 or 32) by integer ops. `None` for an op that is not computed lane by
            /// lane.
            pub fn eval(self, src: [u32; 3], cond: $crate::adreno::ir3::Cond, width: u32) -> Option<u32> {
                match self {
                    $(Self::$op => $crate::lane_value!(src, cond, width; $($row)*),)*
                }
            }
        }
    };
}

/// The result of one row, from the last columns of the row.
#[macro_export]
macro_rules! lane_value {
    ($src:ident, $cond:ident, $width:ident; $class:ident, $denormals:ident, $use:ident, $f:expr) => {{
        use $crate::isa::semantics::{self, Denormals, How};
        let how = How { denormals: Denormals::$denormals, relation: $cond, width: $width };
        Some(semantics::apply(semantics::$class::lane(how, $f), $src))
    }};
    ($src:ident, $cond:ident, $width:ident; $form:ident, $class:ident, $denormals:ident, $use:ident, $f:expr) => {
        $crate::lane_value!($src, $cond, $width; $class, $denormals, $use, $f)
    };
    ($src:ident, $cond:ident, $width:ident; $($no_semantics:ident),*) => {
        None
    };
}
