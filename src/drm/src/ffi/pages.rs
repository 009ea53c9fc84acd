//! The emulator's view of buffers.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// One buffer's pages: memory that the application has mapped as well.
///
/// The rule, which `Engine` keeps by having one for each live buffer, in its one `Memory`:
/// no two in use show the same pages.
pub struct Pages {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Pages {}
// SAFETY: `&Pages` only reads.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps `len` bytes of `store` from `offset` on.
    ///
    /// # Errors
    /// What `mmap` says.
    pub fn new(store: &OwnedFd, offset: u64, len: u64) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::NOMEM)?;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: the system chooses free addresses.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
                store,
                offset,
            )?
        };
        Ok(Self { base: NonNull::new(base.cast()).ok_or(Errno::NOMEM)?, len })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and slices of it borrow from `self`. That it fails can only
        // mean that the system is out of memory for the split: the mapping then stays.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

// The slices below are of memory that the application can write at any time. All bytes are
// valid `u8`s, the file is as long as the mapping, and its length is ours, so whatever is
// in it no access leaves it. What Rust's rules ask beyond that is that nobody writes while
// we read, and it is what the driver's contract asks of programs: a buffer that the GPU
// works on is not the CPU's until its fence has signalled. A program that breaks that gets
// what it gets from a chip, a value from before or after; we read words once and check
// what we read, and do not use the memory to hold anything that our own safety rests on.
impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: mapped as long as `self` lives, and see the comment above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_ref`; no other `Pages` shows the same.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}
