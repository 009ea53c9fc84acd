//! Submit queues and their fence numbers: `MSM_SUBMITQUEUE_x`, `MSM_WAIT_FENCE`.

use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::Call;
use crate::ffi::user;
use crate::param::PRIORITIES;
use crate::uapi;

/// `MSM_SUBMITQUEUE_PARAM_FAULTS`.
const PARAM_FAULTS: u32 = 0;

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
        id => file.queues.remove(id),
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
    let hangs = call.file(|file| file.queues.get(query.id).map(|queue| queue.hangs()))?;
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
        queue.map_or(Some(()), |queue| (!queue.runs(wait.fence)).then_some(()))
    });
    done.ok_or(Errno::TIMEDOUT)
}
