//! Draws that wait for their primitives, which worker threads make while the command processor continues.
//!
//! A frame with hundreds of small changed draws would leave all other threads idle until the first tile is
//! complete. So the command processor only queues the state of such a draw. Free worker threads fetch and
//! shade its vertices and set up its primitives, from a snapshot of memory. Results are applied in stream order. Start and
//! end depend only on the command stream, and so does the budget.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::thread;

use a4emu_decoder::adreno::address::Address;
use rayon::Yield;

use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::inspection::Observation;
use crate::draw::pipeline::DrawContext;
use crate::draw::record::{DrawRecord, Geometry, Parts, Pending};
use crate::draw::schedule::Schedule;
use crate::draw::stats::Stopwatch;
use crate::draw::stop::Stop;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::limits::{GEOMETRY_AT_ONCE, GEOMETRY_DRAWS};
use crate::memory::Memory;
#[cfg(test)]
use crate::parallel::permuted;
use crate::parallel::{self, locked, work_until};
use crate::pass::Pass;
use crate::work_trace::{Activity, begin};

use super::record::{record_end, record_primitives, record_vertices};
use super::{cache_or_report, draw_first_layer, primitives};

/// Queued draws: those without primitives, and draws with known primitives after them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    /// Packet address of each queued draw.
    addresses: Vec<Address>,
    /// The draws with known primitives, and the number of each in the queue.
    ready: Vec<Numbered>,
    /// The other draws, if there are any.
    workers: Option<Arc<GeometryWorkers>>,
    /// List allocations for reuse.
    spare: Lists,
}

impl GeometryQueue {
    /// Returns whether the draw of the packet at `address` is in the queue.
    pub(super) fn has(&self, address: Address) -> bool {
        self.addresses.contains(&address)
    }

    /// Returns whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

/// Queues a draw if that is worthwhile and has no visible effect. Otherwise returns its stages. Its
/// primitives may be known.
pub(super) fn enqueue(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) -> Option<VertexStages> {
    let may_wait = context.pipeline.schedule.defers()
        && context.pipeline.observation() == Observation::None
        && stages.pass == Pass::Gmem
        && state.targets.are_in_tile_memory()
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let geometry = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if context.pipeline.geometry.is_empty() => return Some(stages),
        Some(known) => Geometry::Ready(known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(context) => return Some(stages),
        None => {
            let (budget, is_timed) =
                (context.machine.budget.fork_part(GEOMETRY_DRAWS as u64), !context.pipeline.untimed);
            Geometry::Pending(Box::new(Pending { stages, budget, is_timed, made: None }))
        }
    };
    let draw = DrawRecord { at: context.machine.at, state: state.clone(), step: geometry };
    let GeometryQueue { addresses, ready, workers, spare } = &mut context.pipeline.geometry;
    match draw.step {
        Geometry::Pending(_) => workers
            .get_or_insert_with(|| GeometryWorkers::open(context.machine.mem.view(), std::mem::take(spare)))
            .add(addresses.len(), draw),
        Geometry::Ready(_) => ready.push((addresses.len(), draw)),
    }
    addresses.push(context.machine.at.address);
    if addresses.len() >= GEOMETRY_DRAWS {
        finish(context);
    }
    None
}

/// Returns whether a draw without primitives is one of the first since the last batch.
fn is_one_of_few(context: &mut DrawContext<'_>) -> bool {
    context.pipeline.queue.count_new_draw() <= GEOMETRY_AT_ONCE
        && context.pipeline.schedule == Schedule::Deferred
}

/// Completes all primitives and continues the queued draws in order.
pub(super) fn finish(context: &mut DrawContext<'_>) {
    let Some(workers) = context.pipeline.geometry.workers.take() else { return };
    context.pipeline.geometry.addresses.clear();
    let mut lists = workers.close();
    lists.made.append(&mut context.pipeline.geometry.ready);
    lists.made.sort_by_key(|(number, _)| *number);
    let here = context.machine.at;
    for (_, DrawRecord { at, state, step }) in lists.made.drain(..) {
        if context.machine.budget.cut().is_some() {
            break;
        }
        context.machine.at = at;
        let primitives = match step {
            Geometry::Ready(known) => Ok(Some(known)),
            Geometry::Pending(pending) => made(context, &state, *pending),
        };
        let result = match primitives {
            Ok(Some(step)) => draw_first_layer(context, DrawRecord { at, state, step }),
            Ok(None) => Ok(()),
            Err(stop) => Err(stop),
        };
        record_end(context, result);
    }
    context.machine.at = here;
    context.pipeline.geometry.spare = lists;
}

/// Records the work for the primitives that workers made for a draw, and returns these. `None` if their type is not
/// supported.
fn made(
    context: &mut DrawContext<'_>,
    state: &DrawState,
    pending: Pending,
) -> Result<Option<Arc<Primitives>>, Stop> {
    let Pending { stages, budget, made, .. } = pending;
    match made.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))) {
        Some(Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] }))
            if budget.cut().is_none() =>
        {
            context.machine.budget.join(&budget);
            let Shaded { vertices, geometry, .. } = record_vertices(context, shaded, Stopwatch::off());
            context.pipeline.stats.ms.vertex += of_vertices;
            context.pipeline.stats.ms.primitive += of_primitives;
            let made = assembled
                .map(|assembled| record_primitives(context, assembled, vertices, Vec::new(), geometry));
            Ok(cache_or_report(context, stages, state, made))
        }
        // Its share of the budget was too small. Make them again with the whole budget.
        _ => primitives(context, stages, state, None),
    }
}

/// A draw with its number among those that wait.
type Numbered = (usize, DrawRecord<Geometry>);

/// The lists of [`GeometryWorkers`].
#[derive(Default)]
struct Lists {
    pending: VecDeque<Numbered>,
    /// Draws with primitives, in any order.
    made: Vec<Numbered>,
}

/// Draws for which worker threads make primitives.
struct GeometryWorkers {
    pending: Mutex<VecDeque<Numbered>>,
    made: Mutex<Vec<Numbered>>,
    /// Snapshot of memory for the draws, present until all primitives are made.
    memory: RwLock<Option<Memory>>,
    /// Set when no more draws are added.
    is_closed: AtomicBool,
}

impl GeometryWorkers {
    /// Creates a queue and starts a worker on it. The lists are empty.
    fn open(memory: Memory, Lists { pending, made }: Lists) -> Arc<Self> {
        let workers = Arc::new(Self {
            pending: Mutex::new(pending),
            made: Mutex::new(made),
            memory: RwLock::new(Some(memory)),
            is_closed: AtomicBool::new(false),
        });
        if parallel::has_other_threads() {
            workers.clone().spawn_helper();
        }
        workers
    }

    fn spawn_helper(self: Arc<Self>) {
        parallel::spawn(move || {
            self.help();
            // There is no other thread that could stay.
            #[cfg(test)]
            if permuted::is_on() && !self.is_closed.load(Ordering::Acquire) {
                self.spawn_helper();
            }
        });
    }

    /// Adds the draw of this `number`, whose primitives are pending.
    fn add(&self, number: usize, draw: DrawRecord<Geometry>) {
        locked(&self.pending).push_back((number, draw));
    }

    /// Makes primitives until the queue is closed and empty.
    fn help(&self) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = &*memory else { return };
        let is_over = || self.is_closed.load(Ordering::Acquire) && locked(&self.pending).is_empty();
        let next = || match self.run_next(memory) {
            #[cfg(test)]
            is_run if permuted::is_on() => (is_run && permuted::goes_on()).then_some(Yield::Executed),
            true => Some(Yield::Executed),
            false => Some(Yield::Idle),
        };
        work_until(Activity::NoJobs, is_over, next);
    }

    /// Makes the primitives of the next draw. Returns false if there is none.
    fn run_next(&self, memory: &Memory) -> bool {
        let Some((number, mut draw)) = locked(&self.pending).pop_front() else { return false };
        draw.make(memory);
        locked(&self.made).push((number, draw));
        true
    }

    /// Makes all primitives that are left and releases the memory snapshot. Returns the draws in any order, and an empty
    /// list of pending ones.
    fn close(&self) -> Lists {
        self.is_closed.store(true, Ordering::Release);
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let active = begin(Activity::Vertices);
        while memory.as_ref().is_some_and(|memory| self.run_next(memory)) {}
        drop(active);
        drop(memory);
        // Spin: a worker that still makes primitives ends sooner than a sleeping thread wakes.
        let wait = begin(Activity::WaitForThreads);
        let mut memory = loop {
            match self.memory.try_write() {
                Ok(memory) => break memory,
                Err(TryLockError::Poisoned(memory)) => break memory.into_inner(),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        };
        drop(wait);
        *memory = None;
        let made = std::mem::take(&mut *locked(&self.made));
        Lists { pending: std::mem::take(&mut *locked(&self.pending)), made }
    }
}
