//! How closely a run is observed.

use crate::gpu::Gpu;

/// What observers of a run need to see. The finer the observation, the fewer shortcuts draws may take; none of them
/// changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Observation {
    /// Only the results of submits.
    None,
    /// The cost of each draw, the runs of its geometry shader, or single instructions for performance counters.
    Draw,
    /// The fate of single pixels.
    Pixel,
    /// The guesses that instructions and fixed functions rest on.
    Instruction,
}

impl Observation {
    /// Returns the finest observation that the settings of `gpu` request.
    pub fn of(gpu: &Gpu) -> Self {
        let pipeline = &gpu.pipeline;
        if gpu.fidelity.is_some() {
            Self::Instruction
        } else if pipeline.watch.is_some() || pipeline.reasons.is_some() {
            Self::Pixel
        } else if pipeline.costs.is_some() || pipeline.geometry_runs.is_some() || pipeline.counts_classes {
            Self::Draw
        } else {
            Self::None
        }
    }

    /// Returns whether draws may be queued for worker threads.
    pub fn allows_deferral(gpu: &Gpu) -> bool {
        gpu.pipeline.schedule.defers() && Self::of(gpu) == Self::None
    }
}
