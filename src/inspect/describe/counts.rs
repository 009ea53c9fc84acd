//! Counts how often the instructions of shaders ran, per draw.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::name::STAGE_NAMES;
use a4emu_gpu::draw::stats::StageCost;
use a4emu_gpu::gpu::{STAGES, Stage};
use a4emu_shader::InstructionCount;

/// Maximum number of counted instructions over all draws.
const MAX_INSTRUCTIONS: usize = 1 << 22;

/// How often the instructions of each stage of frame draws ran.
#[derive(Debug, Default)]
pub struct Counts {
    by_stage: BTreeMap<(u32, usize), Vec<InstructionCount>>,
    instructions: usize,
}

impl Counts {
    /// Adds the counts of a stage of a draw, if they exist and there is room.
    pub fn add(&mut self, cost: &StageCost) {
        let key = (cost.at.frame_draw, cost.stage as usize);
        let known = self.by_stage.get(&key).map_or(0, Vec::len);
        let more = cost.counts.len().saturating_sub(known);
        if !cost.counts.is_empty() && self.instructions + more <= MAX_INSTRUCTIONS {
            self.instructions += more;
            InstructionCount::merge(self.by_stage.entry(key).or_default(), &cost.counts);
        }
    }

    /// The counts of one stage of a command with these frame draws; empty if it did not run.
    pub fn of(&self, frame_draws: impl IntoIterator<Item = u32>, stage: Stage) -> StageCounts {
        let mut all = Vec::new();
        for number in frame_draws {
            let counts = self.by_stage.get(&(number, stage as usize));
            counts.into_iter().for_each(|counts| InstructionCount::merge(&mut all, counts));
        }
        StageCounts::new(stage, &all)
    }
}

/// How often the instructions of a stage ran. Both lists are in the order of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageCounts {
    /// Name of the stage.
    pub stage: &'static str,
    /// For each instruction, the number of warps that ran it, counted each time.
    pub warps: Vec<u64>,
    /// For each instruction, the number of lanes that ran it, with helper lanes.
    pub lanes: Vec<u64>,
}

impl StageCounts {
    fn new(stage: Stage, counts: &[InstructionCount]) -> Self {
        // After the last instruction there are the zeros of the instruction store.
        let used = counts.iter().rposition(|count| count.warps > 0).map_or(0, |last| last + 1);
        Self {
            stage: STAGE_NAMES[stage as usize],
            warps: counts[..used].iter().map(|count| count.warps).collect(),
            lanes: counts[..used].iter().map(|count| count.lanes).collect(),
        }
    }

    /// The counts of all stages of one draw that ran, in the pipeline's order.
    pub fn all(costs: &[StageCost]) -> Vec<Self> {
        let mut counts = Counts::default();
        costs.iter().for_each(|cost| counts.add(cost));
        let numbers: BTreeSet<u32> = counts.by_stage.keys().map(|(number, _)| *number).collect();
        let all = STAGES.into_iter().map(|stage| counts.of(numbers.iter().copied(), stage));
        all.filter(|stage| !stage.warps.is_empty()).collect()
    }

    /// The number of warps and of lanes that ran instruction `index`.
    pub fn at(&self, index: usize) -> [u64; 2] {
        [&self.warps, &self.lanes].map(|counts| counts.get(index).copied().unwrap_or(0))
    }
}
