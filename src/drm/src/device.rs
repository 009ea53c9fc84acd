//! The device: its state, which ioctls change, and the lock around it.
//!
//! Locks are taken in this order: [`Device::state`], the tables of mappings, the arena. All are held only
//! briefly, and always with signals blocked. The GPU thread does long work without a lock (see
//! [`crate::gpu_thread`]).

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use a4emu_gpu::gpu::Chip;
use a4emu_process::summary::Summary;
use rustix::fs::{MemfdFlags, Mode};
use rustix::io::Errno;
use rustix::thread::futex;

use crate::arena::Arena;
use crate::bo::Bo;
use crate::clock::Deadline;
use crate::ffi::{Inode, signals};
use crate::file::{DrmFile, Object};
use crate::kgsl::file::KgslFile;
use crate::kgsl::places::Places;
use crate::ring::Ring;
use crate::share::Shared;
use crate::{known, mappings, settings};

/// Least size of a buffer that gets memory in advance, in bytes.
const LEAST: u64 = 64 << 10;

/// Greatest size of such a buffer, in bytes. A larger one may not be needed completely.
const MOST: u64 = 16 << 20;

/// Total size of all buffers that get memory in advance, in bytes. It limits programs that allocate and
/// release buffers repeatedly.
const IN_ALL: u64 = 256 << 20;

/// Places that wait for memory ([`crate::provide`]).
#[derive(Default)]
pub struct Orders {
    /// Address and size in bytes.
    pub places: VecDeque<(u32, u64)>,
    /// Total size of all places so far, in bytes.
    bytes: u64,
    /// Whether the thread has started.
    pub started: bool,
}

impl Orders {
    /// Whether a buffer of `size` bytes gets memory in advance. If so, its size is counted.
    pub fn take(&mut self, size: u64) -> bool {
        let taken = (LEAST..=MOST).contains(&size) && self.bytes + size <= IN_ALL;
        self.bytes += if taken { size } else { 0 };
        taken
    }

    /// Makes [`Orders::take`] refuse all buffers.
    pub fn end(&mut self) {
        self.bytes = IN_ALL;
    }
}

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
    /// Where objects of the KGSL device are.
    pub places: Places,
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

impl Device {
    /// The device of this process. At the first call, it is set up, and `made` runs.
    ///
    /// # Errors
    /// The call fails without a chip, or without addresses for its memory.
    pub fn get(made: impl FnOnce()) -> Result<&'static Self, Errno> {
        if let Some(device) = DEVICE.get() {
            return Ok(device);
        }
        let new = Self::new()?;
        if DEVICE.set(new).is_ok() {
            known::own();
            made();
        }
        existing().ok_or(Errno::NODEV)
    }

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

    /// Locks the summary, unless another thread has it.
    pub fn try_summary(&self) -> Option<MutexGuard<'_, Summary>> {
        self.summary.try_lock().ok()
    }

    /// Makes a new descriptor for `object`.
    ///
    /// # Errors
    /// The call fails if the system cannot make another file.
    pub fn add(&self, name: &str, flags: MemfdFlags, object: Object) -> Result<OwnedFd, Errno> {
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

    /// Makes the file `inode` one of `object`.
    pub fn add_inode(&self, inode: Inode, object: Object) {
        if !matches!(object, Object::Fence) {
            known::note_file(inode);
        }
        let mut state = self.state();
        state.objects.insert(inode, object);
        known::note_live(state.objects.len());
    }

    /// Records that the memory of `bo` is the file `fd`.
    pub fn note_shared(&self, fd: &OwnedFd, bo: &Arc<Bo>) {
        if let Some(inode) = Inode::of_owned(fd) {
            self.state().shared.add(inode, bo.clone());
        }
    }

    /// Announces that work is queued for the GPU.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Release);
        self.work.notify_one();
    }

    /// Waits until `done` returns a result for the state; `None` at the deadline.
    ///
    /// Signal handlers may run during the wait. No lock is held then, so they may fork or jump away.
    pub fn wait<R>(
        &self,
        signals: &signals::Held,
        deadline: Deadline,
        done: impl Fn(&mut State) -> Option<R>,
    ) -> Option<R> {
        loop {
            // The wait below returns if anything changes after this line.
            let seen = self.progress.load(Ordering::Acquire);
            if let Some(result) = done(&mut self.state()) {
                return Some(result);
            }
            if deadline.has_passed() {
                return None;
            }
            let left = deadline.left();
            // The loop checks again, however the wait ends.
            let wait = || futex::wait(&self.progress, futex::Flags::PRIVATE, seen, Some(&left));
            let _ = signals.let_through(wait);
        }
    }

    /// Wakes all waiting threads.
    pub fn announce_progress(&self) {
        self.progress.fetch_add(1, Ordering::Release);
        // This only fails for a bad address.
        let _ = futex::wake(&self.progress, futex::Flags::PRIVATE, i32::MAX as u32);
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

    /// Waits like [`Device::wait`], for the calling thread.
    pub fn wait<R>(&self, deadline: Deadline, done: impl Fn(&mut State) -> Option<R>) -> Option<R> {
        self.device.wait(&self.signals, deadline, done)
    }

    /// Waits until submit `number` has finished. Returns false if it has not at the deadline.
    pub fn has_run(&self, number: u64, deadline: Deadline) -> bool {
        self.wait(deadline, |state| (state.ring.completed >= number).then_some(())).is_some()
    }

    /// Waits until submit `number` has finished, or until its ioctl may return without that.
    ///
    /// # Errors
    /// The call fails with `EIO` if the submit failed in strict mode.
    pub fn completed(&self, number: u64) -> Result<(), Errno> {
        let done = self.wait(Deadline::NEVER, |state| {
            state.ring.may_return(number).then(|| state.ring.failed.remove(&number))
        });
        done.flatten().map_or(Ok(()), Err)
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

    /// The open of the KGSL device with this `inode`.
    ///
    /// # Errors
    /// The call fails with `EBADF` if another thread has closed it.
    pub fn kgsl(&mut self, inode: Inode) -> Result<&mut KgslFile, Errno> {
        match self.objects.get_mut(&inode) {
            Some(Object::Kgsl(file)) => Ok(file),
            _ => Err(Errno::BADF),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_small_nor_huge_buffers_nor_ever_more_of_them() {
        let mut orders = Orders::default();
        assert_eq!(
            [LEAST - 1, LEAST, MOST, MOST + 1].map(|size| orders.take(size)),
            [false, true, true, false]
        );
        let taken = std::iter::repeat_with(|| orders.take(MOST)).take_while(|taken| *taken).count() as u64;
        assert_eq!(taken, IN_ALL / MOST - 2);
        assert!(orders.take(LEAST) && orders.bytes <= IN_ALL);
    }
}
