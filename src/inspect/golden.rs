//! Golden files: the last picture ([`Frame`]), and what each draw saw, as text that git and people can diff.
//!
//! A state file is a line that names the format and the chip, then one record
//! for each draw and dispatch: its call, the registers whose values changed since
//! the record before (by offset, with decoded fields), the shader state that was
//! loaded (by content hash) and a hash of all state. The last record, `end`, holds
//! what was written after the last draw.

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

/// Shader state that was loaded between two draws: what lies in `units` units from `first`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadRecord {
    /// Which state of which stage, as text such as `FS constants`.
    pub kind: String,
    /// First unit.
    pub first: u32,
    /// Dwords of it.
    pub dwords: u32,
    /// XXH3 of the dwords, little-endian.
    pub hash: u64,
}

/// One draw, dispatch, or the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Number of the draw or dispatch; that of the next one for the end.
    pub number: u32,
    /// Number that it shares with its runs for other tiles; that of the next new one for the end.
    pub frame_draw: u32,
    /// Submit that holds it.
    pub submit: u32,
    /// The call in words, such as `gmem TRILIST count 3 instances 1 auto`.
    pub call: String,
    /// Registers that were written since the record before.
    pub written: u32,
    /// Those whose value changed (or that were written for the first time), by offset.
    pub registers: Vec<(u32, u32)>,
    /// What was loaded, sorted.
    pub loads: Vec<LoadRecord>,
    /// Hash of all registers, loaded state and command processor state.
    pub hash: u64,
}

impl Record {
    /// Whether it is the last one, which stands for no draw.
    pub fn is_end(&self) -> bool {
        self.call == "end"
    }
}

/// A state file in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The chip.
    pub chip: Chip,
    /// Records in order.
    pub records: Vec<Record>,
}
