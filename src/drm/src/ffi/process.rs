//! What libc calls around forks and at exit.

use std::cell::RefCell;
use std::sync::Once;

use crate::fork::{self, Held};
use crate::{device, known, tree};

thread_local! {
    /// The locks, while this thread forks.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
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
    let held = device::existing().filter(|_| known::is_owner()).map(fork::hold);
    let _ = HELD.try_with(|slot| *slot.borrow_mut() = held);
}

extern "C" fn parent() {
    let held = HELD.try_with(|slot| slot.borrow_mut().take());
    drop(held);
}

extern "C" fn child() {
    if let Ok(Some(held)) = HELD.try_with(|slot| slot.borrow_mut().take()) {
        held.part_from_parent();
    }
}
