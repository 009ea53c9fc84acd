//! Who watches execution: listings, traces, golden state, counts.

use a4emu_decoder::load_state::StateKind;
use a4emu_decoder::packet::Packet;

use crate::draw::{DispatchCall, DrawCall, UncountedDraw};
use crate::fault::Trouble;
use crate::gpu::{Gpu, Stage};
use crate::pass::Pass;
use crate::regfile::RegFile;

/// What to do after an observer or an engine has seen something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// End the run here.
    Stop,
}

/// A draw or a dispatch: what counts as one is what the command processor makes one of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// A draw.
    Draw(DrawCall),
    /// A compute dispatch.
    Dispatch(DispatchCall),
    /// A draw of which it is not known how much it draws.
    Uncounted(UncountedDraw),
}

impl Call {
    /// Its number among draws and dispatches, from 0 over the whole capture.
    pub fn number(&self) -> u32 {
        match self {
            Self::Draw(call) => call.number,
            Self::Dispatch(call) => call.number,
            Self::Uncounted(call) => call.number,
        }
    }

    /// The number that it shares with the runs of the same packet for other tiles.
    pub fn frame_draw(&self) -> u32 {
        match self {
            Self::Draw(call) => call.frame_draw,
            Self::Dispatch(call) => call.frame_draw,
            Self::Uncounted(call) => call.frame_draw,
        }
    }

    /// The submit that holds it.
    pub fn submit(&self) -> u32 {
        match self {
            Self::Draw(call) => call.submit,
            Self::Dispatch(call) => call.submit,
            Self::Uncounted(call) => call.submit,
        }
    }

    /// The stages that it runs, in order.
    pub fn stages(&self, regs: &RegFile) -> impl Iterator<Item = Stage> + use<> {
        let initiator = match self {
            Self::Draw(call) => Some(call.initiator),
            Self::Uncounted(call) => call.initiator,
            Self::Dispatch(_) => None,
        };
        let draw = self.pass().map(|pass| pass.stages(regs, initiator));
        let compute = draw.is_none().then_some(Stage::CS);
        draw.into_iter().flatten().chain(compute)
    }

    /// What a draw is for; a dispatch belongs to no pass.
    pub fn pass(&self) -> Option<Pass> {
        match self {
            Self::Draw(call) => Some(call.pass),
            Self::Dispatch(_) => None,
            Self::Uncounted(call) => Some(call.pass),
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
    /// Address of the first dword.
    pub address: u32,
    /// Dwords that the packet asks for.
    pub announced: u32,
    /// What was loaded; short where memory is missing.
    pub data: &'a [u32],
}

/// A buffer that the capture announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Announced {
    /// GPU address; of other generations 64 bits.
    pub address: u64,
    /// Bytes.
    pub bytes: u32,
    /// Bytes whose contents the capture holds.
    pub captured: u32,
}

/// Sees execution as it happens. `gpu.at` says where it is.
pub trait Observer {
    /// Whether it looks at neither packets nor registers, nor at what is loaded: they need not be shown to it then, and
    /// calls that are like others before only be [counted](Observer::drawn_again).
    fn is_blind(&self) -> bool {
        false
    }

    /// The capture names the chip.
    fn chip(&mut self, gpu: &Gpu) {
        let _ = gpu;
    }

    /// The capture names the process whose submits follow, e.g. `glxgears/23375: fence=7`.
    fn process(&mut self, command: &str) {
        let _ = command;
    }

    /// The capture announces a buffer.
    fn buffer(&mut self, gpu: &Gpu, buffer: Announced) {
        let _ = (gpu, buffer);
    }

    /// A submit of `dwords` at `address` begins.
    fn submit(&mut self, gpu: &Gpu, address: u32, dwords: u32) -> Flow {
        let _ = (gpu, address, dwords);
        Flow::Continue
    }

    /// A submit is passed over: the capture is of another generation ([`Playback`](crate::playback::Playback)).
    fn passed_over(&mut self, gpu: &Gpu) {
        let _ = gpu;
    }

    /// The submit has run to its end, and nothing of what comes next in the capture is there yet.
    fn submitted(&mut self, gpu: &Gpu) -> Flow {
        let _ = gpu;
        Flow::Continue
    }

    /// `packet` is about to execute.
    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) {
        let _ = (gpu, packet);
    }

    /// Register `offset` was written; it held `old`, or nobody had written it.
    fn register(&mut self, gpu: &Gpu, offset: u32, old: Option<u32>) {
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
    fn call(&mut self, gpu: &Gpu, call: &Call) -> Flow {
        let _ = (gpu, call);
        Flow::Continue
    }

    /// So many draws have run again, each as when it was shown as a [call](Observer::call) but for its tile: who is
    /// [blind](Observer::is_blind) may be told this instead.
    fn drawn_again(&mut self, draws: usize) {
        let _ = draws;
    }

    /// Something is wrong with the capture or its stream; the run goes on.
    fn trouble(&mut self, gpu: &Gpu, trouble: &Trouble) {
        let _ = (gpu, trouble);
    }
}

/// Watches nothing.
pub struct Silent;

impl Observer for Silent {
    fn is_blind(&self) -> bool {
        true
    }
}
