//! `a4emu validate`: finds errors that an in-order emulator tolerates and the chip does not, by the rules of
//! docs/hardware/hazards.md.
//!
//! [`rules`] is the table of all rules. A [`Watch`] observes the command processor. [`stream`] has the rules
//! of packets and waits, [`state`] those of a draw's state, [`program`] those of programs, each of which is
//! checked once. [`a6xx`] has packets and state of the A6xx. Each distinct finding ([`finding`]) is reported once, with a count.

mod a6xx;
pub mod finding;
pub mod number;
mod program;
mod programs;
pub mod rules;
pub mod shader;
mod state;
mod stream;
pub mod suppress;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};

use a4emu_decoder::adreno::capture::Sections;
use anyhow::{Context, anyhow};

use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::Skip;
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::playback::Playback;
use finding::Line;
pub use finding::{Finding, Findings};
use rules::{Id, Severity};
use suppress::Suppressions;
pub use watch::Watch;

/// Selects the findings that count.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only these rules, such as D1, or families of rules, such as D.
    pub rule: Vec<String>,
    /// Rules and families that do not count.
    pub no_rule: Vec<String>,
    /// A file of findings that do not count: `[[suppress]]` tables with rule and reason, and optionally what
    /// and program.
    pub suppress: Option<PathBuf>,
}

/// A parsed choice.
#[derive(Debug, Default)]
pub struct ChosenRules {
    only: Vec<String>,
    not: Vec<String>,
    suppressions: Suppressions,
}

impl Choice {
    /// Looks up the rules, and reads the file with `load`.
    ///
    /// # Errors
    /// The call fails if a rule does not exist, or if `load` fails.
    pub fn read(
        &self,
        load: impl FnOnce(&Path) -> anyhow::Result<Suppressions>,
    ) -> anyhow::Result<ChosenRules> {
        for name in self.rule.iter().chain(&self.no_rule) {
            let known = rules::all().any(|id| begins(id, name));
            known.then_some(()).ok_or_else(|| {
                let mut families: Vec<&str> = rules::all().map(family).collect();
                families.sort_unstable();
                families.dedup();
                anyhow!("there is no rule {name}; there are the families {}", families.join(", "))
            })?;
        }
        let suppressions = self.suppress.as_deref().map(load).transpose()?.unwrap_or_default();
        Ok(ChosenRules { only: self.rule.clone(), not: self.no_rule.clone(), suppressions })
    }
}

/// Whether `name` is the id of the rule or the letter of its family.
fn begins(id: Id, name: &str) -> bool {
    name.eq_ignore_ascii_case(id.rule().id) || name.eq_ignore_ascii_case(family(id))
}

/// The letter of the family of a rule.
fn family(id: Id) -> &'static str {
    id.rule().id.trim_end_matches(|c: char| c.is_ascii_digit())
}

impl ChosenRules {
    /// Whether a rule counts.
    pub fn names(&self, rule: Id) -> bool {
        let named = |names: &[String]| names.iter().any(|name| begins(rule, name));
        (self.only.is_empty() || named(&self.only)) && !named(&self.not)
    }

    /// The reason why a finding is suppressed, if it is.
    pub fn reason(&self, finding: &Finding) -> Option<&str> {
        self.suppressions.reason(finding)
    }
}

impl Watch {
    /// The findings, in the order in which they were found.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Ends the run: adds the last findings, and reports what was not checked or not kept.
    pub fn finish(&mut self, gpu: &mut Gpu) {
        self.end(gpu.sync());
        let at = gpu.at;
        if self.programs.cut {
            gpu.report.cut("programs that take too much work to look through".to_owned(), at);
        }
        if self.findings.left_out > 0 {
            gpu.report.cut(format!("{} more findings", self.findings.left_out), at);
        }
    }
}

/// Checks the capture in these bytes without running its draws, within `budget`. Returns the watch and the report of the run.
pub fn found_in(capture: &[u8], budget: Budget) -> (Watch, Report) {
    let mut playback = Playback::default();
    playback.gpu.budget = budget;
    let mut watch = Watch::default();
    match Sections::new(capture) {
        Ok(sections) => {
            playback.run(sections, &mut Skip::default(), &mut watch);
        }
        Err(error) => playback.gpu.machine.report.troubles.note(error.into(), playback.gpu.machine.at),
    }
    watch.finish(&mut playback.gpu);
    (watch, playback.gpu.machine.report)
}

/// The form in which findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for readers.
    Text,
    /// One JSON object a line.
    Json,
}

/// Whether a capture breaks rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No finding of severity E counts.
    Keeps,
    /// A finding of severity E counts.
    Breaks,
}

/// Writes the findings, with the name of `file` if there are several.
///
/// # Errors
/// The call fails if the output cannot be written.
pub fn tell<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    chosen: &ChosenRules,
    file: Option<&str>,
    form: Form,
    out: &mut impl Write,
) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Keeps;
    for finding in findings.into_iter().filter(|finding| chosen.names(finding.broken.rule)) {
        let suppressed = chosen.reason(finding);
        let line = Line::new(finding, file, suppressed);
        match form {
            Form::Json => serde_json::to_writer(&mut *out, &line).context("a finding")?,
            Form::Text => write!(out, "{line}")?,
        }
        writeln!(out)?;
        if finding.broken.rule.rule().severity == Severity::E && suppressed.is_none() {
            verdict = Verdict::Breaks;
        }
    }
    Ok(verdict)
}
