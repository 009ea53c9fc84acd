//! The chip: one value that owns all state of a run. [`settled`](crate::settled) is the access from outside to what
//! queued work may still change.

use std::ops::{Deref, DerefMut};

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::{NamedChip, ProcessPattern};

pub use crate::machine::{
    CHIPS, CONSTANTS, Chip, ChipRow, Clock, CodeSource, Counters, Gmem, Host, INSTRUCTIONS, Kind,
    LoadedState, Machine, Model, SSBOS, STAGES, STREAM_OUT, ShaderState, SsboState, Stage, StateChanges,
    TEXTURES, refusal,
};

use crate::cp::HangSearch;
use crate::cp::state::CpState;
use crate::draw::inspection::{Inspected, Inspection};
use crate::draw::pipeline::DrawContext;
use crate::draw::sp::programs::Watched;
use crate::draw::{self, MemoryRead};
use crate::fault::Client;
use crate::fidelity::Fidelity;

/// The emulated GPU: the state of the chip ([`Machine`]), and what reads command streams and draws.
pub struct Gpu {
    /// The state of the chip.
    pub machine: Machine,
    /// The chip as the capture names it, once it has.
    pub named: Option<NamedChip>,
    /// The process whose submits run, if not all do.
    pub process: Option<ProcessPattern>,
    /// The command processor's own state.
    pub cp: CpState,
    /// Where the GPU of a kernel dump stood, once the capture has said it.
    pub hang: Option<HangSearch>,
    /// State that the draw pipeline keeps between draws.
    pub pipeline: draw::Pipeline,
}

impl Gpu {
    /// A chip after power-on: registers are zero and unwritten, and no memory is mapped.
    pub fn new(chip: Chip) -> Self {
        Self {
            machine: Machine::new(chip),
            named: None,
            process: None,
            cp: CpState::default(),
            hang: None,
            pipeline: draw::Pipeline::default(),
        }
    }

    /// What draws work on: for the functions that look at one ([`look`](draw::pipeline::look)).
    pub fn draws(&mut self) -> DrawContext<'_> {
        DrawContext { machine: &mut self.machine, pipeline: &mut self.pipeline }
    }

    /// Records `wanted` of the draws that run from now on. Returns what was recorded since the last call. Completes no
    /// queued work.
    pub fn inspect(&mut self, wanted: Inspection) -> Inspected {
        self.pipeline.inspect(wanted)
    }

    /// Starts to note which guesses the run rests on. Shaders then run slower.
    pub fn watch_guesses(&mut self) {
        self.machine.fidelity = Some(Fidelity::default());
        self.pipeline.programs.watched = Watched::Guesses;
    }

    /// Starts to note which registers a0.x selects.
    pub fn watch_choices(&mut self) {
        let watched = &mut self.pipeline.programs.watched;
        *watched = (*watched).max(Watched::Choices);
    }

    /// Prepares the pipeline for a new submit.
    pub fn begin_submit(&mut self) {
        self.pipeline.primitives.begin_submit();
    }

    /// Reads memory for `client`. Missing memory reads as zero and is recorded.
    pub fn fetch(&mut self, client: Client, addr: impl Into<Address>, out: &mut [u8]) {
        let addr = addr.into();
        self.sync_reads([MemoryRead::Bytes(addr, out.len() as u64)]);
        if !self.machine.mem.read(addr, out) {
            self.machine.report.miss(client, addr, out.len() as u32);
        }
    }

    /// Reads a dword for `client`. A missing dword reads as zero and is recorded.
    pub fn fetch_u32(&mut self, client: Client, addr: impl Into<Address>) -> u32 {
        let mut bytes = [0; 4];
        self.fetch(client, addr, &mut bytes);
        u32::from_le_bytes(bytes)
    }
}

impl Deref for Gpu {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        &self.machine
    }
}

impl DerefMut for Gpu {
    fn deref_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }
}
