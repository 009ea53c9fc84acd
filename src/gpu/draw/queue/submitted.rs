//! Batches that worker threads draw while the command processor continues.
//!
//! A running batch owns tile memory and the destination buffers of its copies, and has a read-only view of
//! other memory. So the command processor waits for the batches before it reads that tile memory or those
//! buffers, or writes any memory. Several batches can be in the queue. Each starts when the previous one
//! ends, without the command processor. Start and wait points depend only on the command stream, and so does
//! the budget.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::budget::Budget;
use crate::limits::{SUBMITTED_BATCHES, WAIT_NAP};
use crate::machine::Gmem;
use crate::memory::{Lent, Memory};
use crate::parallel::{self, help_until, locked, poll_for_jobs};
use crate::work_trace::{Activity, begin};

use super::batch::{Batch, Finished};
use super::segments::Sorted;
use super::{KnownTiles, Store};

/// Batches that worker threads draw, one after the other.
#[derive(Default)]
pub(super) struct Submitted {
    line: Arc<Mutex<Line>>,
    /// Receivers for the results of batches not yet waited for, in order.
    begun: VecDeque<Receiver<Done>>,
    /// First address and length of the buffers lent to batches.
    writes: Vec<(u32, u32)>,
}

/// Batches that have not started.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Task>,
    /// Working state of the batches, present while none of them runs.
    context: Option<Context>,
    /// Set when no more batches are added until all are done.
    is_closed: bool,
}

/// Working state passed from one batch to the next.
struct Context {
    gmem: Gmem,
    known: KnownTiles,
    lent: Vec<Lent>,
    /// Remaining budget for batches, which run beside the command processor.
    budget: Budget,
}

/// A batch to draw.
struct Task {
    batch: Sorted,
    memory: Memory,
    /// Buffers lent to this batch and all later ones.
    lent: Vec<Lent>,
    sender: SyncSender<Done>,
    /// Index of the thread that issued the batch.
    issuer: Option<usize>,
}

/// Result of a batch.
struct Done {
    /// Budget that contains the cost of the batch.
    budget: Budget,
    /// Results of its draws, or the panic that ended them.
    finished: Result<Vec<Finished>, Box<dyn Any + Send>>,
    milliseconds: f64,
}

impl Submitted {
    /// Returns whether all batches have been waited for.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Returns whether a lent buffer meets the condition `is_one`.
    #[inline]
    pub(super) fn writes(&self, is_one: impl Fn((u32, u32)) -> bool) -> bool {
        self.writes.iter().copied().any(is_one)
    }

    /// Adds a batch behind the earlier ones. Waits for the first of them if there are too many.
    pub(super) fn add(&mut self, batch: Batch, store: &mut Store<'_>) {
        if self.begun.len() >= SUBMITTED_BATCHES {
            self.wait_for_first(store);
        }
        if self.is_empty() {
            let (gmem, known) = (std::mem::take(store.gmem), std::mem::take(store.known));
            let context = Context { gmem, known, lent: Vec::new(), budget: store.budget.fork() };
            locked(&self.line).context = Some(context);
        }
        let batch = Sorted::new(batch);
        let lent = batch.copies().lend(store.memory);
        for buffer in batch.copies().buffers() {
            // Many tiles copy to the same buffer, and every draw searches this list.
            if !self.writes.contains(&buffer) {
                self.writes.push(buffer);
            }
        }
        let (sender, done) = sync_channel(1);
        let issuer = rayon::current_thread_index();
        let task = Task { batch, memory: store.memory.view(), lent, sender, issuer };
        let mut line = locked(&self.line);
        match line.context.take() {
            Some(context) => task.begin(self.line.clone(), context),
            None => line.waiting.push_back(task),
        }
        drop(line);
        self.begun.push_back(done);
    }

    /// Waits for all batches and helps to draw them.
    pub(super) fn finish(&mut self, store: &mut Store<'_>) {
        if !self.is_empty() {
            locked(&self.line).is_closed = true;
        }
        while !self.is_empty() {
            self.wait_for_first(store);
        }
    }

    /// Waits for the first batch and helps to draw it. After the last one, tile memory and buffers return to the
    /// `store`.
    fn wait_for_first(&mut self, store: &mut Store<'_>) {
        let Some(done) = self.begun.pop_front() else { return };
        let done = wait(&done);
        if self.is_empty() {
            let ended = std::mem::take(self);
            let context = locked(&ended.line).context.take();
            match context {
                Some(Context { gmem, known, lent, .. }) => {
                    (*store.gmem, *store.known) = (gmem, known);
                    lent.into_iter().for_each(|lent| store.memory.give_back(lent));
                }
                // No batch ran, because the thread pool has ended.
                None => store.gmem.resize(store.gmem_bytes),
            }
        }
        let Some(Done { budget, finished, milliseconds }) = done else { return };
        store.budget.join(&budget);
        store.results.add(finished.unwrap_or_else(|panic| resume_unwind(panic)), milliseconds);
    }
}

impl Task {
    fn begin(self, line: Arc<Mutex<Line>>, context: Context) {
        parallel::spawn(move || self.run(&line, context));
    }

    /// Draws the batch, then starts the next one.
    fn run(self, line: &Arc<Mutex<Line>>, mut context: Context) {
        let active = begin(Activity::Batches);
        let start = Instant::now();
        let Self { batch, memory, lent, sender, issuer } = self;
        context.lent.extend(lent);
        context.budget = context.budget.fork();
        let shade = || {
            let Context { gmem, known, lent, budget } = &mut context;
            batch.shade((gmem, known), &memory, lent, budget)
        };
        let finished = catch_unwind(AssertUnwindSafe(shade));
        drop(memory);
        let budget = context.budget.clone();
        let mut here = locked(line);
        match here.waiting.pop_front() {
            Some(next) => next.begin(line.clone(), context),
            None => here.context = Some(context),
        }
        let is_closed = here.is_closed;
        drop(here);
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        // The receiver is missing only if the whole `Gpu` was dropped.
        let _ = sender.send(Done { budget, finished, milliseconds });
        // Drop the batch after sending, so that no thread waits for the drop.
        drop(batch);
        drop(active);
        if !is_closed {
            poll_for_jobs(issuer);
        }
    }
}

/// Waits for a result. Returns `None` if the sender is gone.
fn wait(done: &Receiver<Done>) -> Option<Done> {
    loop {
        let mut come = done.try_recv();
        help_until(Activity::WaitForDraws, || {
            if let Err(TryRecvError::Empty) = come {
                come = done.try_recv();
            }
            !matches!(come, Err(TryRecvError::Empty))
        });
        match come {
            Ok(done) => return Some(done),
            Err(TryRecvError::Disconnected) => return None,
            // This thread is not in the pool, so it cannot help.
            Err(TryRecvError::Empty) if rayon::current_thread_index().is_none() => return done.recv().ok(),
            Err(TryRecvError::Empty) => {
                let _wait = begin(Activity::WaitForDraws);
                if let Ok(done) = done.recv_timeout(WAIT_NAP) {
                    return Some(done);
                }
            }
        }
    }
}
