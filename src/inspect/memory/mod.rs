//! `a4emu memory`: the bytes of a range of memory at a point of a run, what changed in it, and what uses it.
//!
//! A first run goes to the point, and finds what the [`Place`] means there. If asked, a second run over the whole
//! capture finds what [uses](crate::describe::Users) the range.

mod contents;
mod layout;
mod named;
mod place;

use std::cell::RefCell;

use a4emu_decoder::adreno::address::Address;
use anyhow::{Context, ensure};
use serde::Serialize;

use crate::describe::Address as Listed;
use crate::describe::{Capture, Draw, Runs, Shaders, Use, Users, UsingCalls, UsingPackets, find};
use crate::selection::Draws;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::Memory;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, accepted};

pub use contents::Contents;
pub use layout::{Grid, Layout, Row};
pub use named::Starts;
pub use place::{Form, Located, Name, Place};

/// Maximum number of bytes of a question.
const MAX_BYTES: u64 = 1 << 26;

/// Bytes that are listed of a place whose length nobody gave.
const LISTED: u64 = 256;

/// Bytes that are listed at most.
const MAX_LISTED: u64 = 1 << 20;

/// Number of runs of the capture: two find draws, one reads, one finds uses.
const RUNS: u32 = 4;

/// A point of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The end of the capture.
    End,
    /// Before the first run of a draw.
    Before(Draws),
    /// After the last run of a draw.
    After(Draws),
}

/// What else is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// The bytes alone.
    #[default]
    Bytes,
    /// Also what uses them, in the whole capture.
    Users,
}

/// The arguments of a query.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The capture, which is read several times.
    pub capture: &'a Capture,
    /// The range.
    pub place: &'a Place,
    /// When.
    pub point: Point,
    /// Only rows are listed that changed since before this draw.
    pub since: Option<Draws>,
    /// How the bytes are shown; none for what the place says, or words.
    pub form: Option<&'a Form>,
    /// What else is asked.
    pub asked: Asked,
    /// Limits of all runs together.
    pub limits: &'a Limits,
}

/// A range that the capture does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MissingRange {
    /// Address of its first byte.
    pub address: Listed,
    /// Number of bytes.
    pub bytes: u64,
}

/// The bytes of the range, and what is known of them.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Address of the first byte.
    pub address: Listed,
    /// Number of bytes.
    pub bytes: u64,
    /// What the range was found by; none for an address.
    pub name: Option<String>,
    /// When: `at the end`, `before f5`, `after f5`.
    pub point: String,
    /// How the bytes are shown.
    pub form: String,
    /// The draw since which changes are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Number of bytes that changed since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
    /// The rows. Those whose bytes are all missing are left out.
    pub rows: Vec<Row>,
    /// Bytes behind the listed ones.
    pub more: u64,
    /// What of the range the capture does not hold.
    pub missing: Vec<MissingRange>,
    /// What uses the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<Use>>,
    /// The bytes.
    #[serde(skip)]
    pub contents: Contents,
}

/// Answers a question. Returns the report of the last run too.
///
/// # Errors
/// The call fails if the capture cannot be opened, if it has no such draw, or if nothing has the name.
pub fn ask(question: Question<'_>, shared: &Shared) -> anyhow::Result<(Report, Answer)> {
    let Question { capture, point, limits, .. } = question;
    let runs = |draw: Draws| find(capture, draw, limits, shared);
    let (at, is_before) = match point {
        Point::End => (None, false),
        Point::Before(draw) => (Some(runs(draw)?), true),
        Point::After(draw) => (Some(runs(draw)?), false),
    };
    let since = question.since.map(runs).transpose()?;
    if let (Some(since), Some(at)) = (&since, &at) {
        ensure!(since.first <= at.last, "the draw of --changed is behind the draw at which memory is read");
    }
    let mut playback = limits.playback_of_many(capture.name(), RUNS);
    playback.gpu.pipeline.schedule = limits.schedule(Schedule::InOrder);
    let sections = capture.sections(&playback.gpu.budget, shared)?;
    let mut reading =
        Reading { question, at, is_before, since, shaders: Shaders::default(), before: None, answer: None };
    playback.run(sections, &mut reading, &mut Silent);
    accepted(capture.name(), &playback.gpu.report)?;
    let answer = match reading.answer.take() {
        Some(answer) => answer,
        None => {
            ensure!(reading.at.is_none(), "the run ended before the draw");
            reading.read(&mut playback.gpu, None)
        }
    };
    let mut report = playback.gpu.report.clone();
    let mut answer = answer?;
    if question.asked == Asked::Users {
        let (users, last) = users(question, &answer, shared)?;
        (answer.users, report) = (Some(users), last);
    }
    Ok((report, answer))
}

/// What uses the range of `answer`, and the report of the run that found it.
fn users(question: Question<'_>, answer: &Answer, shared: &Shared) -> anyhow::Result<(Vec<Use>, Report)> {
    let Question { capture, limits, .. } = question;
    let users = RefCell::new(Users::new(Address::new(answer.contents.start()), answer.bytes));
    let mut playback = limits.playback_of_many(capture.name(), RUNS);
    playback.gpu.pipeline.schedule = limits.schedule(Schedule::InOrder);
    let sections = capture.sections(&playback.gpu.budget, shared)?;
    playback.run(sections, &mut UsingCalls::new(&users), &mut UsingPackets::new(&users));
    let Users { all, left_out, .. } = users.into_inner();
    if left_out > 0 {
        playback.gpu.cut(format!("there is no room for {left_out} more uses of the range"));
    }
    Ok((all, playback.gpu.report.clone()))
}

/// An engine that renders up to the point, and reads there.
struct Reading<'a> {
    question: Question<'a>,
    /// The draw of the point.
    at: Option<Runs>,
    is_before: bool,
    since: Option<Runs>,
    shaders: Shaders,
    /// Memory before the draw since which changes are listed.
    before: Option<Memory>,
    answer: Option<anyhow::Result<Answer>>,
}

impl Engine for Reading<'_> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let is_since = self.since.as_ref().is_some_and(|since| since.has(gpu, call));
        if is_since && self.before.is_none() {
            gpu.settle();
            self.before = Some(gpu.sync().memory().view());
        }
        let is_here = self.at.as_ref().is_some_and(|at| at.has(gpu, call));
        if !is_here {
            return Renderer.run(gpu, call);
        }
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        if self.is_before {
            self.answer = Some(self.read(gpu, Some(&draw)));
            return Flow::Stop;
        }
        let flow = Renderer.run(gpu, call);
        if self.at.as_ref().is_some_and(|at| at.is_last(call)) {
            self.answer = Some(self.read(gpu, Some(&draw)));
            return Flow::Stop;
        }
        flow
    }
}

impl Reading<'_> {
    /// Reads the range. `draw` is the one whose state names places.
    fn read(&mut self, gpu: &mut Gpu, draw: Option<&Draw>) -> anyhow::Result<Answer> {
        let question = self.question;
        gpu.settle();
        let located = question.place.locate(gpu.sync(), draw)?;
        let (start, bytes) = (located.start, located.bytes);
        ensure!(
            bytes <= MAX_BYTES,
            "{bytes} bytes are more than the {MAX_BYTES} that one question may be about"
        );
        ensure!(gpu.budget.take(Work::Copy16, bytes), "the run was cut off before memory was read");
        let layout = match question.form {
            Some(Form::Plain(layout)) => Some(layout.clone()),
            Some(Form::Of(name)) => {
                let layout = name.layout(gpu.sync(), draw)?;
                Some(layout.context("the draw's state does not say how that is laid out")?)
            }
            None => located.layout.clone(),
        };
        let contents = Contents::of(gpu.sync().memory(), start, bytes);
        let before = self.before.as_ref().map(|memory| Contents::of(memory, start, bytes));
        let layout = layout.unwrap_or_else(Layout::words);
        let since = question.since.map(|draw| draw.to_string());
        let answer = Answer::new(located, &layout, (contents, before), question.point.to_string());
        Ok(Answer { since, ..answer })
    }
}

impl Answer {
    /// The listing of a range with this content, and with that before the draw since which changes are listed.
    fn new(
        located: Located,
        layout: &Layout,
        (contents, before): (Contents, Option<Contents>),
        point: String,
    ) -> Self {
        let Located { name, start, bytes, is_measured, .. } = located;
        let room = match (&before, is_measured) {
            (Some(_), _) => bytes,
            (None, true) => bytes.min(MAX_LISTED),
            (None, false) => LISTED.next_multiple_of(layout.row_bytes()),
        };
        let rows = layout.rows(&contents, before.as_ref(), room, MAX_LISTED / layout.row_bytes());
        let is_cut = rows.len() as u64 * layout.row_bytes() >= MAX_LISTED;
        let listed = match rows.last().filter(|_| is_cut) {
            Some(last) => (last.address.0 + layout.row_bytes()).saturating_sub(start.get()),
            None => room,
        };
        let missing = contents.missing().map(|range| MissingRange {
            address: Listed::of(Address::new(range.start)),
            bytes: range.end - range.start,
        });
        Self {
            address: Listed::of(start),
            bytes,
            name,
            point,
            form: layout.name.clone(),
            since: None,
            changed: before.as_ref().map(|before| contents.changed(before)),
            rows,
            more: bytes.saturating_sub(listed),
            missing: missing.collect(),
            users: None,
            contents,
        }
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::End => f.write_str("at the end"),
            Self::Before(draw) => write!(f, "before {}", called(*draw)),
            Self::After(draw) => write!(f, "after {}", called(*draw)),
        }
    }
}

/// The name of a draw in a sentence.
fn called(draw: Draws) -> String {
    match draw.numbering {
        crate::selection::Numbering::Execution => format!("draw {draw}"),
        crate::selection::Numbering::Frame => draw.to_string(),
    }
}
