//! The work that waits in the queue: draws to tile memory, and copies of their results.
//!
//! A draw that only reads memory and writes tile memory can wait until its tile memory is read. So draws are
//! queued until an access to tile memory, a write to memory or a change of targets. Then the rows of the tile
//! are divided into bands. One thread draws the fragments of all draws in one band, in order. So small draws
//! use all threads, and hundreds of them pay once for waking threads.
//!
//! A copy to memory ([`copies`](super::copies)) can wait as well, with the draws of the next tile after it.
//! All tiles are at the same place in tile memory. On few threads they run together, band by band, while the rows of a
//! band are in the processor's cache. On many threads, tiles run in parallel too ([`segments`](super::segments)).

use std::sync::Arc;

use super::copies::{Copies, CopyJob, ResolveCache};
use super::uses::Pass;
use crate::draw::fs::bands::{BAND_ROWS, Each, Visible};
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::state::{ResolveState, Targets};
use crate::draw::rb::surface::{Surface, in_place};
use crate::draw::reads::MemoryRead;
use crate::draw::record::{DrawRecord, Fragments, Tile};
use crate::draw::sp::log::ShaderLog;
use crate::draw::work::ShaderWork;
use crate::fault::Place;
use crate::limits::{BATCH_BYTES, BATCH_JOBS, BATCH_SURFACES, SHARED_PRIMITIVES, SMALL_DRAW};
use crate::memory::Memory;

/// A queued draw or copy.
pub(super) enum Job {
    /// A draw.
    Draw(DrawRecord<Fragments>),
    /// A copy from a surface.
    Copy(CopyJob),
}

/// Queued draws to the same part of tile memory, in order.
///
/// Positions are relative to the start of the tile ([`anchor`]), so that all tiles overlap.
#[derive(Default)]
pub struct Batch {
    /// All surfaces of the draws. They do not overlap.
    pub(super) surfaces: Vec<Surface>,
    /// Draws and copies, in order.
    pub(super) jobs: Vec<Job>,
    /// The jobs of each tile, in order.
    pub(super) passes: Vec<Pass>,
    /// Destinations of the copies.
    pub(super) copies: Copies,
    /// Rectangle around the areas of all jobs.
    pub(super) area: Option<Rect>,
    /// Estimated cost, in pixels to shade.
    cost: u64,
    /// Bytes of primitives, and of copies of textures.
    bytes: usize,
    /// Addresses of primitive lists of at least [`SHARED_PRIMITIVES`] bytes, so that a list shared by many tiles counts
    /// once.
    heavy: Vec<usize>,
    /// Targets of the last draw, and its tile.
    last: Option<(Arc<Targets>, Tile)>,
}

/// Returns the start of the tile of these surfaces: their first pixel, with the row rounded down to a band.
/// `None` when the surfaces start in different places.
fn anchor(surfaces: &[Surface]) -> Option<[i32; 2]> {
    let [x, y] = surfaces.first().map_or([0, 0], |surface| surface.origin);
    let is_same = surfaces.iter().all(|surface| surface.origin == [x, y]);
    is_same.then_some([x, y - y.rem_euclid(BAND_ROWS)])
}

/// Returns the first layer of `surface` with positions relative to the anchor.
fn seen_from(surface: &Surface, [x, y]: [i32; 2]) -> Surface {
    Surface { origin: [surface.origin[0] - x, surface.origin[1] - y], layer: 0, ..*surface }
}

/// Result of a draw.
pub struct Finished {
    /// Place in the command stream.
    pub at: Place,
    /// Work of its shader.
    pub work: ShaderWork,
    /// The rest of the shader's log, unless it is empty.
    pub log: Option<Box<ShaderLog>>,
}

impl Batch {
    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns whether the batch is worth waking other threads.
    pub fn is_large(&self) -> bool {
        self.cost >= SMALL_DRAW
    }

    /// Returns the destinations of the queued copies.
    pub fn copies(&self) -> &Copies {
        &self.copies
    }

    /// Returns whether a draw to `targets` within `area` fits into the batch.
    pub fn can_take(&self, targets: &Arc<Targets>, area: Rect) -> bool {
        if self.is_full() {
            return false;
        }
        if let Some((_, tile)) = self.last.as_ref().filter(|(last, _)| Arc::ptr_eq(last, targets))
            && self.area == self.area.map(|all| all.union(area.seen_from(tile.anchor)))
        {
            return true;
        }
        self.has_room(&targets.surfaces, area)
    }

    fn is_full(&self) -> bool {
        self.jobs.len() >= BATCH_JOBS || self.bytes >= BATCH_BYTES
    }

    /// Returns whether `surfaces`, drawn to within `area`, share tile memory with the batch and overlap no
    /// other surface.
    fn has_room(&self, surfaces: &[Surface], area: Rect) -> bool {
        let Some(anchor) = anchor(surfaces) else { return false };
        let surfaces: Vec<Surface> = surfaces.iter().map(|surface| seen_from(surface, anchor)).collect();
        let area = area.seen_from(anchor);
        let known = surfaces.iter().all(|surface| self.surfaces.contains(surface));
        let all_area = self.area.map_or(area, |all| all.union(area));
        if known && self.area == Some(all_area) && !has_twice(&surfaces) {
            return true;
        }
        let mut all = self.surfaces.clone();
        all.extend(surfaces.iter().filter(|surface| !self.surfaces.contains(surface)));
        all.len() <= BATCH_SURFACES
            && !has_twice(&surfaces)
            && (0..all.len()).all(|index| in_place(&all, all_area, index))
    }

    /// Returns the tile of a draw to `targets`, which [`Batch::can_take`] accepts.
    pub fn tile(&mut self, targets: &Arc<Targets>) -> Tile {
        if let Some((_, tile)) = self.last.as_ref().filter(|(last, _)| Arc::ptr_eq(last, targets)) {
            return tile.clone();
        }
        let anchor = anchor(&targets.surfaces).unwrap_or_default();
        let surfaces = targets.surfaces.iter().map(|surface| self.place(surface, anchor)).collect();
        let tile = Tile { anchor, surfaces };
        self.last = Some((targets.clone(), tile.clone()));
        tile
    }

    /// Adds a draw to a [`Batch::tile`], with its visible part.
    pub fn add(&mut self, draw: DrawRecord<Fragments>, visible: &Visible) {
        let (targets, Fragments { made, plan, area, tile, copied, .. }) = (&draw.state.targets, &draw.step);
        let seen = area.seen_from(tile.anchor);
        self.extend(seen);
        self.cost += plan.cost(visible);
        self.weigh(made);
        self.bytes = self.bytes.saturating_add(*copied as usize);
        let starts_tile = self.jobs.last().is_none_or(|job| job.draw().is_none());
        let pass = self.pass(tile.anchor, starts_tile);
        pass.extend(seen);
        match draw.fragments().fills() {
            Some((filled, fills)) => {
                let filled = filled.intersect(*area).seen_from(tile.anchor);
                for (surface, bits) in fills {
                    let bits = bits | unused_bits(&targets.surfaces[surface]);
                    pass.fill(tile.surfaces[surface], filled, bits);
                }
            }
            None => {
                for (index, surface) in tile.surfaces.iter().enumerate() {
                    pass.access(*surface, seen, targets.written_bits(index));
                }
            }
        }
        self.jobs.push(Job::Draw(draw));
    }

    /// Returns the pass of the next job, in the tile that starts at `anchor`.
    fn pass(&mut self, anchor: [i32; 2], starts_tile: bool) -> &mut Pass {
        let first = self.jobs.len();
        match self.passes.last() {
            Some(pass) if pass.anchor == anchor && !starts_tile => {}
            _ => self.passes.push(Pass::new(first, anchor)),
        }
        self.passes.last_mut().expect("there is one now")
    }

    /// Adds the bytes of primitives, unless an earlier draw has the same large list.
    fn weigh(&mut self, made: &Arc<Primitives>) {
        let (bytes, place) = (made.bytes(), Arc::as_ptr(made).addr());
        if bytes >= SHARED_PRIMITIVES {
            if self.heavy.contains(&place) {
                return;
            }
            self.heavy.push(place);
        }
        self.bytes += bytes;
    }

    /// Queues the copy of `area` that `state` describes. Returns false unless its source lies row by row in
    /// the `gmem_bytes` of tile memory, and no queued draw reads its destination. `cache` has the results of earlier
    /// copies.
    pub fn take_copy(
        &mut self,
        state: &ResolveState,
        area: Rect,
        gmem_bytes: usize,
        memory: &mut Memory,
        cache: &mut ResolveCache,
    ) -> bool {
        let from = state.from();
        if !state.has_rows(area, gmem_bytes) {
            return false;
        }
        let Some(anchor) = anchor(&[from]) else { return false };
        let Some(buffer) = memory.narrow_buffer_at(state.base) else { return false };
        let is_read = |job: &Job| {
            job.draw().is_some_and(|draw| MemoryRead::Stage(&draw.state.fragment.stage).is_of(buffer))
        };
        if self.is_full() || !self.has_room(&[from], area) || self.jobs.iter().any(is_read) {
            return false;
        }
        cache.look(state, memory);
        let first = match self.passes.last() {
            Some(pass) if pass.anchor == anchor => pass.first,
            _ => self.jobs.len(),
        };
        let Some(part) = self.copies.take(state, area, (first, anchor), memory) else { return false };
        let known = cache.take(state, area, anchor, memory.now());
        let surface = self.place(&from, anchor);
        self.extend(area.seen_from(anchor));
        self.cost += area.area() / Each::Filled as u64;
        let pass = self.pass(anchor, false);
        pass.extend(area.seen_from(anchor));
        pass.access(surface, area.seen_from(anchor), 0);
        self.jobs.push(Job::Copy(CopyJob { state: *state, area, surface, anchor, part, known }));
        true
    }

    fn place(&mut self, surface: &Surface, anchor: [i32; 2]) -> usize {
        let surface = seen_from(surface, anchor);
        self.surfaces.iter().position(|known| *known == surface).unwrap_or_else(|| {
            self.surfaces.push(surface);
            self.surfaces.len() - 1
        })
    }

    fn extend(&mut self, area: Rect) {
        self.area = Some(self.area.map_or(area, |all| all.union(area)));
    }
}

impl Job {
    /// Returns the draw, if it is one.
    pub(super) fn draw(&self) -> Option<&DrawRecord<Fragments>> {
        match self {
            Self::Draw(draw) => Some(draw),
            Self::Copy(_) => None,
        }
    }
}

/// Returns the bits of a word that pixels of `surface` do not have.
fn unused_bits(surface: &Surface) -> u32 {
    u32::MAX.checked_shl(8 * surface.cpp).unwrap_or(0)
}

/// Returns whether a surface occurs twice.
fn has_twice(surfaces: &[Surface]) -> bool {
    surfaces.iter().enumerate().any(|(i, surface)| surfaces[..i].contains(surface))
}

#[cfg(test)]
mod tests {
    use a4emu_shader::format::arrangement::Tiling;

    use super::*;
    use crate::draw::rb::surface::Location;
    use crate::draw::vertices::Vertices;

    #[test]
    fn a_batch_has_a_limited_number_of_surfaces() {
        let surface = |number: u32| Surface {
            location: Location::Gmem(64 * number),
            pitch: 64,
            cpp: 4,
            origin: [0, 0],
            layer: 0,
            tiling: Tiling::Linear,
        };
        let (mut batch, area) = (Batch::default(), Rect { x0: 0, y0: 0, x1: 1, y1: 1 });
        for number in 0..BATCH_SURFACES as u32 {
            assert!(batch.has_room(&[surface(number)], area));
            batch.place(&surface(number), [0, 0]);
        }
        assert!(!batch.has_room(&[surface(BATCH_SURFACES as u32)], area));
        assert!(batch.has_room(&[surface(3)], area), "it has this one already");
    }

    #[test]
    fn primitives_shared_by_tiles_count_once() {
        let made = |vertices| Arc::new(Primitives::new(Vertices::new(4, vertices), Vec::new(), Vec::new()));
        let (light, heavy) = (made(1), made(SHARED_PRIMITIVES));
        let mut batch = Batch::default();
        for made in [&heavy, &light, &heavy, &light, &heavy] {
            batch.weigh(made);
        }
        assert_eq!(batch.bytes, heavy.bytes() + 2 * light.bytes());
        batch.weigh(&made(SHARED_PRIMITIVES));
        assert_eq!(batch.bytes, 2 * (heavy.bytes() + light.bytes()));
    }
}
