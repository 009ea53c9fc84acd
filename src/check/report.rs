//! What `check` says: lines for people, JSON for scripts, JUnit for CI systems.

use std::io::{self, Write};
use std::path::Path;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use serde::Serialize;

use super::verdict::{Outcome, Verdict};
use crate::out_file::{self, Inputs};

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
    /// Why it is not simply the same: the first difference, then the notes.
    fn reasons(&self) -> impl Iterator<Item = String> {
        self.differences.first().map(ToString::to_string).into_iter().chain(self.notes.iter().cloned())
    }
}

/// A line for each case, and its first difference.
///
/// # Errors
/// When `out` cannot be written.
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

/// One JSON object.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(out: &mut impl Write, outcomes: &[Outcome]) -> anyhow::Result<()> {
    let failed = outcomes.iter().filter(|outcome| outcome.result.fails()).count();
    serde_json::to_writer(&mut *out, &Summary { cases: outcomes, failed })?;
    writeln!(out)?;
    Ok(())
}

/// The JUnit form, without times: the same outcome is the same file.
///
/// # Errors
/// When `path` cannot be written.
pub fn junit(path: &Path, outcomes: &[Outcome], inputs: &Inputs) -> anyhow::Result<()> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let failures = outcomes.iter().filter(|outcome| outcome.result.fails()).count().to_string();
    let tests = outcomes.len().to_string();
    xml.create_element("testsuite")
        .with_attributes([("name", "a4emu check"), ("tests", &tests), ("failures", &failures)])
        .write_inner_content(|xml| outcomes.iter().try_for_each(|outcome| test_case(xml, outcome)))?;
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    out_file::write(path, &bytes, inputs)
}

fn test_case(xml: &mut Writer<Vec<u8>>, outcome: &Outcome) -> io::Result<()> {
    let element = xml.create_element("testcase");
    let element = element.with_attributes([("classname", "a4emu"), ("name", &*outcome.name)]);
    let kind = match outcome.result {
        Verdict::Same => return element.write_empty().map(drop),
        Verdict::KnownFailure => "skipped",
        Verdict::Differs | Verdict::UnexpectedPass | Verdict::Broken => "failure",
    };
    let details: Vec<String> = outcome.differences.iter().map(ToString::to_string).collect();
    let details: Vec<String> = details.into_iter().chain(outcome.notes.iter().cloned()).collect();
    let message = outcome.reasons().next().unwrap_or_default();
    element
        .write_inner_content(|xml| {
            let reason = xml.create_element(kind).with_attribute(("message", &*message));
            reason.write_text_content(BytesText::new(&details.join("\n"))).map(drop)
        })
        .map(drop)
}
