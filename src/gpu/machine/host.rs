//! The program that shares memory with the GPU while a submit runs. A replay has none.

use std::time::{Duration, Instant};

use crate::limits::{HOST_PAUSE, HOST_POLL};

/// A program that may write memory that a packet waits for.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Called when such a wait begins.
    pub awaited: fn(),
    /// The time that the waits of this submit may still take, all together.
    pub patience: Duration,
}

impl Host {
    /// Waits until `done` is true, while the program runs. Returns false if the time is over.
    pub(crate) fn wait(&mut self, mut done: impl FnMut() -> bool) -> bool {
        (self.awaited)();
        let start = Instant::now();
        loop {
            let elapsed = start.elapsed();
            let is_done = done();
            if is_done || elapsed >= self.patience {
                self.patience = self.patience.saturating_sub(elapsed);
                return is_done;
            }
            if elapsed < HOST_POLL { std::thread::yield_now() } else { std::thread::sleep(HOST_PAUSE) }
        }
    }
}
