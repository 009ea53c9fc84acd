//! `--loop`: the last frame, again and again, and what it takes.

use std::time::Instant;

use indicatif::ProgressBar;
use serde::Serialize;

use super::observe::{Submit, Submits};
use crate::budget::{Budget, Work};
use crate::cp::{Cp, Renderer, Silent};
use crate::draw;
use crate::draw::Resolves;
use crate::draw::stats::StageTimes;
use crate::gpu::Gpu;

/// What `--loop` prints.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LoopTimes {
    runs: u32,
    timed: Timed,
    ms: Spread,
    /// Warp instructions of one run.
    instructions: u64,
    /// Samples that passed, of one run.
    pixels: u64,
    /// Milliseconds by stage, of one run on average.
    stages: StageTimes,
}

/// What a run is: the submits that the driver gave the kernel in one call, the last of them that drew.
/// Those before it cannot run again, for their memory is not there any more.
#[derive(Clone, Copy, Debug, Serialize)]
struct Timed {
    first_submit: u32,
    submits: usize,
    /// Of how many in the capture.
    of: usize,
    draws: u32,
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

/// Runs the last of `submits` that drew again `runs` times and times it. Nothing is kept from run to
/// run that a new frame would not find as well.
pub fn repeat(gpu: &mut Gpu, submits: &Submits, runs: u32, bar: &ProgressBar) -> LoopTimes {
    gpu.pipeline.resolves = Resolves::Late;
    let group = submits.last_that_drew();
    let mut times = Vec::with_capacity(runs as usize);
    let before = gpu.pipeline.stats;
    let at = gpu.at;
    // Each run may do what all of the capture could.
    let budget = Budget::new(gpu.budget.spent().saturating_add(gpu.budget.share(Work::Copy16, 1)));
    for _ in 0..runs {
        gpu.at = at;
        gpu.budget = budget.clone();
        gpu.pipeline.primitives.clear();
        times.push(one_run(gpu, &group));
        bar.inc(1);
    }
    bar.finish_and_clear();
    times.sort_by(f64::total_cmp);
    let runs = runs.max(1);
    LoopTimes {
        runs,
        timed: Timed {
            first_submit: group.first().map_or(0, |submit| submit.index),
            submits: group.len(),
            of: submits.count(),
            draws: group.iter().map(|submit| submit.draws).sum(),
        },
        ms: Spread {
            min: times.first().copied().unwrap_or(0.0),
            median: times.get(times.len() / 2).copied().unwrap_or(0.0),
            max: times.last().copied().unwrap_or(0.0),
        },
        instructions: (gpu.pipeline.stats.instructions - before.instructions) / u64::from(runs),
        pixels: (gpu.pipeline.stats.pixels - before.pixels) / u64::from(runs),
        stages: gpu.pipeline.stats.ms.since(&before.ms, runs),
    }
}

/// Milliseconds that the submits took.
fn one_run(gpu: &mut Gpu, submits: &[Submit]) -> f64 {
    let start = Instant::now();
    let (mut renderer, mut silent) = (Renderer, Silent);
    let mut cp = Cp::new(gpu, &mut renderer, &mut silent);
    for submit in submits {
        cp.submit_part(submit.address, submit.dwords);
    }
    draw::flush(gpu);
    start.elapsed().as_secs_f64() * 1e3
}
