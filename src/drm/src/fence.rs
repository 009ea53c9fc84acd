//! Fences as descriptors. A submit that gives one has run when its ioctl returns, so every fence
//! that a program gets hold of has signalled; the descriptor is always readable, as `poll` of one
//! of the kernel's then is.

use std::os::fd::IntoRawFd;

use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::{self, user};
use crate::file::Object;
use crate::uapi;

/// A new fence descriptor.
///
/// # Errors
/// What the system says when it has no room.
pub fn new(call: &Call) -> Result<i32, Errno> {
    Ok(call.device.add("a4emu-fence", true, Object::Fence)?.into_raw_fd())
}

/// Waits for the fence behind `fd`, ours or another driver's.
///
/// # Errors
/// `EINVAL` if it is none.
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
/// `EINVAL`; `ENOENT` if the other is not a fence.
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
/// `EINVAL`, `EFAULT`.
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
