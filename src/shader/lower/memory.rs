//! Category 6.
use a4emu_decoder::isa::ir3::{Cat6, Cat6Class, Cat6Form, Cat6Op, Reg, RegOrImm, Type, View};

use super::Lowerer;
use super::operands::{Bank, step};
use crate::shader::alu::Row;
use crate::shader::effect::{Access, Atomic, AtomicPlace, Effect, Image};
use crate::shader::environment::{AtomicOp, ImageLayout, Number, Space, Width};
use crate::shader::extra::Extra;
use crate::shader::program::Uniform;
use crate::shader::rowmap::{REGISTERS, ZERO};

/// Components that one effect moves at most.
const CHUNK: u8 = 4;

/// Operands of an access through a slot.
struct Through {
    view: View,
    slot: RegOrImm,
    address: RegOrImm,
    position: RegOrImm,
}

impl Lowerer {
    pub(super) fn cat6(&mut self, instr: &Cat6) {
        match instr.form {
            Cat6Form::Load { dst, address, offset, count } => {
                self.load(instr, dst, address, offset.into(), count)
            }
            Cat6Form::Store { value, address, offset, count } => {
                self.stored = true;
                self.store(instr, value, address, offset.into(), count);
            }
            Cat6Form::Varying { dst, location, count } => self.varyings(instr.ty, dst, location, count),
            Cat6Form::BufferLoad { .. } if instr.op == Cat6Op::Ldib => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
            Cat6Form::BufferLoad { view, dst, slot, src1, src2 } => {
                self.buffer_load(instr.ty, dst, &Through { view, slot, address: src1, position: src2 });
            }
            Cat6Form::BufferStore { view, slot, value, src2, src3 } => {
                self.stored = true;
                self.buffer_store(instr.ty, value, &Through { view, slot, address: src3, position: src2 });
            }
            Cat6Form::AtomicLocal { dst, address, data, .. } => self.atomic_local(instr, dst, address, data),
            Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 } => {
                let through = Through { view, slot, address: RegOrImm::Reg(src3), position: src2 };
                self.atomic_slot(instr, dst, data, &through);
            }
            Cat6Form::Info { dst, slot, .. } => {
                let (dst, slot) = (self.result(Bank::of(instr.ty.is_half()), dst, 3), self.reg_or_imm(slot));
                self.builder.effect(Effect::ImageSize { dst, slot });
            }
        }
    }

    /// Rows that `count` components are written to: registers, or, where there
    /// are none, temporaries.
    pub(super) fn result(&mut self, bank: Bank, dst: Reg, count: u8) -> Row {
        match Row::from(dst.0) + Row::from(count) <= REGISTERS {
            true => bank.base() + Row::from(dst.0),
            false => self.temporaries(count.into()),
        }
    }

    /// Rows that `count` components are read from.
    pub(super) fn registers(&mut self, bank: Bank, first: Reg, count: u8) -> Row {
        if Row::from(first.0) + Row::from(count) <= REGISTERS {
            return bank.base() + Row::from(first.0);
        }
        let rows: Vec<Row> = (0..count).map(|n| bank.source(step(first, n))).collect();
        let copy = self.temporaries(count.into());
        self.builder.copies(copy, &rows);
        copy
    }

    fn reg_or_imm(&mut self, operand: RegOrImm) -> Row {
        match operand {
            RegOrImm::Reg(reg) => Bank::Full.source(reg),
            RegOrImm::Immediate(value) => self.builder.uniform(Uniform::Bits(value.into())),
        }
    }

    fn load(&mut self, instr: &Cat6, dst: Reg, address: Reg, offset: i32, count: u8) {
        let bank = Bank::of(instr.ty.is_half());
        for (first, components) in chunks(count) {
            self.used = 0;
            let data = self.result(bank, step(dst, first), components);
            self.builder.effect(Effect::Load(access(instr, data, address, offset, first, components)));
        }
    }

    fn store(&mut self, instr: &Cat6, value: Reg, address: Reg, offset: i32, count: u8) {
        let bank = Bank::of(instr.ty.is_half());
        for (first, components) in chunks(count) {
            self.used = 0;
            let data = self.registers(bank, step(value, first), components);
            self.builder.effect(Effect::Store(access(instr, data, address, offset, first, components)));
        }
    }

    fn varyings(&mut self, ty: Type, dst: Reg, location: u16, count: u8) {
        for (first, components) in chunks(count) {
            self.used = 0;
            let dst = self.result(Bank::of(ty.is_half()), step(dst, first), components);
            let location = u32::from(location) + u32::from(first);
            self.builder.effect(Effect::FlatVarying { dst, location, components });
            if ty.is_half() {
                (dst..).take(components.into()).for_each(|row| self.narrow(ty, row, row));
            }
        }
    }

    /// The row of a 32-bit value made the content of a half register.
    fn narrow(&mut self, ty: Type, dst: Row, src: Row) {
        match ty.is_float() {
            true => self.builder.alu(Extra::FloatToHalf, dst, &[src.into()]),
            false => self.cut(dst, src),
        }
    }

    fn image(&mut self, ty: Type, data: Row, through: &Through) -> Image {
        let View { typed, dims, components } = through.view;
        let position = match through.position {
            RegOrImm::Reg(reg) => self.registers(Bank::Full, reg, if dims == 4 { 1 } else { dims }),
            RegOrImm::Immediate(_) => {
                let row = self.reg_or_imm(through.position);
                let copies = self.temporaries(3);
                self.builder.copies(copies, &[row, ZERO, ZERO]);
                copies
            }
        };
        Image {
            data,
            slot: self.reg_or_imm(through.slot),
            address: self.reg_or_imm(through.address),
            position,
            layout: if typed { ImageLayout::Typed } else { ImageLayout::Untyped },
            number: number(ty),
            dimensions: dims,
            components,
        }
    }

    fn buffer_load(&mut self, ty: Type, dst: Reg, through: &Through) {
        let components = through.view.components;
        let dst = self.result(Bank::of(ty.is_half()), dst, components);
        let image = self.image(ty, dst, through);
        self.builder.effect(Effect::ImageLoad(image));
        if ty.is_half() {
            (dst..).take(components.into()).for_each(|row| self.narrow(ty, row, row));
        }
    }

    fn buffer_store(&mut self, ty: Type, value: Reg, through: &Through) {
        let components = through.view.components;
        let mut data = self.registers(Bank::of(ty.is_half()), value, components);
        if ty.is_half() {
            data = self.widened(ty, data, components);
        }
        let image = self.image(ty, data, through);
        self.builder.effect(Effect::ImageStore(image));
    }

    /// Temporaries with the 32-bit forms of `count` half registers.
    fn widened(&mut self, ty: Type, first: Row, count: u8) -> Row {
        let wide = self.temporaries(count.into());
        let op = match number(ty) {
            Number::Float => Extra::HalfToFloat,
            Number::Uint => Extra::Copy,
            Number::Sint => Extra::Extend,
        };
        for n in 0..Row::from(count) {
            self.builder.alu_narrow(op, wide + n, first + n, 16);
        }
        wide
    }

    fn atomic_local(&mut self, instr: &Cat6, dst: Reg, address: RegOrImm, data: RegOrImm) {
        let view = View { typed: false, dims: 1, components: 1 };
        let nothing = RegOrImm::Immediate(0);
        self.atomic(
            instr,
            dst,
            data,
            &Through { view, slot: nothing, address, position: nothing },
            AtomicPlace::Local,
        );
    }

    fn atomic_slot(&mut self, instr: &Cat6, dst: Reg, data: RegOrImm, through: &Through) {
        self.atomic(instr, dst, data, through, AtomicPlace::Image);
    }

    fn atomic(&mut self, instr: &Cat6, dst: Reg, data: RegOrImm, through: &Through, place: AtomicPlace) {
        let Some(op) = atomic_op(instr.op) else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        self.stored = true;
        let data = match data {
            RegOrImm::Reg(reg) => {
                self.registers(Bank::Full, reg, if op == AtomicOp::CompareExchange { 2 } else { 1 })
            }
            RegOrImm::Immediate(_) => {
                let row = self.reg_or_imm(data);
                let copies = self.temporaries(2);
                self.builder.copies(copies, &[row, ZERO]);
                copies
            }
        };
        let image = self.image(instr.ty, data, through);
        let dst = Bank::Full.destination(dst);
        self.builder.effect(Effect::Atomic(Atomic { image, place, op, dst }));
    }
}

/// `count` components in groups that one effect can move: first and how many.
fn chunks(count: u8) -> impl Iterator<Item = (u8, u8)> {
    (0..count).step_by(CHUNK.into()).map(move |first| (first, CHUNK.min(count - first)))
}

fn access(instr: &Cat6, data: Row, address: Reg, offset: i32, first: u8, components: u8) -> Access {
    Access {
        space: space(instr.op),
        data,
        address: Bank::Full.source(address),
        offset: offset + i32::from(first) * instr.ty.bytes() as i32,
        width: match instr.ty.bytes() {
            1 => Width::Byte,
            2 => Width::Half,
            _ => Width::Word,
        },
        components,
    }
}

fn space(op: Cat6Op) -> Space {
    match (op, op.class()) {
        (Cat6Op::Ldlw | Cat6Op::Stlw, _) => Space::Stage,
        (_, Cat6Class::LoadLocal | Cat6Class::StoreLocal) => Space::Local,
        (_, Cat6Class::LoadPrivate | Cat6Class::StorePrivate) => Space::Private,
        (_, Cat6Class::LoadGlobal | Cat6Class::StoreGlobal | Cat6Class::Varying) => Space::Global,
        (_, Cat6Class::BufferLoad | Cat6Class::BufferStore | Cat6Class::Atomic | Cat6Class::Info) => {
            Space::Global
        }
    }
}

pub(super) fn number(ty: Type) -> Number {
    match ty {
        Type::F16 | Type::F32 => Number::Float,
        Type::U8 | Type::U16 | Type::U32 => Number::Uint,
        Type::S8 | Type::S16 | Type::S32 => Number::Sint,
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
        Cat6Op::Ldgb | Cat6Op::Stgb | Cat6Op::Stib | Cat6Op::Ldlv => return None,
    })
}
