//! Runs work in a separate thread without the interpreter's lock. The calling thread waits and checks for
//! signals, so that ctrl-C ends the work.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use a4emu_gpu::ambient;
use a4emu_gpu::budget::Interrupt;
use a4emu_support::options::Threads;
use pyo3::prelude::*;

use crate::error;

/// Interval at which signals are checked.
const TICK: Duration = Duration::from_millis(50);

/// Largest number of events that wait to be received.
const WAITING: usize = 256;

/// Work in a thread, with the events that it sends.
pub struct Work<E, R> {
    /// The receiver of events. `None` after the work has ended or must end.
    events: Option<Mutex<Receiver<E>>>,
    thread: Option<JoinHandle<R>>,
    interrupt: Interrupt,
}

impl<E: Send + 'static, R: Send + 'static> Work<E, R> {
    /// Starts `work`, whose runs must use `interrupt`. It must end when an event can no longer be sent.
    pub fn start(
        interrupt: Interrupt,
        threads: Threads,
        work: impl FnOnce(SyncSender<E>) -> R + Send + 'static,
    ) -> PyResult<Self> {
        let (sender, events) = sync_channel(WAITING);
        let thread = ambient::spawn("a4emu", move || threads.run(|| work(sender)))?;
        Ok(Self { events: Some(Mutex::new(events)), thread: Some(thread), interrupt })
    }

    /// The next event; `None` after the last one.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<E>> {
        while let Some(events) = &mut self.events {
            let events = events.get_mut().unwrap_or_else(PoisonError::into_inner);
            match py.detach(move || events.recv_timeout(TICK)) {
                Ok(event) => return Ok(Some(event)),
                Err(RecvTimeoutError::Disconnected) => self.events = None,
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(signal) = py.check_signals() {
                        self.end(py);
                        return Err(signal);
                    }
                }
            }
        }
        Ok(None)
    }

    /// The result of the work; `None` if it was already taken. Call it after the last event.
    pub fn finish(&mut self, py: Python<'_>) -> PyResult<Option<R>> {
        let Some(thread) = self.thread.take() else { return Ok(None) };
        self.events = None;
        match py.detach(|| thread.join()) {
            Ok(result) => Ok(Some(result)),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Err(error::internal(py, text.unwrap_or("it panicked")))
            }
        }
    }

    /// Ends the work early, and waits for its thread.
    pub fn end(&mut self, py: Python<'_>) {
        self.interrupt.raise();
        self.events = None;
        // The result is not needed.
        let _ = self.finish(py);
    }
}

impl<E, R> Drop for Work<E, R> {
    fn drop(&mut self) {
        self.interrupt.raise();
    }
}

/// Runs `work`, which sends no events, and returns its result.
pub fn wait<R: Send + 'static>(
    py: Python<'_>,
    interrupt: Interrupt,
    threads: Threads,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let mut work: Work<(), R> = Work::start(interrupt, threads, move |_events| work())?;
    while work.next(py)?.is_some() {}
    work.finish(py)?.ok_or_else(|| error::internal(py, "it has no result"))
}
