//! The command processor: packets in, state changes and draws out.
//!
//! [`stream`] walks a command buffer and its calls; every packet ends in one
//! named function of the file that its kind belongs to. An [`Observer`] sees
//! each packet, each write and each draw as it happens, which is all that
//! traces, golden state and `--stop` need.

mod command;
mod control;
mod draws;
mod events;
mod load;
mod memory;
pub mod observer;
pub mod pass;
mod registers;
mod stream;
mod tee;

pub use observer::{Call, Flow, Observer, Silent};
pub use pass::Pass;
pub use tee::Tee;

use crate::gpu::Gpu;

/// Draw-state groups that packets can name.
pub const GROUPS: usize = 32;

/// The command processor's own state: what is in no register and no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpState {
    /// ME scratch RAM (8 slots, apart from the CP_SCRATCH registers).
    pub scratch: [u32; 8],
    /// State groups that run before the next draw: address and dwords.
    pub groups: [Option<Group>; GROUPS],
    /// Gates packets whose header says "predicated"; nobody has set it at first.
    pub predicate: Option<bool>,
    /// Gates draws.
    pub draw_predicate: DrawPredicate,
    /// OR-ed into draw initiators.
    pub init_flags: u32,
    /// Bytes by which the next write of CP_ME_NRT_DATA lies past CP_ME_NRT_ADDR.
    pub nrt_offset: u32,
    /// Dwords that may still be executed; see [`CpState::credit`].
    fuel: u64,
}

/// A draw-state group: a small command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub address: u32,
    /// Its length.
    pub dwords: u32,
}

/// The predicate of draws (CP_DRAW_PRED_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawPredicate {
    /// The outer switch.
    pub global: bool,
    /// The inner switch.
    pub local: bool,
    /// Result of the last test.
    pub pass: bool,
}

impl Default for DrawPredicate {
    fn default() -> Self {
        Self { global: false, local: true, pass: true }
    }
}

impl DrawPredicate {
    /// Whether a draw happens.
    pub fn draws(self) -> bool {
        self.pass || !self.global || !self.local
    }
}

impl CpState {
    /// Allows work for `dwords` of command stream that a capture really holds.
    ///
    /// Nested calls multiply: a few kilobytes can ask for years of work. A frame runs a
    /// buffer once per tile, at most some hundreds of times, so each dword held pays for 256.
    pub fn credit(&mut self, dwords: u64) {
        self.fuel = self.fuel.saturating_add(dwords.saturating_mul(256));
    }

    /// Takes the work of reading that many dwords; false when none is left.
    fn burn(&mut self, dwords: u64) -> bool {
        let left = self.fuel.checked_sub(dwords + 1);
        self.fuel = left.unwrap_or(0);
        left.is_some()
    }
}

/// The command processor at work: the chip it drives and who watches.
pub struct Cp<'a> {
    gpu: &'a mut Gpu,
    observer: &'a mut dyn Observer,
    /// Calls above this one: 0 in the submit's own buffer.
    depth: u32,
}

impl<'a> Cp<'a> {
    /// For `gpu`, watched by `observer`.
    pub fn new(gpu: &'a mut Gpu, observer: &'a mut dyn Observer) -> Self {
        Self { gpu, observer, depth: 0 }
    }
}
