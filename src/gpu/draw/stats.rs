//! Counts and times of all draws so far, as `--stats` prints them.

use std::time::Instant;

use serde::Serialize;

use super::gs::cost::CostRow;
use super::work::{Geometry, ShaderWork, TessellationCost};
use crate::fault::Place;
use crate::fidelity::Line;
use crate::machine::{STAGES, Stage};
use a4emu_shader::{InstructionClass, InstructionCount};

/// Report that `--stats` prints.
#[derive(Clone, Debug, Serialize)]
pub struct StatsReport {
    #[serde(flatten)]
    pub(super) stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tessellation: Option<TessellationCost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) geometry: Vec<CostRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) guesses: Option<Vec<Line>>,
}

/// Counts and times of all draws so far. The counts are the chip's, as docs/hardware/counters.md defines them: the same
/// with every [`Schedule`](super::Schedule), on any number of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Draws and dispatches run.
    pub draws: u64,
    /// Vertices shaded.
    pub vertices: u64,
    /// Primitives that reached the rasteriser.
    pub primitives: u64,
    /// Pixels, or samples if it runs for each, that the fragment shader runs for, without helper lanes.
    pub fragments: u64,
    /// Warps run.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Samples that passed depth and stencil.
    pub pixels: u64,
    /// Work of each stage, in their order, for performance counters.
    #[serde(skip)]
    pub stages: [StageWork; STAGES.len()],
    /// What the emulator ran of all this. The rest was known from the tile before, or is the same for all pixels.
    pub emulated: Emulated,
    /// Milliseconds by stage.
    pub ms: StageTimes,
}

impl Stats {
    /// Returns the counts without times and what the emulator did.
    #[must_use]
    pub fn of_chip(self) -> Self {
        Self { emulated: Emulated::default(), ms: StageTimes::default(), ..self }
    }

    /// Adds what the chip runs to make the primitives of a draw.
    pub fn add_geometry(&mut self, geometry: &Geometry) {
        self.vertices += geometry.vertices;
        self.primitives += geometry.primitives;
        self.add_work(Stage::VS, &geometry.work);
        let later = geometry.later.iter().flat_map(|later| &later.work);
        later.for_each(|(stage, work)| self.add_work(*stage, work));
    }

    /// Adds what the chip runs for the shader of a stage.
    pub fn add_work(&mut self, stage: Stage, work: &ShaderWork) {
        let ShaderWork { warps, instructions, lanes, samples, classes, .. } = work.of_chip();
        self.pixels += samples;
        self.warps += warps;
        self.instructions += instructions;
        self.fragments += if stage == Stage::FS { lanes } else { 0 };
        let of_stage = &mut self.stages[stage as usize];
        of_stage.instructions += instructions;
        of_stage.classes.iter_mut().zip(classes).for_each(|(all, more)| *all += more);
    }
}

/// What the chip ran of the shaders of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageWork {
    /// Warp instructions.
    pub instructions: u64,
    /// Warp instructions of each class, counted only while a performance counter needs it or costs are counted.
    pub classes: [u64; InstructionClass::COUNT],
}

/// What the emulator ran, which depends on what it knew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Emulated {
    /// Vertices shaded.
    pub vertices: u64,
    /// Warps run.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Instructions of `instructions` that ran as machine code.
    pub compiled: u64,
}

/// Milliseconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StageTimes {
    /// Snapshots of registers.
    pub snapshot: f64,
    /// Fetch and vertex shader.
    pub vertex: f64,
    /// Clipping and set-up.
    pub primitive: f64,
    /// Rasteriser, fragment shader, render backend.
    pub fragment: f64,
    /// Copies to memory.
    pub resolve: f64,
    /// Dispatches.
    pub compute: f64,
}

impl StageTimes {
    /// Returns the average time of each of `runs` runs since `before`.
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

/// Cost of the shader of a stage for a draw, or for some of its fragments: what the chip runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageCost {
    /// Place of the draw in the command stream.
    pub at: Place,
    /// The stage.
    pub stage: Stage,
    /// Warp instructions run.
    pub instructions: u64,
    /// Total cost in budget units, of what the chip runs.
    pub units: u64,
    /// Samples that passed depth and stencil.
    pub samples: u64,
    /// Execution count of each instruction, empty unless enabled.
    pub counts: Vec<InstructionCount>,
}

/// Measures the time of a part of a draw.
#[derive(Clone, Copy)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts the measurement.
    pub fn start() -> Self {
        Self(Some(Instant::now()))
    }

    /// One that measures nothing.
    pub fn off() -> Self {
        Self(None)
    }

    /// Returns the time since the start, or 0 if it is not measured.
    pub fn milliseconds(self) -> f64 {
        self.0.map_or(0.0, |start| start.elapsed().as_secs_f64() * 1e3)
    }
}
