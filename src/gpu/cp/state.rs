//! State of the command processor between packets.

use a4emu_decoder::adreno::address::Address;

use super::counters::PerformanceCounters;
use super::frame_draws::FrameDraws;

/// Number of draw-state groups that packets can name.
pub const GROUPS: usize = 32;

/// The command processor's own state, which is in no register and no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpState {
    /// ME scratch RAM (8 slots, apart from the CP_SCRATCH registers).
    pub scratch: [u32; 8],
    /// State groups that run before the next draw.
    pub groups: [Option<Group>; GROUPS],
    /// Gates packets whose header says "predicated". `None` until a packet sets it.
    pub predicate: Option<bool>,
    /// Gates draws.
    pub draw_predicate: DrawPredicate,
    /// Flags that are OR-ed into draw initiators.
    pub init_flags: u32,
    /// Offset from CP_ME_NRT_ADDR of the next write of CP_ME_NRT_DATA, in bytes.
    pub nrt_offset: u32,
    /// The performance counters.
    pub counters: PerformanceCounters,
    /// Numbers of the frame's draws, by packet.
    pub frame_draws: FrameDraws,
}

/// A draw-state group: a small command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub address: Address,
    /// Its length in dwords.
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
    /// Whether draws run.
    pub fn draws(self) -> bool {
        self.pass || !self.global || !self.local
    }
}
