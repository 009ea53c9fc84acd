//! Draws to tile memory that wait for their fragments.
//!
//! A draw that only reads memory and writes tile memory need not be done at once: nobody looks at tile
//! memory before the tile is resolved. So draws wait until somebody does, or writes memory, or the
//! targets change. Then the rows of the tile are shared out in bands, and each band gets the
//! fragments of all draws in their order, on one thread. Small draws so use all threads, and what
//! waking threads costs is paid once for hundreds of them.

use std::sync::Arc;

use super::bands::{Band, SMALL_DRAW, cut};
use super::reasons::Reasons;
use super::{DrawState, FragmentDraw, Plan};
use crate::budget::Budget;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::{PixelRows, Surface, in_place, rows_in_place};
use crate::draw::sp::launch::{Threads, Worker, in_waves};
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::memory::GpuMemory;
use crate::draw::tpl1::BoundBank;
use crate::fault::Place;
use crate::memory::Memory;

/// Draws that wait at most.
const MAX_DRAWS: usize = 512;

/// Bytes of primitives from which on no draw waits any more.
const MAX_BYTES: usize = 64 << 20;

/// A draw that waits.
pub struct Waiting {
    /// Where it was issued.
    pub at: Place,
    /// Its state.
    pub state: DrawState,
    /// What it draws.
    pub made: Arc<Primitives>,
    /// How many of these primitives.
    pub count: usize,
    /// How its fragments are handled.
    pub plan: Plan,
    /// Where it may draw.
    pub area: Rect,
    /// Where it is noted what becomes of pixels, if somebody wants to know.
    pub reasons: Option<Arc<Reasons>>,
}

/// Draws to the same part of tile memory, in their order.
#[derive(Default)]
pub struct Batch {
    /// All of their surfaces, which do not overlap.
    surfaces: Vec<Surface>,
    /// Each with the indices of its surfaces.
    draws: Vec<(Waiting, Vec<usize>)>,
    /// What holds the areas of all.
    area: Option<Rect>,
    /// Pixels that they touch.
    cost: u64,
    /// Bytes of what they draw.
    bytes: usize,
}

/// What became of a draw.
pub struct Finished {
    /// Where it was issued.
    pub at: Place,
    /// Samples that passed.
    pub samples: u64,
    /// What its shader did.
    pub log: ShaderLog,
}

impl Batch {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// Whether a draw to `surfaces` within `area` can wait with the others.
    pub fn can_take(&self, surfaces: &[Surface], area: Rect) -> bool {
        if self.draws.len() >= MAX_DRAWS || self.bytes >= MAX_BYTES {
            return false;
        }
        let known = surfaces.iter().all(|surface| self.surfaces.contains(surface));
        let all_area = self.area.map_or(area, |all| all.union(area));
        if known && self.area == Some(all_area) && !has_twice(surfaces) {
            return true;
        }
        let mut all = self.surfaces.clone();
        all.extend(surfaces.iter().filter(|surface| !self.surfaces.contains(surface)));
        !has_twice(surfaces) && (0..all.len()).all(|index| in_place(&all, all_area, index))
    }

    /// Adds a draw that [`Batch::can_take`]s.
    pub fn add(&mut self, draw: Waiting) {
        let place = |surface: &Surface| {
            self.surfaces.iter().position(|known| known == surface).unwrap_or_else(|| {
                self.surfaces.push(*surface);
                self.surfaces.len() - 1
            })
        };
        let surfaces = draw.state.targets.surfaces.iter().map(place).collect();
        self.area = Some(self.area.map_or(draw.area, |all| all.union(draw.area)));
        self.cost += draw.fragments().cost(draw.area);
        self.bytes += draw.made.bytes();
        self.draws.push((draw, surfaces));
    }

    /// Draws the fragments of all.
    pub fn shade(&self, gmem: &mut [u8], memory: &Memory, budget: &mut Budget) -> Vec<Finished> {
        let finished =
            |(draw, _): &(Waiting, _)| Finished { at: draw.at, samples: 0, log: ShaderLog::default() };
        let mut finished: Vec<Finished> = self.draws.iter().map(finished).collect();
        let banks: Vec<BoundBank<'_>> =
            self.draws.iter().map(|(draw, _)| draw.state.fragment.stage.textures.bind(memory)).collect();
        let threads = if self.cost < SMALL_DRAW { Threads::This } else { Threads::All };
        let work = |band: Band<'_, (u32, u32)>, share| self.band(band, share, memory, &banks);
        in_waves(budget, threads, self.bands(gmem).into_iter(), work, |done, budget| {
            for (number, samples, log, exhausted) in done {
                log.work.settle(budget);
                exhausted.into_iter().for_each(|work| budget.exhaust(work));
                let finished = &mut finished[number as usize];
                finished.samples += samples;
                finished.log.append(log);
            }
        });
        finished
    }

    /// The bands, each with the draws' numbers and primitives that touch it.
    fn bands<'p>(&self, gmem: &'p mut [u8]) -> Vec<Band<'p, (u32, u32)>> {
        let Some(area) = self.area else { return Vec::new() };
        let entries = (0..).zip(&self.draws).flat_map(|(draw, (waiting, _))| {
            let bounds = (0..).zip(&waiting.made.bounds[..waiting.count]);
            bounds.map(move |(primitive, bounds)| (bounds.intersect(waiting.area), (draw, primitive)))
        });
        cut(area, rows_in_place(&self.surfaces, area, gmem), entries)
    }

    /// One band, with `share` units of work for all of its draws.
    fn band<'m>(
        &'m self,
        mut band: Band<'_, (u32, u32)>,
        share: u64,
        memory: &'m Memory,
        banks: &'m [BoundBank<'m>],
    ) -> Vec<BandDone> {
        let mut left = share;
        let mut done = Vec::new();
        let mut last: Option<Worker<'m>> = None;
        for entries in band.entries.chunk_by(|a, b| a.0 == b.0) {
            let number = entries[0].0;
            let (draw, surfaces) = &self.draws[number as usize];
            let stage = &*draw.state.fragment.stage;
            let mut worker = match last.take() {
                Some(worker) if std::ptr::eq(worker.stage, stage) => worker,
                other => {
                    other.map(Worker::retire);
                    Worker::new(stage, GpuMemory::ReadOnly(memory, &banks[number as usize]))
                }
            };
            let fragments = draw.fragments();
            let primitives = entries.iter().map(|(_, primitive)| *primitive);
            let (samples, log, exhausted) = with_surfaces(&mut band.surfaces, surfaces, |rows| {
                worker.one_job(left, |worker| {
                    fragments.band(rows, worker, band.area.intersect(draw.area), primitives)
                })
            });
            last = Some(worker);
            left = left.saturating_sub(log.work.units());
            let over = exhausted.is_some();
            done.push((number, samples, log, exhausted));
            if over {
                break;
            }
        }
        last.map(Worker::retire);
        done
    }
}

/// Calls `work` with those of `all` that are `chosen`, each once.
fn with_surfaces<R>(
    all: &mut [PixelRows<'_>],
    chosen: &[usize],
    work: impl FnOnce(&mut [PixelRows<'_>]) -> R,
) -> R {
    if chosen.iter().copied().eq(0..chosen.len()) {
        return work(&mut all[..chosen.len()]);
    }
    let mut slots: Vec<Option<PixelRows<'_>>> = all.iter_mut().map(|rows| Some(rows.reborrow())).collect();
    let mut rows: Vec<PixelRows<'_>> = chosen.iter().filter_map(|index| slots[*index].take()).collect();
    work(&mut rows)
}

/// Whether a surface is there more than once.
fn has_twice(surfaces: &[Surface]) -> bool {
    surfaces.iter().enumerate().any(|(i, surface)| surfaces[..i].contains(surface))
}

/// Of one draw in one band: its number, samples that passed, what its shader did, and what it wanted
/// more of than it may have.
type BandDone = (u32, u64, ShaderLog, Option<crate::budget::Work>);

impl Waiting {
    fn fragments(&self) -> FragmentDraw<'_> {
        let Primitives { vertices, primitives, bounds, .. } = &*self.made;
        FragmentDraw {
            state: &self.state,
            vertices,
            primitives: &primitives[..self.count],
            bounds: &bounds[..self.count],
            plan: &self.plan,
            reasons: self.reasons.as_deref(),
        }
    }
}
