//! What libc calls around forks and at exit.

use std::cell::RefCell;
use std::sync::Once;

use crate::fork::{self, Held};
use crate::{device, known, tree};

/// Bytes from which on an allocation has pages of its own.
const LARGE_LIST: libc::c_int = 64 << 20;
/// Bytes that stay with the process when they are freed.
const KEPT_MEMORY: libc::c_int = 256 << 20;

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

/// Has libc keep the memory that large lists leave when they are freed, up to [`KEPT_MEMORY`], for the next ones: a
/// frame of many vertices spends a third of its time on pages that the kernel clears otherwise.
pub fn keep_memory() {
    for (parameter, bytes) in [(libc::M_MMAP_THRESHOLD, LARGE_LIST), (libc::M_TRIM_THRESHOLD, KEPT_MEMORY)] {
        // SAFETY: two numbers of the allocator's, which it may be told at any time; it keeps its own if it does not
        // like them.
        unsafe { libc::mallopt(parameter, bytes) };
    }
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
