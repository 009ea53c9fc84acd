//! Golden files: the last picture ([`Frame`]) and the state of each draw, as text for git and for readers.
//!
//! A state file has a line with the format and the chip, then one record for each draw and dispatch. A
//! record holds its call, the registers whose values changed since the record before (by offset, with
//! decoded fields), the loaded shader state (by content hash) and a hash of all state. The last record,
//! `end`, holds the writes after the last draw.

mod compare;
mod frame;
mod hash;
mod record;
mod text;

pub use compare::{Difference, compare};
pub use frame::{FRAME, Frame, Tolerance};
pub use hash::StateHash;
pub use record::{Recorder, Sink, call_text, kind_name};
pub use text::{MAGIC, ParseError, RecordText, header, parse};

use a4emu_gpu::gpu::Chip;

/// Shader state that was loaded between two draws, from unit `first` on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadRecord {
    /// The kind of state and its stage, as text such as `FS constants`.
    pub kind: String,
    /// First unit.
    pub first: u32,
    /// Length in dwords.
    pub dwords: u32,
    /// XXH3 of the dwords, little-endian.
    pub hash: u64,
}

/// The record of one draw or dispatch, or the record `end`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Number of the draw or dispatch; in `end`, the number of the next one.
    pub number: u32,
    /// Number of the frame draw, which its runs for all tiles share; in `end`, the next new number.
    pub frame_draw: u32,
    /// Number of the submit that holds the draw.
    pub submit: u32,
    /// Description of the call, such as `gmem TRILIST count 3 instances 1 auto`.
    pub call: String,
    /// Number of registers written since the record before.
    pub written: u32,
    /// Registers whose value changed or that were written for the first time: offset and value, by offset.
    pub registers: Vec<(u32, u32)>,
    /// Loaded shader state, sorted.
    pub loads: Vec<LoadRecord>,
    /// Hash of all registers, loaded state and command processor state.
    pub hash: u64,
}

impl Record {
    /// Whether this is the last record, `end`, which belongs to no draw.
    pub fn is_end(&self) -> bool {
        self.call == "end"
    }
}

/// A state file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// Records, in execution order.
    pub records: Vec<Record>,
}
