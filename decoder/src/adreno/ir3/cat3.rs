//! Category 3: three-source ALU (ir3-cat3.xml).
//!
//! ```text
//! 12:0 SRC1  14 neg1  15 SRC2 (r)  28:16 SRC3  29 SRC3 (r)  30 neg2  31 neg3  39:32 DST
//! 41:40 repeat  42 (sat)  43 SRC1 (r)  46 DST_CONV  54:47 SRC2 register  58:55 opcode
//! from A5xx on without repeat: 43 and 15 are the low and the high bit of (nopN)
//! from A6xx on with 13 set, other ops:
//! shift    42 FULL  46 DST_CONV; bit 12 of SRC1 and SRC3: an immediate 11:0
//! dot      14 mixed signs  30 high halves  46 opcode bit 5
//! matrix   31 FULL  42 opcode bit 5  46 DST_FULL; bit 12 of SRC3: an immediate 11:0
//! ```
use super::bits::{bit, field, put, put_signed};
use super::cat2::nops;
use super::isa::Isa;
use super::multisrc;
use super::operand::{Operand, Reg, Src};
use super::rows::opcodes;
use crate::evaluate;

/// The operand type of a category-3 op and the width of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat3Class {
    /// `|a: f32, b: f32, c: f32| -> f32` on full registers.
    Float32,
    /// `|a: f32, b: f32, c: f32| -> f32` on half registers, result rounded once.
    Float16,
    /// `|a: u32, b: u32, c: u32| -> u32` on full registers; neg is two's complement.
    Uint32,
    /// `|a: u32, b: u32, c: u32| -> u32` on zero-extended half registers.
    Uint16,
    /// `|a: i32, b: i32, c: i32| -> i32` on full registers; neg is two's complement.
    Sint32,
    /// `|a: i32, b: i32, c: i32| -> i32` on sign-extended half registers.
    Sint16,
    /// `|a: u32, b: u32, c: u32| -> u32` on full registers; neg is bitwise NOT.
    Bits32,
    /// `|a: u32, b: u32, c: u32| -> u32` on half registers; neg is bitwise NOT.
    Bits16,
    /// Bits on registers that a bit of the word says: the second source is shifted by the first, or combined
    /// with it, and then combined with the third.
    Shift,
    /// The dot product of packed bytes, and an addend.
    Dot,
    /// A product of four registers with the sum of four others.
    Matrix,
}

impl Cat3Class {
    /// Whether the sources are half registers. For [`Self::Shift`] and [`Self::Matrix`] the word says it.
    pub const fn is_half(self) -> bool {
        matches!(self, Self::Float16 | Self::Uint16 | Self::Sint16 | Self::Bits16)
    }

    /// Whether the sources are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float16 | Self::Float32)
    }
}

/// Category 3 rows: `{ opcode, Variant, "mnemonic", Class, denormals, use, semantics }`, as in category 2.
///
/// Guess `unused-ops`: madsh.u16 (low halves), sel.s and sel.f (first source if the second is not negative),
/// sad (|a - b| + c). Bit 13 is above the opcode of the ops of A6xx, and above that the bit that selects the second
/// of two ops with one opcode. The sources of sad.s32 are full registers, as in Mesa 25's ir3-cat3.xml. Mesa 22 had
/// half registers, and its comment doubted it.
#[macro_export]
macro_rules! for_each_cat3 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, MadU16, "mad.u16", Uint16, Keep, Common, |a, b, c| a.wrapping_mul(b).wrapping_add(c) }
            { 1, MadshU16, "madsh.u16", Uint32, Keep, Rare, |a, b, c| ((a & 0xffff).wrapping_mul(b & 0xffff) << 16).wrapping_add(c) }
            { 2, MadS16, "mad.s16", Sint16, Keep, Common, |a, b, c| a.wrapping_mul(b).wrapping_add(c) }
            { 3, MadshM16, "madsh.m16", Uint32, Keep, Common, |a, b, c| $crate::adreno::ir3::int::madsh_m16(a, b, c) }
            { 4, MadU24, "mad.u24", Uint32, Keep, Common, |a, b, c| $crate::adreno::ir3::int::mul_u24(a, b).wrapping_add(c) }
            { 5, MadS24, "mad.s24", Sint32, Keep, Common, |a, b, c| $crate::adreno::ir3::int::mul_s24(a, b).wrapping_add(c) }
            { 6, MadF16, "mad.f16", Float16, Keep, Common, |a, b, c| a * b + c }
            { 7, MadF32, "mad.f32", Float32, Keep, Common, |a, b, c| a * b + c }
            { 8, SelB16, "sel.b16", Bits16, Keep, Common, |a, b, c| if b != 0 { a } else { c } }
            { 9, SelB32, "sel.b32", Bits32, Keep, Common, |a, b, c| if b != 0 { a } else { c } }
            { 10, SelS16, "sel.s16", Sint16, Keep, Rare, |a, b, c| if b >= 0 { a } else { c } }
            { 11, SelS32, "sel.s32", Sint32, Keep, Rare, |a, b, c| if b >= 0 { a } else { c } }
            { 12, SelF16, "sel.f16", Float16, Keep, Rare, |a, b, c| if b >= 0.0 { a } else { c } }
            { 13, SelF32, "sel.f32", Float32, Keep, Rare, |a, b, c| if b >= 0.0 { a } else { c } }
            { 14, SadS16, "sad.s16", Sint16, Keep, Rare, |a, b, c| $crate::adreno::ir3::int::sad(a, b, c) }
            { 15, SadS32, "sad.s32", Sint32, Keep, Rare, |a, b, c| $crate::adreno::ir3::int::sad(a, b, c) }
            { 0x18, Shrm, "shrm" since A6xx, Shift }
            { 0x19, Shlm, "shlm" since A6xx, Shift }
            { 0x1a, Shrg, "shrg" since A6xx, Shift }
            { 0x1b, Shlg, "shlg" since A6xx, Shift }
            { 0x1c, Andg, "andg" since A6xx, Shift }
            { 0x1d, Dp2acc, "dp2acc" since A6xx, Dot }
            { 0x3d, Dp4acc, "dp4acc" since A6xx, Dot }
            { 0x1e, Wmm, "wmm" since A6xx, Matrix }
            { 0x3e, WmmAccu, "wmm.accu" since A6xx, Matrix }
        }
    };
}

for_each_cat3!(
    opcodes,
    /// The ops of category 3.
    Cat3Op,
    Cat3Class
);
for_each_cat3!(evaluate, Cat3Op);

/// An instruction of category 3. Operands have no (abs) here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat3 {
    /// The op.
    pub op: Cat3Op,
    /// Destination.
    pub dst: Reg,
    /// Whether the destination is a half register.
    pub dst_half: bool,
    /// Whether the sources are half registers: by the op's class, or by a bit.
    pub half: bool,
    /// (rptN): repeat N more times.
    pub repeat: u8,
    /// (nopN): N nops follow, 0 to 3; 0 with a repeat, and before A5xx.
    pub nops: u8,
    /// (sat): saturate the result.
    pub sat: bool,
    /// First source.
    pub src1: Operand,
    /// Second source, always a register.
    pub src2: Operand,
    /// Third source.
    pub src3: Operand,
    /// `.mixed` of a dot product: the first source has signed bytes, the second has none.
    pub mixed: bool,
    /// `.high` of a dot product: the bytes are in the high halves of the registers.
    pub high: bool,
}

/// The bits that are read in another way by each group of ops: (neg) of the sources, whether the sources and the
/// destination are half registers, and (sat).
struct Shape {
    neg: [bool; 3],
    half: bool,
    dst_half: bool,
    sat: bool,
}

impl Cat3 {
    /// Decodes `word`; `None` if a field has no meaning in the generation.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let op = Cat3Op::of(word).filter(|op| op.is_in(isa))?;
        let class = op.class();
        let dst = Reg(field(word, 32, 8) as u8);
        let repeat = field(word, 40, 2) as u8;
        let steps = [43, 15].map(|at| bit(word, at));
        let (nops, [step1, step2]) = match isa.has_nops() && repeat == 0 {
            true => nops(steps),
            false => (0, steps),
        };
        let Shape { neg: [neg1, neg2, neg3], half, dst_half, sat } = Shape::of(class, word);
        let src2 = Src::Gpr(Reg(field(word, 47, 8) as u8));
        let immediates = class.immediates();
        // (r) of the third source has no text beside (nopN).
        let step3 = bit(word, 29) && nops == 0;
        Some(Self {
            op,
            dst,
            dst_half: dst_half && dst.has_halves(),
            half,
            repeat,
            nops,
            sat,
            src1: Operand { neg: neg1, step: step1, ..source(isa, word, 0, immediates[0])? },
            src2: Operand { src: src2, neg: neg2, step: step2, ..Operand::default() },
            src3: Operand { neg: neg3, step: step3, ..source(isa, word, 16, immediates[1])? },
            mixed: class == Cat3Class::Dot && bit(word, 14),
            high: class == Cat3Class::Dot && bit(word, 30),
        })
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let class = self.op.class();
        let key = self.op.bits();
        let converts = put(self.half != self.dst_half && !self.dst.is_predicate(), 46);
        let src2 = match self.src2.src {
            Src::Gpr(reg) => reg,
            _ => Reg(0),
        };
        let of_class = match class {
            Cat3Class::Shift => put(!self.half, 42) | converts,
            Cat3Class::Dot => {
                put(self.mixed, 14) | put(self.high, 30) | put(self.sat, 42) | put(key >> 5, 46)
            }
            Cat3Class::Matrix => put(!self.half, 31) | put(key >> 5, 42) | put(!self.dst_half, 46),
            _ => put(self.sat, 42) | converts,
        };
        let [immediate1, immediate3] = class.immediates();
        put(3u8, 61)
            | of_class
            | put(key & 0xf, 55)
            | put(src2.0, 47)
            | put(self.src1.step || self.nops & 1 != 0, 43)
            | put(self.repeat & 3, 40)
            | put(self.dst.0, 32)
            | put(self.src3.neg, 31)
            | put(self.src2.neg, 30)
            | put(self.src3.step, 29)
            | put(source_bits(&self.src3, immediate3), 16)
            | put(self.src2.step || self.nops & 2 != 0, 15)
            | put(self.src1.neg, 14)
            | put(key >> 4 & 1, 13)
            | put(source_bits(&self.src1, immediate1), 0)
    }
}

impl Cat3Op {
    /// The op of `word`, by its opcode and the bits above it in the rows.
    fn of(word: u64) -> Option<Self> {
        let opcode = field(word, 55, 4) | field(word, 13, 1) << 4;
        let second = match opcode {
            0x1d => field(word, 46, 1),
            0x1e => field(word, 42, 1),
            _ => 0,
        };
        Self::from_bits((opcode | second << 5) as u8)
    }
}

impl Cat3Class {
    /// Whether bit 12 of the first and the third source makes it an immediate rather than a constant.
    pub(super) const fn immediates(self) -> [bool; 2] {
        [matches!(self, Self::Shift), matches!(self, Self::Shift | Self::Matrix)]
    }

    /// Whether the instructions have (neg) of each source.
    pub(super) const fn negations(self) -> [bool; 3] {
        match self {
            Self::Dot => [false, false, true],
            Self::Matrix => [true, true, false],
            _ => [true; 3],
        }
    }

    /// Whether the instructions have (sat).
    pub(super) const fn has_sat(self) -> bool {
        !matches!(self, Self::Shift | Self::Matrix)
    }
}

impl Shape {
    fn of(class: Cat3Class, word: u64) -> Self {
        let (half, dst_half) = match class {
            Cat3Class::Shift => (!bit(word, 42), bit(word, 42) == bit(word, 46)),
            Cat3Class::Dot => (false, false),
            Cat3Class::Matrix => (!bit(word, 31), !bit(word, 46)),
            _ => (class.is_half(), class.is_half() != bit(word, 46)),
        };
        let has = class.negations();
        let neg = [bit(word, 14) && has[0], bit(word, 30) && has[1], bit(word, 31) && has[2]];
        Self { neg, half, dst_half, sat: class.has_sat() && bit(word, 42) }
    }
}

/// Decodes a 13-bit source: 12:11 = 00 register, 10 constant, 01 relative; 1x is an immediate if the op has
/// `immediates` here.
fn source(isa: Isa, word: u64, lo: u32, immediates: bool) -> Option<Operand> {
    let bits = field(word, lo, 13);
    let src = match field(bits, 11, 2) {
        0b00 if field(bits, 8, 2) == 0 => Src::Gpr(Reg(field(bits, 0, 8) as u8)),
        0b10 | 0b11 if immediates => Src::Immediate(field(bits, 0, 12) as i16),
        0b10 => Src::Const(field(bits, 0, 11) as u16),
        0b11 if isa.is_strict() => Src::Const(field(bits, 0, 11) as u16),
        0b01 => multisrc::relative(bits),
        _ => return None,
    };
    let last = matches!(src, Src::Gpr(_)) && bit(bits, 10);
    Some(Operand { src, last, ..Operand::default() })
}

fn source_bits(operand: &Operand, immediates: bool) -> u64 {
    match operand.src {
        Src::Gpr(reg) => put(reg.0, 0) | put(operand.last, 10),
        Src::Const(index) => put(0b10u8, 11) | put(index & 0x7ff, 0),
        Src::RelativeGpr(offset) => put(0b01u8, 11) | put_signed(offset.into(), 0, 10),
        Src::RelativeConst(offset) => put(0b01u8, 11) | put(true, 10) | put_signed(offset.into(), 0, 10),
        Src::Immediate(value) if immediates => put(true, 12) | put_signed(value.into(), 0, 12),
        Src::Immediate(_) | Src::Flut { .. } => 0,
    }
}
