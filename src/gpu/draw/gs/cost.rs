//! What geometry shaders cost, by the mode that they ran in.

use std::collections::BTreeMap;

use serde::Serialize;

use a4emu_shader::LANES;

use crate::draw::gs::dispatch::{Choice, Mode, Why};

/// What draws in one mode for one reason cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Draws.
    pub draws: u64,
    /// Input primitives.
    pub primitives: u64,
    /// Invocations.
    pub invocations: u64,
    /// Runs of the shader up to and with the one that killed: what the chip would run.
    pub runs: u64,
    /// Vertices that came out.
    pub vertices: u64,
    /// Warps.
    pub warps: u64,
    /// Warps besides, to see what shaders would do behind their last vertex.
    pub probes: u64,
    /// Lanes that were started in them, those behind a kill included.
    #[serde(skip)]
    pub lanes: u64,
    /// Warp instructions.
    pub instructions: u64,
    /// Instructions summed over lanes: what runs one after the other would take.
    pub lane_instructions: u64,
    /// Vec4 registers beyond the budget, summed over warps.
    pub spills: u64,
}

impl Cost {
    /// Adds what came later.
    pub fn add(&mut self, later: &Self) {
        self.draws += later.draws;
        self.primitives += later.primitives;
        self.invocations += later.invocations;
        self.runs += later.runs;
        self.vertices += later.vertices;
        self.warps += later.warps;
        self.probes += later.probes;
        self.lanes += later.lanes;
        self.instructions += later.instructions;
        self.lane_instructions += later.lane_instructions;
        self.spills += later.spills;
    }
}

/// The costs of everything drawn so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DispatchCosts(BTreeMap<(Mode, Why), Cost>);

/// A row of them, as `--stats` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// How the warps were filled.
    pub mode: Mode,
    /// Why so.
    pub why: Why,
    /// What that cost.
    #[serde(flatten)]
    pub cost: Cost,
    /// Lanes started, of all lanes.
    pub started: f64,
    /// Lanes whose run counted, of all lanes.
    pub occupancy: f64,
}

impl DispatchCosts {
    /// Adds a draw.
    pub fn add(&mut self, choice: &Choice, cost: &Cost) {
        self.0.entry((choice.mode, choice.why)).or_default().add(cost);
    }

    /// The rows, by mode and reason.
    pub fn rows(&self) -> Vec<Row> {
        self.0.iter().map(|((mode, why), cost)| row(*mode, *why, cost)).collect()
    }
}

fn row(mode: Mode, why: Why, cost: &Cost) -> Row {
    let share = |lanes: u64| lanes as f64 / (cost.warps * LANES as u64).max(1) as f64;
    Row { mode, why, cost: *cost, started: share(cost.lanes), occupancy: share(cost.runs) }
}
