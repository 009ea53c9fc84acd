//! How often instructions run, for whoever asks.

use std::ops::Range;

use super::effect::Effect;
use super::environment::Environment;
use super::program::Program;
use super::run::{Outcome, step};
use super::warp::Warp;

/// Whether it is counted how often each instruction runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// No: that costs nothing.
    #[default]
    Off,
    /// Yes.
    On,
}

/// How often an instruction ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Warps that ran it, each time that they came to it.
    pub warps: u64,
    /// Lanes for which it ran, helpers too.
    pub lanes: u64,
}

impl InstructionCount {
    /// Adds those of `later` to `all`, instruction by instruction.
    pub fn merge(all: &mut Vec<Self>, later: &[Self]) {
        all.resize(all.len().max(later.len()), Self::default());
        for (all, later) in all.iter_mut().zip(later) {
            all.warps += later.warps;
            all.lanes += later.lanes;
        }
    }
}

/// As [`run`](super::run), and counts each instruction in `counts`, where the program's have a place each.
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
    /// Indices of the instructions that step `index` stands for.
    fn instructions_of(&self, index: u32) -> Range<usize> {
        let step = &self.steps[index as usize];
        // The step that leaves the program is behind its last instruction.
        let end = if step.effect == Effect::LeftProgram { step.at } else { step.at + 1 };
        (end - step.instructions) as usize..end as usize
    }
}
