//! Which runs a draw has, and a run of the capture that stops at each of them.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a4emu_decoder::capture::Ahead;
use anyhow::Context;
use hashbrown::HashMap;

use super::draw::Key;
use crate::folders::read_bytes;
use crate::limits::Limits;
use crate::options::{self, Shared, open_capture};
use crate::out_file::Kept;
use crate::selection::{Draws, Numbering, Selection};
use crate::status::{Failure, Status};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer, Skip};
use a4emu_gpu::draw;
use a4emu_gpu::gpu::Gpu;

/// Frame draws of one command that are remembered: each submit of a pass has one.
const MAX_FRAME_DRAWS: usize = 64;

/// Bytes of a capture that are handed out at once.
const MAX_BYTES: u64 = 1 << 30;

/// Commands of a group that are remembered, in case that a later submit has the one that is wanted.
const MAX_COMMANDS: usize = 1 << 20;

/// 16 bytes that a look at a run moves, about: what it costs.
const LOOK: u64 = 1 << 14;

/// Runs that an answer takes, which share what the limits allow: one finds the draws that are meant, one looks at them.
pub const RUNS: u32 = 2;

/// A capture that can be read more than once: what comes from stdin, a pipe or a device is kept.
#[derive(Clone, Debug)]
pub struct Capture {
    name: PathBuf,
    held: Held,
}

/// Where its bytes are.
#[derive(Clone, Debug)]
enum Held {
    /// In the file of its name.
    File,
    /// In one without a name.
    Kept(Kept),
    /// In memory.
    Bytes(Arc<[u8]>),
}

impl Capture {
    /// The capture at `name`; `-` is stdin.
    ///
    /// # Errors
    /// It cannot be opened, or not be kept.
    pub fn new(name: &Path, shared: &Shared) -> anyhow::Result<Self> {
        let held = shared.inputs.keep(name)?.map_or(Held::File, Held::Kept);
        Ok(Self { name: name.to_owned(), held })
    }

    /// The capture of these bytes, raw or gzip, which messages call `name`.
    pub fn of_bytes(name: &Path, bytes: Arc<[u8]>) -> Self {
        Self { name: name.to_owned(), held: Held::Bytes(bytes) }
    }

    /// What it was given as, which is what it is called.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// All of it, as it is kept.
    ///
    /// # Errors
    /// It cannot be read.
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

    /// Its sections, from the first, as far as they come before `budget` ends the run from outside.
    ///
    /// # Errors
    /// It cannot be opened or read.
    pub fn sections(&self, budget: &Budget, shared: &Shared) -> anyhow::Result<Ahead> {
        let sections = match &self.held {
            Held::File => return open_capture(&self.name, budget, shared),
            Held::Kept(kept) => options::sections(kept.reader(), budget),
            Held::Bytes(bytes) => options::sections(Cursor::new(bytes.clone()), budget),
        };
        sections.with_context(|| self.name.display().to_string())
    }
}

/// The runs that a draw's name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Which command.
    pub key: Key,
    /// Its frame draws: more than one where the tiles came in several submits.
    pub frame_draws: Vec<u32>,
    /// Numbers of its first and its last run.
    pub first: u32,
    /// See `first`.
    pub last: u32,
    /// How many runs it has.
    pub count: u32,
    /// The one that is meant, and which of them it is, counted from 0; nothing: all.
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

    /// Whether `call`, which runs now, is meant.
    pub fn has(&self, gpu: &Gpu, call: &Call) -> bool {
        match self.only {
            Some((number, _)) => call.number() == number,
            None => Key::of(gpu) == self.key,
        }
    }

    /// Whether no run behind `call` is meant.
    pub fn is_last(&self, call: &Call) -> bool {
        call.number() >= self.only.map_or(self.last, |(number, _)| number)
    }
}

/// The runs of the one draw that `draw` names in `capture`, found without rendering.
///
/// # Errors
/// There is no such draw, or the capture cannot be opened.
pub fn find(capture: &Capture, draw: Draws, limits: &Limits, shared: &Shared) -> anyhow::Result<Runs> {
    let mut playback = limits.playback_of_many(capture.name(), RUNS);
    let mut finder = Finder { draw, group: 0, commands: HashMap::new(), found: None };
    playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut Skip::default(), &mut finder);
    playback.gpu.report.must_be_taken()?;
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
        let failure: Result<(), Failure> = selection.must_have_found(false, draws, at.submit);
        failure.err().map_or_else(|| anyhow::anyhow!("no draw {draw}"), anyhow::Error::from)
    })
}

/// Looks for a draw.
struct Finder {
    draw: Draws,
    /// The commands of this group.
    group: u32,
    commands: HashMap<u32, Runs>,
    found: Option<Runs>,
}

impl Finder {
    /// The runs of command `key` so far, of which `call` is the last.
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
    fn call(&mut self, gpu: &Gpu, call: &Call) -> Flow {
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

/// What is done at each run that is meant. No fragments are waiting then.
pub trait Look {
    /// `call` is about to run.
    fn before(&mut self, gpu: &mut Gpu, call: &Call);

    /// `call` has run.
    fn after(&mut self, gpu: &mut Gpu, call: &Call);
}

/// Renders up to the last of some runs, and looks at each.
pub struct Looking<'a, L> {
    /// Which.
    pub runs: &'a Runs,
    /// What is done there.
    pub look: L,
}

impl<L: Look> Engine for Looking<'_, L> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if Key::of(gpu).group > self.runs.key.group {
            return Flow::Stop;
        }
        if !self.runs.has(gpu, call) {
            return Renderer.run(gpu, call);
        }
        if !gpu.budget.take(Work::Copy16, LOOK) {
            gpu.report_cut();
            return Flow::Stop;
        }
        draw::flush(gpu);
        self.look.before(gpu, call);
        let flow = Renderer.run(gpu, call);
        draw::flush(gpu);
        self.look.after(gpu, call);
        if self.runs.is_last(call) { Flow::Stop } else { flow }
    }
}
