//! The state of the chip: which chip, registers, memory, tile memory, loaded shader state, counters, budget.

mod chip;
mod gmem;
mod host;
mod loaded;
mod model;

use a4emu_decoder::a4xx::regs::vpc::VPC_SO_PROG;
pub use a4emu_decoder::adreno::load_state::Stage;

pub use chip::{CHIPS, Chip, ChipRow, Kind, refusal};
pub use gmem::Gmem;
pub use host::Host;
pub use loaded::{
    CONSTANTS, CodeSource, INSTRUCTIONS, LoadedState, SSBOS, ShaderState, SsboState, StateChanges, TEXTURES,
};
pub use model::Model;

use crate::budget::Budget;
use crate::fault::{Client, Fault, Place, Report};
use crate::fidelity::Fidelity;
use crate::memory::{Memory, PAGE};
use crate::regfile::RegFile;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::guesses::Guess;
use a4emu_shader::{Chosen, Reach};

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

/// The state of the chip. It knows neither the command processor nor draws.
pub struct Machine {
    /// Which chip.
    pub chip: Chip,
    /// Whether to follow the board or the specification.
    pub model: Model,
    /// The registers.
    pub regs: RegFile,
    /// The address space. Queued draws may still read it and write to it.
    pub(crate) mem: Memory,
    /// Tile memory, [`Chip::gmem_bytes`] long. Queued draws may still write to it.
    pub(crate) gmem: Gmem,
    /// Shader code, constants and descriptors.
    pub loaded: LoadedState,
    /// The counters. Queued draws may still change them.
    pub(crate) counters: Counters,
    /// The source of clock ticks.
    pub clock: Clock,
    /// The program beside the GPU, on a live device.
    pub host: Option<Host>,
    /// The stream-out program, in the order of its register writes.
    pub stream_out: Vec<VPC_SO_PROG>,
    /// Registers that the last draw advanced, with their new values. The command processor writes them after
    /// the draw.
    pub written_back: Vec<(u32, u32)>,
    /// Reports so far.
    pub report: Report,
    /// Guesses that the run rests on so far, if [`Gpu::watch_guesses`](crate::gpu::Gpu::watch_guesses) was called.
    pub fidelity: Option<Fidelity>,
    /// Registers that a0.x selected so far, if [`Gpu::watch_choices`](crate::gpu::Gpu::watch_choices) was called.
    pub chosen: Chosen,
    /// Work that the run may still do.
    pub budget: Budget,
    /// The current place of execution.
    pub at: Place,
}

impl Machine {
    /// A chip after power-on: registers are zero and unwritten, and no memory is mapped.
    pub(crate) fn new(chip: Chip) -> Self {
        let mut mem = Memory::new();
        mem.set_address_bits(chip.generation().address_bits);
        Self {
            chip,
            model: Model::default(),
            regs: RegFile::of(chip.generation()),
            mem,
            gmem: Gmem::new(chip.gmem_bytes()),
            loaded: LoadedState::default(),
            counters: Counters::default(),
            clock: Clock::default(),
            host: None,
            stream_out: Vec::new(),
            written_back: Vec::new(),
            report: Report::default(),
            fidelity: None,
            chosen: Chosen::default(),
            budget: Budget::default(),
            at: Place::default(),
        }
    }

    /// Becomes `chip`: its registers, addresses and tile memory are those of its generation. Registers that it has keep
    /// their values.
    pub(crate) fn become_chip(&mut self, chip: Chip) {
        let generation = chip.generation();
        self.chip = chip;
        self.gmem.resize(chip.gmem_bytes());
        self.mem.set_address_bits(generation.address_bits);
        self.regs.resize(generation);
    }

    /// The state that snapshots of draws read.
    pub(crate) fn view(&self) -> ChipView<'_> {
        let Self { regs, mem, loaded, model, stream_out, budget, .. } = self;
        ChipView { regs, mem, loaded, model: *model, stream_out, budget }
    }

    /// Number of submit groups of the capture that have begun. Queued work does not change it.
    pub fn group(&self) -> u32 {
        self.mem.group()
    }

    /// Clock ticks so far. Queued work does not count yet.
    pub fn ticks(&self) -> u64 {
        match self.clock {
            Clock::Work => self.budget.spent(),
            Clock::Ticks(now) => now(),
        }
    }

    /// Reports that the budget has ended the run, unless that was already reported.
    pub fn report_cut(&mut self) {
        if let Some(notice) = self.budget.take_cut_notice() {
            self.cut(notice);
        }
    }

    /// Reports a fault of the current work.
    pub fn fault(&mut self, fault: Fault) {
        self.report.fault(fault, self.at);
    }

    /// Reports that the current work needs what is not supported.
    pub fn unsupported(&mut self, what: impl Into<String>) {
        self.report.unsupported(what, self.at);
    }

    /// Reports that the current work is cut off or left out.
    pub fn cut(&mut self, what: impl Into<String>) {
        self.report.cut(what, self.at);
    }

    /// Notes that the current work rests on `guess`, with its reach.
    pub fn note_guess(&mut self, guess: Guess, reach: Reach) {
        if let Some(fidelity) = &mut self.fidelity {
            fidelity.note(guess, reach, self.at);
        }
    }

    /// Adds a word to the stream-out program. Words past its end are lost.
    pub fn add_stream_out(&mut self, word: u32) {
        if self.stream_out.len() < STREAM_OUT {
            self.stream_out.push(VPC_SO_PROG(word));
        }
    }

    /// Stores for `client`. A store outside all buffers is a fault. Nothing that is queued may read or write memory.
    pub(crate) fn store(&mut self, client: Client, addr: impl Into<Address>, bytes: &[u8]) {
        let addr = addr.into();
        if !self.mem.write(addr, bytes) {
            let page = Address::new(addr.get() - addr.get() % u64::from(PAGE));
            self.fault(Fault::Store { client, page });
        }
    }
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
