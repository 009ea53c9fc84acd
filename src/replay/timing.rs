//! `--loop`: repeats the last frame and measures the time.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use super::observe::{Submit, Submits};
use super::scaling::{Column, FrameUse};
use super::simulate::simulate;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Cp, Renderer, Silent};
use a4emu_gpu::draw::stats::StageTimes;
use a4emu_gpu::fault::Place;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::work_trace::recording::record;
use a4emu_gpu::work_trace::spans;
use a4emu_inspect::options::Threads;

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
    /// Predictions for other numbers of threads, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    simulated: Vec<Simulated>,
}

/// The predicted time of a run.
#[derive(Clone, Copy, Debug, Serialize)]
struct Simulated {
    threads: u16,
    /// Median of the runs, in milliseconds.
    ms: f64,
    /// The work of a run, divided by `ms`.
    speedup: f64,
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

/// Maximum number of frames of which is kept what threads did: the first ones.
const MAX_FRAMES: usize = 1 << 12;

/// Repeats the last group of `submits` that drew `runs` times and measures each run, then as often for each number of
/// threads that is to be simulated. From run to run, only data is kept that a new frame would find too. The loop ends
/// with the first run that is cut off. There is no run if the capture was cut off or drew nothing.
pub fn repeat(
    gpu: &mut Gpu,
    submits: &Submits,
    runs: u32,
    simulated: &[u16],
    bar: &ProgressBar,
) -> LoopTimes {
    let group = submits.last_that_drew();
    let before = gpu.pipeline.stats;
    let frame = Frame::new(gpu, &group, runs, bar);
    let (times, done) = frame.repeat(gpu, |gpu| one_run(gpu, &group));
    let stats = gpu.pipeline.stats;
    let simulated = simulated.iter().map(|threads| frame.simulate(gpu, *threads)).collect();
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
        simulated,
    }
}

/// Repeats the last group of `submits` that drew `runs` times on each of `measured` numbers of threads, then as often on
/// one thread for each of `predicted` numbers. Returns what each took. Call it on a thread that need not be in their pools.
pub fn on_threads(
    gpu: &mut Gpu,
    submits: &Submits,
    runs: u32,
    [measured, predicted]: [&[u16]; 2],
    bar: &ProgressBar,
) -> Vec<Column> {
    let group = submits.last_that_drew();
    let frame = Frame::new(gpu, &group, runs, bar);
    let mut columns = Vec::new();
    for &threads in measured {
        let (frame, gpu) = (frame.clone(), &mut *gpu);
        columns.push(Threads { threads: Some(threads) }.run(move || frame.measure(gpu, threads)));
    }
    for &threads in predicted {
        let (frame, gpu) = (frame.clone(), &mut *gpu);
        columns.push(Threads { threads: Some(1) }.run(move || frame.predict(gpu, threads)));
    }
    bar.finish_and_clear();
    gpu.report_cut();
    columns
}

/// The frame that is repeated.
#[derive(Clone)]
struct Frame<'a> {
    group: &'a [Submit],
    at: Place,
    /// Budget of each run: that of the whole capture.
    budget: Budget,
    /// Number of runs.
    runs: u32,
    bar: &'a ProgressBar,
}

impl<'a> Frame<'a> {
    fn new(gpu: &Gpu, group: &'a [Submit], runs: u32, bar: &'a ProgressBar) -> Self {
        Self { group, at: gpu.at, budget: gpu.budget.restarted(), runs, bar }
    }

    /// Calls `run`, which returns milliseconds, for each run. Returns these times, sorted, and how many runs there were.
    fn repeat(&self, gpu: &mut Gpu, mut run: impl FnMut(&mut Gpu) -> f64) -> (Vec<f64>, u32) {
        let (mut times, mut done) = (Vec::new(), 0);
        while done < self.runs && !self.group.is_empty() && gpu.budget.cut().is_none() {
            gpu.at = self.at;
            gpu.budget = self.budget.clone();
            gpu.pipeline.primitives.clear();
            times.extend(Some(run(gpu)).filter(|_| times.len() < MAX_TIMES));
            done += 1;
            self.bar.inc(1);
        }
        times.sort_by(f64::total_cmp);
        (times, done)
    }

    /// Measures runs in the current pool, of `threads` threads.
    fn measure(&self, gpu: &mut Gpu, threads: u16) -> Column {
        let since = Instant::now();
        spans::start(since);
        let mut frames = Vec::new();
        self.repeat(gpu, |gpu| {
            let start = since.elapsed();
            let ms = one_run(gpu, self.group);
            let end = since.elapsed();
            let spans = spans::take().threads;
            if frames.len() < MAX_FRAMES {
                frames.push(FrameUse::new(&spans, start, end));
            }
            ms
        });
        spans::stop();
        Column { threads, is_predicted: false, frame: FrameUse::median(frames) }
    }

    /// Predicts runs on `threads` threads, from what one thread does.
    fn predict(&self, gpu: &mut Gpu, threads: u16) -> Column {
        let mut frames = Vec::new();
        self.repeat(gpu, |gpu| {
            let (ms, recording) = record(threads.into(), || one_run(gpu, self.group));
            if frames.len() < MAX_FRAMES {
                let (time, spans) = simulate(&recording, threads.into());
                // Work that is done at the same time must be in different lists.
                let threads: Vec<_> = spans.into_iter().map(|span| vec![span]).collect();
                frames.push(FrameUse::new(&threads, Duration::ZERO, time));
            }
            ms
        });
        Column { threads, is_predicted: true, frame: FrameUse::median(frames) }
    }

    /// Predicts the time of a run on `threads` threads.
    fn simulate(&self, gpu: &mut Gpu, threads: u16) -> Simulated {
        let frame = self.predict(gpu, threads).frame;
        let [ms, work] = [frame.time(), frame.work()].map(|time| time.as_secs_f64() * 1e3);
        Simulated { threads, ms, speedup: if ms > 0.0 { work / ms } else { 0.0 } }
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
