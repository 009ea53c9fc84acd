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

use super::observation::Observation;
use super::record::{record_end, record_primitives, record_vertices};
use super::schedule::Schedule;
use super::{Stopwatch, cache_or_report, draw_first_layer, note_written, primitives};

/// Draws per batch that run at once before queueing starts. Batches with few draws gain nothing from it.
const AT_ONCE: u32 = 16;

/// Maximum number of queued draws.
const MOST: usize = 256;

/// Queued draws: those without primitives, and draws with known primitives after them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    draws: Vec<QueuedDraw>,
    /// Worker queue, if a draw needs primitives.
    workers: Option<Arc<GeometryWorkers>>,
    /// List allocations for reuse.
    spare: Lists,
    /// Draws with new primitives that ran at once since the last batch was taken.
    at_once: u32,
}

/// A queued draw.
struct QueuedDraw {
    at: Place,
    call: DrawCall,
    action: QueuedAction,
}

/// What to do with a queued draw.
enum QueuedAction {
    /// Draw it when its primitives are made.
    Made(DrawState),
    /// Draw these primitives.
    Known(DrawState, Arc<Primitives>),
    /// Only record its targets: it changes none of their pixels.
    Culled(Arc<Targets>),
}

/// Lists of a worker queue.
#[derive(Default)]
struct Lists {
    tasks: VecDeque<Box<GeometryTask>>,
    made: Vec<GeometryResult>,
}

/// Queue from which worker threads take geometry tasks.
struct GeometryWorkers {
    tasks: Mutex<VecDeque<Box<GeometryTask>>>,
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
    task: Box<GeometryTask>,
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
    let may_wait = Observation::allows_deferral(gpu)
        && call.pass == Pass::Gmem
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let action = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if gpu.pipeline.geometry.is_empty() => return Some(stages),
        Some(known) => QueuedAction::Known(state.clone(), known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(gpu) => return Some(stages),
        None => {
            enqueue_task(gpu, stages, state);
            QueuedAction::Made(state.clone())
        }
    };
    enqueue(gpu, call, action);
    None
}

/// Records the targets of a draw that changes no pixel, in stream order.
pub(super) fn enqueue_culled(gpu: &mut Gpu, call: &DrawCall, targets: Arc<Targets>) {
    match gpu.pipeline.geometry.is_empty() {
        true => note_written(gpu, call, &targets, &targets.surfaces),
        false => enqueue(gpu, call, QueuedAction::Culled(targets)),
    }
}

/// Returns whether a draw without primitives is one of the first since the last batch.
fn is_one_of_few(gpu: &mut Gpu) -> bool {
    let at_once = &mut gpu.pipeline.geometry.at_once;
    *at_once += 1;
    *at_once <= AT_ONCE && gpu.pipeline.schedule == Schedule::Deferred
}

/// Adds a geometry task for a draw.
fn enqueue_task(gpu: &mut Gpu, stages: VertexStages, state: &DrawState) {
    let task = Box::new(GeometryTask {
        number: gpu.pipeline.geometry.draws.len(),
        stages,
        primitive: state.primitive.clone(),
        budget: gpu.budget.fork_part(MOST as u64),
        is_timed: !gpu.pipeline.untimed,
    });
    let GeometryQueue { workers, spare, .. } = &mut gpu.pipeline.geometry;
    let workers = workers.get_or_insert_with(|| GeometryWorkers::open(gpu.mem.view(), std::mem::take(spare)));
    locked(&workers.tasks).push_back(task);
}

fn enqueue(gpu: &mut Gpu, call: &DrawCall, action: QueuedAction) {
    gpu.pipeline.geometry.draws.push(QueuedDraw { at: gpu.at, call: call.clone(), action });
    if gpu.pipeline.geometry.draws.len() >= MOST {
        finish(gpu);
    }
}

/// Completes all geometry tasks and continues all queued draws in order.
pub(super) fn finish(gpu: &mut Gpu) {
    if gpu.pipeline.geometry.is_empty() {
        return;
    }
    let mut draws = std::mem::take(&mut gpu.pipeline.geometry.draws);
    let Some(workers) = gpu.pipeline.geometry.workers.take() else { return };
    let mut spare = workers.close();
    let mut made = spare.made.drain(..);
    let here = gpu.at;
    for QueuedDraw { at, call, action } in draws.drain(..) {
        gpu.at = at;
        let result = match action {
            _ if gpu.budget.cut().is_some() => break,
            QueuedAction::Made(state) => {
                continue_draw(gpu, &call, state, made.next().expect("it was ordered"))
            }
            QueuedAction::Known(state, known) => draw_first_layer(gpu, &call, state, known),
            QueuedAction::Culled(targets) => {
                note_written(gpu, &call, &targets, &targets.surfaces);
                Ok(())
            }
        };
        record_end(gpu, result);
    }
    gpu.at = here;
    drop(made);
    (gpu.pipeline.geometry.draws, gpu.pipeline.geometry.spare) = (draws, spare);
}

/// Continues a draw with the result of its geometry task.
fn continue_draw(gpu: &mut Gpu, call: &DrawCall, state: DrawState, made: GeometryResult) -> Result<(), Stop> {
    let GeometryResult { task, result } = made;
    let GeometryTask { stages, budget, .. } = *task;
    let parts = result.unwrap_or_else(|panic| resume_unwind(panic));
    let primitives = match parts {
        Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] })
            if budget.cut().is_none() =>
        {
            gpu.budget.join(&budget);
            let Shaded { vertices, .. } = record_vertices(gpu, shaded, Stopwatch(None));
            gpu.pipeline.stats.ms.vertex += of_vertices;
            gpu.pipeline.stats.ms.primitive += of_primitives;
            let made =
                assembled.map(|assembled| record_primitives(gpu, call, assembled, vertices, Vec::new()));
            cache_or_report(gpu, call, stages, &state, made)
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
    fn open(memory: Memory, Lists { tasks, made }: Lists) -> Arc<Self> {
        let workers = Arc::new(Self {
            tasks: Mutex::new(tasks),
            made: Mutex::new(made),
            memory: RwLock::new(Some(memory)),
            is_closed: AtomicBool::new(false),
        });
        if rayon::current_num_threads() > 1 {
            let shared = workers.clone();
            parallel::spawn(move || shared.help());
        }
        workers
    }

    /// Runs tasks until the queue is closed and empty.
    fn help(&self) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = &*memory else { return };
        let is_over = || self.is_closed.load(Ordering::Acquire) && locked(&self.tasks).is_empty();
        let next = || Some(if self.run_next(memory) { Yield::Executed } else { Yield::Idle });
        work_until(is_over, next);
    }

    /// Runs the next task. Returns false if there is none.
    fn run_next(&self, memory: &Memory) -> bool {
        let Some(task) = locked(&self.tasks).pop_front() else { return false };
        let made = task.run(memory);
        locked(&self.made).push(made);
        true
    }

    /// Runs all remaining tasks and releases the memory snapshot. Returns the results in order, and an empty
    /// task list.
    fn close(&self) -> Lists {
        self.is_closed.store(true, Ordering::Release);
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        while memory.as_ref().is_some_and(|memory| self.run_next(memory)) {}
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
        made.sort_unstable_by_key(|made| made.task.number);
        Lists { tasks: std::mem::take(&mut *locked(&self.tasks)), made }
    }
}

impl GeometryTask {
    fn run(mut self: Box<Self>, memory: &Memory) -> GeometryResult {
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
        GeometryResult { task: self, result }
    }
}
