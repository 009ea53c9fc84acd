//! Submit queues and the numbers of their fences: `MSM_SUBMITQUEUE_x`, `MSM_WAIT_FENCE`.

use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::Call;
use crate::ffi::user;
use crate::param::PRIORITIES;
use crate::uapi;

/// `MSM_SUBMITQUEUE_PARAM_FAULTS`.
const PARAM_FAULTS: u32 = 0;

/// A queue: all run on the one ring, in the order in which submits arrive.
#[derive(Debug, Default)]
pub struct Queue {
    last: u32,
    running: BTreeSet<u32>,
    /// Submits that were cut off.
    hangs: u32,
}

/// The queues of one open file. Ids are not used again.
#[derive(Debug)]
pub struct Queues {
    rows: BTreeMap<u32, Queue>,
    next: u32,
}

impl Default for Queues {
    /// With queue 0, for programs older than queues.
    fn default() -> Self {
        Self { rows: BTreeMap::from([(0, Queue::default())]), next: 1 }
    }
}

impl Queues {
    /// The queue of an id.
    ///
    /// # Errors
    /// `ENOENT`.
    pub fn get(&mut self, id: u32) -> Result<&mut Queue, Errno> {
        self.rows.get_mut(&id).ok_or(Errno::NOENT)
    }

    /// In a forked child: what ran in the parent is over here.
    pub fn end_all(&mut self) {
        self.rows.values_mut().for_each(|queue| queue.running.clear());
    }

    fn add(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        self.rows.insert(id, Queue::default());
        id
    }
}

impl Queue {
    /// The fence of a new submit: the next number, or the one that the program `chose`.
    ///
    /// # Errors
    /// `EINVAL` for a number that is still running.
    pub fn begin(&mut self, chose: Option<u32>) -> Result<u32, Errno> {
        let fence = chose.unwrap_or_else(|| self.last.wrapping_add(1).max(1));
        if !self.running.insert(fence) {
            return Err(Errno::INVAL);
        }
        self.last = fence;
        Ok(fence)
    }

    /// The submit of `fence` has run, and was cut off `hangs` times.
    pub fn end(&mut self, fence: u32, hangs: u32) {
        self.running.remove(&fence);
        self.hangs += hangs;
    }

    /// Whether `fence` came after everything that was submitted.
    fn is_future(&self, fence: u32) -> bool {
        fence.wrapping_sub(self.last) as i32 > 0
    }
}

/// `MSM_SUBMITQUEUE_NEW`.
///
/// # Errors
/// `EINVAL` for flags or a priority that there is not.
pub fn new(call: &Call, new: &mut uapi::Submitqueue) -> Result<(), Errno> {
    if new.flags != 0 || new.prio >= PRIORITIES {
        return Err(Errno::INVAL);
    }
    new.id = call.file(|file| Ok(file.queues.add()))?;
    Ok(())
}

/// `MSM_SUBMITQUEUE_CLOSE`.
///
/// # Errors
/// `ENOENT`, also for queue 0.
pub fn close(call: &Call, close: &mut uapi::SubmitqueueClose) -> Result<(), Errno> {
    call.file(|file| match close.id {
        0 => Err(Errno::NOENT),
        id => file.queues.rows.remove(&id).ok_or(Errno::NOENT),
    })
    .map(drop)
}

/// `MSM_SUBMITQUEUE_QUERY`: how many hangs a queue has had.
///
/// # Errors
/// `EINVAL`, `ENOENT`, `EFAULT`.
pub fn query(call: &Call, query: &mut uapi::SubmitqueueQuery) -> Result<(), Errno> {
    if query.pad != 0 {
        return Err(Errno::INVAL);
    }
    let hangs = call.file(|file| file.queues.get(query.id).map(|queue| queue.hangs))?;
    match query.param {
        PARAM_FAULTS => {
            let faults = hangs.to_le_bytes();
            user::write_bytes(query.data, &faults[..faults.len().min(query.len as usize)])
        }
        _ => Err(Errno::INVAL),
    }
}

/// `MSM_WAIT_FENCE`.
///
/// # Errors
/// `EINVAL` for a fence of the future, `ENOENT` for a bad queue, `ETIMEDOUT`.
pub fn wait_fence(call: &Call, wait: &mut uapi::WaitFence) -> Result<(), Errno> {
    if wait.pad != 0 {
        return Err(Errno::INVAL);
    }
    let deadline = Deadline::at(wait.timeout.tv_sec, wait.timeout.tv_nsec);
    let future = call.file(|file| file.queues.get(wait.queueid).map(|queue| queue.is_future(wait.fence)))?;
    if future {
        return Err(Errno::INVAL);
    }
    let done = call.wait(deadline, |state| {
        let queue = state.file(call.file).and_then(|file| file.queues.get(wait.queueid));
        // A queue that was closed meanwhile has nothing left to wait for.
        queue.map_or(Some(()), |queue| (!queue.running.contains(&wait.fence)).then_some(()))
    });
    done.ok_or(Errno::TIMEDOUT)
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
