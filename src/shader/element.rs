//! What a row's semantics does to the bits of registers: one lane at a time.
//!
//! The class of a row says how bits become arguments of its closure, and its result bits.
use a4emu_decoder::isa::ir3::convert::convert;
use a4emu_decoder::isa::ir3::{Cond, Round, Type};

/// The bits of a float result.
#[inline(always)]
pub fn float_bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

/// The float in `bits`; a denormal is the zero of its sign.
#[inline(always)]
pub fn flushed(bits: u32) -> f32 {
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// The integer that the f32 in `bits` becomes between two limits; NaN becomes 0.
/// The same as a saturating cast, but it vectorises: behind 1.5 * 2^52 an f64
/// has an integer in its low bits.
#[inline(always)]
pub fn truncate(bits: u32, least: f64, greatest: f64) -> u32 {
    let value = f64::from(f32::from_bits(bits)).trunc();
    let value = if value > least { value } else { least };
    let value = if value < greatest { value } else { greatest };
    let whole = (value + 6_755_399_441_055_744.0).to_bits() as u32;
    if f32::from_bits(bits).is_nan() { 0 } else { whole }
}

/// The f16 nearest to the f32 in `bits`, ties to even.
#[inline(always)]
pub fn to_half(bits: u32) -> u32 {
    convert(bits, Type::F32, Type::F16, Round::Even)
}

/// Gives a row's closure its argument types.
macro_rules! typed {
    ($name:ident, $($arg:ident: $ty:ty),* => $result:ty) => {
        #[inline(always)]
        pub fn $name(f: impl Fn($($ty),*) -> $result, $($arg: $ty),*) -> $result {
            f($($arg),*)
        }
    };
}
typed!(float1, a: f32 => f32);
typed!(float2, a: f32, b: f32 => f32);
typed!(float3, a: f32, b: f32, c: f32 => f32);
typed!(uint1, a: u32, w: u32 => u32);
typed!(uint2, a: u32, b: u32, w: u32 => u32);
typed!(uint3, a: u32, b: u32, c: u32 => u32);
typed!(sint1, a: i32, w: u32 => i32);
typed!(sint2, a: i32, b: i32, w: u32 => i32);
typed!(sint3, a: i32, b: i32, c: i32 => i32);
typed!(int1, a: i32 => i32);
typed!(int2, a: i32, b: i32 => i32);
typed!(truth, hit: bool => u32);

/// The element function of a row: bits in, bits out.
macro_rules! element {
    (Float1, $f:expr, $w:expr) => {
        |[a]: [u32; 1]| float_bits(float1($f, flushed(a)))
    };
    (Float2, $f:expr, $w:expr) => {
        |[a, b]: [u32; 2]| float_bits(float2($f, f32::from_bits(a), f32::from_bits(b)))
    };
    (Float3, $f:expr, $w:expr) => {
        |[a, b, c]: [u32; 3]| float_bits(float3($f, f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)))
    };
    (Uint1, $f:expr, $w:expr) => {
        |[a]: [u32; 1]| uint1($f, a, $w)
    };
    (Uint2, $f:expr, $w:expr) => {
        |[a, b]: [u32; 2]| uint2($f, a, b, $w)
    };
    (Uint3, $f:expr, $w:expr) => {
        |[a, b, c]: [u32; 3]| uint3($f, a, b, c)
    };
    (Sint1, $f:expr, $w:expr) => {
        |[a]: [u32; 1]| sint1($f, a as i32, $w) as u32
    };
    (Sint2, $f:expr, $w:expr) => {
        |[a, b]: [u32; 2]| sint2($f, a as i32, b as i32, $w) as u32
    };
    (Sint3, $f:expr, $w:expr) => {
        |[a, b, c]: [u32; 3]| sint3($f, a as i32, b as i32, c as i32) as u32
    };
    (Bits1, $f:expr, $w:expr) => {
        element!(Uint1, $f, $w)
    };
    (Bits2, $f:expr, $w:expr) => {
        element!(Uint2, $f, $w)
    };
    (Float32, $f:expr, $w:expr) => {
        element!(Float3, $f, $w)
    };
    (Float16, $f:expr, $w:expr) => {
        element!(Float3, $f, $w)
    };
    (Uint32, $f:expr, $w:expr) => {
        element!(Uint3, $f, $w)
    };
    (Uint16, $f:expr, $w:expr) => {
        element!(Uint3, $f, $w)
    };
    (Bits32, $f:expr, $w:expr) => {
        element!(Uint3, $f, $w)
    };
    (Bits16, $f:expr, $w:expr) => {
        element!(Uint3, $f, $w)
    };
    (Sint32, $f:expr, $w:expr) => {
        element!(Sint3, $f, $w)
    };
    (Sint16, $f:expr, $w:expr) => {
        element!(Sint3, $f, $w)
    };
    (SintAsHalf, $f:expr, $w:expr) => {
        element!(Sint3, $f, $w)
    };
    (Int1, $f:expr, $w:expr) => {
        |[a]: [u32; 1]| int1($f, a as i32) as u32
    };
    (Int2, $f:expr, $w:expr) => {
        |[a, b]: [u32; 2]| int2($f, a as i32, b as i32) as u32
    };
    (CmpF, $f:expr, $r:expr) => {
        |[a, b]: [u32; 2]| truth($f, $r.holds(flushed(a), flushed(b)))
    };
    (CmpU, $f:expr, $r:expr) => {
        |[a, b]: [u32; 2]| truth($f, $r.holds(a, b))
    };
    (CmpS, $f:expr, $r:expr) => {
        |[a, b]: [u32; 2]| truth($f, $r.holds(a as i32, b as i32))
    };
}

/// The value of a row for one lane.
macro_rules! scalar {
    ($alu:ident, $src:ident, Effect1) => {
        0
    };
    ($alu:ident, $src:ident, Effect2) => {
        0
    };
    ($alu:ident, $src:ident, CmpF, $f:expr) => {
        apply(element!(CmpF, $f, Exactly($alu.cond)), $src)
    };
    ($alu:ident, $src:ident, CmpU, $f:expr) => {
        apply(element!(CmpU, $f, Exactly($alu.cond)), $src)
    };
    ($alu:ident, $src:ident, CmpS, $f:expr) => {
        apply(element!(CmpS, $f, Exactly($alu.cond)), $src)
    };
    ($alu:ident, $src:ident, $class:ident, $f:expr) => {
        apply(element!($class, $f, $alu.width), $src)
    };
}

pub fn apply<const N: usize>(f: impl Fn([u32; N]) -> u32, src: [u32; 3]) -> u32 {
    f(std::array::from_fn(|n| src[n]))
}

/// The condition of a compare, tested with a function call's worth of branches.
pub struct Exactly(pub Cond);

impl Exactly {
    /// Does it hold between `a` and `b`?
    pub fn holds<T: PartialOrd>(&self, a: T, b: T) -> bool {
        self.0.test(a, b)
    }
}

pub(super) use {element, scalar};
