//! The JUnit report of `corpus compare` for CI systems.

use std::io::Write;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Change, Verdict};
use a4emu_support::out_file::OutFile;

/// Writes the report. A capture that differs or is gone is a failure.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn write(mut out: OutFile, changes: &[Change]) -> anyhow::Result<()> {
    let mut suite = TestSuite::new("a4emu corpus compare");
    suite.add_test_cases(changes.iter().map(test_case));
    let mut report = Report::new("a4emu");
    report.add_test_suite(suite);
    out.write_all(report.to_string()?.as_bytes())?;
    out.finish()
}

fn test_case(change: &Change) -> TestCase {
    let status = match change.result {
        Verdict::Same | Verdict::New => TestCaseStatus::success(),
        Verdict::Different | Verdict::Gone => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let first = change.differences.first().map_or(change.result.words(), String::as_str);
            status.set_message(first);
            status.set_description(change.differences.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(&*change.name, status);
    case.set_classname("a4emu");
    case
}
