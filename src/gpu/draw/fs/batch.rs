//! Queued draws to tile memory, and copies of their results.
//!
//! A draw that only reads memory and writes tile memory can wait until its tile memory is read. So draws are
//! queued until an access to tile memory, a write to memory or a change of targets. Then the rows of the tile
//! are divided into bands. One thread draws the fragments of all draws in one band, in order. So small draws
//! use all threads, and hundreds of them pay once for waking threads.
//!
//! A copy to memory ([`copies`](super::copies)) can wait as well, with the draws of the next tile after it.
//! All tiles at the same place in tile memory then run together, band by band, while the rows of a band are
//! in the processor's cache.

use std::ops::Range;
use std::sync::Arc;

use super::bands::{BAND_ROWS, Band, Each, Lists, SMALL_DRAW, Visible, each_touching};
use super::copies::{Copies, Copy, ResolveCache, Strip};
use super::reasons::Reasons;
use super::{DrawState, FragmentDraw, Plan};
use crate::budget::{Budget, Ends};
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::UniformTiles;
use crate::draw::rb::state::{ResolveState, Targets};
use crate::draw::rb::surface::{PixelRows, Surface, in_place, rows_in_place};
use crate::draw::sp::launch::{Threads, Worker, in_waves};
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::memory::GpuMemory;
use crate::draw::sp::state::StageState;
use crate::draw::tpl1::BoundBank;
use crate::fault::Place;
use crate::machine::Gmem;
use crate::memory::{Lent, Memory};
use crate::parallel::{self, Helpers};

/// Maximum number of queued draws and copies.
const MAX_STEPS: usize = 2048;

/// Bytes of primitives from which on the batch is full.
const MAX_BYTES: usize = 64 << 20;

/// Primitives that one thread sorts in one job.
const SHARE: usize = 1 << 15;

/// Bytes of primitives from which on shared primitives are counted only once.
const HEAVY: usize = 64 << 10;

/// A queued draw.
pub struct BatchedDraw {
    /// Place in the command stream.
    pub at: Place,
    /// Pipeline state.
    pub state: DrawState,
    /// Primitives of the draw.
    pub made: Arc<Primitives>,
    /// Number of primitives to draw.
    pub count: usize,
    /// Plan for the fragments.
    pub plan: Plan,
    /// Area that it may draw to.
    pub area: Rect,
    /// Map for pixel fates, if requested.
    pub reasons: Option<Arc<Reasons>>,
}

/// A queued draw or copy.
enum Step {
    /// A draw, with the indices of its surfaces and the anchor of its tile.
    Draw(BatchedDraw, Arc<[usize]>, [i32; 2]),
    /// A copy from a surface.
    Copy(Copy),
}

/// Queued draws to the same part of tile memory, in order.
///
/// Positions are relative to the start of the tile ([`anchor`]), so that all tiles overlap.
#[derive(Default)]
pub struct Batch {
    /// All surfaces of the draws. They do not overlap.
    surfaces: Vec<Surface>,
    /// Draws and copies, in order.
    steps: Vec<Step>,
    /// Destinations of the copies.
    copies: Copies,
    /// Rectangle around the areas of all steps.
    area: Option<Rect>,
    /// Estimated cost, in pixels to shade.
    cost: u64,
    /// Bytes of primitives.
    bytes: usize,
    /// Addresses of primitive lists of at least [`HEAVY`] bytes, so that a list shared by many tiles counts
    /// once.
    heavy: Vec<usize>,
    /// Targets of the last draw.
    last: Option<Last>,
}

/// A batch with its steps sorted by band.
pub struct Sorted {
    batch: Batch,
    lists: Lists<Entry>,
}

/// The number of a step, and the number of a primitive in it.
type Entry = (u32, u32);

/// Targets of a queued draw.
struct Last {
    targets: Arc<Targets>,
    /// Anchor of its tile.
    anchor: [i32; 2],
    /// Indices of its surfaces.
    surfaces: Arc<[usize]>,
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
    /// Number of samples that passed.
    pub samples: u64,
    /// Log of its shader.
    pub log: ShaderLog,
}

impl Batch {
    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
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
        if let Some(last) = self.last.as_ref().filter(|last| Arc::ptr_eq(&last.targets, targets))
            && self.area == self.area.map(|all| all.union(area.seen_from(last.anchor)))
        {
            return true;
        }
        self.has_room(&targets.surfaces, area)
    }

    fn is_full(&self) -> bool {
        self.steps.len() >= MAX_STEPS || self.bytes >= MAX_BYTES
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
        !has_twice(&surfaces) && (0..all.len()).all(|index| in_place(&all, all_area, index))
    }

    /// Adds a draw that [`Batch::can_take`] accepts, with its visible part.
    pub fn add(&mut self, draw: BatchedDraw, visible: &Visible) {
        let targets = &draw.state.targets;
        let last = match self.last.take().filter(|last| Arc::ptr_eq(&last.targets, targets)) {
            Some(last) => last,
            None => {
                let anchor = anchor(&targets.surfaces).unwrap_or_default();
                let surfaces = targets.surfaces.iter().map(|surface| self.place(surface, anchor)).collect();
                Last { targets: targets.clone(), anchor, surfaces }
            }
        };
        self.extend(draw.area.seen_from(last.anchor));
        self.cost += draw.plan.cost(visible);
        self.weigh(&draw.made);
        self.steps.push(Step::Draw(draw, last.surfaces.clone(), last.anchor));
        self.last = Some(last);
    }

    /// Adds the bytes of primitives, unless an earlier draw has the same large list.
    fn weigh(&mut self, made: &Arc<Primitives>) {
        let (bytes, place) = (made.bytes(), Arc::as_ptr(made).addr());
        if bytes >= HEAVY {
            if self.heavy.contains(&place) {
                return;
            }
            self.heavy.push(place);
        }
        self.bytes += bytes;
    }

    /// Queues the copy of `area` that `state` describes. Returns false unless its source lies row by row in
    /// the `gmem_bytes` of tile memory, and no queued draw reads its destination. `left` is the cache of
    /// earlier copies.
    pub fn take_copy(
        &mut self,
        state: &ResolveState,
        area: Rect,
        gmem_bytes: usize,
        memory: &mut Memory,
        left: &mut ResolveCache,
    ) -> bool {
        let from = state.from();
        if !state.has_rows(area, gmem_bytes) {
            return false;
        }
        let Some(anchor) = anchor(&[from]) else { return false };
        let Some(buffer) = memory.buffer_at(state.base) else { return false };
        let is_read = |step: &Step| step.draw().is_some_and(|draw| reads(&draw.state.fragment.stage, buffer));
        if self.is_full() || !self.has_room(&[from], area) || self.steps.iter().any(is_read) {
            return false;
        }
        left.look(state, memory);
        let Some(destination) = self.copies.take(state, area, anchor, memory) else { return false };
        let left = left.take(state, area, anchor, memory.now());
        let surface = self.place(&from, anchor);
        self.extend(area.seen_from(anchor));
        self.cost += area.area() / Each::Filled as u64;
        self.steps.push(Step::Copy(Copy { state: *state, area, surface, anchor, destination, left }));
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

    /// Sorts the steps by band, when the batch is complete.
    pub fn sorted(self, threads: Threads) -> Sorted {
        const NOTHING: Rect = Rect { x0: 0, y0: 0, x1: 0, y1: 0 };
        let new = || Lists::new(self.area.unwrap_or(NOTHING));
        let shares = if threads == Threads::All { self.shares() } else { Vec::new() };
        let lists = match shares.len() {
            0 | 1 => self.sort(0..self.steps.len(), new()),
            _ => {
                let parts = parallel::each(shares, Helpers::TakeLast, |steps| self.sort(steps, new()));
                parts.into_iter().reduce(Lists::followed_by).unwrap_or_else(new)
            }
        };
        Sorted { batch: self, lists }
    }

    /// Divides the steps into ranges, each sorted by one thread.
    fn shares(&self) -> Vec<Range<usize>> {
        let (mut shares, mut first, mut left) = (Vec::new(), 0, SHARE);
        for (number, step) in self.steps.iter().enumerate() {
            let primitives = step.draw().map_or(0, |draw| draw.count);
            if primitives >= left {
                shares.push(first..number + 1);
                (first, left) = (number + 1, SHARE);
            } else {
                left -= primitives;
            }
        }
        if first < self.steps.len() {
            shares.push(first..self.steps.len());
        }
        shares
    }

    /// Adds the entries of a range of steps to `lists`, by band.
    fn sort(&self, steps: Range<usize>, mut lists: Lists<Entry>) -> Lists<Entry> {
        for number in steps {
            let (step, number) = (&self.steps[number], number as u32);
            match step {
                Step::Draw(draw, _, anchor) => {
                    let each = draw.plan.each();
                    let bounds = &draw.made.bounds[..draw.count];
                    each_touching(bounds, draw.area, |primitive, touched| {
                        lists.add(touched.seen_from(*anchor), (number, primitive), each);
                    });
                }
                Step::Copy(copy) => lists.add(copy.area.seen_from(copy.anchor), (number, 0), Each::Filled),
            }
        }
        lists
    }
}

impl Sorted {
    /// Returns the destinations of the copies.
    pub fn copies(&self) -> &Copies {
        &self.batch.copies
    }

    /// Draws all fragments, and copies to the buffers `lent`, from [`Copies::lend`].
    pub fn shade(
        &self,
        gmem: &mut Gmem,
        memory: &Memory,
        lent: &mut [Lent],
        budget: &mut Budget,
    ) -> Vec<Finished> {
        let nothing = |draw: &BatchedDraw| Finished { at: draw.at, samples: 0, log: ShaderLog::default() };
        let mut finished: Vec<Option<Finished>> =
            self.batch.steps.iter().map(|step| step.draw().map(nothing)).collect();
        gmem.write_known(|bytes, cells| {
            let mut cells = cells.of(&self.batch.surfaces, self.lists.area);
            let jobs = self.jobs(bytes, &mut cells, self.batch.copies.strips(lent));
            self.run(jobs, memory, budget, &mut finished);
            (cells, ())
        });
        finished.into_iter().flatten().collect()
    }

    fn run(
        &self,
        jobs: Vec<Job<'_, '_>>,
        memory: &Memory,
        budget: &mut Budget,
        finished: &mut [Option<Finished>],
    ) {
        let Batch { steps, .. } = &self.batch;
        let banks: Vec<Option<BoundBank<'_>>> = steps.iter().map(|step| step.bind(memory)).collect();
        let threads = if self.batch.is_large() { Threads::All } else { Threads::This };
        let ends = budget.ends();
        let work = |job: Job<'_, '_>, share| self.band(job, (share, &ends), memory, &banks);
        in_waves(
            budget,
            threads,
            jobs.into_iter(),
            |job| job.band.list.cost,
            work,
            |done, budget| {
                for (number, samples, log, exhausted) in done {
                    log.work.settle(budget);
                    exhausted.into_iter().for_each(|work| budget.exhaust(work));
                    let finished = finished[number as usize].as_mut().expect("a draw");
                    finished.samples += samples;
                    finished.log.append(log);
                }
            },
        );
    }

    /// Returns one job per band, with the destination rows of its copies.
    fn jobs<'p>(
        &self,
        gmem: &'p mut [u8],
        cells: &'p mut UniformTiles,
        strips: Vec<Strip<'p>>,
    ) -> Vec<Job<'p, '_>> {
        let bands = self.lists.cut(rows_in_place(&self.batch.surfaces, self.lists.area, gmem));
        let mut jobs: Vec<Job<'p, '_>> = bands.map(|band| Job { band, strips: Vec::new() }).collect();
        for (job, cells) in jobs.iter_mut().zip(cells.rows()) {
            job.band.surfaces.iter_mut().zip(cells).for_each(|(rows, cells)| rows.cells = cells);
        }
        for strip in strips {
            let job =
                usize::try_from(strip.band - self.lists.first).ok().and_then(|index| jobs.get_mut(index));
            job.expect("copies lie in the area of all").strips.push(strip);
        }
        jobs
    }

    /// Runs one band. All its draws share a limit of work units, `share`; `ends` can stop them from outside.
    fn band<'m>(
        &'m self,
        Job { mut band, mut strips }: Job<'_, '_>,
        (share, ends): (u64, &Option<Ends>),
        memory: &'m Memory,
        banks: &'m [Option<BoundBank<'m>>],
    ) -> Vec<BandDone> {
        let mut left = share;
        let mut done = Vec::new();
        let mut last: Option<Worker<'m>> = None;
        for entries in band.list.entries.chunk_by(|a, b| a.0 == b.0) {
            let number = entries[0].0;
            let (draw, surfaces, anchor, bank) =
                match (&self.batch.steps[number as usize], &banks[number as usize]) {
                    (Step::Copy(copy), _) => {
                        copy.rows(band.area, &mut band.surfaces[copy.surface], &mut strips);
                        continue;
                    }
                    (Step::Draw(draw, surfaces, anchor), bank) => (draw, surfaces, *anchor, bank),
                };
            let stage = &*draw.state.fragment.stage;
            let mut worker = match last.take() {
                Some(worker) if std::ptr::eq(worker.stage, stage) => worker,
                other => {
                    other.map(Worker::retire);
                    let bank = bank.as_ref().expect("a draw has one");
                    Worker::new(stage, GpuMemory::ReadOnly(memory, bank)).until(ends)
                }
            };
            let fragments = draw.fragments();
            let primitives = entries.iter().map(|(_, primitive)| *primitive);
            let area = band.area.seen_from(anchor.map(|at| -at)).intersect(draw.area);
            let (samples, log, exhausted) = with_surfaces(&mut band.surfaces, surfaces, anchor, |rows| {
                worker.one_job(left, |worker| fragments.band(rows, worker, area, primitives))
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

/// A band with the destination rows of its copies.
struct Job<'p, 'l> {
    band: Band<'p, 'l, Entry>,
    strips: Vec<Strip<'p>>,
}

impl Step {
    fn draw(&self) -> Option<&BatchedDraw> {
        match self {
            Self::Draw(draw, ..) => Some(draw),
            Self::Copy(_) => None,
        }
    }

    /// Binds the textures of a draw.
    fn bind<'m>(&'m self, memory: &'m Memory) -> Option<BoundBank<'m>> {
        Some(self.draw()?.state.fragment.stage.textures.bind(memory))
    }
}

/// Returns whether the shader of a stage may read the buffer (address and length).
pub fn reads(stage: &StageState, buffer: (u32, u32)) -> bool {
    stage.summary.loads || stage.textures.reads(buffer)
}

/// Calls `work` with the `chosen` surfaces of `all`, each once, moved to the tile that begins at `anchor`.
fn with_surfaces<R>(
    all: &mut [PixelRows<'_>],
    chosen: &[usize],
    anchor: [i32; 2],
    work: impl FnOnce(&mut [PixelRows<'_>]) -> R,
) -> R {
    if chosen.iter().copied().eq(0..chosen.len()) {
        let rows = &mut all[..chosen.len()];
        rows.iter_mut().for_each(|rows| rows.shift(anchor));
        let result = work(rows);
        rows.iter_mut().for_each(|rows| rows.shift(anchor.map(|at| -at)));
        return result;
    }
    let mut slots: Vec<Option<PixelRows<'_>>> = all.iter_mut().map(|rows| Some(rows.moved(anchor))).collect();
    let mut rows: Vec<PixelRows<'_>> = chosen.iter().filter_map(|index| slots[*index].take()).collect();
    work(&mut rows)
}

/// Returns whether a surface occurs twice.
fn has_twice(surfaces: &[Surface]) -> bool {
    surfaces.iter().enumerate().any(|(i, surface)| surfaces[..i].contains(surface))
}

/// Result of one draw in one band: its number, samples that passed, the shader log, and the exhausted kind of
/// work, if any.
type BandDone = (u32, u64, ShaderLog, Option<crate::budget::Work>);

impl BatchedDraw {
    fn fragments(&self) -> FragmentDraw<'_> {
        let Primitives { vertices, primitives, bounds, .. } = &*self.made;
        FragmentDraw {
            state: &self.state,
            vertices,
            primitives: &primitives[..self.count],
            bounds: &bounds[..self.count],
            plan: &self.plan,
            reasons: self.reasons.as_deref(),
            tap: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::regs::enums::PrimType;

    use super::*;
    use crate::draw::fs::Coloring;
    use crate::draw::fs::state::{FragmentInputs, FragmentState};
    use crate::draw::gras::setup::PrimitiveState;
    use crate::draw::gras::state::Viewports;
    use crate::draw::rb::state::TestOrder;
    use crate::draw::vertices::Vertices;
    use crate::machine::Model;

    /// Returns a draw of `count` primitives, each some pixels below the previous one.
    fn waiting(count: usize) -> BatchedDraw {
        let targets = Targets::snapshot(&Default::default(), &mut Vec::new());
        let primitive = PrimitiveState::snapshot(
            &Default::default(),
            PrimType::DI_PT_TRILIST,
            Viewports::First,
            Model::default(),
        );
        let fragment = FragmentState {
            stage: StageState::of("end\n").into(),
            inputs: FragmentInputs::snapshot(&Default::default()).into(),
        };
        let bounds = |i: usize| {
            let y0 = (i * 7 % 90) as i32;
            Rect { x0: 0, x1: 5, y0, y1: y0 + 9 }
        };
        let area = Rect { x0: 0, y0: 0, x1: 64, y1: 96 };
        let mut made = Primitives::new(Vertices::default(), Vec::new(), Vec::new());
        (made.bounds, made.extent) = ((0..count).map(bounds).collect(), area);
        BatchedDraw {
            at: Place::default(),
            state: DrawState { primitive: primitive.into(), fragment, targets: targets.into() },
            made: made.into(),
            count,
            plan: Plan { order: TestOrder::Early, color: Coloring::Shaded, copy: None },
            area,
            reasons: None,
        }
    }

    #[test]
    fn whoever_sorts_bands_have_the_same_lists() {
        let sorted = |threads| {
            let mut batch = Batch { area: Some(Rect { x0: 0, y0: 0, x1: 64, y1: 96 }), ..Batch::default() };
            for count in [10, SHARE, 3, SHARE - 5, 1, 2, SHARE / 2, 4] {
                batch.steps.push(Step::Draw(waiting(count), Arc::new([]), [0, 0]));
            }
            let shares = batch.shares();
            assert_eq!(shares, [0..2, 2..6, 6..8]);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
            let sorted = pool.install(|| batch.sorted(threads));
            let bands = sorted.lists.cut(Vec::new()).map(|band| (band.list.entries.clone(), band.list.cost));
            bands.collect::<Vec<(Vec<Entry>, u64)>>()
        };
        let [all, alone] = [Threads::All, Threads::This].map(sorted);
        assert_eq!(alone.len(), 3);
        assert!(
            all == alone && alone.iter().all(|(entries, _)| entries.is_sorted() && entries.len() > SHARE / 2)
        );
    }

    #[test]
    fn what_all_tiles_draw_weighs_once() {
        let made = |vertices| Arc::new(Primitives::new(Vertices::new(4, vertices), Vec::new(), Vec::new()));
        let (light, heavy) = (made(1), made(HEAVY));
        let mut batch = Batch::default();
        for made in [&heavy, &light, &heavy, &light, &heavy] {
            batch.weigh(made);
        }
        assert_eq!(batch.bytes, heavy.bytes() + 2 * light.bytes());
        batch.weigh(&made(HEAVY));
        assert_eq!(batch.bytes, 2 * (heavy.bytes() + light.bytes()));
    }
}
