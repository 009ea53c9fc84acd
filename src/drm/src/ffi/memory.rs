//! Entry points for the program's address space. [`mappings`] serves mappings of buffers; other calls go to
//! libc.
//!
//! The addresses of buffers are in one region that the emulator uses too. So calls on them do not reach the
//! system, which would remove the memory for both.

use std::ffi::{c_int, c_void};

use rustix::io::Errno;

use super::next::interpose;
use super::{last_errno, set_errno, signals};
use crate::mappings::{self, Part};
use crate::{known, node};

type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;

/// An address in C's form: `MAP_FAILED` and `errno` for an error.
fn to_c(result: Result<usize, Errno>) -> *mut c_void {
    match result {
        Ok(at) => at as *mut c_void,
        Err(errno) => {
            set_errno(errno);
            libc::MAP_FAILED
        }
    }
}

/// A result in C's form: -1 and `errno`.
fn status(result: Result<(), Errno>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(errno) => {
            set_errno(errno);
            -1
        }
    }
}

/// Whether this process may have a buffer mapped in `at..at + len`.
fn is_ours(at: *mut c_void, len: usize) -> bool {
    mappings::may_show(at as usize, len) && known::is_owner()
}

interpose! {
    /// Maps the memory of a buffer for the node or an exported buffer; otherwise calls libc's function.
    fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void = |next| {
        // SAFETY: the caller keeps libc's contract.
        unsafe { map(next, at, len, (prot, flags), fd, offset) }
    };

    /// Maps the memory of a buffer for the node or an exported buffer; otherwise calls libc's function.
    fn mmap64(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void = |next| {
        // SAFETY: as in `mmap`.
        unsafe { map(next, at, len, (prot, flags), fd, offset) }
    };

    /// Calls libc's function, except for mappings of buffers. A buffer lives as long as it is mapped.
    fn munmap(at: *mut c_void, len: usize) -> c_int = |next| {
        if !mappings::touches_region(at as usize, len) && !is_ours(at, len) {
            // SAFETY: the arguments are passed on unchanged.
            return unsafe { next(at, len) };
        }
        let _signals = signals::hold();
        let rest = if known::is_owner() { mappings::remove(at as usize, len) } else { Default::default() };
        let unmap = |part: &std::ops::Range<usize>| {
            // SAFETY: a part of the program's range, outside of the region.
            let status = unsafe { next(part.start as *mut c_void, part.end - part.start) };
            if status == 0 { Ok(()) } else { Err(last_errno()) }
        };
        status(rest.iter().filter(|part| !part.is_empty()).try_for_each(unmap))
    };

    /// Calls libc's function, except for mappings of buffers, which may move and shrink as for real devices.
    fn mremap(at: *mut c_void, old: usize, new: usize, flags: c_int, to: *mut c_void) -> *mut c_void = |next| {
        let wish = (flags & libc::MREMAP_FIXED != 0).then_some(to as usize);
        if wish.is_some_and(|to| mappings::touches_region(to, new)) {
            return to_c(Err(Errno::INVAL));
        }
        let _signals = signals::hold();
        let shown = is_ours(at, old.max(1)).then(|| mappings::shown(at as usize, old.max(1)));
        let Some(part) = shown.flatten() else {
            if let Some(to) = wish.filter(|_| is_ours(to, new)) {
                mappings::remove(to, new);
            }
            // SAFETY: the arguments are passed on unchanged.
            return unsafe { next(at, old, new, flags, to) };
        };
        // SAFETY: as in `mmap`.
        let system = || unsafe { next(at, old, new, flags, to) };
        to_c(remap(part, at as usize..(at as usize).saturating_add(old), new, wish, system))
    };

    /// Calls libc's function, except for buffers, which stay accessible to the GPU and so to the program.
    fn mprotect(at: *mut c_void, len: usize, prot: c_int) -> c_int = |next| {
        // SAFETY: the arguments are passed on unchanged.
        if mappings::touches_region(at as usize, len) { 0 } else { unsafe { next(at, len, prot) } }
    };

    /// Calls libc's function, except for buffers: no advice applies to the memory of a device.
    fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int = |next| {
        // SAFETY: the arguments are passed on unchanged.
        if mappings::touches_region(at as usize, len) { 0 } else { unsafe { next(at, len, advice) } }
    };
}

/// # Safety
/// The contract is that of `mmap`.
unsafe fn map(
    next: Mmap,
    at: *mut c_void,
    len: usize,
    how: (c_int, c_int),
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let (prot, flags) = how;
    let wish = (flags & libc::MAP_FIXED != 0).then_some(at as usize);
    if wish.is_some_and(|at| mappings::touches_region(at, len)) {
        return to_c(Err(Errno::INVAL));
    }
    let ours = flags & libc::MAP_ANONYMOUS == 0 && known::object_at(fd).is_some();
    if ours {
        let _signals = signals::hold();
        if let Some(part) = node::mapped_part(fd, offset, len) {
            // SAFETY: the program chose the address, with `MAP_FIXED`, or it is free.
            let show = |bytes, wish| unsafe { mappings::region()?.show_at(bytes, wish) };
            return to_c(part.and_then(|part| mappings::add(part, wish, show)));
        }
    }
    if let Some(at) = wish.filter(|_| is_ours(at, len)) {
        let _signals = signals::hold();
        mappings::remove(at, len);
    }
    // SAFETY: the arguments are passed on unchanged.
    unsafe { next(at, len, prot, flags, fd, offset) }
}

/// Moves or shrinks the mapping of `part` at `old` to `new` bytes. `system` does it for a separate mapping.
fn remap(
    part: Part,
    old: std::ops::Range<usize>,
    new: usize,
    wish: Option<usize>,
    system: impl FnOnce() -> *mut c_void,
) -> Result<usize, Errno> {
    let (len, bo) = (old.end - old.start, part.bo.clone());
    if new > len.next_multiple_of(4096) && len > 0 {
        return Err(Errno::FAULT);
    }
    if !mappings::touches_region(old.start, 1) {
        return match system() {
            libc::MAP_FAILED => Err(last_errno()),
            to => {
                mappings::moved(old, to as usize, new, bo);
                Ok(to as usize)
            }
        };
    }
    if wish.is_none() && len > 0 {
        mappings::remove(old.start + new, len - new.min(len));
        return Ok(old.start);
    }
    let bytes = part.bytes.start..part.bytes.start + new.next_multiple_of(4096) as u64;
    if bytes.end > part.bo.size {
        return Err(Errno::FAULT);
    }
    // SAFETY: as in `map`.
    let show = |bytes, wish| unsafe { mappings::region()?.show_at(bytes, wish) };
    let to = mappings::add(Part { bo: part.bo, bytes }, wish, show)?;
    mappings::remove(old.start, len);
    Ok(to)
}
