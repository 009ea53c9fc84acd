//! The command processor: it reads packets, and makes state changes and draws of them. It is the only reader
//! of streams: every command that shows or runs a capture is an [`Observer`] of it.
//!
//! The path of one packet:
//!
//! 1. [`stream`] takes it from the dwords of a buffer ([`a4emu_decoder::adreno::packet::Packets`]), shows it
//!    to the [`Observer`] and matches on its type.
//! 2. Type 0 (type 4 of an A6xx) is a run of register writes: each goes to [`registers`], which stores the value and shows it. If
//!    the table in [`effects`] has a side effect for the register, it is performed.
//! 3. Type 3 is a command: [`command`] selects the function for each opcode of the A4xx, [`a6xx`] for each of the A6xx
//!    (type 7). What both do is in the files beside them. Calls and conditions
//!    are in [`control`], packets that copy or compare memory in [`memory`], loads of shader state
//!    in [`load`], events in [`events`].
//! 4. Draws and dispatches end in [`draws`]: pending state groups run, and parameters are read. The
//!    [`Call`] gets its number, its frame draw and its pass, is shown to the observer, and goes to the
//!    [`Engine`]. That is the [`Renderer`], or [`Skip`], which skips it.

mod a6xx;
mod command;
mod control;
mod counters;
mod draws;
mod effects;
mod engine;
mod events;
mod frame_draws;
mod hang;
mod load;
mod memory;
pub mod observer;
mod registers;
pub(crate) mod state;
mod stream;
mod tee;

pub use crate::bindless::BindlessBase;
pub use engine::{Engine, Renderer, Skip, Surfaces};
pub use frame_draws::FrameDraws;
pub use hang::HangSearch;
pub use observer::{BlitCall, Call, Flow, Observer, Silent};
pub use state::{CpState, DrawPredicate, GROUPS, Group, Passes};
pub use tee::Tee;

use crate::budget::Work;
use crate::fault::Trouble;
use crate::gpu::Gpu;
use crate::settled::Running;
use a4emu_decoder::adreno::address::Address;

use command::CommandSet;
use stream::Streams;

/// The command processor while it runs, with its chip, engine and observer.
pub struct Cp<'a> {
    gpu: &'a mut Gpu,
    engine: &'a mut dyn Engine,
    observer: &'a mut dyn Observer,
    /// What packets do.
    commands: &'static CommandSet,
    /// Whether the observer sees packets and registers.
    shows_packets: bool,
    /// Addresses of the running buffers, outermost first.
    open: Vec<Address>,
    /// Buffers that have run.
    seen: Streams,
    /// Whether a loop over bins runs.
    in_bins: bool,
    /// Whether the observer or the engine has ended the run.
    flow: Flow,
}

impl<'a> Cp<'a> {
    /// A command processor for `gpu`. `engine` runs its draws, and `observer` watches it.
    pub fn new(gpu: &'a mut Gpu, engine: &'a mut dyn Engine, observer: &'a mut dyn Observer) -> Self {
        let shows_packets = !observer.ignores_packets();
        let commands = CommandSet::of(gpu.chip.generation());
        Self {
            commands,
            gpu,
            engine,
            observer,
            shows_packets,
            open: Vec::new(),
            seen: Streams::default(),
            in_bins: false,
            flow: Flow::Continue,
        }
    }

    /// Records a trouble at the current place.
    fn trouble(&mut self, trouble: impl Into<Trouble>) {
        let trouble = trouble.into();
        self.observer.trouble(&mut Running::of(self.gpu), &trouble);
        self.gpu.machine.report.troubles.note(trouble, self.gpu.machine.at);
    }

    /// Records an unsupported feature at the current place.
    fn unsupported(&mut self, what: &str) {
        self.trouble(Trouble::Unsupported(what.to_owned()));
    }

    /// Takes `count` of `work` from the budget. Returns false if the budget is used up, and reports that
    /// once.
    #[inline]
    fn charge(&mut self, work: Work, count: u64) -> bool {
        if self.gpu.budget.cut().is_some() {
            return false;
        }
        let granted = self.gpu.budget.take(work, count);
        if !granted {
            self.say_cut();
        }
        granted
    }

    /// Reports once that the budget is used up. Not inlined, as each packet calls [`Self::charge`].
    #[cold]
    fn say_cut(&mut self) {
        if let Some(notice) = self.gpu.budget.take_cut_notice() {
            self.trouble(Trouble::Cut(notice));
        }
    }

    /// Reports a stale read if a skipped draw may have written `address`. `what` names the reading.
    fn depends_on_draws(&mut self, what: &str, address: impl Into<Address>) {
        if self.engine.is_stale(address.into()) {
            self.trouble(Trouble::Stale(format!(
                "{what} comes from memory that skipped draws may have written; taken as the capture holds it"
            )));
        }
    }
}
