//! The parts of the chip without its pipeline: which chip, tile memory, loaded shader state, counters.

mod chip;
mod gmem;
mod loaded;
mod model;

use a4emu_decoder::a4xx::regs::vpc::VPC_SO_PROG;
pub use a4emu_decoder::adreno::load_state::Stage;

pub use chip::{CHIPS, Chip, ChipRow, Kind, refusal};
pub use gmem::Gmem;
pub use loaded::{
    CONSTANTS, CodeSource, INSTRUCTIONS, LoadedState, SSBOS, ShaderState, SsboState, StateChanges, TEXTURES,
};
pub use model::Model;

use crate::budget::Budget;
use crate::memory::Memory;
use crate::regfile::RegFile;

/// Most words of a stream-out program: one for every two components of a vertex.
pub const STREAM_OUT: usize = 128;

/// All stages, in the order of the packets' numbering.
pub const STAGES: [Stage; 6] = [Stage::VS, Stage::HS, Stage::DS, Stage::GS, Stage::FS, Stage::CS];

/// Counters that packets can write to memory or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Samples that passed depth and stencil, for occlusion queries.
    pub samples_passed: u64,
    /// Number of time stamps returned. A replay has no time input, so they only count up.
    pub stamps: u32,
}

/// The source of the clock tick counter ([`RBBM_PERFCTR_CP_LO`] 0).
///
/// [`RBBM_PERFCTR_CP_LO`]: a4emu_decoder::a4xx::regs::rbbm_perfctr::RBBM_PERFCTR_CP_LO
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    /// Units of work done. A replay has no time input.
    #[default]
    Work,
    /// The value of this function: the ticks that a program on the device can also read elsewhere.
    Ticks(fn() -> u64),
}

/// The state of the chip that snapshots of draws read. Blocks of the pipeline take it in place of the whole machine.
#[derive(Clone, Copy)]
pub struct ChipView<'a> {
    /// The registers.
    pub regs: &'a RegFile,
    /// The address space.
    pub mem: &'a Memory,
    /// Shader code, constants and descriptors.
    pub loaded: &'a LoadedState,
    /// Whether to follow the board or the specification.
    pub model: Model,
    /// The stream-out program.
    pub stream_out: &'a [VPC_SO_PROG],
    /// Work that the run may still do.
    pub budget: &'a Budget,
}
