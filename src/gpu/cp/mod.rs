//! The command processor: packets in, state changes and draws out. The only reader of streams:
//! every command that shows or runs a capture is an [`Observer`] of it.
//!
//! The path of one packet:
//!
//! 1. [`stream`] takes it from the dwords of a buffer ([`a4emu_decoder::packet::Packets`]), shows it
//!    to the [`Observer`] and matches on its type.
//! 2. Type 0 is a run of register writes: each goes to [`registers`], which stores the value,
//!    shows it, and looks in the one table ([`effects`]) for what the write sets off.
//! 3. Type 3 is a command: [`command`] names the function for each opcode. Calls and conditions
//!    are in [`control`], packets that copy or compare memory in [`memory`], loads of shader state
//!    in [`load`], events in [`events`].
//! 4. Draws and dispatches end in [`draws`]: pending state groups run, parameters are read, the
//!    [`Call`] gets its number, its frame draw and its pass, is shown, and goes to the [`Engine`]: the
//!    [`Renderer`], or [`Skip`], which leaves it out.
//!
//! A buffer that runs again for the next tile need not take that path: [`rerun`].

mod command;
mod control;
mod draws;
mod effects;
mod engine;
mod events;
mod frame_draws;
mod load;
mod memory;
pub mod observer;
mod registers;
mod rerun;
mod stream;
mod tee;

pub use engine::{Engine, Renderer, Skip};
pub use frame_draws::FrameDraws;
pub use observer::{Call, Flow, Observer, Silent};
pub use tee::Tee;

use crate::budget::Work;
use crate::draw;
use crate::fault::Trouble;
use crate::gpu::Gpu;

use stream::Streams;

/// Draw-state groups that packets can name.
pub const GROUPS: usize = 32;

/// The command processor's own state: what is in no register and no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpState {
    /// ME scratch RAM (8 slots, apart from the CP_SCRATCH registers).
    pub scratch: [u32; 8],
    /// State groups that run before the next draw: address and dwords.
    pub groups: [Option<Group>; GROUPS],
    /// Gates packets whose header says "predicated"; nobody has set it at first.
    pub predicate: Option<bool>,
    /// Gates draws.
    pub draw_predicate: DrawPredicate,
    /// OR-ed into draw initiators.
    pub init_flags: u32,
    /// Bytes by which the next write of CP_ME_NRT_DATA lies past CP_ME_NRT_ADDR.
    pub nrt_offset: u32,
    /// Which draws run the same packet.
    pub frame_draws: FrameDraws,
}

/// A draw-state group: a small command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address.
    pub address: u32,
    /// Its length.
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
    /// Whether a draw happens.
    pub fn draws(self) -> bool {
        self.pass || !self.global || !self.local
    }
}

/// The command processor at work: the chip it drives, who draws and who watches.
pub struct Cp<'a> {
    gpu: &'a mut Gpu,
    engine: &'a mut dyn Engine,
    observer: &'a mut dyn Observer,
    /// Whether the observer is to see packets and registers.
    shows: bool,
    /// Whether it is noted what packets do.
    notes: bool,
    /// Bytes that may still be kept of what buffers did.
    room: usize,
    /// Addresses of the buffers being run, outermost first.
    open: Vec<u32>,
    /// Buffers that have been run.
    seen: Streams,
    /// The observer or the engine has ended the run.
    flow: Flow,
}

impl<'a> Cp<'a> {
    /// For `gpu`, whose draws `engine` runs, watched by `observer`.
    pub fn new(gpu: &'a mut Gpu, engine: &'a mut dyn Engine, observer: &'a mut dyn Observer) -> Self {
        let shows = !observer.is_blind();
        Self {
            gpu,
            engine,
            observer,
            shows,
            notes: false,
            room: rerun::MAX_BYTES,
            open: Vec::new(),
            seen: Streams::default(),
            flow: Flow::Continue,
        }
    }

    /// Records that something is wrong, here.
    fn trouble(&mut self, trouble: impl Into<Trouble>) {
        let trouble = trouble.into();
        self.observer.trouble(self.gpu, &trouble);
        self.gpu.report.troubles.note(trouble, self.gpu.at);
    }

    /// Records that something is not supported, here.
    fn unsupported(&mut self, what: &str) {
        self.trouble(Trouble::Unsupported(what.to_owned()));
    }

    /// Takes `count` of `work` from the budget; false, and said once, when it is used up.
    #[inline]
    fn charge(&mut self, work: Work, count: u64) -> bool {
        if self.gpu.budget.cut().is_some() {
            return false;
        }
        let granted = self.gpu.budget.take(work, count);
        if self.notes {
            draw::rerun::pay(self.gpu, work, count);
        }
        if !granted {
            self.say_cut();
        }
        granted
    }

    /// Says that the budget is used up: each packet asks, so this stands apart.
    #[cold]
    fn say_cut(&mut self) {
        if let Some(notice) = self.gpu.budget.take_cut_notice() {
            self.trouble(Trouble::Cut(notice));
        }
    }

    /// Says so if what `what` reads at `address` may have been written by a draw that was
    /// left out.
    fn depends_on_draws(&mut self, what: &str, address: u32) {
        if self.engine.is_stale(address) {
            self.trouble(Trouble::Stale(format!(
                "{what} comes from memory that skipped draws may have written; taken as the capture holds it"
            )));
        }
    }
}
