//! Submit queues and their fence numbers: `MSM_SUBMITQUEUE_x`, `MSM_WAIT_FENCE`.

use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::Call;
use crate::ffi::user;
use crate::param::PRIORITIES;
use crate::uapi;

/// `MSM_SUBMITQUEUE_PARAM_FAULTS`.
const PARAM_FAULTS: u32 = 0;

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

    fn add(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        self.rows.insert(id, Queue::default());
        id
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

    /// Whether `fence` is later than every submit so far.
    fn is_future(&self, fence: u32) -> bool {
        fence.wrapping_sub(self.last) as i32 > 0
    }
}

/// `MSM_SUBMITQUEUE_NEW`.
///
/// # Errors
/// The call fails with `EINVAL` for unknown flags or an invalid priority.
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
/// The call fails with `ENOENT`, also for queue 0.
pub fn close(call: &Call, close: &mut uapi::SubmitqueueClose) -> Result<(), Errno> {
    call.file(|file| match close.id {
        0 => Err(Errno::NOENT),
        id => file.queues.rows.remove(&id).ok_or(Errno::NOENT),
    })
    .map(drop)
}

/// `MSM_SUBMITQUEUE_QUERY`: returns the number of hangs of a queue.
///
/// # Errors
/// The call fails with `EINVAL`, `ENOENT` or `EFAULT`.
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
/// The call fails with `EINVAL` for a future fence, with `ENOENT` for a bad queue, or with `ETIMEDOUT`.
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
        // A queue that was closed in the meantime has nothing to wait for.
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
