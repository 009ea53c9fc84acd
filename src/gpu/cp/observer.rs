//! Observers of execution: listings, traces, golden state, counts.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::AddressRecord;
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::bits::WordRow;
use a4emu_decoder::generation::Generation;

use super::engine::Surfaces;
use crate::draw::{DispatchCall, DrawCall, UncountedDraw};
use crate::fault::Trouble;
use crate::generation::draw_readers;
use crate::machine::{Chip, Stage};
use crate::pass::Pass;
use crate::regfile::RegFile;
use crate::settled::Running;

/// Whether the run continues. Observers and engines return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue the run.
    Continue,
    /// End the run here.
    Stop,
}

/// A draw, a dispatch or a blit, as the command processor counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A draw.
    Draw(DrawCall),
    /// A compute dispatch.
    Dispatch(DispatchCall),
    /// A draw whose number of vertices is not known.
    Uncounted(UncountedDraw),
    /// A blit of an A6xx. Chips before it draw their copies.
    Blit(BlitCall),
}

/// A copy or a fill that runs no shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlitCall {
    /// Number among draws and dispatches, from 0 over the whole capture.
    pub number: u32,
    /// Number that all runs of the packet for different tiles share.
    pub frame_draw: u32,
    /// Number of its submit.
    pub submit: u32,
    /// Pass of a blit of tile memory. A blit between surfaces in memory has none.
    pub pass: Option<Pass>,
    /// What it copies between.
    pub between: Surfaces,
}

impl BlitCall {
    /// The packet or event.
    pub fn name(&self) -> &'static str {
        match self.between {
            Surfaces::Memory(_) => "CP_BLIT",
            Surfaces::TileMemory => "BLIT",
        }
    }
}

impl Call {
    /// Its number among draws and dispatches, from 0 over the whole capture.
    pub fn number(&self) -> u32 {
        match self {
            Self::Draw(call) => call.number,
            Self::Dispatch(call) => call.number,
            Self::Uncounted(call) => call.number,
            Self::Blit(call) => call.number,
        }
    }

    /// The frame draw's number. All runs of one packet, for all tiles, have the same number.
    pub fn frame_draw(&self) -> u32 {
        match self {
            Self::Draw(call) => call.frame_draw,
            Self::Dispatch(call) => call.frame_draw,
            Self::Uncounted(call) => call.frame_draw,
            Self::Blit(call) => call.frame_draw,
        }
    }

    /// The submit that contains it.
    pub fn submit(&self) -> u32 {
        match self {
            Self::Draw(call) => call.submit,
            Self::Dispatch(call) => call.submit,
            Self::Uncounted(call) => call.submit,
            Self::Blit(call) => call.submit,
        }
    }

    /// The shader stages that it runs on `chip` with these registers, in order.
    pub fn stages(&self, chip: Chip, regs: &RegFile) -> impl Iterator<Item = Stage> + use<> {
        let initiator = match self {
            Self::Draw(call) => Some(call.initiator),
            Self::Uncounted(call) => call.initiator,
            Self::Dispatch(_) | Self::Blit(_) => None,
        };
        let pass = self.pass().filter(|_| !matches!(self, Self::Blit(_)));
        let draw = pass.map(|pass| (draw_readers(chip).stages)(pass, regs, initiator));
        let compute = matches!(self, Self::Dispatch(_)).then_some(Stage::CS);
        draw.into_iter().flatten().chain(compute)
    }

    /// The name of the pass; `compute` for a dispatch, and `blit` for a blit between surfaces in memory.
    pub fn pass_name(&self) -> &'static str {
        match (self.pass(), self) {
            (Some(pass), _) => pass.name(),
            (None, Self::Blit(_)) => "blit",
            (None, _) => "compute",
        }
    }

    /// The pass of a draw. A dispatch has none, nor has a blit between surfaces in memory.
    pub fn pass(&self) -> Option<Pass> {
        match self {
            Self::Draw(call) => Some(call.pass),
            Self::Dispatch(_) => None,
            Self::Uncounted(call) => Some(call.pass),
            Self::Blit(call) => call.pass,
        }
    }
}

/// A block of state that CP_LOAD_STATE4 loaded.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// The generation, which says how its units are laid out.
    pub generation: &'static Generation,
    /// The kind of state, and its stage.
    pub kind: StateKind,
    /// First unit (DST_OFF).
    pub first: u32,
    /// Address of the first dword.
    pub address: Address,
    /// Dwords that the packet announces.
    pub announced: u32,
    /// The loaded dwords. Fewer than `announced` where memory is missing.
    pub data: &'a [u32],
}

impl<'a> Load<'a> {
    /// Dwords of one unit.
    pub fn unit_dwords(&self) -> usize {
        (self.generation.loads.unit_dwords)(self.kind) as usize
    }

    /// The words of one unit; empty if they have no known fields.
    pub fn words(&self) -> &'static [WordRow] {
        (self.generation.loads.words)(self.kind)
    }

    /// Dwords that memory does not hold, and where they would be.
    pub fn missing(&self) -> Option<(u32, Address)> {
        let held = self.data.len() as u32;
        let first = self.generation.behind(self.address, u64::from(held) * 4);
        (held < self.announced).then(|| (self.announced - held, first))
    }

    /// The data of each unit.
    pub fn units(&self) -> impl Iterator<Item = &'a [u32]> {
        self.data.chunks(self.unit_dwords())
    }
}

/// A buffer that the capture announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Announced {
    /// GPU address.
    pub address: Address,
    /// Length in bytes.
    pub bytes: u32,
    /// Number of bytes that the capture holds.
    pub captured: u32,
}

/// Sees execution as it happens. `gpu.at` is the current place.
pub trait Observer {
    /// Whether the observer ignores packets, registers and loaded state. They need not be shown then.
    fn ignores_packets(&self) -> bool {
        false
    }

    /// The capture names the chip.
    fn chip(&mut self, gpu: &mut Running<'_>) {
        let _ = gpu;
    }

    /// The capture names the process whose submits follow, e.g. `glxgears/23375: fence=7`.
    fn process(&mut self, command: &str) {
        let _ = command;
    }

    /// The capture is a kernel dump (devcoredump). `text` says more about it, in lines of `key: value`.
    fn devcore(&mut self, text: &str) {
        let _ = text;
    }

    /// A kernel dump says where the GPU stood ([`Gpu::hang`](crate::gpu::Gpu::hang)).
    fn hang(&mut self, gpu: &mut Running<'_>) {
        let _ = gpu;
    }

    /// The capture announces a buffer.
    fn buffer(&mut self, gpu: &mut Running<'_>, buffer: Announced) {
        let _ = (gpu, buffer);
    }

    /// A submit of `dwords` at `address` begins.
    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        let _ = (gpu, address, dwords);
        Flow::Continue
    }

    /// `submit` is skipped, as the capture is of another generation
    /// ([`Playback`](crate::playback::Playback)).
    fn passed_over(&mut self, gpu: &mut Running<'_>, submit: AddressRecord) {
        let _ = (gpu, submit);
    }

    /// Whether the observer looks at buffers and submits of a capture of another generation. Its playback
    /// ends with the name of the chip otherwise.
    fn reads_container(&self) -> bool {
        false
    }

    /// A submit has run to its end. The next section of the capture has not been read yet.
    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        let _ = gpu;
        Flow::Continue
    }

    /// `packet` is about to execute.
    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let _ = (gpu, packet);
    }

    /// Register `offset` was written. `old` is its previous value, or `None` at its first write.
    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, old: Option<u32>) {
        let _ = (gpu, offset, old);
    }

    /// The command processor is about to store `bytes` at `address`. Memory has the results of all draws before.
    fn store(&mut self, gpu: &mut Running<'_>, address: Address, bytes: &[u8]) {
        let _ = (gpu, address, bytes);
    }

    /// CP_LOAD_STATE4 loaded shader state.
    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        let _ = (gpu, load);
    }

    /// `call` is about to run. Its state is complete.
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let _ = (gpu, call);
        Flow::Continue
    }

    /// A problem of the capture or its stream was found. The run continues.
    fn trouble(&mut self, gpu: &mut Running<'_>, trouble: &Trouble) {
        let _ = (gpu, trouble);
    }
}

/// An observer that ignores everything.
pub struct Silent;

impl Observer for Silent {
    fn ignores_packets(&self) -> bool {
        true
    }
}
