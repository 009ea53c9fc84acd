//! Sync objects: `DRM_IOCTL_SYNCOBJ_x`. A fence is already signalled when it is put into one (see
//! [`crate::fence`]). So an object either has no fence or has reached some point.

use std::os::fd::IntoRawFd;
use std::sync::Arc;

use rustix::fs::MemfdFlags;
use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::Call;
use crate::fence;
use crate::ffi::user;
use crate::file::{Object, Syncobj};
use crate::uapi::{self, syncobj as flag};

/// Maximum number of objects in one call.
pub const MAX: u32 = 1 << 16;

/// The object of a handle.
///
/// # Errors
/// The call fails with `ENOENT`.
pub fn find(call: &Call, handle: u32) -> Result<Arc<Syncobj>, Errno> {
    call.file(|file| file.syncobjs.get(handle).cloned().ok_or(Errno::NOENT))
}

fn find_all(call: &Call, handles: u64, count: u32) -> Result<Vec<Arc<Syncobj>>, Errno> {
    user::read_array(handles, count, MAX)?.into_iter().map(|handle| find(call, handle)).collect()
}

/// Reads one point for each of `objects`; 0 for each if the program passes none.
fn points(address: u64, objects: &[Arc<Syncobj>]) -> Result<Vec<u64>, Errno> {
    match address {
        0 => Ok(vec![0; objects.len()]),
        _ => user::read_array(address, objects.len() as u32, MAX),
    }
}

/// `SYNCOBJ_CREATE`.
///
/// # Errors
/// The call fails with `EINVAL`.
pub fn create(call: &Call, create: &mut uapi::SyncobjCreate) -> Result<(), Errno> {
    if create.flags & !flag::CREATE_SIGNALED != 0 {
        return Err(Errno::INVAL);
    }
    let object = Syncobj::default();
    if create.flags != 0 {
        object.signal(0);
    }
    create.handle = call.file(|file| Ok(file.syncobjs.add(object.into())))?;
    Ok(())
}

/// `SYNCOBJ_DESTROY`.
///
/// # Errors
/// The call fails with `EINVAL`.
pub fn destroy(call: &Call, destroy: &mut uapi::SyncobjDestroy) -> Result<(), Errno> {
    if destroy.pad != 0 {
        return Err(Errno::INVAL);
    }
    call.file(|file| file.syncobjs.remove(destroy.handle).ok_or(Errno::INVAL)).map(drop)
}

fn check(handle: &uapi::SyncobjHandle) -> Result<(), Errno> {
    if handle.pad == 0 && handle.flags <= flag::SYNC_FILE { Ok(()) } else { Err(Errno::INVAL) }
}

/// `SYNCOBJ_HANDLE_TO_FD`: exports the object itself, or its fence.
///
/// # Errors
/// The call fails with `EINVAL`, also if there is no fence, or with `ENOENT`.
pub fn handle_to_fd(call: &Call, handle: &mut uapi::SyncobjHandle) -> Result<(), Errno> {
    check(handle)?;
    let object = find(call, handle.handle)?;
    handle.fd = if handle.flags == 0 {
        call.device.add("a4emu-syncobj", MemfdFlags::CLOEXEC, Object::Syncobj(object))?.into_raw_fd()
    } else if object.has(0) {
        fence::new(call)?
    } else {
        return Err(Errno::INVAL);
    };
    Ok(())
}

/// `SYNCOBJ_FD_TO_HANDLE`: imports the object itself, or puts a fence into an existing object.
///
/// # Errors
/// The call fails with `EINVAL` or `ENOENT`.
pub fn fd_to_handle(call: &Call, handle: &mut uapi::SyncobjHandle) -> Result<(), Errno> {
    check(handle)?;
    if handle.flags != 0 {
        let object = find(call, handle.handle)?;
        fence::wait(call, handle.fd)?;
        object.signal(0);
        call.device.announce_progress();
        return Ok(());
    }
    let object = |object: &Object| match object {
        Object::Syncobj(object) => Some(object.clone()),
        _ => None,
    };
    let object = call.object(handle.fd, object).ok_or(Errno::INVAL)?;
    handle.handle = call.file(|file| Ok(file.syncobjs.add(object)))?;
    Ok(())
}

/// `SYNCOBJ_WAIT`.
///
/// # Errors
/// The call fails like [`timeline_wait`].
pub fn wait(call: &Call, wait: &mut uapi::SyncobjWait) -> Result<(), Errno> {
    let objects = find_all(call, wait.handles, wait.count_handles)?;
    let points = vec![0; objects.len()];
    wait.first_signaled = wait_for(call, &objects, &points, wait.flags, wait.timeout_nsec)?;
    Ok(())
}

/// `SYNCOBJ_TIMELINE_WAIT`.
///
/// # Errors
/// The call fails with `EINVAL`, also for an object without a fence unless the flags allow it to appear
/// later; with `ENOENT`, `EFAULT` or `ETIME`.
pub fn timeline_wait(call: &Call, wait: &mut uapi::SyncobjTimelineWait) -> Result<(), Errno> {
    let objects = find_all(call, wait.handles, wait.count_handles)?;
    let points = points(wait.points, &objects)?;
    wait.first_signaled = wait_for(call, &objects, &points, wait.flags, wait.timeout_nsec)?;
    Ok(())
}

/// Waits for the objects. Returns the index of the first one that has signalled.
fn wait_for(
    call: &Call,
    objects: &[Arc<Syncobj>],
    points: &[u64],
    flags: u32,
    until: i64,
) -> Result<u32, Errno> {
    if flags & !flag::WAIT_FLAGS != 0 {
        return Err(Errno::INVAL);
    }
    let mut each = objects.iter().zip(points);
    if flags & flag::WAIT_FOR_SUBMIT == 0 && !each.all(|(object, point)| object.has(*point)) {
        return Err(Errno::INVAL);
    }
    let done = || {
        let mut each = objects.iter().zip(points);
        let all = flags & flag::WAIT_ALL == 0 || each.clone().all(|(object, point)| object.has(*point));
        let first = each.position(|(object, point)| object.has(*point));
        if objects.is_empty() { Some(0) } else { first.filter(|_| all) }
    };
    let deadline = Deadline::at(0, until);
    call.wait(deadline, |_| done()).map(|first| first as u32).ok_or(Errno::TIME)
}

/// `SYNCOBJ_RESET`.
///
/// # Errors
/// The call fails with `EINVAL`, `ENOENT` or `EFAULT`.
pub fn reset(call: &Call, array: &mut uapi::SyncobjArray) -> Result<(), Errno> {
    for_each(call, array, |object| object.reset())
}

/// `SYNCOBJ_SIGNAL`.
///
/// # Errors
/// The call fails like [`reset`].
pub fn signal(call: &Call, array: &mut uapi::SyncobjArray) -> Result<(), Errno> {
    for_each(call, array, |object| object.signal(0))
}

fn for_each(call: &Call, array: &uapi::SyncobjArray, change: impl Fn(&Syncobj)) -> Result<(), Errno> {
    if array.pad != 0 || array.count_handles == 0 {
        return Err(Errno::INVAL);
    }
    find_all(call, array.handles, array.count_handles)?.iter().for_each(|object| change(object));
    call.device.announce_progress();
    Ok(())
}

/// `SYNCOBJ_TIMELINE_SIGNAL`.
///
/// # Errors
/// The call fails like [`reset`].
pub fn timeline_signal(call: &Call, array: &mut uapi::SyncobjTimelineArray) -> Result<(), Errno> {
    if array.flags != 0 || array.count_handles == 0 {
        return Err(Errno::INVAL);
    }
    let objects = find_all(call, array.handles, array.count_handles)?;
    let points = points(array.points, &objects)?;
    objects.iter().zip(points).for_each(|(object, point)| object.signal(point));
    call.device.announce_progress();
    Ok(())
}

/// `SYNCOBJ_QUERY`: returns the points reached.
///
/// # Errors
/// The call fails like [`reset`].
pub fn query(call: &Call, array: &mut uapi::SyncobjTimelineArray) -> Result<(), Errno> {
    if array.flags & !flag::QUERY_LAST_SUBMITTED != 0 || array.count_handles == 0 {
        return Err(Errno::INVAL);
    }
    let objects = find_all(call, array.handles, array.count_handles)?;
    let points: Vec<u64> = objects.iter().map(|object| object.reached().unwrap_or(0)).collect();
    user::write_bytes(array.points, bytemuck::cast_slice(&points))
}

/// `SYNCOBJ_TRANSFER`: copies a fence from one object to another.
///
/// # Errors
/// The call fails with `EINVAL`, also if the first object has not reached its point, or with `ENOENT`.
pub fn transfer(call: &Call, transfer: &mut uapi::SyncobjTransfer) -> Result<(), Errno> {
    if transfer.pad != 0 || transfer.flags & !flag::WAIT_FOR_SUBMIT != 0 {
        return Err(Errno::INVAL);
    }
    let (from, to) = (find(call, transfer.src_handle)?, find(call, transfer.dst_handle)?);
    if !from.has(transfer.src_point) {
        return Err(Errno::INVAL);
    }
    to.signal(transfer.dst_point);
    call.device.announce_progress();
    Ok(())
}
