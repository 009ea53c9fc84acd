//! The 16-bit source of categories 2 and 4 (ir3-common.xml, `#multisrc`).
//!
//! ```text
//! 13:11  000 register 7:0   x10 constant 10:0   001 relative (bit 10: constant) 9:0
//!        100 integer 10:0   101 float table 9:0 (bit 10: half)
//! 14 neg, 15 abs
//! ```
use super::bits::{bit, field, put, put_signed, signed};
use super::operand::{FLUT, Operand, Reg, Src};

/// Decodes the operand in `bits` of an op whose sources are half registers if `half`.
///
/// `None` for forms without a meaning, and for a float immediate whose precision differs from that of the op:
/// the text could not express it.
pub(super) fn decode(bits: u16, step: bool, half: bool) -> Option<Operand> {
    let word = u64::from(bits);
    let src = match field(word, 11, 3) {
        0b000 if field(word, 8, 2) == 0 => Src::Gpr(Reg(field(word, 0, 8) as u8)),
        0b010 | 0b110 => Src::Const(field(word, 0, 11) as u16),
        0b001 => relative(word),
        0b100 => Src::Immediate(signed(word, 0, 11) as i16),
        0b101 => float_table(word, half)?,
        _ => return None,
    };
    let last = matches!(src, Src::Gpr(_)) && bit(word, 10);
    Some(Operand { src, neg: bit(word, 14), abs: bit(word, 15), step, last })
}

/// Decodes the relative form, which categories 1 to 4 share: 9:0 offset, 10 constant.
pub(super) fn relative(word: u64) -> Src {
    let offset = signed(word, 0, 10) as i16;
    match bit(word, 10) {
        true => Src::RelativeConst(offset),
        false => Src::RelativeGpr(offset),
    }
}

fn float_table(word: u64, half: bool) -> Option<Src> {
    let index = field(word, 0, 10) as usize;
    (index < FLUT.len() && bit(word, 10) == half).then_some(Src::Flut { index: index as u8, half })
}

/// Encodes `operand`, without its (r).
pub(super) fn encode(operand: &Operand) -> u16 {
    let form = match operand.src {
        Src::Gpr(reg) => put(reg.0, 0) | put(operand.last, 10),
        Src::Const(index) => put(0b010u8, 11) | put(index & 0x7ff, 0),
        Src::RelativeGpr(offset) => put(0b001u8, 11) | put_signed(offset.into(), 0, 10),
        Src::RelativeConst(offset) => put(0b001u8, 11) | put(true, 10) | put_signed(offset.into(), 0, 10),
        Src::Immediate(value) => put(0b100u8, 11) | put_signed(value.into(), 0, 11),
        Src::Flut { index, half } => put(0b101u8, 11) | put(half, 10) | put(index, 0),
    };
    (form | put(operand.neg, 14) | put(operand.abs, 15)) as u16
}
