//! `MSM_GEM_SUBMIT`: turns the program's tables into a job for the engine.

use std::sync::Arc;

use rustix::io::Errno;

use crate::bo::Bo;
use crate::clock::Deadline;
use crate::device::{Call, State};
use crate::fence;
use crate::ffi::user;
use crate::file::Syncobj;
use crate::ring::{Awaited, Job, Span};
use crate::syncobj;
use crate::uapi::{self, submit as flag};

/// Maximum number of buffers, of commands, and of the relocations of all commands.
const MAX: u32 = 1 << 20;

/// A buffer of a submit.
struct Entry {
    bo: Arc<Bo>,
    /// The program's row for the buffer.
    row: uapi::SubmitBo,
}

/// Sync objects to signal at the end, each with a point.
type Signals = Vec<(Arc<Syncobj>, u64)>;

/// Maximum number of unfinished submits. A program that is faster than the GPU waits.
const UNFINISHED: u64 = 2;

/// Queues a submit for the GPU. The call waits for its end only if the end is visible other than by the
/// fence's number or by waiting for a buffer: see [`awaited`].
///
/// # Errors
/// The call fails like the kernel: with `EINVAL` for invalid tables, such as a bad handle, a command outside
/// its buffer or a relocation out of order; with `ENOENT` for a bad queue or sync object; with `EBUSY` for a
/// buffer that was declared unneeded; with `EFAULT` or `ENOMEM`. In strict mode it fails with `EIO` if the
/// GPU faulted.
pub fn submit(call: &Call, submit: &mut uapi::GemSubmit) -> Result<(), Errno> {
    check(submit)?;
    call.file(|file| file.queues.get(submit.queueid).map(|_| ()))?;
    if submit.flags & flag::FENCE_FD_IN != 0 {
        fence::wait(call, submit.fence_fd)?;
    }
    wait_syncobjs(call, submit)?;
    let signals = signals(call, submit)?;
    let entries = entries(call, submit)?;
    let job = job(call, submit, &entries)?;
    let outcome = run(call, submit, job);
    for (object, point) in signals {
        object.signal(point);
        call.device.announce_progress();
    }
    outcome?;
    tell_addresses(submit, &entries)?;
    if submit.flags & flag::FENCE_FD_OUT != 0 {
        submit.fence_fd = fence::new(call)?;
    }
    Ok(())
}

fn check(submit: &uapi::GemSubmit) -> Result<(), Errno> {
    let flags = submit.flags & !uapi::PIPE_ID_MASK;
    let pipe = submit.flags & uapi::PIPE_ID_MASK;
    if submit.pad != 0 || pipe != uapi::PIPE_3D0 || flags & !flag::FLAGS != 0 {
        return Err(Errno::INVAL);
    }
    if flags & flag::SUDO != 0 { Err(Errno::PERM) } else { Ok(()) }
}

/// The rows of a table of sync objects. The program sets the stride.
fn syncobj_rows(
    submit: &uapi::GemSubmit,
    address: u64,
    count: u32,
) -> Result<Vec<uapi::SubmitSyncobj>, Errno> {
    let stride = submit.syncobj_stride as usize;
    let size = size_of::<uapi::SubmitSyncobj>();
    if count > 0 && stride == 0 || count > syncobj::MAX {
        return Err(Errno::INVAL);
    }
    let row = |index: u32| {
        let mut row = uapi::SubmitSyncobj::default();
        let bytes = &mut bytemuck::bytes_of_mut(&mut row)[..stride.min(size)];
        user::read_bytes(address.wrapping_add(u64::from(index) * stride as u64), bytes).map(|()| row)
    };
    (0..count).map(row).collect()
}

fn wait_syncobjs(call: &Call, submit: &uapi::GemSubmit) -> Result<(), Errno> {
    if submit.flags & flag::SYNCOBJ_IN == 0 {
        return Ok(());
    }
    for row in syncobj_rows(submit, submit.in_syncobjs, submit.nr_in_syncobjs)? {
        let object = syncobj::find(call, row.handle)?;
        if row.flags & !flag::SYNCOBJ_RESET != 0 || !object.has(row.point) {
            return Err(Errno::INVAL);
        }
        if row.flags & flag::SYNCOBJ_RESET != 0 {
            object.reset();
        }
    }
    Ok(())
}

fn signals(call: &Call, submit: &uapi::GemSubmit) -> Result<Signals, Errno> {
    if submit.flags & flag::SYNCOBJ_OUT == 0 {
        return Ok(Vec::new());
    }
    let rows = syncobj_rows(submit, submit.out_syncobjs, submit.nr_out_syncobjs)?;
    let signal = |row: uapi::SubmitSyncobj| match row.flags {
        0 => syncobj::find(call, row.handle).map(|object| (object, row.point)),
        _ => Err(Errno::INVAL),
    };
    rows.into_iter().map(signal).collect()
}

/// The buffers of the submit. Each may occur only once.
fn entries(call: &Call, submit: &uapi::GemSubmit) -> Result<Vec<Entry>, Errno> {
    let rows: Vec<uapi::SubmitBo> = user::read_array(submit.bos, submit.nr_bos, MAX)?;
    let mut handles: Vec<u32> = rows.iter().map(|row| row.handle).collect();
    handles.sort_unstable();
    if handles.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Errno::INVAL);
    }
    call.file(|file| {
        let entry = |row: &uapi::SubmitBo| {
            let known = row.flags & !flag::BO_FLAGS == 0 && row.flags & (flag::BO_READ | flag::BO_WRITE) != 0;
            let bo = file.buffers.get(row.handle).ok().filter(|_| known).ok_or(Errno::INVAL)?;
            let entry = Entry { bo: bo.clone(), row: *row };
            if bo.is_unneeded() { Err(Errno::BUSY) } else { Ok(entry) }
        };
        rows.iter().map(entry).collect()
    })
}

/// Makes the job for the engine: checks the commands and computes the relocations.
fn job(call: &Call, submit: &uapi::GemSubmit, entries: &[Entry]) -> Result<Job, Errno> {
    let buffers = entries.iter().map(|entry| Span { address: entry.bo.address.into(), len: entry.bo.size });
    let mut job =
        Job { file: call.file, queue: submit.queueid, buffers: buffers.collect(), ..Job::default() };
    job.awaited = awaited(submit, entries);
    job.owners = entries.iter().map(|entry| (entry.bo.clone(), entry.row.flags)).collect();
    let mut relocs = MAX;
    for command in user::read_array::<uapi::SubmitCmd>(submit.cmds, submit.nr_cmds, MAX)? {
        let entry = entry_at(entries, command.submit_idx)?;
        let end = u64::from(command.submit_offset) + u64::from(command.size);
        if command.size == 0 || !command.size.is_multiple_of(4) || end > entry.bo.size {
            return Err(Errno::INVAL);
        }
        if !command.submit_offset.is_multiple_of(4) {
            return Err(Errno::INVAL);
        }
        let span = Span {
            address: u64::from(entry.bo.address + command.submit_offset),
            len: u64::from(command.size),
        };
        match command.kind {
            flag::CMD_BUF => job.commands.push((span, false)),
            flag::CMD_CTX_RESTORE_BUF => job.commands.push((span, true)),
            flag::CMD_IB_TARGET_BUF => {}
            _ => return Err(Errno::INVAL),
        }
        relocs = relocs.checked_sub(command.nr_relocs).ok_or(Errno::INVAL)?;
        relocate(&command, entry, entries, &mut job.patches)?;
    }
    Ok(job)
}

fn entry_at(entries: &[Entry], index: u32) -> Result<&Entry, Errno> {
    entries.get(index as usize).ok_or(Errno::INVAL)
}

/// Adds the words of `command`'s buffer that become addresses. Offsets must ascend.
///
/// Words of buffers whose presumed address is right need no change.
fn relocate(
    command: &uapi::SubmitCmd,
    entry: &Entry,
    entries: &[Entry],
    patches: &mut Vec<(u64, u32)>,
) -> Result<(), Errno> {
    let mut next = 0;
    for reloc in user::read_array::<uapi::Reloc>(command.relocs, command.nr_relocs, MAX)? {
        let offset = reloc.submit_offset;
        if !offset.is_multiple_of(4) || u64::from(offset) + 4 > entry.bo.size || offset < next {
            return Err(Errno::INVAL);
        }
        next = offset;
        let target = entry_at(entries, reloc.reloc_idx)?;
        let address = u64::from(target.bo.address);
        if target.row.presumed != address {
            patches.push((u64::from(entry.bo.address + offset), relocated(&reloc, address)));
        }
    }
    Ok(())
}

/// The value of a word that is relocated against `address`.
fn relocated(reloc: &uapi::Reloc, address: u64) -> u32 {
    let address = address.wrapping_add(reloc.reloc_offset);
    let shift = reloc.shift.unsigned_abs();
    let shifted = if reloc.shift < 0 { address.checked_shr(shift) } else { address.checked_shl(shift) };
    shifted.unwrap_or(0) as u32 | reloc.or
}

/// Whether the program may continue only after the submit has finished: if it gets a signalled fence, if
/// other devices or processes may access a buffer, or if each submit is observed.
fn awaited(submit: &uapi::GemSubmit, entries: &[Entry]) -> Awaited {
    let has_fence = submit.flags & (flag::FENCE_FD_OUT | flag::SYNCOBJ_OUT) != 0;
    let is_needed = has_fence || entries.iter().any(|entry| entry.bo.can_present());
    if is_needed { Awaited::Needed } else { Awaited::by_options() }
}

/// Queues the job for the GPU.
fn run(call: &Call, submit: &mut uapi::GemSubmit, mut job: Job) -> Result<(), Errno> {
    let chosen = (submit.flags & flag::FENCE_SN_IN != 0).then_some(submit.fence);
    enqueue(call, |state| {
        submit.fence = state.file(call.file)?.queues.get(submit.queueid)?.begin(chosen)?;
        job.fence = submit.fence;
        Ok(job)
    })
}

/// Queues the job that `make` makes. Waits for its end if it is awaited, or until there is room for the next submit.
///
/// # Errors
/// The call fails if the GPU thread cannot start, if `make` fails, and with `EIO` if an awaited job fails in strict mode.
pub fn enqueue(call: &Call, make: impl FnOnce(&mut State) -> Result<Job, Errno>) -> Result<(), Errno> {
    call.device.start()?;
    let (number, awaited) = {
        let mut state = call.device.state();
        let job = make(&mut state)?;
        let awaited = job.awaited;
        (state.ring.push(job), awaited)
    };
    call.device.ask();
    if awaited != Awaited::No {
        return call.completed(number);
    }
    call.has_run(number.saturating_sub(UNFINISHED), Deadline::NEVER);
    Ok(())
}

/// Writes the addresses that the program did not presume. All rows are written at once, since one call per
/// row would take as long as the rest of a submit.
fn tell_addresses(submit: &uapi::GemSubmit, entries: &[Entry]) -> Result<(), Errno> {
    if entries.iter().all(|entry| entry.row.presumed == u64::from(entry.bo.address)) {
        return Ok(());
    }
    let told = |Entry { bo, row }: &Entry| uapi::SubmitBo { presumed: bo.address.into(), ..*row };
    let rows: Vec<uapi::SubmitBo> = entries.iter().map(told).collect();
    user::write_bytes(submit.bos, bytemuck::cast_slice(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relocations_shift_both_ways() {
        let reloc = |shift, or| uapi::Reloc { shift, or, reloc_offset: 0x10, ..Default::default() };
        let word = |shift, or| relocated(&reloc(shift, or), 0x8000_0000);
        assert_eq!([word(0, 1), word(-5, 0), word(1, 0)], [0x8000_0011, 0x0400_0000, 0x20]);
        assert_eq!([word(-32, 7), word(-64, 7), word(64, 7), word(i32::MIN, 7)], [7; 4]);
    }
}
