//! The GPU's own thread. Submits wait for it in a queue, as on a ring, and run one at a time.
//!
//! It is apart from the program like the hardware is: it takes none of the process's signals,
//! so that handlers never interrupt the emulator, and it has a table of descriptors of its own,
//! so that the program cannot see, close or replace the files that it writes. Of everything else that
//! threads get from those that make them [`ambient`] has the list.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use a4emu_gpu::ambient;
use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::{Call, Device, has_one_core};
use crate::engine::{Engine, Job, Outcome};
use crate::ffi::own_table;
use crate::ffi::process::keep_memory;
use crate::share::Order;

/// How long the GPU's thread looks out for the next submit before it sleeps: to be woken takes a good part of that.
const LOOKOUT: Duration = Duration::from_micros(300);

/// Submits that wait, and what became of others.
#[derive(Default)]
pub struct Ring {
    jobs: VecDeque<(u64, Job)>,
    /// What else the GPU's thread is asked to do; it comes before the next submit.
    pub errands: VecDeque<Order>,
    /// The thread is there.
    started: bool,
    /// Submits accepted so far, of all files: each has its number from 1.
    submitted: u64,
    /// Submits that ran to their end.
    pub completed: u64,
    /// Of those, the ones whose ioctl does not know yet that they failed.
    failed: BTreeMap<u64, Errno>,
    /// Submits that were cut off, as the kernel counts hangs.
    pub hangs: u64,
}

impl Ring {
    /// Queues a submit; gives its number.
    pub fn push(&mut self, job: Job) -> u64 {
        self.submitted += 1;
        job.mark_used(self.submitted);
        self.jobs.push_back((self.submitted, job));
        self.submitted
    }

    /// Whether all that was queued has run.
    pub fn is_idle(&self) -> bool {
        self.completed == self.submitted
    }

    /// In a forked child, which has no such thread: what ran in the parent is over here. Gives
    /// what is to be dropped when the locks are free.
    pub fn part_from_parent(&mut self) -> VecDeque<(u64, Job)> {
        let submitted = self.submitted;
        let lost = std::mem::take(self);
        (self.submitted, self.completed) = (submitted, submitted);
        lost.jobs
    }
}

impl Device {
    /// Starts the thread, if it is not there.
    ///
    /// # Errors
    /// `EAGAIN` if the process may not have more threads; `ENOSYS` if the kernel does not let
    /// threads have descriptors of their own.
    pub fn start(&'static self) -> Result<(), Errno> {
        let mut state = self.state();
        if state.ring.started {
            return Ok(());
        }
        let (ready, started) = mpsc::channel();
        let run = move || {
            keep_memory();
            let engine = own_table().and_then(|()| Engine::new(self.chip));
            let _ = ready.send(engine.as_ref().map(|_| ()).map_err(|errno| *errno));
            if let Ok(engine) = engine {
                self.serve(engine);
            }
        };
        ambient::spawn("a4emu-gpu", run).map_err(|_| Errno::AGAIN)?;
        started.recv().unwrap_or(Err(Errno::AGAIN))?;
        state.ring.started = true;
        Ok(())
    }

    /// The thread: runs what is queued, for ever.
    fn serve(&self, mut engine: Engine) -> ! {
        let lookout = if has_one_core() { Duration::ZERO } else { LOOKOUT };
        loop {
            let (number, mut job) = self.next_job(&mut engine, lookout);
            let run = catch_unwind(AssertUnwindSafe(|| engine.run(self, &job)));
            let outcome = run.unwrap_or_else(|panic| engine.broke(self, panic.as_ref()));
            // Before anybody hears of the end: who then closes a buffer is the last to have it.
            job.owners.clear();
            self.complete(number, &job, &outcome);
            self.announce_progress();
        }
    }

    /// Tells the GPU that something is queued for it.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Release);
        self.work.notify_one();
    }

    /// Returns as soon as the GPU is asked for more than it was at `asked`, or `time` is over.
    fn look_out(&self, asked: u32, time: Duration) {
        let start = Instant::now();
        while self.asked.load(Ordering::Acquire) == asked && start.elapsed() < time {
            (0..64).for_each(|_| std::hint::spin_loop());
            // The program that is to ask may have no other core.
            thread::yield_now();
        }
    }

    /// Waits for the next submit, and does errands until it comes.
    fn next_job(&self, engine: &mut Engine, lookout: Duration) -> (u64, Job) {
        let asked = self.asked.load(Ordering::Acquire);
        let mut lookout = Some(lookout);
        let mut state = self.state();
        loop {
            if let Some((errand, tell)) = state.ring.errands.pop_front() {
                drop(state);
                let _gone_meanwhile = tell.send(engine.run_errand(self, &errand));
                // Before the lock: the last owner of a buffer gives its memory back.
                drop(errand);
                state = self.state();
                continue;
            }
            if let Some(next) = state.ring.jobs.pop_front() {
                return next;
            }
            state = match lookout.take() {
                Some(time) => {
                    drop(state);
                    self.look_out(asked, time);
                    self.state()
                }
                None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn complete(&self, number: u64, job: &Job, outcome: &Outcome) {
        let mut state = self.state();
        state.ring.completed = number;
        if outcome.failed && job.awaited {
            state.ring.failed.insert(number, Errno::IO);
        }
        state.ring.hangs += u64::from(outcome.hung);
        // The file or the queue can be gone: another thread closed it while we ran.
        if let Ok(queue) = state.file(job.file).and_then(|file| file.queues.get(job.queue)) {
            queue.end(job.fence, outcome.hung.into());
        }
    }
}

impl Call {
    /// Waits until submit `number` has run; false if it has not at the deadline.
    pub fn has_run(&self, number: u64, deadline: Deadline) -> bool {
        self.wait(deadline, |state| (state.ring.completed >= number).then_some(())).is_some()
    }

    /// Waits until submit `number` has run.
    ///
    /// # Errors
    /// `EIO` in strict mode, if it met something bad.
    pub fn completed(&self, number: u64) -> Result<(), Errno> {
        let done = self.wait(Deadline::NEVER, |state| {
            (state.ring.completed >= number).then(|| state.ring.failed.remove(&number))
        });
        done.flatten().map_or(Ok(()), Err)
    }
}
