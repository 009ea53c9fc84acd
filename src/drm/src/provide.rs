//! Memory for new buffers before somebody needs it.
//!
//! The system gives a page its memory when it is first written, which takes it several times as long as the program then
//! takes to write it; and new buffers are written soon, most of them whole. So a thread goes through them while the
//! program does something else. On a real device the kernel gives a buffer all of its memory as well.
//!
//! It knows places and has no buffers: who closes one is the last to have it all the same. Where one goes in the very moment
//! in which its place gets memory, that is there, and zeros, for the next.

use std::collections::VecDeque;
use std::sync::PoisonError;

use a4emu_gpu::ambient;

use crate::arena;
use crate::device::{Device, has_one_core};
use crate::gem::Bo;
use crate::mappings;

/// Bytes from which on a buffer is worth waking a thread.
const LEAST: u64 = 64 << 10;

/// Bytes of the largest: of more than that perhaps not all is needed.
const MOST: u64 = 16 << 20;

/// Bytes of all buffers that get memory this way: a program that makes and closes them gets no more.
const IN_ALL: u64 = 256 << 20;

/// Bytes that are asked for at a time: whoever maps something has to wait for it.
const AT_ONCE: u64 = 64 << 10;

/// Places that are to get memory.
#[derive(Default)]
pub struct Orders {
    /// Address and bytes.
    places: VecDeque<(u32, u64)>,
    /// Bytes of all that ever were to.
    bytes: u64,
    /// The thread is there.
    started: bool,
}

impl Orders {
    /// Whether a buffer of so many bytes is worth it, which is counted then.
    fn take(&mut self, size: u64) -> bool {
        let taken = (LEAST..=MOST).contains(&size) && self.bytes + size <= IN_ALL;
        self.bytes += if taken { size } else { 0 };
        taken
    }
}

impl Device {
    /// Has memory made for `bo`, which is new, if that is worth it.
    pub fn provide(&'static self, bo: &Bo) {
        let mut state = self.state();
        let orders = &mut state.orders;
        if !orders.take(bo.size) {
            return;
        }
        orders.started = orders.started || self.start_providing();
        if !orders.started {
            // The program can go without, and nobody is to ask again.
            orders.bytes = IN_ALL;
            return;
        }
        orders.places.push_back((bo.address, bo.size));
        drop(state);
        self.ordered.notify_one();
    }

    /// Starts the thread, if there is a core for it.
    fn start_providing(&'static self) -> bool {
        !has_one_core() && ambient::spawn("a4emu-pages", || self.provide_all()).is_ok()
    }

    /// The thread, for ever.
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
