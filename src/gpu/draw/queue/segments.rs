//! Division of a batch into jobs for threads: bands of rows, and segments of tiles.
//!
//! All tiles lie at the same place in tile memory, one after the other. A tile that first fills the pixels that it uses,
//! by a clear or a restore, does not depend on the tiles before it. There a new *segment* starts. (Bits that no tile of
//! the batch writes need not be filled: stencil, mostly. They are as they were before the batch.) Segments can run at
//! the same time: one in tile memory, the others in scratch memory of their thread. What later work could see of these
//! is copied to tile memory afterwards. With few threads, all segments run in tile memory in turn, which is the same
//! and copies nothing.
//!
//! How much of the budget a job may spend does not depend on the number of threads.

use std::cmp::Reverse;
use std::ops::Range;

use crate::budget::{Budget, Ends, Work};
use crate::draw::fs::bands::{BAND_ROWS, Each, List, Lists, cut_rows, each_touching};
use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::{Cells, UniformTiles, numbers};
use crate::draw::rb::surface::{Location, PixelRows, Surface, extent, rows_in_place};
use crate::draw::record::{DrawRecord, Fragments, Tile};
use crate::draw::sp::launch::Worker;
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::memory::GpuMemory;
use crate::draw::tpl1::BoundBank;
use crate::draw::work::ShaderWork;
use crate::limits::{JOBS_PER_THREAD, SEGMENT_GROUPS, SORT_PARALLEL, SORT_SHARE};
use crate::machine::Gmem;
use crate::memory::{Lent, Memory};
use crate::parallel::{self, Helpers};
use crate::work_trace::{Activity, begin};

use super::KnownTiles;
use super::batch::{Batch, Finished, Job};
use super::copies::{Copies, Strip};
use super::scratch::{Before, Scratch};
use super::uses::{Segment, Uses, in_place, segments};

/// The number of a job, and the number of a primitive in it.
type Entry = (u32, u32);

/// A batch with its jobs sorted by segment and band.
pub struct Sorted {
    batch: Batch,
    area: Rect,
    segments: Vec<(Segment, Lists<Entry>)>,
}

/// Segments that run one after the other.
struct Group {
    segments: Range<usize>,
    /// How they use the surfaces together.
    uses: Uses,
}

/// One band of a group: a job for a thread.
struct BandJob<'p, 'g> {
    /// Number of the band.
    number: i32,
    area: Rect,
    group: &'g Group,
    /// Its rows of tile memory. `None` if it runs in scratch memory.
    rows: Option<Vec<PixelRows<'p>>>,
    /// Whether its scratch memory is needed afterwards.
    is_kept: bool,
    strips: Vec<Strip<'p>>,
}

/// Result of one band of one segment.
struct PieceDone {
    segment: usize,
    band: i32,
    draws: Vec<DrawDone>,
    exhausted: Option<Work>,
}

/// Result of one draw in one band.
struct DrawDone {
    /// Number of its job.
    number: u32,
    work: ShaderWork,
    /// The rest of the shader log, unless it is empty.
    log: Option<Box<ShaderLog>>,
}

/// Result of a job.
struct JobDone<'g> {
    number: i32,
    area: Rect,
    group: &'g Group,
    pieces: Vec<PieceDone>,
    /// Scratch memory that is needed.
    kept: Option<Scratch>,
}

/// What all jobs share.
struct Shared<'m> {
    memory: &'m Memory,
    /// Bound textures of each job that is a draw.
    banks: &'m [Option<BoundBank<'m>>],
    ends: Option<Ends>,
    shares: Shares,
}

/// Division of the remaining budget: a half equally, and a half by the cost that is expected.
struct Shares {
    left: u64,
    pieces: u64,
    cost: u64,
}

impl Shares {
    fn of(&self, cost: u64) -> u64 {
        let half = u128::from(self.left / 2);
        let [equal, by_cost] =
            [half / u128::from(self.pieces.max(1)), half * u128::from(cost) / u128::from(self.cost.max(1))];
        (equal + by_cost) as u64
    }
}

impl Sorted {
    /// Sorts the jobs of a batch.
    pub(super) fn new(batch: Batch) -> Self {
        let _active = begin(Activity::Batches);
        let segments = segments(&batch.passes, batch.jobs.len());
        let shares: Vec<(usize, Range<usize>)> = (0..)
            .zip(&segments)
            .flat_map(|(number, segment)| {
                shares(&batch, segment).into_iter().map(move |share| (number, share))
            })
            .collect();
        let primitives = batch.jobs.iter().filter_map(Job::draw).map(|draw| draw.step.count).sum::<usize>();
        let sort = |(number, share): (usize, Range<usize>)| {
            let segment: &Segment = &segments[number];
            (number, sort(&batch, share, Lists::new(segment.area)))
        };
        let sorted: Vec<(usize, Lists<Entry>)> = match primitives {
            0..SORT_PARALLEL => shares.into_iter().map(sort).collect(),
            _ => parallel::each(shares, Helpers::TakeLast, sort),
        };
        // Each segment has at least one share, and they are in order.
        let mut lists: Vec<Lists<Entry>> = Vec::with_capacity(segments.len());
        for (number, part) in sorted {
            let part = match lists.len() > number {
                true => lists.pop().expect("it is there").followed_by(part),
                false => part,
            };
            lists.push(part);
        }
        let segments = segments.into_iter().zip(lists).collect();
        let area = batch.area.unwrap_or(Rect { x0: 0, y0: 0, x1: 0, y1: 0 });
        Self { batch, area, segments }
    }

    /// Returns the destinations of the copies.
    pub(super) fn copies(&self) -> &Copies {
        &self.batch.copies
    }

    /// Draws all fragments, and copies to the buffers `lent`, from [`Copies::lend`].
    pub fn shade(
        &self,
        tile_memory: (&mut Gmem, &mut KnownTiles),
        memory: &Memory,
        lent: &mut [Lent],
        budget: &mut Budget,
    ) -> Vec<Finished> {
        let _active = begin(Activity::Batches);
        let nothing = |draw: &DrawRecord<_>| Finished { at: draw.at, work: ShaderWork::default(), log: None };
        let mut finished: Vec<Option<Finished>> =
            self.batch.jobs.iter().map(|job| job.draw().map(nothing)).collect();
        if budget.cut().is_none() {
            self.run(tile_memory, memory, lent, budget, &mut finished);
        }
        finished.into_iter().flatten().collect()
    }

    fn run(
        &self,
        (gmem, known): (&mut Gmem, &mut KnownTiles),
        memory: &Memory,
        lent: &mut [Lent],
        budget: &mut Budget,
        finished: &mut [Option<Finished>],
    ) {
        let surfaces = &self.batch.surfaces;
        let pieces =
            self.segments.iter().flat_map(|(_, lists)| lists.bands()).filter(|list| !list.entries.is_empty());
        let (count, cost) = pieces.fold((0, 0), |(count, cost), list| (count + 1, cost + list.cost));
        let banks: Vec<_> = self.batch.jobs.iter().map(|job| bind(job, memory)).collect();
        let shared = Shared {
            memory,
            banks: &banks,
            ends: budget.ends(),
            shares: Shares { left: budget.share(Work::Copy16, 1), pieces: count, cost },
        };
        let groups = self.groups(gmem.len());
        known.update(gmem, (surfaces, self.area), |bytes, cells| {
            let before = if groups.len() > 1 { self.before(bytes) } else { Vec::new() };
            let jobs = self.jobs(&groups, rows_in_place(surfaces, self.area, bytes), cells, lent);
            let mut done = self.run_jobs(jobs, &before, &shared);
            done.sort_by_key(|job| (job.group.segments.start, job.number));
            done.iter_mut().for_each(|job| self.copy_kept(job, bytes, cells));
            let mut pieces: Vec<PieceDone> = done.into_iter().flat_map(|job| job.pieces).collect();
            pieces.sort_by_key(|piece| (piece.segment, piece.band));
            for PieceDone { band, draws, exhausted, .. } in pieces {
                for DrawDone { number, work, log } in draws {
                    work.settle(budget);
                    let finished = finished[number as usize].as_mut().expect("a draw");
                    finished.work.add(&work);
                    if let Some(log) = log {
                        finished.log.get_or_insert_default().append(*log);
                    }
                }
                if let Some(work) = exhausted {
                    budget.exhaust(work);
                    // The bytes of this band depend on the number of threads, so none of them stay.
                    let rows = Rect { y0: band * BAND_ROWS, y1: (band + 1) * BAND_ROWS, ..self.area };
                    let rows = rows_in_place(surfaces, rows.intersect(self.area), bytes);
                    rows.into_iter().for_each(PixelRows::clear);
                    *cells = Default::default();
                }
            }
        });
    }

    /// Returns the contents of each band from before the batch, if segments may read them. Empty if none do.
    fn before(&self, bytes: &mut [u8]) -> Vec<Before> {
        let matters = |surface: &usize| {
            self.segments.iter().any(|(segment, _)| segment.uses.of(*surface).unfilled_bits() != 0)
        };
        let matter: Vec<bool> = (0..self.batch.surfaces.len()).map(|surface| matters(&surface)).collect();
        if !matter.contains(&true) {
            return Vec::new();
        }
        let bands: Vec<_> =
            cut_rows(self.area, rows_in_place(&self.batch.surfaces, self.area, bytes)).collect();
        parallel::each(bands, Helpers::TakeLast, |(_, rows)| {
            let bytes = |(rows, matters): (&PixelRows<'_>, &bool)| match matters {
                true => rows.bytes().to_vec(),
                false => Vec::new(),
            };
            rows.iter().zip(&matter).map(bytes).collect()
        })
    }

    /// Copies what a job has in scratch memory to tile memory, if it is needed.
    fn copy_kept(&self, job: &mut JobDone<'_>, bytes: &mut [u8], cells: &mut UniformTiles) {
        let Some(scratch) = &mut job.kept else { return };
        let surfaces = &self.batch.surfaces;
        let index = self.index(job.number);
        let mut from = scratch.rows(surfaces, &job.group.uses, job.area);
        let mut to = rows_in_place(surfaces, job.area, bytes);
        let mut cells: Vec<Cells<'_>> = cells.rows().nth(index).into_iter().flatten().collect();
        for (segment, _) in &self.segments[job.group.segments.clone()] {
            for (surface, touched) in segment.uses.touched(job.area) {
                to[surface].copy_from(&mut from[surface], touched);
                cells[surface].forget(touched.x0..touched.x1, u32::MAX);
            }
        }
    }

    /// Divides the segments into groups.
    fn groups(&self, gmem_bytes: usize) -> Vec<Group> {
        let all = 0..self.segments.len();
        let bands = numbers(self.area.y0..self.area.y1).len().max(1);
        let wanted =
            (JOBS_PER_THREAD * parallel::threads()).div_ceil(bands).min(all.len()).min(SEGMENT_GROUPS);
        let is_inside = |surface: &Surface| {
            let columns = u64::try_from(self.area.x1 - surface.origin[0]).unwrap_or(0);
            let Location::Gmem(base) = surface.location else { return false };
            let end = extent(surface, self.area).end + u64::from(base);
            columns * u64::from(surface.cpp) <= surface.pitch.into() && end <= gmem_bytes as u64
        };
        if wanted < 2 || !self.batch.is_large() || !self.batch.surfaces.iter().all(is_inside) {
            return vec![self.group(all)];
        }
        let cost = |(_, lists): &(Segment, Lists<Entry>)| lists.bands().map(|list| list.cost).sum::<u64>();
        let costs: Vec<u64> = self.segments.iter().map(cost).collect();
        let total = costs.iter().sum::<u64>().max(1);
        let (mut groups, mut first, mut before) = (Vec::new(), 0, 0);
        for (number, cost) in costs.iter().enumerate() {
            before += cost;
            let is_full = before.saturating_mul(wanted as u64) / total > groups.len() as u64;
            if is_full || number + 1 == costs.len() {
                groups.push(self.group(first..number + 1));
                first = number + 1;
            }
        }
        groups
    }

    fn group(&self, segments: Range<usize>) -> Group {
        let uses = self.segments[segments.clone()].iter().map(|(segment, _)| &segment.uses);
        Group { uses: uses.fold(Uses::default(), |all, uses| all.then(uses)), segments }
    }

    /// Returns the jobs, by band. `rows` are those of the whole area in tile memory, with what is known of their
    /// `cells`, and `lent` are the destinations of copies.
    fn jobs<'p, 'g>(
        &self,
        groups: &'g [Group],
        rows: Vec<PixelRows<'p>>,
        cells: &'p mut UniformTiles,
        lent: &'p mut [Lent],
    ) -> Vec<BandJob<'p, 'g>> {
        let first = numbers(self.area.y0..self.area.y1).start;
        let (mut jobs, mut cells) = (Vec::new(), cells.rows());
        for (number, (area, mut rows)) in (first..).zip(cut_rows(self.area, rows)) {
            rows.iter_mut()
                .zip(cells.next().into_iter().flatten())
                .for_each(|(rows, cells)| rows.cells = cells);
            let mut rows = Some(rows);
            let has_entries =
                |segment| self.list(segment, number).is_some_and(|list| !list.entries.is_empty());
            let here: Vec<&Group> =
                groups.iter().filter(|group| group.segments.clone().any(has_entries)).collect();
            let uses: Vec<&Uses> = here.iter().map(|group| &group.uses).collect();
            let in_place = in_place(&uses, area);
            for (place, group) in here.iter().enumerate() {
                let rows = if Some(place) == in_place { rows.take() } else { None };
                let is_hidden = || uses[place + 1..].iter().any(|later| later.hide(uses[place], area));
                let is_kept = Some(place) > in_place && !is_hidden();
                jobs.push(BandJob { number, area, group, rows, is_kept, strips: Vec::new() });
            }
        }
        let job = |tile: usize, band: i32| {
            let segment = self.segments.partition_point(|(segment, _)| segment.jobs.end <= tile);
            let index = jobs.partition_point(|job| (job.number, job.group.segments.end) <= (band, segment));
            let is_it = |job: &BandJob<'_, '_>| job.number == band && job.group.segments.contains(&segment);
            jobs.get(index).is_some_and(is_it).then_some(index)
        };
        for (job, strip) in self.batch.copies.strips(lent, job) {
            jobs[job].strips.push(strip);
        }
        jobs
    }

    /// Returns the index of band `number`, from the top.
    fn index(&self, number: i32) -> usize {
        (number - numbers(self.area.y0..self.area.y1).start) as usize
    }

    fn list(&self, segment: usize, band: i32) -> Option<&List<Entry>> {
        self.segments[segment].1.band(band)
    }

    /// Runs the jobs, the most expensive ones first, so that all threads finish at about the same time.
    fn run_jobs<'m, 'g>(
        &'m self,
        mut jobs: Vec<BandJob<'_, 'g>>,
        before: &[Before],
        shared: &Shared<'m>,
    ) -> Vec<JobDone<'g>> {
        let _active = begin(Activity::Fragments);
        if !self.batch.is_large() {
            let mut scratch = Scratch::default();
            return jobs.into_iter().map(|job| self.job(&mut scratch, job, before, shared)).collect();
        }
        jobs.sort_by_cached_key(|job| {
            let lists = job.group.segments.clone().filter_map(|segment| self.list(segment, job.number));
            Reverse(lists.map(|list| list.cost).sum::<u64>())
        });
        let work = |scratch: &mut Scratch, job| self.job(scratch, job, before, shared);
        parallel::each_with(jobs, Helpers::TakeFirst, Scratch::default, work)
    }

    /// Runs one band of a group. `before` are the contents of all bands before the batch.
    fn job<'m, 'g>(
        &'m self,
        scratch: &mut Scratch,
        job: BandJob<'_, 'g>,
        before: &[Before],
        shared: &Shared<'m>,
    ) -> JobDone<'g> {
        let BandJob { number, area, group, rows, is_kept, mut strips } = job;
        let mut pieces = Vec::new();
        let mut all = |rows: &mut [PixelRows<'_>]| {
            let mut worker = None;
            for segment in group.segments.clone() {
                let Some(list) = self.list(segment, number).filter(|list| !list.entries.is_empty()) else {
                    continue;
                };
                let (draws, exhausted) = self.piece(list, area, rows, &mut strips, &mut worker, shared);
                pieces.push(PieceDone { segment, band: number, draws, exhausted });
            }
            worker.map(Worker::retire);
        };
        match rows {
            Some(mut rows) => all(&mut rows),
            None => {
                let before = before.get(self.index(number));
                all(&mut scratch.begin(&self.batch.surfaces, &group.uses, area, before));
            }
        }
        let kept = is_kept.then(|| std::mem::take(scratch));
        JobDone { number, area, group, pieces, kept }
    }

    /// Runs one band of one segment. All its draws share a limit of work units.
    fn piece<'m>(
        &'m self,
        list: &List<Entry>,
        band: Rect,
        surfaces: &mut [PixelRows<'_>],
        strips: &mut [Strip<'_>],
        last: &mut Option<Worker<'m>>,
        shared: &Shared<'m>,
    ) -> (Vec<DrawDone>, Option<Work>) {
        let mut left = shared.shares.of(list.cost);
        let mut done = Vec::new();
        for entries in list.entries.chunk_by(|a, b| a.0 == b.0) {
            let number = entries[0].0;
            let draw = match &self.batch.jobs[number as usize] {
                Job::Draw(draw) => draw,
                Job::Copy(copy) => {
                    copy.rows(band, &mut surfaces[copy.surface], strips);
                    continue;
                }
            };
            let stage = &*draw.state.fragment.stage;
            let mut worker = match last.take() {
                Some(worker) if std::ptr::eq(worker.stage, stage) => worker,
                other => {
                    other.map(Worker::retire);
                    let bank = shared.banks[number as usize].as_ref().expect("a draw has one");
                    Worker::new(stage, GpuMemory::ReadOnly(shared.memory, bank)).until(&shared.ends)
                }
            };
            let fragments = draw.fragments();
            let primitives = entries.iter().map(|(_, primitive)| *primitive);
            let Fragments { tile, area, .. } = &draw.step;
            let area = band.seen_from(tile.anchor.map(|at| -at)).intersect(*area);
            let (samples, mut log, exhausted) = with_surfaces(surfaces, tile, |rows| {
                worker.one_job(left, |worker| fragments.band(rows, worker, area, primitives))
            });
            *last = Some(worker);
            left = left.saturating_sub(log.work.units());
            log.work.samples = samples;
            let (work, log) = log.split();
            done.push(DrawDone { number, work, log });
            if exhausted.is_some() {
                return (done, exhausted);
            }
        }
        (done, None)
    }
}

/// Binds the textures of a draw.
fn bind<'m>(job: &'m Job, memory: &'m Memory) -> Option<BoundBank<'m>> {
    Some(job.draw()?.state.fragment.stage.textures.bind(memory))
}

/// Divides the jobs of a segment into ranges, each sorted by one thread.
fn shares(batch: &Batch, segment: &Segment) -> Vec<Range<usize>> {
    let Range { mut start, end } = segment.jobs;
    let (mut shares, mut left) = (Vec::new(), SORT_SHARE);
    for number in segment.jobs.clone() {
        let primitives = batch.jobs[number].draw().map_or(0, |draw| draw.step.count);
        if primitives >= left {
            shares.push(start..number + 1);
            (start, left) = (number + 1, SORT_SHARE);
        } else {
            left -= primitives;
        }
    }
    if start < end {
        shares.push(start..end);
    }
    shares
}

/// Adds the entries of a range of jobs to `lists`, by band.
fn sort(batch: &Batch, jobs: Range<usize>, mut lists: Lists<Entry>) -> Lists<Entry> {
    for number in jobs {
        let (job, number) = (&batch.jobs[number], number as u32);
        match job {
            Job::Draw(draw) => {
                let Fragments { made, count, plan, area, tile, .. } = &draw.step;
                each_touching(&made.bounds[..*count], *area, |primitive, touched| {
                    lists.add(touched.seen_from(tile.anchor), (number, primitive), plan.each());
                });
            }
            Job::Copy(copy) => lists.add(copy.area.seen_from(copy.anchor), (number, 0), Each::Filled),
        }
    }
    lists
}

/// Calls `work` with the surfaces of `all` that belong to `tile`, each once, moved there.
fn with_surfaces<R>(
    all: &mut [PixelRows<'_>],
    Tile { anchor, surfaces: chosen }: &Tile,
    work: impl FnOnce(&mut [PixelRows<'_>]) -> R,
) -> R {
    if chosen.iter().copied().eq(0..chosen.len()) {
        let rows = &mut all[..chosen.len()];
        rows.iter_mut().for_each(|rows| rows.shift(*anchor));
        let result = work(rows);
        rows.iter_mut().for_each(|rows| rows.shift(anchor.map(|at| -at)));
        return result;
    }
    let mut slots: Vec<Option<PixelRows<'_>>> =
        all.iter_mut().map(|rows| Some(rows.moved(*anchor))).collect();
    let mut rows: Vec<PixelRows<'_>> = chosen.iter().filter_map(|index| slots[*index].take()).collect();
    work(&mut rows)
}

#[cfg(test)]
mod tests {
    use crate::draw::topology::Topology;

    use super::super::uses::Pass;
    use super::*;
    use crate::draw::fs::state::FragmentState;
    use crate::draw::fs::{Coloring, DrawState, Plan};
    use crate::draw::gras::primitives::Primitives;
    use crate::draw::gras::state::Viewports;
    use crate::draw::rb::state::TestOrder;
    use crate::draw::sp::state::StageState;
    use crate::draw::vertices::Vertices;
    use crate::draw::work::KnownRun;
    use crate::fault::Place;
    use crate::machine::Model;

    #[test]
    fn shares_add_up_to_what_is_left() {
        let shares = Shares { left: 1000, pieces: 4, cost: 100 };
        assert_eq!([0, 10, 90].map(|cost| shares.of(cost)), [125, 175, 575]);
        assert_eq!(Shares { left: 1000, pieces: 0, cost: 0 }.of(0), 500);
    }

    /// Returns a draw of `count` primitives, each some pixels below the previous one.
    fn waiting(count: usize) -> DrawRecord<Fragments> {
        let targets = crate::a4xx::rb::targets(&Default::default(), &mut Vec::new());
        let primitive = crate::a4xx::gras::primitive(
            &Default::default(),
            Topology::Triangles,
            Viewports::First,
            Model::default(),
        );
        let fragment = FragmentState {
            stage: StageState::of("end\n").into(),
            inputs: crate::a4xx::stages::fragment_inputs(&Default::default()).into(),
        };
        let bounds = |i: usize| {
            let y0 = (i * 7 % 90) as i32;
            Rect { x0: 0, x1: 5, y0, y1: y0 + 9 }
        };
        let area = Rect { x0: 0, y0: 0, x1: 64, y1: 96 };
        let mut made = Primitives::new(Vertices::default(), Vec::new(), Vec::new());
        (made.bounds, made.extent) = ((0..count).map(bounds).collect(), area);
        let state = DrawState { primitive: primitive.into(), fragment, targets: targets.into() };
        let step = Fragments {
            made: made.into(),
            count,
            plan: Plan {
                order: TestOrder::Early,
                color: Coloring::Shaded,
                copy: None,
                known: KnownRun::default(),
            },
            area,
            reasons: None,
            tile: Tile::default(),
            copied: 0,
        };
        DrawRecord { at: Place::default(), state, step }
    }

    #[test]
    fn lists_do_not_depend_on_the_threads_that_sort_them() {
        let sorted = |threads: usize| {
            let (mut batch, area) = (Batch::default(), Rect { x0: 0, y0: 0, x1: 64, y1: 96 });
            batch.area = Some(area);
            for count in [10, SORT_SHARE, 3, SORT_SHARE - 5, 1, 2, SORT_SHARE / 2, 4] {
                batch.jobs.push(Job::Draw(waiting(count)));
            }
            for first in [0, 7] {
                let mut pass = Pass::new(first, [0, 0]);
                pass.extend(area);
                batch.passes.push(pass);
            }
            let parts: Vec<_> =
                segments(&batch.passes, 8).iter().flat_map(|segment| shares(&batch, segment)).collect();
            assert_eq!(parts, [0..2, 2..6, 6..7, 7..8]);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let sorted = pool.install(|| Sorted::new(batch));
            let lists = sorted.segments.iter().flat_map(|(_, lists)| lists.bands());
            lists.map(|list| (list.entries.clone(), list.cost)).collect::<Vec<(Vec<Entry>, u64)>>()
        };
        let [all, alone] = [2, 1].map(sorted);
        assert_eq!(alone.len(), 2 * 3);
        assert!(all == alone && alone.iter().all(|(entries, _)| entries.is_sorted()));
        assert!(alone[..3].iter().all(|(entries, _)| entries.len() > SORT_SHARE / 2));
    }
}
