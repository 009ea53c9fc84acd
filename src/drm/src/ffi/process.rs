//! Callbacks of libc around forks and at exit.

use std::cell::{Cell, RefCell};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fork::{self, Held};
use crate::{device, known, node, tree};

thread_local! {
    /// The locks of the device, while this thread forks.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
    /// Whether this thread is in seccomp's strict mode.
    static STRICT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a thread has limited its system calls.
static CONFINED: AtomicBool = AtomicBool::new(false);

/// Records that the calling thread has limited its system calls with this mode of seccomp. The kernel ends a
/// thread in strict mode for most calls, and one with a filter for those that the filter names. At exit,
/// that would come before the C library writes what the program has printed.
#[cfg(not(test))]
pub(super) fn note_seccomp(mode: libc::c_uint) {
    CONFINED.store(true, Ordering::Release);
    STRICT.set(mode == libc::SECCOMP_MODE_STRICT);
}

/// Whether system calls of a thread may be forbidden.
pub fn is_confined() -> bool {
    CONFINED.load(Ordering::Acquire)
}

/// Registers the callbacks around forks.
pub fn watch_forks() {
    // SAFETY: the three functions are `extern "C"`, take nothing and stay for good (a
    // preloaded library is never unloaded).
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

/// Makes the allocator of this library do nothing at exit. It would return memory and read the clock, which
/// ends a thread in strict mode before the C library writes what the program has printed.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(super) fn end_without_the_allocator() {
    /// `mi_option_destroy_on_exit` of `mimalloc.h`; no constant of the crate.
    const DESTROY_ON_EXIT: libmimalloc_sys::mi_option_t = 22;
    /// Says that the allocator is not told of the end of the process.
    const NEVER: libc::c_long = 2;
    // SAFETY: sets an option, whose number is in range. No other thread of this library runs yet.
    unsafe { libmimalloc_sys::mi_option_set(DESTROY_ON_EXIT, NEVER) };
}

/// Registers the callback at exit, only at the first call.
pub fn at_exit() {
    static ASKED: Once = Once::new();
    // SAFETY: the function is `extern "C"`, takes nothing and stays for good.
    ASKED.call_once(|| _ = unsafe { libc::atexit(exiting) });
}

extern "C" fn exiting() {
    if STRICT.get() {
        // Such a thread may not even read the clock.
        return;
    }
    node::finish();
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
