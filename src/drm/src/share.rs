//! Buffers that are shared with other processes.
//!
//! The memory of an exported buffer becomes a file, which replaces the old memory. Only processes with a
//! descriptor of it can map it. The GPU thread does the replacement between two submits. It keeps a
//! descriptor that the program can neither see nor close, so the next export is of the same file. Files are
//! sealed, so that they cannot shrink under a mapping.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak, mpsc};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;

use crate::arena::{self, Arena, Backing};
use crate::bo::Bo;
use crate::ffi::Inode;
use crate::ffi::pages::Pages;
use crate::known;

/// The seals that a file needs before it is mapped.
const SEALS: SealFlags = SealFlags::SHRINK;

/// A task for the GPU thread between two submits.
pub enum ShareTask {
    /// Makes the buffer's memory a file, if it is none.
    Export(Arc<Bo>),
    /// Makes the file at this path, with this inode, the buffer's memory.
    Import(Arc<Bo>, String, Inode),
}

/// A task, with the channel for the path at which the file can be opened.
pub type Order = (ShareTask, mpsc::Sender<Result<String, Errno>>);

/// Buffers whose memory is a file, by inode.
#[derive(Default)]
pub struct Shared(BTreeMap<Inode, Weak<Bo>>);

/// The GPU thread's descriptors of these files, by address of the buffer.
#[derive(Default)]
pub struct SharedFiles(BTreeMap<u32, OwnedFd>);

impl Shared {
    /// The buffer whose memory is the file `inode`.
    pub fn find(&self, inode: Inode) -> Option<Arc<Bo>> {
        self.0.get(&inode)?.upgrade()
    }

    /// Records that the file `inode` is the memory of `bo`. Returns the buffer that already has this file,
    /// or `bo`.
    pub fn add(&mut self, inode: Inode, bo: Arc<Bo>) -> Arc<Bo> {
        if let Some(first) = self.find(inode) {
            return first;
        }
        self.0.retain(|_, bo| bo.strong_count() > 0);
        self.0.insert(inode, Arc::downgrade(&bo));
        bo
    }
}

impl SharedFiles {
    /// Executes a share task. Returns the path at which the file can be opened.
    ///
    /// # Errors
    /// The call fails if the file cannot be used, with `EINVAL` if the file may shrink, and with `ENOENT`
    /// for a buffer that was shared by the parent of this fork, if the parent has ended.
    pub fn run(&mut self, task: &ShareTask, arena: &Mutex<Arena>) -> Result<String, Errno> {
        let (bo, file) = match task {
            ShareTask::Export(bo) if self.0.contains_key(&bo.address) => return self.path(bo.address),
            ShareTask::Export(bo) => (bo, file_of(bo, arena)?),
            ShareTask::Import(bo, path, inode) => (bo, open(path, *inode)?),
        };
        arena::lock(arena).share(bo.address, &file, backing(&file)?)?;
        bo.note_presentable();
        self.0.insert(bo.address, file);
        self.path(bo.address)
    }

    fn path(&self, address: u32) -> Result<String, Errno> {
        let fd = self.0.get(&address).ok_or(Errno::BADF)?;
        Ok(path_from("self", fd))
    }

    /// Closes the files of the buffers at `addresses`, which are released.
    pub fn forget(&mut self, addresses: &[u32]) {
        addresses.iter().for_each(|address| _ = self.0.remove(address));
    }
}

/// The path of the file `fd` of this thread for `process`. Other threads do not have this descriptor.
fn path_from(process: impl Display, fd: &OwnedFd) -> String {
    format!("/proc/{process}/task/{}/fd/{}", rustix::thread::gettid().as_raw_nonzero(), fd.as_raw_fd())
}

fn backing(fd: &OwnedFd) -> Result<Backing, Errno> {
    let inode = Inode::of_owned(fd).ok_or(Errno::BADF)?;
    Ok(Backing { inode, path: path_from(std::process::id(), fd) })
}

/// The file that is the buffer's memory: a new one, or that of the process that forked this one.
fn file_of(bo: &Bo, arena: &Mutex<Arena>) -> Result<OwnedFd, Errno> {
    let (backing, contents) = {
        let arena = arena::lock(arena);
        (arena.backing(bo.address).cloned(), arena.contents(bo.address).ok_or(Errno::INVAL)?)
    };
    match backing {
        Some(Backing { inode, path }) => open(&path, inode),
        None => copy(bo, &contents),
    }
}

/// Makes a new file with the contents of the buffer.
fn copy(bo: &Bo, contents: &Pages) -> Result<OwnedFd, Errno> {
    let fd = rustix::fs::memfd_create("a4emu-buffer", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::fchmod(&fd, known::BUFFER)?;
    rustix::fs::ftruncate(&fd, bo.size)?;
    rustix::fs::fcntl_add_seals(&fd, SEALS | SealFlags::GROW | SealFlags::SEAL)?;
    // Unwritten pages stay holes.
    let pages = contents.as_ref().chunks(arena::PAGE as usize).zip((0..).step_by(arena::PAGE as usize));
    for (page, offset) in pages.filter(|(page, _)| page.iter().any(|byte| *byte != 0)) {
        write_all(&fd, page, offset)?;
    }
    Ok(fd)
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::pwrite(fd, bytes, offset)?;
        (bytes, offset) = (&bytes[written..], offset + written as u64);
    }
    Ok(())
}

/// Opens the file at `path`, if it still has this `inode`.
fn open(path: &str, inode: Inode) -> Result<OwnedFd, Errno> {
    let fd = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let sealed = rustix::fs::fcntl_get_seals(&fd)?.contains(SEALS);
    if sealed && Inode::of_owned(&fd) == Some(inode) { Ok(fd) } else { Err(Errno::INVAL) }
}
