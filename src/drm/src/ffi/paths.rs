//! Entry points that take a path. Paths of the device are redirected to the tree of stand-in files.

use std::ffi::{CStr, c_char, c_int, c_void};

use super::next::interpose;
use crate::tree;

/// Maximum length of a path with its NUL, in the system.
const MAX_PATH: usize = libc::PATH_MAX as usize;

/// Calls `with` with the path that replaces `path`. Does not allocate.
///
/// # Safety
/// `path` is null or a C string.
pub(super) unsafe fn translated<R>(path: *const c_char, with: impl FnOnce(*const c_char) -> R) -> R {
    // SAFETY: the caller's promise, after the check.
    let bytes = if path.is_null() { &[] } else { unsafe { CStr::from_ptr(path) }.to_bytes_with_nul() };
    let Some(root) = tree::root_for(&bytes[..bytes.len().saturating_sub(1)]) else { return with(path) };
    let (mut whole, len) = ([0u8; MAX_PATH], root.len() + bytes.len());
    if len > MAX_PATH {
        return with(path);
    }
    whole[..root.len()].copy_from_slice(root);
    whole[root.len()..len].copy_from_slice(bytes);
    with(whole.as_ptr().cast())
}

/// Removes the tree's root from the start of the path at `resolved`, in place.
///
/// # Safety
/// `resolved` is null or a C string that may be written.
unsafe fn without_root(resolved: *mut c_char) {
    if resolved.is_null() {
        return;
    }
    // SAFETY: not null, and the caller's promise.
    let bytes = unsafe { CStr::from_ptr(resolved) }.to_bytes_with_nul();
    if let Some(rest) = tree::without_root(bytes) {
        // SAFETY: moves the tail of the string, with its NUL, to its front.
        unsafe { std::ptr::copy(rest.as_ptr().cast(), resolved, rest.len()) };
    }
}

/// Makes entry points that call libc's function with the redirected path.
macro_rules! redirect {
    ($(fn $name:ident([$($before:ident: $bty:ty),*] path [$($after:ident: $aty:ty),*]) -> $ret:ty;)*) => {
        interpose! {$(
            /// Calls libc's function with the redirected path.
            fn $name($($before: $bty,)* path: *const c_char, $($after: $aty),*) -> $ret = |next| {
                // SAFETY: the caller keeps libc's contract, which the new path satisfies too.
                unsafe { translated(path, |path| next($($before,)* path, $($after),*)) }
            };
        )*}
    };
}

redirect! {
    fn fopen([] path [mode: *const c_char]) -> *mut c_void;
    fn fopen64([] path [mode: *const c_char]) -> *mut c_void;
    fn opendir([] path []) -> *mut c_void;
    fn scandir([] path [list: *mut c_void, filter: *mut c_void, compare: *mut c_void]) -> c_int;
    fn scandir64([] path [list: *mut c_void, filter: *mut c_void, compare: *mut c_void]) -> c_int;
    fn access([] path [mode: c_int]) -> c_int;
    fn faccessat([directory: c_int] path [mode: c_int, flags: c_int]) -> c_int;
    fn euidaccess([] path [mode: c_int]) -> c_int;
    fn eaccess([] path [mode: c_int]) -> c_int;
    fn getxattr([] path [name: *const c_char, value: *mut c_void, size: usize]) -> isize;
    fn lgetxattr([] path [name: *const c_char, value: *mut c_void, size: usize]) -> isize;
    fn listxattr([] path [list: *mut c_char, size: usize]) -> isize;
    fn llistxattr([] path [list: *mut c_char, size: usize]) -> isize;
    fn statfs([] path [out: *mut c_void]) -> c_int;
    fn statfs64([] path [out: *mut c_void]) -> c_int;
    fn statvfs([] path [out: *mut c_void]) -> c_int;
    fn statvfs64([] path [out: *mut c_void]) -> c_int;
    fn readlink([] path [buffer: *mut c_char, size: usize]) -> isize;
    fn readlinkat([directory: c_int] path [buffer: *mut c_char, size: usize]) -> isize;
    fn __readlink_chk([] path [buffer: *mut c_char, size: usize, room: usize]) -> isize;
    fn __readlinkat_chk([directory: c_int] path [buffer: *mut c_char, size: usize, room: usize]) -> isize;
}

/// Makes entry points that return a resolved path, which is mapped back to the real tree.
macro_rules! resolve {
    ($(fn $name:ident(path $(, $after:ident: $aty:ty)*);)*) => {
        interpose! {$(
            /// Calls libc's function with the redirected path, and maps the resulting path back.
            fn $name(path: *const c_char $(, $after: $aty)*) -> *mut c_char = |next| {
                // SAFETY: as in `redirect`; the result is null or a C string that the caller may
                // write, since it is the caller's buffer or allocated for the caller.
                unsafe {
                    let resolved = translated(path, |path| next(path $(, $after)*));
                    without_root(resolved);
                    resolved
                }
            };
        )*}
    };
}

resolve! {
    fn realpath(path, resolved: *mut c_char);
    fn __realpath_chk(path, resolved: *mut c_char, room: usize);
    fn canonicalize_file_name(path);
}
