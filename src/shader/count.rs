//! Execution counts of instructions.

use std::ops::Range;

use a4emu_decoder::adreno::ir3::{Body, Cat0, Cat0Op, Instr};

use super::effect::Effect;
use super::environment::Environment;
use super::program::Program;
use super::run::{Outcome, step};
use super::warp::Warp;

/// Whether execution counts of instructions are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// No, at no cost.
    #[default]
    Off,
    /// Yes.
    On,
}

/// Execution count of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Number of warps that ran it, including repetitions.
    pub warps: u64,
    /// Number of lanes that ran it, including helpers.
    pub lanes: u64,
}

/// What performance counters count an instruction as (docs/hardware/counters.md, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionClass {
    /// Arithmetic on full registers.
    FullAlu,
    /// Arithmetic on half registers.
    HalfAlu,
    /// A special function.
    Efu,
    /// A texture instruction.
    Texture,
    /// Flow control.
    Flow,
}

impl InstructionClass {
    /// Number of classes.
    pub const COUNT: usize = 5;

    /// Returns the class of `instr`, if it has one.
    pub fn of(instr: &Instr) -> Option<Self> {
        let alu = |half: bool| if half { Self::HalfAlu } else { Self::FullAlu };
        match &instr.body {
            Body::Cat0(Cat0 { op: Cat0Op::Nop, .. }) => None,
            Body::Cat0(_) => Some(Self::Flow),
            Body::Cat1(instr) => Some(alu(instr.dst_type.is_half() || instr.src_type.is_half())),
            Body::Cat2(instr) => Some(alu(instr.half)),
            Body::Cat3(instr) => Some(alu(instr.op.class().is_half())),
            Body::Cat4(_) => Some(Self::Efu),
            Body::Cat5(_) => Some(Self::Texture),
            Body::Cat6(_) | Body::Cat7(_) | Body::Unknown => None,
        }
    }
}

impl InstructionCount {
    /// Adds the counts in `later` to `all`, instruction by instruction.
    pub fn merge(all: &mut Vec<Self>, later: &[Self]) {
        all.resize(all.len().max(later.len()), Self::default());
        for (all, later) in all.iter_mut().zip(later) {
            all.warps += later.warps;
            all.lanes += later.lanes;
        }
    }
}

/// Like [`run`](super::run()), and increments the entry of each executed instruction in `counts`.
pub fn run_counting(
    program: &Program,
    warp: &mut Warp,
    environment: &mut impl Environment,
    counts: &mut [InstructionCount],
) -> Outcome {
    loop {
        if let Some(outcome) = warp.pause() {
            return outcome;
        }
        let lanes = u64::from(warp.flow.executing().count_ones());
        for count in counts.get_mut(program.instructions_of(warp.flow.step)).unwrap_or_default() {
            count.warps += 1;
            count.lanes += lanes;
        }
        if let Some(outcome) = step(program, warp, environment) {
            return outcome;
        }
    }
}

impl Program {
    /// Returns how many instructions of each class warps ran, which ran its instructions as `counts` says.
    pub fn classes_run(&self, counts: &[InstructionCount]) -> [u64; InstructionClass::COUNT] {
        let mut run = [0; InstructionClass::COUNT];
        for (class, count) in self.classes.iter().zip(counts) {
            class.iter().for_each(|class| run[*class as usize] += count.warps);
        }
        run
    }

    /// Indices of the instructions of step `index`.
    fn instructions_of(&self, index: u32) -> Range<usize> {
        let step = &self.steps[index as usize];
        // The step that leaves the program is past its last instruction.
        let end = if step.effect == Effect::LeftProgram { step.at } else { step.at + 1 };
        (end - step.instructions) as usize..end as usize
    }
}
