//! The emulator as the device's GPU. Submits run here one at a time, each to its end.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use a4emu_gpu::ambient::{self, Members};
use a4emu_gpu::budget::{Budget, OptionNames};
use a4emu_gpu::cp::{Call, Cp, Flow, Observer, Renderer, Tee};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::gpu::{Chip, Clock, Gpu, Host};
use a4emu_gpu::memory::Address;
use a4emu_gpu::settled::Running;
use a4emu_process::ledger::Word;
use a4emu_process::summary::Summary;
use a4emu_rules::Watch;
use a4emu_shader::jit;
use rayon::ThreadPool;
use rustix::io::Errno;

use crate::arena;
use crate::bo::Bo;
use crate::device::{self, Device};
use crate::ffi::{Inode, threads};
use crate::frames::{Frames, Taken};
use crate::kgsl::places::Change;
use crate::ledger::Reporter;
use crate::param::timestamp;
use crate::record::{Group, Recorder, process};
use crate::replica::Wanted;
use crate::ring::{Awaited, Job, Reach, Span};
use crate::settings;
use crate::share::{ShareTask, SharedFiles};
use crate::uapi;

/// Time that a submit may wait for the program to write memory. The kernel's drivers take a GPU for hung after two seconds;
/// here the program may share its processor with the GPU.
const PATIENCE: Duration = Duration::from_secs(10);

/// The option of `a4emu run` that allows more work, for messages.
const OPTIONS: OptionNames = OptionNames { work: "--max-work", ..OptionNames::NONE };

/// The result of a submit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Whether its ioctl fails.
    pub failed: bool,
    /// Whether it was cut off because it did not end.
    pub hung: bool,
}

/// The GPU, with the recorder, the checks and the reports.
pub struct Engine {
    gpu: Gpu,
    recorder: Option<Recorder>,
    /// Counts so far.
    summary: Summary,
    /// Leaves the summaries for the launcher.
    reporter: Option<Reporter>,
    /// The file of the last submit.
    last: Option<Inode>,
    /// Sends presented frames to the launcher.
    frames: Option<Frames>,
    /// Files that are the memory of buffers.
    shared_files: SharedFiles,
    /// Objects of the KGSL device: length in bytes by address.
    objects: BTreeMap<u64, usize>,
    /// Checks the rules of `validate`.
    watch: Option<Watch>,
    /// Threads that draws run on, including this one. They receive no signals.
    threads: ThreadPool,
}

/// An observer that counts draws and dispatches.
#[derive(Default)]
struct Counts {
    draws: u64,
    dispatches: u64,
}

impl Observer for Counts {
    fn ignores_packets(&self) -> bool {
        true
    }

    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        match call {
            Call::Draw(_) | Call::Uncounted(_) => self.draws += 1,
            Call::Dispatch(_) => self.dispatches += 1,
            Call::Blit(_) => {}
        }
        Flow::Continue
    }
}

/// Lets the ioctl of the running submit return, so that the program can write what the GPU waits for.
fn release_program() {
    if let Some(device) = device::existing() {
        device.state().ring.release();
        device.announce_progress();
    }
}

impl Engine {
    /// Makes a chip in its initial state, for the calling thread.
    ///
    /// # Errors
    /// The call fails with `EAGAIN` if that thread belongs to a pool already, and like [`Reporter::new`].
    pub fn new(chip: Chip) -> Result<Self, Errno> {
        let folder = settings::get().folder.as_deref();
        let reporter = folder.map(Reporter::new).transpose()?;
        let mut engine = Self {
            gpu: Gpu::new(chip),
            recorder: Recorder::new(chip, settings::get()),
            summary: Summary { pid: std::process::id(), process: process(), ..Summary::default() },
            last: None,
            frames: None,
            reporter,
            shared_files: SharedFiles::default(),
            objects: BTreeMap::new(),
            watch: None,
            threads: ambient::pool(settings::get().threads, Members::AndThis).map_err(|_| Errno::AGAIN)?,
        };
        // Wait until all threads have started, so that their start is not measured as part of a submit.
        engine.threads.broadcast(|_| threads::mark());
        engine.gpu.model = settings::get().model;
        engine.gpu.clock = Clock::Ticks(timestamp);
        engine.gpu.pipeline.programs.jit = settings::get().jit;
        engine.gpu.pipeline.untimed = true;
        engine.watch = settings::get().validate.then(|| Watch::of_device(&mut engine.gpu));
        engine.open_frames();
        engine.leave_summary();
        Ok(engine)
    }

    /// Runs a submit to its end, or until its work limit.
    ///
    /// In strict mode the submit fails if the GPU faulted, was cut off, read outside of all buffers or met
    /// an unsupported feature.
    pub fn run(&mut self, device: &Device, job: &mut Job) -> Outcome {
        self.follow(device);
        self.change(std::mem::take(&mut job.changes));
        let job = &*job;
        for (address, value) in &job.patches {
            // The address was checked: it is in a buffer.
            let _ = self.gpu.memory_mut().write_u32(Address::new(*address), *value);
        }
        self.record(job);
        let before = self.complaints();
        let missing = std::mem::take(&mut self.gpu.report.missing);
        let start = Instant::now();
        self.execute(job);
        if let Some(recorder) = &mut self.recorder {
            let written = self.gpu.memory_mut().take_writes();
            recorder.ran(self.gpu.sync().memory(), &written);
        }
        if let Some(why) = jit::refusal() {
            self.summary.trouble =
                Some(format!("shaders are interpreted: no memory for machine code ({why})"));
        }
        self.summary.milliseconds += start.elapsed().as_secs_f64() * 1e3;
        self.summary.submits += 1;
        self.last = Some(job.file);
        let hung = self.gpu.budget.cut().is_some();
        self.summary.hangs += u64::from(hung);
        let bad = self.complaints() > before || !self.gpu.report.missing.is_empty();
        self.gpu.report.missing.extend(missing.iter());
        self.take_frame(job);
        self.publish(device);
        Outcome { failed: settings::get().strict && (bad || hung), hung }
    }

    /// Handles a panic of the emulator during a submit. The program sees a hang and may continue.
    pub fn broke(&mut self, device: &Device, panic: &(dyn Any + Send)) -> Outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        self.summary.trouble =
            Some(format!("a mistake of a4emu's, in submit {}: {text}", self.summary.submits));
        self.summary.submits += 1;
        self.summary.hangs += 1;
        self.publish(device);
        Outcome { failed: true, hung: true }
    }

    /// Opens the launcher's pipe for frames, if there is one.
    fn open_frames(&mut self) {
        let folder = settings::get().folder.as_deref().filter(|_| settings::get().frames);
        if let (Some(folder), Some(reporter)) = (folder, &self.reporter) {
            match Frames::open(folder, reporter.row.sender) {
                Ok(frames) => self.frames = Some(frames),
                Err(error) => self.fail(Word::FramesError, &error.into()),
            }
        }
    }

    /// Sends the frame of the last submit.
    fn take_frame(&mut self, job: &Job) {
        let submit = self.gpu.at.submit.wrapping_sub(1);
        match self.frames.as_mut().map(|frames| frames.take(self.gpu.sync(), job, submit)) {
            Some(Ok(Taken::Frame)) => self.reporter.iter().for_each(|it| it.row.count(Word::Frames)),
            Some(Ok(Taken::Nothing)) | None => {}
            Some(Err(error)) => {
                self.fail(Word::FramesError, &error);
                self.frames = None;
            }
        }
    }

    /// Tells the launcher of an error.
    fn fail(&self, word: Word, error: &io::Error) {
        self.reporter.iter().for_each(|it| it.row.fail(word, error));
    }

    fn complaints(&self) -> u64 {
        self.gpu.report.troubles.total()
    }

    /// Runs the command buffers, within the work limit.
    fn execute(&mut self, job: &Job) {
        let Self { gpu, threads, last, watch, .. } = self;
        gpu.budget = Budget::new(settings::get().max_work).naming(OPTIONS);
        let awaited = if job.awaited == Awaited::Observed { release_program } else { || () };
        gpu.host = Some(Host { awaited, patience: PATIENCE });
        // The program may have written memory until now. All command buffers of the submit see one state.
        gpu.memory_mut().host_may_have_written();
        gpu.pipeline.schedule = if watch.is_some() { Schedule::InOrder } else { Schedule::Deferred };
        let same_file = *last == Some(job.file);
        let commands = job.commands.iter().filter(|(_, restores)| !(*restores && same_file));
        let run = || {
            gpu.begin_submit();
            let mut counts = Counts::default();
            let mut both;
            let observer: &mut dyn Observer = match watch {
                Some(watch) => {
                    both = Tee(vec![&mut counts, watch]);
                    &mut both
                }
                None => &mut counts,
            };
            let mut renderer = Renderer;
            let mut cp = Cp::new(gpu, &mut renderer, observer);
            for (span, _) in commands {
                cp.submit_part(Address::new(span.address), (span.len / 4) as u32);
            }
            gpu.settle();
            gpu.at.submit += 1;
            counts
        };
        let counts = threads.install(run);
        self.summary.draws += counts.draws;
        self.summary.dispatches += counts.dispatches;
    }

    /// Applies the buffers that were allocated and released since the last submit.
    fn follow(&mut self, device: &Device) {
        let changes = arena::lock(&device.arena).take_changes();
        self.shared_files.forget(&changes.unshared);
        for gone in changes.gone {
            self.gpu.memory_mut().unmap(gone.start, gone.end);
        }
        for (address, pages) in changes.born {
            let seen = pages.seen.clone();
            self.gpu.memory_mut().map_shared(address, Arc::new(pages), seen);
        }
    }

    /// Applies what has changed in the address space of the KGSL device since the last submit.
    fn change(&mut self, changes: Vec<Change>) {
        let memory = self.gpu.memory_mut();
        for change in changes {
            match change {
                Change::Gone(range) => {
                    memory.unmap(range.start, range.end);
                    self.objects.retain(|start, _| !range.contains(start));
                }
                Change::Born(address, pages) => {
                    let (len, seen) = (pages.as_ref().len(), pages.seen.clone());
                    memory.map_shared(Address::new(address), Arc::new(pages), seen);
                    self.objects.insert(address, len);
                }
            }
        }
    }

    /// Executes a share task between two submits.
    ///
    /// # Errors
    /// The call fails like [`SharedFiles::run`].
    pub fn run_share_task(&mut self, device: &Device, task: &ShareTask) -> Result<String, Errno> {
        self.follow(device);
        self.shared_files.run(task, &device.arena)
    }

    fn record(&mut self, job: &Job) {
        let number = self.summary.submits;
        let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.wants(number)) else { return };
        self.gpu.memory_mut().log_writes();
        let memory = self.gpu.sync().memory();
        let contents = |(span, (_, access)): (&Span, &(Arc<Bo>, u32))| {
            let is_dumped = access & uapi::submit::BO_DUMP != 0;
            let wanted = if is_dumped { Wanted::Contents } else { Wanted::Changes };
            Some((span.address, memory.slice(Address::new(span.address), span.len as usize)?, wanted))
        };
        let mapped = self.objects.iter().filter(|_| job.reach == Reach::All);
        let mapped = mapped.filter_map(|(address, len)| {
            Some((*address, memory.slice(Address::new(*address), *len)?, Wanted::Changes))
        });
        let listed = job.buffers.iter().zip(&job.owners).filter_map(contents);
        let group = Group {
            fence: job.fence,
            buffers: listed.chain(mapped).collect(),
            commands: job.commands.iter().map(|(span, _)| (span.address, (span.len / 4) as u32)).collect(),
        };
        match recorder.add(&group) {
            Ok(recording) => self.summary.recording = Some(recording),
            Err(error) => {
                self.fail(Word::RecordingError, &error);
                self.summary.trouble = Some(format!("recording stopped before submit {number}: {error}"));
                self.recorder = None;
            }
        }
    }

    /// Publishes the counts.
    fn publish(&mut self, device: &Device) {
        self.leave_summary();
        if self.reporter.is_none() {
            device.summary().clone_from(&self.summary);
        }
    }

    /// Writes the summary for the launcher, if there is one.
    fn leave_summary(&mut self) {
        self.summary.take_report(&self.gpu.report);
        self.watch.iter().for_each(|watch| self.summary.take_findings(watch, &settings::get().findings));
        // The launcher reads from the row that it failed.
        self.reporter.iter_mut().for_each(|it| _ = it.put(&self.summary));
    }
}
