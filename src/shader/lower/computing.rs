//! Lowering of categories 1 to 4.
use a4emu_decoder::adreno::ir3::{
    Cat1, Cat1Dst, Cat1Op, Cat1Src, Cat2, Cat2Class, Cat2Op, Cat3, Cat3Class, Cat3Op, Cat4, Cond, Operand,
    Reg, Round, Type,
};
use a4emu_decoder::guesses::Guess;

use super::Lowerer;
use super::operands::{Bank, Numbers, step};
use crate::alu::Row;
use crate::builder;
use crate::doubt::When;
use crate::effect::{Effect, Exchange};
use crate::extra::Extra;
use crate::lowered::Uniform;
use crate::ops::{Destination, Op, Varying};
use crate::rowmap::{ADDRESS, ADDRESS_1, SINK};
use crate::rows::AluOp;

/// A computation on 32-bit sources. Its result may still need saturation and narrowing.
struct Computation<'a> {
    op: AluOp,
    sources: &'a [builder::Operand],
    cond: Cond,
    /// Width of integer sources.
    width: u32,
    /// Type of the result.
    numbers: Numbers,
    /// Whether (sat) applies to a float.
    saturate: bool,
}

impl Lowerer {
    pub(super) fn cat1(&mut self, instr: &Cat1) {
        match instr.op {
            Cat1Op::Mov => {}
            Cat1Op::Swz | Cat1Op::Gat | Cat1Op::Sct => return self.moves(instr),
            Cat1Op::Movmsk => return self.executing(instr),
        }
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let src = self.move_source(&instr.src, instr.src_type, repetition);
            self.move_to(instr, src, repetition);
        }
    }

    /// movmsk: the lanes of the wave that execute.
    fn executing(&mut self, instr: &Cat1) {
        let Cat1Dst::Reg(reg) = instr.dst else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        let [dst, last] = [0, instr.repeat].map(|n| self.destination_row(Bank::Full, step(reg, n)));
        if last != dst + Row::from(instr.repeat) {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        }
        self.builder.effect(Effect::Exchange(Exchange::Executing { dst, rows: instr.repeat + 1 }));
    }

    /// Several moves. All registers are read before one is written.
    fn moves(&mut self, instr: &Cat1) {
        let [from, to] = [instr.src_type, instr.dst_type].map(|ty| Bank::of(ty.is_half()));
        let moves = instr.pairs();
        let values = self.temporaries(moves.len() as Row);
        for (value, (_, src)) in (values..).zip(&moves) {
            let src = self.source_row(from, *src);
            self.convert(instr, value, src);
        }
        for (value, (dst, _)) in (values..).zip(&moves) {
            let row = self.destination_row(to, *dst);
            self.builder.alu(Extra::Copy, row, &[value.into()]);
            self.broadcast(row);
        }
    }

    /// The row with the bits of the source of a category 1 instruction.
    fn move_source(&mut self, src: &Cat1Src, ty: Type, repetition: u8) -> Row {
        let numbers = if ty.is_float() { Numbers::Float } else { Numbers::Bits };
        match src {
            Cat1Src::Operand(operand) => self.raw(operand, numbers, Bank::of(ty.is_half()), repetition),
            Cat1Src::Immediate(bits) => self.builder.uniform(Uniform::Bits(*bits)),
        }
    }

    fn move_to(&mut self, instr: &Cat1, src: Row, repetition: u8) {
        if instr.is_mova1() {
            self.a1 = match instr.src {
                Cat1Src::Immediate(value) => Some(value & 0xffff),
                Cat1Src::Operand(_) => None,
            };
        }
        let bank = Bank::of(instr.dst_type.is_half());
        match instr.dst {
            Cat1Dst::Reg(Reg::A1) if self.isa.has_shared() => {
                self.builder.alu(Extra::Copy, ADDRESS_1, &[src.into()])
            }
            Cat1Dst::Reg(Reg::A0) => self.builder.alu_narrow(Extra::Extend, ADDRESS, src, 16),
            Cat1Dst::Reg(reg) => {
                let row = self.destination_row(bank, step(reg, repetition));
                self.convert(instr, row, src);
                self.broadcast(row);
            }
            Cat1Dst::Relative(offset) => {
                let value = self.temporaries(1);
                self.convert(instr, value, src);
                let offset = i32::from(offset) + i32::from(repetition);
                self.builder.effect(Effect::Scatter { base: bank.base(), offset, src: value });
            }
        }
    }

    /// Converts `src` to `dst`, with the types and rounding of `instr`.
    fn convert(&mut self, instr: &Cat1, dst: Row, src: Row) {
        let (op, width) = conversion(instr.src_type, instr.dst_type, instr.round);
        self.builder.alu_narrow(op, dst, src, width);
    }

    pub(super) fn cat2(&mut self, instr: &Cat2) {
        let Some(numbers) = numbers_of(instr.op.class()) else {
            return self.effect2(instr);
        };
        let bank = Bank::of(instr.half);
        if instr.sat && !instr.op.class().is_float() && !instr.op.saturates() {
            self.builder.doubt(When::Always(Guess::SatIgnored));
        }
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let src1 = self.source(&instr.src1, numbers, bank, repetition);
            let src2 = instr.src2.as_ref().map(|src2| self.source(src2, numbers, bank, repetition));
            let sources = [src1, src2.unwrap_or(src1)];
            let computation = Computation {
                op: flagged(instr),
                sources: &sources[..1 + usize::from(src2.is_some())],
                cond: instr.cond.unwrap_or(Cond::Lt),
                width: if instr.half { 16 } else { 32 },
                numbers: if instr.cond.is_some() { Numbers::Bits } else { numbers },
                saturate: instr.sat && instr.op.class().is_float() && instr.cond.is_none(),
            };
            self.compute(&computation, step(instr.dst, repetition), instr.dst_half);
        }
    }

    /// Lowers category 2 operations without arithmetic.
    fn effect2(&mut self, instr: &Cat2) {
        match instr.op {
            Cat2Op::BaryF => self.bary(instr),
            op => self.builder.effect(Effect::Unsupported(op.name())),
        }
    }

    fn bary(&mut self, instr: &Cat2) {
        let bank = Bank::of(instr.half);
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let location = self.raw(&instr.src1, Numbers::Bits, Bank::Full, repetition);
            let first = instr.src2.unwrap_or_default();
            let [i, j] = [0, 1].map(|n| self.coordinate_source(&first, n, bank, repetition));
            let dst = Bank::of(instr.dst_half).destination(step(instr.dst, repetition));
            if dst == SINK {
                continue;
            }
            let varying = Op::Varying(Varying { location, i, j });
            self.builder.effect(Effect::Op(varying, Destination::row(dst)));
            if instr.sat {
                self.builder.alu(Extra::Saturate, dst, &[dst.into()]);
            }
            if instr.dst_half {
                self.builder.alu(Extra::FloatToHalf, dst, &[dst.into()]);
            }
        }
    }

    /// The `n`th register from `operand` on, as f32.
    fn coordinate_source(&mut self, operand: &Operand, n: u8, bank: Bank, repetition: u8) -> Row {
        let steps = n + if operand.step { repetition } else { 0 };
        let stepped = Operand { step: true, ..*operand };
        let raw = self.raw(&stepped, Numbers::Float, bank, steps);
        self.widen(raw, Numbers::Float, bank)
    }

    pub(super) fn cat3(&mut self, instr: &Cat3) {
        if let Some(ops) = shift_ops(instr.op) {
            return self.shift(instr, ops);
        }
        let Some((numbers, bank)) = shape_of(instr.op.class()) else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let sources = [instr.src1, instr.src2, instr.src3];
            let sources = sources.map(|operand| self.source(&operand, numbers, bank, repetition));
            let computation = Computation {
                op: instr.op.into(),
                sources: &sources,
                cond: Cond::Lt,
                width: if bank == Bank::Half { 16 } else { 32 },
                numbers,
                saturate: instr.sat && numbers == Numbers::Float,
            };
            self.compute(&computation, step(instr.dst, repetition), instr.dst_half);
        }
    }

    /// An operation of the second source with the first one, and one of its result with the third.
    fn shift(&mut self, instr: &Cat3, [first, second]: [Cat2Op; 2]) {
        let bank = Bank::of(instr.half);
        let width = if instr.half { 16 } else { 32 };
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let sources = [instr.src1, instr.src2, instr.src3];
            let [by, value, with] =
                sources.map(|operand| self.source(&operand, Numbers::Bits, bank, repetition));
            let shifted = self.temporaries(1);
            self.builder.alu_with(first, shifted, &[value, by], Cond::Lt, width);
            let computation = Computation {
                op: second.into(),
                sources: &[shifted.into(), with],
                cond: Cond::Lt,
                width,
                numbers: Numbers::Bits,
                saturate: false,
            };
            self.compute(&computation, step(instr.dst, repetition), instr.dst_half);
        }
    }

    pub(super) fn cat4(&mut self, instr: &Cat4) {
        for repetition in 0..=instr.repeat {
            self.used = 0;
            let source = self.source(&instr.src, Numbers::Float, Bank::of(instr.half), repetition);
            let computation = Computation {
                op: instr.op.into(),
                sources: &[source],
                cond: Cond::Lt,
                width: 32,
                numbers: Numbers::Float,
                saturate: instr.sat,
            };
            self.compute(&computation, step(instr.dst, repetition), instr.dst_half);
        }
    }

    /// Adds a computation with destination register `dst`, and saturates and narrows its result.
    fn compute(&mut self, computation: &Computation<'_>, dst: Reg, half: bool) {
        let bank = Bank::of(half);
        let row = self.destination_row(bank, dst);
        if row == SINK {
            return;
        }
        let Computation { op, sources, cond, width, numbers, saturate } = *computation;
        self.builder.alu_with(op, row, sources, cond, width);
        if saturate {
            self.builder.alu(Extra::Saturate, row, &[row.into()]);
        }
        let register = !dst.is_predicate() && !dst.is_address();
        match (bank, numbers) {
            (Bank::Half, Numbers::Float) if register => {
                self.builder.alu(Extra::FloatToHalf, row, &[row.into()])
            }
            (Bank::Half, Numbers::Uint | Numbers::Sint | Numbers::Bits) if register => self.cut(row, row),
            (Bank::Full, _) if register && width == 16 => {
                if let Some(extend) = widened(op) {
                    self.builder.alu_narrow(extend, row, row, 16);
                }
            }
            (Bank::Half, _) | (Bank::Full, _) => {}
        }
        self.broadcast(row);
    }
}

/// How the result of an operation on half registers becomes a full one. It has 16 bits first: Mesa turns an operation and a
/// conversion of its result into one (`ir3_cf.c`). `None` if no result needs more bits, and for products, which Mesa leaves out.
fn widened(op: AluOp) -> Option<Extra> {
    match op {
        AluOp::Cat2(Cat2Op::AddU | Cat2Op::SubU | Cat2Op::ShlB | Cat2Op::NotB) => Some(Extra::Cut),
        AluOp::Cat2(Cat2Op::AddS | Cat2Op::SubS | Cat2Op::AbsnegS) => Some(Extra::Extend),
        _ => None,
    }
}

/// The operation of `instr`, including (sat) and (ei) on integers.
fn flagged(instr: &Cat2) -> AluOp {
    match instr.op {
        op if instr.sat && op.saturates() => AluOp::Saturated(op),
        op if instr.end_input && op.halves() => AluOp::Halved(op),
        op => op.into(),
    }
}

/// The source type of a class. `None` for effects.
fn numbers_of(class: Cat2Class) -> Option<Numbers> {
    Some(match class {
        Cat2Class::Float2 | Cat2Class::Float1 | Cat2Class::CmpF => Numbers::Float,
        Cat2Class::Uint2 | Cat2Class::CmpU => Numbers::Uint,
        Cat2Class::Sint2 | Cat2Class::Sint1 | Cat2Class::CmpS => Numbers::Sint,
        Cat2Class::Bits2 | Cat2Class::Bits1 => Numbers::Bits,
        Cat2Class::Effect2 | Cat2Class::Effect1 => return None,
    })
}

/// The two operations of a shift or mask of A6xx (ir3-cat3.xml: shrm is `(src2 >> src1) & src3`).
fn shift_ops(op: Cat3Op) -> Option<[Cat2Op; 2]> {
    Some(match op {
        Cat3Op::Shrm => [Cat2Op::ShrB, Cat2Op::AndB],
        Cat3Op::Shlm => [Cat2Op::ShlB, Cat2Op::AndB],
        Cat3Op::Shrg => [Cat2Op::ShrB, Cat2Op::OrB],
        Cat3Op::Shlg => [Cat2Op::ShlB, Cat2Op::OrB],
        Cat3Op::Andg => [Cat2Op::AndB, Cat2Op::OrB],
        _ => return None,
    })
}

/// The source type of a class, and its register file. `None` for products of A6xx.
fn shape_of(class: Cat3Class) -> Option<(Numbers, Bank)> {
    Some(match class {
        Cat3Class::Float32 => (Numbers::Float, Bank::Full),
        Cat3Class::Float16 => (Numbers::Float, Bank::Half),
        Cat3Class::Uint32 => (Numbers::Uint, Bank::Full),
        Cat3Class::Uint16 => (Numbers::Uint, Bank::Half),
        Cat3Class::Sint32 => (Numbers::Sint, Bank::Full),
        Cat3Class::Sint16 => (Numbers::Sint, Bank::Half),
        Cat3Class::Bits32 => (Numbers::Bits, Bank::Full),
        Cat3Class::Bits16 => (Numbers::Bits, Bank::Half),
        Cat3Class::Shift | Cat3Class::Dot | Cat3Class::Matrix => return None,
    })
}

/// The operation that converts between two types, and its width. Conversions with their own row equal
/// [`AluOp::Convert`], and their loops vectorise.
fn conversion(from: Type, to: Type, round: Round) -> (AluOp, u32) {
    let plain = round == Round::Default;
    let (op, width) = match (from, to) {
        _ if from.bytes() == 4 && to.bytes() == 4 && from.is_float() == to.is_float() => (Extra::Copy, 32),
        (Type::U16, Type::U16) | (Type::S16, Type::S16) | (Type::F16, Type::F16) => (Extra::Copy, 32),
        (Type::U16, Type::U32 | Type::S32) => (Extra::Copy, 32),
        (Type::S16, Type::U32 | Type::S32) => (Extra::Extend, 16),
        (Type::U32 | Type::S32, Type::U16 | Type::S16) => (Extra::Cut, 16),
        (Type::F16, Type::F32) => (Extra::HalfToFloat, 32),
        (Type::U32 | Type::U16, Type::F32) if plain => (Extra::UintToFloat, 32),
        (Type::S32, Type::F32) if plain => (Extra::SintToFloat, 32),
        (Type::F32, Type::U32) if plain => (Extra::FloatToUint, 32),
        (Type::F32, Type::S32) if plain => (Extra::FloatToSint, 32),
        _ => return (AluOp::Convert(from, to, round), 32),
    };
    (op.into(), width)
}
