//! `a4emu check`: replays every fixture and compares it with its golden files.

mod artifacts;
mod bless;
mod case;
mod gtest;
mod memory;
mod report;
mod verdict;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indicatif::{ParallelProgressIterator, ProgressBar};
use rayon::prelude::*;

use crate::flags::Flags;
use crate::shard::Sharding;
use a4emu_inspect::golden::Difference;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::out_file::{OutFile, one_stdout};
use a4emu_support::progress::bar;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form};

pub use bless::{agree, bless};
pub use case::{Case, Manifest, find, open, reach};
use gtest::Filter;
pub use verdict::{Actual, Depth, Outcome, PACKETS, Run, STATE, Verdict, judge, judge_keeping, replay};

/// Arguments of `check`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Names of fixtures (default: all)
    pub cases: Vec<String>,
    /// Folder of the fixtures
    #[arg(long, value_name = "DIR", default_value = "fixtures")]
    pub fixtures: PathBuf,
    /// Rewrite the golden files
    #[arg(long)]
    pub bless: bool,
    /// Report as JSON
    #[arg(long, conflicts_with = "bless")]
    pub json: bool,
    /// Which part of the cases
    #[command(flatten)]
    pub sharding: Sharding,
    /// List the cases as tests of GoogleTest, run nothing
    #[arg(long = "gtest_list_tests", conflicts_with_all = ["bless", "json", "junit"])]
    pub gtest_list_tests: bool,
    /// Only these, in GoogleTest's way (`fixtures.a:fixtures.b*-fixtures.c`), and report in its way
    #[arg(long = "gtest_filter", value_name = "FILTER", conflicts_with_all = ["bless", "json", "junit"])]
    pub gtest_filter: Option<String>,
    /// Report in JUnit form (- for stdout, in place of the lines for people)
    #[arg(long, value_name = "FILE", conflicts_with = "bless")]
    pub junit: Option<PathBuf>,
    /// Write how each case differs into DIR/CASE: actual.png, expected.png, difference.png, state, packets, memory
    ///
    /// --junit names the files, and how long each case took.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["bless", "gtest_list_tests"])]
    pub artifacts: Option<PathBuf>,
    /// A folder, beside that in which the fixtures' folder is, where captures may be (repeatable)
    #[arg(long, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Threads that replay
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of each case
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

impl Args {
    /// The options that write output, with the file that each names; no file means stdout.
    fn outputs(&self) -> Vec<(&'static str, Option<&Path>)> {
        let junit = self.junit.as_deref().map(|path| ("--junit", Some(path)));
        junit.into_iter().chain(self.json.then_some(("--json", None))).collect()
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    one_stdout(&args.outputs())?;
    let run = Run { shared: shared.clone(), limits: args.limits.begun() };
    let cases = find(&args.fixtures, &args.cases, &reach(&args.fixtures, &args.include), &shared.inputs)?;
    let cases = chosen(args, cases, shared)?;
    if args.gtest_list_tests {
        let names = cases.iter().map(|case| case.name.as_str());
        let mut out = terminal::text();
        return Ok(Status::Fine.and(gtest::list(&mut out, names).and_then(|()| out.flush())));
    }
    let bar = bar(cases.len() as u64, shared);
    if args.bless {
        return args.threads.run(|| bless_all(&cases, &run, bar));
    }
    cases.iter().for_each(Case::protect);
    let junit = args.junit.as_deref().map(|path| OutFile::create(path, &shared.inputs)).transpose()?;
    let keep = |case: &Case, actual: &Actual, differences: &[Difference]| match &args.artifacts {
        Some(folder) => artifacts::write(case, actual, differences, folder),
        None => Ok(Vec::new()),
    };
    let judged = |case| judge_keeping(case, &run, &keep);
    let outcomes: Vec<Outcome> =
        args.threads.run(|| cases.par_iter().progress_with(bar).map(judged).collect());
    let status = outcomes.iter().map(Outcome::status).max().unwrap_or_default();
    Ok(status.and(put_out(args, &outcomes, junit)))
}

/// The cases of this part that fit the filter. The weight of a case is the size of its capture.
fn chosen(args: &Args, mut cases: Vec<Case>, shared: &Shared) -> anyhow::Result<Vec<Case>> {
    if let Some(filter) = args.gtest_filter.as_deref().map(Filter::new) {
        cases.retain(|case| filter.has(&case.name));
    }
    let bytes = |case: &Case| fs::metadata(case.capture()).map_or(0.0, |metadata| metadata.len() as f64);
    Ok(args.sharding.shard(shared)?.of(cases, |case| &case.name, bytes))
}

/// Writes the requested reports.
fn put_out(args: &Args, outcomes: &[Outcome], junit: Option<OutFile>) -> anyhow::Result<()> {
    if let Some(out) = junit {
        report::junit(out, outcomes)?;
    }
    let mut out = terminal::stdout(if args.json { Form::Json } else { Form::Lines });
    if args.gtest_filter.is_some() {
        gtest::results(&mut out, outcomes)?;
        return Ok(out.flush()?);
    }
    match (args.json, &args.junit) {
        (true, _) => report::json(&mut out, outcomes)?,
        (false, Some(junit)) if junit == Path::new("-") => {}
        (false, _) => report::text(&mut out, outcomes)?,
    }
    Ok(out.flush()?)
}

fn bless_all(cases: &[Case], run: &Run, bar: ProgressBar) -> anyhow::Result<Status> {
    let blessed: Vec<anyhow::Result<Vec<String>>> =
        cases.par_iter().progress_with(bar).map(|case| bless(case, run)).collect();
    let refused = blessed.iter().any(Result::is_err);
    let status = if refused { Status::Differs } else { Status::Fine };
    Ok(status.and(write_blessed(&mut terminal::text(), cases, blessed)))
}

fn write_blessed(
    out: &mut impl Write,
    cases: &[Case],
    blessed: Vec<anyhow::Result<Vec<String>>>,
) -> io::Result<()> {
    for (case, blessed) in cases.iter().zip(blessed) {
        match blessed {
            Ok(changes) if changes.is_empty() => writeln!(out, "{}: unchanged", case.name)?,
            Ok(changes) => writeln!(out, "{}:\n  {}", case.name, changes.join("\n  "))?,
            Err(error) => writeln!(out, "{}: refused: {error:#}", case.name)?,
        }
    }
    out.flush()
}
