//! The summary of a process: how much ran, and what went wrong.
//!
//! The preloaded library writes one for each process, and the launcher prints them.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::recording::Recording;
use a4emu_gpu::fault::{Place, Report, Trouble};
use a4emu_rules::{ChosenRules, Finding, Watch};

/// Maximum number of different notes of one kind; further ones are only counted.
const MAX_NOTES: usize = 100;
/// Maximum number of findings; the worst are kept.
const MAX_FINDINGS: usize = 500;

/// The summary of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Id of the process.
    pub pid: u32,
    /// Name and id of the process.
    pub process: String,
    /// Submits that ran.
    pub submits: u64,
    /// Draws that ran, one for each tile.
    pub draws: u64,
    /// Compute dispatches that ran.
    pub dispatches: u64,
    /// Time that submits took, in milliseconds.
    pub milliseconds: f64,
    /// Submits that were cut off because they did not end.
    pub hangs: u64,
    /// The capture that is being written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<Recording>,
    /// The capture that was written.
    pub recorded: Option<String>,
    /// Other trouble.
    pub trouble: Option<String>,
    /// GPU faults.
    pub faults: Vec<Note>,
    /// Features that are not supported yet.
    pub unsupported: Vec<Note>,
    /// Work that was cut off by limits.
    pub cuts: Vec<Note>,
    /// Reads outside of all buffers, by reader.
    pub outside: Vec<Note>,
    /// The findings of `validate`, if requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// A reported message with its count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The message.
    pub what: String,
    /// The place of its first occurrence.
    pub first: String,
    /// Number of occurrences.
    pub count: u64,
}

impl Summary {
    /// Takes the findings of `watch` that `chosen` counts. If there are too many, a note says so.
    pub fn take_findings(&mut self, watch: &Watch, chosen: &ChosenRules) {
        self.findings =
            watch.findings().filter(|finding| chosen.names(finding.broken.rule)).cloned().collect();
        self.findings.sort_by_key(|finding| {
            (chosen.reason(finding).is_some(), Reverse(finding.broken.rule.rule().severity))
        });
        let left_out = self.findings.len().saturating_sub(MAX_FINDINGS);
        self.findings.truncate(MAX_FINDINGS);
        if left_out > 0 {
            let what = format!("{left_out} findings are left out");
            self.cuts.push(Note { what, first: "at the end".to_owned(), count: 1 });
        }
    }

    /// Whether there is nothing to tell but how much ran.
    pub fn is_plain(&self) -> bool {
        let notes = [&self.faults, &self.unsupported, &self.cuts, &self.outside];
        self.recorded.is_none()
            && self.trouble.is_none()
            && self.hangs == 0
            && notes.iter().all(|notes| notes.is_empty())
    }

    /// Takes the messages of `report`.
    pub fn take_report(&mut self, report: &Report) {
        self.faults = notes(report, |trouble| matches!(trouble, Trouble::Fault(_)));
        self.unsupported = notes(report, |trouble| {
            matches!(trouble, Trouble::Unsupported(_) | Trouble::NotRendered(_) | Trouble::Refused(_))
        });
        self.cuts = notes(report, |trouble| matches!(trouble, Trouble::Cut(_)));
        self.outside = outside(report);
    }
}

fn notes(report: &Report, of: impl Fn(&Trouble) -> bool) -> Vec<Note> {
    let note = |(what, at, count): &(Trouble, Place, u64)| Note {
        what: what.to_string(),
        first: at.to_string(),
        count: *count,
    };
    let rows = || report.troubles.iter().filter(|(trouble, ..)| of(trouble));
    let mut notes: Vec<Note> = rows().take(MAX_NOTES).map(note).collect();
    if let Some((_, first, _)) = rows().nth(MAX_NOTES) {
        let count = rows().skip(MAX_NOTES).map(|(.., count)| count).sum();
        notes.push(Note { what: "others, left out here".into(), first: first.to_string(), count });
    }
    notes
}

fn outside(report: &Report) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for miss in report.missing.iter() {
        let what = format!("{} read outside of all buffers", miss.client);
        match notes.last_mut() {
            Some(note) if note.what == what => note.count += 1,
            _ => notes.push(Note {
                what,
                first: format!("{} bytes at {:#010x}", miss.len, miss.address),
                count: 1,
            }),
        }
    }
    notes
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, submits, draws, dispatches, milliseconds, .. } = self;
        let compute = if *dispatches > 0 { format!(" (compute {dispatches})") } else { String::new() };
        write!(
            f,
            "a4emu: {process}: {submits} submits, {} draws{compute}, {milliseconds:.0} ms",
            draws + dispatches
        )?;
        if let Some(recorded) = &self.recorded {
            write!(f, ", recorded to {recorded}")?;
        }
        if self.hangs > 0 {
            write!(f, ", {} cut off as hanging", self.hangs)?;
        }
        if let Some(trouble) = &self.trouble {
            write!(f, "\na4emu: {trouble}")?;
        }
        for (kind, notes) in [
            ("fault", &self.faults),
            ("not supported", &self.unsupported),
            ("limit", &self.cuts),
            ("fault", &self.outside),
        ] {
            for Note { what, first, count } in notes {
                write!(f, "\na4emu: {kind}: {what} ({count} times, first {first})")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::fault::{Client, Fault};

    #[test]
    fn notes_are_capped_and_the_rest_is_counted() {
        let mut report = Report::default();
        for register in 0..800 {
            report.fault(Fault::NoRegister(register), Place::default());
        }
        let mut summary = Summary::default();
        summary.take_report(&report);
        assert_eq!(summary.faults.len(), MAX_NOTES + 1);
        assert_eq!(summary.faults.iter().map(|note| note.count).sum::<u64>(), 800);
    }

    /// A dispatch is a draw in counts for people, as in those of `info`.
    #[test]
    fn dispatches_are_draws() {
        let summary = |dispatches| Summary {
            process: "x/1".into(),
            submits: 2,
            draws: 5,
            dispatches,
            ..Summary::default()
        };
        assert_eq!(summary(0).to_string(), "a4emu: x/1: 2 submits, 5 draws, 0 ms");
        assert_eq!(summary(1).to_string(), "a4emu: x/1: 2 submits, 6 draws (compute 1), 0 ms");
    }

    #[test]
    fn each_fault_is_one_line_with_its_count() {
        let mut report = Report::default();
        for _ in 0..3 {
            report.fault(Fault::NoRegister(5), Place::default());
        }
        report.miss(Client::Vertex, 0x1000, 4);
        report.miss(Client::Vertex, 0x3000, 4);
        let mut summary = Summary { process: "x/1".into(), submits: 2, ..Summary::default() };
        summary.take_report(&report);
        let text = summary.to_string();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("no register (3 times, first submit 0 at"), "{text}");
        assert!(
            text.contains("vertex fetch read outside of all buffers (2 times, first 4 bytes at 0x00001000)")
        );
        let json = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
    }
}
