//! The output of `check`: lines of text, JSON, or JUnit for CI systems.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use super::artifacts::attachments;
use super::verdict::{Outcome, Verdict};
use a4emu_support::out_file::OutFile;

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs => "differs",
            Self::KnownFailure => "known failure",
            Self::UnexpectedPass => "unexpected pass",
            Self::Broken => "broken",
        }
    }

    fn fails(self) -> bool {
        !matches!(self, Self::Same | Self::KnownFailure)
    }
}

impl Outcome {
    /// Reasons why the case is not the same: the first difference, then the notes.
    pub fn reasons(&self) -> impl Iterator<Item = String> {
        self.differences.first().map(ToString::to_string).into_iter().chain(self.notes.iter().cloned())
    }
}

/// Writes a line for each case, with its first difference.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn text(out: &mut impl Write, outcomes: &[Outcome]) -> io::Result<()> {
    for outcome in outcomes {
        writeln!(out, "{}: {}", outcome.name, outcome.result.words())?;
        for reason in outcome.reasons() {
            writeln!(out, "  {reason}")?;
        }
        let more = outcome.differences.len().saturating_sub(1);
        if more > 0 {
            writeln!(out, "  and {more} more")?;
        }
    }
    let failed = outcomes.iter().filter(|outcome| outcome.result.fails()).count();
    writeln!(out, "{} cases, {failed} failed", outcomes.len())
}

#[derive(Serialize)]
struct Summary<'a> {
    cases: &'a [Outcome],
    failed: usize,
}

/// Writes one JSON object.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn json(out: &mut impl Write, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let failed = outcomes.iter().filter(|outcome| outcome.result.fails()).count();
    serde_json::to_writer(&mut *out, &Summary { cases: outcomes, failed })?;
    writeln!(out)?;
    Ok(())
}

/// Writes the JUnit form, with the time of each case and its artifacts.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn junit(mut out: OutFile, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let mut suite = TestSuite::new("a4emu check");
    suite.add_test_cases(outcomes.iter().map(test_case).collect::<io::Result<Vec<_>>>()?);
    let mut report = Report::new("a4emu");
    report.add_test_suite(suite);
    out.write_all(report.to_string()?.as_bytes())?;
    out.finish()
}

fn test_case(outcome: &Outcome) -> io::Result<TestCase> {
    let mut case = TestCase::new(&*outcome.name, status(outcome));
    case.set_classname("a4emu").set_time(outcome.time);
    if !outcome.artifacts.is_empty() {
        case.set_system_out(attachments(&outcome.artifacts)?);
    }
    Ok(case)
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    let mut status = match outcome.result {
        Verdict::Same => return TestCaseStatus::success(),
        Verdict::KnownFailure => TestCaseStatus::skipped(),
        Verdict::Differs | Verdict::UnexpectedPass => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Broken => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let differences = outcome.differences.iter().map(ToString::to_string);
    let details: Vec<String> = differences.chain(outcome.notes.iter().cloned()).collect();
    status.set_message(outcome.reasons().next().unwrap_or_default());
    status.set_description(details.join("\n"));
    status
}
