//! The chip: one value that owns all state of a run. [`settled`](crate::settled) is the access from outside to what
//! queued work may still change.

use a4emu_decoder::a4xx::regs::vpc::VPC_SO_PROG;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::{NamedChip, ProcessPattern};
use a4emu_decoder::guesses::Guess;

pub use crate::machine::{
    CHIPS, CONSTANTS, Chip, ChipRow, Clock, CodeSource, Counters, Gmem, INSTRUCTIONS, Kind, LoadedState,
    Model, SSBOS, STAGES, STREAM_OUT, ShaderState, SsboState, Stage, StateChanges, TEXTURES, refusal,
};

use crate::budget::Budget;
use crate::cp::HangSearch;
use crate::cp::state::CpState;
use crate::draw;
use crate::draw::inspection::{Inspected, Inspection};
use crate::draw::sp::programs::Watched;
use crate::fault::{Client, Place, Report};
use crate::fidelity::Fidelity;
use crate::machine::ChipView;
use crate::memory::Memory;
use crate::regfile::RegFile;
use a4emu_shader::{Chosen, Reach};

/// The emulated GPU.
pub struct Gpu {
    /// Which chip.
    pub chip: Chip,
    /// The chip as the capture names it, once it has.
    pub named: Option<NamedChip>,
    /// The process whose submits run, if not all do.
    pub process: Option<ProcessPattern>,
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
    /// The command processor's own state.
    pub cp: CpState,
    /// The counters. Queued draws may still change them.
    pub(crate) counters: Counters,
    /// The source of clock ticks.
    pub clock: Clock,
    /// The stream-out program, in the order of its register writes.
    pub stream_out: Vec<VPC_SO_PROG>,
    /// Registers that the last draw advanced, with their new values. The command processor writes them after
    /// the draw.
    pub written_back: Vec<(u32, u32)>,
    /// Reports so far.
    pub report: Report,
    /// Guesses that the run rests on so far, if [`Gpu::watch_guesses`] was called.
    pub fidelity: Option<Fidelity>,
    /// Registers that a0.x selected so far, if [`Gpu::watch_choices`] was called.
    pub chosen: Chosen,
    /// Where the GPU of a kernel dump stood, once the capture has said it.
    pub hang: Option<HangSearch>,
    /// Work that the run may still do.
    pub budget: Budget,
    /// The current place of execution.
    pub at: Place,
    /// State that the draw pipeline keeps between draws.
    pub pipeline: draw::Pipeline,
}

impl Gpu {
    /// A chip after power-on: registers are zero and unwritten, and no memory is mapped.
    pub fn new(chip: Chip) -> Self {
        Self {
            chip,
            named: None,
            process: None,
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
            hang: None,
            budget: Budget::default(),
            at: Place::default(),
            pipeline: draw::Pipeline::default(),
        }
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

    /// Records `wanted` of the draws that run from now on. Returns what was recorded since the last call. Completes no
    /// queued work.
    pub fn inspect(&mut self, wanted: Inspection) -> Inspected {
        self.pipeline.inspect(wanted)
    }

    /// Starts to note which guesses the run rests on. Shaders then run slower.
    pub fn watch_guesses(&mut self) {
        self.fidelity = Some(Fidelity::default());
        self.pipeline.programs.watched = Watched::Guesses;
    }

    /// Clock ticks so far. Queued work does not count yet.
    pub fn ticks(&self) -> u64 {
        match self.clock {
            Clock::Work => self.budget.spent(),
            Clock::Ticks(now) => now(),
        }
    }

    /// Starts to note which registers a0.x selects.
    pub fn watch_choices(&mut self) {
        let watched = &mut self.pipeline.programs.watched;
        *watched = (*watched).max(Watched::Choices);
    }

    /// Reports that the budget has ended the run, unless that was already reported.
    pub fn report_cut(&mut self) {
        if let Some(notice) = self.budget.take_cut_notice() {
            self.report.cut(notice, self.at);
        }
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

    /// Reads memory for `client`. Missing memory reads as zero and is recorded.
    pub fn fetch(&mut self, client: Client, addr: impl Into<Address>, out: &mut [u8]) {
        let addr = addr.into();
        draw::sync(self, [draw::MemoryRead::Bytes(addr, out.len() as u64)]);
        if !self.mem.read(addr, out) {
            self.report.miss(client, addr, out.len() as u32);
        }
    }

    /// Reads a dword for `client`. A missing dword reads as zero and is recorded.
    pub fn fetch_u32(&mut self, client: Client, addr: impl Into<Address>) -> u32 {
        let mut bytes = [0; 4];
        self.fetch(client, addr, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    /// Stores for `client`. A store outside all buffers is a fault.
    pub fn store(&mut self, client: Client, addr: impl Into<Address>, bytes: &[u8]) {
        let addr = addr.into();
        draw::finish(self);
        if !self.mem.write(addr, bytes) {
            let page = Address::new(addr.get() - addr.get() % u64::from(crate::memory::PAGE));
            self.report.fault(crate::fault::Fault::Store { client, page }, self.at);
        }
    }
}
