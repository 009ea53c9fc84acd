//! Replays one case and compares the result with its golden files.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use super::case::{Case, Need};
use a4emu_gpu::cp::{Engine, Renderer, Skip, Tee};
use a4emu_inspect::decode::Output;
use a4emu_inspect::golden::{self, Difference, Record, Recorder, State, compare};
use a4emu_inspect::golden::{FRAME, Frame};
use a4emu_inspect::selection::{Selection, Window};
use a4emu_inspect::trace::{Detail, Trace};
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::{Status, status_of};

/// Name of the golden file with the state at each draw.
pub const STATE: &str = "state.txt";
/// Name of the golden file with the memory that the case holds.
pub const MEMORY: &str = "memory.txt";
/// Name of the golden file with the executed packets.
pub const PACKETS: &str = "packets.txt";

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actual {
    /// State in the golden format.
    pub state: String,
    /// Packets, one a line.
    pub packets: String,
    /// Memory in the golden format, if the case holds some.
    pub memory: Option<String>,
    /// The last colour surface, if the case was rendered.
    pub frame: Option<Frame>,
    /// Status of the replay itself.
    pub status: Status,
    /// Reason why the replay is incomplete, if a limit cut it off.
    pub cut: Option<String>,
}

/// Options of all cases.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Options of all commands.
    pub shared: Shared,
    /// Limits of each case.
    pub limits: Limits,
}

/// The verdict about a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The result equals the golden files.
    Same,
    /// The result differs from the golden files.
    Differs,
    /// The result differs, as `known_failure` declares.
    KnownFailure,
    /// The result is equal, although `known_failure` is set.
    UnexpectedPass,
    /// The case could not be run.
    Broken,
}

/// A case with its verdict, its notes and its differences.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Name of the case.
    pub name: String,
    /// The verdict.
    pub result: Verdict,
    /// Reasons for a known failure, a broken case, or a difference outside of the state.
    pub notes: Vec<String>,
    /// Differences in state, in order.
    pub differences: Vec<Difference>,
    /// Files that show how the case differs, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<PathBuf>,
    /// Status of the replay itself.
    #[serde(skip)]
    pub status: Status,
    /// How long the case took. It is in no form that is the same for the same capture.
    #[serde(skip)]
    pub time: Duration,
}

impl Outcome {
    /// The exit status of this outcome.
    pub fn status(&self) -> Status {
        let verdict = match self.result {
            Verdict::Same | Verdict::KnownFailure => Status::Fine,
            Verdict::Differs | Verdict::UnexpectedPass => Status::Differs,
            Verdict::Broken => Status::Usage,
        };
        verdict.worse(self.status)
    }

    /// The outcome of a case that could not be run.
    fn broken(case: &Case, error: &anyhow::Error) -> Self {
        let notes = vec![format!("{error:#}")];
        // For example a capture of another chip is not supported, which is worse than wrong use.
        let (name, status) = (case.name.clone(), status_of(error));
        let (differences, artifacts, time) = Default::default();
        Self { name, result: Verdict::Broken, notes, differences, artifacts, status, time }
    }
}

/// How much of a case is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Draws are listed but do not run.
    State,
    /// Draws run. The case has no frame.
    Memory,
    /// Draws run. The case has a frame.
    Frame,
}

impl Depth {
    /// The depth of a case. Rendering is slow, so only cases with a frame in their folder, or with `render`
    /// in their manifest, are rendered.
    pub fn of(case: &Case) -> Self {
        let rendered = case.manifest.needs.contains(&Need::Render) || case.dir.join(FRAME).exists();
        match rendered {
            true => Self::Frame,
            false if !case.manifest.memory.is_empty() => Self::Memory,
            false => Self::State,
        }
    }
}

/// Replays a case.
///
/// # Errors
/// The call fails if its capture cannot be read or assembled.
pub fn replay(case: &Case, depth: Depth, run: &Run) -> anyhow::Result<Actual> {
    let mut playback = run.limits.playback(&case.capture());
    case.process.iter().for_each(|process| playback.play_only(process.clone()));
    let selection = case.selection;
    let mut packets = Vec::new();
    let mut window = Window::new(selection, None);
    let mut trace = Trace::new(Output::new(Box::new(&mut packets)), Detail::Packets, Selection::default());
    let mut recorder = Recorder::new(State::default());
    let sections = case.open()?;
    let (mut renderer, mut skip) = (Renderer, Skip::default());
    let engine: &mut dyn Engine = if depth == Depth::State { &mut skip } else { &mut renderer };
    playback.run(sections, engine, &mut Tee(vec![&mut window, &mut trace, &mut recorder]));
    let mut state = recorder.end(&playback.gpu);
    let shown = |record: &Record| selection.contains(record.submit, record.number, record.frame_draw);
    state.records.retain(|record| record.is_end() || shown(record));
    trace.finish()?;
    window.finish(&playback.gpu)?;
    let packets = String::from_utf8(packets)?;
    let ranges = Some(&case.manifest.memory).filter(|ranges| !ranges.is_empty());
    let memory = ranges.map(|ranges| ranges.text(playback.gpu.sync().memory()));
    let (frame, report) = (Frame::of(playback.gpu.sync()), &playback.gpu.report);
    let (status, cut) = (run.shared.status_of(report), report.troubles.first_cut());
    Ok(Actual { state: state.to_string(), packets, memory, frame, status, cut })
}

/// What keeps files of a case that differs, and returns their paths.
pub type Keep<'a> = &'a (dyn Fn(&Case, &Actual, &[Difference]) -> anyhow::Result<Vec<PathBuf>> + Sync);

/// Replays a case and compares the result with its golden files.
pub fn judge(case: &Case, run: &Run) -> Outcome {
    judge_keeping(case, run, &|_, _, _| Ok(Vec::new()))
}

/// Judges like [`judge`], and calls `keep` for a case that is not the same.
pub fn judge_keeping(case: &Case, run: &Run, keep: Keep<'_>) -> Outcome {
    let begin = Instant::now();
    let judged = match replay(case, Depth::of(case), run).and_then(|actual| hold(case, &actual, keep)) {
        Ok(outcome) => outcome,
        Err(error) => Outcome::broken(case, &error),
    };
    Outcome { time: begin.elapsed(), ..judged }
}

fn hold(case: &Case, actual: &Actual, keep: Keep<'_>) -> anyhow::Result<Outcome> {
    let (mut notes, differences) = against_golden(case, actual)?;
    notes.extend(actual.cut.clone());
    let same = notes.is_empty() && differences.is_empty();
    let result = match (same, &case.manifest.known_failure) {
        (true, None) => Verdict::Same,
        (false, None) => Verdict::Differs,
        (false, Some(why)) => {
            notes.insert(0, why.clone());
            Verdict::KnownFailure
        }
        (true, Some(why)) => {
            notes.push(format!("known_failure does not fail any more: {why}"));
            Verdict::UnexpectedPass
        }
    };
    let artifacts = if result == Verdict::Same { Vec::new() } else { keep(case, actual, &differences)? };
    let (name, status, time) = (case.name.clone(), actual.status, Duration::ZERO);
    Ok(Outcome { name, result, notes, differences, artifacts, status, time })
}

/// Compares with the golden files. Returns notes, and differences in state.
pub fn against_golden(case: &Case, actual: &Actual) -> anyhow::Result<(Vec<String>, Vec<Difference>)> {
    let mut notes = Vec::new();
    let mut differences = Vec::new();
    let golden = case.golden(STATE)?;
    if golden != actual.state {
        // The parsed content counts: a field printed in another way is no difference.
        let old = golden::parse(&golden).with_context(|| format!("{}/{STATE}", case.name))?;
        differences = compare(&old, &golden::parse(&actual.state)?);
    }
    notes.extend(first_line(PACKETS, &case.golden(PACKETS)?, &actual.packets));
    if let Some(memory) = &actual.memory {
        notes.extend(first_line(MEMORY, &case.golden(MEMORY)?, memory));
    }
    if Depth::of(case) == Depth::Frame {
        notes.extend(match &actual.frame {
            Some(frame) => frame
                .against(case.golden_file(FRAME)?, case.manifest.frame)
                .with_context(|| format!("cannot read {}/{FRAME}", case.name))?,
            None => Some(format!("{FRAME}: nothing was rendered")),
        });
    }
    Ok((notes, differences))
}

/// A line about the first difference of two texts.
pub fn first_line(file: &str, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (mut olds, mut news) = (old.lines(), new.lines());
    for number in 1.. {
        let (old, new) = (olds.next(), news.next());
        if old != new || old.is_none() {
            let [old, new] = [old, new].map(|line| line.unwrap_or("(end)").trim());
            return Some(format!("{file} line {number}: {old} -> {new}"));
        }
    }
    None
}
