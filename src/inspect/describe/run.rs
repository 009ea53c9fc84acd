//! Finds the runs of a draw, and plays a capture with a callback at each of them.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a4emu_decoder::adreno::capture::Ahead;
use a4emu_decoder::generation::Generation;
use anyhow::Context;
use hashbrown::HashMap;

use super::draw::Key;
use super::written::draws_nothing;
use crate::decode::read_ahead;
use crate::disasm::refusal;
use crate::selection::{Draws, Numbering, Selection, of_process};
use a4emu_gpu::budget::{BASE, Budget, Work};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer, Skip};
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_support::folders::read_bytes;
use a4emu_support::limits::Limits;
use a4emu_support::options::{self, Shared, accepted, open_capture};
use a4emu_support::out_file::Kept;
use a4emu_support::status::{Failure, Status};

/// Maximum number of frame draws per command. Each submit of a pass has one.
const MAX_FRAME_DRAWS: usize = 64;

/// Maximum size in bytes of a capture that [`Capture::bytes`] returns.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of commands of a group that are kept, in case a later submit holds the wanted one.
const MAX_COMMANDS: usize = 1 << 20;

/// Cost of a look at a run, in blocks of 16 bytes (a rough value).
const LOOK: u64 = 1 << 14;

/// Number of runs of the capture per query, which share the limits: one finds the draws, one looks at them.
pub const RUNS: u32 = 2;

/// A capture that can be read more than once. Input from stdin, a pipe or a device is kept.
#[derive(Clone, Debug)]
pub struct Capture {
    name: PathBuf,
    held: Held,
}

/// Where the bytes of a capture are.
#[derive(Clone, Debug)]
enum Held {
    /// The bytes are in the named file.
    File,
    /// The bytes are in a file without a name.
    Kept(Kept),
    /// The bytes are in memory.
    Bytes(Arc<[u8]>),
}

impl Capture {
    /// The capture at `name`; `-` is stdin.
    ///
    /// # Errors
    /// The call fails if the file cannot be opened, or its bytes cannot be kept.
    pub fn new(name: &Path, shared: &Shared) -> anyhow::Result<Self> {
        let held = shared.inputs.keep(name)?.map_or(Held::File, Held::Kept);
        Ok(Self { name: name.to_owned(), held })
    }

    /// Fails if the capture is of another generation, and `limits` do not interpret such captures.
    ///
    /// # Errors
    /// The capture is refused, or cannot be opened.
    pub fn accept(&self, limits: &Limits, shared: &Shared) -> anyhow::Result<()> {
        let mut budget = limits.work.budget(BASE);
        let refusal = refusal(self.sections(&budget, shared)?, limits.foreign(), &mut budget);
        Ok(refusal.map_or(Ok(()), |trouble| accepted(&self.name, &Report::of(trouble)))?)
    }

    /// The generation as which the capture is read: that of the first chip that it names before its buffers.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened.
    pub fn generation(&self, limits: &Limits, shared: &Shared) -> anyhow::Result<&'static Generation> {
        let budget = limits.work.budget(BASE);
        Ok(read_ahead(&mut self.sections(&budget, shared)?).1)
    }

    /// A capture of `bytes`, raw or gzip. Messages call it `name`.
    pub fn of_bytes(name: &Path, bytes: Arc<[u8]>) -> Self {
        Self { name: name.to_owned(), held: Held::Bytes(bytes) }
    }

    /// The name that the capture was opened with.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The bytes of the capture, raw or gzip.
    ///
    /// # Errors
    /// The call fails if they cannot be read.
    pub fn bytes(&self, shared: &Shared) -> anyhow::Result<Arc<[u8]>> {
        let bytes = match &self.held {
            Held::Bytes(bytes) => return Ok(bytes.clone()),
            Held::File => {
                let file = shared.inputs.open(&self.name);
                file.map_err(Into::into).and_then(|file| read_bytes(file, MAX_BYTES))
            }
            Held::Kept(kept) => read_bytes(kept.reader(), MAX_BYTES),
        };
        Ok(bytes.with_context(|| format!("cannot read {}", self.name.display()))?.into())
    }

    /// The sections of the capture. Reading stops when `budget` ends the run.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened or read.
    pub fn sections(&self, budget: &Budget, shared: &Shared) -> anyhow::Result<Ahead> {
        let sections = match &self.held {
            Held::File => return open_capture(&self.name, budget, shared),
            Held::Kept(kept) => options::sections(kept.reader(), budget),
            Held::Bytes(bytes) => options::sections(Cursor::new(bytes.clone()), budget),
        };
        sections.with_context(|| self.name.display().to_string())
    }
}

/// The runs that the name of a draw selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The command.
    pub key: Key,
    /// Its frame draws: several if the tiles came in several submits.
    pub frame_draws: Vec<u32>,
    /// Number of its first run.
    pub first: u32,
    /// Number of its last run.
    pub last: u32,
    /// Number of runs.
    pub count: u32,
    /// The number of the one selected run and its index among the runs, from 0; none selects all.
    pub only: Option<(u32, u32)>,
}

impl Runs {
    fn new(key: Key, call: &Call) -> Self {
        let number = call.number();
        Self { key, frame_draws: vec![call.frame_draw()], first: number, last: number, count: 1, only: None }
    }

    fn add(&mut self, call: &Call) {
        (self.last, self.count) = (call.number(), self.count + 1);
        if !self.frame_draws.contains(&call.frame_draw()) && self.frame_draws.len() < MAX_FRAME_DRAWS {
            self.frame_draws.push(call.frame_draw());
        }
    }

    /// Whether `call`, which runs now, is selected.
    pub fn has(&self, gpu: &Gpu, call: &Call) -> bool {
        match self.only {
            Some((number, _)) => call.number() == number,
            None => Key::of(gpu) == self.key,
        }
    }

    /// Whether no run after `call` is selected.
    pub fn is_last(&self, call: &Call) -> bool {
        call.number() >= self.only.map_or(self.last, |(number, _)| number)
    }
}

/// The runs of the one draw that `draw` names in `capture`. They are found without rendering.
///
/// # Errors
/// The call fails if there is no such draw, or if the capture cannot be opened.
pub fn find(capture: &Capture, draw: Draws, limits: &Limits, shared: &Shared) -> anyhow::Result<Runs> {
    let mut playback = limits.playback_of_many(capture.name(), RUNS);
    let mut finder = Finder { draw, group: 0, commands: HashMap::new(), found: None };
    playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut Skip::default(), &mut finder);
    accepted(capture.name(), &playback.gpu.report)?;
    if finder.found.is_none() && playback.gpu.budget.cut().is_some() {
        shared.tell(&capture.name().display().to_string(), &playback.gpu.report);
        let message = format!("the run was cut off before draw {draw}");
        return Err(Failure { status: Status::Unsupported, message }.into());
    }
    finder.found.ok_or_else(|| {
        let at = playback.gpu.at;
        let draws = match draw.numbering {
            Numbering::Execution => at.draws,
            Numbering::Frame => at.frame_draw,
        };
        let selection = Selection { submit: None, draw: Some(draw) };
        let failure: Result<(), Failure> = selection.found_none(draws, at.submit);
        let failure = failure.map_err(|failure| of_process(failure, &playback.gpu));
        failure.err().map_or_else(|| anyhow::anyhow!("no draw {draw}"), anyhow::Error::from)
    })
}

/// An observer that looks for a draw.
struct Finder {
    draw: Draws,
    /// The group of the commands in `commands`.
    group: u32,
    commands: HashMap<GpuAddress, Runs>,
    found: Option<Runs>,
}

impl Finder {
    /// The runs of command `key` so far; `call` is the last of them.
    fn runs(&mut self, key: Key, call: &Call) -> Runs {
        if let Some(runs) = self.commands.get_mut(&key.packet) {
            runs.add(call);
            return runs.clone();
        }
        let runs = Runs::new(key, call);
        if self.commands.len() < MAX_COMMANDS {
            self.commands.insert(key.packet, runs.clone());
        }
        runs
    }
}

impl Observer for Finder {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let key = Key::of(gpu);
        if key.group != self.group {
            if self.found.is_some() {
                return Flow::Stop;
            }
            self.group = key.group;
            self.commands.clear();
        }
        let runs = self.runs(key, call);
        if self.draw.contains(call.number(), call.frame_draw()) {
            let only = self.draw.numbering == Numbering::Execution;
            self.found = Some(Runs { only: only.then_some((call.number(), runs.count - 1)), ..runs });
        } else if let Some(found) = self.found.as_mut().filter(|found| found.key == key) {
            *found = Runs { only: found.only, ..runs };
        }
        Flow::Continue
    }
}

/// A callback for each selected run. No fragments are waiting when it is called.
pub trait Look {
    /// Runs before `call`.
    fn before(&mut self, gpu: &mut Gpu, call: &Call);

    /// Runs after `call`.
    fn after(&mut self, gpu: &mut Gpu, call: &Call);

    /// Whether the packets behind the last selected run are executed too, up to the next draw with vertices.
    fn sees_packets(&self) -> bool {
        false
    }
}

/// An engine that renders up to the last selected run, and calls back at each of them.
pub struct Looking<'a, L> {
    /// The selected runs.
    pub runs: &'a Runs,
    /// The callback.
    pub look: L,
    /// Whether the last selected run is over.
    is_over: bool,
}

impl<'a, L> Looking<'a, L> {
    /// Makes an engine that calls `look` at each of `runs`.
    pub fn new(runs: &'a Runs, look: L) -> Self {
        Self { runs, look, is_over: false }
    }
}

impl<L: Look> Engine for Looking<'_, L> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if Key::of(gpu).group > self.runs.key.group {
            return Flow::Stop;
        }
        if self.is_over && !draws_nothing(call) {
            return Flow::Stop;
        }
        if !self.runs.has(gpu, call) {
            return Renderer.run(gpu, call);
        }
        if !gpu.budget.take(Work::Copy16, LOOK) {
            gpu.report_cut();
            return Flow::Stop;
        }
        gpu.settle();
        self.look.before(gpu, call);
        let flow = Renderer.run(gpu, call);
        gpu.settle();
        self.look.after(gpu, call);
        self.is_over = self.runs.is_last(call);
        if self.is_over && !self.look.sees_packets() { Flow::Stop } else { flow }
    }
}
