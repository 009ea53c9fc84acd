//! `a4emu validate`: what an in-order emulator forgives and an A4xx does not, by the rules of
//! docs/hardware/hazards.md.
//!
//! [`rules`] is the one table of rules. A [`Watch`] observes the command processor: [`stream`] has the rules of packets
//! and waits, [`state`] those of what a draw runs with, [`program`] those of programs alone, each of which is checked
//! once. What is found is said once for each thing that is wrong ([`finding`]), and counted.

pub mod finding;
mod program;
mod programs;
pub mod rules;
mod state;
mod stream;
mod suppress;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};

use a4emu_decoder::capture::Sections;
use anyhow::{Context, anyhow};

use crate::limits::Limits;
use crate::options::{Shared, Threads, open_capture};
use crate::out_file::Inputs;
use crate::status::Status;
use crate::terminal;
use a4emu_gpu::cp::{Engine, Renderer, Skip};
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::playback::Playback;
use finding::Line;
pub use finding::{Finding, Findings};
use rules::{Id, Severity};
use suppress::Suppressions;
pub use watch::Watch;

/// Arguments of `validate`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(required = true, value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,
    /// One JSON object a line (docs/schema.md)
    #[arg(long)]
    pub json: bool,
    /// Leave draws out: quicker, and what they leave for later packets is taken as the capture holds it
    #[arg(long)]
    pub no_render: bool,
    /// What is said
    #[command(flatten)]
    pub choice: Choice,
    /// Threads that render
    #[command(flatten)]
    pub threads: Threads,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
}

/// Which findings count.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Choice {
    /// Only this rule, such as D1, or all whose ids begin so, such as D (repeatable)
    #[arg(long, value_name = "RULE")]
    pub rule: Vec<String>,
    /// Not this rule (repeatable)
    #[arg(long, value_name = "RULE")]
    pub no_rule: Vec<String>,
    /// A file of findings that do not count, with reasons: [[suppress]] tables with rule, reason, and if wanted
    /// what and program
    #[arg(long, value_name = "FILE")]
    pub suppress: Option<PathBuf>,
}

/// A choice, read.
#[derive(Debug, Default)]
pub struct ChosenRules {
    only: Vec<String>,
    not: Vec<String>,
    suppressions: Suppressions,
}

impl Choice {
    /// Looks up the rules, and reads the file, which becomes one of `inputs`.
    ///
    /// # Errors
    /// There is no such rule, or the file is none of suppressions.
    pub fn read(&self, inputs: &Inputs) -> anyhow::Result<ChosenRules> {
        for name in self.rule.iter().chain(&self.no_rule) {
            let known = rules::all().any(|id| begins(id, name));
            known.then_some(()).ok_or_else(|| anyhow!("there is no rule {name}"))?;
        }
        let suppressions = self.suppress.as_deref().map(|path| Suppressions::read(path, inputs));
        let suppressions = suppressions.transpose()?.unwrap_or_default();
        Ok(ChosenRules { only: self.rule.clone(), not: self.no_rule.clone(), suppressions })
    }
}

/// Whether `name` means the rule: its id, or a family's letter.
fn begins(id: Id, name: &str) -> bool {
    let rule = id.rule().id;
    let family = rule.trim_end_matches(|c: char| c.is_ascii_digit());
    name.eq_ignore_ascii_case(rule) || name.eq_ignore_ascii_case(family)
}

impl ChosenRules {
    /// Whether a rule counts.
    pub fn names(&self, rule: Id) -> bool {
        let named = |names: &[String]| names.iter().any(|name| begins(rule, name));
        (self.only.is_empty() || named(&self.only)) && !named(&self.not)
    }

    /// Why a finding does not count, though its rule does.
    pub fn reason(&self, finding: &Finding) -> Option<&str> {
        self.suppressions.reason(finding)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, or that a capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let chosen = args.choice.read(&shared.inputs)?;
    let args = &Args { limits: args.limits.begun(), ..args.clone() };
    let several = args.captures.len() > 1;
    let mut out = terminal::stdout(terminal::Form::of(args.json));
    let mut status = Status::Fine;
    for capture in &args.captures {
        let name = capture.display().to_string();
        let file = several.then_some(name.as_str());
        let (watch, report) = validate(args, capture, shared)?;
        let form = if args.json { Form::Json } else { Form::Text };
        let told = tell(watch.findings.iter(), &chosen, file, form, &mut out);
        status = status.worse(shared.tell(&name, &report)).worse(told?);
    }
    out.flush()?;
    Ok(status)
}

fn validate(args: &Args, capture: &Path, shared: &Shared) -> anyhow::Result<(Watch, Report)> {
    let mut playback = args.limits.playback(capture);
    let mut watch = Watch::of_run(&mut playback.gpu);
    args.threads.run(|| -> anyhow::Result<()> {
        let (mut renderer, mut skip) = (Renderer, Skip::default());
        let engine: &mut dyn Engine = if args.no_render { &mut skip } else { &mut renderer };
        let sections = open_capture(capture, &playback.gpu.budget, shared)?;
        playback.run(sections, engine, &mut watch);
        Ok(())
    })?;
    watch.finish(&mut playback.gpu);
    Ok((watch, playback.gpu.report))
}

impl Watch {
    /// The findings, in the order in which they were met.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// The run is over: what can be said no sooner, and what was too much to look at, or to keep.
    pub fn finish(&mut self, gpu: &mut Gpu) {
        self.end(gpu);
        let at = gpu.at;
        if self.programs.cut {
            gpu.report.cut("programs that take too much work to look through".to_owned(), at);
        }
        if self.findings.left_out > 0 {
            gpu.report.cut(format!("{} more findings", self.findings.left_out), at);
        }
    }
}

/// What is wrong with the capture of these bytes, draws left out: rules, and what breaks them.
pub fn found_in(capture: &[u8]) -> (Watch, Report) {
    let mut playback = Playback::default();
    let mut watch = Watch::default();
    match Sections::new(capture) {
        Ok(sections) => {
            playback.run(sections, &mut Skip::default(), &mut watch);
        }
        Err(error) => playback.gpu.report.troubles.note(error.into(), playback.gpu.at),
    }
    watch.finish(&mut playback.gpu);
    (watch, playback.gpu.report)
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Text,
    /// One object a line.
    Json,
}

/// Writes what was found, in `file` if there are several; whether one of severity E remains.
///
/// # Errors
/// It cannot be written.
pub fn tell<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    chosen: &ChosenRules,
    file: Option<&str>,
    form: Form,
    out: &mut impl Write,
) -> anyhow::Result<Status> {
    let mut status = Status::Fine;
    for finding in findings.into_iter().filter(|finding| chosen.names(finding.broken.rule)) {
        let suppressed = chosen.reason(finding);
        let line = Line::new(finding, file, suppressed);
        match form {
            Form::Json => serde_json::to_writer(&mut *out, &line).context("a finding")?,
            Form::Text => write!(out, "{line}")?,
        }
        writeln!(out)?;
        if finding.broken.rule.rule().severity == Severity::E && suppressed.is_none() {
            status = Status::Differs;
        }
    }
    Ok(status)
}
