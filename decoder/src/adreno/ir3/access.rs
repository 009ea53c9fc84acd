//! The registers that an instruction reads and writes, for each repetition. Scheduling checks use them.
//!
//! This module decides how many registers an operand has, for code that looks for hazards. The executor's
//! lowering splits operands itself, because it needs their values.
use std::fmt;

use super::cat1::is_half;
use super::{
    BindlessIndex, Body, Cat0, Cat1, Cat1Class, Cat1Dst, Cat1Op, Cat1Src, Cat2, Cat2Op, Cat3, Cat3Class,
    Cat3Op, Cat4, Cat5, Cat5Class, Cat5Op, Cat5Slots, Cat6, Cat6Class, Cat6Form, Cat6Op, Descriptor, Instr,
    Isa, Operand, Reg, RegOrImm, Src, Type, View,
};

/// A scalar register of the full or the half file. a0 and p0 are in neither and count as full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileReg {
    /// Whether the register is in the half file. [`Isa::merges_halves`] says whether that is a file of its own, and
    /// [`Self::cells`] which registers share bits.
    pub half: bool,
    /// Register id in the file.
    pub reg: Reg,
}

/// Number of a0; the numbers after it are p0 and r63.
const FIRST_SPECIAL: u8 = 61;

impl FileReg {
    /// Largest number of different registers.
    pub const COUNT: usize = 512;

    /// The full register `reg`; `None` for r63.x.
    pub fn full(reg: Reg) -> Option<Self> {
        (reg != Reg::NONE).then_some(Self { half: false, reg })
    }

    /// The half register `reg`; `None` for r63.x. Special registers are the same in both files.
    pub fn half(reg: Reg) -> Option<Self> {
        (reg != Reg::NONE).then_some(Self { half: reg.number() < FIRST_SPECIAL, reg })
    }

    /// Index of the register in an array of all registers, below [`Self::COUNT`].
    pub const fn index(self) -> usize {
        self.reg.0 as usize + if self.half { 256 } else { 0 }
    }

    /// The register at `index`.
    pub const fn at(index: usize) -> Self {
        Self { half: index >= 256, reg: Reg((index % 256) as u8) }
    }

    /// The first of the register's cells, and their number. A cell has 16 bits; two registers share bits if they
    /// share a cell. The cells are below [`Self::CELLS`].
    ///
    /// In the merged file of A6xx, the cells of r0.x are those of hr0.x and hr0.y, and those of r48.x those of
    /// hr48.x and hr48.y: the shared registers are counted by themselves (ir3.c, `ir3_reg_file_offset`).
    pub const fn cells(self, isa: Isa) -> (usize, usize) {
        let id = self.reg.0 as usize;
        match (self.half, isa.merges_halves()) {
            (true, true) if self.reg.number() >= Reg::SHARED.number() => {
                (4 * Reg::SHARED.number() as usize + id, 1)
            }
            (true, true) => (id, 1),
            (true, false) => (Self::CELLS - 256 + id, 1),
            (false, _) => (2 * id, 2),
        }
    }

    /// Number of different cells.
    pub const CELLS: usize = 768;

    /// Whether the two registers share bits.
    pub const fn overlaps(self, isa: Isa, other: Self) -> bool {
        let ((a, wide), (b, other_wide)) = (self.cells(isa), other.cells(isa));
        a < b + other_wide && b < a + wide
    }

    /// The register and those of the other precision that share bits with it.
    pub fn sharing(self, isa: Isa) -> impl Iterator<Item = Self> {
        let shared =
            if self.reg.number() >= Reg::SHARED.number() { 4 * u16::from(Reg::SHARED.number()) } else { 0 };
        let id = u16::from(self.reg.0) - shared;
        let others = if self.half { [id / 2, id / 2] } else { [2 * id, 2 * id + 1] };
        let others = others.into_iter().take(if self.half { 1 } else { 2 }).filter_map(move |id| {
            let reg = Reg(u8::try_from(id + shared).ok()?);
            Some(Self { half: !self.half, reg })
                .filter(|other| other.is_general() && other.overlaps(isa, self))
        });
        std::iter::once(self).chain(others)
    }

    /// Whether all fibers of a wave share the register: r48.x and above, before the special ones.
    pub const fn is_shared(self, isa: Isa) -> bool {
        isa.has_shared() && self.reg.number() >= Reg::SHARED.number() && self.is_general()
    }

    /// Whether it is a general register, not a0, p0 or r63.
    pub const fn is_general(self) -> bool {
        self.reg.number() < FIRST_SPECIAL
    }
}

impl fmt::Display for FileReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = ['x', 'y', 'z', 'w'][usize::from(self.reg.component())];
        match self.reg {
            reg if reg.is_address() => write!(f, "a0.{component}"),
            reg if reg.is_predicate() => write!(f, "p0.{component}"),
            reg => write!(f, "{}r{}.{component}", if self.half { "h" } else { "" }, reg.number()),
        }
    }
}

/// One access of one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The register.
    pub reg: FileReg,
    /// Number of the repetition that makes the access, from 0.
    pub step: u8,
    /// The operand that makes the access.
    pub operand: Role,
}

/// The role of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The result.
    Destination,
    /// A source.
    Source,
    /// The third source of mad.* and madsh.*, which the pipeline reads two slots later than the other
    /// sources.
    Addend,
    /// a0.x as an index of a register or constant.
    Index,
}

/// Collects accesses.
struct Accesses {
    all: Vec<Access>,
    isa: Isa,
}

impl Accesses {
    fn add(&mut self, reg: Reg, half: bool, step: u8, operand: Role) {
        let reg = if half { FileReg::half(reg) } else { FileReg::full(reg) };
        self.all.extend(reg.map(|reg| Access { reg, step, operand }));
    }

    fn run(&mut self, first: Reg, half: bool, count: u8, operand: Role) {
        (0..count).for_each(|n| self.add(Reg(first.0.wrapping_add(n)), half, 0, operand));
    }

    /// Adds a source of an ALU instruction with `repeat` repetitions after the first.
    fn source(&mut self, operand: &Operand, half: bool, repeat: u8, role: Role) {
        match operand.src {
            Src::Gpr(reg) => (0..=repeat).for_each(|step| {
                let moved = if operand.step { step } else { 0 };
                self.add(Reg(reg.0.wrapping_add(moved)), half, step, role);
            }),
            Src::RelativeGpr(_) | Src::RelativeConst(_) => self.add(Reg::A0, false, 0, Role::Index),
            Src::Const(_) | Src::Immediate(_) | Src::Flut { .. } => {}
        }
    }

    fn result(&mut self, dst: Reg, half: bool, repeat: u8) {
        if dst != Reg::NONE {
            (0..=repeat)
                .for_each(|step| self.add(Reg(dst.0.wrapping_add(step)), half, step, Role::Destination));
        }
    }

    /// Adds the registers of several moves, one in each step: four from the first on if there is one for all.
    fn moves(&mut self, regs: [Option<Reg>; 4], half: bool, one_for_all: bool, operand: Role) {
        let of = |step: u8| match one_for_all {
            true => regs[0].map(|first| Reg(first.0.wrapping_add(step))),
            false => regs[usize::from(step)],
        };
        (0..4)
            .filter_map(|step| Some((step, of(step)?)))
            .for_each(|(step, reg)| self.add(reg, half, step, operand));
    }

    /// Adds a1.x, if the instruction reads it.
    fn index(&mut self, a1: bool) {
        if a1 {
            self.add(Reg::A1, false, 0, Role::Index);
        }
    }

    fn full(&mut self, operand: RegOrImm, count: u8) {
        if let RegOrImm::Reg(first) = operand {
            self.run(first, false, count, Role::Source);
        }
    }
}

impl Instr {
    /// The registers that the instruction reads. A register indexed by a0.x is missing, because its number is
    /// not known; a0.x itself is listed.
    pub fn reads(&self) -> Vec<Access> {
        let mut all = Accesses { all: Vec::new(), isa: self.isa };
        match &self.body {
            Body::Cat0(instr) => instr.reads(&mut all),
            Body::Cat1(instr) => instr.reads(&mut all),
            Body::Cat2(instr) => instr.reads(&mut all),
            Body::Cat3(instr) => instr.reads(&mut all),
            Body::Cat4(instr) => all.source(&instr.src, instr.half, instr.repeat, Role::Source),
            Body::Cat5(instr) => instr.reads(&mut all),
            Body::Cat6(instr) => instr.reads(&mut all),
            Body::Cat7(_) | Body::Unknown => {}
        }
        all.all
    }

    /// The registers that the instruction writes. A destination indexed by a0.x is missing.
    pub fn writes(&self) -> Vec<Access> {
        let mut all = Accesses { all: Vec::new(), isa: self.isa };
        match &self.body {
            Body::Cat1(instr) if instr.op.class() == Cat1Class::Moves => instr.moves(&mut all),
            Body::Cat1(Cat1 { dst: Cat1Dst::Reg(dst), dst_type, repeat, .. }) => {
                all.result(*dst, is_half(self.isa, *dst_type), *repeat);
            }
            Body::Cat3(instr) if instr.op.class() == Cat3Class::Matrix => instr.matrices(&mut all),
            Body::Cat2(Cat2 { dst, dst_half, repeat, .. })
            | Body::Cat3(Cat3 { dst, dst_half, repeat, .. })
            | Body::Cat4(Cat4 { dst, dst_half, repeat, .. }) => all.result(*dst, *dst_half, *repeat),
            Body::Cat5(instr) => instr.writes(&mut all),
            Body::Cat6(instr) => instr.writes(&mut all),
            Body::Cat0(_) | Body::Cat1(_) | Body::Cat7(_) | Body::Unknown => {}
        }
        all.all
    }

    /// The category of the instruction; `None` for an unknown word.
    pub const fn category(&self) -> Option<u8> {
        Some(match self.body {
            Body::Cat0(_) => 0,
            Body::Cat1(_) => 1,
            Body::Cat2(_) => 2,
            Body::Cat3(_) => 3,
            Body::Cat4(_) => 4,
            Body::Cat5(_) => 5,
            Body::Cat6(_) => 6,
            Body::Cat7(_) => 7,
            Body::Unknown => return None,
        })
    }

    /// Number of nops of (nopN).
    pub const fn nops(&self) -> u8 {
        match &self.body {
            Body::Cat2(instr) => instr.nops,
            Body::Cat3(instr) => instr.nops,
            _ => 0,
        }
    }

    /// Number of repetitions after the first run; of several moves, one less than their number.
    pub const fn repeat(&self) -> u8 {
        match &self.body {
            Body::Cat0(instr) => instr.repeat,
            Body::Cat1(instr) => match instr.op {
                Cat1Op::Swz => 1,
                Cat1Op::Gat | Cat1Op::Sct => 3,
                Cat1Op::Mov | Cat1Op::Movmsk => instr.repeat,
            },
            Body::Cat2(instr) => instr.repeat,
            Body::Cat3(instr) => instr.repeat,
            Body::Cat4(instr) => instr.repeat,
            Body::Cat5(_) | Body::Cat6(_) | Body::Cat7(_) | Body::Unknown => 0,
        }
    }

    /// The sources that are ALU operands, in order.
    pub fn operands(&self) -> Vec<&Operand> {
        match &self.body {
            Body::Cat1(Cat1 { src: Cat1Src::Operand(operand), .. }) => vec![operand],
            Body::Cat2(instr) => [Some(&instr.src1), instr.src2.as_ref()].into_iter().flatten().collect(),
            Body::Cat3(instr) => vec![&instr.src1, &instr.src2, &instr.src3],
            Body::Cat4(instr) => vec![&instr.src],
            _ => Vec::new(),
        }
    }
}

impl Cat0 {
    fn reads(&self, all: &mut Accesses) {
        let predicates = [self.predicate1, self.predicate2];
        for predicate in predicates.into_iter().take(self.op.class().predicates()) {
            all.add(Reg(0xf8 | predicate.component & 3), false, 0, Role::Source);
        }
    }
}

impl Cat1 {
    fn reads(&self, all: &mut Accesses) {
        let half = is_half(all.isa, self.src_type);
        if self.op.class() == Cat1Class::Moves {
            return all.moves(self.moved()[1], half, self.op == Cat1Op::Sct, Role::Source);
        }
        if let Cat1Src::Operand(operand) = &self.src {
            all.source(operand, half, self.repeat, Role::Source);
        }
        if matches!(self.dst, Cat1Dst::Relative(_)) {
            all.add(Reg::A0, false, 0, Role::Index);
        }
    }

    /// The registers that swz, gat or sct writes. `gat` has one destination for four sources.
    fn moves(&self, all: &mut Accesses) {
        let half = is_half(all.isa, self.dst_type);
        all.moves(self.moved()[0], half, self.op == Cat1Op::Gat, Role::Destination);
    }
}

impl Cat2 {
    fn reads(&self, all: &mut Accesses) {
        all.source(&self.src1, self.half, self.repeat, Role::Source);
        let Some(second) = &self.src2 else { return };
        all.source(second, self.half, self.repeat, Role::Source);
        if let (Cat2Op::BaryF, Src::Gpr(i)) = (self.op, second.src) {
            let j = Operand { src: Src::Gpr(Reg(i.0.wrapping_add(1))), ..*second };
            all.source(&j, self.half, self.repeat, Role::Source);
        }
    }
}

impl Cat3 {
    fn reads(&self, all: &mut Accesses) {
        let half = self.half;
        if self.op.class() == Cat3Class::Matrix {
            for operand in [&self.src1, &self.src2] {
                if let Src::Gpr(first) = operand.src {
                    all.run(first, half, 4, Role::Source);
                }
            }
        } else {
            all.source(&self.src1, half, self.repeat, Role::Source);
            all.source(&self.src2, half, self.repeat, Role::Source);
        }
        all.source(&self.src3, half, self.repeat, if self.op.adds() { Role::Addend } else { Role::Source });
    }

    /// The registers that wmm writes: the vector of four, 1, 2, 4 .. 32 times by the third source divided by 32.
    fn matrices(&self, all: &mut Accesses) {
        let Src::Immediate(size) = self.src3.src else { return };
        let times = 1u8 << (size / 32).clamp(0, 5);
        all.run(self.dst, self.dst_half, times * 4, Role::Destination);
    }
}

impl Cat3Op {
    /// Whether the op multiplies and adds: mad.* or madsh.*.
    pub const fn adds(self) -> bool {
        matches!(
            self,
            Self::MadU16
                | Self::MadshU16
                | Self::MadS16
                | Self::MadshM16
                | Self::MadU24
                | Self::MadS24
                | Self::MadF16
                | Self::MadF32
        )
    }
}

impl Cat5 {
    /// Number of registers of the first source.
    fn first_source(&self) -> u8 {
        let coordinates = if self.three_d { 3 } else { 2 };
        let parts = [self.shadow, self.array, self.projective, self.op == Cat5Op::Isamm];
        let named = coordinates + parts.map(u8::from).iter().sum::<u8>();
        match (self.op.class(), self.op) {
            (_, Cat5Op::Samgq) => named.max(4) + 2 * coordinates,
            (Cat5Class::Sample1 | Cat5Class::Sample2, _) => named,
            (Cat5Class::Value1 | Cat5Class::Untyped1, Cat5Op::Dsx | Cat5Op::Dsy) => self.components(),
            (Cat5Class::Untyped1, _) => self.components(),
            _ => u8::from(self.has_src1()),
        }
    }

    fn second_source(&self) -> u8 {
        let offsets = if self.offsets { 2 + u8::from(self.three_d) } else { 0 };
        offsets + u8::from(self.op.class() == Cat5Class::Sample2)
    }

    /// Index of the last component written, plus 1.
    fn components(&self) -> u8 {
        (8 - self.wrmask.leading_zeros()) as u8
    }

    fn reads(&self, all: &mut Accesses) {
        if self.op.class().has_flags() {
            return self.texture_reads(all);
        }
        if self.has_src1() {
            all.run(self.src1, self.half, self.components(), Role::Source);
        }
        if self.has_src2() {
            all.run(self.src2, self.half, 1, Role::Source);
        }
    }

    fn texture_reads(&self, all: &mut Accesses) {
        if self.has_src1() {
            all.run(self.src1, self.half, self.first_source(), Role::Source);
        }
        if self.has_src2() {
            all.run(self.src2, self.half, self.second_source(), Role::Source);
        }
        match self.slots {
            Cat5Slots::Immediate { .. } => {}
            Cat5Slots::Indirect { reg, .. } => all.run(reg, true, 2, Role::Source),
            Cat5Slots::Bindless { a1, index, .. } => {
                if let BindlessIndex::Register { reg, .. } = index {
                    all.run(reg, false, 2, Role::Source);
                }
                all.index(a1);
            }
        }
    }

    fn writes(&self, all: &mut Accesses) {
        for component in (0..4).filter(|component| self.wrmask >> component & 1 != 0) {
            if self.dst != Reg::NONE {
                all.add(Reg(self.dst.0.wrapping_add(component)), self.ty.is_half(), 0, Role::Destination);
            }
        }
    }
}

/// Registers with the coordinates of a view.
const fn position(view: View) -> u8 {
    if view.typed { view.dims } else { 1 }
}

impl Descriptor {
    fn reads(&self, op: Cat6Op, ty: Type, all: &mut Accesses) {
        let (half, size) = (ty.is_half(), ty.atomic_registers());
        match *self {
            Self::Load { view, coordinates, through, .. } => {
                all.run(coordinates, false, position(view), Role::Source);
                all.full(through.operand(), 1);
            }
            Self::Store { view, value, coordinates, through, .. } => {
                all.run(value, half, view.components, Role::Source);
                all.run(coordinates, false, position(view), Role::Source);
                all.full(through.operand(), 1);
            }
            Self::Atomic { view, data, coordinates, through } => {
                let count = if op == Cat6Op::AtomicCmpxchg { 2 } else { 1 };
                all.run(Reg(data.0.wrapping_add(size)), false, count * size, Role::Source);
                all.run(coordinates, false, position(view), Role::Source);
                all.full(through.operand(), 1);
            }
            Self::Info { through, .. } => all.full(through.operand(), 1),
            Self::Uniforms { src1, through, .. } => {
                all.full(src1, 1);
                all.full(through.operand(), 1);
            }
            Self::ToConstants { src1, through, .. } => {
                all.index(true);
                all.full(src1, 1);
                all.full(through.operand(), 1);
            }
            Self::Identity { .. } => {}
        }
    }

    /// The first register written, and their number.
    fn result(&self, op: Cat6Op, ty: Type) -> Option<(Reg, u8)> {
        match *self {
            Self::Load { view, dst, .. } => Some((dst, view.components)),
            Self::Atomic { data, .. } => Some((data, ty.atomic_registers())),
            Self::Info { dst, .. } => Some((dst, if op == Cat6Op::Resbase { 2 } else { 3 })),
            Self::Uniforms { dst, components, .. } => Some((dst, components)),
            Self::Identity { dst } => Some((dst, 1)),
            Self::Store { .. } | Self::ToConstants { .. } => None,
        }
    }
}

impl Cat6 {
    /// Number of registers with the data of an atomic.
    fn data(&self) -> u8 {
        if self.op == Cat6Op::AtomicCmpxchg { 2 } else { 1 }
    }

    fn reads(&self, all: &mut Accesses) {
        let half = self.ty.is_half();
        let global = matches!(self.op.class(), Cat6Class::LoadGlobal | Cat6Class::StoreGlobal);
        let wide = all.isa.address_registers();
        match self.form {
            Cat6Form::Load { address, .. } => {
                all.run(address, false, if global { wide } else { 1 }, Role::Source);
            }
            Cat6Form::Store { value, address, count, .. } => {
                all.run(value, half, count, Role::Source);
                all.run(address, false, if global { wide } else { 1 }, Role::Source);
            }
            Cat6Form::IndexedLoad { address, index, .. } => {
                all.run(address, false, wide, Role::Source);
                all.run(index, false, 1, Role::Source);
            }
            Cat6Form::IndexedStore { value, address, index, count, .. } => {
                all.run(value, half, count, Role::Source);
                all.run(address, false, wide, Role::Source);
                all.run(index, false, 1, Role::Source);
            }
            Cat6Form::LoadConstants { target, address, .. } => {
                all.run(address, false, wide, Role::Source);
                all.index(target.a1);
            }
            Cat6Form::StoreConstants { target, value, count } => {
                all.run(value, half, count, Role::Source);
                all.index(target.a1);
            }
            Cat6Form::AtomicGlobal { address, data, .. } => {
                all.full(address, wide);
                all.full(data, self.data() * self.ty.atomic_registers());
            }
            Cat6Form::Shuffle { src, fiber, .. } => {
                all.run(src, half, 1, Role::Source);
                all.full(fiber, 1);
            }
            Cat6Form::Descriptor(descriptor) => descriptor.reads(self.op, self.ty, all),
            Cat6Form::Varying { .. } => {}
            Cat6Form::BufferLoad { view, slot, src1, src2, .. } => {
                all.full(slot, 1);
                all.full(src1, 1);
                all.full(src2, position(view));
            }
            Cat6Form::ConstantLoad { src1, src2, slot, .. } => {
                [src1, src2, slot].into_iter().for_each(|operand| all.full(operand, 1));
            }
            Cat6Form::BufferStore { view, slot, value, src2, src3 } => {
                all.run(value, half, view.components, Role::Source);
                all.full(slot, 1);
                all.full(src2, position(view));
                all.full(src3, 1);
            }
            Cat6Form::AtomicLocal { address, data, .. } => {
                all.full(address, 1);
                all.full(data, self.data());
            }
            Cat6Form::AtomicSlot { view, slot, data, src2, src3, .. } => {
                all.full(slot, 1);
                all.full(data, self.data());
                all.full(src2, position(view));
                all.run(src3, false, 1, Role::Source);
            }
            Cat6Form::Info { slot, .. } => all.full(slot, 1),
        }
    }

    fn writes(&self, all: &mut Accesses) {
        let (dst, count) = match self.form {
            Cat6Form::Load { dst, count, .. } | Cat6Form::Varying { dst, count, .. } => (dst, count),
            Cat6Form::BufferLoad { view, dst, .. } => (dst, view.components),
            Cat6Form::ConstantLoad { dst, components, .. } => (dst, components),
            Cat6Form::AtomicLocal { dst, .. } | Cat6Form::AtomicSlot { dst, .. } => (dst, 1),
            Cat6Form::Info { dst, .. } => (dst, 3),
            Cat6Form::IndexedLoad { dst, count, .. } => (dst, count),
            Cat6Form::AtomicGlobal { dst, .. } => (dst, self.ty.atomic_registers()),
            Cat6Form::Shuffle { dst, .. } => (dst, 1),
            Cat6Form::Descriptor(descriptor) => match descriptor.result(self.op, self.ty) {
                Some(result) => result,
                None => return,
            },
            Cat6Form::Store { .. } | Cat6Form::IndexedStore { .. } | Cat6Form::BufferStore { .. } => return,
            Cat6Form::LoadConstants { .. } | Cat6Form::StoreConstants { .. } => return,
        };
        if dst != Reg::NONE {
            all.run(dst, self.ty.is_half(), count, Role::Destination);
        }
    }

    /// Whether the result comes from local memory or varying storage, for which (ss) waits, and not from
    /// memory.
    pub const fn answers_from_chip(&self) -> bool {
        match self.form {
            Cat6Form::AtomicLocal { .. } | Cat6Form::Shuffle { .. } => true,
            Cat6Form::Descriptor(Descriptor::Info { .. }) => matches!(self.op, Cat6Op::Resinfo),
            Cat6Form::Descriptor(_) => false,
            _ => matches!(self.op.class(), Cat6Class::LoadLocal | Cat6Class::Varying | Cat6Class::Info),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::assemble;
    use super::*;

    fn text(of: fn(&Instr) -> Vec<Access>, line: &str) -> String {
        let word = assemble(line).expect(line)[0];
        let all: Vec<String> =
            of(&Instr::decode(word)).iter().map(|access| format!("{}@{}", access.reg, access.step)).collect();
        all.join(" ")
    }

    #[test]
    fn repeats_step_the_destination_and_the_sources_that_say_so() {
        assert_eq!(text(Instr::writes, "(rpt2)mov.f32f32 r0.z, (r)c0.x"), "r0.z@0 r0.w@1 r1.x@2");
        assert_eq!(text(Instr::reads, "(rpt1)add.f r2.x, (r)r0.x, r1.x"), "r0.x@0 r0.y@1 r1.x@0 r1.x@1");
    }

    #[test]
    fn coordinates_and_masks_are_counted() {
        assert_eq!(
            text(Instr::reads, "sam.3d.s (f32)(xz)r8.x, r1.x, s#0, t#0"),
            "r1.x@0 r1.y@0 r1.z@0 r1.w@0"
        );
        assert_eq!(text(Instr::writes, "sam.3d.s (f32)(xz)r8.x, r1.x, s#0, t#0"), "r8.x@0 r8.z@0");
        assert_eq!(text(Instr::reads, "saml (f32)(x)r8.x, r1.x, r2.x, s#0, t#0"), "r1.x@0 r1.y@0 r2.x@0");
    }

    #[test]
    fn files_are_apart_and_a0_and_p0_are_in_neither() {
        assert_eq!(text(Instr::writes, "cov.f32f16 hr1.y, r1.y"), "hr1.y@0");
        assert_eq!(text(Instr::reads, "mov.f32f32 r1.x, c<a0.x + 4>"), "a0.x@0");
        assert_eq!(text(Instr::writes, "mova a0.x, hr0.x"), "a0.x@0");
        assert_eq!(text(Instr::writes, "cmps.f.lt p0.y, r0.x, c0.x"), "p0.y@0");
        assert_eq!(text(Instr::reads, "br !p0.y, #2"), "p0.y@0");
        assert_eq!(text(Instr::reads, "bary.f (ei)r1.x, 3, r0.x"), "r0.x@0 r0.y@0");
        assert_eq!(text(Instr::writes, "bary.f (ei)r63.x, 3, r0.x"), "");
    }

    #[test]
    fn stores_read_their_values_and_address() {
        assert_eq!(text(Instr::reads, "stg.f32 g[r0.x+4], r1.y, 2"), "r1.y@0 r1.z@0 r0.x@0");
        assert_eq!(text(Instr::writes, "stg.f32 g[r0.x+4], r1.y, 2"), "");
        assert_eq!(text(Instr::writes, "ldg.f32 r2.x, g[r0.x], 3"), "r2.x@0 r2.y@0 r2.z@0");
    }
}
