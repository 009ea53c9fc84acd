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
use std::path::PathBuf;

use a4emu_decoder::capture::Sections;
use anyhow::{Context, anyhow};

use crate::out_file::Inputs;
use crate::status::Status;
use a4emu_gpu::cp::Skip;
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::playback::Playback;
use finding::Line;
pub use finding::{Finding, Findings};
use rules::{Id, Severity};
use suppress::Suppressions;
pub use watch::Watch;

/// Which findings count.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only these rules, such as D1, or all whose ids begin so, such as D.
    pub rule: Vec<String>,
    /// Not these rules.
    pub no_rule: Vec<String>,
    /// A file of findings that do not count, with reasons: `[[suppress]]` tables with rule, reason, and if wanted what and
    /// program.
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
