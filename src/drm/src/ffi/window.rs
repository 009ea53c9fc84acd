//! The emulator's view of the memory file.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// A mapping of all of the memory file, at one place for the life of the process.
pub struct Window {
    base: NonNull<u8>,
    len: u64,
}

// SAFETY: the mapping is never removed or moved, and belongs to no thread.
unsafe impl Send for Window {}
// SAFETY: as above; `&Window` gives out raw ranges only, whose use `pages` restricts.
unsafe impl Sync for Window {}

fn map(at: Option<NonNull<u8>>, store: &OwnedFd, range: &Range<u64>) -> Result<NonNull<u8>, Errno> {
    let (fixed, hint) = match at {
        Some(at) => (MapFlags::FIXED, at.as_ptr().cast()),
        None => (MapFlags::empty(), std::ptr::null_mut()),
    };
    let len = usize::try_from(range.end - range.start).map_err(|_| Errno::NOMEM)?;
    // SAFETY: either the system chooses free addresses, or `at..at + len` lies in a mapping
    // that `Window` owns (its methods check the range), where pages replace pages.
    let base = unsafe {
        let flags = MapFlags::SHARED | MapFlags::NORESERVE | fixed;
        rustix::mm::mmap(hint, len, ProtFlags::READ | ProtFlags::WRITE, flags, store, range.start)?
    };
    NonNull::new(base.cast()).ok_or(Errno::NOMEM)
}

impl Window {
    /// Maps the first `len` bytes of `store`. They stay mapped for good.
    ///
    /// # Errors
    /// What `mmap` says.
    pub fn new(store: &OwnedFd, len: u64) -> Result<Self, Errno> {
        Ok(Self { base: map(None, store, &(0..len))?, len })
    }

    /// Shows `range` of another file from here on.
    ///
    /// # Errors
    /// What `mmap` says.
    pub fn remap(&self, store: &OwnedFd, range: Range<u64>) -> Result<(), Errno> {
        if range.start >= range.end || range.end > self.len {
            return Err(Errno::INVAL);
        }
        map(Some(self.at(range.start)), store, &range).map(|_| ())
    }

    fn at(&self, offset: u64) -> NonNull<u8> {
        assert!(offset <= self.len);
        // SAFETY: inside the mapping, or one past its end (just checked).
        unsafe { self.base.add(offset as usize) }
    }

    /// The pages of a buffer, `len` bytes at `address`, for the emulated GPU.
    ///
    /// The rule, which `Engine` keeps by handing each live buffer's pages to its one
    /// `Memory` and nobody else's: no two `Pages` in use overlap.
    pub fn pages(&self, address: u32, len: u64) -> Pages {
        let start = u64::from(address);
        assert!(start + len <= self.len, "a buffer lies in the address space");
        Pages { base: self.at(start), len: len as usize }
    }
}

/// One buffer's pages: memory that the application has mapped as well.
pub struct Pages {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Pages {}
// SAFETY: `&Pages` only reads.
unsafe impl Sync for Pages {}

// The slices below are of memory that the application can write at any time. All bytes
// are valid `u8`s, the memory stays mapped for good, and its length is ours, so whatever is
// in it no access leaves it. What Rust's rules ask beyond that is that nobody writes while
// we read, and it is what the driver's contract asks of programs: a buffer that the GPU
// works on is not the CPU's until its fence has signalled. A program that breaks that gets
// what it gets from a chip, a value from before or after; we read words once and check
// what we read, and do not use the memory to hold anything that our own safety rests on.
impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: mapped for good (see `Window::pages`), and see the comment above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_ref`; no other `Pages` overlaps.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}
