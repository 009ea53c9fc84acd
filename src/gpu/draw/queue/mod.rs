//! The queue of draws to tile memory, and of copies from there to memory.
//!
//! The pipeline adds draws whose primitives are known, and resolve copies, in stream order. Work waits until
//! something needs its results ([`Queue::finish`]), or until there is enough of it for worker threads, which then draw
//! while the command processor continues. The queue does not know the whole machine: it works on a [`Store`].
//!
//! - [`batch`]: the work that waits.
//! - [`copies`]: resolve copies, and what memory is known to contain after them.
//! - `uses`: which tiles do not depend on earlier ones.
//! - [`segments`]: how that work is divided among threads.
//! - `scratch`: memory for tiles that run at the same time.
//! - [`submitted`]: batches that worker threads draw.

pub mod batch;
pub mod copies;
mod scratch;
mod segments;
mod submitted;
mod uses;

use std::sync::Arc;
use std::time::Instant;

use crate::budget::Budget;
use crate::draw::fs::bands::Visible;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::UniformTiles;
use crate::draw::rb::state::{ResolveState, Targets};
use crate::draw::rb::surface::Surface;
use crate::draw::record::{DrawRecord, Fragments, Tile};
use crate::draw::schedule::Schedule;
use crate::limits::SUBMIT_WORK;
use crate::machine::Gmem;
use crate::memory::Memory;

use batch::{Batch, Finished};
use copies::ResolveCache;
use segments::Sorted;
use submitted::Submitted;

/// Draws and copies that wait, and those that worker threads run.
#[derive(Default)]
pub struct Queue {
    /// Work that waits.
    batch: Batch,
    /// Earlier work, which worker threads run.
    submitted: Submitted,
    /// Memory contents after earlier copies.
    resolve_cache: ResolveCache,
    /// Command processor work for the waiting draws, in units of one draw with known primitives.
    pending_work: u64,
    /// Draws with new primitives since the waiting work was last taken.
    new_draws: u32,
}

/// The parts of the machine that queued work reads and writes, and the results of what has ended.
pub struct Store<'a> {
    /// The address space.
    pub memory: &'a mut Memory,
    /// Tile memory. Worker threads may own it.
    pub gmem: &'a mut Gmem,
    /// What is known of tile memory.
    pub known: &'a mut KnownTiles,
    /// Bytes of tile memory, also while worker threads own it.
    pub gmem_bytes: usize,
    /// Work that the run may still do.
    pub budget: &'a mut Budget,
    /// Results of the batches that ended.
    pub results: Results,
}

/// Uniform cells of tile memory, for as long as nothing else changes its bytes.
#[derive(Default)]
pub struct KnownTiles {
    tiles: UniformTiles,
    /// [`Gmem::changes`] after the last change that kept them up to date.
    changes: u64,
}

impl KnownTiles {
    /// Calls `write` with the bytes of tile memory and the known cells of `surfaces` within `area`, which it keeps up to
    /// date.
    fn update<R>(
        &mut self,
        gmem: &mut Gmem,
        (surfaces, area): (&[Surface], Rect),
        write: impl FnOnce(&mut [u8], &mut UniformTiles) -> R,
    ) -> R {
        let known = std::mem::take(&mut self.tiles);
        let known = if self.changes == gmem.changes() { known } else { UniformTiles::default() };
        let mut tiles = known.of(surfaces, area);
        let result = write(gmem, &mut tiles);
        *self = Self { tiles, changes: gmem.changes() };
        result
    }
}

/// Results of batches that have ended, in stream order.
#[derive(Default)]
pub struct Results {
    /// The draws of each batch.
    pub batches: Vec<Vec<Finished>>,
    /// Time for drawing.
    pub milliseconds: f64,
}

impl Results {
    /// Adds a batch that was drawn in so many milliseconds.
    fn add(&mut self, finished: Vec<Finished>, milliseconds: f64) {
        self.batches.push(finished);
        self.milliseconds += milliseconds;
    }
}

/// The queued copy that writes to some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The copy waits for its batch to be drawn.
    Waiting,
    /// A worker thread may run the copy now.
    Submitted,
}

impl Queue {
    /// Returns whether queued draws may still change tile memory and counters.
    pub fn has_draws(&self) -> bool {
        !self.submitted.is_empty() || !self.batch.is_empty()
    }

    /// Returns whether queued copies may still change memory, or memory is lent to worker threads.
    pub fn has_copies(&self) -> bool {
        !self.submitted.is_empty() || !self.batch.copies().is_empty()
    }

    /// Returns the queued copy, if any, to a buffer (address and length) for which `is_one` is true.
    pub fn writer(&self, is_one: impl Fn((u32, u32)) -> bool) -> Option<Writer> {
        if self.batch.copies().buffers().any(&is_one) {
            Some(Writer::Waiting)
        } else {
            self.submitted.writes(is_one).then_some(Writer::Submitted)
        }
    }

    /// Adds to the work that the command processor has done for the waiting draws, in units of one draw with known
    /// primitives.
    pub fn count_work(&mut self, units: u64) {
        self.pending_work += units;
    }

    /// Counts a draw with new primitives. Returns how many there were since the waiting work was last taken.
    pub fn count_new_draw(&mut self) -> u32 {
        self.new_draws += 1;
        self.new_draws
    }

    /// Forgets what memory is known to contain after earlier copies.
    pub fn forget_copies(&mut self) {
        self.resolve_cache = ResolveCache::default();
    }

    /// Returns whether a draw to `targets` within `area` can be added now.
    pub fn has_room(&self, targets: &Arc<Targets>, area: Rect) -> bool {
        self.batch.can_take(targets, area)
    }

    /// Returns the tile of a draw to `targets`, for which [`Queue::has_room`].
    pub fn tile(&mut self, targets: &Arc<Targets>) -> Tile {
        self.batch.tile(targets)
    }

    /// Adds a draw to a [`Queue::tile`], with its visible part.
    pub fn add(
        &mut self,
        draw: DrawRecord<Fragments>,
        visible: &Visible,
        schedule: Schedule,
        store: &mut Store<'_>,
    ) {
        self.batch.add(draw, visible);
        self.submit_if_worthwhile(schedule, store);
    }

    /// Adds the copy of `area` that `state` describes. Returns false and adds nothing if it cannot wait.
    pub fn add_copy(
        &mut self,
        state: &ResolveState,
        area: Rect,
        schedule: Schedule,
        store: &mut Store<'_>,
    ) -> bool {
        let Self { batch, resolve_cache, .. } = self;
        if !batch.take_copy(state, area, store.gmem_bytes, store.memory, resolve_cache) {
            return false;
        }
        // The first tile is submitted at once, so that workers draw it while the command processor reads the later
        // tiles. The later tiles are drawn together.
        let is_first = schedule == Schedule::Deferred && self.submitted.is_empty();
        match schedule.defers() {
            true if is_first && self.batch.is_large() => self.submit(store),
            true => self.submit_if_worthwhile(schedule, store),
            false => self.finish(store),
        }
        true
    }

    /// Empties the batch because it cannot take the next draw: submits it to worker threads, or draws it at once if it
    /// is small or the schedule does not defer.
    pub fn make_room(&mut self, schedule: Schedule, store: &mut Store<'_>) {
        match schedule {
            Schedule::Deferred if self.batch.is_large() => self.submit(store),
            Schedule::Stress => self.submit(store),
            Schedule::Reference | Schedule::InOrder | Schedule::Deferred => self.finish(store),
        }
    }

    /// Draws everything.
    pub fn finish(&mut self, store: &mut Store<'_>) {
        // With worker threads at work, submit the rest too, so that there is only one wait.
        if !self.submitted.is_empty() && self.batch.is_large() {
            self.submit(store);
        }
        self.finish_submitted(store);
        if !self.batch.is_empty() {
            let start = Instant::now();
            let batch = Sorted::new(self.take_batch());
            let mut lent = batch.copies().lend(store.memory);
            let tile_memory = (&mut *store.gmem, &mut *store.known);
            let finished = batch.shade(tile_memory, store.memory, &mut lent, store.budget);
            lent.into_iter().for_each(|lent| store.memory.give_back(lent));
            store.results.add(finished, start.elapsed().as_secs_f64() * 1e3);
        }
    }

    /// Waits for the work that worker threads run. Other work still waits.
    pub fn finish_submitted(&mut self, store: &mut Store<'_>) {
        self.submitted.finish(store);
    }

    /// Submits the waiting work if drawing it may take as long as the command processor took to find it.
    fn submit_if_worthwhile(&mut self, schedule: Schedule, store: &mut Store<'_>) {
        let is_worthwhile = match schedule {
            Schedule::Reference | Schedule::InOrder => false,
            Schedule::Deferred => self.pending_work >= SUBMIT_WORK && self.batch.is_large(),
            Schedule::Stress => !self.batch.is_empty(),
        };
        if is_worthwhile {
            self.submit(store);
        }
    }

    /// Submits the waiting work to worker threads, which start it after the earlier batches.
    fn submit(&mut self, store: &mut Store<'_>) {
        let batch = self.take_batch();
        self.submitted.add(batch, store);
    }

    /// Removes and returns the waiting work. Later draws start a new batch.
    fn take_batch(&mut self) -> Batch {
        (self.pending_work, self.new_draws) = (0, 0);
        std::mem::take(&mut self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::rb::surface::Location;
    use a4emu_shader::format::arrangement::Tiling;

    #[test]
    fn uniform_cells_stay_known_until_another_write() {
        let surface = Surface {
            location: Location::Gmem(0),
            pitch: 256,
            cpp: 4,
            origin: [0, 0],
            layer: 0,
            tiling: Tiling::Linear,
        };
        let area = Rect { x0: 0, y0: 0, x1: 64, y1: 4 };
        // Counts the known cells, and then marks all cells as known.
        let mut gmem = Gmem::new(1 << 10);
        let mut tiles = KnownTiles::default();
        let mut known = |gmem: &mut Gmem, surface: Surface, area: Rect| {
            tiles.update(gmem, (&[surface], area), |_, cells| {
                let mut count = 0;
                for known in cells.rows().flatten().flat_map(|cells| cells.known) {
                    count += usize::from(known.pixel().is_some());
                    known.bits = u32::MAX;
                }
                count
            })
        };
        assert_eq!([0, 2].map(|_| known(&mut gmem, surface, area)), [0, 2]);
        assert_eq!(gmem[0], 0, "a read does no harm");
        assert_eq!(known(&mut gmem, surface, area), 2);
        gmem[1] = 1;
        assert_eq!([0, 2].map(|_| known(&mut gmem, surface, area)), [0, 2]);
        assert_eq!(known(&mut gmem, Surface { location: Location::Gmem(4), ..surface }, area), 0);
        assert_eq!(known(&mut gmem, surface, area), 0, "others may have had the same bytes");
        assert_eq!(known(&mut gmem, surface, Rect { y1: 3, ..area }), 0);
    }
}
