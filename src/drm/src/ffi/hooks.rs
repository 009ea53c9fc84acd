//! Entry points about descriptors and files: those of ours are served by the
//! [`device`], the rest goes on to libc.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::os::fd::IntoRawFd;
use std::ptr;

use rustix::io::Errno;

use super::Inode;
use super::next::interpose;
use super::paths::translated;
use crate::{device, mappings, tree};

/// A result in C's way: -1 and `errno`.
fn to_c(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|errno| {
        set_errno(errno);
        -1
    })
}

fn set_errno(errno: Errno) {
    // SAFETY: libc's own per-thread variable.
    unsafe { *libc::__errno_location() = errno.raw_os_error() };
}

/// What an open gives: `fd`, or a new descriptor of the device if `fd` is its stand-in.
fn opened(fd: c_int, flags: c_int) -> c_int {
    match Inode::of(fd) {
        Some(inode) if tree::is_node(inode) && flags & libc::O_PATH == 0 => {
            // SAFETY: just opened, and nobody else knows of it.
            unsafe { libc::syscall(libc::SYS_close, fd) };
            to_c(device::open(flags & libc::O_CLOEXEC != 0).map(IntoRawFd::into_raw_fd))
        }
        _ => fd,
    }
}

/// Whether an open of `path` can reach the device's stand-in.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn may_be_node(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    !path.is_null() && unsafe { CStr::from_ptr(path) }.to_bytes().ends_with(tree::NODE.as_bytes())
}

/// `open` and its relatives: at the path that stands in, or the device.
macro_rules! open {
    ($(fn $name:ident([$($before:ident),*] path, flags [$($mode:ident),*]);)*) => {
        interpose! {$(
            /// libc's, at the path that stands in for the one asked for; of the node, the device.
            fn $name($($before: c_int,)* path: *const c_char, flags: c_int $(, $mode: c_uint)*) -> c_int = |next| {
                // SAFETY: the caller keeps libc's contract, which the new path satisfies too.
                unsafe {
                    let fd = translated(path, |path| next($($before,)* path, flags $(, $mode)*));
                    if fd >= 0 && may_be_node(path) { opened(fd, flags) } else { fd }
                }
            };
        )*}
    };
}

open! {
    fn open([] path, flags [mode]);
    fn open64([] path, flags [mode]);
    fn __open_2([] path, flags []);
    fn __open64_2([] path, flags []);
    fn openat([directory] path, flags [mode]);
    fn openat64([directory] path, flags [mode]);
    fn __openat_2([directory] path, flags []);
    fn __openat64_2([directory] path, flags []);
}

/// Makes what `stat` says of the device, or of its stand-in, what it says of a render node.
///
/// # Safety
/// `stat` points to one that was filled.
unsafe fn as_node(stat: *mut libc::stat) {
    // SAFETY: the caller's promise.
    let stat = unsafe { &mut *stat };
    if device::is_node(Inode::new(stat.st_dev, stat.st_ino)) {
        stat.st_mode = libc::S_IFCHR | 0o666;
        stat.st_rdev = libc::makedev(tree::MAJOR, tree::MINOR);
        stat.st_size = 0;
    }
}

/// `stat` and its relatives. On 64-bit systems `struct stat64` is `struct stat`.
macro_rules! stat {
    ($(fn $name:ident([$($before:ident: $bty:ty),*] path [$($after:ident: $aty:ty),*]);)*) => {
        interpose! {$(
            /// libc's, at the path that stands in for the one asked for; the node is a device.
            fn $name($($before: $bty,)* path: *const c_char, stat: *mut libc::stat $(, $after: $aty)*) -> c_int = |next| {
                // SAFETY: as in `open`; libc filled `stat` if it says so.
                unsafe {
                    let status = translated(path, |path| next($($before,)* path, stat $(, $after)*));
                    if status == 0 { as_node(stat) }
                    status
                }
            };
        )*}
    };
}

stat! {
    fn stat([] path []);
    fn stat64([] path []);
    fn lstat([] path []);
    fn lstat64([] path []);
    fn fstatat([directory: c_int] path [flags: c_int]);
    fn fstatat64([directory: c_int] path [flags: c_int]);
    fn __xstat([version: c_int] path []);
    fn __xstat64([version: c_int] path []);
    fn __lxstat([version: c_int] path []);
    fn __lxstat64([version: c_int] path []);
    fn __fxstatat([version: c_int, directory: c_int] path [flags: c_int]);
    fn __fxstatat64([version: c_int, directory: c_int] path [flags: c_int]);
}

/// `fstat` and its relatives.
macro_rules! fstat {
    ($(fn $name:ident($($before:ident),*);)*) => {
        interpose! {$(
            /// libc's; an open device is one.
            fn $name($($before: c_int,)* stat: *mut libc::stat) -> c_int = |next| {
                // SAFETY: as in `stat`.
                unsafe {
                    let status = next($($before,)* stat);
                    if status == 0 { as_node(stat) }
                    status
                }
            };
        )*}
    };
}

fstat! {
    fn fstat(fd);
    fn fstat64(fd);
    fn __fxstat(version, fd);
    fn __fxstat64(version, fd);
}

interpose! {
    /// libc's, at the path that stands in for the one asked for; the node is a device.
    fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int
        = |next| {
        // SAFETY: as in `stat`.
        unsafe {
            let status = translated(path, |path| next(directory, path, flags, mask, out));
            if status == 0 {
                let out = &mut *out;
                let device = libc::makedev(out.stx_dev_major, out.stx_dev_minor);
                if device::is_node(Inode::new(device, out.stx_ino)) {
                    out.stx_mode = libc::S_IFCHR as u16 | 0o666;
                    (out.stx_rdev_major, out.stx_rdev_minor, out.stx_size) = (tree::MAJOR, tree::MINOR, 0);
                }
            }
            status
        }
    };

    /// The device's, or libc's.
    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int = |next| {
        match device::ioctl(fd, request, argument as u64) {
            Some(result) => to_c(result),
            // SAFETY: passed on as it came.
            None => unsafe { next(fd, request, argument) },
        }
    };

    /// libc's; the last descriptor of one of our files ends what it stood for.
    fn close(fd: c_int) -> c_int = |next| {
        let closing = device::object_at(fd);
        // SAFETY: passed on as it came.
        let status = unsafe { next(fd) };
        if closing {
            device::sweep();
        }
        status
    };

    /// libc's; what `new` named before is closed by it.
    fn dup2(old: c_int, new: c_int) -> c_int = |next| {
        let closing = old != new && device::object_at(new);
        // SAFETY: passed on as it came.
        let status = unsafe { next(old, new) };
        if closing {
            device::sweep();
        }
        status
    };

    /// libc's; what `new` named before is closed by it.
    fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int = |next| {
        let closing = device::object_at(new);
        // SAFETY: passed on as it came.
        let status = unsafe { next(old, new, flags) };
        if closing {
            device::sweep();
        }
        status
    };

    /// libc's; any of our files may be among those closed.
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int = |next| {
        // SAFETY: passed on as it came.
        let status = unsafe { next(first, last, flags) };
        device::sweep();
        status
    };

    /// libc's; of the device or an exported buffer, the buffer's pages.
    fn mmap(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void = |next| {
        // SAFETY: passed on with the file and offset that hold the pages asked for.
        unsafe { map(next, at, len, (prot, flags), fd, offset) }
    };

    /// libc's; of the device or an exported buffer, the buffer's pages.
    fn mmap64(at: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void = |next| {
        // SAFETY: as in `mmap`.
        unsafe { map(next, at, len, (prot, flags), fd, offset) }
    };

    /// libc's; a buffer lives as long as it is mapped.
    fn munmap(at: *mut c_void, len: usize) -> c_int = |next| {
        mappings::forget(at as usize, len);
        // SAFETY: passed on as it came.
        unsafe { next(at, len) }
    };
}

type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;

/// # Safety
/// As `mmap`.
unsafe fn map(
    next: Mmap,
    at: *mut c_void,
    len: usize,
    how: (c_int, c_int),
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let (prot, flags) = how;
    if flags & libc::MAP_FIXED != 0 {
        mappings::forget(at as usize, len);
    }
    let found = if flags & libc::MAP_ANONYMOUS != 0 { None } else { device::mapped_buffer(fd, offset, len) };
    match found {
        // SAFETY: passed on as it came.
        None => unsafe { next(at, len, prot, flags, fd, offset) },
        Some(Err(errno)) => {
            set_errno(errno);
            libc::MAP_FAILED
        }
        Some(Ok(part)) => {
            // SAFETY: the same call, of the file that holds the buffer.
            let address = unsafe { next(at, len, prot, flags, part.file(), part.offset()) };
            if !ptr::eq(address, libc::MAP_FAILED) {
                mappings::note(address as usize, len, part);
            }
            address
        }
    }
}
