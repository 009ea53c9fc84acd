//! What a process says when it is done: how much ran, and what went wrong.
//!
//! The preloaded library writes one for each process, the launcher puts them out.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::{Place, Report, Severity, Trouble};

/// Of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Its name and number.
    pub process: String,
    /// Submits that ran.
    pub submits: u64,
    /// Draws in them, one for each tile that they ran in.
    pub draws: u64,
    /// Compute dispatches in them.
    pub dispatches: u64,
    /// Time that submits took, in milliseconds.
    pub milliseconds: f64,
    /// The capture that was written.
    pub recorded: Option<String>,
    /// GPU faults.
    pub faults: Vec<Note>,
    /// What is not supported yet.
    pub unsupported: Vec<Note>,
    /// Reads outside of all buffers, by who read.
    pub outside: Vec<Note>,
}

/// Something that was reported, once, with how often it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// In words.
    pub what: String,
    /// Where it first happened.
    pub first: String,
    /// How often.
    pub count: u64,
}

impl Summary {
    /// Takes over what `report` holds.
    pub fn take_report(&mut self, report: &Report) {
        self.faults = notes(report, |trouble| matches!(trouble, Trouble::Fault(_)));
        self.unsupported = notes(report, |trouble| trouble.severity() == Severity::Unsupported);
        self.outside = outside(report);
    }
}

fn notes(report: &Report, of: impl Fn(&Trouble) -> bool) -> Vec<Note> {
    let note = |(what, at, count): &(Trouble, Place, u64)| Note {
        what: what.to_string(),
        first: at.to_string(),
        count: *count,
    };
    report.troubles.iter().filter(|(trouble, ..)| of(trouble)).map(note).collect()
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
        write!(
            f,
            "a4emu: {process}: {submits} submits, {draws} draws, {dispatches} dispatches, {milliseconds:.0} ms"
        )?;
        if let Some(recorded) = &self.recorded {
            write!(f, ", recorded to {recorded}")?;
        }
        for (kind, notes) in
            [("fault", &self.faults), ("not supported", &self.unsupported), ("fault", &self.outside)]
        {
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
    use crate::fault::{Client, Fault};

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
