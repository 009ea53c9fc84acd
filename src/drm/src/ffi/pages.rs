//! The memory of buffers, which the emulator and the program share: one mapping for those of the render node
//! ([`Region`]), and one for each open of the KGSL device ([`Window`]).

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use a4emu_gpu::memory::Seen;
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags};

use super::room::of_lock;

/// The GPU's address space as memory of the process, mapped until the process ends. Unwritten pages use no
/// memory. A forked child shares the mapping.
pub struct Region {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Region {}
// SAFETY: it has no access of its own, only addresses.
unsafe impl Sync for Region {}

/// A memory file as memory of the emulator, apart from where the program maps it. Its pages stay mapped as long
/// as a part of it is in use, whatever the program unmaps or closes.
pub struct Window {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Window {}
// SAFETY: it has no access of its own, only addresses.
unsafe impl Sync for Window {}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and every part of it owns the value.
        let _cannot_fail = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

/// A part of the [`Region`] or of a [`Window`]: memory that the program uses too.
///
/// `Engine` keeps the rule that no two live values cover the same pages: it has one for each live buffer, in
/// its one `Memory`.
pub struct Pages {
    base: NonNull<u8>,
    len: usize,
    /// Whether the program has accessed it.
    pub seen: Seen,
    /// Keeps its memory mapped.
    _window: Option<Arc<Window>>,
}

// SAFETY: memory of the process, valid in all threads.
unsafe impl Send for Pages {}
// SAFETY: `&Pages` only reads.
unsafe impl Sync for Pages {}

impl Region {
    /// Maps `len` bytes of zeros.
    ///
    /// # Errors
    /// The call fails with `ENOMEM` if the process may not map that much, and with `EPERM` if it may not lock that much.
    pub fn new(len: u64) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::NOMEM)?;
        // SAFETY: the system chooses free addresses.
        let base = unsafe { fresh(ptr::null_mut(), len, MapFlags::empty()) }.map_err(of_lock)?;
        Ok(Self { base, len })
    }

    /// Address of its first byte in the process.
    pub fn start(&self) -> usize {
        self.base.as_ptr() as usize
    }

    fn at(&self, range: &Range<u64>) -> (NonNull<u8>, usize) {
        assert!(range.start <= range.end && range.end <= self.len as u64);
        // SAFETY: inside the mapping, as asserted.
        let base = unsafe { self.base.add(range.start as usize) };
        (base, (range.end - range.start) as usize)
    }

    /// The bytes in `range`. `seen` tells whether the program may have accessed them.
    pub fn pages(&self, range: Range<u64>, seen: Seen) -> Pages {
        let (base, len) = self.at(&range);
        Pages { base, len, seen, _window: None }
    }

    /// Fills the bytes in `range` with zeros and returns their memory to the system.
    pub fn clear(&self, range: Range<u64>) {
        let (base, len) = self.at(&range);
        // SAFETY: removes the contents of the region's own pages; they stay mapped.
        let removed = unsafe { rustix::mm::madvise(base.as_ptr().cast(), len, Advice::LinuxRemove) };
        if removed.is_err() {
            self.pages(range, Seen::default()).as_mut().fill(0);
        }
    }

    /// Makes the system allocate the memory of `range` now, if it can. The contents do not change.
    pub fn provide(&self, range: Range<u64>) {
        let (base, len) = self.at(&range);
        // SAFETY: this changes no contents, even if the mapping changes at the same time.
        let _unless_it_cannot =
            unsafe { rustix::mm::madvise(base.as_ptr().cast(), len, Advice::LinuxPopulateWrite) };
    }

    /// Replaces the bytes in `range`, which are shared with the process that forked this one, by new memory
    /// of zeros.
    ///
    /// # Errors
    /// The call fails with `ENOMEM` if the process may not have more mappings.
    pub fn replace(&self, range: Range<u64>) -> Result<(), Errno> {
        let (base, len) = self.at(&range);
        // SAFETY: replaces the region's own mapping by one of the same size and access.
        unsafe { fresh(base.as_ptr(), len, MapFlags::FIXED).map(|_| ()) }
    }

    /// Replaces the bytes in `range` by the memory of the file `fd`.
    ///
    /// # Errors
    /// The call fails if the file cannot be mapped.
    pub fn back(&self, range: Range<u64>, fd: &OwnedFd) -> Result<(), Errno> {
        let (base, len) = self.at(&range);
        let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: replaces the region's own mapping by one of the same size and access. The file is long
        // enough and sealed against shrinking.
        unsafe { rustix::mm::mmap(base.as_ptr().cast(), len, prot, flags, fd, 0).map(|_| ()) }
    }

    /// Maps the bytes in `range` a second time: at `at`, replacing what is mapped there, or at any free
    /// place. Returns the address.
    ///
    /// # Errors
    /// The call fails if `mremap` fails.
    ///
    /// # Safety
    /// Only the program that requests the mapping uses the memory at `at`.
    #[cfg(not(test))]
    pub(super) unsafe fn show_at(&self, range: Range<u64>, at: Option<usize>) -> Result<usize, Errno> {
        let (base, len) = self.at(&range);
        let (base, flags) = (base.as_ptr().cast(), rustix::mm::MremapFlags::MAYMOVE);
        // An old length of 0 keeps the first mapping.
        // SAFETY: a new mapping at a free address, or at the caller's.
        let shown = unsafe {
            match at {
                Some(at) => rustix::mm::mremap_fixed(base, 0, len, flags, at as *mut _),
                None => rustix::mm::mremap(base, 0, len, flags),
            }
        };
        shown.map(|address| address as usize)
    }
}

impl Window {
    /// Maps the first `len` bytes of the file `fd`, which is as long and sealed against shrinking.
    ///
    /// # Errors
    /// The call fails with `ENOMEM` if the process may not map that much, and with `EPERM` if it may not lock
    /// that much.
    pub fn new(fd: &OwnedFd, len: u64) -> Result<Self, Errno> {
        let len = usize::try_from(len).map_err(|_| Errno::NOMEM)?;
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        // SAFETY: the system chooses free addresses.
        let base = unsafe { rustix::mm::mmap(ptr::null_mut(), len, ProtFlags::empty(), flags, fd, 0) };
        let base = base.map_err(of_lock)?;
        let window = Self { base: NonNull::new(base.cast()).ok_or(Errno::NOMEM)?, len };
        // SAFETY: the new mapping.
        unsafe { open_unlocked(base, len)? };
        Ok(window)
    }

    /// Length in bytes.
    pub fn bytes(&self) -> u64 {
        self.len as u64
    }

    /// Addresses of the window in the process.
    pub fn range(&self) -> Range<u64> {
        let start = self.base.as_ptr() as u64;
        start..start + self.len as u64
    }

    fn at(&self, range: &Range<u64>) -> (NonNull<u8>, usize) {
        assert!(range.start <= range.end && range.end <= self.len as u64);
        // SAFETY: inside the mapping, as asserted.
        let base = unsafe { self.base.add(range.start as usize) };
        (base, (range.end - range.start) as usize)
    }

    /// The bytes in `range`, which the program may have accessed.
    pub fn pages(self: &Arc<Self>, range: Range<u64>) -> Pages {
        let (base, len) = self.at(&range);
        let seen = Seen::default();
        seen.note();
        Pages { base, len, seen, _window: Some(self.clone()) }
    }

    /// Fills the bytes in `range` with zeros and returns their memory to the system.
    pub fn clear(&self, range: Range<u64>) {
        let (base, len) = self.at(&range);
        // SAFETY: removes contents of the file; its pages stay mapped.
        let removed = unsafe { rustix::mm::madvise(base.as_ptr().cast(), len, Advice::LinuxRemove) };
        if removed.is_err() {
            // SAFETY: inside the mapping, which is writable. Nobody else uses the bytes any more.
            unsafe { ptr::write_bytes(base.as_ptr(), 0, len) };
        }
    }
}

/// Maps the whole words of the file `fd`, until the process ends. A forked child shares the mapping.
///
/// # Errors
/// The call fails if the file cannot be mapped.
pub fn words_of(fd: &OwnedFd) -> Result<&'static [AtomicU32], Errno> {
    let len = usize::try_from(rustix::fs::fstat(fd)?.st_size).map_err(|_| Errno::NOMEM)?;
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
    // SAFETY: the system chooses free addresses.
    let base = unsafe { rustix::mm::mmap(ptr::null_mut(), len, prot, flags, fd, 0)? };
    // SAFETY: whole pages of the mapping, which is never removed. All processes that map the file use atomic
    // operations on it.
    Ok(unsafe { std::slice::from_raw_parts(base.cast(), len / size_of::<AtomicU32>()) })
}

/// Makes a new shared mapping of `len` bytes of zeros, whose pages get memory when they are used: also if the
/// process locks what it maps (`mlockall`).
///
/// # Safety
/// The contract is that of `mmap`.
unsafe fn fresh(at: *mut u8, len: usize, flags: MapFlags) -> Result<NonNull<u8>, Errno> {
    let flags = flags | MapFlags::SHARED | MapFlags::NORESERVE;
    // SAFETY: the caller's promise.
    let base = unsafe { rustix::mm::mmap_anonymous(at.cast(), len, ProtFlags::empty(), flags)? };
    // SAFETY: the new mapping.
    unsafe { open_unlocked(base, len)? };
    NonNull::new(base.cast()).ok_or(Errno::NOMEM)
}

/// Gives access to a new mapping that was made without. Such a mapping is not filled when it is locked.
///
/// # Safety
/// The mapping belongs to the caller.
unsafe fn open_unlocked(base: *mut std::ffi::c_void, len: usize) -> Result<(), Errno> {
    // SAFETY: the caller's promise.
    unsafe {
        rustix::mm::munlock(base, len)?;
        rustix::mm::mprotect(base, len, MprotectFlags::READ | MprotectFlags::WRITE)
    }
}

// The slices below cover memory that the application can write at any time. All bytes are valid `u8`s, the
// mapping is never removed, and its length is fixed here. So no access leaves the mapping, whatever the
// contents are. Rust's rules also require that there is no write during a read. The driver's contract
// requires the same of programs: while the GPU uses a buffer, the CPU must not, until its fence has
// signalled. A program that breaks this rule gets the same as from a chip, an old or a new value. The
// emulator reads words once and checks what it reads, and keeps nothing in this memory that its own safety
// depends on.
impl AsRef<[u8]> for Pages {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the memory stays mapped; see the comment above.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_ref`; no other `Pages` covers this memory.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }
}
