//! The memory of buffers: one mapping, which the emulator and the program both use.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};

use a4emu_gpu::memory::Seen;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

/// The GPU's address space as memory of the process, there until it ends. Pages that nobody
/// wrote take no room, and a forked child shares it.
pub struct Region {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Region {}
// SAFETY: has no access of its own, only addresses.
unsafe impl Sync for Region {}

/// A part of the [`Region`]: memory that the program uses as well.
///
/// The rule, which `Engine` keeps by having one for each live buffer, in its one `Memory`:
/// no two in use show the same pages.
pub struct Pages {
    base: NonNull<u8>,
    len: usize,
    /// Whether the program has seen it.
    pub seen: Seen,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Pages {}
// SAFETY: `&Pages` only reads.
unsafe impl Sync for Pages {}

impl Region {
    /// `len` bytes of zeros.
    ///
    /// # Errors
    /// `ENOMEM` if the process may not map that much.
    pub fn new(len: u64) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::NOMEM)?;
        // SAFETY: the system chooses free addresses.
        let base = unsafe { fresh(ptr::null_mut(), len, MapFlags::empty())? };
        Ok(Self { base, len })
    }

    /// Address in the process of its first byte.
    pub fn start(&self) -> usize {
        self.base.as_ptr() as usize
    }

    fn at(&self, range: &Range<u64>) -> (NonNull<u8>, usize) {
        assert!(range.start <= range.end && range.end <= self.len as u64);
        // SAFETY: inside the mapping, as asserted.
        let base = unsafe { self.base.add(range.start as usize) };
        (base, (range.end - range.start) as usize)
    }

    /// The bytes `range`, which somebody may have `seen`.
    pub fn pages(&self, range: Range<u64>, seen: Seen) -> Pages {
        let (base, len) = self.at(&range);
        Pages { base, len, seen }
    }

    /// Makes the bytes `range` zero and gives their memory to the system.
    pub fn clear(&self, range: Range<u64>) {
        let (base, len) = self.at(&range);
        // SAFETY: takes the contents of pages that are ours; they stay mapped.
        let removed = unsafe { rustix::mm::madvise(base.as_ptr().cast(), len, Advice::LinuxRemove) };
        if removed.is_err() {
            self.pages(range, Seen::default()).as_mut().fill(0);
        }
    }

    /// Has the system give the bytes `range` their memory now, as far as it likes to; what is there stays.
    pub fn provide(&self, range: Range<u64>) {
        let (base, len) = self.at(&range);
        // SAFETY: changes no contents, whatever becomes of the mapping meanwhile.
        let _unless_it_cannot =
            unsafe { rustix::mm::madvise(base.as_ptr().cast(), len, Advice::LinuxPopulateWrite) };
    }

    /// Puts new memory of zeros in place of the bytes `range`, which were shared with the
    /// process that forked this one.
    ///
    /// # Errors
    /// `ENOMEM` when the process may not have more mappings.
    pub fn replace(&self, range: Range<u64>) -> Result<(), Errno> {
        let (base, len) = self.at(&range);
        // SAFETY: in place of our own mapping, which stays as long and as accessible.
        unsafe { fresh(base.as_ptr(), len, MapFlags::FIXED).map(|_| ()) }
    }

    /// Puts the memory of the file `fd` in place of the bytes `range`.
    ///
    /// # Errors
    /// What the system says to mapping it.
    pub fn back(&self, range: Range<u64>, fd: &OwnedFd) -> Result<(), Errno> {
        let (base, len) = self.at(&range);
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: in place of our own mapping, which stays as long and as accessible: the file is
        // that long, and sealed against becoming shorter.
        unsafe { rustix::mm::mmap(base.as_ptr().cast(), len, prot, flags, fd, 0).map(|_| ()) }
    }

    /// Shows the bytes `range` a second time: at `at`, in place of what is there, or wherever
    /// there is room. Gives the address.
    ///
    /// # Errors
    /// What `mremap` says.
    ///
    /// # Safety
    /// Nobody but the program that asks for it uses what is at `at`.
    #[cfg(not(test))]
    pub(super) unsafe fn show_at(&self, range: Range<u64>, at: Option<usize>) -> Result<usize, Errno> {
        let (base, len) = self.at(&range);
        let (base, flags) = (base.as_ptr().cast(), rustix::mm::MremapFlags::MAYMOVE);
        // An old length of 0 leaves the first mapping in place.
        // SAFETY: a new mapping at a free address, or where the caller says.
        let shown = unsafe {
            match at {
                Some(at) => rustix::mm::mremap_fixed(base, 0, len, flags, at as *mut _),
                None => rustix::mm::mremap(base, 0, len, flags),
            }
        };
        shown.map(|address| address as usize)
    }
}

/// A new shared mapping of `len` bytes of zeros.
///
/// # Safety
/// As `mmap`.
unsafe fn fresh(at: *mut u8, len: usize, flags: MapFlags) -> Result<NonNull<u8>, Errno> {
    let flags = flags | MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: the caller's promise.
    let base =
        unsafe { rustix::mm::mmap_anonymous(at.cast(), len, ProtFlags::READ | ProtFlags::WRITE, flags)? };
    NonNull::new(base.cast()).ok_or(Errno::NOMEM)
}

// The slices below are of memory that the application can write at any time. All bytes are
// valid `u8`s, the mapping is never taken away, and its length is ours, so whatever is
// in it no access leaves it. What Rust's rules ask beyond that is that nobody writes while
// we read, and it is what the driver's contract asks of programs: a buffer that the GPU
// works on is not the CPU's until its fence has signalled. A program that breaks that gets
// what it gets from a chip, a value from before or after; we read words once and check
// what we read, and do not use the memory to hold anything that our own safety rests on.
impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: mapped for good, and see the comment above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_ref`; no other `Pages` shows the same.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}
