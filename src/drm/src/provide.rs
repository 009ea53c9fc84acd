//! Allocates the memory of new buffers in advance.
//!
//! The system allocates a page at its first write, and that takes several times as long as the program's
//! write itself. New buffers are soon written, most of them completely. So a thread touches their pages
//! while the program continues. On a real device the kernel also allocates the whole buffer at once.
//!
//! The thread knows only addresses and owns no buffers, so it never delays the release of a buffer. If a
//! buffer is released while its place gets memory, the next buffer there finds this memory, filled with
//! zeros.

use std::collections::VecDeque;
use std::sync::PoisonError;

use crate::arena;
use crate::device::{Device, has_one_core};
use crate::ffi::threads;
use crate::gem::Bo;
use crate::mappings;

/// Least size of a buffer for which the thread is woken, in bytes.
const LEAST: u64 = 64 << 10;

/// Greatest size of such a buffer, in bytes. A larger one may not be needed completely.
const MOST: u64 = 16 << 20;

/// Total size of all buffers that get memory in advance, in bytes. It limits programs that allocate and
/// release buffers repeatedly.
const IN_ALL: u64 = 256 << 20;

/// Bytes that are allocated at a time. Other mappings of the process have to wait for that.
const AT_ONCE: u64 = 64 << 10;

/// Places that wait for memory.
#[derive(Default)]
pub struct Orders {
    /// Address and size in bytes.
    places: VecDeque<(u32, u64)>,
    /// Total size of all places so far, in bytes.
    bytes: u64,
    /// Whether the thread has started.
    started: bool,
}

impl Orders {
    /// Whether a buffer of `size` bytes gets memory in advance. If so, its size is counted.
    fn take(&mut self, size: u64) -> bool {
        let taken = (LEAST..=MOST).contains(&size) && self.bytes + size <= IN_ALL;
        self.bytes += if taken { size } else { 0 };
        taken
    }
}

impl Device {
    /// Orders memory for the new buffer `bo`, if its size is suitable.
    pub fn provide(&'static self, bo: &Bo) {
        let mut state = self.state();
        let orders = &mut state.orders;
        if !orders.take(bo.size) {
            return;
        }
        orders.started = orders.started || self.start_providing();
        if !orders.started {
            // The program works without the thread. No further attempt is made to start it.
            orders.bytes = IN_ALL;
            return;
        }
        orders.places.push_back((bo.address, bo.size));
        drop(state);
        self.ordered.notify_one();
    }

    /// Starts the thread, unless there is only one core.
    fn start_providing(&'static self) -> bool {
        !has_one_core() && threads::spawn("a4emu-pages", || self.provide_all()).is_ok()
    }

    /// The main loop of the thread, which never ends.
    fn provide_all(&self) {
        let Ok(region) = mappings::region() else { return };
        let mut state = self.state();
        loop {
            state = match state.orders.places.pop_front() {
                Some((address, size)) => {
                    drop(state);
                    for offset in (0..size).step_by(AT_ONCE as usize) {
                        let start = u64::from(address) + offset;
                        if arena::lock(&self.arena).contents(address).is_some() {
                            region.provide(start..start + AT_ONCE.min(size - offset));
                        }
                    }
                    self.state()
                }
                None => self.ordered.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_small_nor_huge_buffers_nor_ever_more_of_them() {
        let mut orders = Orders::default();
        assert_eq!(
            [LEAST - 1, LEAST, MOST, MOST + 1].map(|size| orders.take(size)),
            [false, true, true, false]
        );
        let taken = std::iter::repeat_with(|| orders.take(MOST)).take_while(|taken| *taken).count() as u64;
        assert_eq!(taken, IN_ALL / MOST - 2);
        assert!(orders.take(LEAST) && orders.bytes <= IN_ALL);
    }
}
