//! Everything outside the emulator, in its process, that could affect a result, and how it is handled. This
//! is the one list. Code that makes threads or pools, or that runs on a caller's thread, goes through this
//! module.
//!
//! | part of the environment | handling |
//! |---|---|
//! | floating-point control (MXCSR, x87, FPCR) | threads of the emulator set it when they start ([`spawn()`], [`spawn_scoped()`], [`pool()`]); code that runs on a caller's thread (a run, a picture, an ioctl, a job of a caller's pool) sets it, and restores the caller's value afterwards ([`with_rust_float_control()`], [`hold()`]) |
//! | number of processors, affinity | set the number of threads, but never a result; `--threads` and the device's `A4EMU_THREADS` override it |
//! | `RAYON_NUM_THREADS`, `RAYON_RS_NUM_CPUS` | ignored: every pool gets an explicit number of threads |
//! | `RUST_MIN_STACK`, `ulimit -s` | ignored: every thread gets an explicit stack size; the command line works in a thread |
//! | `RUST_BACKTRACE`, `RUST_LIB_BACKTRACE` | change only what a panic prints |
//! | `A4EMU_*` | read once, in the device's `settings`, in `companion`, `driver` and `names`: a4emu's own options |
//! | `TMPDIR`, `XDG_RUNTIME_DIR` | location of the folder of a `run` |
//! | `PAGER`, `LESS`, `TERM`, `COLUMNS`, `NO_COLOR` | how a terminal shows the output |
//! | `LANG`, `LC_*`, `TZ` | not read: numbers are formatted and parsed by Rust, times are durations |
//! | current directory, root directory, file mode mask | the GPU's thread has its own from the moment when the device is opened (`ffi::own_table`); relative paths of the device are made absolute when its settings are read |
//! | open descriptors | the GPU's threads have a table of their own (`ffi::own_table`) |
//! | signal mask, handlers | the GPU's threads block all signals except those of a fault in their own instruction; `run` unblocks the signals that it waits for (`run/signals`) |
//! | `ulimit -u`, `ulimit -v`, `ulimit -d`, locked memory | fewer threads, then one ([`pool()`]); a failed allocation is an error of the open, the ioctl or the command |
//! | `ulimit -f`, a full disk | an error of the file that is written; the signals of the device's writes do not reach the program (`ffi::signals`) |
//! | time | a limit (`--time-limit`, the device's last two seconds), and the time counters that a program reads |

use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Builder, JoinHandle, Scope, ScopedJoinHandle};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use a4emu_shader::float_control::set;
pub use a4emu_shader::float_control::{Held, hold};

/// Bytes of a thread's stack. Main threads usually have as much.
pub const STACK: usize = 8 << 20;

/// Most threads of a pool. More cost more than they gain, for any frame.
pub const MOST_THREADS: u16 = 1024;

/// Runs `work` on the calling thread with Rust's floating-point control.
pub fn with_rust_float_control<R>(work: impl FnOnce() -> R) -> R {
    let _control = hold();
    work()
}

fn builder(name: &str) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(STACK)
}

fn settled<R>(work: impl FnOnce() -> R) -> R {
    set();
    work()
}

/// Runs `work` in a new thread called `name`.
///
/// # Errors
/// The system allows no more threads.
pub fn spawn<R: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    builder(name).spawn(|| settled(work))
}

/// Runs `work` in a new thread called `name`, which ends before `scope` does.
///
/// # Errors
/// The system allows no more threads.
pub fn spawn_scoped<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() -> R + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, R>> {
    builder(name).spawn_scoped(scope, || settled(work))
}

/// Runs `work` in a new thread and waits for it. `ulimit -s` sets the stack of the main thread, but not of
/// this one.
pub fn in_own_thread<R: Send>(work: fn() -> R) -> R {
    thread::scope(|scope| match spawn_scoped(scope, "a4emu", work) {
        Ok(started) => started.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => work(),
    })
}

/// The threads of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Only threads of its own.
    Own,
    /// Also the thread that makes the pool, permanently.
    AndThis,
}

/// A pool of `threads` threads (default: one per processor), or of as many as the system allows. A pool
/// without own threads works on the calling thread.
///
/// # Errors
/// The calling thread is already in a pool, and the pool needs it.
pub fn pool(threads: Option<usize>, members: Members) -> io::Result<ThreadPool> {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = threads.unwrap_or_else(processors).clamp(1, MOST_THREADS.into());
    let own = wanted - usize::from(members == Members::AndThis);
    let mut workers = (0..own).map_while(|_| spawn_worker().ok()).collect::<Vec<_>>().into_iter();
    let own = workers.len();
    let this = own == 0 || members == Members::AndThis;
    let mut builder = ThreadPoolBuilder::new().num_threads(own + usize::from(this));
    if this {
        builder = builder.use_current_thread();
    }
    let start = move |job| {
        let worker = workers.next().ok_or(io::ErrorKind::OutOfMemory)?;
        worker.send(job).map_err(|_| io::ErrorKind::BrokenPipe.into())
    };
    builder.spawn_handler(start).build().map_err(io::Error::other)
}

/// Starts a thread that waits to become a worker. A pool that lacks a thread cannot be built, so the threads
/// start first.
fn spawn_worker() -> io::Result<Sender<ThreadBuilder>> {
    let (sender, job) = mpsc::channel::<ThreadBuilder>();
    spawn("a4emu-worker", move || job.recv().map(ThreadBuilder::run))?;
    Ok(sender)
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::fs::File;

    use a4emu_decoder::adreno::capture::Sections;

    use super::*;
    use crate::cp::{Renderer, Silent};
    use crate::picture::Picture;
    use crate::playback::Playback;
    use a4emu_shader::float_control::testing::{is_rusts, make_odd, with_odd_control};

    /// The picture of a capture that depends on rounding, played in `pool`.
    fn picture(pool: &ThreadPool) -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures/torus.rd.gz");
        let play = || {
            let sections = Sections::new(File::open(path).expect("a capture")).expect("sections");
            let mut playback = Playback::default();
            playback.run(sections, &mut Renderer, &mut Silent);
            let gpu = &playback.gpu;
            Picture::of(gpu.pipeline.surfaces.last_color().expect("a frame"), &gpu.mem)
                .expect("a picture")
                .pixels()
        };
        pool.install(play)
    }

    #[test]
    fn a_callers_threads_make_the_same_picture_whatever_their_control_and_keep_it() {
        let plain = picture(&pool(Some(2), Members::Own).expect("threads"));
        let odd =
            ThreadPoolBuilder::new().num_threads(3).start_handler(|_| make_odd()).build().expect("threads");
        assert!(picture(&odd) == plain);
        assert_eq!(odd.broadcast(|_| is_rusts()), [false; 3]);
    }

    #[test]
    fn workers_do_not_have_the_control_of_whom_made_the_pool() {
        with_odd_control(|| {
            for members in [Members::Own, Members::AndThis] {
                let pool = pool(Some(3), members).expect("threads");
                assert_eq!(pool.current_num_threads(), 3);
                let of_each =
                    pool.broadcast(|_| thread::current().name() == Some("a4emu-worker") && is_rusts());
                assert_eq!(
                    of_each.into_iter().filter(|is| *is).count(),
                    if members == Members::Own { 3 } else { 2 }
                );
            }
            assert!(!is_rusts() && with_rust_float_control(is_rusts));
        });
    }
}
