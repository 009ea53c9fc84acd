//! Contexts and their time stamps.

use std::time::Duration;

use rustix::io::Errno;

use super::args::{self, ctx};
use super::file::{Context, is_later};
use crate::clock::Deadline;
use crate::device::{Call, State};
use crate::fence;
use crate::ffi::user;

/// `KGSL_TIMESTAMP_x`.
mod kind {
    pub const CONSUMED: u32 = 1;
    pub const RETIRED: u32 = 2;
    pub const QUEUED: u32 = 3;
}

/// `KGSL_TIMESTAMP_EVENT_FENCE`.
const EVENT_FENCE: i32 = 2;

/// `KGSL_DRAWCTXT_CREATE`.
///
/// # Errors
/// The call fails with `EINVAL` for a context whose tile memory the kernel would save, with `EOPNOTSUPP` for protected
/// content and for a second queue, which this chip lacks, and with `ENOSPC` if there are too many.
pub fn create(call: &Call, new: &mut args::ContextCreate) -> Result<(), Errno> {
    if new.flags & ctx::PREAMBLE == 0 || new.flags & ctx::NO_GMEM_ALLOC == 0 {
        return Err(Errno::INVAL);
    }
    if new.flags & (ctx::SECURE | ctx::LPAC) != 0 {
        return Err(Errno::OPNOTSUPP);
    }
    new.drawctxt_id = call.device.state().kgsl(call.file)?.add_context(new.flags)?;
    Ok(())
}

/// `KGSL_DRAWCTXT_DESTROY`.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id.
pub fn destroy(call: &Call, destroy: &mut args::ContextDestroy) -> Result<(), Errno> {
    let removed = call.device.state().kgsl(call.file)?.remove_context(destroy.drawctxt_id);
    // Threads may wait for its time stamps.
    call.device.announce_progress();
    removed
}

/// Runs `with` on a context of the open.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id, or if `with` fails.
pub fn with<R>(
    call: &Call,
    id: u32,
    with: impl FnOnce(&mut Context) -> Result<R, Errno>,
) -> Result<R, Errno> {
    with(call.device.state().kgsl(call.file)?.context(id)?)
}

/// `KGSL_CMDSTREAM_READTIMESTAMP_CTXTID`.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id or kind.
pub fn read(call: &Call, read: &mut args::ReadTimestamp) -> Result<(), Errno> {
    read.timestamp = with(call, read.context_id, |context| match read.kind {
        kind::QUEUED => Ok(context.queued),
        kind::CONSUMED | kind::RETIRED => Ok(context.retired),
        _ => Err(Errno::INVAL),
    })?;
    Ok(())
}

/// `KGSL_DEVICE_WAITTIMESTAMP_CTXTID`. The time is in milliseconds; 0 is no limit, as with the kernel.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id, for a time stamp of no command, or if the context is destroyed meanwhile,
/// with `ETIMEDOUT`, and with `EDEADLK` if commands of the context did not end.
pub fn wait(call: &Call, wait: &mut args::WaitTimestamp) -> Result<(), Errno> {
    let deadline = match wait.timeout {
        0 => Deadline::NEVER,
        // The kernel takes what is no positive number of ticks for no limit.
        time if time > i32::MAX as u32 => Deadline::NEVER,
        time => Deadline::after(Duration::from_millis(time.into())),
    };
    await_timestamp(call, wait.context_id, wait.timestamp, deadline)
}

/// Waits until a command of a context has ended.
///
/// # Errors
/// The call fails like [`wait`].
pub fn await_timestamp(call: &Call, id: u32, timestamp: u32, deadline: Deadline) -> Result<(), Errno> {
    let is_future = with(call, id, |context| Ok(context.is_future(timestamp)))?;
    if is_future {
        return Err(Errno::INVAL);
    }
    let ended = |state: &mut State| {
        let context = state.kgsl(call.file).and_then(|file| file.context(id));
        match context {
            Err(_) => Some(Err(Errno::INVAL)),
            Ok(context) if context.is_invalid => Some(Err(Errno::DEADLK)),
            Ok(context) => context.has_ended(timestamp).then_some(Ok(())),
        }
    };
    call.wait(deadline, ended).unwrap_or(Err(Errno::TIMEDOUT))
}

/// `KGSL_TIMESTAMP_EVENT`: makes a fence of a time stamp. Like every fence of the device it has signalled when it is
/// returned.
///
/// # Errors
/// The call fails with `EINVAL` for another event, a bad id, or a time stamp of no command, and with `EFAULT`.
pub fn event(call: &Call, event: &mut args::TimestampEvent) -> Result<(), Errno> {
    if event.kind != EVENT_FENCE || event.len != size_of::<i32>() as u64 {
        return Err(Errno::INVAL);
    }
    // Such a fence would be signalled later: a time stamp that the program chooses may never come.
    with(call, event.context_id, |context| match is_later(event.timestamp, context.queued) {
        true => Err(Errno::INVAL),
        false => Ok(()),
    })?;
    // An unwritable place must not leave a descriptor behind.
    user::write(event.private, &-1i32)?;
    match await_timestamp(call, event.context_id, event.timestamp, Deadline::NEVER) {
        // A fence of commands that did not end signals too.
        Ok(()) | Err(Errno::DEADLK) => {}
        Err(errno) => return Err(errno),
    }
    user::write(event.private, &fence::new(call)?)
}

/// `KGSL_SYNCSOURCE_x`: fences that the program signals. A kernel without sync files refuses them too.
///
/// # Errors
/// The call fails with `EINVAL`.
pub fn refuse(_: &Call, _: &mut args::Syncsource) -> Result<(), Errno> {
    Err(Errno::INVAL)
}
