//! All `unsafe` code of this crate is in this folder, and the compiler checks the rest. (The project's other `unsafe`
//! code is what writes and calls machine code, in a4emu-shader's `jit/executable`.)
//!
//! Ten things need it:
//!
//! - [`hooks`], [`memory`] and [`paths`]: C entry points that replace libc's. They receive C pointers from
//!   an unknown program, and pass safe values to the rest of the crate.
//! - [`maps`]: an ioctl of the kernel that says what is mapped where.
//! - [`next`]: finds libc's own functions, which needs a cast of an address.
//! - [`pages`]: the memory of buffers, which the application uses too.
//! - [`descriptors`]: inspects descriptors of the program, which it may close at the same time.
//! - [`process`]: functions that libc calls around a fork and at exit, and parameters of its allocator.
//! - [`room`]: whether there is memory, and a parameter of the library's allocator.
//! - [`signals`]: a thread's signal mask.
//! - [`threads`]: the end of the process, which threads of this library must not delay.
//! - [`user`]: copies from and to addresses in ioctl arguments.
//!
//! C callers have to keep only the contracts of the same libc functions.

mod descriptors;
// Unit tests use libc's functions without these hooks.
#[cfg(not(test))]
mod hooks;
pub mod maps;
#[cfg(not(test))]
mod memory;
#[cfg(not(test))]
mod next;
pub mod pages;
#[cfg(not(test))]
mod paths;
pub mod process;
pub mod room;
pub mod signals;
pub mod threads;
pub mod user;

pub use descriptors::{Inode, Look, own_table, wait_readable};
use rustix::io::Errno;

/// The error of this thread's last libc call.
fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Sets the error of a call of this thread.
#[cfg(not(test))]
fn set_errno(errno: Errno) {
    // SAFETY: libc's own per-thread variable.
    unsafe { *libc::__errno_location() = errno.raw_os_error() };
}
