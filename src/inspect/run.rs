//! Which runs a draw has, and a run of the capture that stops at each of them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hashbrown::HashMap;
use tempfile::NamedTempFile;

use super::draw::Key;
use crate::cp::{Call, Engine, Flow, Observer, Renderer, Skip};
use crate::draw;
use crate::gpu::Gpu;
use crate::limits::Limits;
use crate::options::{Shared, open_capture};
use crate::selection::{Draws, Numbering, Selection};
use crate::status::Failure;

/// Frame draws of one command that are remembered: each submit of a pass has one.
const MAX_FRAME_DRAWS: usize = 64;

/// A capture that can be read twice: stdin is kept in a file.
pub struct Capture {
    path: PathBuf,
    _kept: Option<NamedTempFile>,
}

impl Capture {
    /// The capture at `path`; `-` is stdin.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn new(path: &Path) -> anyhow::Result<Self> {
        if path != Path::new("-") {
            return Ok(Self { path: path.to_owned(), _kept: None });
        }
        let mut kept = NamedTempFile::new().context("cannot keep stdin")?;
        std::io::copy(&mut std::io::stdin().lock(), &mut kept).context("cannot keep stdin")?;
        Ok(Self { path: kept.path().to_owned(), _kept: Some(kept) })
    }

    /// Where it can be opened.
    pub fn path(&self) -> &Path {
        &self.path
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
pub fn find(capture: &Path, draw: Draws, limits: &Limits, shared: &Shared) -> anyhow::Result<Runs> {
    let mut playback = limits.playback(capture);
    let mut finder = Finder { draw, group: 0, commands: HashMap::new(), found: None };
    playback.run(open_capture(capture, shared)?, &mut Skip::default(), &mut finder);
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
        let runs = self.commands.entry(key.packet);
        let runs = runs.and_modify(|runs| runs.add(call)).or_insert_with(|| Runs::new(key, call));
        if self.draw.contains(call.number(), call.frame_draw()) {
            let only = (self.draw.numbering == Numbering::Execution).then(|| (call.number(), runs.count - 1));
            self.found = Some(Runs { only, ..runs.clone() });
        } else if let Some(found) = self.found.as_mut().filter(|found| found.key == key) {
            *found = Runs { only: found.only, ..runs.clone() };
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
        draw::flush(gpu);
        self.look.before(gpu, call);
        let flow = Renderer.run(gpu, call);
        draw::flush(gpu);
        self.look.after(gpu, call);
        if self.runs.is_last(call) { Flow::Stop } else { flow }
    }
}
