//! Buffers: the ioctls `MSM_GEM_x`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rustix::io::Errno;

use crate::bo::Bo;
use crate::clock::Deadline;
use crate::device::Call;
use crate::ffi::user;
use crate::file::{DrmFile, MMAP_OFFSET};
use crate::uapi::{self, info};

/// Maximum length of a buffer's name in bytes.
const MAX_NAME: u32 = 31;

/// Maximum length of a buffer's metadata in bytes.
const MAX_METADATA: u32 = 128;

/// The kernel's own number for a buffer that is too small (`ETOOSMALL`), which the C library has no name for.
const TOO_SMALL: i32 = 525;

/// `MSM_GEM_NEW`.
///
/// # Errors
/// The call fails with `EINVAL` for size 0, unknown flags or a cache mode that this chip lacks, and with
/// `ENOMEM`.
pub fn new(call: &Call, new: &mut uapi::GemNew) -> Result<(), Errno> {
    let mode = new.flags & uapi::BO_CACHE_MASK;
    if new.size == 0 || new.flags & !uapi::BO_FLAGS != 0 || !uapi::BO_CACHE_MODES.contains(&mode) {
        return Err(Errno::INVAL);
    }
    let mut bo = Bo::new(&call.device.arena, new.size)?;
    bo.flags = Some(new.flags);
    let bo = Arc::new(bo);
    if new.flags & uapi::BO_SCANOUT != 0 {
        bo.note_presentable();
    }
    call.device.provide(&bo);
    new.handle = call.file(|file| Ok(file.buffers.add(bo)))?;
    Ok(())
}

/// `DRM_IOCTL_GEM_CLOSE`.
///
/// # Errors
/// The call fails with `EINVAL` for a bad handle.
pub fn close(call: &Call, close: &mut uapi::GemClose) -> Result<(), Errno> {
    call.file(|file| file.buffers.remove(close.handle).ok_or(Errno::INVAL)).map(drop)
}

fn buffer(call: &Call, handle: u32) -> Result<Arc<Bo>, Errno> {
    call.file(|file: &mut DrmFile| file.buffers.get(handle).cloned())
}

/// `MSM_GEM_INFO`.
///
/// # Errors
/// The call fails with `EINVAL`, `ENOENT` or `EFAULT`, and with `EOPNOTSUPP` for a chosen address, which
/// needs an address space for each process. Metadata that are too long, or have too little room, fail with
/// `EOVERFLOW` and `ETOOSMALL`.
pub fn info(call: &Call, ask: &mut uapi::GemInfo) -> Result<(), Errno> {
    if ask.pad != 0 {
        return Err(Errno::INVAL);
    }
    match ask.info {
        info::GET_OFFSET | info::GET_IOVA | info::SET_IOVA | info::GET_FLAGS if ask.len != 0 => {
            return Err(Errno::INVAL);
        }
        info::GET_OFFSET..=info::GET_METADATA => {}
        _ => return Err(Errno::INVAL),
    }
    let bo = buffer(call, ask.handle)?;
    match ask.info {
        info::GET_OFFSET => ask.value = u64::from(bo.address) + MMAP_OFFSET,
        info::GET_IOVA => ask.value = u64::from(bo.address),
        info::SET_NAME => set_name(&bo, ask)?,
        info::GET_NAME => get_name(&bo, ask)?,
        info::GET_FLAGS => ask.value = bo.flags.ok_or(Errno::INVAL)?.into(),
        info::SET_METADATA => set_metadata(&bo, ask)?,
        info::GET_METADATA => get_metadata(&bo, ask)?,
        _ => return Err(Errno::OPNOTSUPP),
    }
    Ok(())
}

fn set_name(bo: &Bo, ask: &uapi::GemInfo) -> Result<(), Errno> {
    if ask.len > MAX_NAME {
        return Err(Errno::INVAL);
    }
    let bytes = user::read_array::<u8>(ask.value, ask.len, MAX_NAME)?;
    let printable = bytes.iter().take_while(|byte| byte.is_ascii_graphic() || **byte == b' ');
    *bo.name.lock().unwrap_or_else(PoisonError::into_inner) =
        printable.map(|byte| char::from(*byte)).collect();
    Ok(())
}

fn get_name(bo: &Bo, ask: &mut uapi::GemInfo) -> Result<(), Errno> {
    let name = bo.name.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let room = std::mem::replace(&mut ask.len, name.len() as u32);
    match ask.value {
        0 => Ok(()),
        _ if (room as usize) < name.len() => Err(Errno::INVAL),
        address => user::write_bytes(address, name.as_bytes()),
    }
}

fn set_metadata(bo: &Bo, ask: &uapi::GemInfo) -> Result<(), Errno> {
    if ask.len > MAX_METADATA {
        return Err(Errno::OVERFLOW);
    }
    let bytes = user::read_array::<u8>(ask.value, ask.len, MAX_METADATA)?;
    *bo.metadata.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
    Ok(())
}

/// Without an address only the length is asked for.
fn get_metadata(bo: &Bo, ask: &mut uapi::GemInfo) -> Result<(), Errno> {
    let bytes = bo.metadata.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if ask.value != 0 {
        if (ask.len as usize) < bytes.len() {
            return Err(Errno::from_raw_os_error(TOO_SMALL));
        }
        user::write_bytes(ask.value, &bytes)?;
    }
    ask.len = bytes.len() as u32;
    Ok(())
}

/// `MSM_GEM_CPU_PREP`: waits until the GPU has finished with a buffer.
///
/// # Errors
/// The call fails with `EINVAL` or `ENOENT`, with `EBUSY` if it must not wait, or with `ETIMEDOUT`.
pub fn cpu_prep(call: &Call, prep: &mut uapi::GemCpuPrep) -> Result<(), Errno> {
    if prep.op & !(uapi::PREP_READ | uapi::PREP_WRITE | uapi::PREP_NOSYNC | uapi::PREP_BOOST) != 0 {
        return Err(Errno::INVAL);
    }
    let bo = buffer(call, prep.handle)?;
    let last = if prep.op & uapi::PREP_WRITE != 0 { &bo.used } else { &bo.written };
    let deadline = if prep.op & uapi::PREP_NOSYNC != 0 {
        Deadline::NOW
    } else {
        Deadline::at(prep.timeout.tv_sec, prep.timeout.tv_nsec)
    };
    let late = if deadline.has_passed() { Errno::BUSY } else { Errno::TIMEDOUT };
    if call.has_run(last.load(Ordering::Relaxed), deadline) { Ok(()) } else { Err(late) }
}

/// Waits until all submits that write `bo` have finished.
pub fn wait_for_writes(call: &Call, bo: &Bo) {
    call.has_run(bo.written.load(Ordering::Relaxed), Deadline::NEVER);
}

/// `MSM_GEM_CPU_FINI`: has no effect, since there is nothing to flush.
///
/// # Errors
/// The call fails with `ENOENT`.
pub fn cpu_fini(call: &Call, fini: &mut uapi::GemCpuFini) -> Result<(), Errno> {
    buffer(call, fini.handle).map(drop)
}

/// `MSM_GEM_MADVISE`: records the advice. Contents are never removed, since memory is not short here.
///
/// # Errors
/// The call fails with `EINVAL` or `ENOENT`.
pub fn madvise(call: &Call, advise: &mut uapi::GemMadvise) -> Result<(), Errno> {
    if advise.madv > 1 {
        return Err(Errno::INVAL);
    }
    buffer(call, advise.handle)?.unneeded.store(advise.madv == 1, Ordering::Relaxed);
    advise.retained = 1;
    Ok(())
}
