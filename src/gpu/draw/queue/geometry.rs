//! Vertices and primitives of small draws, made by worker threads while the command processor continues.
//!
//! A frame with hundreds of small changed draws would leave all other threads idle until the first tile is
//! complete. So the command processor only queues the state of such a draw. Free worker threads fetch and
//! shade its vertices and set up its primitives, from a snapshot of memory.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, TryLockError};
use std::thread;

use rayon::Yield;

use crate::draw::record::DrawRecord;
use crate::memory::Memory;
#[cfg(test)]
use crate::parallel::permuted;
use crate::parallel::{self, locked, work_until};
use crate::work_trace::{Activity, begin};

/// A draw with its number among those that wait.
type Numbered = (usize, DrawRecord);

/// The lists of a queue.
#[derive(Default)]
pub struct Lists {
    pending: VecDeque<Numbered>,
    /// Draws with primitives, in any order.
    pub made: Vec<Numbered>,
}

/// A queue of draws, for which worker threads make primitives.
pub struct GeometryWorkers {
    pending: Mutex<VecDeque<Numbered>>,
    made: Mutex<Vec<Numbered>>,
    /// Snapshot of memory for the draws, present until all primitives are made.
    memory: RwLock<Option<Memory>>,
    /// Set when no more draws are added.
    is_closed: AtomicBool,
}

impl GeometryWorkers {
    /// Creates a queue and starts a worker on it. The lists are empty.
    pub fn open(memory: Memory, Lists { pending, made }: Lists) -> Arc<Self> {
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
    pub fn add(&self, number: usize, draw: DrawRecord) {
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
    pub fn close(&self) -> Lists {
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
