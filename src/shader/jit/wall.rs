//! The wall: memory that is written, then executed, and the call into it. The only unsafe code of the emulator
//! outside the device.
//!
//! What the rest relies on, and what is checked where:
//!
//! - Pages are written first, and executable later; they are never both. They are unmapped when the last
//!   [`Code`] of them is dropped, and nothing calls into them without one.
//! - Behind the code lies a page that is neither readable nor executable, so that control that would run out
//!   of the code stops there.
//! - Emitted code is a leaf: it neither calls nor touches the stack, it writes nothing but rows and frame and
//!   reads nothing but those and the pool, within the [`Extent`] that the emitter measured: [`Code::call`] refuses
//!   slices that are shorter. It uses registers alone that a caller of its ABI expects to lose.
#![allow(unsafe_code, reason = "the wall: see its documentation")]
use std::ffi::c_void;
use std::io;
use std::ptr::{NonNull, null_mut};
use std::slice;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use super::super::lanes::{Lanes, Mask};

/// A page, and what code is rounded up to.
const PAGE: usize = 4096;

/// How much of each slice emitted code touches, in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Of the warp's rows.
    pub rows: usize,
    /// Of the constants that belong to the code.
    pub pool: usize,
    /// Of what the environment gives, and of values without a register.
    pub frame: usize,
}

/// What emitted code is called as: rows, pool, frame, the lanes that execute.
type Entry = unsafe extern "sysv64" fn(*mut Lanes, *const Lanes, *mut Lanes, Mask);

/// Machine code that can run.
pub struct Code {
    pages: NonNull<c_void>,
    /// Bytes that can be executed; the guard is behind them.
    len: usize,
    extent: Extent,
}

// SAFETY: the pages are never written after `new`, and unmapped only when nobody has the value any more.
unsafe impl Send for Code {}
// SAFETY: as above; running code does not change it.
unsafe impl Sync for Code {}

impl Code {
    /// Code of these bytes, which touch no more than `extent`.
    ///
    /// # Errors
    /// When the system gives no memory, or none that can be executed.
    pub fn new(bytes: &[u8], extent: Extent) -> io::Result<Self> {
        let len = bytes.len().next_multiple_of(PAGE);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous mapping at an address of the system's choice overlaps nothing.
        let address = unsafe { mmap_anonymous(null_mut(), len + PAGE, access, MapFlags::PRIVATE)? };
        let pages = NonNull::new(address).ok_or(io::ErrorKind::OutOfMemory)?;
        let code = Self { pages, len, extent };
        // SAFETY: `len` bytes from `pages` on are ours alone, writable, and not yet executable.
        unsafe { slice::from_raw_parts_mut(address.cast::<u8>(), bytes.len()) }.copy_from_slice(bytes);
        // SAFETY: both ranges are whole pages of our mapping, and no reference into them is left.
        unsafe {
            mprotect(address, len, MprotectFlags::READ | MprotectFlags::EXEC)?;
            mprotect(address.byte_add(len), PAGE, MprotectFlags::empty())?;
        }
        Ok(code)
    }

    /// Runs it.
    ///
    /// # Panics
    /// When a slice is shorter than the code's extent.
    pub fn call(&self, rows: &mut [Lanes], pool: &[Lanes], frame: &mut [Lanes], mask: Mask) {
        let Extent { rows: of_rows, pool: of_pool, frame: of_frame } = self.extent;
        assert!(rows.len() >= of_rows && pool.len() >= of_pool && frame.len() >= of_frame);
        // SAFETY: the pages hold a whole function of this ABI, which the emitter made, and it touches no more of
        // the slices than was just checked.
        unsafe {
            let entry = std::mem::transmute::<*mut c_void, Entry>(self.pages.as_ptr());
            entry(rows.as_mut_ptr(), pool.as_ptr(), frame.as_mut_ptr(), mask);
        }
    }

    /// Where it lies, and how long it is: for profilers.
    pub fn place(&self) -> (usize, usize) {
        (self.pages.as_ptr().addr(), self.len)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and nobody can call into it any more. A failure leaves it mapped.
        let _ = unsafe { munmap(self.pages.as_ptr(), self.len + PAGE) };
    }
}
