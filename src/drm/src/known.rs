//! The first check of every hook: whether a call concerns the device at all.
//!
//! A signal handler may call `close`, `open`, `stat`, `fork` and `_exit` at any time, and so may a child of
//! `vfork`, which runs in its parent's memory. So this module takes no lock and does not allocate, and a
//! process that is not the device's owner changes nothing.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use rustix::fs::{FileType, MemfdFlags, Mode};

use crate::ffi::{Inode, Look};

/// Permissions of the memory file for an open node. Other programs do not give an unnamed file these
/// permissions, so `fstat` alone identifies it.
pub const NODE: Mode = Mode::from_raw_mode(0o1666);
/// Permissions of the memory file for an open of the KGSL device.
pub const KGSL: Mode = Mode::from_raw_mode(0o1606);
/// Permissions of the pipes for fences and of the memory files for sync objects.
pub const OBJECT: Mode = Mode::from_raw_mode(0o1600);
/// Permissions of the memory files that hold a buffer, which other processes may share.
pub const BUFFER: Mode = Mode::from_raw_mode(0o1640);

/// Id of the process that owns the device.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// Number of objects. While it is 0, the hooks ignore the program's descriptors.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// File system of the memory files.
static DEVICE: AtomicU64 = AtomicU64::new(0);
/// Whether a descriptor of the device was closed since the last call of [`take_closed`].
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes this process the owner of the device.
pub fn own() {
    OWNER.store(std::process::id(), Ordering::Release);
}

/// Whether this process owns the device. It is false in a child of `vfork`.
pub fn is_owner() -> bool {
    OWNER.load(Ordering::Acquire) == std::process::id()
}

/// Records the number of objects.
pub fn note_live(count: usize) {
    LIVE.store(count, Ordering::Release);
}

/// Records that `inode` is a memory file.
pub fn note_file(inode: Inode) {
    DEVICE.store(inode.device, Ordering::Release);
}

/// The file behind `fd`, if it belongs to the device and this process owns that.
pub fn object_at(fd: i32) -> Option<Inode> {
    let look = (LIVE.load(Ordering::Acquire) > 0).then(|| Look::at(fd)).flatten()?;
    let ours = has_permissions(look, &[NODE, KGSL, OBJECT, BUFFER]) || is_fence(look);
    (ours && is_owner()).then_some(look.inode)
}

/// Whether a file is the pipe of a fence. A program's own pipe does not have these permissions.
fn is_fence(look: Look) -> bool {
    FileType::from_raw_mode(look.mode) == FileType::Fifo && Mode::from_raw_mode(look.mode) == OBJECT
}

/// The file behind `fd`, if it is an open node of the program that executed this one, which has not opened the
/// device itself.
pub fn inherited_at(fd: i32) -> Option<Inode> {
    let owner = OWNER.load(Ordering::Acquire);
    let may_open = owner == 0 || owner == std::process::id();
    Look::at(fd).filter(|look| may_open && is_node(*look)).map(|look| look.inode)
}

/// Whether a file is an open node.
pub fn is_node(look: Look) -> bool {
    has_permissions(look, &[NODE])
}

/// Whether a file is an open of the KGSL device.
pub fn is_kgsl(look: Look) -> bool {
    has_permissions(look, &[KGSL])
}

/// Whether a file holds a buffer, of this process's device or of another one's.
pub fn is_buffer(look: Look) -> bool {
    has_permissions(look, &[BUFFER])
}

fn has_permissions(look: Look, any: &[Mode]) -> bool {
    look.unnamed
        && FileType::from_raw_mode(look.mode) == FileType::RegularFile
        && any.contains(&Mode::from_raw_mode(look.mode))
        && Some(look.inode.device) == memory_files()
}

/// The file system of memory files. It is the same for all processes.
fn memory_files() -> Option<u64> {
    let known = DEVICE.load(Ordering::Acquire);
    if known > 0 {
        return Some(known);
    }
    let probe = rustix::fs::memfd_create(c"a4emu", MemfdFlags::CLOEXEC).ok()?;
    let device = Inode::of_owned(&probe)?.device;
    DEVICE.store(device, Ordering::Release);
    Some(device)
}

/// Records that descriptors may have been closed. Their objects end at the next call that may take locks.
pub fn note_closed() {
    if LIVE.load(Ordering::Acquire) > 0 && is_owner() {
        CLOSED.store(true, Ordering::Release);
    }
}

/// Whether descriptors of the device were closed since the last call.
pub fn take_closed() -> bool {
    CLOSED.swap(false, Ordering::AcqRel)
}
