//! The pure operations, made from the decoder's rows: an enumerator, a loop
//! over lanes and a scalar reference per row.
//!
//! A row's semantics is a scalar function; its class says how the bits of a
//! register become its arguments ([`super::element`]). Operations here work on full registers.
//! Half operands are widened before and results narrowed after, which gives the
//! same values as the half forms (computed in f32 and rounded once, or in 32
//! bits and cut); on A4xx they are rare enough that this costs nothing.
//!
//! Each loop is a function of its own, chosen when a program is lowered. (As
//! arms of one big match, LLVM merges what their loops have in common before it
//! vectorises, and they run two to four times slower.)
//!
//! A float result that is NaN is the canonical one: which of two NaNs an
//! addition returns is not the same on every path of every machine. Denormals
//! are flushed where they are read: see [`a4emu_decoder::isa::ir3::float`].
use a4emu_decoder::isa::ir3::Cat2Op;
use a4emu_decoder::isa::ir3::Cat3Op;
use a4emu_decoder::isa::ir3::Cat4Op;
use a4emu_decoder::isa::ir3::convert::convert;
use a4emu_decoder::isa::ir3::float;
use a4emu_decoder::isa::ir3::{Round, Type};
use a4emu_decoder::isa::pico;
use a4emu_decoder::{
    for_each_cat2, for_each_cat2_halving, for_each_cat2_saturating, for_each_cat3, for_each_cat4,
    for_each_pico,
};
use multiversion::{inherit_target, multiversion};

use super::alu::{Alu, Kernel, Relation, Row, lanewise, lanewise_signed, one_by_one};
use super::element::*;
use super::lanes::Lanes;

/// Operations that no instruction set names, for lowering: moves, widening,
/// narrowing, and the common conversions in a form that vectorises.
macro_rules! for_each_extra {
    ($callback:ident, $($arg:tt)*) => {
        $callback! { $($arg)*;
            { 0, Copy, "copy", Bits1, |a, _w| a }
            { 1, Negate, "negate", Sint1, |a, _w| a.wrapping_neg() }
            { 2, Absolute, "absolute", Sint1, |a, _w| a.wrapping_abs() }
            { 3, AbsoluteNegate, "absolute negate", Sint1, |a, _w| a.wrapping_abs().wrapping_neg() }
            { 4, Saturate, "saturate", Float1, |a| float::saturate(a) }
            { 5, Cut, "low bits", Bits1, |a, w| a & (u32::MAX >> (32 - w)) }
            { 6, Extend, "sign-extend", Sint1, |a, w| a << (32 - w) >> (32 - w) }
            { 7, HalfToFloat, "half to float", Bits1, |a, _w| convert(a, Type::F16, Type::F32, Round::Default) }
            { 8, FloatToHalf, "float to half", Bits1, |a, _w| convert(a, Type::F32, Type::F16, Round::Even) }
            { 9, UintToFloat, "u32 to float", Bits1, |a, _w| (a as f32).to_bits() }
            { 10, SintToFloat, "s32 to float", Sint1, |a, _w| (a as f32).to_bits() as i32 }
            { 11, FloatToUint, "float to u32", Bits1, |a, _w| truncate(a, 0.0, 4_294_967_295.0) }
            { 12, FloatToSint, "float to s32", Bits1, |a, _w| truncate(a, -2_147_483_648.0, 2_147_483_647.0) }
        }
    };
}

/// The loop of a row. Rows that programs hardly use have none of their own:
/// each loop is compiled for every kind of CPU.
macro_rules! lane_loop {
    ($rows:ident, $alu:ident, $dst:ident, CmpvF $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, CmpvU $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, CmpvS $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, BfrevB $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, ClzS $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, ClzB $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, CbitsB $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, MgenB $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, GetbitB $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, Shb $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, Msad $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, MadshU16 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SelS16 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SelS32 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SelF16 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SelF32 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SadS16 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, SadS32 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, Hrsq $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, Hlog2 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, Hexp2 $($rest:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Effect1) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Effect2) => {
        one_by_one($rows, $alu, $dst)
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, CmpF, $f:expr) => {{
        let relation = Relation::of($alu.cond);
        lanewise_signed($rows, $alu, $dst, element!(CmpF, $f, relation))
    }};
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, CmpU, $f:expr) => {{
        let relation = Relation::of($alu.cond);
        lanewise($rows, $alu, $dst, element!(CmpU, $f, relation))
    }};
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, CmpS, $f:expr) => {{
        let relation = Relation::of($alu.cond);
        lanewise($rows, $alu, $dst, element!(CmpS, $f, relation))
    }};
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Float1, $f:expr) => {
        lanewise_signed($rows, $alu, $dst, element!(Float1, $f, 32))
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Float2, $f:expr) => {
        lanewise_signed($rows, $alu, $dst, element!(Float2, $f, 32))
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Float16, $f:expr) => {
        lanewise_signed($rows, $alu, $dst, element!(Float3, $f, 32))
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, Float32, $f:expr) => {
        lanewise_signed($rows, $alu, $dst, element!(Float3, $f, 32))
    };
    ($rows:ident, $alu:ident, $dst:ident, $op:ident, $class:ident, $f:expr) => {
        lanewise($rows, $alu, $dst, element!($class, $f, $alu.width))
    };
}

/// Makes everything from all rows.
macro_rules! operations {
    ($({ $opcode:literal, $op:ident, $text:literal, $class:ident $(, $f:expr)? })*) => {
        /// A pure operation.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AluOp {
            $($op,)*
            /// (sat) on integers.
            Saturating(Saturating),
            /// (ei) on integers.
            Halving(Halving),
            /// A conversion without a row of its own.
            Convert(Type, Type, Round),
        }

        #[cfg(test)]
        impl AluOp {
            /// Every operation that has a row.
            pub const ALL: &[Self] = &[$(Self::$op,)*];

            /// Does it apply sign modifiers?
            pub fn is_float(self) -> bool {
                match self {
                    $(Self::$op => {
                        matches!(stringify!($class), "Float1" | "Float2" | "Float16" | "Float32" | "CmpF")
                    })*
                    Self::Saturating(_) | Self::Halving(_) | Self::Convert(..) => false,
                }
            }
        }

        impl Alu {
            /// The scalar reference: the result for one lane's sources, modifiers applied.
            #[inline(never)]
            pub fn scalar(&self, src: [u32; 3]) -> u32 {
                match self.op {
                    $(AluOp::$op => scalar!(self, src, $class $(, $f)?),)*
                    AluOp::Saturating(op) => op.scalar(self, src),
                    AluOp::Halving(op) => op.scalar(self, src),
                    AluOp::Convert(from, to, round) => convert(src[0], from, to, round),
                }
            }
        }
    };
}

/// Makes the function that finds the loop of an operation, compiled for `targets`.
macro_rules! kernels {
    ($name:ident, [$($target:literal),*];
     $({ $opcode:literal, $op:ident, $text:literal, $class:ident $(, $f:expr)? })*) => {
        #[multiversion(targets($($target),*))]
        pub(super) fn $name(op: AluOp) -> Kernel {
            match op {
                $(AluOp::$op => {
                    #[inherit_target]
                    fn lanes(rows: &mut [Lanes], alu: &Alu, dst: Row) {
                        lane_loop!(rows, alu, dst, $op, $class $(, $f)?)
                    }
                    lanes
                })*
                AluOp::Saturating(_) | AluOp::Halving(_) | AluOp::Convert(..) => one_by_one,
            }
        }
    };
}

/// Makes the operations that a flag makes of others.
macro_rules! flagged {
    ($(#[$meta:meta])* $name:ident; $({ $op:ident, $class:ident, $f:expr })*) => {
        $(#[$meta])*
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($op,)* }

        impl $name {
            /// The flagged form of `op`, if it has one.
            pub fn of(op: Cat2Op) -> Option<Self> {
                match op {
                    $(Cat2Op::$op => Some(Self::$op),)*
                    _ => None,
                }
            }

            fn scalar(self, alu: &Alu, src: [u32; 3]) -> u32 {
                match self {
                    $(Self::$op => scalar!(alu, src, $class, $f),)*
                }
            }
        }
    };
}

for_each_cat2_saturating!(
    flagged,
    /// Integer operations that clamp to the range of their width.
    Saturating
);
for_each_cat2_halving!(
    flagged,
    /// Adds that halve the sum.
    Halving
);

/// Makes the operation of an instruction set's op.
macro_rules! from_rows {
    ($set:ident; $({ $opcode:literal, $op:ident $($rest:tt)* })*) => {
        impl From<$set> for AluOp {
            fn from(op: $set) -> Self {
                match op {
                    $($set::$op => Self::$op,)*
                }
            }
        }
    };
}
for_each_cat2!(from_rows, Cat2Op);
for_each_cat3!(from_rows, Cat3Op);
for_each_cat4!(from_rows, Cat4Op);

macro_rules! and_cat3 {
    ($($row:tt)*) => { for_each_cat3!(and_cat4, $($row)*); };
}
macro_rules! and_cat4 {
    ($({ $($a:tt)* })*; $({ $($b:tt)* })*) => {
        for_each_cat4!(and_extra, $({ $($a)* })* $({ $($b)* })*);
    };
}
macro_rules! and_extra {
    ($({ $($a:tt)* })*; $({ $($b:tt)* })*) => {
        for_each_extra!(and_pico, $({ $($a)* })* $({ $($b)* })*);
    };
}
macro_rules! and_pico {
    ($({ $($a:tt)* })*; $({ $($b:tt)* })*) => {
        for_each_pico!(lanewise_pico, { $({ $($a)* })* $({ $($b)* })* } []);
    };
}
/// Keeps PicoGpu's rows that compute lane by lane, without their form. Rows with
/// immediates share the operation of those without.
macro_rules! lanewise_pico {
    ({ $($ir3:tt)* } [$($kept:tt)*]; $($rows:tt)*) => { lanewise_pico!(@ { $($ir3)* } [$($kept)*] $($rows)*); };
    (@ $ir3:tt $kept:tt { $n:literal, $op:ident, $text:literal, $form:ident, Vector } $($rest:tt)*) => {
        lanewise_pico!(@ $ir3 $kept $($rest)*);
    };
    (@ $ir3:tt $kept:tt { $n:literal, $op:ident, $text:literal, $form:ident, Effect } $($rest:tt)*) => {
        lanewise_pico!(@ $ir3 $kept $($rest)*);
    };
    (@ $ir3:tt $kept:tt { $n:literal, $op:ident, $text:literal, UnaryImm, $($row:tt)* } $($rest:tt)*) => {
        lanewise_pico!(@ $ir3 $kept $($rest)*);
    };
    (@ $ir3:tt $kept:tt { $n:literal, $op:ident, $text:literal, BinaryImm, $($row:tt)* } $($rest:tt)*) => {
        lanewise_pico!(@ $ir3 $kept $($rest)*);
    };
    (@ $ir3:tt [$($kept:tt)*] { $n:literal, $op:ident, $text:literal, $form:ident, $($row:tt)* } $($rest:tt)*) => {
        lanewise_pico!(@ $ir3 [$($kept)* { $n, $op, $text, $($row)* }] $($rest)*);
    };
    (@ { $($ir3:tt)* } [$({ $n:literal, $op:ident, $($row:tt)* })*]) => {
        impl AluOp {
            /// What a PicoGpu op does in each component, unless it mixes components
            /// or does something else. Forms with immediates are the same operation.
            pub fn of_pico(op: pico::Op) -> Option<Self> {
                match op.without_immediates() {
                    $(pico::Op::$op => Some(Self::$op),)*
                    _ => None,
                }
            }
        }

        operations! { $($ir3)* $({ $n, $op, $($row)* })* }
        kernels! {
            kernel,
            ["x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"];
            $($ir3)* $({ $n, $op, $($row)* })*
        }
        #[cfg(test)]
        kernels! {
            kernel_avx2,
            ["x86_64+avx2+fma+bmi1+bmi2"];
            $($ir3)* $({ $n, $op, $($row)* })*
        }
    };
}
for_each_cat2!(and_cat3);
