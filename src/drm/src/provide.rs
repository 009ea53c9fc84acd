//! Allocates the memory of new buffers in advance.
//!
//! The system allocates a page at its first write, and that takes several times as long as the program's
//! write itself. New buffers are soon written, most of them completely. So a thread touches their pages
//! while the program continues. On a real device the kernel also allocates the whole buffer at once.
//!
//! The thread knows only addresses and owns no buffers, so it never delays the release of a buffer. If a
//! buffer is released while its place gets memory, the next buffer there finds this memory, filled with
//! zeros.

use std::sync::PoisonError;

use crate::arena;
use crate::bo::Bo;
use crate::device::{Device, has_one_core};
use crate::ffi::threads;
use crate::mappings;

/// Bytes that are allocated at a time. Other mappings of the process have to wait for that.
const AT_ONCE: u64 = 64 << 10;

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
            orders.end();
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
