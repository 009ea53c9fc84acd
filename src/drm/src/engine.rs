//! The emulator, as the device's one GPU: submits run here, one at a time, to their end.

use std::fs;
use std::sync::Mutex;
use std::time::Instant;

use a4emu::budget::Budget;
use a4emu::cp::{Call, Cp, Flow, Observer, Renderer};
use a4emu::fault::Report;
use a4emu::gpu::{Chip, Gpu};
use a4emu::run::summary::Summary;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rustix::io::Errno;

use crate::arena::{self, Arena, Change};
use crate::ffi::Inode;
use crate::record::{Group, Recorder, process};
use crate::settings;

/// A range of GPU addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub len: u64,
}

/// A submit, checked.
#[derive(Debug, Default)]
pub struct Job {
    /// Which open file it came through.
    pub file: Inode,
    /// Its fence's number.
    pub fence: u32,
    /// Its buffers.
    pub buffers: Vec<Span>,
    /// Words to store first: address and value.
    pub patches: Vec<(u32, u32)>,
    /// Command buffers in order, and whether each only restores what another file's submit
    /// may have changed.
    pub commands: Vec<(Span, bool)>,
}

/// The GPU and what goes with it.
pub struct Engine {
    gpu: Gpu,
    recorder: Option<Recorder>,
    /// Counts so far.
    summary: Summary,
    /// The file whose submit ran last.
    last: Option<Inode>,
    /// Threads of a forked child's own, once it needs them.
    threads: Option<ThreadPool>,
    /// This is such a child: the threads of its parent did not come along.
    forked: bool,
}

/// Counts draws and dispatches.
#[derive(Default)]
struct Counts {
    draws: u64,
    dispatches: u64,
}

impl Observer for Counts {
    fn call(&mut self, _: &Gpu, call: &Call) -> Flow {
        match call {
            Call::Draw(_) | Call::Uncounted(_) => self.draws += 1,
            Call::Dispatch(_) => self.dispatches += 1,
        }
        Flow::Continue
    }
}

impl Engine {
    /// A chip after power-on.
    pub fn new(chip: Chip) -> Self {
        Self {
            gpu: Gpu::new(chip),
            recorder: Recorder::new(settings::get()),
            summary: Summary::default(),
            last: None,
            threads: None,
            forked: false,
        }
    }

    /// Runs a submit to its end.
    ///
    /// # Errors
    /// `EIO` in strict mode, if the GPU faulted, read outside of all buffers or met something
    /// that is not supported.
    pub fn run(&mut self, arena: &Mutex<Arena>, job: &Job) -> Result<(), Errno> {
        self.follow(&mut arena::lock(arena));
        for (address, value) in &job.patches {
            // Checked: it lies in a buffer.
            let _ = self.gpu.mem.write_u32(*address, *value);
        }
        self.record(job);
        let before = self.complaints();
        let missing = std::mem::take(&mut self.gpu.report.missing);
        let start = Instant::now();
        self.execute(job);
        self.summary.milliseconds += start.elapsed().as_secs_f64() * 1e3;
        self.summary.submits += 1;
        self.last = Some(job.file);
        let bad = self.complaints() > before || !self.gpu.report.missing.is_empty();
        self.gpu.report.missing.extend(missing.iter());
        if self.summary.submits.is_power_of_two() {
            // A process that is killed has then said something.
            self.put_out();
        }
        if settings::get().strict && bad { Err(Errno::IO) } else { Ok(()) }
    }

    fn complaints(&self) -> u64 {
        self.gpu.report.troubles.total()
    }

    /// Runs the command buffers, on this process's threads.
    fn execute(&mut self, job: &Job) {
        if self.forked && self.threads.is_none() {
            self.threads = ThreadPoolBuilder::new().build().ok();
        }
        let Self { gpu, threads, last, .. } = self;
        let same_file = *last == Some(job.file);
        let commands = job.commands.iter().filter(|(_, restores)| !(*restores && same_file));
        let run = || {
            let mut counts = Counts::default();
            gpu.budget = Budget::default();
            for (span, _) in commands {
                let dwords = (span.len / 4) as u32;
                Cp::new(gpu, &mut Renderer, &mut counts).submit(span.address, dwords);
            }
            gpu.at.submit += 1;
            counts
        };
        let counts = match threads {
            Some(threads) => threads.install(run),
            None => run(),
        };
        self.summary.draws += counts.draws;
        self.summary.dispatches += counts.dispatches;
    }

    /// Maps and unmaps buffers as the program did since the last submit.
    fn follow(&mut self, arena: &mut Arena) {
        for change in arena.take_changes() {
            match change {
                Change::Map { address, pages } => self.gpu.mem.map_shared(address, Box::new(pages)),
                Change::Unmap { address, len } => {
                    self.gpu.mem.unmap(u64::from(address), u64::from(address) + len);
                }
            }
        }
    }

    fn record(&mut self, job: &Job) {
        let number = self.summary.submits;
        let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(number)) else { return };
        let contents =
            |span: &Span| self.gpu.mem.slice(span.address, span.len as usize).map(|b| (span.address, b));
        let group = Group {
            fence: job.fence,
            buffers: job.buffers.iter().filter_map(contents).collect(),
            commands: job.commands.iter().map(|(span, _)| (span.address, (span.len / 4) as u32)).collect(),
        };
        if let Err(error) = recorder.add(&group) {
            eprintln!("a4emu: recording stops: {error}");
            self.recorder = None;
        }
    }

    /// In a forked child: threads, a recording and counts of its own.
    pub fn part_from_parent(&mut self) {
        self.forked = true;
        // Not dropped: that would wait for threads that are not in this process.
        std::mem::forget(self.threads.take());
        self.recorder = Recorder::new(settings::get());
        self.summary = Summary::default();
        self.gpu.report = Report::default();
    }

    /// The process ends: puts out what was counted.
    pub fn finish(&mut self) {
        self.put_out();
        if settings::get().folder.is_none() && self.summary.submits > 0 {
            eprintln!("{}", self.summary);
        }
    }

    /// Leaves the summary for the launcher, if there is one.
    fn put_out(&mut self) {
        self.summary.process = process();
        self.summary.recorded = self.recorder.as_ref().and_then(Recorder::path);
        self.summary.take_report(&self.gpu.report);
        let Some(folder) = &settings::get().folder else { return };
        let file = folder.join(format!("{:010}.json", std::process::id()));
        let written = serde_json::to_vec(&self.summary).map(|json| fs::write(&file, json));
        if !matches!(written, Ok(Ok(()))) {
            eprintln!("a4emu: cannot leave a summary in {}", file.display());
        }
    }
}
