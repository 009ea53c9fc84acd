//! Costs of geometry shaders, by dispatch mode.

use std::collections::BTreeMap;

use serde::Serialize;

use a4emu_shader::LANES;

use crate::draw::gs::dispatch::{Choice, Mode, Why};

/// Cost of draws with one mode and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Number of draws.
    pub draws: u64,
    /// Number of input primitives.
    pub primitives: u64,
    /// Number of invocations.
    pub invocations: u64,
    /// Number of runs of the shader up to the one that killed, as the chip would run them.
    pub runs: u64,
    /// Number of emitted vertices.
    pub vertices: u64,
    /// Number of complete points, lines and triangles of stream 0.
    #[serde(skip)]
    pub emitted: u64,
    /// Number of warps.
    pub warps: u64,
    /// Number of extra warps that probe for a kill after the last vertex.
    pub probes: u64,
    /// Number of lanes started, including those after a kill.
    #[serde(skip)]
    pub lanes: u64,
    /// Number of warp instructions.
    pub instructions: u64,
    /// Number of instructions summed over lanes, as serial execution would need.
    pub lane_instructions: u64,
    /// Vec4 registers beyond the budget, summed over warps.
    pub spills: u64,
}

impl Cost {
    /// Adds a later cost.
    pub fn add(&mut self, later: &Self) {
        self.draws += later.draws;
        self.primitives += later.primitives;
        self.invocations += later.invocations;
        self.runs += later.runs;
        self.vertices += later.vertices;
        self.emitted += later.emitted;
        self.warps += later.warps;
        self.probes += later.probes;
        self.lanes += later.lanes;
        self.instructions += later.instructions;
        self.lane_instructions += later.lane_instructions;
        self.spills += later.spills;
    }
}

/// Costs of all draws so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchCosts(BTreeMap<(Mode, Why), Cost>);

/// One row of the costs, as `--stats` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostRow {
    /// Dispatch mode.
    pub mode: Mode,
    /// Reason for the mode.
    pub why: Why,
    /// Cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// Share of lanes that were started.
    pub started: f64,
    /// Share of lanes with a run that counted.
    pub occupancy: f64,
}

impl DispatchCosts {
    /// Returns the number of complete primitives of stream 0 so far.
    pub fn emitted(&self) -> u64 {
        self.0.values().map(|cost| cost.emitted).sum()
    }

    /// Adds the cost of a draw.
    pub fn add(&mut self, choice: &Choice, cost: &Cost) {
        self.0.entry((choice.mode, choice.why)).or_default().add(cost);
    }

    /// Returns the rows, by mode and reason.
    pub fn rows(&self) -> Vec<CostRow> {
        self.0.iter().map(|((mode, why), cost)| row(*mode, *why, cost)).collect()
    }
}

fn row(mode: Mode, why: Why, cost: &Cost) -> CostRow {
    let share = |lanes: u64| lanes as f64 / (cost.warps * LANES as u64).max(1) as f64;
    CostRow { mode, why, cost: *cost, started: share(cost.lanes), occupancy: share(cost.runs) }
}
