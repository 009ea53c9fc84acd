//! State of the command processor between packets.

use a4emu_decoder::adreno::address::Address;

use super::counters::PerformanceCounters;
use super::frame_draws::FrameDraws;
use crate::pass::Pass;

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
    /// Predicates of the A6xx that are off, a bit each.
    pub predicates_off: u32,
    /// The pass of the commands, on an A6xx. All until a packet names one.
    pub passes: Passes,
    /// Whether the pass copies tile memory to memory, on an A6xx.
    pub resolves: bool,
    /// Flags that are OR-ed into draw initiators.
    pub init_flags: u32,
    /// Offset from CP_ME_NRT_ADDR of the next write of CP_ME_NRT_DATA, in bytes.
    pub nrt_offset: u32,
    /// The performance counters.
    pub counters: PerformanceCounters,
    /// Numbers of the frame's draws, by packet.
    pub frame_draws: FrameDraws,
}

impl CpState {
    /// The pass of draws of an A6xx.
    pub fn pass(&self) -> Pass {
        match self.passes {
            Passes::BINNING => Pass::Binning,
            Passes::GMEM if self.resolves => Pass::Resolve,
            Passes::GMEM => Pass::Gmem,
            _ => Pass::Bypass,
        }
    }
}

/// A draw-state group: a small command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub address: Address,
    /// Its length in dwords.
    pub dwords: u32,
    /// The passes in which it runs.
    pub passes: Passes,
}

/// A set of passes of an A6xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes(u8);

impl Default for Passes {
    fn default() -> Self {
        Self::ALL
    }
}

impl Passes {
    /// The pass that finds which bins draws are in.
    pub const BINNING: Self = Self(1);
    /// The passes in a bin.
    pub const GMEM: Self = Self(2);
    /// The pass without bins.
    pub const SYSMEM: Self = Self(4);
    /// All passes.
    pub const ALL: Self = Self(7);

    /// The passes whose flags are set: [`Self::BINNING`], [`Self::GMEM`], [`Self::SYSMEM`].
    pub(super) fn of(flags: [bool; 3]) -> Self {
        let all = [Self::BINNING, Self::GMEM, Self::SYSMEM];
        Self(all.into_iter().zip(flags).filter(|(_, is_set)| *is_set).map(|(pass, _)| pass.0).sum())
    }

    /// Whether the sets have a pass in common.
    pub fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
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
