//! Opens the device: makes the memory file of an open.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io::Errno;

use super::file::KgslFile;
use super::objects::Objects;
use crate::device::Device;
use crate::ffi::pages::Window;
use crate::ffi::signals;
use crate::file::Object;
use crate::known;

/// Memory of an open in bytes: the most that the process may map. Pages that are not written take none.
const SIZES: [u64; 5] = [64 << 30, 16 << 30, 4 << 30, 1 << 30, 256 << 20];

/// Opens the device. Returns a descriptor.
///
/// # Errors
/// The call fails if the system cannot make a file, or if the process may map too little.
pub fn open(device: &Device, flags: MemfdFlags) -> Result<OwnedFd, Errno> {
    let (fd, window) = memory(flags)?;
    let base = device.state().places.open();
    let file = KgslFile::new(Objects::new(Arc::new(window), base));
    device.add_file(&fd, Object::Kgsl(Box::new(file)))?;
    Ok(fd)
}

/// A memory file and the emulator's mapping of it. The file can neither grow nor shrink, so that no access to a page of it
/// fails.
fn memory(flags: MemfdFlags) -> Result<(OwnedFd, Window), Errno> {
    // The program may limit its files.
    let _writes = signals::keep_from_writes();
    let mut failure = Errno::NOMEM;
    for size in SIZES {
        let fd = rustix::fs::memfd_create("a4emu-kgsl", flags | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::fchmod(&fd, known::KGSL)?;
        let window = rustix::fs::ftruncate(&fd, size).and_then(|()| {
            let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
            rustix::fs::fcntl_add_seals(&fd, seals)?;
            Window::new(&fd, size)
        });
        match window {
            Ok(window) => return Ok((fd, window)),
            Err(errno) => failure = errno,
        }
    }
    Err(failure)
}
