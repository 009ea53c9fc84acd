//! The GPU thread. Submits wait in a queue, like on a ring, and run one at a time.
//!
//! The thread is separate from the program like the hardware. It receives no signals of the process, so
//! handlers never interrupt the emulator. It has its own table of descriptors, so the program cannot see,
//! close or replace its files. [`a4emu_gpu::ambient`] lists everything else that threads inherit.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::{Call, Device, has_one_core};
use crate::engine::{Engine, Job, Outcome};
use crate::ffi::process::keep_memory;
use crate::ffi::{own_table, threads};
use crate::share::Order;

/// Time that the GPU thread polls for the next submit before it sleeps. A wake-up takes a good part of that
/// time.
const LOOKOUT: Duration = Duration::from_micros(300);

/// Number of accepted submits that have not finished, for who may take no lock.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// Whether all queued submits have finished. Makes no system call.
pub fn is_idle() -> bool {
    UNFINISHED.load(Ordering::Acquire) == 0
}

/// Waits until all queued submits have finished, at most `time`. Makes no system call.
pub fn spin_until_idle(time: Duration) {
    let start = Instant::now();
    while !is_idle() && start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The queued submits, and the results of finished ones.
#[derive(Default)]
pub struct Ring {
    jobs: VecDeque<(u64, Job)>,
    /// Other tasks of the GPU thread. They run before the next submit.
    pub errands: VecDeque<Order>,
    /// Whether the thread has started.
    started: bool,
    /// Number of accepted submits of all files. Each submit has its number, from 1.
    submitted: u64,
    /// Number of finished submits.
    pub completed: u64,
    /// Errors of finished submits whose ioctl has not returned them yet.
    failed: BTreeMap<u64, Errno>,
    /// Number of submits that were cut off, which the kernel calls hangs.
    pub hangs: u64,
}

impl Ring {
    /// Queues a submit. Returns its number.
    pub fn push(&mut self, job: Job) -> u64 {
        self.submitted += 1;
        job.mark_used(self.submitted);
        self.jobs.push_back((self.submitted, job));
        self.count();
        self.submitted
    }

    fn count(&self) {
        UNFINISHED.store(self.submitted - self.completed, Ordering::Release);
    }

    /// Called in a forked child, which has no GPU thread: submits of the parent count as finished. Returns
    /// the jobs, which have to be dropped after the locks are released.
    pub fn part_from_parent(&mut self) -> VecDeque<(u64, Job)> {
        let submitted = self.submitted;
        let lost = std::mem::take(self);
        (self.submitted, self.completed) = (submitted, submitted);
        self.count();
        lost.jobs
    }
}

impl Device {
    /// Starts the thread, unless it is running.
    ///
    /// # Errors
    /// The call fails with `EAGAIN` if the process may not have more threads, and with `ENOSYS` if the
    /// kernel does not support separate tables of descriptors.
    pub fn start(&'static self) -> Result<(), Errno> {
        let mut state = self.state();
        if state.ring.started {
            return Ok(());
        }
        let (ready, started) = mpsc::channel();
        let run = move || {
            keep_memory();
            let engine = own_table().and_then(|()| Engine::new(self.chip));
            if engine.is_ok() {
                threads::watch_main_thread();
            }
            let _ = ready.send(engine.as_ref().map(|_| ()).map_err(|errno| *errno));
            if let Ok(engine) = engine {
                self.serve(engine);
            }
        };
        threads::spawn("a4emu-gpu", run).map_err(|_| Errno::AGAIN)?;
        started.recv().unwrap_or(Err(Errno::AGAIN))?;
        state.ring.started = true;
        Ok(())
    }

    /// The main loop of the thread: runs queued submits and never ends.
    fn serve(&self, mut engine: Engine) -> ! {
        let lookout = if has_one_core() { Duration::ZERO } else { LOOKOUT };
        loop {
            let (number, mut job) = self.next_job(&mut engine, lookout);
            let run = catch_unwind(AssertUnwindSafe(|| engine.run(self, &job)));
            let outcome = run.unwrap_or_else(|panic| engine.broke(self, panic.as_ref()));
            // Before the end is announced, so that a program which then closes a buffer is its last owner.
            job.owners.clear();
            self.complete(number, &job, &outcome);
            self.announce_progress();
        }
    }

    /// Announces that work is queued for the GPU.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Release);
        self.work.notify_one();
    }

    /// Polls until more work is announced than `asked`, or until `time` is over.
    fn look_out(&self, asked: u32, time: Duration) {
        let start = Instant::now();
        while self.asked.load(Ordering::Acquire) == asked && start.elapsed() < time {
            (0..64).for_each(|_| std::hint::spin_loop());
            // The submitting thread may have no other core.
            thread::yield_now();
        }
    }

    /// Waits for the next submit. Errands run until it comes.
    fn next_job(&self, engine: &mut Engine, lookout: Duration) -> (u64, Job) {
        let asked = self.asked.load(Ordering::Acquire);
        let mut lookout = Some(lookout);
        let mut state = self.state();
        loop {
            if let Some((errand, tell)) = state.ring.errands.pop_front() {
                drop(state);
                let _gone_meanwhile = tell.send(engine.run_errand(self, &errand));
                // Before the lock: dropping the last owner of a buffer releases its memory.
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
        state.ring.count();
        if outcome.failed && job.awaited {
            state.ring.failed.insert(number, Errno::IO);
        }
        state.ring.hangs += u64::from(outcome.hung);
        // Another thread may have closed the file or queue during the run.
        if let Ok(queue) = state.file(job.file).and_then(|file| file.queues.get(job.queue)) {
            queue.end(job.fence, outcome.hung.into());
        }
    }
}

impl Call {
    /// Waits until submit `number` has finished. Returns false if it has not at the deadline.
    pub fn has_run(&self, number: u64, deadline: Deadline) -> bool {
        self.wait(deadline, |state| (state.ring.completed >= number).then_some(())).is_some()
    }

    /// Waits until submit `number` has finished.
    ///
    /// # Errors
    /// The call fails with `EIO` if the submit failed in strict mode.
    pub fn completed(&self, number: u64) -> Result<(), Errno> {
        let done = self.wait(Deadline::NEVER, |state| {
            (state.ring.completed >= number).then(|| state.ring.failed.remove(&number))
        });
        done.flatten().map_or(Ok(()), Err)
    }
}
