//! `corpus compare`: lists the differences between two runs of a corpus.

mod html;
mod junit;
mod pictures;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use serde::Serialize;

use super::log::Log;
use super::row::{End, Played, Row};
pub use a4emu_inspect::report::html::escaped;
use a4emu_support::options::Shared;
use a4emu_support::out_file::{OutFile, one_stdout};
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form, Shown};
pub use pictures::Kept;

/// Arguments of `corpus compare`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Folder of the first run
    #[arg(value_name = "RUN_A")]
    pub a: PathBuf,
    /// Folder of the second
    #[arg(value_name = "RUN_B")]
    pub b: PathBuf,
    /// One JSON object a line for each capture that is not simply the same (docs/schema.md)
    #[arg(long)]
    pub json: bool,
    /// Write a page with both pictures of each surface that differs, and their difference (`corpus run --pictures`
    /// keeps them)
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write a report in JUnit form
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Difference of times, in per cent, from which on it is reported
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    pub speed: u32,
}

/// Differences of times that occur on any machine, in milliseconds.
const NOISE: f64 = 20.0;

/// The result of comparing a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Same,
    Different,
    New,
    Gone,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "different",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }

    /// Whether the result counts as a failure.
    fn fails(self) -> bool {
        matches!(self, Self::Different | Self::Gone)
    }
}

/// How the times of a capture changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Speed {
    Faster,
    Slower,
}

/// A capture of either run.
#[derive(Clone, Debug, Serialize)]
struct Change {
    name: String,
    result: Verdict,
    /// The differences, one of each kind.
    differences: Vec<String>,
    speed: Option<Speed>,
    /// Times of playing in both runs, in milliseconds.
    ms: [Option<f64>; 2],
    /// Surfaces that differ, with both hashes.
    #[serde(skip)]
    pictures: Vec<(String, [Option<String>; 2])>,
}

impl Change {
    /// Compares the rows of one capture, of which one may be missing.
    fn of(name: &str, rows: [Option<Row>; 2], per_cent: u32) -> Self {
        let ms = rows.each_ref().map(|row| row.as_ref()?.machine.as_ref()?.ms);
        let (result, differences, pictures) = match &rows {
            [Some(a), Some(b)] => {
                let differences = differences(a, b);
                let result = if differences.is_empty() { Verdict::Same } else { Verdict::Different };
                (result, differences, pictures::differing(a, b))
            }
            [None, _] => (Verdict::New, Vec::new(), Vec::new()),
            [_, None] => (Verdict::Gone, Vec::new(), Vec::new()),
        };
        Self { name: name.to_owned(), result, differences, speed: speed(ms, per_cent), ms, pictures }
    }

    fn is_plain(&self) -> bool {
        self.result == Verdict::Same && self.speed.is_none()
    }
}

fn speed(ms: [Option<f64>; 2], per_cent: u32) -> Option<Speed> {
    let [Some(a), Some(b)] = ms else { return None };
    let factor = 1.0 + f64::from(per_cent) / 100.0;
    match (b > a * factor + NOISE, a > b * factor + NOISE) {
        (true, _) => Some(Speed::Slower),
        (_, true) => Some(Speed::Faster),
        (false, false) => None,
    }
}

/// The differences of two results of a capture. Costs and coverage are not compared, since a better build
/// may count differently.
fn differences(a: &Row, b: &Row) -> Vec<String> {
    let mut all = Vec::new();
    if a.content != b.content {
        all.push("the capture itself".to_owned());
    }
    match (&a.played, &b.played) {
        (Some(a), Some(b)) => all.extend(played(a, b)),
        _ if (a.end, &a.cause) != (b.end, &b.cause) => {
            let text = |row: &Row| match &row.cause {
                Some(cause) if row.end != End::Played => format!("{} ({cause})", row.end.words()),
                _ => row.end.words().to_owned(),
            };
            all.push(format!("{} -> {}", text(a), text(b)));
        }
        _ => {}
    }
    all
}

/// The differences of two captures that were played to the end, one of each kind.
pub fn played(a: &Played, b: &Played) -> Vec<String> {
    let mut all = Vec::new();
    let mut number = |what: &str, a: u64, b: u64| {
        if a != b {
            all.push(format!("{what}: {a} -> {b}"));
        }
    };
    number("exit status", a.status.into(), b.status.into());
    number("submits", a.submits.into(), b.submits.into());
    number("draws", a.draws.into(), b.draws.into());
    number("ranges of missing memory", a.missing.ranges, b.missing.ranges);
    number("bytes of missing memory", a.missing.bytes, b.missing.bytes);
    let draws = [a, b].map(|played| played.draw_hashes.as_deref().unwrap_or_default());
    // A run without hashes of draws cannot be compared.
    let draws = if draws.iter().any(|draws| draws.is_empty()) { [&[][..]; 2] } else { draws };
    let findings = match (&a.findings, &b.findings) {
        (Some(a), Some(b)) => [&a[..], &b[..]],
        _ => [&[][..]; 2],
    };
    all.extend(first(draws, |draw| format!("draw {} (f{}): its targets", draw.draw, draw.frame_draw)));
    all.extend(first([&a.surfaces, &b.surfaces], |surface| {
        let (address, submit, draw) = (surface.address, surface.submit, surface.draw);
        format!("surface at {address:#010x}, written by draw {draw} of submit {submit}")
    }));
    all.extend(first([&a.frames, &b.frames], |frame| format!("frame of submit {}", frame.submit)));
    let said = |what: &'static str| {
        move |said: &super::row::Message| {
            format!("{what} at draw {}: {} ({} times)", said.draw, said.message, said.count)
        }
    };
    all.extend(first([&a.faults, &b.faults], said("fault")));
    all.extend(first([&a.unsupported, &b.unsupported], said("not supported")));
    all.extend(first(findings, |found| format!("rule {}: {} findings", found.rule, found.findings)));
    all
}

/// The first item that differs between two lists, and the number of further ones.
fn first<T: PartialEq>([a, b]: [&[T]; 2], text: impl Fn(&T) -> String) -> Option<String> {
    let pairs = (0..a.len().max(b.len())).map(|index| (a.get(index), b.get(index)));
    let mut differing = pairs.filter(|(a, b)| a != b);
    let (one, other) = differing.next()?;
    let [one, other] = [one, other].map(|item| item.map_or_else(|| "nothing".to_owned(), &text));
    let what = if one == other { one } else { format!("{one} -> {other}") };
    Some(match differing.count() {
        0 => what,
        more => format!("{what} (and {more} more)"),
    })
}

/// The number of captures by result.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    same: usize,
    different: usize,
    new: usize,
    gone: usize,
    faster: usize,
    slower: usize,
}

impl Counts {
    fn add(&mut self, change: &Change) {
        match change.result {
            Verdict::Same => self.same += 1,
            Verdict::Different => self.different += 1,
            Verdict::New => self.new += 1,
            Verdict::Gone => self.gone += 1,
        }
        match change.speed {
            Some(Speed::Faster) => self.faster += 1,
            Some(Speed::Slower) => self.slower += 1,
            None => {}
        }
    }

    fn words(&self) -> String {
        let Self { same, different, new, gone, faster, slower } = self;
        format!(
            "{same} same, {different} different, {new} new, {gone} gone; {faster} faster, {slower} slower"
        )
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let files = [("--html", &args.html), ("--junit", &args.junit)];
    let files = files.iter().filter_map(|(name, path)| Some((*name, Some(path.as_deref()?))));
    one_stdout(&files.chain(args.json.then_some(("--json", None))).collect::<Vec<_>>())?;
    let [a, b] = [&args.a, &args.b].map(|folder| Log::input(folder, &shared.inputs));
    let logs = [a?, b?];
    for (log, folder) in logs.iter().zip([&args.a, &args.b]).filter(|(log, _)| !log.finished) {
        ensure!(!log.rows.is_empty(), "{} has no rows", folder.display());
        shared.warn(format_args!("{} has not come to its end", folder.display()));
    }
    let folders = [args.a.as_path(), &args.b];
    let begin = |path: &Option<PathBuf>| {
        path.as_deref().map(|path| OutFile::create(path, &shared.inputs)).transpose()
    };
    let (html, junit) = (begin(&args.html)?, begin(&args.junit)?);
    let changes: Vec<Change> = changes(&logs, args.speed).collect::<anyhow::Result<_>>()?;
    let mut counts = Counts::default();
    changes.iter().for_each(|change| counts.add(change));
    if let Some(out) = html {
        html::write(out, folders, &changes, &counts)?;
    }
    if let Some(out) = junit {
        junit::write(out, &changes)?;
    }
    let fails = changes.iter().any(|change| change.result.fails());
    let status = if fails { Status::Differs } else { Status::Fine };
    let dash = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    if dash(&args.html) || dash(&args.junit) {
        return Ok(status);
    }
    Ok(status.and(put_out(args, &changes, &counts)))
}

/// All captures of either run, by name. Only one row of each run is in memory at a time.
fn changes(logs: &[Log; 2], per_cent: u32) -> impl Iterator<Item = anyhow::Result<Change>> {
    let names: BTreeSet<&String> = logs.iter().flat_map(|log| log.rows.keys()).collect();
    names.into_iter().map(move |name| {
        let row = |log: &Log| log.rows.contains_key(name).then(|| log.row(name)).transpose();
        Ok(Change::of(name, [row(&logs[0])?, row(&logs[1])?], per_cent))
    })
}

fn put_out(args: &Args, changes: &[Change], counts: &Counts) -> anyhow::Result<()> {
    let mut out = terminal::stdout(if args.json { Form::Json } else { Form::Lines });
    for change in changes.iter().filter(|change| !change.is_plain()) {
        if args.json {
            serde_json::to_writer(&mut out, change)?;
            writeln!(out)?;
            continue;
        }
        writeln!(out, "{}: {}{}", Shown(&change.name), change.result.words(), speed_words(change))?;
        change.differences.iter().try_for_each(|difference| writeln!(out, "  {}", Shown(difference)))?;
    }
    if !args.json {
        writeln!(out, "{}", counts.words())?;
    }
    Ok(out.flush()?)
}

/// The change of the time, as text.
fn speed_words(change: &Change) -> String {
    let (Some(speed), [Some(a), Some(b)]) = (change.speed, change.ms) else { return String::new() };
    let word = match speed {
        Speed::Faster => "faster",
        Speed::Slower => "slower",
    };
    format!(", {word}: {a:.0} -> {b:.0} ms")
}

#[cfg(test)]
mod tests;
