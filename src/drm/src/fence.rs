//! Fences as descriptors. A submit that returns one has finished when its ioctl returns. So every fence of a
//! program is signalled, and its descriptor is always readable, like a signalled one of the kernel.

use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::device::Call;
use crate::ffi::{self, user};
use crate::file::Object;
use crate::{known, uapi};

/// Makes a new fence descriptor.
///
/// # Errors
/// The call fails if the system cannot make another file.
pub fn new(call: &Call) -> Result<i32, Errno> {
    let fd = readable()?;
    call.device.add_file(&fd, Object::Fence)?;
    Ok(fd.into_raw_fd())
}

/// A pipe with a byte in it, both ends of which are one descriptor: `poll` and `epoll` say that it is readable.
/// The other objects are memory files, which `epoll` refuses.
fn readable() -> Result<OwnedFd, Errno> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    rustix::io::write(&writer, &[0])?;
    let path = format!("/proc/thread-self/fd/{}", writer.as_raw_fd());
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    // Where a sandbox hides /proc, the reader alone is readable too, and hung up as well.
    let fd = rustix::fs::open(path, flags, Mode::empty()).unwrap_or(reader);
    drop(writer);
    rustix::fs::fchmod(&fd, known::OBJECT)?;
    Ok(fd)
}

/// Waits for the fence behind `fd`, which may belong to another driver.
///
/// # Errors
/// The call fails with `EINVAL` if `fd` is no fence.
pub fn wait(call: &Call, fd: i32) -> Result<(), Errno> {
    if call.object(fd, |object| matches!(object, Object::Fence).then_some(())).is_some() {
        return Ok(());
    }
    let link =
        rustix::fs::readlink(format!("/proc/thread-self/fd/{fd}"), Vec::new()).map_err(|_| Errno::INVAL)?;
    if link.as_bytes() == b"anon_inode:sync_file" && call.signals.let_through(|| ffi::wait_readable(fd)) {
        Ok(())
    } else {
        Err(Errno::INVAL)
    }
}

/// `SYNC_IOC_MERGE`.
///
/// # Errors
/// The call fails with `EINVAL`, or with `ENOENT` if the other descriptor is no fence.
pub fn merge(call: &Call, merge: &mut uapi::SyncMerge) -> Result<(), Errno> {
    if merge.flags != 0 || merge.pad != 0 {
        return Err(Errno::INVAL);
    }
    wait(call, merge.fd2).map_err(|_| Errno::NOENT)?;
    merge.fence = new(call)?;
    Ok(())
}

/// `SYNC_IOC_FILE_INFO`.
///
/// # Errors
/// The call fails with `EINVAL` or `EFAULT`.
pub fn info(_: &Call, info: &mut uapi::SyncFileInfo) -> Result<(), Errno> {
    if info.flags != 0 || info.pad != 0 {
        return Err(Errno::INVAL);
    }
    if info.num_fences > 0 {
        let mut fence = uapi::SyncFenceInfo { status: 1, ..Default::default() };
        fence.driver_name[..3].copy_from_slice(b"msm");
        fence.obj_name[..3].copy_from_slice(b"gpu");
        user::write(info.sync_fence_info, &fence)?;
    }
    (info.status, info.num_fences) = (1, 1);
    Ok(())
}
