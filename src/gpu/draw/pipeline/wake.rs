//! Wakes a worker thread shortly before work arrives, because waking takes as long as drawing a band.
//!
//! This affects timing only, never results.

use crate::gpu::Gpu;
use crate::parallel::{poll_for_jobs, spawn};

/// Vertices from which on a draw counts as large.
const MANY_VERTICES: u64 = 2048;

/// Number of submits without much work after which workers are no longer woken early.
const MEMORY: u32 = 4;

/// Predicts whether work for helpers will come, because most frames are like the previous one.
#[derive(Default)]
pub(super) struct ExpectedDemand(u32);

/// Begins a submit. If recent submits had much work, wakes a worker so that it is ready in time.
pub(super) fn begin_submit(gpu: &mut Gpu) {
    let ExpectedDemand(left) = &mut gpu.pipeline.expected;
    if *left > 0 {
        *left -= 1;
        wake_worker();
    }
}

/// Records that there is work for helpers.
pub(super) fn is_needed(gpu: &mut Gpu) {
    gpu.pipeline.expected.0 = MEMORY;
}

/// Wakes a worker if a draw is about to shade many `vertices`. An idle worker does no harm.
pub(super) fn shades(gpu: &mut Gpu, vertices: u64) {
    if vertices >= MANY_VERTICES {
        is_needed(gpu);
        wake_worker();
    }
}

/// Wakes a worker thread. It helps with any work, and sleeps again after a while without work.
fn wake_worker() {
    let mine = rayon::current_thread_index();
    if mine.is_some() && rayon::current_num_threads() > 1 {
        spawn(move || poll_for_jobs(mine));
    }
}
