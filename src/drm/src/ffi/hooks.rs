//! Entry points for descriptors and files. The [`crate::device`] serves its own files; other calls go to libc.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::os::fd::IntoRawFd;

use rustix::fs::MemfdFlags;
use rustix::io::Errno;

use super::descriptors::close_unseen;
use super::next::interpose;
use super::paths::translated;
use super::{Inode, Look, process, set_errno, threads};
use crate::{known, node, tree};

/// A result in C's form: -1 and `errno`.
fn to_c(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|errno| {
        set_errno(errno);
        -1
    })
}

/// The result of an open: `fd`, or a new descriptor of the device if `fd` is its stand-in.
fn opened(fd: c_int, flags: c_int) -> c_int {
    match Look::at(fd) {
        Some(look) if flags & libc::O_PATH == 0 => {
            let open = match look.inode {
                inode if tree::is_node(inode) => node::open,
                inode if tree::is_kgsl(inode) => node::open_kgsl,
                _ => return fd,
            };
            close_unseen(fd);
            let closes = flags & libc::O_CLOEXEC != 0;
            let cloexec = if closes { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
            to_c(open(cloexec).map(IntoRawFd::into_raw_fd))
        }
        _ => fd,
    }
}

/// Whether an open of `path` may reach the device's stand-in.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn may_be_node(path: *const c_char) -> bool {
    // SAFETY: the caller's promise.
    let path = if path.is_null() { &[] } else { unsafe { CStr::from_ptr(path) }.to_bytes() };
    [tree::NODE, tree::KGSL].iter().any(|name| path.ends_with(name.as_bytes()))
}

/// Makes `open` and similar functions, which open the redirected path, or the device.
macro_rules! open {
    ($(fn $name:ident([$($before:ident),*] path, flags [$($mode:ident),*]);)*) => {
        interpose! {$(
            /// Calls libc's function with the redirected path. For the node, it opens the device.
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

/// The device number of a file that is an open of a device, or the stand-in of one.
fn number(look: Look) -> Option<(u32, u32)> {
    if tree::is_node(look.inode) || known::is_node(look) {
        return Some((tree::MAJOR, tree::MINOR));
    }
    (tree::is_kgsl(look.inode) || known::is_kgsl(look)).then_some(tree::KGSL_NUMBER)
}

/// Changes the result of `stat` for the device, or its stand-in, into that of a render node.
///
/// # Safety
/// `stat` points to a filled structure.
unsafe fn as_node(stat: *mut libc::stat) {
    // SAFETY: the caller's promise.
    let stat = unsafe { &mut *stat };
    let inode = Inode { device: stat.st_dev, number: stat.st_ino };
    let look = Look { inode, mode: stat.st_mode, unnamed: stat.st_nlink == 0, ..Look::default() };
    if let Some((major, minor)) = number(look) {
        stat.st_mode = libc::S_IFCHR | 0o666;
        stat.st_rdev = libc::makedev(major, minor);
        stat.st_size = 0;
    }
}

/// Makes `stat` and similar functions. On 64-bit systems `struct stat64` is `struct stat`.
macro_rules! stat {
    ($(fn $name:ident([$($before:ident: $bty:ty),*] path [$($after:ident: $aty:ty),*]);)*) => {
        interpose! {$(
            /// Calls libc's function with the redirected path. The node appears as a device.
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

/// Makes `fstat` and similar functions.
macro_rules! fstat {
    ($(fn $name:ident($($before:ident),*);)*) => {
        interpose! {$(
            /// Calls libc's function. An open node appears as a device.
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
    /// Calls libc's function with the redirected path. The node appears as a device.
    fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int
        = |next| {
        // SAFETY: as in `stat`.
        unsafe {
            let status = translated(path, |path| next(directory, path, flags, mask, out));
            if status == 0 {
                let out = &mut *out;
                let device = libc::makedev(out.stx_dev_major, out.stx_dev_minor);
                let inode = Inode { device, number: out.stx_ino };
                let unnamed = out.stx_nlink == 0;
                let look = Look { inode, mode: out.stx_mode.into(), unnamed, ..Look::default() };
                if let Some((major, minor)) = number(look) {
                    out.stx_mode = libc::S_IFCHR as u16 | 0o666;
                    (out.stx_rdev_major, out.stx_rdev_minor, out.stx_size) = (major, minor, 0);
                }
            }
            status
        }
    };

    /// Serves an ioctl of the device; otherwise calls libc's function.
    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int = |next| {
        match node::ioctl(fd, request, argument as u64) {
            Some(result) => to_c(result),
            // SAFETY: the arguments are passed on unchanged.
            None => unsafe { next(fd, request, argument) },
        }
    };

    /// Calls libc's function, and records the end of a thread, and what forbids system calls.
    fn syscall(
        number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long,
    ) -> c_long = |next| {
        if number == libc::SYS_exit {
            threads::note_exit(a);
        }
        // SAFETY: the arguments are passed on unchanged.
        let status = unsafe { next(number, a, b, c, d, e, f) };
        if number == libc::SYS_seccomp && status == 0 {
            match a as c_uint {
                libc::SECCOMP_SET_MODE_STRICT => process::note_seccomp(libc::SECCOMP_MODE_STRICT),
                libc::SECCOMP_SET_MODE_FILTER => process::note_seccomp(libc::SECCOMP_MODE_FILTER),
                _ => {}
            }
        }
        status
    };

    /// Calls libc's function, and records what forbids system calls.
    fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int = |next| {
        // SAFETY: the arguments are passed on unchanged.
        let status = unsafe { next(option, a, b, c, d) };
        if option == libc::PR_SET_SECCOMP && status == 0 {
            process::note_seccomp(a as c_uint);
        }
        status
    };

    /// Calls libc's function. Closing the last descriptor of an object of the device ends the object.
    fn close(fd: c_int) -> c_int = |next| {
        let ours = known::object_at(fd).is_some();
        // SAFETY: the arguments are passed on unchanged.
        closed(ours, || unsafe { next(fd) })
    };

    /// Calls libc's function, which closes the old file of `new`.
    fn dup2(old: c_int, new: c_int) -> c_int = |next| {
        let ours = old != new && known::object_at(new).is_some();
        // SAFETY: the arguments are passed on unchanged.
        closed(ours, || unsafe { next(old, new) })
    };

    /// Calls libc's function, which closes the old file of `new`.
    fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int = |next| {
        let ours = known::object_at(new).is_some();
        // SAFETY: the arguments are passed on unchanged.
        closed(ours, || unsafe { next(old, new, flags) })
    };

    /// Calls libc's function. Descriptors of the device may be closed by it.
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int = |next| {
        // SAFETY: the arguments are passed on unchanged.
        closed(true, || unsafe { next(first, last, flags) })
    };

    /// Calls libc's function. Descriptors of the device may be closed by it.
    fn closefrom(first: c_int) -> () = |next| {
        // SAFETY: the arguments are passed on unchanged.
        closed(true, || unsafe { next(first) });
    };
}

/// Calls `close` and records that a descriptor of the device may be closed. Takes no lock: see [`known`].
fn closed<R>(ours: bool, close: impl FnOnce() -> R) -> R {
    let result = close();
    if ours {
        known::note_closed();
    }
    result
}
