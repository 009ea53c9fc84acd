//! Who watches execution: traces, golden state, lists of draws, `--stop`.

use a4emu_decoder::load_state::StateKind;
use a4emu_decoder::packet::Packet;

use crate::draw::{DispatchCall, DrawCall};
use crate::gpu::Gpu;

/// What to do after an observer has seen something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Leave out this draw, go on after it.
    Skip,
    /// End the replay here.
    Stop,
}

/// A draw or a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A draw.
    Draw(DrawCall),
    /// A compute dispatch.
    Dispatch(DispatchCall),
}

impl Call {
    /// Its number among draws and dispatches, from 0 over the whole capture.
    pub fn number(&self) -> u32 {
        match self {
            Self::Draw(call) => call.number,
            Self::Dispatch(call) => call.number,
        }
    }
}

/// A block of state that CP_LOAD_STATE4 loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load<'a> {
    /// Which state, of which stage.
    pub kind: StateKind,
    /// First unit (DST_OFF).
    pub first: u32,
    /// What was loaded; short where memory is missing.
    pub data: &'a [u32],
}

/// Sees execution as it happens. `gpu.at` says where it is.
pub trait Observer {
    /// `packet` is about to execute in a buffer that is `depth` calls deep.
    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>, depth: u32) {
        let _ = (gpu, packet, depth);
    }

    /// Register `offset` was written; it held `old`.
    fn register(&mut self, gpu: &Gpu, offset: u32, old: u32) {
        let _ = (gpu, offset, old);
    }

    /// The command processor stored `bytes` at `address`.
    fn store(&mut self, gpu: &Gpu, address: u32, bytes: &[u8]) {
        let _ = (gpu, address, bytes);
    }

    /// Shader state was loaded.
    fn load(&mut self, gpu: &Gpu, load: Load<'_>) {
        let _ = (gpu, load);
    }

    /// `call` is about to run; all its state is there.
    fn call(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let _ = (gpu, call);
        Flow::Continue
    }

    /// A submit begins at `address`.
    fn submit(&mut self, gpu: &mut Gpu, address: u32, dwords: u32) -> Flow {
        let _ = (gpu, address, dwords);
        Flow::Continue
    }
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {}
