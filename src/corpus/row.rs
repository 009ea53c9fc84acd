//! What a run keeps of a capture: one JSON object, one line (docs/schema.md, `corpus row`).
//!
//! All of it is the same on any machine, for any number of jobs and shards, but for [`Machine`], which stands
//! last and is left out of `results.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use a4emu_inspect::coverage::Used;
use a4emu_inspect::status::Status;

/// A capture and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its path below the folder of the corpus.
    pub name: String,
    /// Hash of the file.
    pub content: String,
    /// Its length.
    pub bytes: u64,
    /// How its run ended.
    pub end: End,
    /// Why, unless it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What it played to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<Played>,
    /// What another machine, or another day, has otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
}

/// How the process that played a capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It said what the capture plays to.
    Played,
    /// It could not read the capture.
    Failed,
    /// It ended otherwise than by itself.
    Crash,
    /// It took more memory than it was given.
    Memory,
    /// It took longer than it was given.
    Timeout,
}

impl End {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Played, Self::Failed, Self::Crash, Self::Memory, Self::Timeout];

    /// In words.
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

/// What a capture played to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The exit status that `replay` has for it.
    pub status: u8,
    /// Submits that ran.
    pub submits: u32,
    /// Draws and dispatches.
    pub draws: u32,
    /// The largest colour surface of each submit that rendered one, as it left it.
    pub frames: Vec<Frame>,
    /// All surfaces that were rendered, as the run left them, in the order of the last writes.
    pub surfaces: Vec<Surface>,
    /// What the draws left in their targets, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_hashes: Option<Vec<DrawHash>>,
    /// What the program or the stream got wrong.
    pub faults: Vec<Said>,
    /// What is not supported, or was cut off.
    pub unsupported: Vec<Said>,
    /// Memory that was read and is not in the capture.
    pub missing: Missing,
    /// Rules of `validate` that it breaks, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Found>>,
    /// Guesses that it rests on, with the draws that do, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guesses: Option<BTreeMap<String, u64>>,
    /// What of the chip it uses, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
    /// What it took.
    pub work: Effort,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its submit.
    pub submit: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Hash of its pixels.
    pub hash: String,
}

/// A surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    /// Submit of the last write.
    pub submit: u32,
    /// Draw of that.
    pub draw: u32,
    /// Of its first pixel.
    pub address: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Of its pixels.
    pub format: String,
    /// Hash of the pixels of its picture; nothing where there is none.
    pub hash: Option<String>,
}

/// What a run of a draw left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawHash {
    /// The run.
    pub draw: u32,
    /// Its number among those of the frame.
    pub frame_draw: u32,
    /// Address of its packet.
    pub address: u32,
    /// Hash of all its targets.
    pub hash: String,
}

/// Something that a run has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Where first.
    pub submit: u32,
    /// The draw, or the next one.
    pub draw: u32,
    /// The packet.
    pub address: u32,
    /// What.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// How much is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Ranges.
    pub ranges: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its id.
    pub rule: String,
    /// Different ways in which it is broken.
    pub findings: u64,
    /// How often it was met.
    pub count: u64,
    /// Draw where it was met first.
    pub draw: u32,
}

/// What a run took, counted.
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
    /// Samples that passed depth and stencil.
    pub pixels: u64,
}

/// What depends on the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Hash of the binary and its options: with the content, what the row is a result of.
    pub key: String,
    /// Milliseconds that playing took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Milliseconds from the start of the process to its end.
    pub process_ms: f64,
    /// Bytes of memory that the process held at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

impl Row {
    /// What this means for the exit status.
    pub fn status(&self) -> Status {
        match (self.end, &self.played) {
            (End::Played, Some(played)) => Status::from_code(played.status),
            (End::Crash, _) => Status::Differs,
            (End::Failed | End::Played, _) => Status::Usage,
            (End::Memory | End::Timeout, _) => Status::Unsupported,
        }
    }

    /// The same without what depends on the machine.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { machine: None, ..self }
    }

    /// Milliseconds that its process took, if it came to its end.
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
