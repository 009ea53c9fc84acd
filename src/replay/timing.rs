//! `--loop`: repeats the last frame and measures the time.

use std::time::Instant;

use indicatif::ProgressBar;
use serde::Serialize;

use super::observe::{Submit, Submits};
use a4emu_gpu::cp::{Cp, Renderer, Silent};
use a4emu_gpu::draw::stats::StageTimes;
use a4emu_gpu::gpu::Gpu;

/// The output of `--loop`.
#[derive(Clone, Debug, Serialize)]
pub struct LoopTimes {
    runs: u32,
    timed: Timed,
    ms: Spread,
    /// Warp instructions of one run.
    instructions: u64,
    /// Samples that passed the tests in one run.
    pixels: u64,
    /// Average time of each stage in one run, in milliseconds.
    stages: StageTimes,
}

/// The submits of one run: those of the last kernel call that drew. Earlier submits cannot run again, since
/// their memory has been replaced.
#[derive(Clone, Copy, Debug, Serialize)]
struct Timed {
    first_submit: u32,
    submits: usize,
    /// Number of submits in the capture.
    of: usize,
    draws: u32,
}

/// Times in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

/// Maximum number of times that are kept: those of the first runs.
const MAX_TIMES: usize = 1 << 20;

/// Repeats the last group of `submits` that drew `runs` times and measures each run. From run to run, only data is kept
/// that a new frame would find too. The loop ends with the first run that is cut off. There is no run if the capture was
/// cut off or drew nothing.
pub fn repeat(gpu: &mut Gpu, submits: &Submits, runs: u32, bar: &ProgressBar) -> LoopTimes {
    let group = submits.last_that_drew();
    let before = gpu.pipeline.stats;
    // Each run has the budget of the whole capture.
    let (at, budget) = (gpu.at, gpu.budget.restarted());
    let (mut times, mut done) = (Vec::new(), 0);
    while done < runs && !group.is_empty() && gpu.budget.cut().is_none() {
        gpu.at = at;
        gpu.budget = budget.clone();
        gpu.pipeline.primitives.clear();
        times.extend(Some(one_run(gpu, &group)).filter(|_| times.len() < MAX_TIMES));
        done += 1;
        bar.inc(1);
    }
    times.sort_by(f64::total_cmp);
    let stats = gpu.pipeline.stats;
    bar.finish_and_clear();
    gpu.report_cut();
    let count = u64::from(done.max(1));
    LoopTimes {
        runs: done,
        timed: Timed {
            first_submit: group.first().map_or(0, |submit| submit.index),
            submits: group.len(),
            of: submits.count(),
            draws: group.iter().map(|submit| submit.draws).sum(),
        },
        ms: Spread {
            min: times.first().copied().unwrap_or(0.0),
            median: median(&times),
            max: times.last().copied().unwrap_or(0.0),
        },
        instructions: (stats.instructions - before.instructions) / count,
        pixels: (stats.pixels - before.pixels) / count,
        stages: stats.ms.since(&before.ms, done),
    }
}

/// Returns the median of sorted times, or 0 if there are none.
fn median(times: &[f64]) -> f64 {
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// The time of the submits in milliseconds.
fn one_run(gpu: &mut Gpu, submits: &[Submit]) -> f64 {
    let start = Instant::now();
    let (mut renderer, mut silent) = (Renderer, Silent);
    let mut cp = Cp::new(gpu, &mut renderer, &mut silent);
    for submit in submits {
        cp.submit_part(submit.address, submit.dwords);
    }
    gpu.settle();
    start.elapsed().as_secs_f64() * 1e3
}
