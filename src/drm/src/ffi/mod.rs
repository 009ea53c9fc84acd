//! The wall: everything `unsafe` in this project is in this folder, and the rest of it,
//! this crate included, is checked by the compiler alone.
//!
//! Seven things need it:
//!
//! - [`hooks`], [`memory`] and [`paths`]: C entry points that take the place of libc's. They get
//!   C pointers from a program we know nothing about, and hand safe values to the rest of the crate.
//! - [`next`]: finding libc's own functions behind ours, which is a cast of an address.
//! - [`pages`]: the memory of buffers, which the application uses too.
//! - [`descriptors`]: looking at descriptors of the program's, which it may close meanwhile.
//! - [`process`]: functions that libc calls around a fork and at exit, and what its allocator keeps.
//! - [`signals`]: a thread's signal mask.
//! - [`user`]: copies from and to addresses that the program names in ioctl arguments.
//!
//! What the C side must keep is what libc demands of the same calls, and nothing more.

mod descriptors;
// Unit tests run on libc's functions, not on ours.
#[cfg(not(test))]
mod hooks;
#[cfg(not(test))]
mod memory;
#[cfg(not(test))]
mod next;
pub mod pages;
#[cfg(not(test))]
mod paths;
pub mod process;
pub mod signals;
pub mod user;

pub use descriptors::{Inode, Look, own_table, wait_readable};
use rustix::io::Errno;

/// Why libc's last call of this thread failed.
fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Sets why a call of this thread failed.
#[cfg(not(test))]
fn set_errno(errno: Errno) {
    // SAFETY: libc's own per-thread variable.
    unsafe { *libc::__errno_location() = errno.raw_os_error() };
}
