//! From a row's semantics to the value of one lane.
//!
//! A row of a table of ops ends with four columns: a class, what becomes of denormal
//! sources, whether programs use the op often, and a closure. The class is a type here,
//! and [`Float1::lane`] and its like turn the closure into a function from the bits of
//! sources to the bits of the result. That function is the reference: the rows' `eval`
//! calls it, and so does every loop over lanes in the emulator.
//!
//! The rules for floats, decided once:
//!
//! - a result that is NaN is the canonical one: which of two NaNs an addition returns is
//!   not the same on every path of every machine;
//! - a denormal f32 source is the zero of its sign where the row says `Flush`, which is
//!   where it shows (`x == 0`, `rcp`, `floor`), and kept where the row says `Keep`: a
//!   difference of less than 2^-126 that only a product with a huge number shows, for an
//!   eighth of the time of add, mul, mad and max. (Turnip says of the A6xx that f32
//!   denormals are flushed and never kept, tu_device.c, and llvmpipe flushes; for A4xx
//!   it is guess `denormals`.) Results keep denormals. Rows of integers say `Keep`.
use super::ir3::Cond;

/// What an f32 source that is denormal counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denormals {
    /// The zero of its sign.
    Flush,
    /// Itself.
    Keep,
}

/// A condition between two values.
pub trait Relation: Copy {
    /// Does it hold between `a` and `b`?
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool;
}

impl Relation for Cond {
    #[inline(always)]
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        self.test(a, b)
    }
}

/// What row and instruction say besides the operands.
#[derive(Clone, Copy, Debug)]
pub struct How<R> {
    /// The row's column.
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

/// The bits of a float result.
#[inline(always)]
pub fn float_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

macro_rules! classes {
    ($($(#[$meta:meta])* $name:ident $float:literal [$($arg:ident),*] ($($ty:ty),*) -> $result:ty, |$how:pat_param, $f:ident| $value:expr;)*) => {$(
        $(#[$meta])*
        pub struct $name;

        impl $name {
            /// Are the sources floats, whose sign bit (neg) and (abs) change?
            pub const IS_FLOAT: bool = $float;

            /// The bits of a result from those of the sources.
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

/// What the classes of instruction sets are called there.
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

/// The value of a lane that has as many sources as `f` takes.
#[inline(always)]
pub fn apply<const N: usize>(f: impl Fn([u32; N]) -> u32, src: [u32; 3]) -> u32 {
    f(std::array::from_fn(|n| src[n]))
}

/// Makes `eval` from rows. Callback of the `for_each_…!` whose rows have semantics.
#[macro_export]
macro_rules! evaluate {
    ($set:ident; $({ $opcode:literal, $op:ident, $text:literal, $($row:tt)* })*) => {
        impl $set {
            /// The result of one lane: sources as their 32-bit forms, modifiers applied;
            /// `cond` counts in compares, `width` (16 or 32) in integer ops. `None` for an
            /// op that does something else than compute lane by lane.
            pub fn eval(self, src: [u32; 3], cond: $crate::isa::ir3::Cond, width: u32) -> Option<u32> {
                match self {
                    $(Self::$op => $crate::lane_value!(src, cond, width; $($row)*),)*
                }
            }
        }
    };
}

/// The value that a row gives: its last columns count.
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
