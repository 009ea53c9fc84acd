//! What the hooks ask of the device: to open the node, to serve an ioctl, what a mapping covers, and to end.

use std::os::fd::OwnedFd;
use std::time::Duration;

use a4emu_gpu::ambient;
use a4emu_process::stderr;
use a4emu_rules::{Form, tell};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;

use crate::clock::Deadline;
use crate::device::{Call, Device, existing};
use crate::ffi::{process, signals};
use crate::file::{DrmFile, Object};
use crate::{dispatch, kgsl, known, mappings, refusal, ring, settings, sweep};

/// Opens the node.
///
/// # Errors
/// The call fails if the system cannot make another file or thread.
pub fn open(flags: MemfdFlags) -> Result<OwnedFd, Errno> {
    let _signals = signals::hold();
    let _control = ambient::hold();
    started()?.add("a4emu-msm", flags, Object::File(DrmFile::default()))
}

/// Opens the KGSL device.
///
/// # Errors
/// The call fails if the system cannot make another file or thread, or if the process may map too little.
pub fn open_kgsl(flags: MemfdFlags) -> Result<OwnedFd, Errno> {
    let _signals = signals::hold();
    let _control = ambient::hold();
    kgsl::open::open(started()?, flags).inspect_err(|errno| refusal::tell(*errno))
}

/// The device with its thread.
fn started() -> Result<&'static Device, Errno> {
    let begun = Device::get(|| {
        process::watch_forks();
        process::at_exit();
    });
    let started = begun.and_then(|device| {
        sweep::if_closed(device);
        device.start().map(|()| device)
    });
    started.inspect_err(|errno| refusal::tell(*errno))
}

/// Serves an ioctl; `None` if `fd` does not belong to the device.
///
/// An open node that another program has left here (over `exec`, or a socket) is a new open of this process's
/// device: buffers and handles of that program have ended with it.
pub fn ioctl(fd: i32, request: u64, argument: u64) -> Option<Result<i32, Errno>> {
    if !dispatch::is_known_type(request) {
        return None;
    }
    let file = known::object_at(fd).or_else(|| known::inherited_at(fd))?;
    let signals = signals::hold();
    let _control = ambient::hold();
    let device = match existing().map_or_else(started, Ok) {
        Ok(device) => device,
        Err(errno) => return Some(Err(errno)),
    };
    let call = Call { device, file, signals };
    sweep::if_closed(device);
    let kind = device.state().objects.get(&file).map(|object| match object {
        Object::File(_) => dispatch::Kind::File,
        Object::Kgsl(_) => dispatch::Kind::Kgsl,
        Object::DmaBuf(_) => dispatch::Kind::DmaBuf,
        Object::Fence => dispatch::Kind::Fence,
        Object::Syncobj(_) => dispatch::Kind::Syncobj,
    });
    let kind = match kind {
        Some(kind) => kind,
        None => {
            known::inherited_at(fd)?;
            device.add_inode(file, Object::File(DrmFile::default()));
            dispatch::Kind::File
        }
    };
    Some(dispatch::ioctl(&call, kind, request, argument).map(|()| 0))
}

/// The part of a buffer that a mapping of `fd` covers; `None` if `fd` does not belong to the device, or if the system
/// makes the mapping.
pub fn mapped_part(fd: i32, offset: i64, len: usize) -> Option<Result<mappings::Part, Errno>> {
    let inode = known::object_at(fd)?;
    match existing()?.state().objects.get(&inode)? {
        Object::Kgsl(file) => file.objects.check_mapping(offset as u64, len as u64).err().map(Err),
        object => Some(object.part(offset as u64, len)),
    }
}

/// Time that the end of the process waits for queued submits, since they may not end.
const LAST: Duration = Duration::from_secs(2);

/// Called at the end of the process: waits briefly for queued submits. Without a launcher, it prints the
/// summary, of which a shim of Mesa keeps what is as usual to itself.
pub fn finish() {
    let has_launcher = settings::get().folder.is_some();
    if has_launcher && (ring::is_idle() || process::is_confined()) {
        // Makes no system call, since the program may have forbidden them.
        return ring::spin_until_idle(LAST);
    }
    let Some(device) = existing().filter(|_| known::is_owner()) else { return };
    let signals = signals::hold();
    let _writes = signals::keep_from_writes();
    let _control = ambient::hold();
    device.wait(&signals, Deadline::after(LAST), |_| ring::is_idle().then_some(()));
    if has_launcher {
        return;
    }
    // No wait: at exit, the process must not hang on another thread.
    let Some(mut summary) = device.try_summary() else { return };
    match summary.recording.take().map(|recording| recording.finish_beside_others()) {
        Some(Ok(place)) => summary.recorded = Some(place.display().to_string()),
        Some(Err(error)) => summary.trouble = Some(format!("the recording is not in its place: {error}")),
        None => {}
    }
    if summary.submits > 0 && !(settings::get().shim && summary.is_plain()) {
        stderr::say_lines(&summary);
    }
    let mut findings = Vec::new();
    let told = tell(&summary.findings, &settings::get().findings, None, Form::Text, &mut findings);
    debug_assert!(told.is_ok(), "a list takes everything");
    stderr::say_bytes(&findings);
}
