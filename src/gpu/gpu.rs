//! The chip: one value that owns all state. No globals, no sharing, no lifetimes.

mod chip;
mod gmem;
mod loaded;
mod model;

use a4emu_decoder::guesses::Guess;
pub use a4emu_decoder::load_state::Stage;
use a4emu_decoder::regs::vpc::VPC_SO_PROG;

pub use chip::{CHIPS, Chip, ChipRow};
pub use gmem::Gmem;
pub use loaded::{
    CONSTANTS, CodeSource, INSTRUCTIONS, LoadedFootprint, LoadedState, SSBOS, ShaderState, SsboState,
    StateChanges, TEXTURES,
};
pub use model::Model;

use crate::budget::Budget;
use crate::cp::CpState;
use crate::draw::sp::programs::Watched;
use crate::fault::{Client, Place, Report};
use crate::fidelity::Fidelity;
use crate::memory::Memory;
use crate::regfile::RegFile;
use a4emu_shader::{Chosen, Reach};

/// Words of a stream-out program: one for every two components that a vertex can have.
pub const STREAM_OUT: usize = 128;

/// All stages, in order of the packets' numbering.
pub const STAGES: [Stage; 6] = [Stage::VS, Stage::HS, Stage::DS, Stage::GS, Stage::FS, Stage::CS];

/// Counters that packets can have written to memory or reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Samples that passed depth and stencil, for occlusion queries.
    pub samples_passed: u64,
    /// Time stamps handed out. Time is no input of a replay, so they only count up.
    pub stamps: u32,
}

/// What the counter of clock ticks ([`RBBM_PERFCTR_CP_LO`] 0) counts.
///
/// [`RBBM_PERFCTR_CP_LO`]: a4emu_decoder::regs::rbbm_perfctr::RBBM_PERFCTR_CP_LO
#[derive(Clone, Copy, Debug, Default)]
pub enum Clock {
    /// Units of work done: time is no input of a replay.
    #[default]
    Work,
    /// What this says: the ticks that a program on the device can ask for beside it.
    Ticks(fn() -> u64),
}

/// The emulated GPU.
pub struct Gpu {
    /// Which chip.
    pub chip: Chip,
    /// The board, or the specification.
    pub model: Model,
    /// The registers.
    pub regs: RegFile,
    /// The address space.
    pub mem: Memory,
    /// Tile memory, [`Chip::gmem_bytes`] long.
    pub gmem: Gmem,
    /// Shader code, constants and descriptors.
    pub loaded: LoadedState,
    /// The command processor's own state.
    pub cp: CpState,
    /// Counters.
    pub counters: Counters,
    /// What clock ticks are.
    pub clock: Clock,
    /// The stream-out program, as it was written to its port.
    pub stream_out: Vec<VPC_SO_PROG>,
    /// Registers that the draw which just ran has moved on, with their values: the command
    /// processor writes them when it has the chip back.
    pub written_back: Vec<(u32, u32)>,
    /// What went wrong so far.
    pub report: Report,
    /// Guesses that the run rests on so far, if somebody wants to know ([`Gpu::watch_guesses`]).
    pub fidelity: Option<Fidelity>,
    /// What a0.x chose so far, if somebody wants to know ([`Gpu::watch_choices`]).
    pub chosen: Chosen,
    /// Work that may still be done.
    pub budget: Budget,
    /// Where execution is.
    pub at: Place,
    /// What the draw pipeline keeps between draws.
    pub pipeline: crate::draw::Pipeline,
}

impl Gpu {
    /// A chip after power-on: registers zero and unwritten, nothing mapped.
    pub fn new(chip: Chip) -> Self {
        Self {
            chip,
            model: Model::default(),
            regs: RegFile::default(),
            mem: Memory::new(),
            gmem: Gmem::new(chip.gmem_bytes()),
            loaded: LoadedState::default(),
            cp: CpState::default(),
            counters: Counters::default(),
            clock: Clock::default(),
            stream_out: Vec::new(),
            written_back: Vec::new(),
            report: Report::default(),
            fidelity: None,
            chosen: Chosen::default(),
            budget: Budget::default(),
            at: Place::default(),
            pipeline: crate::draw::Pipeline::default(),
        }
    }

    /// Notes from now on which guesses the run rests on. Shaders take longer for it.
    pub fn watch_guesses(&mut self) {
        self.fidelity = Some(Fidelity::default());
        self.pipeline.programs.watched = Watched::Guesses;
    }

    /// Clock ticks so far. What waits has not been done yet.
    pub fn ticks(&self) -> u64 {
        match self.clock {
            Clock::Work => self.budget.spent(),
            Clock::Ticks(now) => now(),
        }
    }

    /// Notes from now on which registers a0.x chooses.
    pub fn watch_choices(&mut self) {
        let watched = &mut self.pipeline.programs.watched;
        *watched = (*watched).max(Watched::Choices);
    }

    /// Reports that the budget has cut the run off, if it has and nothing has reported it before.
    pub fn report_cut(&mut self) {
        if let Some(notice) = self.budget.take_cut_notice() {
            self.report.cut(notice, self.at);
        }
    }

    /// What happens rests on `guess`, and the result reaches this.
    pub fn rests_on(&mut self, guess: Guess, reach: Reach) {
        if let Some(fidelity) = &mut self.fidelity {
            fidelity.note(guess, reach, self.at);
        }
    }

    /// Adds a word to the stream-out program; those for which there is no output are lost.
    pub fn add_stream_out(&mut self, word: u32) {
        if self.stream_out.len() < STREAM_OUT {
            self.stream_out.push(VPC_SO_PROG(word));
        }
    }

    /// Reads memory for `client`; what is missing reads as zero and is recorded.
    pub fn fetch(&mut self, client: Client, addr: u32, out: &mut [u8]) {
        crate::draw::settle(self, addr, out.len() as u64);
        if !self.mem.read(addr, out) {
            self.report.miss(client, addr, out.len() as u32);
        }
    }

    /// Reads a dword for `client`; a missing one reads as zero and is recorded.
    pub fn fetch_u32(&mut self, client: Client, addr: u32) -> u32 {
        let mut bytes = [0; 4];
        self.fetch(client, addr, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Stores for `client`; a store to nowhere is a fault.
    pub fn store(&mut self, client: Client, addr: u32, bytes: &[u8]) {
        crate::draw::flush(self);
        if !self.mem.write(addr, bytes) {
            let page = addr - addr % crate::memory::PAGE;
            self.report.fault(crate::fault::Fault::Store { client, page }, self.at);
        }
    }
}
