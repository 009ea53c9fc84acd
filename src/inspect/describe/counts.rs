//! How often the instructions of shaders ran, draw by draw.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::frame::STAGE_NAMES;
use a4emu_gpu::draw::stats::StageCost;
use a4emu_gpu::gpu::{STAGES, Stage};
use a4emu_shader::InstructionCount;

/// Instructions that are remembered at most, over all draws.
const MAX_INSTRUCTIONS: usize = 1 << 22;

/// How often the instructions of each stage of frame draws ran.
#[derive(Debug, Default)]
pub struct Counts {
    by_stage: BTreeMap<(u32, usize), Vec<InstructionCount>>,
    instructions: usize,
}

impl Counts {
    /// Adds what a stage of a draw took, if its instructions were counted and there is room.
    pub fn add(&mut self, cost: &StageCost) {
        let key = (cost.at.frame_draw, cost.stage as usize);
        let known = self.by_stage.get(&key).map_or(0, Vec::len);
        let more = cost.counts.len().saturating_sub(known);
        if !cost.counts.is_empty() && self.instructions + more <= MAX_INSTRUCTIONS {
            self.instructions += more;
            InstructionCount::merge(self.by_stage.entry(key).or_default(), &cost.counts);
        }
    }

    /// Those of one stage of a command that has these numbers as frame draw; empty where it did not run.
    pub fn of(&self, frame_draws: impl IntoIterator<Item = u32>, stage: Stage) -> StageCounts {
        let mut all = Vec::new();
        for number in frame_draws {
            let counts = self.by_stage.get(&(number, stage as usize));
            counts.into_iter().for_each(|counts| InstructionCount::merge(&mut all, counts));
        }
        StageCounts::new(stage, &all)
    }
}

/// How often the instructions of a stage ran; the numbers are in the order of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageCounts {
    /// Its name.
    pub stage: &'static str,
    /// Warps that ran each instruction, each time that they came to it.
    pub warps: Vec<u64>,
    /// Lanes for which it ran, helpers too.
    pub lanes: Vec<u64>,
}

impl StageCounts {
    fn new(stage: Stage, counts: &[InstructionCount]) -> Self {
        // Behind the last instruction there are the zeros of the instruction store.
        let used = counts.iter().rposition(|count| count.warps > 0).map_or(0, |last| last + 1);
        Self {
            stage: STAGE_NAMES[stage as usize],
            warps: counts[..used].iter().map(|count| count.warps).collect(),
            lanes: counts[..used].iter().map(|count| count.lanes).collect(),
        }
    }

    /// Those of the stages of one draw that ran, in the pipeline's order.
    pub fn all(costs: &[StageCost]) -> Vec<Self> {
        let mut counts = Counts::default();
        costs.iter().for_each(|cost| counts.add(cost));
        let numbers: BTreeSet<u32> = counts.by_stage.keys().map(|(number, _)| *number).collect();
        let all = STAGES.into_iter().map(|stage| counts.of(numbers.iter().copied(), stage));
        all.filter(|stage| !stage.warps.is_empty()).collect()
    }

    /// Warps and lanes that ran instruction `index`.
    pub fn at(&self, index: usize) -> [u64; 2] {
        [&self.warps, &self.lanes].map(|counts| counts.get(index).copied().unwrap_or(0))
    }
}
