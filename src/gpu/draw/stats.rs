//! Counts and times of everything drawn so far: what `--stats` prints.

use serde::Serialize;

use super::gs::cost::Row;
use crate::fault::Place;
use crate::fidelity::Line;
use crate::gpu::Stage;
use a4emu_shader::{Counting, InstructionCount};

/// What `--stats` prints.
#[derive(Clone, Debug, Serialize)]
pub struct StatsReport {
    #[serde(flatten)]
    pub(super) stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tessellation: Option<TessellationCost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) geometry: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) guesses: Option<Vec<Line>>,
}

/// Counts and times of everything drawn so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Draws and dispatches run.
    pub draws: u64,
    /// Draws among them that ran again with all of their buffer. It is no result, and not put out.
    #[serde(skip)]
    pub reruns: u64,
    /// Vertices shaded.
    pub vertices: u64,
    /// Primitives that reached the rasteriser.
    pub primitives: u64,
    /// Warps run.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Those of them that ran as machine code.
    pub compiled: u64,
    /// Samples that passed depth and stencil.
    pub pixels: u64,
    /// Milliseconds by stage.
    pub ms: StageTimes,
}

/// Milliseconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StageTimes {
    /// Registers to state.
    pub snapshot: f64,
    /// Fetch and vertex shader.
    pub vertex: f64,
    /// Clipping and set-up.
    pub primitive: f64,
    /// Rasteriser, fragment shader, merge.
    pub fragment: f64,
    /// Copies to memory.
    pub resolve: f64,
    /// Dispatches.
    pub compute: f64,
}

impl StageTimes {
    /// What each of `runs` runs took since `before`, on average.
    pub fn since(&self, before: &Self, runs: u32) -> Self {
        let each = |now: f64, then: f64| (now - then) / f64::from(runs.max(1));
        Self {
            snapshot: each(self.snapshot, before.snapshot),
            vertex: each(self.vertex, before.vertex),
            primitive: each(self.primitive, before.primitive),
            fragment: each(self.fragment, before.fragment),
            resolve: each(self.resolve, before.resolve),
            compute: each(self.compute, before.compute),
        }
    }
}

/// What tessellation cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TessellationCost {
    /// Patches.
    pub patches: u64,
    /// Those of them without points.
    pub culled: u64,
    /// Domain points.
    pub points: u64,
    /// Points, lines and triangles that came out.
    pub primitives: u64,
}

/// What the shader of a stage took for a draw, or for some of its fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageCost {
    /// Where the draw was issued.
    pub at: Place,
    /// The stage.
    pub stage: Stage,
    /// Warp instructions run.
    pub instructions: u64,
    /// All that it did, in units of the budget.
    pub units: u64,
    /// Samples that passed depth and stencil.
    pub samples: u64,
    /// How often each instruction ran; empty if they are not counted.
    pub counts: Vec<InstructionCount>,
}

/// What the stages of draws took, in the order of their ends, for whoever asks.
#[derive(Debug, Default)]
pub struct CostList {
    /// A stage of a draw each.
    pub list: Vec<StageCost>,
    /// Whether instructions are counted, too.
    pub counting: Counting,
}

impl CostList {
    /// An empty one.
    pub fn new(counting: Counting) -> Self {
        Self { list: Vec::new(), counting }
    }
}
