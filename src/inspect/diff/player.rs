//! Plays a capture several times for a comparison.

use crate::describe::Capture;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Engine, Observer};
use a4emu_gpu::gpu::Gpu;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;

/// Number of compared captures.
const CAPTURES: u32 = 2;

/// A capture with the budget of all its runs. Each run uses what the earlier ones left. Equal captures are
/// cut off at equal places.
pub struct Player {
    capture: Capture,
    limits: Limits,
    left: Option<Budget>,
}

impl Player {
    /// Makes a player of `capture` with its share of `limits`.
    pub fn new(capture: Capture, limits: &Limits) -> Self {
        Self { capture, limits: limits.clone(), left: None }
    }

    /// The capture.
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Plays the capture once.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened.
    pub fn run(
        &mut self,
        engine: &mut dyn Engine,
        observer: &mut dyn Observer,
        shared: &Shared,
    ) -> anyhow::Result<Gpu> {
        let mut playback = self.limits.playback_of_many(self.capture.name(), CAPTURES);
        if let Some(left) = self.left.take() {
            playback.gpu.budget = left;
        }
        playback.run(self.capture.sections(&playback.gpu.budget, shared)?, engine, observer);
        self.left = Some(playback.gpu.budget.clone());
        Ok(playback.gpu)
    }
}
