//! The device and its open files: what each ioctl works on.
//!
//! Locks are taken in this order: [`Device::engine`] (held while a submit runs),
//! [`Device::state`], the table of mappings, the arena. All but the first are held for
//! moments only.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use a4emu::gpu::Chip;
use rustix::fs::MemfdFlags;
use rustix::io::Errno;

use crate::arena::{self, Arena};
use crate::engine::Engine;
use crate::ffi::{Inode, process};
use crate::gem::Bo;
use crate::ids::Ids;
use crate::mappings::{self, Part};
use crate::queue::Queues;
use crate::syncobj::Syncobj;
use crate::{dispatch, settings, tree};

/// What the node's `mmap` offsets of buffers are above their GPU addresses.
pub const MMAP_OFFSET: u64 = 1 << 32;

/// What a file descriptor of ours stands for.
pub enum Object {
    /// An open of the render node.
    File(DrmFile),
    /// An exported buffer.
    DmaBuf(Arc<Bo>),
    /// A fence, which has signalled: submits are complete when their ioctl returns.
    Fence,
    /// An exported sync object.
    Syncobj(Arc<Syncobj>),
}

/// What one open of the node owns.
#[derive(Default)]
pub struct DrmFile {
    /// Buffers by handle.
    pub buffers: Ids<Arc<Bo>>,
    /// Sync objects by handle.
    pub syncobjs: Ids<Arc<Syncobj>>,
    /// Submit queues by id.
    pub queues: Queues,
}

/// What changes with ioctls.
#[derive(Default)]
pub struct State {
    objects: BTreeMap<Inode, Object>,
    /// Submits accepted so far, of all files: each has its number from 1.
    pub submitted: u64,
    /// Submits that ran to their end.
    pub completed: u64,
}

/// The device.
pub struct Device {
    /// Which chip.
    pub chip: Chip,
    /// The emulator. Whoever holds it runs a submit.
    pub engine: Mutex<Engine>,
    state: Mutex<State>,
    /// Told when a submit completes or a sync object signals.
    pub progress: Condvar,
    /// The memory.
    pub arena: Arc<Mutex<Arena>>,
}

static DEVICE: OnceLock<Device> = OnceLock::new();
/// Objects there are: nothing of ours happens to a program's descriptors while this is 0.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// Their inodes. Apart from the state, and locked for look-ups only, because closing a file
/// asks here, and we close files of our own while the state is locked.
static KNOWN: RwLock<BTreeSet<Inode>> = RwLock::new(BTreeSet::new());

/// The device, if the process has opened it.
pub fn existing() -> Option<&'static Device> {
    DEVICE.get()
}

/// The device; opened for the first time, the machine is set up.
fn device() -> Result<&'static Device, Errno> {
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let made = Device::new()?;
    if DEVICE.set(made).is_ok() {
        process::watch_forks();
        process::at_exit();
    }
    existing().ok_or(Errno::NODEV)
}

/// Opens the node.
///
/// # Errors
/// What the system says when it has no room.
pub fn open(cloexec: bool) -> Result<OwnedFd, Errno> {
    device()?.add("a4emu-msm", cloexec, 0, Object::File(DrmFile::default()))
}

/// Whether `inode` is an open node or its stand-in.
pub fn is_node(inode: Inode) -> bool {
    tree::is_node(inode)
        || matches!(with_object(inode, |object| matches!(object, Object::File(_))), Some(true))
}

/// Whether `fd` is one of ours.
pub fn object_at(fd: i32) -> bool {
    LIVE.load(Ordering::Acquire) > 0 && Inode::of(fd).is_some_and(is_known)
}

fn is_known(inode: Inode) -> bool {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner).contains(&inode)
}

fn with_object<R>(inode: Inode, with: impl FnOnce(&Object) -> R) -> Option<R> {
    if LIVE.load(Ordering::Acquire) == 0 || !is_known(inode) {
        return None;
    }
    existing()?.state().objects.get(&inode).map(with)
}

/// Serves an ioctl; `None` if `fd` is not ours.
pub fn ioctl(fd: i32, request: u64, argument: u64) -> Option<Result<i32, Errno>> {
    if LIVE.load(Ordering::Acquire) == 0 || !dispatch::is_known_type(request) {
        return None;
    }
    let inode = Inode::of(fd)?;
    let kind = with_object(inode, |object| match object {
        Object::File(_) => dispatch::Kind::File,
        Object::DmaBuf(_) => dispatch::Kind::DmaBuf,
        Object::Fence => dispatch::Kind::Fence,
        Object::Syncobj(_) => dispatch::Kind::Syncobj,
    })?;
    let call = Call { device: existing()?, file: inode };
    Some(dispatch::ioctl(&call, kind, request, argument).map(|()| 0))
}

/// The part of a buffer that a mapping of `fd` shows; `None` if `fd` is not ours.
pub fn mapped_buffer(fd: i32, offset: i64, len: usize) -> Option<Result<Part, Errno>> {
    if LIVE.load(Ordering::Acquire) == 0 {
        return None;
    }
    let inode = Inode::of(fd)?;
    let offset = offset as u64;
    with_object(inode, |object| match object {
        Object::File(file) => file.part(offset).filter(|part| part.fits(len)).ok_or(Errno::INVAL),
        Object::DmaBuf(bo) => {
            Some(Part { bo: bo.clone(), start: offset }).filter(|part| part.fits(len)).ok_or(Errno::INVAL)
        }
        Object::Fence | Object::Syncobj(_) => Err(Errno::NODEV),
    })
}

impl DrmFile {
    /// The buffer whose `mmap` offset is `offset`.
    fn part(&self, offset: u64) -> Option<Part> {
        let address = u32::try_from(offset.checked_sub(MMAP_OFFSET)?).ok()?;
        let handle = self.buffers.find(|bo| bo.address == address)?;
        self.buffers.get(handle).map(|bo| Part { bo: bo.clone(), start: 0 })
    }

    /// The buffer of a handle.
    ///
    /// # Errors
    /// `ENOENT`.
    pub fn buffer(&self, handle: u32) -> Result<&Arc<Bo>, Errno> {
        self.buffers.get(handle).ok_or(Errno::NOENT)
    }
}

impl Part {
    fn fits(&self, len: usize) -> bool {
        let end = self.start.checked_add((len as u64).next_multiple_of(arena::PAGE));
        self.start.is_multiple_of(arena::PAGE) && end.is_some_and(|end| end <= self.bo.size)
    }
}

/// Ends objects that have no descriptor left.
pub fn sweep() {
    let Some(device) = existing().filter(|_| LIVE.load(Ordering::Acquire) > 0) else { return };
    let mut state = device.state();
    // With the lock held: an object's descriptor exists before the object does.
    let Ok(open) = open_files() else { return };
    let gone: Vec<Inode> =
        state.objects.keys().filter(|inode| open.binary_search(inode).is_err()).copied().collect();
    let gone: Vec<_> = gone.iter().filter_map(|inode| state.objects.remove(inode)).collect();
    state.note_objects();
    drop(state);
    drop(gone);
}

/// Every file that the process has open, sorted.
fn open_files() -> Result<Vec<Inode>, Errno> {
    use rustix::fs::{Dir, Mode, OFlags};
    let folder = rustix::fs::open(
        "/proc/self/fd",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut inodes = Vec::new();
    for entry in Dir::new(folder)? {
        let fd = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok());
        inodes.extend(fd.and_then(Inode::of));
    }
    inodes.sort_unstable();
    Ok(inodes)
}

/// The process ends: what was counted is put out.
pub fn finish() {
    if let Some(device) = existing() {
        device.engine().finish();
    }
}

impl Device {
    fn new() -> Result<Self, Errno> {
        let chip = settings::get().chip;
        Ok(Self {
            chip,
            engine: Mutex::new(Engine::new(chip)),
            state: Mutex::default(),
            progress: Condvar::new(),
            arena: Arc::new(Mutex::new(Arena::new()?)),
        })
    }

    /// Locks the state. A panic leaves it as consistent as an ioctl that failed half-way.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the emulator to be free, and takes it.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new descriptor, `size` bytes long to whoever seeks in it, that stands for `object`.
    ///
    /// # Errors
    /// What the system says when it has no room.
    pub fn add(&self, name: &str, cloexec: bool, size: u64, object: Object) -> Result<OwnedFd, Errno> {
        let flags = if cloexec { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
        let fd = rustix::fs::memfd_create(name, flags)?;
        rustix::fs::ftruncate(&fd, size)?;
        let inode = Inode::of_owned(&fd).ok_or(Errno::BADF)?;
        let mut state = self.state();
        state.objects.insert(inode, object);
        state.note_objects();
        Ok(fd)
    }

    /// Takes every lock.
    pub fn hold(&self) -> Held<'_> {
        Held {
            engine: self.engine(),
            state: self.state(),
            mapped: mappings::lock(),
            arena: arena::lock(&self.arena),
        }
    }
}

/// All locks of the device, while the process forks. Fields drop in the reverse of the
/// order in which they were taken.
pub struct Held<'a> {
    arena: MutexGuard<'a, Arena>,
    #[expect(dead_code, reason = "held only to be released")]
    mapped: mappings::Guard,
    #[expect(dead_code, reason = "held only to be released")]
    state: MutexGuard<'a, State>,
    engine: MutexGuard<'a, Engine>,
}

impl Held<'_> {
    /// In the child: what must not be shared with the parent becomes the child's own.
    pub fn part_from_parent(&mut self) {
        self.engine.part_from_parent();
        if let Err(errno) = self.arena.part_from_parent() {
            eprintln!("a4emu: no memory of its own for a forked process: {errno}");
        }
    }
}

/// An ioctl in progress: on which file of the device.
pub struct Call {
    /// The device.
    pub device: &'static Device,
    file: Inode,
}

impl Call {
    /// Does something with the open file.
    ///
    /// # Errors
    /// `EBADF` if another thread closed it; else those of `with`.
    pub fn file<R>(&self, with: impl FnOnce(&mut DrmFile) -> Result<R, Errno>) -> Result<R, Errno> {
        with(self.device.state().file(self)?)
    }

    /// What `fd`, a descriptor of the program's, stands for, if it is ours.
    pub fn object<R>(&self, fd: i32, with: impl FnOnce(&Object) -> Option<R>) -> Option<R> {
        Inode::of(fd).and_then(|inode| with_object(inode, with)).flatten()
    }

    /// A number that tells this open from others.
    pub fn identity(&self) -> Inode {
        self.file
    }
}

impl State {
    /// Makes known which objects there are.
    fn note_objects(&self) {
        *KNOWN.write().unwrap_or_else(PoisonError::into_inner) = self.objects.keys().copied().collect();
        LIVE.store(self.objects.len(), Ordering::Release);
    }

    /// The open file that `call` is about.
    ///
    /// # Errors
    /// `EBADF` if another thread closed it.
    pub fn file(&mut self, call: &Call) -> Result<&mut DrmFile, Errno> {
        match self.objects.get_mut(&call.file) {
            Some(Object::File(file)) => Ok(file),
            _ => Err(Errno::BADF),
        }
    }
}
