//! The registers that an instruction reads and writes, for each repetition. Scheduling checks use them.
//!
//! This module decides how many registers an operand has, for code that looks for hazards. The executor's
//! lowering splits operands itself, because it needs their values.
use std::fmt;

use super::{
    Body, Cat0, Cat1, Cat1Dst, Cat1Src, Cat2, Cat2Op, Cat3, Cat3Op, Cat4, Cat5, Cat5Class, Cat5Op, Cat5Slots,
    Cat6, Cat6Class, Cat6Form, Cat6Op, Instr, Operand, Reg, RegOrImm, Src,
};

/// A scalar register of the full or the half file. a0 and p0 are in neither and count as full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileReg {
    /// Whether the register is in the half file. Up to A5xx that file is separate from the full one.
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
struct Accesses(Vec<Access>);

impl Accesses {
    fn add(&mut self, reg: Reg, half: bool, step: u8, operand: Role) {
        let reg = if half { FileReg::half(reg) } else { FileReg::full(reg) };
        self.0.extend(reg.map(|reg| Access { reg, step, operand }));
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
        let mut all = Accesses(Vec::new());
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
        all.0
    }

    /// The registers that the instruction writes. A destination indexed by a0.x is missing.
    pub fn writes(&self) -> Vec<Access> {
        let mut all = Accesses(Vec::new());
        match &self.body {
            Body::Cat1(Cat1 { dst: Cat1Dst::Reg(dst), dst_type, repeat, .. }) => {
                all.result(*dst, dst_type.is_half(), *repeat);
            }
            Body::Cat2(Cat2 { dst, dst_half, repeat, .. })
            | Body::Cat3(Cat3 { dst, dst_half, repeat, .. })
            | Body::Cat4(Cat4 { dst, dst_half, repeat, .. }) => all.result(*dst, *dst_half, *repeat),
            Body::Cat5(instr) => instr.writes(&mut all),
            Body::Cat6(instr) => instr.writes(&mut all),
            Body::Cat0(_) | Body::Cat1(_) | Body::Cat7(_) | Body::Unknown => {}
        }
        all.0
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

    /// Number of repetitions after the first run.
    pub const fn repeat(&self) -> u8 {
        match &self.body {
            Body::Cat0(instr) => instr.repeat,
            Body::Cat1(instr) => instr.repeat,
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
        if let Cat1Src::Operand(operand) = &self.src {
            all.source(operand, self.src_type.is_half(), self.repeat, Role::Source);
        }
        if matches!(self.dst, Cat1Dst::Relative(_)) {
            all.add(Reg::A0, false, 0, Role::Index);
        }
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
        let half = self.op.class().is_half();
        all.source(&self.src1, half, self.repeat, Role::Source);
        all.source(&self.src2, half, self.repeat, Role::Source);
        all.source(&self.src3, half, self.repeat, if self.op.adds() { Role::Addend } else { Role::Source });
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
        if self.has_src1() {
            all.run(self.src1, self.half, self.first_source(), Role::Source);
        }
        if self.has_src2() {
            all.run(self.src2, self.half, self.second_source(), Role::Source);
        }
        if let Cat5Slots::Indirect { reg, .. } = self.slots {
            all.run(reg, true, 2, Role::Source);
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

impl Cat6 {
    /// Number of registers with the data of an atomic.
    fn data(&self) -> u8 {
        if self.op == Cat6Op::AtomicCmpxchg { 2 } else { 1 }
    }

    fn reads(&self, all: &mut Accesses) {
        let half = self.ty.is_half();
        let position = |view: super::View| if view.typed { view.dims } else { 1 };
        match self.form {
            Cat6Form::Load { address, .. } => all.run(address, false, 1, Role::Source),
            Cat6Form::Store { value, address, count, .. } => {
                all.run(value, half, count, Role::Source);
                all.run(address, false, 1, Role::Source);
            }
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
            Cat6Form::Store { .. } | Cat6Form::BufferStore { .. } => return,
        };
        if dst != Reg::NONE {
            all.run(dst, self.ty.is_half(), count, Role::Destination);
        }
    }

    /// Whether the result comes from local memory or varying storage, for which (ss) waits, and not from
    /// memory.
    pub const fn answers_from_chip(&self) -> bool {
        let local = matches!(self.op.class(), Cat6Class::LoadLocal | Cat6Class::Varying | Cat6Class::Info);
        local || matches!(self.form, Cat6Form::AtomicLocal { .. })
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
