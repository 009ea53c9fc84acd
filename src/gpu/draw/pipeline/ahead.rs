//! Fragments that others draw while the command processor goes on with what follows.
//!
//! What they need is theirs for that time: tile memory and the buffers that copies go to, which nobody else sees, and
//! a view of the rest of memory, which nobody writes. So whoever looks at one of them, or writes memory, waits for
//! them first, as for draws that have not begun. Several batches are ahead: each begins when the one before it ends,
//! without the command processor. Where they begin and where they are waited for depends on the stream alone, and so
//! does what they may cost.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::draw::fs::batch::{Finished, Sorted};
use crate::draw::sp::launch::Threads;
use crate::gpu::{Gmem, Gpu};
use crate::memory::{Lent, Memory};
use crate::parallel::{self, help_until, locked, stay_awake};

use super::late::Resolves;
use super::{flush, helper, record_finished, take_batch};

/// Draws of known primitives after which the command processor may have had as much to do as whoever draws what waits.
/// (glmark2's ideas has 400 in a tile and is as quick with 384 as with 1024; those with a few are quicker with all tiles
/// in one go, band by band.)
const MANY_DRAWS: u64 = 512;

/// So many of them take it as long as one whose primitives it makes.
pub(super) const KNOWN_PER_NEW: u64 = 3;

/// Batches that are ahead at most.
const MOST: usize = 16;

/// How long he sleeps then, before he looks again.
const NAP: Duration = Duration::from_micros(50);

/// Batches that others draw, one after the other.
#[derive(Default)]
pub(super) struct Ahead {
    line: Arc<Mutex<RasterQueue>>,
    /// What becomes of those that have not been waited for, in their order.
    begun: VecDeque<Receiver<Done>>,
    /// First address and length of the buffers that are lent.
    writes: Vec<(u32, u32)>,
}

/// Who is next.
#[derive(Default)]
struct RasterQueue {
    waiting: VecDeque<Task>,
    /// What they work with, while nobody does.
    bench: Option<RasterContext>,
    /// Nothing is added before all are done.
    is_closed: bool,
}

/// What goes from one batch to the next.
struct RasterContext {
    gmem: Gmem,
    lent: Vec<Lent>,
    /// What is left for them, who work beside the command processor.
    budget: Budget,
}

/// A batch to be drawn.
struct Task {
    batch: Sorted,
    memory: Memory,
    /// Buffers that are lent from now on.
    lent: Vec<Lent>,
    sender: SyncSender<Done>,
    /// The thread that finds what there is to draw.
    finder: Option<usize>,
}

/// What became of it.
struct Done {
    /// What it cost.
    budget: Budget,
    /// What became of its draws, or the panic that ended them.
    finished: Result<Vec<Finished>, Box<dyn Any + Send>>,
    milliseconds: f64,
}

impl Ahead {
    /// Whether all have been waited for.
    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// Whether nobody draws any of them now. What comes of anything does not depend on that.
    fn is_at_rest(&self) -> bool {
        self.is_empty() || locked(&self.line).bench.is_some()
    }

    /// Whether a buffer that they have is one of those.
    pub(super) fn writes(&self, is_one: impl Fn((u32, u32)) -> bool) -> bool {
        self.writes.iter().copied().any(is_one)
    }

    /// Has `task` done behind those before it.
    fn add(&mut self, task: Task, done: Receiver<Done>) {
        let mut line = locked(&self.line);
        match line.bench.take() {
            Some(bench) => task.begin(self.line.clone(), bench),
            None => line.waiting.push_back(task),
        }
        drop(line);
        self.begun.push_back(done);
    }
}

impl Task {
    fn begin(self, line: Arc<Mutex<RasterQueue>>, bench: RasterContext) {
        parallel::spawn(move || self.run(&line, bench));
    }

    /// Draws the batch; then the next one begins.
    fn run(self, line: &Arc<Mutex<RasterQueue>>, mut bench: RasterContext) {
        let start = Instant::now();
        let Self { batch, memory, lent, sender, finder } = self;
        bench.lent.extend(lent);
        bench.budget = bench.budget.beside();
        let shade = || batch.shade(&mut bench.gmem, &memory, &mut bench.lent, &mut bench.budget);
        let finished = catch_unwind(AssertUnwindSafe(shade));
        drop(memory);
        let budget = bench.budget.clone();
        let mut here = locked(line);
        match here.waiting.pop_front() {
            Some(next) => next.begin(line.clone(), bench),
            None => here.bench = Some(bench),
        }
        let is_closed = here.is_closed;
        drop(here);
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        // Who does not wait for it any more is gone with the chip.
        let _ = sender.send(Done { budget, finished, milliseconds });
        // Nobody has to wait for that.
        drop(batch);
        if !is_closed {
            stay_awake(finder);
        }
    }
}

/// Others begin with what waits, if they may need as long for it as the command processor has needed to find it.
pub(super) fn try_submit(gpu: &mut Gpu) {
    let is_worth_it = match gpu.pipeline.resolves {
        Resolves::AtOnce => false,
        Resolves::Late => gpu.pipeline.found >= MANY_DRAWS && gpu.pipeline.batch.is_large(),
        Resolves::Ahead => true,
    };
    if is_worth_it {
        submit_batch(gpu);
    }
}

/// A tile is complete: if it is the first, others begin with it while the command processor finds what is in those
/// behind it, which are drawn in one go.
pub(super) fn try_submit_tile(gpu: &mut Gpu) {
    let is_first = gpu.pipeline.resolves == Resolves::Late && gpu.pipeline.ahead.is_empty();
    match is_first && gpu.pipeline.batch.is_large() {
        true => submit_batch(gpu),
        false => try_submit(gpu),
    }
}

/// Whatever is ahead is done; what waits goes behind it, if it is much, so that nobody has to wait in between.
pub(super) fn finish_ahead(gpu: &mut Gpu) {
    if !gpu.pipeline.ahead.is_empty() && gpu.pipeline.batch.is_large() {
        submit_batch(gpu);
    }
    drain_ahead(gpu);
}

/// What comes next cannot wait with the rest: others begin with that, or it is done at once, if it is little or
/// somebody may look at memory in between.
pub(super) fn make_room(gpu: &mut Gpu) {
    match gpu.pipeline.resolves {
        Resolves::Late if gpu.pipeline.batch.is_large() => submit_batch(gpu),
        Resolves::Ahead => submit_batch(gpu),
        Resolves::AtOnce | Resolves::Late => flush(gpu),
    }
}

/// Others begin with what waits as soon as they are done with what they have.
fn submit_batch(gpu: &mut Gpu) {
    if gpu.pipeline.batch.is_empty() {
        return;
    }
    if gpu.pipeline.ahead.begun.len() >= MOST {
        wait_for_first(gpu);
    }
    if gpu.pipeline.ahead.is_empty() {
        let gmem = std::mem::take(&mut gpu.gmem);
        let bench = RasterContext { gmem, lent: Vec::new(), budget: gpu.budget.beside() };
        locked(&gpu.pipeline.ahead.line).bench = Some(bench);
    }
    // Whoever draws is not waited for.
    let threads = if gpu.pipeline.ahead.is_at_rest() { Threads::All } else { Threads::This };
    let batch = take_batch(gpu).sorted(threads);
    let lent = batch.copies().lend(&mut gpu.mem);
    let writes = &mut gpu.pipeline.ahead.writes;
    for buffer in batch.copies().buffers() {
        // Tile after tile goes to the same, and every draw asks.
        if !writes.contains(&buffer) {
            writes.push(buffer);
        }
    }
    let (sender, done) = sync_channel(1);
    let finder = rayon::current_thread_index();
    let task = Task { batch, memory: gpu.mem.view(), lent, sender, finder };
    helper::is_needed(gpu);
    gpu.pipeline.ahead.add(task, done);
}

/// Waits for all batches that are ahead, and helps with them.
pub(super) fn drain_ahead(gpu: &mut Gpu) {
    if !gpu.pipeline.ahead.is_empty() {
        locked(&gpu.pipeline.ahead.line).is_closed = true;
    }
    while !gpu.pipeline.ahead.is_empty() {
        wait_for_first(gpu);
    }
}

/// Waits for the first batch that is ahead, and helps with it. Behind the last, all is back where it was.
fn wait_for_first(gpu: &mut Gpu) {
    let Some(done) = gpu.pipeline.ahead.begun.pop_front() else { return };
    let done = wait(&done);
    if gpu.pipeline.ahead.is_empty() {
        let ahead = std::mem::take(&mut gpu.pipeline.ahead);
        let bench = locked(&ahead.line).bench.take();
        match bench {
            Some(RasterContext { gmem, lent, .. }) => {
                gpu.gmem = gmem;
                lent.into_iter().for_each(|lent| gpu.mem.give_back(lent));
            }
            // They never ran: the threads have come to an end.
            None => gpu.gmem.resize(gpu.chip.gmem_bytes()),
        }
    }
    let Some(Done { budget, finished, milliseconds }) = done else { return };
    gpu.budget.rejoin(&budget);
    gpu.pipeline.stats.ms.fragment += milliseconds;
    match finished {
        Ok(finished) => record_finished(gpu, finished),
        Err(panic) => resume_unwind(panic),
    }
}

/// What comes, or nothing if nobody can send it any more.
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
            // This thread is none of those that draw.
            Err(TryRecvError::Empty) if rayon::current_thread_index().is_none() => return done.recv().ok(),
            Err(TryRecvError::Empty) => {
                if let Ok(done) = done.recv_timeout(NAP) {
                    return Some(done);
                }
            }
        }
    }
}
