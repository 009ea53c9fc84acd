//! The row of a capture in a run: one JSON object on one line (docs/schema.md, `corpus row`).
//!
//! A row is equal on all machines and for any number of jobs and shards. The exception is [`Machine`], which
//! is the last field and is left out of `results.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use a4emu_inspect::coverage::Used;
use a4emu_support::status::Status;

/// A capture and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Path of the capture below the folder of the corpus.
    pub name: String,
    /// Hash of the file.
    pub content: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// How its process ended.
    pub end: End,
    /// The reason, if it was not played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The result, if it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Played>,
    /// Data that depends on the machine and the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// How the process that played a capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The process printed a result.
    Played,
    /// The process could not read the capture.
    Failed,
    /// The process crashed.
    Crash,
    /// The process exceeded its memory limit.
    Memory,
    /// The process exceeded its time limit.
    Timeout,
}

impl End {
    /// All ends.
    pub const ALL: [Self; 5] = [Self::Played, Self::Failed, Self::Crash, Self::Memory, Self::Timeout];

    /// A description of the end.
    pub fn words(self) -> &'static str {
        match self {
            Self::Played => "played",
            Self::Failed => "could not be read",
            Self::Crash => "crashed",
            Self::Memory => "out of memory",
            Self::Timeout => "out of time",
        }
    }
}

/// The result of playing a capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The exit status of `replay` for the capture.
    pub status: u8,
    /// Submits that ran.
    pub submits: u32,
    /// Draws and dispatches that ran.
    pub draws: u32,
    /// For each submit that rendered, its largest colour surface after the submit.
    pub frames: Vec<Frame>,
    /// All rendered surfaces at the end of the run, in the order of their last writes.
    pub surfaces: Vec<Surface>,
    /// Hashes of the targets after each draw, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_hashes: Option<Vec<DrawHash>>,
    /// Errors of the program or the stream.
    pub faults: Vec<Message>,
    /// Features that are not supported, and work that was cut off.
    pub unsupported: Vec<Message>,
    /// Memory that was read but is not in the capture.
    pub missing: Missing,
    /// The broken rules of `validate`, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Found>>,
    /// Guesses that the result rests on, with the number of draws, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<BTreeMap<String, u64>>,
    /// What the capture uses of the chip, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// The work of the run.
    pub work: Effort,
}

/// The largest surface of a submit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Number of the submit.
    pub submit: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Hash of its pixels.
    pub hash: String,
}

/// A rendered surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    /// Submit of its last write.
    pub submit: u32,
    /// Draw of its last write.
    pub draw: u32,
    /// Address of its first pixel.
    pub address: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Format of its pixels.
    pub format: String,
    /// Hash of the pixels of its picture; none if there is no picture.
    pub hash: Option<String>,
}

/// The hash of the targets after a run of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawHash {
    /// Number of the run.
    pub draw: u32,
    /// Number of its frame draw.
    pub frame_draw: u32,
    /// Address of its packet.
    pub address: u64,
    /// Hash of all its targets.
    pub hash: String,
}

/// A message of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Submit of the first occurrence.
    pub submit: u32,
    /// Draw of the first occurrence, or the next draw.
    pub draw: u32,
    /// Address of the packet.
    pub address: u64,
    /// The message.
    pub message: String,
    /// Number of occurrences.
    pub count: u64,
}

/// The amount of missing memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Number of ranges.
    pub ranges: u64,
    /// Number of bytes in them.
    pub bytes: u64,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Id of the rule.
    pub rule: String,
    /// Number of different findings.
    pub findings: u64,
    /// Number of occurrences.
    pub count: u64,
    /// Draw of the first occurrence.
    pub draw: u32,
}

/// The work of a run, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Units of the budget.
    pub units: u64,
    /// Warps.
    pub warps: u64,
    /// Warp instructions.
    pub instructions: u64,
    /// Primitives that reached the rasteriser.
    pub primitives: u64,
    /// Samples that passed the depth and stencil tests.
    pub pixels: u64,
}

/// Data that depends on the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Hash of the binary and its options. Together with the capture's hash, it identifies the result.
    pub key: String,
    /// Time of playing in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Time from the start of the process to its end, in milliseconds.
    pub process_ms: f64,
    /// Peak memory of the process in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

impl Row {
    /// The exit status that the row stands for.
    pub fn status(&self) -> Status {
        match (self.end, &self.played) {
            (End::Played, Some(played)) => Status::from_code(played.status),
            (End::Crash, _) => Status::Differs,
            (End::Failed | End::Played, _) => Status::Usage,
            (End::Memory | End::Timeout, _) => Status::Unsupported,
        }
    }

    /// The row without data that depends on the machine.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { machine: None, ..self }
    }

    /// Run time of the process in milliseconds, if the capture was played.
    pub fn process_ms(&self) -> Option<f64> {
        Some(self.machine.as_ref().filter(|_| self.end == End::Played)?.process_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(end: End, status: u8) -> Row {
        let played = (end == End::Played).then(|| Played { status, ..Played::default() });
        let machine = Some(Machine { process_ms: 7.0, ..Machine::default() });
        Row { name: String::new(), content: String::new(), bytes: 0, end, cause: None, played, machine }
    }

    #[test]
    fn every_end_has_its_status() {
        let ends = End::ALL.map(|end| row(end, 3).status());
        let expected =
            [Status::Damaged, Status::Usage, Status::Differs, Status::Unsupported, Status::Unsupported];
        assert_eq!(ends, expected);
        assert_eq!(row(End::Played, 0).status(), Status::Fine);
    }

    #[test]
    fn only_what_came_to_its_end_says_how_long_it_takes() {
        assert_eq!(End::ALL.map(|end| row(end, 0).process_ms()), [Some(7.0), None, None, None, None]);
        assert_eq!(row(End::Played, 0).anywhere().machine, None);
    }
}
