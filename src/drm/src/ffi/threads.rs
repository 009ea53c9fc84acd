//! The library's own threads, which must not change when and how the process ends.
//!
//! A process lives until its last thread ends, and threads of this library never do. The program may end its
//! own threads in two ways:
//!
//! - By `pthread_exit`, or by returning from the thread's function. Then glibc calls `exit(0)` in the last
//!   thread that it counts. It does not count threads of this library: each takes itself off glibc's counter.
//! - By the system call `exit`, or by a seccomp action that ends one thread. Then nobody calls libc's `exit`.
//!   The process has the status of the thread that ended last (before Linux 6.0: of the main thread). A
//!   watcher of this library notices it and ends the process with that status.
//!
//! The kernel keeps the status of the main thread only. That of another thread is what it passed to libc's
//! `syscall`, or 0, which glibc passes itself. A thread that ends in another way, after the main thread and
//! last of all, gives the status 0.
//!
//! The watcher sleeps until the main thread ends, which clears a word of memory and wakes who waits for it
//! (`set_tid_address(2)`). From then on it looks every [`TICK`] whether only threads of this library are left.

use std::fs;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use a4emu_gpu::ambient;

/// Time between two looks while no wake-up can be waited for: after the main thread has ended, or if the
/// kernel does not tell the word that it clears.
const TICK: Duration = Duration::from_millis(50);
/// Most seconds of a wait. The kernel wakes one waiter, which may be a thread of the program that joins the
/// main thread.
const SLICE: libc::time_t = 10;

/// Number of running threads of this library.
static OURS: AtomicU32 = AtomicU32::new(0);
/// Address of the word that the kernel clears when the main thread ends; 0 if it is not known.
static CLEARED: AtomicUsize = AtomicUsize::new(0);
/// The last call of `exit` by a thread: 256 times the number of such calls so far, and the status.
static EXITED: AtomicU64 = AtomicU64::new(0);
/// glibc's number of threads; null in another C library.
static COUNTED: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

/// A running thread of this library.
struct Ours;

impl Drop for Ours {
    fn drop(&mut self) {
        OURS.fetch_sub(1, Ordering::AcqRel);
        // The C library counts the thread down when it ends.
        count(1);
    }
}

thread_local! {
    /// Present in threads of this library.
    static MARK: Ours = {
        OURS.fetch_add(1, Ordering::AcqRel);
        count(u32::MAX);
        Ours
    };
}

/// Adds `change` to glibc's number of threads.
fn count(change: u32) {
    let counter = COUNTED.load(Ordering::Acquire);
    if !counter.is_null() {
        // SAFETY: a variable of glibc, which changes it by atomic operations only.
        unsafe { &*counter }.fetch_add(change, Ordering::AcqRel);
    }
}

/// Records that the calling thread is one of this library. May be called more than once.
pub fn mark() {
    // A thread that ends already is not marked, and ends as the C library expects.
    let _ = MARK.try_with(|_| ());
}

/// Called in a forked child: it has none of the parent's other threads, and its only thread is its main
/// thread.
pub fn part_from_parent() {
    OURS.store(0, Ordering::Release);
    EXITED.store(0, Ordering::Release);
    note_main_thread();
}

/// Records where the kernel notes the end of the calling thread, which is the main thread.
fn note_main_thread() {
    let mut word = 0usize;
    // SAFETY: the kernel stores an address, or fails.
    let status = unsafe { libc::prctl(libc::PR_GET_TID_ADDRESS, &raw mut word) };
    CLEARED.store(if status == 0 { word } else { 0 }, Ordering::Release);
}

/// The loader calls this in the main thread.
extern "C" fn loaded() {
    note_main_thread();
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    super::process::end_without_the_allocator();
    // SAFETY: the name is NUL terminated. glibc has it among its private symbols, since 2.34 in libc itself.
    let counter = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__nptl_nthreads".as_ptr()) };
    COUNTED.store(counter.cast(), Ordering::Release);
}

// SAFETY: the linker collects functions here, and the loader calls them when it loads the library.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Runs `work` in a new thread of this library, called `name`. Returns when that is marked, so that threads of
/// the program which end later do not count it.
///
/// # Errors
/// The system allows no more threads.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let (marked, wait) = mpsc::channel();
    ambient::spawn(name, move || {
        mark();
        drop(marked);
        work();
    })?;
    let _ends_with_the_sender: Result<(), _> = wait.recv();
    Ok(())
}

/// Starts the watcher. Its descriptors are those of the calling thread.
pub fn watch_main_thread() {
    // Without another thread the device works all the same.
    let _ = spawn("a4emu-end", || {
        let main = std::process::id();
        let mut outlived = None;
        while let Some(process) = Process::read(main) {
            if !process.main_has_ended {
                await_end(main);
            } else if process.threads > OURS.load(Ordering::Acquire) + 1 {
                // The calls of `exit` before the last look but one, and before the last look.
                let now = EXITED.load(Ordering::Acquire);
                outlived = Some((outlived.map_or(now, |(_, last)| last), now));
                thread::sleep(TICK);
            } else {
                end(match outlived {
                    Some((before, _)) if last_counts() => {
                        status_since(before, EXITED.load(Ordering::Acquire))
                    }
                    _ => process.status,
                });
            }
        }
    });
}

/// Records that the calling thread makes the system call `exit`. Makes no system call.
#[cfg(not(test))]
pub(super) fn note_exit(status: libc::c_long) {
    let next = |exited: u64| Some((exited | 0xff) + 1 + (status as u64 & 0xff));
    let _ = EXITED.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}

/// Status of a process, in the form of `wait(2)`, whose last thread has just ended; `before` and `now` are
/// values of [`EXITED`].
fn status_since(before: u64, now: u64) -> i32 {
    if before == now { 0 } else { (now as i32 & 0xff) << 8 }
}

/// Whether the process has the status of its last thread, and not that of its main thread.
fn last_counts() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let major = release.split('.').next().and_then(|major| major.parse().ok());
    major.is_none_or(|major: u32| major >= 6)
}

/// What `/proc` says about this process.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    main_has_ended: bool,
    /// Number of threads, with the main thread.
    threads: u32,
    /// Status of the main thread, in the form of `wait(2)`.
    status: i32,
}

impl Process {
    fn read(main: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/self/task/{main}/stat")).ok()?)
    }

    /// Parses the fields 3, 20 and 52 of `proc_pid_stat(5)`. The second may hold brackets and spaces.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(Self {
            main_has_ended: matches!(*fields.first()?, "Z" | "X"),
            threads: fields.get(17)?.parse().ok()?,
            status: fields.get(49)?.parse().ok()?,
        })
    }
}

/// Waits until the main thread, whose id is `main`, is about to end, at most [`SLICE`] seconds.
fn await_end(main: u32) {
    let word = CLEARED.load(Ordering::Acquire);
    let limit = libc::timespec { tv_sec: SLICE, tv_nsec: 0 };
    // SAFETY: the kernel checks the address and only compares what is there; the time outlives the call.
    let wait = |word: usize| unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, main, &limit) };
    if word != 0 && wait(word) == 0 {
        // SAFETY: wakes threads of the program that join the main thread: the kernel woke only this one.
        unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) };
        return thread::sleep(Duration::from_millis(1));
    }
    // The word may be unknown, unmapped, or the one of a thread that has forked.
    if super::last_errno() != rustix::io::Errno::TIMEDOUT || word == 0 {
        thread::sleep(TICK);
    }
}

/// Ends the process with `status`, in the form of `wait(2)`.
fn end(status: i32) -> ! {
    let signal = libc::WTERMSIG(status);
    // SAFETY: no other thread of the program is left that these calls could affect.
    unsafe {
        if signal != 0 {
            libc::signal(signal, libc::SIG_DFL);
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, signal);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
            libc::raise(signal);
        }
        libc::_exit(libc::WEXITSTATUS(status))
    }
}

/// Size from which on an allocation has its own pages, in bytes.
const LARGE_LIST: libc::c_int = 64 << 20;
/// Freed memory that the allocator keeps, in bytes.
const KEPT_MEMORY: libc::c_int = 256 << 20;

/// Makes libc keep the freed memory of large lists, up to [`KEPT_MEMORY`]. Otherwise a frame of many
/// vertices spends a third of its time on pages that the kernel clears.
pub fn keep_memory() {
    for (parameter, bytes) in [(libc::M_MMAP_THRESHOLD, LARGE_LIST), (libc::M_TRIM_THRESHOLD, KEPT_MEMORY)] {
        // SAFETY: sets two parameters of the allocator, which is allowed at any time; it ignores unsuitable
        // values.
        unsafe { libc::mallopt(parameter, bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_main_thread_is_read_with_its_status() {
        let line = |state| {
            format!("7 (a) Z (b) {state} 1 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 {} 768\n", "9 ".repeat(30))
        };
        let ended = Process { main_has_ended: true, threads: 3, status: 3 << 8 };
        assert_eq!(Process::parse(&line('Z')), Some(ended));
        assert!(Process::parse(&line('S')).is_some_and(|it| !it.main_has_ended));
        assert_eq!(Process::parse("7 (a) Z 1"), None);
        assert_eq!([status_since(0, 0), status_since(0, 0x105), status_since(0x105, 0x105)], [0, 5 << 8, 0]);
        let own = Process::read(std::process::id()).expect("a process");
        assert!(!own.main_has_ended && own.threads > 0);
    }
}
