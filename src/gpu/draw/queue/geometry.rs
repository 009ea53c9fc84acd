//! Vertices and primitives of small draws, made by worker threads while the command processor continues.
//!
//! A frame with hundreds of small changed draws would leave all other threads idle until the first tile is
//! complete. So the command processor only queues the state of such a draw. Free worker threads fetch and
//! shade its vertices and set up its primitives, from a snapshot of memory.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::thread;

use rayon::Yield;

use crate::budget::Budget;
use crate::draw::gras::setup::{self, Assembled, PrimitiveState};
use crate::draw::stats::Stopwatch;
use crate::draw::stop::{MAX_HELD, Stop};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::memory::Memory;
#[cfg(test)]
use crate::parallel::permuted;
use crate::parallel::{self, locked, work_until};
use crate::work_trace::{Activity, begin};

/// Lists of a worker queue.
#[derive(Default)]
pub struct Lists {
    tasks: VecDeque<Box<GeometryTask>>,
    /// Results, in the order of the tasks.
    pub made: Vec<GeometryResult>,
}

/// Queue from which worker threads take geometry tasks.
pub struct GeometryWorkers {
    tasks: Mutex<VecDeque<Box<GeometryTask>>>,
    made: Mutex<Vec<GeometryResult>>,
    /// Snapshot of memory for the draws, present until all tasks are done.
    memory: RwLock<Option<Memory>>,
    /// Set when no more tasks are added.
    is_closed: AtomicBool,
}

/// Geometry work of one draw.
pub struct GeometryTask {
    /// Index of the draw among those that wait. Results are in this order.
    pub number: usize,
    /// State of its vertex shader.
    pub stages: VertexStages,
    /// State of its set-up.
    pub primitive: Arc<PrimitiveState>,
    /// Budget limit of the task.
    pub budget: Budget,
    /// Whether to measure times.
    pub is_timed: bool,
}

/// Result of a geometry task.
pub struct GeometryResult {
    /// The task, with what it spent.
    pub task: Box<GeometryTask>,
    /// The vertices and primitives, or the panic that ended the task.
    pub result: Result<Result<Parts, Stop>, Box<dyn Any + Send>>,
}

/// Vertices and primitives of a draw.
pub struct Parts {
    /// The vertices.
    pub shaded: Shaded,
    /// The primitives, or `None` if their type is not supported.
    pub assembled: Option<Assembled>,
    /// Time for vertices and for primitives.
    pub milliseconds: [f64; 2],
}

impl GeometryWorkers {
    /// Creates a worker queue and starts a worker on it.
    pub fn open(memory: Memory, Lists { tasks, made }: Lists) -> Arc<Self> {
        let workers = Arc::new(Self {
            tasks: Mutex::new(tasks),
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

    /// Adds a task.
    pub fn add(&self, task: GeometryTask) {
        locked(&self.tasks).push_back(Box::new(task));
    }

    /// Runs tasks until the queue is closed and empty.
    fn help(&self) {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let Some(memory) = &*memory else { return };
        let is_over = || self.is_closed.load(Ordering::Acquire) && locked(&self.tasks).is_empty();
        let next = || match self.run_next(memory) {
            #[cfg(test)]
            is_run if permuted::is_on() => (is_run && permuted::goes_on()).then_some(Yield::Executed),
            true => Some(Yield::Executed),
            false => Some(Yield::Idle),
        };
        work_until(Activity::NoJobs, is_over, next);
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
    pub fn close(&self) -> Lists {
        self.is_closed.store(true, Ordering::Release);
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        let active = begin(Activity::Vertices);
        while memory.as_ref().is_some_and(|memory| self.run_next(memory)) {}
        drop(active);
        drop(memory);
        // Spin: a worker that still runs a task finishes it sooner than a sleeping thread wakes.
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
        let mut made = std::mem::take(&mut *locked(&self.made));
        made.sort_unstable_by_key(|made| made.task.number);
        Lists { tasks: std::mem::take(&mut *locked(&self.tasks)), made }
    }
}

impl GeometryTask {
    fn run(mut self: Box<Self>, memory: &Memory) -> GeometryResult {
        let make = || {
            let active = begin(Activity::Vertices);
            let start = Stopwatch::start_if(self.is_timed);
            let mut shaded = self.stages.vertex.shade_small(memory, &mut self.budget)?;
            let of_vertices = start.milliseconds();
            drop(active);
            let _active = begin(Activity::Primitives);
            let list = std::mem::take(&mut shaded.list);
            let assembled = setup::assemble_in(&self.primitive, &mut shaded.vertices, &list, &[], MAX_HELD);
            let milliseconds = [of_vertices, start.milliseconds() - of_vertices];
            Ok(Parts { shaded, assembled, milliseconds })
        };
        let result = catch_unwind(AssertUnwindSafe(make));
        GeometryResult { task: self, result }
    }
}
