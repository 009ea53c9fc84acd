//! Buffers that other processes have, too.
//!
//! The memory of a buffer that is exported becomes a file, which is put in place of what was there:
//! every process that has a descriptor of it can map it, and nobody else. The GPU's thread does that,
//! between two submits, and keeps a descriptor where the program can neither see nor close it: the
//! next export is of the same file. Files are sealed: nobody can take memory away under a mapping.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak, mpsc};

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};
use rustix::io::Errno;

use crate::arena::{self, Arena, Backing};
use crate::device::Device;
use crate::ffi::Inode;
use crate::ffi::pages::Pages;
use crate::gem::Bo;
use crate::known;

/// What a file has to be sealed against before we map it.
const SEALS: SealFlags = SealFlags::SHRINK;

/// What the GPU's thread is asked to do between submits.
pub enum Errand {
    /// Make the buffer's memory a file, if it is none.
    Export(Arc<Bo>),
    /// Make the file at the path, which is that of the inode, the buffer's memory.
    Import(Arc<Bo>, String, Inode),
}

/// An errand, and whom to tell where the file can be opened.
pub type Order = (Errand, mpsc::Sender<Result<String, Errno>>);

/// Buffers whose memory is a file.
#[derive(Default)]
pub struct Shared(BTreeMap<Inode, Weak<Bo>>);

/// The GPU thread's descriptors of such files, by the buffer's address.
#[derive(Default)]
pub struct Shelf(BTreeMap<u32, OwnedFd>);

impl Shared {
    /// The buffer whose memory is the file `inode`.
    pub fn find(&self, inode: Inode) -> Option<Arc<Bo>> {
        self.0.get(&inode)?.upgrade()
    }

    /// The file `inode` is the memory of `bo`, or of the buffer that it gives instead.
    pub fn add(&mut self, inode: Inode, bo: Arc<Bo>) -> Arc<Bo> {
        if let Some(first) = self.find(inode) {
            return first;
        }
        self.0.retain(|_, bo| bo.strong_count() > 0);
        self.0.insert(inode, Arc::downgrade(&bo));
        bo
    }
}

impl Shelf {
    /// Does an errand; gives where the file can be opened.
    ///
    /// # Errors
    /// What the system says to the file; `EINVAL` for one that may become shorter; `ENOENT` for a
    /// buffer that the process which forked this one has shared, and is gone.
    pub fn run(&mut self, errand: &Errand, arena: &Mutex<Arena>) -> Result<String, Errno> {
        let (bo, file) = match errand {
            Errand::Export(bo) if self.0.contains_key(&bo.address) => return self.path(bo.address),
            Errand::Export(bo) => (bo, file_of(bo, arena)?),
            Errand::Import(bo, path, inode) => (bo, open(path, *inode)?),
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

    /// The buffers at `addresses` are gone.
    pub fn forget(&mut self, addresses: &[u32]) {
        addresses.iter().for_each(|address| _ = self.0.remove(address));
    }
}

/// Where `process` has the file `fd` of this thread, which others of its threads do not see.
fn path_from(process: impl Display, fd: &OwnedFd) -> String {
    format!("/proc/{process}/task/{}/fd/{}", rustix::thread::gettid().as_raw_nonzero(), fd.as_raw_fd())
}

fn backing(fd: &OwnedFd) -> Result<Backing, Errno> {
    let inode = Inode::of_owned(fd).ok_or(Errno::BADF)?;
    Ok(Backing { inode, path: path_from(std::process::id(), fd) })
}

/// The file that is the buffer's memory: a new one, or that of the process which forked this one.
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

/// A new file with what is in the buffer.
fn copy(bo: &Bo, contents: &Pages) -> Result<OwnedFd, Errno> {
    let fd = rustix::fs::memfd_create("a4emu-buffer", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::fchmod(&fd, known::BUFFER)?;
    rustix::fs::ftruncate(&fd, bo.size)?;
    rustix::fs::fcntl_add_seals(&fd, SEALS | SealFlags::GROW | SealFlags::SEAL)?;
    // Pages that nobody wrote stay holes.
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

/// The file at `path`, if it is the one that was looked at.
fn open(path: &str, inode: Inode) -> Result<OwnedFd, Errno> {
    let fd = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let sealed = rustix::fs::fcntl_get_seals(&fd)?.contains(SEALS);
    if sealed && Inode::of_owned(&fd) == Some(inode) { Ok(fd) } else { Err(Errno::INVAL) }
}

impl Device {
    /// Has the GPU's thread do something between submits; gives where the file can be opened.
    ///
    /// # Errors
    /// Those of [`Shelf::run`] and of starting the thread.
    pub fn run_errand(&'static self, errand: Errand) -> Result<String, Errno> {
        self.start()?;
        let (tell, told) = mpsc::channel();
        self.state().ring.errands.push_back((errand, tell));
        self.ask();
        told.recv().unwrap_or(Err(Errno::IO))
    }

    /// The memory of `bo` is the file `fd`.
    pub fn note_shared(&self, fd: &OwnedFd, bo: &Arc<Bo>) {
        if let Some(inode) = Inode::of_owned(fd) {
            self.state().shared.add(inode, bo.clone());
        }
    }
}
