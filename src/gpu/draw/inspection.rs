//! What a caller wants to be recorded of draws ([`Inspection`]), and what was recorded ([`Inspected`]).
//!
//! [`Gpu::inspect`](crate::gpu::Gpu::inspect) takes the one and returns the other. What lasts for a whole run is apart:
//! [`Gpu::watch_guesses`](crate::gpu::Gpu::watch_guesses) and
//! [`Gpu::watch_choices`](crate::gpu::Gpu::watch_choices).

use std::sync::Arc;

use super::fs::history::Touch;
use super::fs::reasons::Reasons;
use super::gs::runs::GeometryRuns;
use super::stats::StageCost;
use a4emu_shader::Counting;

/// What to record of the draws that run from now on. Nothing of it changes a result.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// Record the cost of each stage of each draw, and perhaps how often each instruction ran.
    pub costs: Option<Counting>,
    /// Record the runs of the geometry shader for the primitive of this number, in the first draw that has the stage.
    pub geometry_runs: Option<usize>,
    /// The map to which the fates of fragments are added. The caller keeps another reference to it.
    pub reasons: Option<Arc<Reasons>>,
    /// Record what the primitives of the draw do to these pixels, by their screen positions.
    pub pixels: Option<Vec<[i32; 2]>>,
}

/// What was recorded.
#[derive(Debug, Default)]
pub struct Inspected {
    /// One entry per stage and draw, in the order in which they finished.
    pub costs: Vec<StageCost>,
    /// The runs of a geometry shader, if one ran.
    pub geometry_runs: Option<GeometryRuns>,
    /// For each of [`Inspection::pixels`], in the same order: what the primitives of the draw did to it. Empty if the
    /// draw did not run.
    pub pixels: Vec<Vec<Touch>>,
}

/// How closely a run is observed. The finer the observation, the fewer shortcuts draws may take; none of them changes
/// the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Observation {
    /// Only the results of submits.
    None,
    /// The cost of each draw, the runs of its geometry shader, or single instructions for performance counters.
    Draw,
    /// The fate of single pixels.
    Pixel,
    /// The guesses that instructions and fixed functions rest on.
    Instruction,
}

impl Inspection {
    /// How closely this observes draws.
    pub(super) fn observation(&self) -> Observation {
        let Self { costs, geometry_runs, reasons, pixels } = self;
        if pixels.is_some() || reasons.is_some() {
            Observation::Pixel
        } else if costs.is_some() || geometry_runs.is_some() {
            Observation::Draw
        } else {
            Observation::None
        }
    }
}
