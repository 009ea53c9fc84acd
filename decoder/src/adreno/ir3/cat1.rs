//! Category 1: move and convert (ir3-cat1.xml).
//!
//! ```text
//! 31:0 SRC (immediate; or 10:0 constant; or 7:0 register; or 11 = 1: relative)  39:32 DST
//! 41:40 repeat  43 SRC (r)  48:46 DST_TYPE  49 DST_REL  52:50 SRC_TYPE
//! 53 constant  54 immediate  56:55 rounding  58:57 opcode
//! swz, gat, sct: 41:40 which of them; registers in 7:0, 15:8, 23:16, 31:24 and 39:32
//! ```
use super::bits::{bit, field, put};
use super::isa::Isa;
use super::multisrc;
use super::operand::{Operand, Reg, Round, Src, Type};
use super::rows::opcodes;

/// The effect of a category-1 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat1Class {
    /// Copy or convert one value: [`super::convert::convert`] is the semantics.
    Move,
    /// Copy or convert values of several registers; all are read before one is written.
    Moves,
    /// Write the wave's execution mask, 32 lanes for each repeat.
    Mask,
}

/// Category 1 rows: `{ opcode, Variant, "mnemonic", Class }`. `mov`, `cov`,
/// `mova` and `mova1` are one op with different types and destinations. Opcode 2 has bits 41:40 above it.
#[macro_export]
macro_rules! for_each_cat1 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Mov, "mov", Move }
            { 0x02, Swz, "swz" since A5xx, Moves }
            { 0x12, Gat, "gat" since A5xx, Moves }
            { 0x22, Sct, "sct" since A5xx, Moves }
            { 3, Movmsk, "movmsk", Mask }
        }
    };
}

for_each_cat1!(
    opcodes,
    /// The ops of category 1.
    Cat1Op,
    Cat1Class
);

/// A destination, direct or indexed by `a0.x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat1Dst {
    /// A register.
    Reg(Reg),
    /// `r<a0.x + offset>`, in scalar registers.
    Relative(u8),
}

/// A source of category 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat1Src {
    /// A register or constant, direct or relative; only `step` and `last` apply.
    Operand(Operand),
    /// The raw bits of an immediate (16 of them for f16 and s16).
    Immediate(u32),
}

/// An instruction of category 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat1 {
    /// The op.
    pub op: Cat1Op,
    /// Type of the result. It decides whether `dst` is a half register.
    pub dst_type: Type,
    /// Type of the source. It decides whether the source is a half register.
    pub src_type: Type,
    /// Rounding of a conversion.
    pub round: Round,
    /// (rptN): repeat N more times. For `movmsk`, the number of 32-lane words minus 1.
    pub repeat: u8,
    /// Destination.
    pub dst: Cat1Dst,
    /// Source; an immediate 0 for `movmsk`, which has none.
    pub src: Cat1Src,
    /// The further registers of swz (second source, second destination), gat (sources 2 to 4) and sct
    /// (destinations 2 to 4); r0.x for other ops.
    pub more: [Reg; 3],
    /// (r) of mova with an immediate: not a repeat, but a way around hazards (ir3-cat1.xml, `mov-immed`).
    pub hold: bool,
}

/// Whether a register of this type is a half register in category 1. From A5xx on `u8_32` is one, as Mesa prints
/// it; no word of a compiler with it is known (guess: its value is in the low 8 bits).
pub(super) fn is_half(isa: Isa, ty: Type) -> bool {
    ty.is_half() || isa.is_strict() && ty == Type::U8Wide
}

impl Cat1Op {
    /// The bits that are 0 in each word of the op.
    const fn zeros(self) -> u64 {
        const SAME: u64 = 1 << 42;
        const FORM: u64 = 3 << 53;
        match self {
            Self::Mov => SAME,
            Self::Swz => SAME | FORM | 1 << 43 | 1 << 49 | 0xff << 24,
            Self::Gat | Self::Sct => SAME | FORM | 1 << 43 | 1 << 49,
            Self::Movmsk => SAME | FORM | 1 << 43 | 0xffff_ffff,
        }
    }
}

impl Cat1 {
    /// Decodes `word`; `None` if a field has no meaning in the generation.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let opcode = field(word, 57, 2);
        let kind = if opcode == 2 { field(word, 40, 2) << 4 } else { 0 };
        let op = Cat1Op::from_bits((opcode | kind) as u8).filter(|op| op.is_in(isa))?;
        if isa.is_strict() && !is_exact(op, word) {
            return None;
        }
        let dst = field(word, 32, 8) as u8;
        let mut src_type = Type::from_bits(field(word, 50, 3) as u8)?;
        let mut dst_type = Type::from_bits(field(word, 46, 3) as u8)?;
        let mut round = Round::from_bits(field(word, 55, 2) as u8)?;
        let src = match op {
            Cat1Op::Mov => source(word, src_type)?,
            Cat1Op::Swz | Cat1Op::Gat | Cat1Op::Sct => {
                let src = Src::Gpr(Reg(field(word, 0, 8) as u8));
                Cat1Src::Operand(Operand { src, ..Operand::default() })
            }
            Cat1Op::Movmsk => {
                (src_type, dst_type, round) = (Type::U32, Type::U32, Round::Default);
                Cat1Src::Immediate(0)
            }
        };
        let dst = match bit(word, 49) {
            true => Cat1Dst::Relative(dst),
            false => Cat1Dst::Reg(Reg(dst)),
        };
        let (repeat, more) = match op.class() {
            Cat1Class::Moves => (0, [8, 16, 24].map(|lo| Reg(field(word, lo, 8) as u8))),
            Cat1Class::Move | Cat1Class::Mask => (field(word, 40, 2) as u8, [Reg(0); 3]),
        };
        let mut instr = Self { op, dst_type, src_type, round, repeat, dst, src, more, hold: false };
        instr.hold = isa.has_nops() && bit(word, 43) && instr.can_hold();
        Some(instr)
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let (relative, dst) = match self.dst {
            Cat1Dst::Relative(offset) => (true, offset),
            Cat1Dst::Reg(reg) => (false, reg.0),
        };
        let source = match self.op {
            Cat1Op::Mov | Cat1Op::Swz | Cat1Op::Gat | Cat1Op::Sct => source_bits(&self.src),
            Cat1Op::Movmsk => 0,
        };
        let [second, third, fourth] = self.more;
        put(1u8, 61)
            | put(self.op.bits() & 3, 57)
            | put(self.op.bits() >> 4, 40)
            | put(second.0, 8)
            | put(third.0, 16)
            | put(fourth.0, 24)
            | put(self.hold && self.can_hold(), 43)
            | put(self.round as u8, 55)
            | put(self.src_type as u8, 50)
            | put(relative, 49)
            | put(self.dst_type as u8, 46)
            | put(self.repeat & 3, 40)
            | put(dst, 32)
            | source
    }

    /// Whether the instruction is `mova a0.x`, which loads the address register.
    pub fn is_mova(&self) -> bool {
        self.writes_address(Reg::A0, Type::S16)
    }

    /// Whether the instruction is `mova1 a1.x`.
    pub fn is_mova1(&self) -> bool {
        self.writes_address(Reg::A1, Type::U16)
    }

    /// The moves of swz, gat or sct, each from the second register to the first; none for other ops.
    pub fn pairs(&self) -> Vec<(Reg, Reg)> {
        let (Cat1Dst::Reg(dst), Cat1Src::Operand(Operand { src: Src::Gpr(src), .. })) = (self.dst, self.src)
        else {
            return Vec::new();
        };
        let [a, b, c] = self.more;
        let behind = |first: Reg| std::array::from_fn::<_, 4, _>(|n| Reg(first.0.wrapping_add(n as u8)));
        match self.op {
            Cat1Op::Swz => vec![(dst, src), (b, a)],
            Cat1Op::Gat => behind(dst).into_iter().zip([src, a, b, c]).collect(),
            Cat1Op::Sct => [dst, a, b, c].into_iter().zip(behind(src)).collect(),
            Cat1Op::Mov | Cat1Op::Movmsk => Vec::new(),
        }
    }

    /// The destinations and the sources that the text of swz, gat or sct names, in order.
    pub(super) fn moved(&self) -> [[Option<Reg>; 4]; 2] {
        let dst = match self.dst {
            Cat1Dst::Reg(reg) => Some(reg),
            Cat1Dst::Relative(_) => None,
        };
        let src = match self.src {
            Cat1Src::Operand(Operand { src: Src::Gpr(reg), .. }) => Some(reg),
            _ => None,
        };
        let [a, b, c] = self.more.map(Some);
        match self.op {
            Cat1Op::Swz => [[dst, b, None, None], [src, a, None, None]],
            Cat1Op::Gat => [[dst, None, None, None], [src, a, b, c]],
            Cat1Op::Sct => [[dst, a, b, c], [src, None, None, None]],
            Cat1Op::Mov | Cat1Op::Movmsk => [[dst, None, None, None], [src, None, None, None]],
        }
    }

    /// Whether (r) of the instruction is [`Self::hold`].
    fn can_hold(&self) -> bool {
        matches!(self.src, Cat1Src::Immediate(_)) && (self.is_mova() || self.is_mova1())
    }

    fn writes_address(&self, reg: Reg, ty: Type) -> bool {
        self.dst == Cat1Dst::Reg(reg) && self.src_type == ty && self.dst_type == ty
    }
}

/// Whether the word has the fixed bits of its form.
fn is_exact(op: Cat1Op, word: u64) -> bool {
    let above = match (op, field(word, 53, 2)) {
        (Cat1Op::Mov, 0b00) if bit(word, 11) => 12,
        (Cat1Op::Mov, 0b00 | 0b01) => 11,
        _ => 32,
    };
    let types = op != Cat1Op::Movmsk || (field(word, 46, 3), field(word, 50, 3)) == (3, 3);
    word & op.zeros() == 0 && types && field(word, above, 32 - above) == 0
}

fn source(word: u64, ty: Type) -> Option<Cat1Src> {
    let src = match field(word, 53, 2) {
        0b00 if bit(word, 11) => multisrc::relative(word),
        0b00 if field(word, 8, 2) == 0 => Src::Gpr(Reg(field(word, 0, 8) as u8)),
        0b01 => Src::Const(field(word, 0, 11) as u16),
        0b10 => return Some(Cat1Src::Immediate(immediate(word, ty))),
        _ => return None,
    };
    let last = matches!(src, Src::Gpr(_)) && bit(word, 10);
    Some(Cat1Src::Operand(Operand { src, step: bit(word, 43), last, ..Operand::default() }))
}

/// The bits of an immediate that text shows: 16 for f16 and s16, 32 for any other type.
fn immediate(word: u64, ty: Type) -> u32 {
    let width = if matches!(ty, Type::F16 | Type::S16) { 16 } else { 32 };
    field(word, 0, width) as u32
}

fn source_bits(src: &Cat1Src) -> u64 {
    let operand = match src {
        Cat1Src::Immediate(bits) => return put(*bits, 0) | put(0b10u8, 53),
        Cat1Src::Operand(operand) => operand,
    };
    let form = match operand.src {
        Src::Const(index) => put(index & 0x7ff, 0) | put(0b01u8, 53),
        _ => put(multisrc::encode(operand) & 0x0fff, 0),
    };
    form | put(operand.step, 43)
}
