//! Dispatches ioctls by number. Arguments are copied like in the kernel: as many bytes as the number
//! encodes, and zeros for fields that an older program does not have.

use bytemuck::from_bytes_mut;
use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::user;
use crate::kgsl::{args, command, context, memory, property};
use crate::{fence, gem, param, prime, queue, submit, syncobj, uapi, version};

/// The kind of descriptor of an ioctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An open of the node.
    File,
    /// An open of the KGSL device.
    Kgsl,
    /// An exported buffer.
    DmaBuf,
    /// A fence.
    Fence,
    /// A sync object.
    Syncobj,
}

/// A decoded ioctl number (`asm-generic/ioctl.h`).
#[derive(Clone, Copy, Debug)]
struct Request {
    number: u8,
    kind: u8,
    size: usize,
    /// Whether the program writes the argument.
    input: bool,
    /// Whether the driver writes the argument.
    output: bool,
}

impl Request {
    fn new(request: u64) -> Self {
        let [number, kind, low, high] = (request as u32).to_le_bytes();
        let size = usize::from(u16::from_le_bytes([low, high & 0x3f]));
        Self { number, kind, size, input: high & 0x40 != 0, output: high & 0x80 != 0 }
    }
}

/// Whether an ioctl may belong to the device.
pub fn is_known_type(request: u64) -> bool {
    matches!(Request::new(request).kind, uapi::TYPE_DRM | uapi::TYPE_SYNC | uapi::TYPE_DMA_BUF | args::TYPE)
}

/// Room for the arguments of all ioctls, with sufficient alignment. A program may pass a larger one.
type Argument = [u64; 16];

/// One ioctl: its number, the directions and size of its argument, and its handler.
struct Row {
    number: u8,
    input: bool,
    output: bool,
    size: usize,
    serve: fn(&Call, &mut [u8]) -> Result<(), Errno>,
}

/// Directions of an argument: `_IOW`, `_IOR`, `_IOWR`.
mod way {
    pub const W: (bool, bool) = (true, false);
    pub const WR: (bool, bool) = (true, true);
}

macro_rules! rows {
    ($(#[$doc:meta])* $table:ident of $module:ident: $($number:literal $way:ident $argument:ident => $serve:path;)*) => {
        $(#[$doc])*
        const $table: &[Row] = &[$(Row {
            number: $number,
            input: way::$way.0,
            output: way::$way.1,
            size: size_of::<$module::$argument>(),
            serve: |call, bytes| $serve(call, from_bytes_mut::<$module::$argument>(bytes)),
        }),*];
    };
}

rows! {
    /// Ioctls of the node: `drm.h`, then `msm_drm.h` from 0x40 on.
    FILE of uapi:
    0x00 WR Version => version::version;
    0x09 W GemClose => gem::close;
    0x0c WR GetCap => version::get_cap;
    0x2d WR PrimeHandle => prime::handle_to_fd;
    0x2e WR PrimeHandle => prime::fd_to_handle;
    0xbf WR SyncobjCreate => syncobj::create;
    0xc0 WR SyncobjDestroy => syncobj::destroy;
    0xc1 WR SyncobjHandle => syncobj::handle_to_fd;
    0xc2 WR SyncobjHandle => syncobj::fd_to_handle;
    0xc3 WR SyncobjWait => syncobj::wait;
    0xc4 WR SyncobjArray => syncobj::reset;
    0xc5 WR SyncobjArray => syncobj::signal;
    0xca WR SyncobjTimelineWait => syncobj::timeline_wait;
    0xcb WR SyncobjTimelineArray => syncobj::query;
    0xcc WR SyncobjTransfer => syncobj::transfer;
    0xcd WR SyncobjTimelineArray => syncobj::timeline_signal;
    0x40 WR Param => param::get;
    0x41 W Param => param::set;
    0x42 WR GemNew => gem::new;
    0x43 WR GemInfo => gem::info;
    0x44 W GemCpuPrep => gem::cpu_prep;
    0x45 W GemCpuFini => gem::cpu_fini;
    0x46 WR GemSubmit => submit::submit;
    0x47 W WaitFence => queue::wait_fence;
    0x48 WR GemMadvise => gem::madvise;
    0x4a WR Submitqueue => queue::new;
    0x4b W SubmitqueueClose => queue::close;
    0x4c W SubmitqueueQuery => queue::query;
}

rows! {
    /// Ioctls of fences: `sync_file.h`.
    FENCE of uapi:
    0x03 WR SyncMerge => fence::merge;
    0x04 WR SyncFileInfo => fence::info;
}

rows! {
    /// Ioctls of the KGSL device: `msm_kgsl.h`.
    KGSL of args:
    0x02 WR Property => property::get;
    0x07 W WaitTimestamp => context::wait;
    0x13 WR ContextCreate => context::create;
    0x14 W ContextDestroy => context::destroy;
    0x15 WR MapUserMem => memory::map_user;
    0x16 WR ReadTimestamp => context::read;
    0x21 W SharedmemFree => memory::free_at;
    0x32 W Property => property::set;
    0x33 WR TimestampEvent => context::event;
    0x34 WR GpumemAllocId => memory::alloc_id;
    0x35 WR GpumemFreeId => memory::free_id;
    0x36 WR GpumemGetInfo => memory::get_info;
    0x37 W GpumemSyncCache => memory::sync_cache;
    0x3b WR PerfcounterRead => property::read_counters;
    0x3c WR GpumemSyncCacheBulk => memory::sync_cache_bulk;
    0x40 WR Syncsource => context::refuse;
    0x41 WR Syncsource => context::refuse;
    0x42 WR Syncsource => context::refuse;
    0x43 WR Syncsource => context::refuse;
    0x45 WR GpuobjAlloc => memory::alloc;
    0x46 W GpuobjFree => memory::free;
    0x47 WR GpuobjInfo => memory::info;
    0x48 WR GpuobjImport => memory::import;
    0x49 W GpuobjSync => memory::sync;
    0x4a WR GpuCommand => command::command;
    0x4c W GpuobjSetInfo => memory::set_info;
}

/// Whether only primary nodes serve this number of `drm.h`: authentication, legacy names of buffers, mode
/// setting. A render node denies these.
fn is_denied(number: u8) -> bool {
    matches!(number, 0x01..=0x08 | 0x0a | 0x0b | 0x0d..=0x1f | 0xa0..=0xbe | 0xc6..=0xc9)
}

/// Serves an ioctl.
///
/// # Errors
/// The call fails like the kernel with `EACCES`, `EINVAL`, `ENOTTY` or `EFAULT`, or with an error of the
/// handler.
pub fn ioctl(call: &Call, kind: Kind, request: u64, address: u64) -> Result<(), Errno> {
    let request = Request::new(request);
    let rows = match (kind, request.kind) {
        (Kind::File, uapi::TYPE_DRM) => FILE,
        (Kind::Kgsl, args::TYPE) => KGSL,
        (Kind::Fence, uapi::TYPE_SYNC) => FENCE,
        // Begin and end of CPU access: there is nothing to flush.
        (Kind::DmaBuf, uapi::TYPE_DMA_BUF) if request.number == 0 => return Ok(()),
        _ => return Err(Errno::NOTTY),
    };
    match rows.iter().find(|row| row.number == request.number) {
        Some(row) => serve(call, row, kind, request, address),
        None if kind == Kind::File && is_denied(request.number) => Err(Errno::ACCESS),
        None if kind == Kind::Kgsl => Err(Errno::NOTTY),
        None => Err(Errno::INVAL),
    }
}

fn serve(call: &Call, row: &Row, kind: Kind, request: Request, address: u64) -> Result<(), Errno> {
    let (mut argument, mut larger) = (Argument::default(), Vec::new());
    let words = request.size.max(row.size).div_ceil(size_of::<u64>());
    let argument = match words <= argument.len() {
        true => &mut argument[..],
        false => {
            larger.resize(words, 0);
            &mut larger[..]
        }
    };
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(argument);
    let moved = |ways: bool| if ways { request.size } else { 0 };
    let (input, output) = (moved(request.input && row.input), moved(request.output && row.output));
    user::read_bytes(address, &mut bytes[..input])?;
    let served = (row.serve)(call, &mut bytes[..row.size]);
    // DRM copies the argument also if the call failed, since some calls return details in it.
    if served.is_ok() || kind != Kind::Kgsl {
        user::write_bytes(address, &bytes[..output])?;
    }
    served
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_apart() {
        // DRM_IOCTL_MSM_GEM_SUBMIT: _IOWR('d', 0x46, 72 bytes).
        let submit = Request::new(0xc048_6446);
        assert_eq!((submit.number, submit.kind, submit.size), (0x46, b'd', 72));
        assert!(submit.input && submit.output);
    }

    #[test]
    fn sizes_are_those_of_the_c_structures() {
        let size = |number| FILE.iter().find(|row| row.number == number).map(|row| row.size);
        let expect = [
            (0x00, 64),
            (0x2d, 12),
            (0x40, 24),
            (0x42, 16),
            (0x43, 24),
            (0x44, 24),
            (0x46, 72),
            (0x47, 32),
            (0x48, 12),
            (0x4a, 12),
            (0x4b, 4),
            (0x4c, 24),
            (0xc1, 16),
            (0xc3, 32),
            (0xca, 40),
            (0xcc, 32),
        ];
        for (number, bytes) in expect {
            assert_eq!(size(number), Some(bytes), "{number:#x}");
        }
        let size = |number| KGSL.iter().find(|row| row.number == number).map(|row| row.size);
        let expect = [
            (0x02, 24),
            (0x07, 12),
            (0x15, 48),
            (0x33, 32),
            (0x34, 48),
            (0x36, 72),
            (0x37, 32),
            (0x3b, 24),
            (0x3c, 24),
            (0x45, 48),
            (0x46, 32),
            (0x47, 48),
            (0x48, 32),
            (0x49, 16),
            (0x4a, 64),
            (0x4c, 32),
        ];
        for (number, bytes) in expect {
            assert_eq!(size(number), Some(bytes), "KGSL {number:#x}");
        }
    }
}
