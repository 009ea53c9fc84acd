//! Inspects descriptors, and makes a table of descriptors that is separate from the program's.

use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A file by device and inode, which all its descriptors share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inode {
    /// Number of the file system.
    pub device: u64,
    /// Number of the file in it.
    pub number: u64,
}

/// The fields of `fstat` that identify a file of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The file.
    pub inode: Inode,
    /// Type and permissions of the file.
    pub mode: u32,
    /// Whether it has no name in any folder.
    pub unnamed: bool,
    /// Size in bytes.
    pub size: u64,
}

impl Look {
    /// Inspects the file behind descriptor `fd`, if that is open. Neither locks nor allocates.
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
    /// The file behind an owned descriptor.
    pub fn of_owned(fd: &OwnedFd) -> Option<Self> {
        Look::at(fd.as_raw_fd()).map(|look| look.inode)
    }
}

/// Gives this thread its own, empty table of descriptors. The program cannot see, close or reuse descriptors
/// that the thread opens from then on.
///
/// Its standard streams lead to `/dev/null`, so that messages do not end up in another file with their
/// number. Its current directory, root directory and file mode mask also become separate from the program's,
/// unless a sandbox forbids that.
///
/// # Errors
/// The call fails with `ENOSYS` before Linux 5.9, or if `/dev/null` cannot be opened.
pub fn own_table() -> Result<(), Errno> {
    // Not through libc: the function of that name is a hook here.
    // SAFETY: affects only this thread, which has no descriptor yet.
    let status = unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if status != 0 {
        return Err(super::last_errno());
    }
    // The device uses absolute paths, so it also works without this.
    // SAFETY: affects only this thread, and no memory.
    let _unless_forbidden = unsafe { libc::unshare(libc::CLONE_FS) };
    for _ in 0..3 {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())?;
        let _ = null.into_raw_fd();
    }
    Ok(())
}

/// Closes a descriptor that is not published yet.
#[cfg(not(test))]
pub(super) fn close_unseen(fd: i32) {
    // SAFETY: the caller has just opened it and gives it up here.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Waits until `fd`, a descriptor of the program, is readable. Returns false if it is not open.
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
