//! Buffers as descriptors (`DRM_IOCTL_PRIME_x`), of this process and of others. See [`crate::share`].

use std::os::fd::IntoRawFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::bo::Bo;
use crate::device::Call;
use crate::ffi::Look;
use crate::file::Object;
use crate::share::ShareTask;
use crate::{gem, known, uapi};

/// `DRM_CLOEXEC | DRM_RDWR`.
const FLAGS: u32 = (libc::O_CLOEXEC | libc::O_RDWR) as u32;

/// `DRM_IOCTL_PRIME_HANDLE_TO_FD`.
///
/// # Errors
/// The call fails with `EINVAL` or `ENOENT`, with `EPERM` for a buffer that is not shared, or if the system
/// cannot make another file or mapping.
pub fn handle_to_fd(call: &Call, prime: &mut uapi::PrimeHandle) -> Result<(), Errno> {
    if prime.flags & !FLAGS != 0 {
        return Err(Errno::INVAL);
    }
    let bo = call.file(|file| file.buffers.get(prime.handle).cloned())?;
    if !bo.can_be_shared() {
        return Err(Errno::PERM);
    }
    let held = call.device.run_share_task(ShareTask::Export(bo.clone()))?;
    // From now on a submit of this buffer waits for its end. Earlier submits must finish before others see
    // the buffer.
    gem::wait_for_writes(call, &bo);
    let flags = OFlags::from_bits_retain(prime.flags & libc::O_CLOEXEC as u32) | OFlags::RDWR;
    let fd = rustix::fs::open(held, flags, Mode::empty())?;
    call.device.add_file(&fd, Object::DmaBuf(bo.clone()))?;
    call.device.note_shared(&fd, &bo);
    prime.fd = fd.into_raw_fd();
    Ok(())
}

/// `DRM_IOCTL_PRIME_FD_TO_HANDLE`: returns the file's handle of the buffer, or a new one.
///
/// # Errors
/// The call fails with `EBADF`, or with `EINVAL` if the descriptor is no buffer of this device or of another
/// process's.
pub fn fd_to_handle(call: &Call, prime: &mut uapi::PrimeHandle) -> Result<(), Errno> {
    let look = Look::at(prime.fd).ok_or(Errno::BADF)?;
    let known = call.device.state().shared.find(look.inode);
    let bo = match known {
        Some(bo) => bo,
        None if known::is_buffer(look) && look.size > 0 => import(call, prime.fd, look)?,
        None => return Err(Errno::INVAL),
    };
    prime.handle =
        call.file(|file| Ok(file.buffers.handle_of(&bo).unwrap_or_else(|| file.buffers.add(bo))))?;
    Ok(())
}

/// Imports the buffer of another process behind `fd`, and gives it a place in the arena.
fn import(call: &Call, fd: i32, look: Look) -> Result<Arc<Bo>, Errno> {
    let bo = Arc::new(Bo::new(&call.device.arena, look.size)?);
    let thread = rustix::thread::gettid().as_raw_nonzero();
    let path = format!("/proc/self/task/{thread}/fd/{fd}");
    call.device.run_share_task(ShareTask::Import(bo.clone(), path, look.inode))?;
    let mut state = call.device.state();
    // Another thread may have imported the file at the same time. Each file has only one buffer.
    let bo = state.shared.add(look.inode, bo);
    state.objects.insert(look.inode, Object::DmaBuf(bo.clone()));
    known::note_live(state.objects.len());
    Ok(bo)
}
