//! Signals, held back while a thread of the program is in our code.
//!
//! A handler that runs between two of our instructions can call `fork`, `close` or an ioctl.
//! If the interrupted thread held a lock of ours, or was inside the allocator on our behalf,
//! that call would wait for ever. So nobody takes a lock of ours with signals let through;
//! what does not take locks (see [`crate::known`]) needs no such care.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals that tell of a mistake in the very instruction: holding them back would kill the
/// process in place of calling the program's handler.
const OWN_FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// Signals of this thread are held back until this is dropped.
pub struct Held {
    before: libc::sigset_t,
}

/// Holds signals back.
pub fn hold() -> Held {
    let mut all = MaybeUninit::uninit();
    // SAFETY: `sigfillset` fills the set that it is given.
    let mut all = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        all.assume_init()
    };
    for signal in OWN_FAULTS {
        // SAFETY: a set that was filled.
        unsafe { libc::sigdelset(&mut all, signal) };
    }
    Held { before: swap(&all) }
}

impl Held {
    /// Does `work` with signals let through as before: for waits, with no lock held.
    pub fn let_through<R>(&self, work: impl FnOnce() -> R) -> R {
        let held = swap(&self.before);
        let result = work();
        swap(&held);
        result
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        swap(&self.before);
    }
}

/// Makes `mask` the thread's; gives the one before.
fn swap(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are the caller's; with these arguments the call cannot fail, and it
    // fills `before`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, ptr::from_ref(mask), before.as_mut_ptr());
        before.assume_init()
    }
}
