//! What tests of random ioctls share: memory for their arguments, and an allocator that records what is asked of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

/// Size of the scratch area in bytes.
pub const SCRATCH: usize = 1 << 16;
/// Size of the inaccessible memory after it, in bytes.
pub const GUARD: usize = 1 << 12;
/// The largest allocation that an ioctl may request at once: some copies of all readable memory.
const LARGEST: usize = 16 * SCRATCH;

/// The system's allocator, which records the largest request of each thread.
struct Measured;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

fn note(size: usize) {
    // This only fails while the thread ends.
    let _ = ASKED.try_with(|asked| asked.set(asked.get().max(size)));
}

// SAFETY: all calls go to the system's allocator; recording a size allocates nothing.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(old, layout, size) }
    }
    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(old, layout) }
    }
}

/// The allocator. Without debug assertions the library has its own, and nothing is recorded.
#[cfg_attr(debug_assertions, global_allocator)]
static ALLOCATOR: Measured = Measured;

/// The address of [`SCRATCH`] bytes, followed by a page that faults.
pub fn scratch() -> u64 {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: new memory at a free address, which stays mapped.
    let area = unsafe { mmap_anonymous(std::ptr::null_mut(), SCRATCH + GUARD, access, MapFlags::PRIVATE) };
    let area = area.expect("memory");
    // SAFETY: the last page of the new memory.
    unsafe { mprotect(area.wrapping_byte_add(SCRATCH), GUARD, MprotectFlags::empty()) }.expect("a guard");
    area as u64
}

/// Runs `ioctl`, which may not ask for more memory at once than it has read.
pub fn measured<R: std::fmt::Debug>(ioctl: impl FnOnce() -> R, what: impl FnOnce() -> String) {
    ASKED.set(0);
    let answer = ioctl();
    let asked = ASKED.get();
    assert!(asked <= LARGEST, "{asked} bytes at once for {}, {answer:?}", what());
}
