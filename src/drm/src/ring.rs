//! The submits that wait for the GPU thread ([`crate::gpu_thread`]), like on a ring, and the results of finished ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::bo::Bo;
use crate::ffi::Inode;
use crate::kgsl::places::Change;
use crate::settings;
use crate::share::Order;

/// Number of accepted submits that have not finished, for who may take no lock.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// Whether all queued submits have finished. Makes no system call.
pub fn is_idle() -> bool {
    UNFINISHED.load(Ordering::Acquire) == 0
}

/// Waits until all queued submits have finished, at most `time`. Makes no system call.
pub fn spin_until_idle(time: Duration) {
    let start = Instant::now();
    while !is_idle() && start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// A range of GPU addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Address of the first byte.
    pub address: u64,
    /// Length in bytes.
    pub len: u64,
}

/// The objects that a submit can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The objects that the submit lists.
    #[default]
    Listed,
    /// All of the KGSL device.
    All,
}

/// Whether the ioctl of a submit waits for its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Awaited {
    /// The ioctl returns at once.
    #[default]
    No,
    /// The ioctl waits, so that errors and findings belong to the submit. It returns when the GPU waits for the program.
    Observed,
    /// The ioctl waits, since the program or another device relies on the end of the submit.
    Needed,
}

impl Awaited {
    /// What the run's options ask for each submit.
    pub fn by_options() -> Self {
        if settings::get().one_by_one() { Self::Observed } else { Self::No }
    }
}

/// A checked submit.
#[derive(Default)]
pub struct Job {
    /// The open file it was submitted to.
    pub file: Inode,
    /// The queue of the file, or its context.
    pub queue: u32,
    /// Number of its fence, or its time stamp.
    pub fence: u32,
    /// Its buffers.
    pub buffers: Vec<Span>,
    /// Owners of the buffers, which keep them alive, and the access to each.
    pub owners: Vec<(Arc<Bo>, u32)>,
    /// Whether the ioctl waits for its end.
    pub awaited: Awaited,
    /// Words to store before the commands run: address and value.
    pub patches: Vec<(u64, u32)>,
    /// What has changed in the address space of the KGSL device since the submit before.
    pub changes: Vec<Change>,
    /// Which objects it can use.
    pub reach: Reach,
    /// Command buffers in order. The flag marks one that only restores state after a submit of another file.
    pub commands: Vec<(Span, bool)>,
}

impl Job {
    /// Records in the buffers that submit `number` of the device uses them.
    pub fn mark_used(&self, number: u64) {
        self.owners.iter().for_each(|(bo, access)| bo.mark_used(number, *access));
    }
}

/// The queued submits, and the results of finished ones.
#[derive(Default)]
pub struct Ring {
    /// Submits that wait, with their numbers.
    pub jobs: VecDeque<(u64, Job)>,
    /// Other tasks of the GPU thread. They run before the next submit.
    pub share_tasks: VecDeque<Order>,
    /// Whether the thread has started.
    pub started: bool,
    /// Number of accepted submits of all files. Each submit has its number, from 1.
    submitted: u64,
    /// Number of finished submits.
    pub completed: u64,
    /// The last submit whose ioctl returned because the GPU waits for the program.
    pub released: u64,
    /// Errors of finished submits whose ioctl has not returned them yet.
    pub failed: BTreeMap<u64, Errno>,
    /// Number of submits that were cut off, which the kernel calls hangs.
    pub hangs: u64,
}

impl Ring {
    /// Queues a submit. Returns its number.
    pub fn push(&mut self, job: Job) -> u64 {
        self.submitted += 1;
        job.mark_used(self.submitted);
        self.jobs.push_back((self.submitted, job));
        self.count();
        self.submitted
    }

    /// Lets the ioctl of the running submit return.
    pub fn release(&mut self) {
        self.released = self.completed + 1;
    }

    /// Whether the ioctl of a submit may return.
    pub fn may_return(&self, number: u64) -> bool {
        self.completed >= number || self.released == number
    }

    /// Notes the number of unfinished submits, for [`is_idle`].
    pub fn count(&self) {
        UNFINISHED.store(self.submitted - self.completed, Ordering::Release);
    }

    /// Called in a forked child, which has no GPU thread: submits of the parent count as finished. Returns
    /// the jobs, which have to be dropped after the locks are released.
    pub fn part_from_parent(&mut self) -> VecDeque<(u64, Job)> {
        let submitted = self.submitted;
        let lost = std::mem::take(self);
        (self.submitted, self.completed) = (submitted, submitted);
        self.count();
        lost.jobs
    }
}
