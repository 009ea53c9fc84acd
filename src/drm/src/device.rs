//! The device and its open files, which the ioctls work on.
//!
//! Locks are taken in this order: [`Device::state`], the tables of mappings, the arena. All are held only
//! briefly, and always with signals blocked. The GPU thread does long work without a lock (see
//! [`crate::ring`]).

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use a4emu_gpu::ambient;
use a4emu_gpu::gpu::Chip;
use a4emu_process::stderr;
use a4emu_process::summary::Summary;
use a4emu_rules::{Form, tell};
use rustix::fs::{MemfdFlags, Mode};
use rustix::io::Errno;

use crate::arena::Arena;
use crate::clock::Deadline;
use crate::ffi::{Inode, process, signals};
use crate::file::{DrmFile, Object};
use crate::provide::Orders;
use crate::ring::Ring;
use crate::share::Shared;
use crate::{dispatch, known, mappings, refusal, ring, settings, sweep};

/// The state that ioctls change.
#[derive(Default)]
pub struct State {
    /// All objects, by the file that represents them.
    pub objects: BTreeMap<Inode, Object>,
    /// Submits that wait for the GPU, and results of finished ones.
    pub ring: Ring,
    /// Buffers that get memory in advance.
    pub orders: Orders,
    /// Buffers that other processes may share, by the file that is their memory.
    pub shared: Shared,
}

/// The device.
pub struct Device {
    /// The chip.
    pub chip: Chip,
    state: Mutex<State>,
    /// Signalled when there is work for the GPU.
    pub work: Condvar,
    /// Signalled when there are new [`State::orders`].
    pub ordered: Condvar,
    /// Counts the work announced to the GPU ([`Device::ask`]).
    pub asked: AtomicU32,
    /// Counts events that a program can wait for: submits that end, sync objects that signal.
    pub progress: AtomicU32,
    /// The memory of buffers.
    pub arena: Arc<Mutex<Arena>>,
    /// The summary that is printed at exit if there is no launcher.
    summary: Mutex<Summary>,
}

static DEVICE: OnceLock<Device> = OnceLock::new();

/// Whether there is only one core. Then a busy thread of the device would delay the program.
pub fn has_one_core() -> bool {
    thread::available_parallelism().is_ok_and(|cores| cores.get() == 1)
}

/// The device, if the process has opened it.
pub fn existing() -> Option<&'static Device> {
    DEVICE.get()
}

/// The device. At the first call, it is set up.
fn device() -> Result<&'static Device, Errno> {
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let made = Device::new()?;
    if DEVICE.set(made).is_ok() {
        known::own();
        process::watch_forks();
        process::at_exit();
    }
    existing().ok_or(Errno::NODEV)
}

/// Opens the node.
///
/// # Errors
/// The call fails if the system cannot make another file or thread.
pub fn open(cloexec: bool) -> Result<OwnedFd, Errno> {
    let _signals = signals::hold();
    let _control = ambient::hold();
    started()?.add("a4emu-msm", cloexec, Object::File(DrmFile::default()))
}

/// The device with its thread.
fn started() -> Result<&'static Device, Errno> {
    let started = device().and_then(|device| {
        sweep::if_closed(device);
        device.start().map(|()| device)
    });
    started.inspect_err(|errno| refusal::tell(*errno))
}

/// Serves an ioctl; `None` if `fd` does not belong to the device.
///
/// An open node that another program has left here (over `exec`, or a socket) is a new open of this process's
/// device: buffers and handles of that program have ended with it.
pub fn ioctl(fd: i32, request: u64, argument: u64) -> Option<Result<i32, Errno>> {
    if !dispatch::is_known_type(request) {
        return None;
    }
    let file = known::object_at(fd).or_else(|| known::inherited_at(fd))?;
    let signals = signals::hold();
    let _control = ambient::hold();
    let device = match existing().map_or_else(started, Ok) {
        Ok(device) => device,
        Err(errno) => return Some(Err(errno)),
    };
    let call = Call { device, file, signals };
    sweep::if_closed(device);
    let kind = device.state().objects.get(&file).map(|object| match object {
        Object::File(_) => dispatch::Kind::File,
        Object::DmaBuf(_) => dispatch::Kind::DmaBuf,
        Object::Fence => dispatch::Kind::Fence,
        Object::Syncobj(_) => dispatch::Kind::Syncobj,
    });
    let kind = match kind {
        Some(kind) => kind,
        None => {
            known::inherited_at(fd)?;
            device.add_inode(file, Object::File(DrmFile::default()));
            dispatch::Kind::File
        }
    };
    Some(dispatch::ioctl(&call, kind, request, argument).map(|()| 0))
}

/// The part of a buffer that a mapping of `fd` covers; `None` if `fd` does not belong to the device.
pub fn mapped_part(fd: i32, offset: i64, len: usize) -> Option<Result<mappings::Part, Errno>> {
    let inode = known::object_at(fd)?;
    existing()?.state().objects.get(&inode).map(|object| object.part(offset as u64, len))
}

/// Time that the end of the process waits for queued submits, since they may not end.
const LAST: Duration = Duration::from_secs(2);

/// Called at the end of the process: waits briefly for queued submits. Without a launcher, it prints the
/// summary, of which a shim of Mesa keeps what is as usual to itself.
pub fn finish() {
    let has_launcher = settings::get().folder.is_some();
    if has_launcher && (ring::is_idle() || process::is_confined()) {
        // Makes no system call, since the program may have forbidden them.
        return ring::spin_until_idle(LAST);
    }
    let Some(device) = existing().filter(|_| known::is_owner()) else { return };
    let signals = signals::hold();
    let _writes = signals::keep_from_writes();
    let _control = ambient::hold();
    device.wait(&signals, Deadline::after(LAST), |_| ring::is_idle().then_some(()));
    if has_launcher {
        return;
    }
    // No wait: at exit, the process must not hang on another thread.
    let Ok(mut summary) = device.summary.try_lock() else { return };
    match summary.recording.take().map(|recording| recording.finish_beside_others()) {
        Some(Ok(place)) => summary.recorded = Some(place.display().to_string()),
        Some(Err(error)) => summary.trouble = Some(format!("the recording is not in its place: {error}")),
        None => {}
    }
    if summary.submits > 0 && !(settings::get().shim && summary.is_plain()) {
        stderr::say_lines(&summary);
    }
    let mut findings = Vec::new();
    let told = tell(&summary.findings, &settings::get().findings, None, Form::Text, &mut findings);
    debug_assert!(told.is_ok(), "a list takes everything");
    stderr::say_bytes(&findings);
}

impl Device {
    fn new() -> Result<Self, Errno> {
        Ok(Self {
            chip: settings::get().chip.ok_or(Errno::NODEV)?,
            state: Mutex::default(),
            work: Condvar::new(),
            ordered: Condvar::new(),
            asked: AtomicU32::new(0),
            progress: AtomicU32::new(0),
            arena: Arc::new(Mutex::new(Arena::new(mappings::region()?))),
            summary: Mutex::default(),
        })
    }

    /// Locks the state. A panic leaves it as consistent as an ioctl that failed half-way.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the summary.
    pub fn summary(&self) -> MutexGuard<'_, Summary> {
        self.summary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a new descriptor for `object`.
    ///
    /// # Errors
    /// The call fails if the system cannot make another file.
    pub fn add(&self, name: &str, cloexec: bool, object: Object) -> Result<OwnedFd, Errno> {
        let flags = if cloexec { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
        let mode: Mode = if matches!(object, Object::File(_)) { known::NODE } else { known::OBJECT };
        let fd = rustix::fs::memfd_create(name, flags)?;
        rustix::fs::fchmod(&fd, mode)?;
        self.add_file(&fd, object)?;
        Ok(fd)
    }

    /// Makes `fd` a descriptor of `object`: a memory file, or the pipe of a fence.
    ///
    /// # Errors
    /// The call fails with `EBADF`.
    pub fn add_file(&self, fd: &OwnedFd, object: Object) -> Result<(), Errno> {
        self.add_inode(Inode::of_owned(fd).ok_or(Errno::BADF)?, object);
        Ok(())
    }

    fn add_inode(&self, inode: Inode, object: Object) {
        if !matches!(object, Object::Fence) {
            known::note_file(inode);
        }
        let mut state = self.state();
        state.objects.insert(inode, object);
        known::note_live(state.objects.len());
    }
}

/// An ioctl in progress on an open file of the device.
pub struct Call {
    /// The device.
    pub device: &'static Device,
    /// Identifies the open file.
    pub file: Inode,
    /// The thread's signals, which are blocked.
    pub signals: signals::Held,
}

impl Call {
    /// Runs `with` on the open file.
    ///
    /// # Errors
    /// The call fails with `EBADF` if another thread has closed the file, or if `with` fails.
    pub fn file<R>(&self, with: impl FnOnce(&mut DrmFile) -> Result<R, Errno>) -> Result<R, Errno> {
        with(self.device.state().file(self.file)?)
    }

    /// The result of `with` for the object behind `fd`, a descriptor of the program, if it belongs to the
    /// device.
    pub fn object<R>(&self, fd: i32, with: impl FnOnce(&Object) -> Option<R>) -> Option<R> {
        let inode = known::object_at(fd)?;
        self.device.state().objects.get(&inode).and_then(with)
    }
}

impl State {
    /// The open file with this `inode`.
    ///
    /// # Errors
    /// The call fails with `EBADF` if another thread has closed it.
    pub fn file(&mut self, inode: Inode) -> Result<&mut DrmFile, Errno> {
        match self.objects.get_mut(&inode) {
            Some(Object::File(file)) => Ok(file),
            _ => Err(Errno::BADF),
        }
    }
}
