//! Fragments that others draw while the command processor goes on with what follows.
//!
//! What they need is theirs for that time: tile memory and the buffers that copies go to, which nobody else sees, and
//! a view of the rest of memory, which nobody writes. So whoever looks at one of them, or writes memory, waits for
//! them first, as for draws that have not begun. One batch is ahead at most. Where it begins and where it is waited
//! for depends on the stream alone, and so does what it may cost.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use rayon::Yield;

use crate::budget::Budget;
use crate::draw::fs::batch::Finished;
use crate::gpu::Gpu;
use crate::memory::Lent;

use super::late::Resolves;
use super::{flush, record_finished, take_batch};

/// Draws after which the command processor may have had as much to do as whoever draws what waits. (glmark2's ideas
/// has 400 in a tile; those with a few are quicker with all tiles in one go, band by band.)
const MANY_DRAWS: u64 = 256;

/// How long somebody waits who finds nothing to help with, before he looks again.
const NAP: Duration = Duration::from_micros(50);

/// A batch that is being drawn.
pub(super) struct Ahead {
    /// First address and length of the buffers that it writes.
    writes: Vec<(u32, u32)>,
    done: Receiver<Done>,
}

/// What it gives back.
struct Done {
    gmem: Vec<u8>,
    lent: Vec<Lent>,
    budget: Budget,
    /// What became of its draws, or the panic that ended them.
    finished: Result<Vec<Finished>, Box<dyn Any + Send>>,
    milliseconds: f64,
}

impl Ahead {
    /// Whether a buffer that it writes is one of those.
    pub(super) fn writes(&self, is_one: impl Fn((u32, u32)) -> bool) -> bool {
        self.writes.iter().copied().any(is_one)
    }
}

/// Others begin with what waits, if they may need as long for it as the command processor has needed to find it.
pub(super) fn offer(gpu: &mut Gpu) {
    let draws = gpu.pipeline.stats.draws - gpu.pipeline.waiting_since;
    let is_worth_it = match gpu.pipeline.resolves {
        Resolves::AtOnce => false,
        Resolves::Late => draws >= MANY_DRAWS && gpu.pipeline.batch.is_large(),
        Resolves::Ahead => true,
    };
    if is_worth_it {
        hand_over(gpu);
    }
}

/// What comes next cannot wait with the rest: others begin with that, or it is done at once, if it is little or
/// somebody may look at memory in between.
pub(super) fn make_room(gpu: &mut Gpu) {
    match gpu.pipeline.resolves {
        Resolves::Late if gpu.pipeline.batch.is_large() => hand_over(gpu),
        Resolves::Ahead => hand_over(gpu),
        Resolves::AtOnce | Resolves::Late => flush(gpu),
    }
}

/// Others begin with what waits.
fn hand_over(gpu: &mut Gpu) {
    catch_up(gpu);
    if gpu.pipeline.batch.is_empty() {
        return;
    }
    let batch = take_batch(gpu);
    let writes = batch.copies().buffers().collect();
    let mut lent = batch.copies().lend(&mut gpu.mem);
    let memory = gpu.mem.view();
    let mut gmem = std::mem::take(&mut gpu.gmem);
    let mut budget = gpu.budget.beside();
    let (sender, done) = sync_channel(1);
    rayon::spawn(move || {
        let start = Instant::now();
        let shade = || batch.shade(&mut gmem, &memory, &mut lent, &mut budget);
        let finished = catch_unwind(AssertUnwindSafe(shade));
        drop((batch, memory));
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        // Who does not wait for it any more is gone with the chip.
        let _ = sender.send(Done { gmem, lent, budget, finished, milliseconds });
    });
    gpu.pipeline.ahead = Some(Ahead { writes, done });
}

/// Waits for the batch that is ahead, and helps with it.
pub(super) fn catch_up(gpu: &mut Gpu) {
    let Some(ahead) = gpu.pipeline.ahead.take() else { return };
    let Some(Done { gmem, lent, budget, finished, milliseconds }) = wait(&ahead.done) else {
        // It never ran: the threads have come to an end.
        return gpu.gmem.resize(gpu.chip.gmem_bytes(), 0);
    };
    gpu.gmem = gmem;
    lent.into_iter().for_each(|lent| gpu.mem.give_back(lent));
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
        match rayon::yield_now() {
            Some(Yield::Executed) => {
                if let Ok(done) = done.try_recv() {
                    return Some(done);
                }
            }
            Some(Yield::Idle) => match done.recv_timeout(NAP) {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            },
            // This thread is none of those that draw.
            None => return done.recv().ok(),
        }
    }
}
