//! Buffers as descriptors, within the process.

use std::os::fd::IntoRawFd;

use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::Look;
use crate::file::Object;
use crate::uapi;

/// `DRM_CLOEXEC | DRM_RDWR`.
const FLAGS: u32 = (libc::O_CLOEXEC | libc::O_RDWR) as u32;

/// `DRM_IOCTL_PRIME_HANDLE_TO_FD`.
///
/// # Errors
/// `EINVAL`, `ENOENT`.
pub fn handle_to_fd(call: &Call, prime: &mut uapi::PrimeHandle) -> Result<(), Errno> {
    if prime.flags & !FLAGS != 0 {
        return Err(Errno::INVAL);
    }
    let bo = call.file(|file| file.buffers.get(prime.handle).cloned())?;
    let cloexec = prime.flags & libc::O_CLOEXEC as u32 != 0;
    let size = bo.size;
    prime.fd = call.device.add("a4emu-buffer", cloexec, size, Object::DmaBuf(bo))?.into_raw_fd();
    Ok(())
}

/// `DRM_IOCTL_PRIME_FD_TO_HANDLE`: the file's handle of the buffer, or a new one.
///
/// # Errors
/// `EBADF`; `EINVAL` for what is not a buffer of this device.
pub fn fd_to_handle(call: &Call, prime: &mut uapi::PrimeHandle) -> Result<(), Errno> {
    Look::at(prime.fd).ok_or(Errno::BADF)?;
    let buffer = |object: &Object| match object {
        Object::DmaBuf(bo) => Some(bo.clone()),
        _ => None,
    };
    let bo = call.object(prime.fd, buffer).ok_or(Errno::INVAL)?;
    prime.handle =
        call.file(|file| Ok(file.buffers.handle_of(&bo).unwrap_or_else(|| file.buffers.add(bo))))?;
    Ok(())
}
