//! Descriptors: what they are, and a table of them that is not the program's.

use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A file by device and inode: the same for all its descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inode {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub number: u64,
}

/// What `fstat` says of a file, as far as it tells ours from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Which file.
    pub inode: Inode,
    /// Type and permissions.
    pub mode: u32,
    /// It has no name in any folder.
    pub unnamed: bool,
    /// Bytes in it.
    pub size: u64,
}

impl Look {
    /// Of the file behind descriptor `fd`, if that is open. Neither locks nor allocates.
    pub fn at(fd: i32) -> Option<Self> {
        // SAFETY: the borrow ends with this call; a descriptor that another thread closes
        // meanwhile makes the call fail or look at another file, as it would any caller.
        let fd = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })?;
        let stat = rustix::fs::fstat(fd).ok()?;
        let inode = Inode { device: stat.st_dev, number: stat.st_ino };
        let (unnamed, size) = (stat.st_nlink == 0, stat.st_size as u64);
        Some(Self { inode, mode: stat.st_mode, unnamed, size })
    }
}

impl Inode {
    /// The file behind a descriptor of ours.
    pub fn of_owned(fd: &OwnedFd) -> Option<Self> {
        Look::at(fd.as_raw_fd()).map(|look| look.inode)
    }
}

/// Gives this thread a table of descriptors of its own, empty: what it opens from now on, the
/// program cannot see, close or take the number of. Its standard streams lead nowhere: what
/// somebody prints must not end up in a file that has their number. Its current directory, root directory
/// and file mode mask stay what they are now, whatever the program makes of its own, unless a sandbox forbids that.
///
/// # Errors
/// `ENOSYS` before Linux 5.9; what the system says to opening `/dev/null`.
pub fn own_table() -> Result<(), Errno> {
    // Not through libc: the function of that name is one of our hooks.
    // SAFETY: concerns this thread alone, which has no descriptor yet.
    let status = unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if status != 0 {
        return Err(super::last_errno());
    }
    // The names that the device uses are whole, so it gets by without.
    // SAFETY: concerns this thread alone, and no memory.
    let _unless_forbidden = unsafe { libc::unshare(libc::CLONE_FS) };
    for _ in 0..3 {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())?;
        let _ = null.into_raw_fd();
    }
    Ok(())
}

/// Closes a descriptor that nobody knows of yet.
#[cfg(not(test))]
pub(super) fn close_unseen(fd: i32) {
    // SAFETY: the caller opened it just now and gives it up here.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Waits until `fd`, a descriptor of the program's, is readable; false if it is not open.
pub fn wait_readable(fd: i32) -> bool {
    // SAFETY: as in `Look::at`.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let mut fds = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
    loop {
        match rustix::event::poll(&mut fds, None) {
            Err(Errno::INTR) => {}
            outcome => return outcome.is_ok(),
        }
    }
}
