//! The wall: everything `unsafe` in this project is in this folder, and the rest of it,
//! this crate included, is checked by the compiler alone.
//!
//! Five things need it:
//!
//! - [`hooks`] and [`paths`]: C entry points that take the place of libc's. They get C pointers from a
//!   program we know nothing about, and hand safe values to the rest of the crate.
//! - [`next`]: finding libc's own functions behind ours, which is a cast of an address.
//! - [`pages`]: the emulator's view of buffer memory, which the application maps too.
//! - [`process`]: functions that libc calls around a fork and at exit.
//! - [`user`]: copies from and to addresses that the program names in ioctl arguments.
//!
//! What the C side must keep is what libc demands of the same calls, and nothing more.

// Unit tests run on libc's functions, not on ours.
#[cfg(not(test))]
mod hooks;
#[cfg(not(test))]
mod next;
pub mod pages;
#[cfg(not(test))]
mod paths;
pub mod process;
pub mod user;

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

/// A file by device and inode: the same for all its descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    /// The file of these numbers.
    pub fn new(device: u64, number: u64) -> Self {
        Self { device, number }
    }

    /// The file behind descriptor `fd`, if that is open.
    pub fn of(fd: i32) -> Option<Self> {
        // SAFETY: the borrow ends with this call; a descriptor that another thread closes
        // meanwhile makes the call fail or look at another file, as it would any caller.
        let fd = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })?;
        rustix::fs::fstat(fd).ok().map(|stat| Self { device: stat.st_dev, number: stat.st_ino })
    }

    /// The file behind a descriptor of ours.
    pub fn of_owned(fd: &OwnedFd) -> Option<Self> {
        Self::of(fd.as_raw_fd())
    }
}

/// Waits until `fd`, a descriptor of the program's, is readable; false if it is not open.
pub fn wait_readable(fd: i32) -> bool {
    // SAFETY: as in `Inode::of`.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let mut fds = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
    loop {
        match rustix::event::poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => {}
            outcome => return outcome.is_ok(),
        }
    }
}
