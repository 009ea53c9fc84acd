//! The objects behind the device's descriptors, and the state of an open file: buffers, queues, sync objects.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use crate::arena;
use crate::bo::Bo;
use crate::ids::Ids;
use crate::kgsl::file::KgslFile;
use crate::mappings::Part;

/// Difference between a buffer's `mmap` offset and its GPU address.
pub const MMAP_OFFSET: u64 = 1 << 32;

/// The object behind a descriptor of the device.
pub enum Object {
    /// An open of the render node.
    File(DrmFile),
    /// An open of the KGSL device.
    Kgsl(Box<KgslFile>),
    /// An exported buffer.
    DmaBuf(Arc<Bo>),
    /// A fence. It is always signalled, since an ioctl that returns one waits for its submit.
    Fence,
    /// An exported sync object.
    Syncobj(Arc<Syncobj>),
}

/// The state of one open of the node.
#[derive(Default)]
pub struct DrmFile {
    /// Buffers of the file.
    pub buffers: Buffers,
    /// Sync objects by handle.
    pub syncobjs: Ids<Arc<Syncobj>>,
    /// Submit queues by id.
    pub queues: Queues,
}

/// The buffers of an open file, by handle and by GPU address.
#[derive(Default)]
pub struct Buffers {
    rows: Ids<Arc<Bo>>,
    handles: HashMap<u32, u32>,
}

impl Object {
    /// The `len` bytes at `offset` of the object, for a mapping.
    ///
    /// # Errors
    /// The call fails with `EINVAL` if the range is not in a buffer, and with `ENODEV` for an object without
    /// memory.
    pub fn part(&self, offset: u64, len: usize) -> Result<Part, Errno> {
        let part = |bo: &Arc<Bo>, start: u64| {
            let end = start.checked_add((len as u64).checked_next_multiple_of(arena::PAGE)?)?;
            let fits = len > 0 && start.is_multiple_of(arena::PAGE) && end <= bo.size;
            fits.then(|| Part { bo: bo.clone(), bytes: start..end })
        };
        match self {
            Self::File(file) => file.buffers.at(offset).and_then(|bo| part(bo, 0)).ok_or(Errno::INVAL),
            Self::DmaBuf(bo) => part(bo, offset).ok_or(Errno::INVAL),
            Self::Fence | Self::Syncobj(_) | Self::Kgsl(_) => Err(Errno::NODEV),
        }
    }
}

impl Buffers {
    /// Adds a buffer. Returns its handle.
    pub fn add(&mut self, bo: Arc<Bo>) -> u32 {
        let address = bo.address;
        let handle = self.rows.add(bo);
        self.handles.insert(address, handle);
        handle
    }

    /// The buffer with this handle.
    ///
    /// # Errors
    /// The call fails with `ENOENT`.
    pub fn get(&self, handle: u32) -> Result<&Arc<Bo>, Errno> {
        self.rows.get(handle).ok_or(Errno::NOENT)
    }

    /// Removes a handle. Returns its buffer.
    pub fn remove(&mut self, handle: u32) -> Option<Arc<Bo>> {
        let bo = self.rows.remove(handle)?;
        self.handles.remove(&bo.address);
        Some(bo)
    }

    /// The handle of a buffer in this file, if it has one.
    pub fn handle_of(&self, bo: &Bo) -> Option<u32> {
        self.handles.get(&bo.address).copied()
    }

    /// The buffer whose `mmap` offset is `offset`.
    fn at(&self, offset: u64) -> Option<&Arc<Bo>> {
        let address = u32::try_from(offset.checked_sub(MMAP_OFFSET)?).ok()?;
        self.rows.get(*self.handles.get(&address)?)
    }
}

/// A queue. All queues run on one ring, in the order of submission.
#[derive(Debug, Default)]
pub struct Queue {
    last: u32,
    running: BTreeSet<u32>,
    /// Number of submits that were cut off.
    hangs: u32,
}

/// The queues of one open file. Ids are not reused.
#[derive(Debug)]
pub struct Queues {
    rows: BTreeMap<u32, Queue>,
    next: u32,
}

impl Default for Queues {
    /// Makes queue 0, for programs that do not know queues.
    fn default() -> Self {
        Self { rows: BTreeMap::from([(0, Queue::default())]), next: 1 }
    }
}

impl Queues {
    /// The queue with this id.
    ///
    /// # Errors
    /// The call fails with `ENOENT`.
    pub fn get(&mut self, id: u32) -> Result<&mut Queue, Errno> {
        self.rows.get_mut(&id).ok_or(Errno::NOENT)
    }

    /// Called in a forked child: submits of the parent count as finished.
    pub fn end_all(&mut self) {
        self.rows.values_mut().for_each(|queue| queue.running.clear());
    }

    /// Adds a queue. Returns its id.
    pub fn add(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        self.rows.insert(id, Queue::default());
        id
    }

    /// Removes the queue with this id.
    ///
    /// # Errors
    /// The call fails with `ENOENT`.
    pub fn remove(&mut self, id: u32) -> Result<(), Errno> {
        self.rows.remove(&id).map(drop).ok_or(Errno::NOENT)
    }
}

impl Queue {
    /// Begins a submit. Returns its fence: the next number, or the one that the program `chose`.
    ///
    /// # Errors
    /// The call fails with `EINVAL` for a number that is still running.
    pub fn begin(&mut self, chose: Option<u32>) -> Result<u32, Errno> {
        let fence = chose.unwrap_or_else(|| self.last.wrapping_add(1).max(1));
        if !self.running.insert(fence) {
            return Err(Errno::INVAL);
        }
        self.last = fence;
        Ok(fence)
    }

    /// Ends the submit of `fence`, which was cut off `hangs` times.
    pub fn end(&mut self, fence: u32, hangs: u32) {
        self.running.remove(&fence);
        self.hangs += hangs;
    }

    /// Number of submits that were cut off.
    pub fn hangs(&self) -> u32 {
        self.hangs
    }

    /// Whether the submit of `fence` has not ended.
    pub fn runs(&self, fence: u32) -> bool {
        self.running.contains(&fence)
    }

    /// Whether `fence` is later than every submit so far.
    pub fn is_future(&self, fence: u32) -> bool {
        fence.wrapping_sub(self.last) as i32 > 0
    }
}

/// A sync object, with or without a time line.
#[derive(Debug, Default)]
pub struct Syncobj {
    /// The point reached; none without a fence. An object without a time line is at 0.
    reached: Mutex<Option<u64>>,
}

impl Syncobj {
    /// Signals `point`, which is 0 without a time line.
    pub fn signal(&self, point: u64) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        *reached = Some(reached.map_or(point, |before| before.max(point)));
    }

    /// Removes the fence.
    pub fn reset(&self) {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The point reached; `None` without a fence.
    pub fn reached(&self) -> Option<u64> {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `point` has signalled.
    pub fn has(&self, point: u64) -> bool {
        self.reached().is_some_and(|reached| reached >= point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_count_up_and_may_be_chosen() {
        let mut queue = Queue::default();
        assert_eq!([queue.begin(None), queue.begin(None), queue.begin(Some(9))], [Ok(1), Ok(2), Ok(9)]);
        assert_eq!(queue.begin(Some(9)), Err(Errno::INVAL));
        queue.end(9, 0);
        assert_eq!((queue.begin(None), queue.is_future(10), queue.is_future(11)), (Ok(10), false, true));
        let mut full = Queue { last: u32::MAX, ..Queue::default() };
        assert_eq!(full.begin(None), Ok(1), "0 is no fence");
    }
}
