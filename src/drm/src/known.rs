//! What hooks ask before anything else: whether a call is about us at all.
//!
//! A signal handler may call `close`, `open`, `stat`, `fork` and `_exit` whatever its thread
//! was doing, and so may a child of `vfork`, which runs in its parent's memory. So nothing
//! here takes a lock or allocates, and a process that is not the device's owner changes nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use rustix::fs::{FileType, Mode};

use crate::ffi::{Inode, Look};

/// Permissions of the memory file that stands for an open node. Nobody else gives an
/// unnamed file these, so that `fstat` alone tells what it is.
pub const NODE: Mode = Mode::from_raw_mode(0o1666);
/// Permissions of those that stand for fences and sync objects.
pub const OBJECT: Mode = Mode::from_raw_mode(0o1600);
/// Permissions of those that are the memory of a buffer, which other processes can have, too.
pub const BUFFER: Mode = Mode::from_raw_mode(0o1640);

/// Process that has the device.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Objects there are: nothing of ours happens to a program's descriptors while this is 0.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// File system of memory files.
static DEVICE: AtomicU64 = AtomicU64::new(0);
/// A descriptor of ours was closed since [`take_closed`] was asked last.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// This process has the device from now on.
pub fn own() {
    OWNER.store(std::process::id(), Ordering::Release);
}

/// Whether this process has the device: false in a child of `vfork`.
pub fn is_owner() -> bool {
    OWNER.load(Ordering::Acquire) == std::process::id()
}

/// There are `count` objects.
pub fn note_live(count: usize) {
    LIVE.store(count, Ordering::Release);
}

/// `inode` is a memory file.
pub fn note_file(inode: Inode) {
    DEVICE.store(inode.device, Ordering::Release);
}

/// What `fd` stands for, if it is one of ours and this process has the device.
pub fn object_at(fd: i32) -> Option<Inode> {
    let look = (LIVE.load(Ordering::Acquire) > 0).then(|| Look::at(fd)).flatten()?;
    (has_permissions(look, &[NODE, OBJECT, BUFFER]) && is_owner()).then_some(look.inode)
}

/// Whether a file is an open node.
pub fn is_node(look: Look) -> bool {
    has_permissions(look, &[NODE])
}

/// Whether a file is the memory of a buffer, of this process's device or another's.
pub fn is_buffer(look: Look) -> bool {
    has_permissions(look, &[BUFFER])
}

fn has_permissions(look: Look, any: &[Mode]) -> bool {
    look.unnamed
        && look.inode.device == DEVICE.load(Ordering::Acquire)
        && FileType::from_raw_mode(look.mode) == FileType::RegularFile
        && any.contains(&Mode::from_raw_mode(look.mode))
}

/// Some of the program's descriptors are closed now: what they stood for ends as soon as
/// somebody who may take locks comes by.
pub fn note_closed() {
    if LIVE.load(Ordering::Acquire) > 0 && is_owner() {
        CLOSED.store(true, Ordering::Release);
    }
}

/// Whether descriptors of ours were closed since the last call.
pub fn take_closed() -> bool {
    CLOSED.swap(false, Ordering::AcqRel)
}
