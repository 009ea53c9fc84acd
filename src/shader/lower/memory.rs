//! Lowering of category 6.
use a4emu_decoder::adreno::ir3::{Cat6, Cat6Class, Cat6Form, Cat6Op, Reg, RegOrImm, Type, View};

use super::Lowerer;
use super::operands::{Bank, step};
use crate::alu::Row;
use crate::effect::Effect;
use crate::extra::Extra;
use crate::lowered::Uniform;
use crate::ops::{
    Atomic, AtomicOp, AtomicPlace, Destination, Few, ImageAccess, ImageLayout, MemoryAccess, Number, Op,
    Precision, Space, Width,
};
use crate::rowmap::{REGISTERS, ZERO};

/// Most components of one effect.
const CHUNK: u8 = 4;

/// Operands of an access through a descriptor slot.
struct Through {
    view: View,
    slot: RegOrImm,
    address: RegOrImm,
    position: RegOrImm,
}

impl Lowerer {
    pub(super) fn cat6(&mut self, instr: &Cat6) {
        let ty = instr.ty;
        match instr.form {
            Cat6Form::Load { dst, address, offset, count } => {
                self.load(instr, dst, address, offset.into(), count)
            }
            Cat6Form::Store { value, address, offset, count } => {
                self.store(instr, value, address, offset.into(), count);
            }
            Cat6Form::Varying { dst, location, count } => self.varyings(ty, dst, location, count),
            Cat6Form::IndexedLoad { .. }
            | Cat6Form::IndexedStore { .. }
            | Cat6Form::LoadConstants { .. }
            | Cat6Form::StoreConstants { .. }
            | Cat6Form::AtomicGlobal { .. }
            | Cat6Form::Shuffle { .. }
            | Cat6Form::Descriptor(_)
            | Cat6Form::ConstantLoad { .. } => self.builder.effect(Effect::Unsupported(instr.op.name())),
            Cat6Form::BufferLoad { .. } if instr.op == Cat6Op::Ldib => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
            Cat6Form::BufferLoad { view, dst, slot, src1, src2 } => {
                let from = self.image(ty, &Through { view, slot, address: src1, position: src2 });
                let load = Op::ImageLoad { from, components: view.components.into() };
                self.ask(load, converted(ty, dst, view.components));
            }
            Cat6Form::BufferStore { view, slot, value, src2, src3 } => {
                let data = self.widened(ty, value, view.components);
                let to = self.image(ty, &Through { view, slot, address: src3, position: src2 });
                self.ask(Op::ImageStore { to, data }, Destination::NONE);
            }
            Cat6Form::AtomicLocal { dst, address, data, .. } => {
                let place = AtomicPlace::Local(self.reg_or_imm(address));
                self.atomic(instr, dst, data, place);
            }
            Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 } => {
                let through = Through { view, slot, address: RegOrImm::Reg(src3), position: src2 };
                let place = AtomicPlace::Image(self.image(ty, &through));
                self.atomic(instr, dst, data, place);
            }
            Cat6Form::Info { dst, slot, .. } => {
                let slot = self.reg_or_imm(slot);
                self.ask(Op::ImageSize { slot }, plain(ty, dst, 3));
            }
        }
    }

    /// Adds an operation of the environment.
    pub(super) fn ask(&mut self, op: Op<Row>, destination: Destination) {
        self.stored |= op.writes();
        self.builder.effect(Effect::Op(op, destination));
    }

    fn reg_or_imm(&mut self, operand: RegOrImm) -> Row {
        match operand {
            RegOrImm::Reg(reg) => Bank::Full.source(reg),
            RegOrImm::Immediate(value) => self.builder.uniform(Uniform::Bits(value.into())),
        }
    }

    /// `count` operands from `operand` on. After an immediate, they are zeros.
    fn few_reg_or_imm(&mut self, operand: RegOrImm, count: u8) -> Few<Row> {
        match operand {
            RegOrImm::Reg(reg) => Bank::Full.sources(reg, count),
            RegOrImm::Immediate(_) => {
                let mut rows = [ZERO; 4];
                rows[0] = self.reg_or_imm(operand);
                Few::new(&rows[..count.into()])
            }
        }
    }

    fn load(&mut self, instr: &Cat6, dst: Reg, address: Reg, offset: i32, count: u8) {
        for (first, components) in chunks(count) {
            let from = access(instr, address, offset, first);
            let destination = plain(instr.ty, step(dst, first), components);
            self.ask(Op::Load { from, components: components.into() }, destination);
        }
    }

    fn store(&mut self, instr: &Cat6, value: Reg, address: Reg, offset: i32, count: u8) {
        for (first, components) in chunks(count) {
            let data = Bank::of(instr.ty.is_half()).sources(step(value, first), components);
            self.ask(Op::Store { to: access(instr, address, offset, first), data }, Destination::NONE);
        }
    }

    fn varyings(&mut self, ty: Type, dst: Reg, location: u16, count: u8) {
        for (first, components) in chunks(count) {
            let location = u32::from(location) + u32::from(first);
            let op = Op::FlatVarying { location, components: components.into() };
            self.ask(op, converted(ty, step(dst, first), components));
        }
    }

    fn image(&mut self, ty: Type, through: &Through) -> ImageAccess<Row> {
        let View { typed, dims, .. } = through.view;
        let position = match through.position {
            RegOrImm::Reg(reg) => {
                let named = if dims == 4 { 1 } else { dims };
                std::array::from_fn(|axis| Bank::Full.source(step(reg, (axis as u8).min(named - 1))))
            }
            RegOrImm::Immediate(_) => [self.reg_or_imm(through.position), ZERO, ZERO],
        };
        ImageAccess {
            slot: self.reg_or_imm(through.slot),
            layout: if typed { ImageLayout::Typed } else { ImageLayout::Untyped },
            number: number(ty),
            address: self.reg_or_imm(through.address),
            position,
            dimensions: dims,
        }
    }

    /// `count` registers, widened to 32 bits.
    fn widened(&mut self, ty: Type, first: Reg, count: u8) -> Few<Row> {
        let sources = Bank::of(ty.is_half()).sources(first, count);
        let op = match number(ty) {
            _ if !ty.is_half() => return sources,
            Number::Float => Extra::HalfToFloat,
            Number::Uint => return sources,
            Number::Sint => Extra::Extend,
        };
        let wide = self.temporaries(count.into());
        for (row, &source) in (wide..).zip(sources.iter()) {
            self.builder.alu_narrow(op, row, source, 16);
        }
        Few::rows(wide, count)
    }

    fn atomic(&mut self, instr: &Cat6, dst: Reg, data: RegOrImm, place: AtomicPlace<Row>) {
        let Some(op) = atomic_op(instr.op) else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        let data = self.few_reg_or_imm(data, if op == AtomicOp::CompareExchange { 2 } else { 1 });
        let atomic = Atomic { place, op, number: number(instr.ty), data };
        self.ask(Op::Atomic(atomic), Destination::row(Bank::Full.destination(dst)));
    }
}

/// The destination of `components` in registers from `dst` on. Components without a register are lost.
pub(super) fn destination(bank: Bank, dst: Reg, components: u8, precision: Precision) -> Destination {
    let room = REGISTERS.saturating_sub(dst.0.into()).min(4);
    let first = bank.base().saturating_add(dst.0.into());
    Destination { first, components: components & ((1u8 << room) - 1), precision }
}

/// The destination of `count` registers of `ty` that take bits unchanged.
fn plain(ty: Type, dst: Reg, count: u8) -> Destination {
    destination(Bank::of(ty.is_half()), dst, (1u8 << count) - 1, Precision::Full)
}

/// The destination of `count` registers of `ty` that take converted 32-bit values.
fn converted(ty: Type, dst: Reg, count: u8) -> Destination {
    destination(Bank::of(ty.is_half()), dst, (1u8 << count) - 1, precision(ty))
}

/// The conversion of 32-bit values for registers of `ty`.
pub(super) fn precision(ty: Type) -> Precision {
    match (ty.is_half(), ty.is_float()) {
        (false, _) => Precision::Full,
        (true, true) => Precision::HalfFloat,
        (true, false) => Precision::HalfInteger,
    }
}

/// Splits `count` components into groups that one effect can move: first component and number.
fn chunks(count: u8) -> impl Iterator<Item = (u8, u8)> {
    (0..count).step_by(CHUNK.into()).map(move |first| (first, CHUNK.min(count - first)))
}

/// The address of the components from `first` on.
fn access(instr: &Cat6, address: Reg, offset: i32, first: u8) -> MemoryAccess<Row> {
    let width = match instr.ty.bytes() {
        1 => Width::Byte,
        2 => Width::Half,
        _ => Width::Word,
    };
    MemoryAccess {
        space: space(instr.op),
        address: Bank::Full.source(address),
        offset: offset + i32::from(first) * width.bytes() as i32,
        width,
    }
}

fn space(op: Cat6Op) -> Space {
    match (op, op.class()) {
        (Cat6Op::Ldlw | Cat6Op::Stlw, _) => Space::Stage,
        (_, Cat6Class::LoadLocal | Cat6Class::StoreLocal) => Space::Local,
        (_, Cat6Class::LoadPrivate | Cat6Class::StorePrivate) => Space::Private,
        (_, Cat6Class::LoadGlobal | Cat6Class::StoreGlobal | Cat6Class::Varying) => Space::Global,
        (_, Cat6Class::BufferLoad | Cat6Class::BufferStore | Cat6Class::ConstantLoad) => Space::Global,
        (_, Cat6Class::Atomic | Cat6Class::Info | Cat6Class::Base) => Space::Global,
        (_, Cat6Class::StoreConstants | Cat6Class::Shuffle | Cat6Class::Identity) => Space::Global,
    }
}

pub(super) fn number(ty: Type) -> Number {
    match ty {
        Type::F16 | Type::F32 => Number::Float,
        Type::U8 | Type::U8Wide | Type::U16 | Type::U32 => Number::Uint,
        Type::S16 | Type::S32 => Number::Sint,
    }
}

fn atomic_op(op: Cat6Op) -> Option<AtomicOp> {
    Some(match op {
        Cat6Op::AtomicAdd => AtomicOp::Add,
        Cat6Op::AtomicSub => AtomicOp::Sub,
        Cat6Op::AtomicXchg => AtomicOp::Exchange,
        Cat6Op::AtomicInc => AtomicOp::Increment,
        Cat6Op::AtomicDec => AtomicOp::Decrement,
        Cat6Op::AtomicCmpxchg => AtomicOp::CompareExchange,
        Cat6Op::AtomicMin => AtomicOp::Min,
        Cat6Op::AtomicMax => AtomicOp::Max,
        Cat6Op::AtomicAnd => AtomicOp::And,
        Cat6Op::AtomicOr => AtomicOp::Or,
        Cat6Op::AtomicXor => AtomicOp::Xor,
        Cat6Op::Ldg | Cat6Op::Ldl | Cat6Op::Ldp | Cat6Op::Stg | Cat6Op::Stl | Cat6Op::Stp => return None,
        Cat6Op::Ldib | Cat6Op::Ldlw | Cat6Op::Stlw | Cat6Op::Resinfo => return None,
        Cat6Op::Ldgb | Cat6Op::Stgb | Cat6Op::Stib | Cat6Op::Ldc | Cat6Op::Ldlv => return None,
        Cat6Op::Resbase | Cat6Op::Getspid | Cat6Op::Getwid | Cat6Op::Getfiberid => return None,
        Cat6Op::Shfl | Cat6Op::Stc => return None,
    })
}
