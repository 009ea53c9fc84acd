//! Lowering of category 6.
use a4emu_decoder::adreno::ir3::{
    Cat6, Cat6Class, Cat6Form, Cat6Op, ConstantTarget, Descriptor, DescriptorMode, Isa, Reg, RegOrImm,
    ShuffleMode, Through, Type, View,
};
use a4emu_decoder::guesses::Guess;

use super::Lowerer;
use super::operands::{Bank, step};
use crate::alu::Row;
use crate::doubt::When;
use crate::effect::{Effect, Exchange};
use crate::extra::Extra;
use crate::lowered::Uniform;
use crate::ops::{
    Atomic, AtomicOp, AtomicPlace, ConstantValues, ConstantWrite, Destination, Few, ImageAccess, ImageLayout,
    Index, MemoryAccess, Number, Op, Precision, Space, UniformLoad, Width,
};
use crate::rowmap::{ADDRESS_1, REGISTERS, ZERO};

/// Most components of one effect.
const CHUNK: u8 = 4;

/// Operands of an access through a slot of an A4xx.
struct Slot {
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
                let from = self.access(instr, address, offset.into());
                self.load(instr, dst, from, count)
            }
            Cat6Form::Store { value, address, offset, count } => {
                let to = self.access(instr, address, offset.into());
                self.store(instr, value, to, count);
            }
            Cat6Form::Varying { dst, location, count } => self.varyings(ty, dst, location, count),
            // The index is signed (guess `global-index`).
            Cat6Form::IndexedLoad { dst, address, index, shift, offset, count } => {
                self.builder.doubt(When::Always(Guess::GlobalIndex));
                let index = Some(Index { value: Bank::Full.source(index), shift });
                let from = MemoryAccess { index, ..self.access(instr, address, 4 * i32::from(offset)) };
                self.load(instr, dst, from, count);
            }
            Cat6Form::IndexedStore { value, address, index, shift, offset, count } => {
                self.builder.doubt(When::Always(Guess::GlobalIndex));
                let index = Some(Index { value: Bank::Full.source(index), shift });
                let to = MemoryAccess { index, ..self.access(instr, address, 4 * i32::from(offset)) };
                self.store(instr, value, to, count);
            }
            Cat6Form::AtomicGlobal { dst, address: RegOrImm::Reg(address), data, .. } => {
                let place =
                    AtomicPlace::Global([address, step(address, 1)].map(|reg| Bank::Full.source(reg)));
                self.atomic(instr, dst, data, place);
            }
            Cat6Form::Descriptor(descriptor) => self.descriptor(instr, &descriptor),
            Cat6Form::LoadConstants { target, address, offset, count } => {
                let from = self.access(instr, address, offset.into());
                self.constants(target, ConstantValues::Global(from, count.into()));
            }
            Cat6Form::StoreConstants { target, value, count } if !ty.is_half() && count <= CHUNK => {
                self.constants(target, ConstantValues::Rows(Bank::Full.sources(value, count.max(1))));
            }
            Cat6Form::Shuffle { mode, dst, src, fiber } => {
                if matches!(mode, ShuffleMode::Up | ShuffleMode::Down | ShuffleMode::Xor) {
                    self.builder.doubt(When::Always(Guess::WaveOutside));
                }
                let bank = Bank::of(ty.is_half());
                let (dst, src, by) =
                    (bank.destination(dst), self.source_row(bank, src), self.reg_or_imm(fiber));
                self.builder.effect(Effect::Exchange(Exchange::Shuffle { mode, dst, src, by }));
            }
            Cat6Form::StoreConstants { .. }
            | Cat6Form::AtomicGlobal { .. }
            | Cat6Form::ConstantLoad { .. } => self.builder.effect(Effect::Unsupported(instr.op.name())),
            Cat6Form::BufferLoad { .. } if instr.op == Cat6Op::Ldib => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
            Cat6Form::BufferLoad { view, dst, slot, src1, src2 } => {
                let from = self.image(ty, &Slot { view, slot, address: src1, position: src2 });
                let load = Op::ImageLoad { from, components: view.components.into() };
                self.ask(load, converted(ty, dst, view.components));
            }
            Cat6Form::BufferStore { view, slot, value, src2, src3 } => {
                let data = self.widened(ty, value, view.components);
                let to = self.image(ty, &Slot { view, slot, address: src3, position: src2 });
                self.ask(Op::ImageStore { to, data }, Destination::NONE);
            }
            Cat6Form::AtomicLocal { dst, address, data, .. } => {
                let place = AtomicPlace::Local(self.reg_or_imm(address));
                self.atomic(instr, dst, data, place);
            }
            Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 } => {
                let through = Slot { view, slot, address: RegOrImm::Reg(src3), position: src2 };
                let place = AtomicPlace::Image(self.image(ty, &through));
                self.atomic(instr, dst, data, place);
            }
            Cat6Form::Info { dst, slot, .. } => {
                let slot = self.reg_or_imm(slot);
                self.ask(Op::ImageSize { base: None, slot, dimensions: 3 }, plain(ty, dst, 3));
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
            RegOrImm::Reg(reg) => self.source_row(Bank::Full, reg),
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

    fn load(&mut self, instr: &Cat6, dst: Reg, from: MemoryAccess<Row>, count: u8) {
        for (first, components) in chunks(count) {
            let from = component(from, first);
            let destination = plain(instr.ty, step(dst, first), components);
            self.ask(Op::Load { from, components: components.into() }, destination);
        }
    }

    fn store(&mut self, instr: &Cat6, value: Reg, to: MemoryAccess<Row>, count: u8) {
        for (first, components) in chunks(count) {
            let data = Bank::of(instr.ty.is_half()).sources(step(value, first), components);
            self.ask(Op::Store { to: component(to, first), data }, Destination::NONE);
        }
    }

    /// The address of component 0. Addresses of global memory have 64 bits from A5xx on, in two registers.
    fn access(&self, instr: &Cat6, address: Reg, offset: i32) -> MemoryAccess<Row> {
        let space = space(instr.op);
        let is_wide = space == Space::Global && self.isa >= Isa::A5xx;
        let high = is_wide.then(|| Bank::Full.source(step(address, 1)));
        let address = Bank::Full.source(address);
        MemoryAccess { space, address, high, index: None, offset, width: width(instr.ty) }
    }

    /// Accesses through a descriptor, from A6xx on.
    fn descriptor(&mut self, instr: &Cat6, descriptor: &Descriptor) {
        let ty = instr.ty;
        match *descriptor {
            Descriptor::Load { view, dst, coordinates, offset, through } => {
                let from = self.described(ty, view, coordinates, offset, through);
                let load = Op::ImageLoad { from, components: view.components.into() };
                self.ask(load, converted(ty, dst, view.components));
            }
            Descriptor::Store { view, value, coordinates, offset, through } => {
                let data = self.widened(ty, value, view.components);
                let to = self.described(ty, view, coordinates, offset, through);
                self.ask(Op::ImageStore { to, data }, Destination::NONE);
            }
            Descriptor::Atomic { view, data, coordinates, through } => {
                let place = AtomicPlace::Image(self.described(ty, view, coordinates, 0, through));
                self.atomic(instr, data, RegOrImm::Reg(step(data, 1)), place);
            }
            Descriptor::Info { view, dst, through } if instr.op == Cat6Op::Resinfo => {
                let (base, slot) = (through.base, self.slot(through));
                self.ask(Op::ImageSize { base, slot, dimensions: view.dims }, plain(ty, dst, 3));
            }
            Descriptor::Uniforms { components, offset, shared: false, dst, src1, through } => {
                let vector = self.reg_or_imm(src1);
                let (base, block) = (through.base, self.slot(through));
                let load = UniformLoad { base, block, vector, component: offset, components };
                self.ask(Op::UniformLoad(load), plain(ty, dst, components));
            }
            Descriptor::ToConstants { count, src1, through } => {
                let vector = self.reg_or_imm(src1);
                let (base, block) = (through.base, self.slot(through));
                let from = UniformLoad { base, block, vector, component: 0, components: 4 };
                let target = ConstantTarget { offset: 0, a1: true };
                self.constants(target, ConstantValues::Block(from, count));
            }
            Descriptor::Identity { dst } if instr.op == Cat6Op::Getfiberid => {
                let dst = Bank::Full.destination(dst);
                self.builder.effect(Effect::Exchange(Exchange::Number { dst }));
            }
            Descriptor::Info { .. } | Descriptor::Uniforms { .. } | Descriptor::Identity { .. } => {
                self.builder.effect(Effect::Unsupported(instr.op.name()))
            }
        }
    }

    /// Adds a write of constants.
    fn constants(&mut self, target: ConstantTarget, values: ConstantValues) {
        let (offset, a1) = (target.offset.into(), target.a1.then_some(ADDRESS_1));
        self.builder.effect(Effect::Constants(Box::new(ConstantWrite { offset, a1, values })));
    }

    /// The slot of a descriptor.
    fn slot(&mut self, through: Through) -> Row {
        match through.mode {
            DescriptorMode::Immediate => self.builder.uniform(Uniform::Bits(through.slot.into())),
            DescriptorMode::Uniform | DescriptorMode::Nonuniform => Bank::Full.source(Reg(through.slot)),
        }
    }

    /// An access at `coordinates` plus `offset` through a descriptor.
    fn described(
        &mut self,
        ty: Type,
        view: View,
        coordinates: Reg,
        offset: u8,
        through: Through,
    ) -> ImageAccess<Row> {
        let View { typed, dims, .. } = view;
        let named = if dims == 4 { 1 } else { dims };
        ImageAccess {
            base: through.base,
            slot: self.slot(through),
            layout: if typed { ImageLayout::Typed } else { ImageLayout::Untyped },
            number: number(ty),
            address: None,
            position: std::array::from_fn(|axis| {
                Bank::Full.source(step(coordinates, (axis as u8).min(named - 1)))
            }),
            offset,
            dimensions: dims,
            width: width(ty),
        }
    }

    fn varyings(&mut self, ty: Type, dst: Reg, location: u16, count: u8) {
        for (first, components) in chunks(count) {
            let location = u32::from(location) + u32::from(first);
            let op = Op::FlatVarying { location, components: components.into() };
            self.ask(op, converted(ty, step(dst, first), components));
        }
    }

    fn image(&mut self, ty: Type, through: &Slot) -> ImageAccess<Row> {
        let View { typed, dims, .. } = through.view;
        let position = match through.position {
            RegOrImm::Reg(reg) => {
                let named = if dims == 4 { 1 } else { dims };
                std::array::from_fn(|axis| Bank::Full.source(step(reg, (axis as u8).min(named - 1))))
            }
            RegOrImm::Immediate(_) => [self.reg_or_imm(through.position), ZERO, ZERO],
        };
        ImageAccess {
            base: None,
            slot: self.reg_or_imm(through.slot),
            layout: if typed { ImageLayout::Typed } else { ImageLayout::Untyped },
            number: number(ty),
            address: Some(self.reg_or_imm(through.address)),
            position,
            offset: 0,
            dimensions: dims,
            width: Width::Word,
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

/// The size in memory of a component of `ty`.
fn width(ty: Type) -> Width {
    match ty.bytes() {
        1 => Width::Byte,
        2 => Width::Half,
        _ => Width::Word,
    }
}

/// The address of the components from `first` on.
fn component(access: MemoryAccess<Row>, first: u8) -> MemoryAccess<Row> {
    let offset = access.offset + i32::from(first) * access.width.bytes() as i32;
    MemoryAccess { offset, ..access }
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
