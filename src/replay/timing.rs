//! `--loop`: the last frame, again and again, and what it takes.

use std::time::Instant;

use indicatif::ProgressBar;
use serde::Serialize;

use super::observe::{Submit, Submits};
use a4emu_gpu::cp::{Cp, Renderer, Silent};
use a4emu_gpu::draw;
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::draw::stats::StageTimes;
use a4emu_gpu::gpu::Gpu;

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

/// Runs whose times are kept; of more, the first.
const MAX_TIMES: usize = 1 << 20;

/// Runs the last of `submits` that drew again `runs` times and times it. Nothing is kept from run to
/// run that a new frame would not find as well. It ends with the first run that is cut off, and is none where the capture
/// was, or drew nothing.
pub fn repeat(gpu: &mut Gpu, submits: &Submits, runs: u32, bar: &ProgressBar) -> LoopTimes {
    gpu.pipeline.schedule = Schedule::Deferred;
    let group = submits.last_that_drew();
    let mut times = Vec::new();
    let before = gpu.pipeline.stats;
    let at = gpu.at;
    // Each run may do what all of the capture could.
    let budget = gpu.budget.restarted();
    let mut done = 0;
    while done < runs && !group.is_empty() && gpu.budget.cut().is_none() {
        gpu.at = at;
        gpu.budget = budget.clone();
        gpu.pipeline.primitives.clear();
        times.extend(Some(one_run(gpu, &group)).filter(|_| times.len() < MAX_TIMES));
        done += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    gpu.report_cut();
    times.sort_by(f64::total_cmp);
    let each = u64::from(done.max(1));
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
            median: times.get(times.len() / 2).copied().unwrap_or(0.0),
            max: times.last().copied().unwrap_or(0.0),
        },
        instructions: (gpu.pipeline.stats.instructions - before.instructions) / each,
        pixels: (gpu.pipeline.stats.pixels - before.pixels) / each,
        stages: gpu.pipeline.stats.ms.since(&before.ms, done),
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
