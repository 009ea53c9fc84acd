//! Category 2: two-source ALU (ir3-cat2.xml).
//!
//! ```text
//! 15:0 SRC1  31:16 SRC2  39:32 DST  41:40 repeat  42 (sat)  43 SRC1 (r)  46 DST_CONV  47 (ei)
//! 50:48 COND  51 SRC2 (r)  52 FULL  58:53 opcode
//! from A5xx on without repeat: 43 and 51 are the low and the high bit of (nopN)
//! ```
use super::bits::{bit, field, put};
use super::isa::Isa;
use super::multisrc;
use super::operand::{Cond, Operand, Reg};
use super::rows::opcodes;
use crate::{evaluate, lane_value};

/// The number and type of a category-2 op's sources, and the effect of `neg` on them.
///
/// Half integers are extended by the class's signedness before the closure runs. Its result is cut to the
/// width of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat2Class {
    /// `|a: f32, b: f32| -> f32`; half sources are converted, half results rounded once.
    Float2,
    /// `|a: f32| -> f32`
    Float1,
    /// `|a: u32, b: u32, w: u32| -> u32`, `w` = source width, 16 or 32; neg is two's complement.
    Uint2,
    /// `|a: i32, b: i32, w: u32| -> i32`; neg is two's complement.
    Sint2,
    /// `|a: i32, w: u32| -> i32`
    Sint1,
    /// `|a: u32, b: u32, w: u32| -> u32`; neg is bitwise NOT.
    Bits2,
    /// `|a: u32, w: u32| -> u32`; neg is bitwise NOT.
    Bits1,
    /// f32 compare under COND, then `|hit: bool| -> u32`.
    CmpF,
    /// u32 compare under COND, then `|hit: bool| -> u32`.
    CmpU,
    /// i32 compare under COND, then `|hit: bool| -> u32`.
    CmpS,
    /// Two sources and no closure: the op has another effect, or is unknown.
    Effect2,
    /// One source and no closure: the op has another effect, or is unknown.
    Effect1,
}

impl Cat2Class {
    /// Whether the op reads SRC2.
    pub const fn has_src2(self) -> bool {
        !matches!(self, Self::Float1 | Self::Sint1 | Self::Bits1 | Self::Effect1)
    }

    /// Whether the op uses COND.
    pub const fn has_cond(self) -> bool {
        matches!(self, Self::CmpF | Self::CmpU | Self::CmpS)
    }

    /// Whether the sources are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float2 | Self::Float1 | Self::CmpF)
    }

    /// Whether half integer sources are sign-extended.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Sint2 | Self::Sint1 | Self::CmpS)
    }
}

/// Category 2 rows: `{ opcode, Variant, "mnemonic", Class, denormals, use, semantics }`.
///
/// `for_each_cat2!(callback, args)` expands to `callback! { args; rows }`. [`Cat2Class`] gives the form of
/// the semantics; for denormals see [`crate::isa::semantics`]. Programs hardly use `Rare` ops: executors
/// compute them lane by lane, because a loop for each would need code for every kind of CPU. Sources:
/// ir3-cat2.xml and nir_opcodes.py through docs/hardware/ir3-isa.md, section 5. Bit 50 is above the opcode of
/// `flat.b`, which is that of `bary.f`.
#[macro_export]
macro_rules! for_each_cat2 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, AddF, "add.f", Float2, Keep, Common, |a, b| a + b }
            { 1, MinF, "min.f", Float2, Keep, Common, |a, b| $crate::adreno::ir3::float::min(a, b) }
            { 2, MaxF, "max.f", Float2, Keep, Common, |a, b| $crate::adreno::ir3::float::max(a, b) }
            { 3, MulF, "mul.f", Float2, Keep, Common, |a, b| a * b }
            { 4, SignF, "sign.f", Float1, Flush, Common, |a| $crate::adreno::ir3::float::sign(a) }
            { 5, CmpsF, "cmps.f", CmpF, Flush, Common, |hit| u32::from(hit) }
            { 6, AbsnegF, "absneg.f", Float1, Flush, Common, |a| a }
            { 7, CmpvF, "cmpv.f", CmpF, Flush, Rare, |hit| u32::from(hit).wrapping_neg() }
            { 9, FloorF, "floor.f", Float1, Flush, Common, |a| a.floor() }
            { 10, CeilF, "ceil.f", Float1, Flush, Common, |a| a.ceil() }
            { 11, RndneF, "rndne.f", Float1, Flush, Common, |a| a.round_ties_even() }
            { 12, RndazF, "rndaz.f", Float1, Flush, Common, |a| a.round() }
            { 13, TruncF, "trunc.f", Float1, Flush, Common, |a| a.trunc() }
            { 16, AddU, "add.u", Uint2, Keep, Common, |a, b, _w| a.wrapping_add(b) }
            { 17, AddS, "add.s", Sint2, Keep, Common, |a, b, _w| a.wrapping_add(b) }
            { 18, SubU, "sub.u", Uint2, Keep, Common, |a, b, _w| a.wrapping_sub(b) }
            { 19, SubS, "sub.s", Sint2, Keep, Common, |a, b, _w| a.wrapping_sub(b) }
            { 20, CmpsU, "cmps.u", CmpU, Keep, Common, |hit| u32::from(hit) }
            { 21, CmpsS, "cmps.s", CmpS, Keep, Common, |hit| u32::from(hit) }
            { 22, MinU, "min.u", Uint2, Keep, Common, |a, b, _w| a.min(b) }
            { 23, MinS, "min.s", Sint2, Keep, Common, |a, b, _w| a.min(b) }
            { 24, MaxU, "max.u", Uint2, Keep, Common, |a, b, _w| a.max(b) }
            { 25, MaxS, "max.s", Sint2, Keep, Common, |a, b, _w| a.max(b) }
            { 26, AbsnegS, "absneg.s", Sint1, Keep, Common, |a, _w| a }
            { 28, AndB, "and.b", Bits2, Keep, Common, |a, b, _w| a & b }
            { 29, OrB, "or.b", Bits2, Keep, Common, |a, b, _w| a | b }
            { 30, NotB, "not.b", Bits1, Keep, Common, |a, _w| !a }
            { 31, XorB, "xor.b", Bits2, Keep, Common, |a, b, _w| a ^ b }
            { 33, CmpvU, "cmpv.u", CmpU, Keep, Rare, |hit| u32::from(hit).wrapping_neg() }
            { 34, CmpvS, "cmpv.s", CmpS, Keep, Rare, |hit| u32::from(hit).wrapping_neg() }
            { 48, MulU24, "mul.u24", Uint2, Keep, Common, |a, b, _w| $crate::adreno::ir3::int::mul_u24(a, b) }
            { 49, MulS24, "mul.s24", Sint2, Keep, Common, |a, b, _w| $crate::adreno::ir3::int::mul_s24(a, b) }
            { 50, MullU, "mull.u", Uint2, Keep, Common, |a, b, _w| (a & 0xffff).wrapping_mul(b & 0xffff) }
            { 51, BfrevB, "bfrev.b", Bits1, Keep, Rare, |a, w| $crate::adreno::ir3::int::bfrev(a, w) }
            { 52, ClzS, "clz.s", Sint1, Keep, Rare, |a, w| $crate::adreno::ir3::int::clz_s(a, w) }
            { 53, ClzB, "clz.b", Bits1, Keep, Rare, |a, w| $crate::adreno::ir3::int::clz_b(a, w) }
            { 54, ShlB, "shl.b", Uint2, Keep, Common, |a, b, w| a << (b & (w - 1)) }
            { 55, ShrB, "shr.b", Uint2, Keep, Common, |a, b, w| a >> (b & (w - 1)) }
            { 56, AshrB, "ashr.b", Sint2, Keep, Common, |a, b, w| a >> (b as u32 & (w - 1)) }
            { 57, BaryF, "bary.f", Effect2 }
            { 0x79, FlatB, "flat.b" since A6xx, Effect2 }
            { 58, MgenB, "mgen.b", Bits2, Keep, Rare, |a, b, w| $crate::adreno::ir3::int::mask_generate(a, b, w) }
            { 59, GetbitB, "getbit.b", Bits2, Keep, Rare, |a, b, w| a >> (b & (w - 1)) & 1 }
            { 60, Setrm, "setrm", Effect1 }
            { 61, CbitsB, "cbits.b", Bits1, Keep, Rare, |a, _w| a.count_ones() }
            { 62, Shb, "shb", Sint2, Keep, Rare, |a, b, w| $crate::adreno::ir3::int::shift_both(a, b, w) }
            { 63, Msad, "msad", Uint2, Keep, Rare, |a, b, _w| $crate::adreno::ir3::int::masked_sad(a, b) }
        }
    };
}

/// The semantics of integer ops with (sat): the result is clamped to the range of the source width. The rows
/// are `{ Variant, Class, closure }`. Float ops clamp to [0, 1]; the other integer ops ignore (sat) (guess
/// `sat-ignored`).
macro_rules! for_each_cat2_saturating {
    ($callback:ident, $($arg:tt)*) => {
        $callback! { $($arg)*;
            { AddU, Uint2, |a, b, w| $crate::adreno::ir3::int::add_u_sat(a, b, w) }
            { AddS, Sint2, |a, b, w| $crate::adreno::ir3::int::add_s_sat(a, b, w) }
            { SubU, Uint2, |a, b, _w| a.saturating_sub(b) }
            { SubS, Sint2, |a, b, w| $crate::adreno::ir3::int::sub_s_sat(a, b, w) }
        }
    };
}

/// The semantics of the adds with (ei): half the sum, without overflow. The rows are `{ Variant, Class,
/// closure }`.
macro_rules! for_each_cat2_halving {
    ($callback:ident, $($arg:tt)*) => {
        $callback! { $($arg)*;
            { AddU, Uint2, |a, b, _w| (a & b).wrapping_add((a ^ b) >> 1) }
            { AddS, Sint2, |a, b, _w| (a & b).wrapping_add((a ^ b) >> 1) }
        }
    };
}

/// Makes the functions for a flag that changes the semantics of some ops.
macro_rules! flagged {
    ($has:ident, $eval:ident; $({ $op:ident, $class:ident, $f:expr })*) => {
        impl Cat2Op {
            /// Whether the flag changes the result of the op for integers.
            pub const fn $has(self) -> bool {
                matches!(self, $(Self::$op)|*)
            }

            /// [`Cat2Op::eval`] with the flag set; `None` if the flag does not change the op.
            pub fn $eval(self, src: [u32; 3], cond: Cond, width: u32) -> Option<u32> {
                match self {
                    $(Self::$op => lane_value!(src, cond, width; $class, Keep, Rare, $f),)*
                    _ => None,
                }
            }
        }
    };
}

for_each_cat2!(
    opcodes,
    /// The ops of category 2.
    Cat2Op,
    Cat2Class
);

impl Cat2Op {
    /// The op with this mnemonic, which may be that of an older assembler (fdre-a3xx).
    pub(super) fn named(name: &str) -> Option<Self> {
        let old = Self::OLD.iter().find(|(old, _)| *old == name).map(|(_, op)| *op);
        Self::from_name(name).or(old)
    }

    /// Mnemonics of older assemblers, each with its op.
    pub(super) const OLD: &[(&str, Self)] = &[("mul.u", Self::MulU24), ("mul.s", Self::MulS24)];
}

for_each_cat2!(evaluate, Cat2Op);
for_each_cat2_saturating!(flagged, saturates, eval_saturated);
for_each_cat2_halving!(flagged, halves, eval_halved);

/// The bit of the second source's (r).
pub(super) const SRC2_R: u32 = 51;

impl Cat2Op {
    /// Whether the op has (nopN). The (r) of inputs stay what they are.
    pub const fn has_nops(self) -> bool {
        !matches!(self, Self::BaryF | Self::FlatB)
    }
}

/// (nopN) in the bits that are the (r) of two sources in an instruction that repeats.
pub(super) fn nops([first, second]: [bool; 2]) -> (u8, [bool; 2]) {
    (u8::from(first) | u8::from(second) << 1, [false; 2])
}

/// An instruction of category 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat2 {
    /// The op.
    pub op: Cat2Op,
    /// The condition of a compare.
    pub cond: Option<Cond>,
    /// Destination.
    pub dst: Reg,
    /// Whether the destination is a half register.
    pub dst_half: bool,
    /// Whether the sources are half registers. It decides the width of the operation.
    pub half: bool,
    /// (rptN): repeat N more times.
    pub repeat: u8,
    /// (nopN): N nops follow, 0 to 3; 0 with a repeat, and before A5xx.
    pub nops: u8,
    /// (sat): saturate the result.
    pub sat: bool,
    /// (ei): end of input; halves the sum of add.u and add.s.
    pub end_input: bool,
    /// First source.
    pub src1: Operand,
    /// Second source, if the op has one.
    pub src2: Option<Operand>,
}

impl Cat2 {
    /// Decodes `word`; `None` if a field has no meaning.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let opcode = field(word, 53, 6) as u8;
        let op = match (isa.is_strict() && bit(word, 50), Cat2Op::from_bits(opcode)?) {
            (true, Cat2Op::BaryF) => Some(Cat2Op::FlatB).filter(|op| op.is_in(isa))?,
            (_, op) => op,
        };
        let half = !bit(word, 52);
        let cond = match op.class().has_cond() {
            true => Some(Cond::from_bits(field(word, 48, 3) as u8)?),
            false => None,
        };
        let dst = Reg(field(word, 32, 8) as u8);
        let repeat = field(word, 40, 2) as u8;
        let steps = [43, SRC2_R].map(|at| bit(word, at));
        let (nops, [step1, step2]) = match isa.has_nops() && op.has_nops() && repeat == 0 {
            true => nops(steps),
            false => (0, steps),
        };
        let src1 = multisrc::decode(field(word, 0, 16) as u16, step1, half)?;
        let src2 = match op.class().has_src2() {
            true => Some(multisrc::decode(field(word, 16, 16) as u16, step2, half)?),
            false => None,
        };
        Some(Self {
            op,
            cond,
            dst,
            dst_half: half != bit(word, 46) && dst.has_halves(),
            half,
            repeat,
            nops,
            sat: bit(word, 42),
            end_input: bit(word, 47),
            src1,
            src2,
        })
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let src2 = self.src2.unwrap_or_default();
        let converts = self.half != self.dst_half && !self.dst.is_predicate();
        put(2u8, 61)
            | put(self.op.bits() & 0x3f, 53)
            | put(self.op.bits() >> 6, 50)
            | put(!self.half, 52)
            | put(src2.step || self.nops & 2 != 0, SRC2_R)
            | put(self.cond.map_or(0, |cond| cond as u8), 48)
            | put(self.end_input, 47)
            | put(converts, 46)
            | put(self.src1.step || self.nops & 1 != 0, 43)
            | put(self.sat, 42)
            | put(self.repeat & 3, 40)
            | put(self.dst.0, 32)
            | put(multisrc::encode(&src2), 16)
            | put(multisrc::encode(&self.src1), 0)
    }
}
