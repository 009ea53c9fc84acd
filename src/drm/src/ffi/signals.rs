//! Blocks signals while a thread of the program runs code of the device.
//!
//! A signal handler can call `fork`, `close` or an ioctl at any instruction. If the interrupted thread held
//! a lock of the device, or was in the allocator for it, that call would deadlock. So all locks of the
//! device are taken with signals blocked. Code that takes no locks (see [`crate::known`]) does not need
//! this.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals about a fault of the current instruction. If they were blocked, the process would be killed
/// without its handler being called.
const OWN_FAULTS: [libc::c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT];

/// Blocks the signals of this thread until it is dropped.
pub struct Held {
    before: libc::sigset_t,
}

/// Blocks the signals of this thread.
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
    /// Runs `work` with the old signal mask: for waits, with no lock held.
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

/// Signals that a write raises in its thread.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// Keeps the signals of the device's own writes from the program, until it is dropped.
pub struct Writes {
    before: libc::sigset_t,
    /// Signals that no write of the device has raised.
    pending: libc::sigset_t,
}

/// Keeps the signals that writes of this thread raise from now on from the program, which would die of them.
pub fn keep_from_writes() -> Writes {
    let mut pending = MaybeUninit::uninit();
    // SAFETY: both functions fill the set that they are given.
    let (blocked, pending) = unsafe {
        libc::sigpending(pending.as_mut_ptr());
        let mut before = MaybeUninit::uninit();
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), before.as_mut_ptr());
        (before.assume_init(), pending.assume_init())
    };
    let mut all = blocked;
    for signal in OF_WRITES {
        // SAFETY: a set that was filled.
        unsafe { libc::sigaddset(&mut all, signal) };
    }
    Writes { before: swap(&all), pending }
}

impl Drop for Writes {
    fn drop(&mut self) {
        for signal in OF_WRITES {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the sets are filled, and the call waits for no time.
            unsafe {
                if libc::sigismember(&self.pending, signal) == 0 {
                    let mut one = MaybeUninit::uninit();
                    libc::sigemptyset(one.as_mut_ptr());
                    libc::sigaddset(one.as_mut_ptr(), signal);
                    libc::sigtimedwait(one.as_ptr(), ptr::null_mut(), &now);
                }
            }
        }
        swap(&self.before);
    }
}

/// Sets the thread's signal mask. Returns the old mask.
fn swap(mask: &libc::sigset_t) -> libc::sigset_t {
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are the caller's; with these arguments the call cannot fail, and it
    // fills `before`.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, ptr::from_ref(mask), before.as_mut_ptr());
        before.assume_init()
    }
}
