//! The GPU thread. Submits wait in a queue ([`crate::ring`]) and run one at a time.
//!
//! The thread is separate from the program like the hardware. It receives no signals of the process, so
//! handlers never interrupt the emulator. It has its own table of descriptors, so the program cannot see,
//! close or replace its files. [`a4emu_gpu::ambient`] lists everything else that threads inherit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::device::{Device, has_one_core};
use crate::engine::{Engine, Outcome};
use crate::ffi::{own_table, threads};
use crate::file::Object;
use crate::kgsl::file::Reset;
use crate::ring::{Awaited, Job};
use crate::share::ShareTask;

/// Time that the GPU thread polls for the next submit before it sleeps. A wake-up takes a good part of that
/// time.
const POLL_TIME: Duration = Duration::from_micros(300);

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
            threads::keep_memory();
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
        let poll_time = if has_one_core() { Duration::ZERO } else { POLL_TIME };
        loop {
            let (number, mut job) = self.next_job(&mut engine, poll_time);
            let run = catch_unwind(AssertUnwindSafe(|| engine.run(self, &mut job)));
            let outcome = run.unwrap_or_else(|panic| engine.broke(self, panic.as_ref()));
            // Before the end is announced, so that a program which then closes a buffer is its last owner.
            job.owners.clear();
            self.complete(number, &job, &outcome);
            self.announce_progress();
        }
    }

    /// Polls until more work is announced than `asked`, or until `time` is over.
    fn poll(&self, asked: u32, time: Duration) {
        let start = Instant::now();
        while self.asked.load(Ordering::Acquire) == asked && start.elapsed() < time {
            (0..64).for_each(|_| std::hint::spin_loop());
            // The submitting thread may have no other core.
            thread::yield_now();
        }
    }

    /// Waits for the next submit. Share tasks run until it comes.
    fn next_job(&self, engine: &mut Engine, poll_time: Duration) -> (u64, Job) {
        let asked = self.asked.load(Ordering::Acquire);
        let mut poll_time = Some(poll_time);
        let mut state = self.state();
        loop {
            if let Some((task, tell)) = state.ring.share_tasks.pop_front() {
                drop(state);
                let _gone_meanwhile = tell.send(engine.run_share_task(self, &task));
                // Before the lock: dropping the last owner of a buffer releases its memory.
                drop(task);
                state = self.state();
                continue;
            }
            if let Some(next) = state.ring.jobs.pop_front() {
                return next;
            }
            state = match poll_time.take() {
                Some(time) => {
                    drop(state);
                    self.poll(asked, time);
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
        if outcome.failed && job.awaited != Awaited::No && state.ring.released != number {
            state.ring.failed.insert(number, Errno::IO);
        }
        state.ring.hangs += u64::from(outcome.hung);
        // Another thread may have closed the file or queue during the run.
        match state.objects.get_mut(&job.file) {
            Some(Object::File(file)) => {
                _ = file.queues.get(job.queue).map(|queue| queue.end(job.fence, outcome.hung.into()));
            }
            Some(Object::Kgsl(file)) => {
                file.end(job.queue, job.fence, if outcome.hung { Reset::Guilty } else { Reset::None });
            }
            _ => {}
        }
    }

    /// Lets the GPU thread execute a share task between submits. Returns the path at which the file can be
    /// opened.
    ///
    /// # Errors
    /// The call fails like [`SharedFiles::run`](crate::share::SharedFiles::run), or if the thread cannot be started.
    pub fn run_share_task(&'static self, task: ShareTask) -> Result<String, Errno> {
        self.start()?;
        let (tell, told) = mpsc::channel();
        self.state().ring.share_tasks.push_back((task, tell));
        self.ask();
        told.recv().unwrap_or(Err(Errno::IO))
    }
}
