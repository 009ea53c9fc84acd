//! The runs of a capture that a comparison takes.

use crate::describe::Capture;
use crate::limits::Limits;
use crate::options::Shared;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Engine, Observer};
use a4emu_gpu::gpu::Gpu;

/// Captures that are compared.
const CAPTURES: u32 = 2;

/// A capture, and what the runs of it may still do: what one leaves is for the next. Equal captures are cut off at
/// the same places.
pub struct Player {
    capture: Capture,
    limits: Limits,
    left: Option<Budget>,
}

impl Player {
    /// Plays `capture` within its share of `limits`.
    pub fn new(capture: Capture, limits: &Limits) -> Self {
        Self { capture, limits: limits.clone(), left: None }
    }

    /// What is played.
    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// One run.
    ///
    /// # Errors
    /// The capture cannot be opened.
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
