//! The arguments of the ioctls, in the layout of the kernel's public headers (`drm.h`, `msm_drm.h`,
//! `sync_file.h`). Names are the headers' names without their prefixes.

use bytemuck::{Pod, Zeroable};

/// Defines C structures that can be cast to bytes.
macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
        pub struct $name {
            $(#[doc = concat!("`", stringify!($field), "` of the header.")] pub $field: $ty,)*
        }
    )*};
}

pub(crate) use arguments;

arguments! {
    /// `drm_version`; lengths and pointers of three texts.
    Version {
        major: i32, minor: i32, patchlevel: i32, pad: u32,
        name_len: u64, name: u64, date_len: u64, date: u64, desc_len: u64, desc: u64,
    }
    /// `drm_get_cap`.
    GetCap { capability: u64, value: u64 }
    /// `drm_gem_close`.
    GemClose { handle: u32, pad: u32 }
    /// `drm_prime_handle`.
    PrimeHandle { handle: u32, flags: u32, fd: i32 }
    /// `drm_syncobj_create`.
    SyncobjCreate { handle: u32, flags: u32 }
    /// `drm_syncobj_destroy`.
    SyncobjDestroy { handle: u32, pad: u32 }
    /// `drm_syncobj_handle`.
    SyncobjHandle { handle: u32, flags: u32, fd: i32, pad: u32 }
    /// `drm_syncobj_wait`.
    SyncobjWait {
        handles: u64, timeout_nsec: i64, count_handles: u32, flags: u32, first_signaled: u32, pad: u32,
    }
    /// `drm_syncobj_timeline_wait`.
    SyncobjTimelineWait {
        handles: u64, points: u64, timeout_nsec: i64,
        count_handles: u32, flags: u32, first_signaled: u32, pad: u32,
    }
    /// `drm_syncobj_array`.
    SyncobjArray { handles: u64, count_handles: u32, pad: u32 }
    /// `drm_syncobj_timeline_array`.
    SyncobjTimelineArray { handles: u64, points: u64, count_handles: u32, flags: u32 }
    /// `drm_syncobj_transfer`.
    SyncobjTransfer {
        src_handle: u32, dst_handle: u32, src_point: u64, dst_point: u64, flags: u32, pad: u32,
    }

    /// `drm_msm_timespec`: absolute, on the monotonic clock.
    Timespec { tv_sec: i64, tv_nsec: i64 }
    /// `drm_msm_param`.
    Param { pipe: u32, param: u32, value: u64, len: u32, pad: u32 }
    /// `drm_msm_gem_new`.
    GemNew { size: u64, flags: u32, handle: u32 }
    /// `drm_msm_gem_info`.
    GemInfo { handle: u32, info: u32, value: u64, len: u32, pad: u32 }
    /// `drm_msm_gem_cpu_prep`.
    GemCpuPrep { handle: u32, op: u32, timeout: Timespec }
    /// `drm_msm_gem_cpu_fini`.
    GemCpuFini { handle: u32 }
    /// `drm_msm_gem_madvise`.
    GemMadvise { handle: u32, madv: u32, retained: u32 }
    /// `drm_msm_gem_submit_reloc`.
    Reloc { submit_offset: u32, or: u32, shift: i32, reloc_idx: u32, reloc_offset: u64 }
    /// `drm_msm_gem_submit_cmd`.
    SubmitCmd {
        kind: u32, submit_idx: u32, submit_offset: u32, size: u32, pad: u32, nr_relocs: u32, relocs: u64,
    }
    /// `drm_msm_gem_submit_bo`.
    SubmitBo { flags: u32, handle: u32, presumed: u64 }
    /// `drm_msm_gem_submit_syncobj`.
    SubmitSyncobj { handle: u32, flags: u32, point: u64 }
    /// `drm_msm_gem_submit`.
    GemSubmit {
        flags: u32, fence: u32, nr_bos: u32, nr_cmds: u32, bos: u64, cmds: u64, fence_fd: i32, queueid: u32,
        in_syncobjs: u64, out_syncobjs: u64, nr_in_syncobjs: u32, nr_out_syncobjs: u32,
        syncobj_stride: u32, pad: u32,
    }
    /// `drm_msm_wait_fence`; padded to its size in C.
    WaitFence { fence: u32, pad: u32, timeout: Timespec, queueid: u32, tail: u32 }
    /// `drm_msm_submitqueue`.
    Submitqueue { flags: u32, prio: u32, id: u32 }
    /// The id that `SUBMITQUEUE_CLOSE` takes.
    SubmitqueueClose { id: u32 }
    /// `drm_msm_submitqueue_query`.
    SubmitqueueQuery { data: u64, id: u32, param: u32, len: u32, pad: u32 }

    /// `sync_merge_data`.
    SyncMerge { name: [u8; 32], fd2: i32, fence: i32, flags: u32, pad: u32 }
    /// `sync_file_info`.
    SyncFileInfo { name: [u8; 32], status: i32, flags: u32, num_fences: u32, pad: u32, sync_fence_info: u64 }
    /// `sync_fence_info`.
    SyncFenceInfo {
        obj_name: [u8; 32], driver_name: [u8; 32], status: i32, flags: u32, timestamp_ns: u64,
    }
}

/// `ioctl` numbers' type byte: DRM.
pub const TYPE_DRM: u8 = b'd';
/// `ioctl` numbers' type byte: sync files.
pub const TYPE_SYNC: u8 = b'>';
/// `ioctl` numbers' type byte: dma-bufs.
pub const TYPE_DMA_BUF: u8 = b'b';

/// `MSM_PIPE_3D0`.
pub const PIPE_3D0: u32 = 0x10;
/// `MSM_PIPE_ID_MASK`.
pub const PIPE_ID_MASK: u32 = 0xffff;

/// `MSM_PARAM_x`.
pub mod param {
    /// The chip's number, such as 420.
    pub const GPU_ID: u32 = 1;
    /// Size of tile memory in bytes.
    pub const GMEM_SIZE: u32 = 2;
    /// The chip's id, such as 0x04020000.
    pub const CHIP_ID: u32 = 3;
    /// Greatest clock rate in Hz.
    pub const MAX_FREQ: u32 = 4;
    /// Time in ticks of [`MAX_FREQ`].
    pub const TIMESTAMP: u32 = 5;
    /// Address of tile memory.
    pub const GMEM_BASE: u32 = 6;
    /// Number of priority levels.
    pub const PRIORITIES: u32 = 7;
    /// Always zero.
    pub const PP_PGTABLE: u32 = 8;
    /// Number of GPU hangs so far.
    pub const FAULTS: u32 = 9;
    /// Number of times the GPU was suspended.
    pub const SUSPENDS: u32 = 10;
    /// System profiling; write only.
    pub const SYSPROF: u32 = 11;
    /// Process name, by pointer; write only.
    pub const COMM: u32 = 12;
    /// Command line, by pointer; write only.
    pub const CMDLINE: u32 = 13;
    /// Memory layout of compressed surfaces (UBWC).
    pub const HIGHEST_BANK_BIT: u32 = 16;
    /// Whether the chip traces rays.
    pub const RAYTRACING: u32 = 17;
    /// Memory layout of compressed surfaces (UBWC).
    pub const UBWC_SWIZZLE: u32 = 18;
    /// Memory layout of compressed surfaces (UBWC).
    pub const MACROTILE_MODE: u32 = 19;
    /// Address for accesses that must fault.
    pub const UCHE_TRAP_BASE: u32 = 20;
    /// Whether buffers may have parts without memory.
    pub const HAS_PRR: u32 = 21;
    /// Whether the chip has a second command processor (A8xx).
    pub const AQE: u32 = 23;
}

/// `MSM_BO_SCANOUT | MSM_BO_GPU_READONLY | MSM_BO_NO_SHARE | MSM_BO_CACHE_MASK`.
pub const BO_FLAGS: u32 = 0x000f_0007;
/// `MSM_BO_NO_SHARE`: no other process imports it.
pub const BO_NO_SHARE: u32 = 0x0000_0004;
/// `MSM_BO_SCANOUT`.
pub const BO_SCANOUT: u32 = 0x0000_0001;
/// `MSM_BO_CACHE_MASK`.
pub const BO_CACHE_MASK: u32 = 0x000f_0000;
/// `MSM_BO_CACHED`, `MSM_BO_WC`, `MSM_BO_UNCACHED`: the cache modes of a chip without coherence.
pub const BO_CACHE_MODES: [u32; 3] = [0x0001_0000, 0x0002_0000, 0x0004_0000];

/// `MSM_INFO_x`.
pub mod info {
    /// Gets the `mmap` offset of the buffer in the node.
    pub const GET_OFFSET: u32 = 0;
    /// Gets the GPU address.
    pub const GET_IOVA: u32 = 1;
    /// Sets the buffer's name.
    pub const SET_NAME: u32 = 2;
    /// Gets the buffer's name.
    pub const GET_NAME: u32 = 3;
    /// Sets the GPU address, if each process has its own address space.
    pub const SET_IOVA: u32 = 4;
    /// Gets the flags that the buffer was made with.
    pub const GET_FLAGS: u32 = 5;
    /// Sets bytes that the driver keeps with the buffer.
    pub const SET_METADATA: u32 = 6;
    /// Gets them.
    pub const GET_METADATA: u32 = 7;
}

/// `MSM_PREP_READ`.
pub const PREP_READ: u32 = 1;
/// `MSM_PREP_WRITE`.
pub const PREP_WRITE: u32 = 2;
/// `MSM_PREP_NOSYNC`.
pub const PREP_NOSYNC: u32 = 4;
/// `MSM_PREP_BOOST`: raises the clock while the program waits. It has no effect here.
pub const PREP_BOOST: u32 = 8;

/// `MSM_SUBMIT_x` flags, kinds of commands, and `MSM_SUBMIT_BO_x`.
pub mod submit {
    /// Waits for `fence_fd`.
    pub const FENCE_FD_IN: u32 = 0x4000_0000;
    /// Returns a `fence_fd`.
    pub const FENCE_FD_OUT: u32 = 0x2000_0000;
    /// Runs from the ring itself, for debugging kernels.
    pub const SUDO: u32 = 0x1000_0000;
    /// Waits for sync objects.
    pub const SYNCOBJ_IN: u32 = 0x0800_0000;
    /// Signals sync objects.
    pub const SYNCOBJ_OUT: u32 = 0x0400_0000;
    /// The program chooses the fence number.
    pub const FENCE_SN_IN: u32 = 0x0200_0000;
    /// All flags, with `NO_IMPLICIT`.
    pub const FLAGS: u32 = 0xfe00_0000;
    /// A command buffer that is executed.
    pub const CMD_BUF: u32 = 1;
    /// A command buffer that is only relocated.
    pub const CMD_IB_TARGET_BUF: u32 = 2;
    /// A command buffer that is executed if a submit of another file ran before.
    pub const CMD_CTX_RESTORE_BUF: u32 = 3;
    /// The GPU reads the buffer.
    pub const BO_READ: u32 = 1;
    /// The GPU writes the buffer.
    pub const BO_WRITE: u32 = 2;
    /// The program wants the contents in dumps: commands, shaders and what they point at.
    pub const BO_DUMP: u32 = 4;
    /// All `MSM_SUBMIT_BO_x`. `NO_IMPLICIT` (8) has no effect: submits of a device run in their order.
    pub const BO_FLAGS: u32 = 15;
    /// `MSM_SUBMIT_SYNCOBJ_RESET`.
    pub const SYNCOBJ_RESET: u32 = 1;
}

/// `DRM_SYNCOBJ_x`.
pub mod syncobj {
    /// Creates the object signalled.
    pub const CREATE_SIGNALED: u32 = 1;
    /// Converts from or to a sync file instead of passing the object itself.
    pub const SYNC_FILE: u32 = 1;
    /// Waits for all objects.
    pub const WAIT_ALL: u32 = 1;
    /// Also waits for a fence to appear.
    pub const WAIT_FOR_SUBMIT: u32 = 2;
    /// All wait flags (with `WAIT_AVAILABLE`).
    pub const WAIT_FLAGS: u32 = 7;
    /// Queries the last submitted point.
    pub const QUERY_LAST_SUBMITTED: u32 = 1;
}

/// Capabilities of `GET_CAP`.
pub mod cap {
    /// Prime import and export.
    pub const PRIME: u64 = 5;
    /// Monotonic time stamps.
    pub const TIMESTAMP_MONOTONIC: u64 = 6;
    /// Sync objects.
    pub const SYNCOBJ: u64 = 0x13;
    /// Sync objects with time lines.
    pub const SYNCOBJ_TIMELINE: u64 = 0x14;
}
