//! `KGSL_GPU_COMMAND`: turns the program's lists into a job for the engine.

use bytemuck::{Pod, bytes_of_mut};
use rustix::io::Errno;

use super::args::{self, cmd};
use super::context;
use super::file::is_later;
use super::places::{Files, Places};
use crate::device::{Call, State};
use crate::fence;
use crate::ffi::user;
use crate::file::Object;
use crate::param::timestamp;
use crate::ring::{Awaited, Job, Reach, Span};
use crate::submit::enqueue;

/// Most command buffers and objects (`KGSL_MAX_NUMIBS`).
const MAX_IBS: u32 = 2000;
/// Most sync points (`KGSL_MAX_SYNCPOINTS`).
const MAX_SYNCPOINTS: u32 = 32;
/// Most dwords of a command buffer, by the packet that calls it.
const MAX_DWORDS: u64 = 0xf_ffff;
/// End of the addresses of the kernel's page tables, exclusive.
const END: u64 = 1 << 48;

/// `KGSL_CMD_SYNCPOINT_TYPE_x`.
mod point {
    pub const TIMESTAMP: u32 = 0;
    pub const FENCE: u32 = 1;
}

/// `KGSL_GPU_COMMAND`. The call waits for the end only if each submit is observed.
///
/// # Errors
/// The call fails like the kernel: with `EINVAL` for a bad context, too many or no commands, a bad flag, and a command
/// buffer whose address or size no chip accepts; with `ERANGE` for a time stamp that is not later than the last; with
/// `EDEADLK` if commands of the context did not end; with `EFAULT`. In strict mode it fails with `EIO` if the GPU faulted.
pub fn command(call: &Call, ask: &mut args::GpuCommand) -> Result<(), Errno> {
    check(ask)?;
    context::with(
        call,
        ask.context_id,
        |context| if context.is_invalid { Err(Errno::DEADLK) } else { Ok(()) },
    )?;
    for point in rows::<args::CommandSyncpoint>(ask.synclist, ask.syncsize, ask.numsyncs)? {
        await_point(call, &point)?;
    }
    if ask.flags & cmd::SYNC != 0 {
        return Ok(());
    }
    let mut job = Job { file: call.file, queue: ask.context_id, reach: Reach::All, ..Job::default() };
    if ask.flags & cmd::MARKER == 0 {
        for row in rows::<args::CommandObject>(ask.cmdlist, ask.cmdsize, ask.numcmds)? {
            job.commands.push(command_buffer(&row)?);
        }
    }
    for object in rows::<args::CommandObject>(ask.objlist, ask.objsize, ask.numobjs)? {
        note_object(&object, &mut job)?;
    }
    job.awaited = Awaited::by_options();
    enqueue(call, |state| {
        look(state)?;
        let context = state.kgsl(call.file)?.context(ask.context_id)?;
        ask.timestamp = context.begin(ask.timestamp)?;
        job.fence = ask.timestamp;
        let (places, files) = parts(state);
        job.changes = places.take_changes(&files);
        Ok(job)
    })
}

fn check(ask: &args::GpuCommand) -> Result<(), Errno> {
    let is_too_long = ask.numcmds > MAX_IBS || ask.numobjs > MAX_IBS || ask.numsyncs > MAX_SYNCPOINTS;
    let needs_commands = ask.flags & (cmd::MARKER | cmd::SYNC) == 0;
    if is_too_long || needs_commands && ask.numcmds == 0 { Err(Errno::INVAL) } else { Ok(()) }
}

/// The rows of a list, whose stride the program sets.
fn rows<T: Pod>(address: u64, stride: u32, count: u32) -> Result<Vec<T>, Errno> {
    if count > 0 && stride == 0 {
        return Err(Errno::INVAL);
    }
    let row = |index: u32| {
        let mut row = T::zeroed();
        let len = size_of::<T>().min(stride as usize);
        let at = address.wrapping_add(u64::from(index) * u64::from(stride));
        user::read_bytes(at, &mut bytes_of_mut(&mut row)[..len]).map(|()| row)
    };
    (0..count).map(row).collect()
}

/// A command buffer, and whether it only restores state. Where no object is, the chip faults, not the call.
fn command_buffer(row: &args::CommandObject) -> Result<(Span, bool), Errno> {
    if row.flags & (cmd::IB | cmd::CTXTSWITCH_PREAMBLE | cmd::IB_PREAMBLE) == 0 {
        return Err(Errno::INVAL);
    }
    let has_size = row.size > 0 && row.size / 4 <= MAX_DWORDS;
    let is_in_range = row.gpuaddr.checked_add(row.size).is_some_and(|end| end <= END);
    if !has_size || !is_in_range || !row.gpuaddr.is_multiple_of(4) {
        return Err(Errno::INVAL);
    }
    Ok((Span { address: row.gpuaddr, len: row.size }, row.flags & cmd::CTXTSWITCH_PREAMBLE != 0))
}

/// Dwords of `kgsl_cmdbatch_profiling_buffer`: two of wall-clock time, then the ticks at which the command was queued,
/// submitted and retired.
const PROFILE: u64 = 10;

/// Takes note of an object that the commands use: it may get their times. They run at once, so that all are the same.
fn note_object(object: &args::CommandObject, job: &mut Job) -> Result<(), Errno> {
    if object.flags & (cmd::MEMOBJ | cmd::PROFILE) == 0 {
        return Err(Errno::INVAL);
    }
    if object.flags & cmd::PROFILE != 0 {
        if object.size < PROFILE * 4 || !object.gpuaddr.is_multiple_of(4) || object.gpuaddr >= END {
            return Err(Errno::INVAL);
        }
        let wall = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        let values = [wall.as_secs(), wall.subsec_nanos().into(), timestamp(), timestamp(), timestamp()];
        for (index, value) in (0..).zip(values) {
            let at = object.gpuaddr + 8 * index;
            job.patches.extend([(at, value as u32), (at + 4, (value >> 32) as u32)]);
        }
    }
    Ok(())
}

/// Waits for a sync point. All contexts run on one ring, so that commands of another one that were submitted before have
/// ended when this one begins.
fn await_point(call: &Call, point: &args::CommandSyncpoint) -> Result<(), Errno> {
    match point.kind {
        point::TIMESTAMP => {
            let on = one::<args::ContextTimestamp>(point)?;
            let is_bad = context::with(call, on.context_id, |context| {
                Ok(is_later(on.timestamp, context.queued) && !context.chooses_timestamps())
            })?;
            if is_bad { Err(Errno::INVAL) } else { Ok(()) }
        }
        point::FENCE => fence::wait(call, one::<i32>(point)?),
        _ => Err(Errno::INVAL),
    }
}

fn one<T: Pod>(point: &args::CommandSyncpoint) -> Result<T, Errno> {
    let stride = u32::try_from(point.size).map_err(|_| Errno::INVAL)?;
    rows(point.private, stride, 1)?.first().copied().ok_or(Errno::INVAL)
}

/// Looks where all objects are mapped.
///
/// # Errors
/// The call fails if the system does not tell what is mapped.
pub fn look(state: &mut State) -> Result<(), Errno> {
    let (places, mut files) = parts(state);
    places.look(&mut files)
}

/// The address space, and the opens whose objects are in it.
fn parts(state: &mut State) -> (&mut Places, Files<'_>) {
    let files = state.objects.iter_mut().filter_map(|(inode, object)| match object {
        Object::Kgsl(file) => Some((*inode, &mut **file)),
        _ => None,
    });
    (&mut state.places, files.collect())
}
