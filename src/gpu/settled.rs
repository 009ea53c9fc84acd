//! Access to memory, tile memory and counters from outside of the chip, which waits for queued work.
//!
//! Draws and copies may be queued ([`draw`]). So [`Gpu`] has no method that returns its memory. One asks
//! [`Gpu::sync`] or [`Gpu::settle`], which complete what is queued, and reads from the answer:
//!
//! ```
//! use a4emu_gpu::gpu::{Chip, Gpu};
//!
//! let mut gpu = Gpu::new(Chip::default());
//! assert_eq!(gpu.sync().memory().read_u32(0x1000), None);
//! assert_eq!(gpu.settle().counters().samples_passed, 0);
//! ```
//!
//! A read without the wait does not compile:
//!
//! ```compile_fail
//! # use a4emu_gpu::gpu::{Chip, Gpu};
//! let mut gpu = Gpu::new(Chip::default());
//! assert_eq!(gpu.memory().read_u32(0x1000), None);
//! ```
//!
//! Nor does one that is kept while the chip runs on:
//!
//! ```compile_fail
//! # use a4emu_gpu::gpu::{Chip, Gpu};
//! let mut gpu = Gpu::new(Chip::default());
//! let synced = gpu.sync();
//! gpu.memory_mut().begin_group();
//! assert_eq!(synced.memory().read_u32(0x1000), None);
//! ```

use std::ops::Deref;

use crate::draw::{self, MemoryRead};
use crate::fault::Report;
use crate::gpu::Gpu;
use crate::machine::{ChipView, Counters, Gmem};
use crate::memory::Memory;
use a4emu_decoder::adreno::address::Address;

/// A chip that an observer sees while it runs. Registers are those of the packet; memory must be asked for.
pub struct Running<'a>(&'a mut Gpu);

/// A chip whose queued copies to memory are complete. Draws to tile memory may be queued.
#[derive(Clone, Copy)]
pub struct Synced<'a>(&'a Gpu);

/// A chip without queued work.
#[derive(Clone, Copy)]
pub struct Settled<'a>(Synced<'a>);

/// A chip that does not run any more, without queued work.
pub struct Ended(Gpu);

impl Gpu {
    /// Completes the queued copies to memory.
    pub fn sync(&mut self) -> Synced<'_> {
        if self.pipeline.has_queued_copies() {
            draw::finish(&mut self.draws());
        }
        Synced(self)
    }

    /// Completes queued copies to memory of `reads`, which the chip is about to read.
    pub(crate) fn sync_reads<'r>(
        &mut self,
        reads: impl IntoIterator<Item = MemoryRead<'r>, IntoIter: Clone>,
    ) {
        draw::sync(&mut self.draws(), reads);
    }

    /// Completes all queued work.
    pub fn settle(&mut self) -> Settled<'_> {
        draw::finish(&mut self.draws());
        Settled(Synced(self))
    }

    /// Completes all queued work and ends the run.
    pub fn end(mut self) -> Ended {
        draw::finish(&mut self.draws());
        Ended(self)
    }

    /// Completes all queued work, then returns memory for changes from outside of the chip.
    pub fn memory_mut(&mut self) -> &mut Memory {
        draw::finish(&mut self.draws());
        &mut self.mem
    }

    /// Completes all queued work, then returns tile memory for changes from outside of the chip.
    pub fn tile_memory_mut(&mut self) -> &mut Gmem {
        draw::finish(&mut self.draws());
        &mut self.gmem
    }

    /// Completes all queued work, then returns the counters for changes from outside of the chip.
    pub fn counters_mut(&mut self) -> &mut Counters {
        draw::finish(&mut self.draws());
        &mut self.counters
    }
}

impl<'a> Running<'a> {
    /// What an observer sees of `gpu`.
    pub fn of(gpu: &'a mut Gpu) -> Self {
        Self(gpu)
    }

    /// Completes the queued copies to memory.
    pub fn sync(&mut self) -> Synced<'_> {
        self.0.sync()
    }
}

impl<'a> Synced<'a> {
    /// Memory with the results of all packets so far.
    pub fn memory(self) -> &'a Memory {
        &self.0.mem
    }

    /// The chip, for as long as it stays as it is.
    pub fn gpu(self) -> &'a Gpu {
        self.0
    }

    /// The state that snapshots of draws read.
    pub fn view(self) -> ChipView<'a> {
        self.0.view()
    }
}

impl<'a> Settled<'a> {
    /// Tile memory with the results of all packets so far.
    pub fn tile_memory(self) -> &'a Gmem {
        &self.0.0.gmem
    }

    /// The counters with the results of all packets so far.
    pub fn counters(self) -> &'a Counters {
        &self.0.0.counters
    }
}

impl Ended {
    /// The chip at the end of its run.
    pub fn settled(&self) -> Settled<'_> {
        Settled(Synced(&self.0))
    }

    /// Memory at the end of the run.
    pub fn memory(&self) -> &Memory {
        &self.0.mem
    }

    /// Tile memory at the end of the run.
    pub fn tile_memory(&self) -> &Gmem {
        &self.0.gmem
    }

    /// The counters at the end of the run.
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Says what differs between two machines, apart from the work that they did: for tests that play a capture in two
    /// ways.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let surfaces = |gpu: &Self| gpu.pipeline.surfaces.iter().copied().collect::<Vec<_>>();
        let troubles =
            |gpu: &Self| (gpu.report.worst().map(|(it, ..)| it.severity()), gpu.report.troubles.total());
        let mut registers = 0..self.regs.count() as u32;
        let same = [
            ("registers", registers.all(|register| self.regs.read(register) == other.regs.read(register))),
            ("tile memory", self.tile_memory() == other.tile_memory()),
            ("counters", self.counters() == other.counters()),
            ("surfaces", surfaces(self) == surfaces(other)),
            ("problems", troubles(self) == troubles(other)),
        ];
        if let Some((what, _)) = same.into_iter().find(|(_, same)| !same) {
            return Some(what.to_owned());
        }
        let [mine, theirs] = [self, other].map(Self::memory);
        let differs = |(base, len): &(Address, u32)| {
            mine.slice(*base, *len as usize) != theirs.slice(*base, *len as usize)
        };
        let (base, _) = mine.buffers().find(differs)?;
        Some(format!("the buffer at {base}"))
    }

    /// The problems of the run.
    pub fn into_report(self) -> Report {
        self.0.machine.report
    }
}

impl Deref for Running<'_> {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        self.0
    }
}

impl Deref for Synced<'_> {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        self.0
    }
}

impl<'a> Deref for Settled<'a> {
    type Target = Synced<'a>;

    fn deref(&self) -> &Synced<'a> {
        &self.0
    }
}

impl Deref for Ended {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.0
    }
}
