//! The pure operations and their loops over lanes, made from the decoder's rows.
//!
//! A row's semantics is a scalar function. [`AluOp::eval`] is its value for one lane: the reference.
//! Operations here work on full registers. Half operands are widened before, and results are narrowed after.
//! This gives the same values as the half forms (computed in f32 and rounded once, or in 32 bits and cut). On
//! A4xx they are rare enough that this costs nothing.
//!
//! Each loop is a separate function, selected when a program is lowered. As arms of one big match they run
//! two to four times slower, since LLVM merges their common parts before it vectorises.
use a4emu_decoder::adreno::ir3::convert::convert;
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Cat4Op, Cond, Round, Type};
use a4emu_decoder::isa::pico::Op as PicoOp;
use a4emu_decoder::isa::semantics::{self, Denormals, How};
use a4emu_decoder::{for_each_cat2, for_each_cat3, for_each_cat4, for_each_pico};
use multiversion::{inherit_target, multiversion};

use super::alu::{Alu, Kernel, Outcomes, Row, lanewise, lanewise_signed, one_by_one};
use super::extra::{Extra, for_each_extra};
use super::lanes::Lanes;

/// A pure operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AluOp {
    /// An ir3 operation with two sources.
    Cat2(Cat2Op),
    /// An ir3 operation with two sources and (sat) on integers.
    Saturated(Cat2Op),
    /// An ir3 operation with two sources and (ei): half the sum.
    Halved(Cat2Op),
    /// An ir3 operation with three sources.
    Cat3(Cat3Op),
    /// A special function of ir3.
    Cat4(Cat4Op),
    /// A PicoGpu operation.
    Pico(PicoOp),
    /// An operation that no instruction set names.
    Extra(Extra),
    /// A conversion without its own row.
    Convert(Type, Type, Round),
}

impl AluOp {
    /// The value of one lane, from sources with modifiers applied. `None` for rows that do not compute.
    #[inline(never)]
    pub fn eval(self, src: [u32; 3], cond: Cond, width: u32) -> Option<u32> {
        match self {
            Self::Cat2(op) => op.eval(src, cond, width),
            Self::Saturated(op) => op.eval_saturated(src, cond, width),
            Self::Halved(op) => op.eval_halved(src, cond, width),
            Self::Cat3(op) => op.eval(src, cond, width),
            Self::Cat4(op) => op.eval(src, cond, width),
            Self::Pico(op) => op.eval(src, cond, width),
            Self::Extra(op) => op.eval(src, cond, width),
            Self::Convert(from, to, round) => Some(convert(src[0], from, to, round)),
        }
    }
}

macro_rules! into_alu_op {
    ($($set:ty => $variant:ident),*) => {$(
        impl From<$set> for AluOp {
            fn from(op: $set) -> Self {
                Self::$variant(op)
            }
        }
    )*};
}
into_alu_op!(Cat2Op => Cat2, Cat3Op => Cat3, Cat4Op => Cat4, PicoOp => Pico, Extra => Extra);

/// The loop of a row, from its columns.
macro_rules! lane_loop {
    ($rows:ident, $alu:ident, $dst:ident; $class:ident, $denormals:ident, Common, $f:expr) => {{
        let relation = Outcomes::of($alu.cond);
        let how = How { denormals: Denormals::$denormals, relation, width: $alu.width };
        let lane = semantics::$class::lane(how, $f);
        match semantics::$class::IS_FLOAT {
            true => lanewise_signed($rows, $alu, $dst, lane),
            false => lanewise($rows, $alu, $dst, lane),
        }
    }};
    ($rows:ident, $alu:ident, $dst:ident; $form:ident, $class:ident, $denormals:ident, Common, $f:expr) => {
        lane_loop!($rows, $alu, $dst; $class, $denormals, Common, $f)
    };
    ($rows:ident, $alu:ident, $dst:ident; $($rare:tt)*) => {
        one_by_one($rows, $alu, $dst)
    };
}

/// Makes the functions that select the loop of a row. They use the widest vectors that the CPU has; for
/// tests, also only AVX2.
macro_rules! kernels {
    ($name:ident, $avx2:ident, $set:ident; $($rows:tt)*) => {
        kernels! {
            @ $name, $set, ["x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2",
            "x86_64+avx2+fma+bmi1+bmi2"]; $($rows)*
        }
        #[cfg(test)]
        kernels! { @ $avx2, $set, ["x86_64+avx2+fma+bmi1+bmi2"]; $($rows)* }
    };
    (@ $name:ident, $set:ident, [$($target:literal),*];
     $({ $opcode:literal, $op:ident, $text:literal $(since $since:ident)? $(until $until:ident)?,
         $($row:tt)* })*) => {
        #[multiversion(targets($($target),*))]
        fn $name(op: $set) -> Kernel {
            match op {
                $($set::$op => {
                    #[inherit_target]
                    fn lanes(rows: &mut [Lanes], alu: &Alu, dst: Row) {
                        lane_loop!(rows, alu, dst; $($row)*)
                    }
                    lanes
                })*
            }
        }
    };
}
for_each_cat2!(kernels, cat2, cat2_avx2, Cat2Op);
for_each_cat3!(kernels, cat3, cat3_avx2, Cat3Op);
for_each_cat4!(kernels, cat4, cat4_avx2, Cat4Op);
for_each_pico!(kernels, pico_op, pico_avx2, PicoOp);
for_each_extra!(kernels, extra, extra_avx2, Extra);

/// Makes the function that selects the loop of any operation.
macro_rules! kernel_of_any {
    ($(#[$meta:meta])* $name:ident, $cat2:ident, $cat3:ident, $cat4:ident, $pico:ident, $extra:ident) => {
        $(#[$meta])*
        pub fn $name(op: AluOp) -> Kernel {
            match op {
                AluOp::Cat2(op) => $cat2(op),
                AluOp::Cat3(op) => $cat3(op),
                AluOp::Cat4(op) => $cat4(op),
                AluOp::Pico(op) => $pico(op),
                AluOp::Extra(op) => $extra(op),
                AluOp::Saturated(_) | AluOp::Halved(_) | AluOp::Convert(..) => one_by_one,
            }
        }
    };
}
kernel_of_any!(
    /// The loop of an operation.
    kernel, cat2, cat3, cat4, pico_op, extra
);
kernel_of_any!(
    /// The loop of an operation, as CPUs without AVX-512 have it.
    #[cfg(test)]
    kernel_avx2, cat2_avx2, cat3_avx2, cat4_avx2, pico_avx2, extra_avx2
);
