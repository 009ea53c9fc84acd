//! Small draws whose vertex work runs on worker threads while the command processor continues.
//!
//! A frame with hundreds of small changed draws would leave all other threads idle until the first tile is
//! complete. So the command processor only queues the state of such a draw. Free worker threads fetch and
//! shade its vertices and set up its primitives, from a snapshot of memory. Results are applied in stream
//! order. Start and end depend only on the command stream, and so does the budget.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::thread;

use rayon::Yield;

use crate::budget::Budget;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::{self, Assembled, PrimitiveState};
use crate::draw::rb::state::Targets;
use crate::draw::stop::{MAX_HELD, Stop};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::fault::Place;
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::parallel::{self, locked, work_until};
use crate::pass::Pass;

use super::late::Resolves;
use super::record::{record_end, record_primitives, record_vertices};
use super::{Stopwatch, draw_first_layer, helper, keep_if_known, note_written, primitives};

/// Draws per batch that run at once before queueing starts. Batches with few draws gain nothing from it.
const AT_ONCE: u32 = 16;

/// Maximum number of queued draws.
const MOST: usize = 256;

/// Queued draws: those without primitives, and draws with known primitives after them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    draws: Vec<Waiting>,
    /// Worker queue, if a draw needs primitives.
    shop: Option<Arc<GeometryWorkers>>,
    /// List allocations for reuse.
    spare: Lists,
    /// Draws with new primitives that ran at once since the last batch was taken.
    at_once: u32,
}

/// A queued draw.
struct Waiting {
    at: Place,
    call: DrawCall,
    what: What,
}

/// What to do with a queued draw.
enum What {
    /// Draw it when its primitives are made.
    Made(DrawState),
    /// Draw these primitives.
    Known(DrawState, Arc<Primitives>),
    /// Only record its targets: it changes none of their pixels.
    OutOfSight(Arc<Targets>),
}

/// Lists of a worker queue.
#[derive(Default)]
struct Lists {
    orders: VecDeque<Box<GeometryTask>>,
    made: Vec<GeometryResult>,
}

/// Queue from which worker threads take geometry tasks.
struct GeometryWorkers {
    orders: Mutex<VecDeque<Box<GeometryTask>>>,
    made: Mutex<Vec<GeometryResult>>,
    /// Snapshot of memory for the draws, present until all tasks are done.
    memory: RwLock<Option<Memory>>,
    /// Set when no more tasks are added.
    is_closed: AtomicBool,
}

/// Geometry work of one draw.
struct GeometryTask {
    /// Index of the draw in the queue.
    number: usize,
    stages: VertexStages,
    primitive: Arc<PrimitiveState>,
    /// Budget limit of the task.
    budget: Budget,
    /// Whether to measure times.
    is_timed: bool,
}

/// Result of a geometry task.
struct GeometryResult {
    order: Box<GeometryTask>,
    /// The vertices and primitives, or the panic that ended the task.
    result: Result<Result<Parts, Stop>, Box<dyn Any + Send>>,
}

/// Vertices and primitives of a draw.
struct Parts {
    shaded: Shaded,
    assembled: Option<Assembled>,
    /// Time for vertices and for primitives.
    milliseconds: [f64; 2],
}

impl GeometryQueue {
    /// Starts a new batch.
    pub(super) fn begin(&mut self) {
        self.at_once = 0;
    }

    /// Returns whether the draw of the packet at `address` is in the queue.
    pub(super) fn has(&self, address: u32) -> bool {
        self.draws.iter().any(|draw| draw.at.address == address)
    }

    /// Returns whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }
}

/// Queues a draw if that is worthwhile and has no visible effect. Otherwise returns its stages. Its
/// primitives may be known.
pub(super) fn enqueue_geometry(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) -> Option<VertexStages> {
    let may_wait = gpu.pipeline.resolves != Resolves::AtOnce
        && call.pass == Pass::Gmem
        && gpu.fidelity.is_none()
        && gpu.pipeline.watch.is_none()
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let what = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if gpu.pipeline.unmade.is_empty() => return Some(stages),
        Some(known) => What::Known(state.clone(), known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(gpu) => return Some(stages),
        None => {
            order(gpu, stages, state);
            What::Made(state.clone())
        }
    };
    wait(gpu, call, what);
    None
}

/// Records the targets of a draw that changes no pixel, in stream order.
pub(super) fn out_of_sight(gpu: &mut Gpu, call: &DrawCall, targets: Arc<Targets>) {
    match gpu.pipeline.unmade.is_empty() {
        true => note_written(gpu, call, &targets, &targets.surfaces),
        false => wait(gpu, call, What::OutOfSight(targets)),
    }
}

/// Returns whether a draw without primitives is one of the first since the last batch.
fn is_one_of_few(gpu: &mut Gpu) -> bool {
    let at_once = &mut gpu.pipeline.unmade.at_once;
    *at_once += 1;
    *at_once <= AT_ONCE && gpu.pipeline.resolves == Resolves::Late
}

/// Adds a geometry task for a draw.
fn order(gpu: &mut Gpu, stages: VertexStages, state: &DrawState) {
    let order = Box::new(GeometryTask {
        number: gpu.pipeline.unmade.draws.len(),
        stages,
        primitive: state.primitive.clone(),
        budget: gpu.budget.part_beside(MOST as u64),
        is_timed: !gpu.pipeline.untimed,
    });
    if gpu.pipeline.unmade.shop.is_none() {
        helper::is_needed(gpu);
    }
    let GeometryQueue { shop, spare, .. } = &mut gpu.pipeline.unmade;
    let shop = shop.get_or_insert_with(|| GeometryWorkers::open(gpu.mem.view(), std::mem::take(spare)));
    locked(&shop.orders).push_back(order);
}

fn wait(gpu: &mut Gpu, call: &DrawCall, what: What) {
    gpu.pipeline.unmade.draws.push(Waiting { at: gpu.at, call: call.clone(), what });
    if gpu.pipeline.unmade.draws.len() >= MOST {
        finish(gpu);
    }
}

/// Completes all geometry tasks and continues all queued draws in order.
pub(super) fn finish(gpu: &mut Gpu) {
    if gpu.pipeline.unmade.is_empty() {
        return;
    }
    let mut draws = std::mem::take(&mut gpu.pipeline.unmade.draws);
    let Some(shop) = gpu.pipeline.unmade.shop.take() else { return };
    let mut spare = shop.close();
    let mut made = spare.made.drain(..);
    let here = gpu.at;
    for Waiting { at, call, what } in draws.drain(..) {
        gpu.at = at;
        let result = match what {
            _ if gpu.budget.cut().is_some() => break,
            What::Made(state) => go_on(gpu, &call, state, made.next().expect("it was ordered")),
            What::Known(state, known) => draw_first_layer(gpu, &call, state, known),
            What::OutOfSight(targets) => {
                note_written(gpu, &call, &targets, &targets.surfaces);
                Ok(())
            }
        };
        record_end(gpu, result);
    }
    gpu.at = here;
    drop(made);
    (gpu.pipeline.unmade.draws, gpu.pipeline.unmade.spare) = (draws, spare);
}

/// Continues a draw with the result of its geometry task.
fn go_on(gpu: &mut Gpu, call: &DrawCall, state: DrawState, made: GeometryResult) -> Result<(), Stop> {
    let GeometryResult { order, result } = made;
    let GeometryTask { stages, budget, .. } = *order;
    let parts = result.unwrap_or_else(|panic| resume_unwind(panic));
    let primitives = match parts {
        Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] })
            if budget.cut().is_none() =>
        {
            gpu.budget.rejoin(&budget);
            let Shaded { vertices, .. } = record_vertices(gpu, shaded, Stopwatch(None));
            gpu.pipeline.stats.ms.vertex += of_vertices;
            gpu.pipeline.stats.ms.primitive += of_primitives;
            let made =
                assembled.map(|assembled| record_primitives(gpu, call, assembled, vertices, Vec::new()));
            keep_if_known(gpu, call, stages, &state, made)
        }
        // The task's share of the budget was too small. Run it again with the whole budget.
        _ => primitives(gpu, call, stages, &state, None)?,
    };
    match primitives {
        Some(primitives) => draw_first_layer(gpu, call, state, primitives),
        None => Ok(()),
    }
}

impl GeometryWorkers {
    /// Creates a worker queue and starts a worker on it.
    fn open(memory: Memory, Lists { orders, made }: Lists) -> Arc<Self> {
        let shop = Arc::new(Self {
            orders: Mutex::new(orders),
            made: Mutex::new(made),
            memory: RwLock::new(Some(memory)),
            is_closed: AtomicBool::new(false),
        });
        if rayon::current_num_threads() > 1 {
            let theirs = shop.clone();
            parallel::spawn(move || theirs.help());
        }
        shop
    }

    /// Runs tasks until the queue is closed and empty.
    fn help(&self) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = &*memory else { return };
        let is_over = || self.is_closed.load(Ordering::Acquire) && locked(&self.orders).is_empty();
        let next = || Some(if self.make_next(memory) { Yield::Executed } else { Yield::Idle });
        work_until(is_over, next);
    }

    /// Runs the next task. Returns false if there is none.
    fn make_next(&self, memory: &Memory) -> bool {
        let Some(order) = locked(&self.orders).pop_front() else { return false };
        let made = order.make(memory);
        locked(&self.made).push(made);
        true
    }

    /// Runs all remaining tasks and releases the memory snapshot. Returns the results in order, and an empty
    /// task list.
    fn close(&self) -> Lists {
        self.is_closed.store(true, Ordering::Release);
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        while memory.as_ref().is_some_and(|memory| self.make_next(memory)) {}
        drop(memory);
        // Spin: a worker that still runs a task finishes it sooner than a sleeping thread wakes.
        let mut memory = loop {
            match self.memory.try_write() {
                Ok(memory) => break memory,
                Err(TryLockError::Poisoned(memory)) => break memory.into_inner(),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        };
        *memory = None;
        let mut made = std::mem::take(&mut *locked(&self.made));
        made.sort_unstable_by_key(|made| made.order.number);
        Lists { orders: std::mem::take(&mut *locked(&self.orders)), made }
    }
}

impl GeometryTask {
    fn make(mut self: Box<Self>, memory: &Memory) -> GeometryResult {
        let make = || {
            let start = Stopwatch::if_asked(self.is_timed);
            let mut shaded = self.stages.vertex.shade_small(memory, &mut self.budget)?;
            let of_vertices = start.milliseconds();
            let list = std::mem::take(&mut shaded.list);
            let assembled = setup::assemble_in(&self.primitive, &mut shaded.vertices, &list, &[], MAX_HELD);
            let milliseconds = [of_vertices, start.milliseconds() - of_vertices];
            Ok(Parts { shaded, assembled, milliseconds })
        };
        let result = catch_unwind(AssertUnwindSafe(make));
        GeometryResult { order: self, result }
    }
}
