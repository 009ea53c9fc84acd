//! Category 3: three-source ALU (ir3-cat3.xml).
//!
//! ```text
//! 12:0 SRC1  14 neg1  15 SRC2 (r)  28:16 SRC3  29 SRC3 (r)  30 neg2  31 neg3  39:32 DST
//! 41:40 repeat  42 (sat)  43 SRC1 (r)  46 DST_CONV  54:47 SRC2 register  58:55 opcode
//! ```
use super::bits::{bit, field, put, put_signed};
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
}

impl Cat3Class {
    /// Whether the sources are half registers.
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
/// sad (|a - b| + c). The sources of sad.s32 are full registers, as in Mesa 25's ir3-cat3.xml. Mesa 22 had
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
    /// The op; its class gives the precision of the sources.
    pub op: Cat3Op,
    /// Destination.
    pub dst: Reg,
    /// Whether the destination is a half register.
    pub dst_half: bool,
    /// (rptN): repeat N more times.
    pub repeat: u8,
    /// (sat): saturate the result.
    pub sat: bool,
    /// First source.
    pub src1: Operand,
    /// Second source, always a register.
    pub src2: Operand,
    /// Third source.
    pub src3: Operand,
}

impl Cat3 {
    /// Decodes `word`; `None` if a field is not known on A4xx.
    pub(super) fn decode(word: u64) -> Option<Self> {
        let op = Cat3Op::from_bits(field(word, 55, 4) as u8)?;
        if bit(word, 13) {
            return None;
        }
        let dst = Reg(field(word, 32, 8) as u8);
        let src2 = Src::Gpr(Reg(field(word, 47, 8) as u8));
        Some(Self {
            op,
            dst,
            dst_half: op.class().is_half() != bit(word, 46) && dst.has_halves(),
            repeat: field(word, 40, 2) as u8,
            sat: bit(word, 42),
            src1: source(word, 0, bit(word, 14), bit(word, 43))?,
            src2: Operand { src: src2, neg: bit(word, 30), step: bit(word, 15), ..Operand::default() },
            src3: source(word, 16, bit(word, 31), bit(word, 29))?,
        })
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let converts = self.op.class().is_half() != self.dst_half && !self.dst.is_predicate();
        let src2 = match self.src2.src {
            Src::Gpr(reg) => reg,
            _ => Reg(0),
        };
        put(3u8, 61)
            | put(self.op.bits(), 55)
            | put(src2.0, 47)
            | put(converts, 46)
            | put(self.src1.step, 43)
            | put(self.sat, 42)
            | put(self.repeat & 3, 40)
            | put(self.dst.0, 32)
            | put(self.src3.neg, 31)
            | put(self.src2.neg, 30)
            | put(self.src3.step, 29)
            | put(source_bits(&self.src3), 16)
            | put(self.src2.step, 15)
            | put(self.src1.neg, 14)
            | put(source_bits(&self.src1), 0)
    }
}

/// Decodes a 13-bit source: 12:11 = 00 register, 10 constant, 01 relative.
fn source(word: u64, lo: u32, neg: bool, step: bool) -> Option<Operand> {
    let bits = field(word, lo, 13);
    let src = match field(bits, 11, 2) {
        0b00 if field(bits, 8, 2) == 0 => Src::Gpr(Reg(field(bits, 0, 8) as u8)),
        0b10 => Src::Const(field(bits, 0, 11) as u16),
        0b01 => multisrc::relative(bits),
        _ => return None,
    };
    let last = matches!(src, Src::Gpr(_)) && bit(bits, 10);
    Some(Operand { src, neg, abs: false, step, last })
}

fn source_bits(operand: &Operand) -> u64 {
    match operand.src {
        Src::Gpr(reg) => put(reg.0, 0) | put(operand.last, 10),
        Src::Const(index) => put(0b10u8, 11) | put(index & 0x7ff, 0),
        Src::RelativeGpr(offset) => put(0b01u8, 11) | put_signed(offset.into(), 0, 10),
        Src::RelativeConst(offset) => put(0b01u8, 11) | put(true, 10) | put_signed(offset.into(), 0, 10),
        Src::Immediate(_) | Src::Flut { .. } => 0,
    }
}
