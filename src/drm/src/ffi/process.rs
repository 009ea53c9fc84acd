//! What libc calls around forks and at exit.
//!
//! All our locks are taken around a fork, so that the child's copy of the state is whole
//! and none of its locks is held by a thread that the child does not have.

use std::cell::RefCell;
use std::sync::Once;

use crate::device::{self, Held};
use crate::tree;

thread_local! {
    /// The locks, while this thread forks.
    static HELD: RefCell<Option<Held<'static>>> = const { RefCell::new(None) };
}

/// Has libc tell us about forks from now on.
pub fn watch_forks() {
    // SAFETY: the three functions are `extern "C"`, take nothing and stay for good (a
    // preloaded library is never unloaded).
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// Has libc call us when the process exits; once, however often this is called.
pub fn at_exit() {
    static ASKED: Once = Once::new();
    // SAFETY: the function is `extern "C"`, takes nothing and stays for good.
    ASKED.call_once(|| _ = unsafe { libc::atexit(exiting) });
}

extern "C" fn exiting() {
    device::finish();
    tree::remove_own();
}

extern "C" fn prepare() {
    let held = device::existing().map(device::Device::hold);
    let _ = HELD.try_with(|slot| *slot.borrow_mut() = held);
}

extern "C" fn parent() {
    let _ = HELD.try_with(|slot| slot.borrow_mut().take());
}

extern "C" fn child() {
    let _ = HELD.try_with(|slot| {
        if let Some(mut held) = slot.borrow_mut().take() {
            held.part_from_parent();
        }
    });
}
