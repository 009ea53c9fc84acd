//! `corpus coverage`: lists what the captures of runs use of the chip, what none uses, and what rests on a
//! guess.

mod html;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use a4emu_decoder::guesses::Guess;
use anyhow::Context;
use serde::Serialize;

use super::log::Log;
use super::row::{End, Row};
use a4emu_decoder::generation::{DEFAULT, Generation};
use a4emu_inspect::coverage::{Used, inferred};
use a4emu_support::options::Shared;
use a4emu_support::out_file::{Inputs, one_stdout};
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form};

/// Arguments of `corpus coverage`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Folders of runs with --coverage
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Only what these runs used and the others did not, or the other way round (repeatable)
    #[arg(long, value_name = "RUN")]
    pub against: Vec<PathBuf>,
    /// Also list what was not used
    #[arg(long)]
    pub unused: bool,
    /// One JSON object (docs/schema.md)
    #[arg(long)]
    pub json: bool,
    /// Write a page with all of it
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How often something was used, and by how many captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Count {
    times: u64,
    captures: u64,
}

/// A guess, and the number of draws and captures that rest on it.
#[derive(Clone, Debug, Serialize)]
struct Rests {
    id: String,
    confidence: String,
    says: String,
    draws: u64,
    captures: u64,
}

/// Something that is used or not.
#[derive(Clone, Debug, Serialize)]
struct Line {
    name: String,
    times: u64,
    captures: u64,
    /// Whether its name or place is inferred.
    inferred: bool,
    /// Its count in the runs of `--against`, if given.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<Count>,
}

/// All things of one kind.
#[derive(Clone, Debug, Serialize)]
struct Kind {
    name: &'static str,
    /// Number of things that a table lists or that a capture used.
    known: usize,
    used: usize,
    lines: Vec<Line>,
}

/// The JSON object of `--json`.
#[derive(Clone, Debug, Serialize)]
struct Report {
    captures: u64,
    kinds: Vec<Kind>,
    guesses: Vec<Rests>,
}

/// The sums over runs.
#[derive(Clone, Debug, Default)]
struct Sum {
    captures: u64,
    /// The numbers of the generations of the chips.
    generations: BTreeSet<u32>,
    counts: BTreeMap<(&'static str, String), Count>,
    guesses: BTreeMap<String, Count>,
}

impl Sum {
    fn of(folders: &[PathBuf], inputs: &Inputs) -> anyhow::Result<Self> {
        let mut sum = Self::default();
        for folder in folders {
            for row in Log::input(folder, inputs)?.all() {
                sum.add(row?)?;
            }
        }
        Ok(sum)
    }

    fn add(&mut self, row: Row) -> anyhow::Result<()> {
        let Row { name, end: End::Played, played: Some(played), .. } = row else { return Ok(()) };
        let without = || format!("no coverage of {name}: `corpus run --coverage` notes it");
        let used = played.used.with_context(without)?;
        self.captures += 1;
        self.generations.insert(used.generation().number);
        for (kind, counts) in used.kinds() {
            for (what, times) in counts {
                for kind in std::iter::once(kind).chain(group(kind, what)) {
                    self.counts.entry((kind, what.clone())).or_default().met(*times);
                }
            }
        }
        for (id, draws) in played.guesses.unwrap_or_default() {
            self.guesses.entry(id).or_default().met(draws);
        }
        Ok(())
    }
}

impl Count {
    fn met(&mut self, times: u64) {
        self.times = self.times.saturating_add(times);
        self.captures += u64::from(times > 0);
    }
}

/// Kinds, in the order of the output.
const KINDS: [&str; 9] = [
    "packets",
    "registers",
    "enumerators",
    "formats",
    "texture targets",
    "blend states",
    "depth and stencil states",
    "ops",
    "states",
];

/// The separate kind of an enumerator whose register or field has one of these words in its name.
fn group(kind: &str, what: &str) -> Option<&'static str> {
    let field = what.split('=').next().filter(|_| kind == "enumerators")?;
    let (register, name) = field.rsplit_once('.')?;
    match (register, name) {
        (_, name) if name == "FMT" || name.contains("FORMAT") => Some("formats"),
        (register, "TYPE") if register.starts_with("TEX_CONST") => Some("texture targets"),
        (register, _) if register.contains("BLEND") => Some("blend states"),
        (register, _)
            if register.contains("DEPTH_CONTROL")
                || register == "RB_DEPTH_CNTL"
                || register.contains("STENCIL") =>
        {
            Some("depth and stencil states")
        }
        _ => None,
    }
}

impl Report {
    /// Makes the report of `sum`, and of `other` for comparison.
    fn new(sum: &Sum, other: Option<&Sum>) -> Self {
        let mut names: BTreeSet<(&'static str, String)> = BTreeSet::new();
        let numbers: BTreeSet<u32> =
            sum.generations.iter().chain(other.iter().flat_map(|it| &it.generations)).copied().collect();
        let mut generations: Vec<_> =
            numbers.iter().filter_map(|number| Generation::numbered(*number)).collect();
        if generations.is_empty() {
            generations.push(DEFAULT);
        }
        for generation in &generations {
            for (kind, counts) in Used::default().with_known(generation).kinds() {
                for what in counts.keys() {
                    let kinds = std::iter::once(kind).chain(group(kind, what));
                    names.extend(kinds.map(|kind| (kind, what.clone())));
                }
            }
        }
        names.extend(sum.counts.keys().chain(other.iter().flat_map(|other| other.counts.keys())).cloned());
        // Only rows of the A4xx are inferred.
        let is_default = generations.iter().any(|generation| generation.number == DEFAULT.number);
        let inferred = if is_default { inferred() } else { BTreeSet::new() };
        let line = |key: &(&'static str, String)| {
            let of = |sum: &Sum| sum.counts.get(key).copied().unwrap_or_default();
            let Count { times, captures } = of(sum);
            let inferred = inferred.contains(key.1.split('=').next().unwrap_or_default());
            Line { name: key.1.clone(), times, captures, inferred, against: other.map(of) }
        };
        let kind = |name: &'static str| {
            let lines: Vec<Line> = names.iter().filter(|(kind, _)| *kind == name).map(line).collect();
            let used = lines.iter().filter(|line| line.times > 0).count();
            Kind { name, known: lines.len(), used, lines }
        };
        Self { captures: sum.captures, kinds: KINDS.map(kind).into(), guesses: guesses(sum) }
    }

    /// Keeps only lines that `keep` accepts.
    fn keep(&mut self, keep: impl Fn(&Line) -> bool) {
        self.kinds.iter_mut().for_each(|kind| kind.lines.retain(&keep));
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} captures", self.captures)?;
        for kind in &self.kinds {
            writeln!(out, "\n{}: {} of {}", kind.name, kind.used, kind.known)?;
            for line in &kind.lines {
                let Line { name, times, captures, inferred, against } = line;
                let mark = if *inferred { "  (inferred)" } else { "" };
                let against = against.map(|other| format!("  against {} in {}", other.times, other.captures));
                let against = against.unwrap_or_default();
                writeln!(out, "  {name}  {times} in {captures}{against}{mark}")?;
            }
        }
        writeln!(out, "\nguesses: {} of {} are rested on", self.guesses.len(), Guess::ALL.len())?;
        for Rests { id, confidence, says, draws, captures } in &self.guesses {
            writeln!(out, "  {id}  ({confidence}) {draws} draws in {captures}: {says}")?;
        }
        Ok(())
    }
}

fn guesses(sum: &Sum) -> Vec<Rests> {
    let rows = Guess::ALL.iter().map(|guess| guess.row());
    let rests = rows.filter_map(|row| {
        let Count { times, captures } = *sum.guesses.get(row.id)?;
        let (id, confidence, says) = (row.id.to_owned(), row.confidence.to_string(), row.says.to_owned());
        Some(Rests { id, confidence, says, draws: times, captures })
    });
    rests.collect()
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if a run cannot be read or was made without `--coverage`, or on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let html = args.html.as_deref().map(|path| ("--html", Some(path)));
    one_stdout(&html.into_iter().chain(args.json.then_some(("--json", None))).collect::<Vec<_>>())?;
    let sum = Sum::of(&args.runs, &shared.inputs)?;
    let other = (!args.against.is_empty()).then(|| Sum::of(&args.against, &shared.inputs)).transpose()?;
    let mut report = Report::new(&sum, other.as_ref());
    match (other.is_some(), args.unused) {
        (true, _) => {
            report.keep(|line| (line.times > 0) != line.against.is_some_and(|other| other.times > 0))
        }
        (false, true) => {}
        (false, false) => report.keep(|line| line.times > 0),
    }
    if let Some(path) = &args.html {
        html::write(path, &report, &shared.inputs)?;
    }
    if args.html.as_deref() == Some(Path::new("-")) {
        return Ok(Status::Fine);
    }
    let mut out = terminal::stdout(if args.json { Form::Json } else { Form::Lines });
    let written = match args.json {
        true => {
            serde_json::to_writer(&mut out, &report).map_err(io::Error::from).and_then(|()| writeln!(out))
        }
        false => report.write(&mut out),
    };
    Ok(Status::Fine.and(written.and_then(|()| out.flush())))
}
