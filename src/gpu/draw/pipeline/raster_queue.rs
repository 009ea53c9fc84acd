//! Batches of fragments that worker threads draw while the command processor continues.
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
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::draw::fs::batch::{Finished, Sorted};
use crate::draw::sp::launch::Threads;
use crate::gpu::Gpu;
use crate::machine::Gmem;
use crate::memory::{Lent, Memory};
use crate::parallel::{self, help_until, locked, poll_for_jobs};

use super::schedule::Schedule;
use super::{flush, record_finished, take_batch};

/// Number of draws with known primitives that gives the command processor about as much work as the threads
/// that draw the batch. (glmark2's ideas has 400 in a tile and is as quick with 384 as with 1024; those with
/// a few are quicker with all tiles in one go, band by band.)
const MANY_DRAWS: u64 = 512;

/// Draws with known primitives that cost the command processor as much as one draw with new primitives.
pub(super) const KNOWN_DRAWS_PER_NEW: u64 = 3;

/// Maximum number of batches in the queue.
const MOST: usize = 16;

/// How long the waiting thread sleeps before it polls again.
const NAP: Duration = Duration::from_micros(50);

/// Batches that worker threads draw, one after the other.
#[derive(Default)]
pub(super) struct SubmittedBatches {
    line: Arc<Mutex<RasterQueue>>,
    /// Receivers for the results of batches not yet waited for, in order.
    begun: VecDeque<Receiver<Done>>,
    /// First address and length of the buffers lent to batches.
    writes: Vec<(u32, u32)>,
}

/// Queue of batches that have not started.
#[derive(Default)]
struct RasterQueue {
    waiting: VecDeque<Task>,
    /// Working state of the batches, present while none of them runs.
    context: Option<RasterContext>,
    /// Set when no more batches are added until all are done.
    is_closed: bool,
}

/// Working state passed from one batch to the next.
struct RasterContext {
    gmem: Gmem,
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

impl SubmittedBatches {
    /// Returns whether all batches have been waited for.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Returns whether no batch runs now. Only timing may depend on this, never results.
    fn is_at_rest(&self) -> bool {
        self.is_empty() || locked(&self.line).context.is_some()
    }

    /// Returns whether a lent buffer meets the condition `is_one`.
    pub(super) fn writes(&self, is_one: impl Fn((u32, u32)) -> bool) -> bool {
        self.writes.iter().copied().any(is_one)
    }

    /// Queues `task` behind the earlier batches.
    fn add(&mut self, task: Task, done: Receiver<Done>) {
        let mut line = locked(&self.line);
        match line.context.take() {
            Some(context) => task.begin(self.line.clone(), context),
            None => line.waiting.push_back(task),
        }
        drop(line);
        self.begun.push_back(done);
    }
}

impl Task {
    fn begin(self, line: Arc<Mutex<RasterQueue>>, context: RasterContext) {
        parallel::spawn(move || self.run(&line, context));
    }

    /// Draws the batch, then starts the next one.
    fn run(self, line: &Arc<Mutex<RasterQueue>>, mut context: RasterContext) {
        let start = Instant::now();
        let Self { batch, memory, lent, sender, issuer } = self;
        context.lent.extend(lent);
        context.budget = context.budget.fork();
        let shade = || batch.shade(&mut context.gmem, &memory, &mut context.lent, &mut context.budget);
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
        if !is_closed {
            poll_for_jobs(issuer);
        }
    }
}

/// Submits the queued draws to worker threads if drawing them may take as long as the command processor took
/// to find them.
pub(super) fn try_submit(gpu: &mut Gpu) {
    let is_worth_it = match gpu.pipeline.schedule {
        Schedule::Reference | Schedule::InOrder => false,
        Schedule::Deferred => gpu.pipeline.pending_work >= MANY_DRAWS && gpu.pipeline.batch.is_large(),
        Schedule::Stress => true,
    };
    if is_worth_it {
        submit_batch(gpu);
    }
}

/// Ends a tile. The first tile is submitted at once, so that workers draw it while the command processor
/// reads the later tiles. The later tiles are drawn together.
pub(super) fn try_submit_tile(gpu: &mut Gpu) {
    let is_first = gpu.pipeline.schedule == Schedule::Deferred && gpu.pipeline.submitted.is_empty();
    match is_first && gpu.pipeline.batch.is_large() {
        true => submit_batch(gpu),
        false => try_submit(gpu),
    }
}

/// Waits for all submitted batches. If the queued draws are many, submits them first, so that there is only
/// one wait.
pub(super) fn finish_submitted(gpu: &mut Gpu) {
    if !gpu.pipeline.submitted.is_empty() && gpu.pipeline.batch.is_large() {
        submit_batch(gpu);
    }
    drain_submitted(gpu);
}

/// Empties the batch because it cannot take the next draw. Submits the draws to worker threads, or draws them
/// at once if they are few or resolves are immediate.
pub(super) fn make_room(gpu: &mut Gpu) {
    match gpu.pipeline.schedule {
        Schedule::Deferred if gpu.pipeline.batch.is_large() => submit_batch(gpu),
        Schedule::Stress => submit_batch(gpu),
        Schedule::Reference | Schedule::InOrder | Schedule::Deferred => flush(gpu),
    }
}

/// Submits the queued draws to worker threads, which start after the earlier batches.
fn submit_batch(gpu: &mut Gpu) {
    if gpu.pipeline.batch.is_empty() {
        return;
    }
    if gpu.pipeline.submitted.begun.len() >= MOST {
        wait_for_first(gpu);
    }
    if gpu.pipeline.submitted.is_empty() {
        let gmem = std::mem::take(&mut gpu.gmem);
        let context = RasterContext { gmem, lent: Vec::new(), budget: gpu.budget.fork() };
        locked(&gpu.pipeline.submitted.line).context = Some(context);
    }
    // Use only this thread if a batch runs; the other threads are busy with it.
    let threads = if gpu.pipeline.submitted.is_at_rest() { Threads::All } else { Threads::This };
    let batch = take_batch(gpu).sorted(threads);
    let lent = batch.copies().lend(&mut gpu.mem);
    let writes = &mut gpu.pipeline.submitted.writes;
    for buffer in batch.copies().buffers() {
        // Many tiles copy to the same buffer, and every draw searches this list.
        if !writes.contains(&buffer) {
            writes.push(buffer);
        }
    }
    let (sender, done) = sync_channel(1);
    let issuer = rayon::current_thread_index();
    let task = Task { batch, memory: gpu.mem.view(), lent, sender, issuer };
    gpu.pipeline.submitted.add(task, done);
}

/// Waits for all submitted batches and helps to draw them.
pub(super) fn drain_submitted(gpu: &mut Gpu) {
    if !gpu.pipeline.submitted.is_empty() {
        locked(&gpu.pipeline.submitted.line).is_closed = true;
    }
    while !gpu.pipeline.submitted.is_empty() {
        wait_for_first(gpu);
    }
}

/// Waits for the first submitted batch and helps to draw it. After the last one, tile memory and buffers
/// return to the `Gpu`.
fn wait_for_first(gpu: &mut Gpu) {
    let Some(done) = gpu.pipeline.submitted.begun.pop_front() else { return };
    let done = wait(&done);
    if gpu.pipeline.submitted.is_empty() {
        let submitted = std::mem::take(&mut gpu.pipeline.submitted);
        let context = locked(&submitted.line).context.take();
        match context {
            Some(RasterContext { gmem, lent, .. }) => {
                gpu.gmem = gmem;
                lent.into_iter().for_each(|lent| gpu.mem.give_back(lent));
            }
            // No batch ran, because the thread pool has ended.
            None => gpu.gmem.resize(gpu.chip.gmem_bytes()),
        }
    }
    let Some(Done { budget, finished, milliseconds }) = done else { return };
    gpu.budget.join(&budget);
    gpu.pipeline.stats.ms.fragment += milliseconds;
    match finished {
        Ok(finished) => record_finished(gpu, finished),
        Err(panic) => resume_unwind(panic),
    }
}

/// Waits for a result. Returns `None` if the sender is gone.
fn wait(done: &Receiver<Done>) -> Option<Done> {
    loop {
        let mut come = done.try_recv();
        help_until(|| {
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
                if let Ok(done) = done.recv_timeout(NAP) {
                    return Some(done);
                }
            }
        }
    }
}
