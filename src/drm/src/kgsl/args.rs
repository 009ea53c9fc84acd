//! The arguments of the ioctls, in the layout of the vendor's public header `msm_kgsl.h` on 64-bit systems. Names are
//! the header's names without their prefixes.

use bytemuck::{Pod, Zeroable};

use crate::uapi::arguments;

arguments! {
    /// `kgsl_device_getproperty`, also of `SETPROPERTY`.
    Property { kind: u32, pad: u32, value: u64, sizebytes: u64 }
    /// `kgsl_device_waittimestamp_ctxtid`.
    WaitTimestamp { context_id: u32, timestamp: u32, timeout: u32 }
    /// `kgsl_cmdstream_readtimestamp_ctxtid`.
    ReadTimestamp { context_id: u32, kind: u32, timestamp: u32 }
    /// `kgsl_drawctxt_create`.
    ContextCreate { flags: u32, drawctxt_id: u32 }
    /// `kgsl_drawctxt_destroy`.
    ContextDestroy { drawctxt_id: u32 }
    /// `kgsl_map_user_mem`.
    MapUserMem { fd: i32, pad: u32, gpuaddr: u64, len: u64, offset: u64, hostptr: u64, memtype: u32, flags: u32 }
    /// `kgsl_sharedmem_free`.
    SharedmemFree { gpuaddr: u64 }
    /// `kgsl_timestamp_event`.
    TimestampEvent { kind: i32, timestamp: u32, context_id: u32, pad: u32, private: u64, len: u64 }
    /// `kgsl_gpumem_alloc_id`.
    GpumemAllocId { id: u32, flags: u32, size: u64, mmapsize: u64, gpuaddr: u64, pad: [u64; 2] }
    /// `kgsl_gpumem_free_id`.
    GpumemFreeId { id: u32, pad: u32 }
    /// `kgsl_gpumem_get_info`.
    GpumemGetInfo {
        gpuaddr: u64, id: u32, flags: u32, size: u64, mmapsize: u64, useraddr: u64, pad: [u64; 4],
    }
    /// `kgsl_gpumem_sync_cache`.
    GpumemSyncCache { gpuaddr: u64, id: u32, op: u32, offset: u64, length: u64 }
    /// `kgsl_gpumem_sync_cache_bulk`.
    GpumemSyncCacheBulk { id_list: u64, count: u32, op: u32, pad: [u32; 2] }
    /// `kgsl_perfcounter_read`.
    PerfcounterRead { reads: u64, count: u32, pad: [u32; 3] }
    /// `kgsl_perfcounter_read_group`.
    PerfcounterReadGroup { groupid: u32, countable: u32, value: u64 }
    /// `kgsl_syncsource_create` and its siblings. All are refused.
    Syncsource { id: u32, pad: [u32; 3] }
    /// `kgsl_gpuobj_alloc`.
    GpuobjAlloc {
        size: u64, flags: u64, va_len: u64, mmapsize: u64, id: u32, metadata_len: u32, metadata: u64,
    }
    /// `kgsl_gpuobj_free`.
    GpuobjFree { flags: u64, private: u64, id: u32, kind: u32, len: u32, pad: u32 }
    /// `kgsl_gpuobj_info`.
    GpuobjInfo { gpuaddr: u64, flags: u64, size: u64, va_len: u64, va_addr: u64, id: u32, pad: u32 }
    /// `kgsl_gpuobj_import`.
    GpuobjImport { private: u64, priv_len: u64, flags: u64, kind: u32, id: u32 }
    /// `kgsl_gpuobj_sync`.
    GpuobjSync { objs: u64, obj_len: u32, count: u32 }
    /// `kgsl_gpuobj_set_info`.
    GpuobjSetInfo { flags: u64, metadata: u64, id: u32, metadata_len: u32, kind: u32, pad: u32 }
    /// `kgsl_command_object`.
    CommandObject { offset: u64, gpuaddr: u64, size: u64, flags: u32, id: u32 }
    /// `kgsl_command_syncpoint`.
    CommandSyncpoint { private: u64, size: u64, kind: u32, pad: u32 }
    /// `kgsl_cmd_syncpoint_timestamp`, also `kgsl_gpu_event_timestamp`.
    ContextTimestamp { context_id: u32, timestamp: u32 }
    /// `kgsl_gpu_command`.
    GpuCommand {
        flags: u64, cmdlist: u64, cmdsize: u32, numcmds: u32, objlist: u64, objsize: u32, numobjs: u32,
        synclist: u64, syncsize: u32, numsyncs: u32, context_id: u32, timestamp: u32,
    }

    /// `kgsl_devinfo`.
    Devinfo {
        device_id: u32, chip_id: u32, mmu_enabled: u32, pad: u32, gmem_gpubaseaddr: u64, gpu_id: u32, tail: u32,
        gmem_sizebytes: u64,
    }
    /// `kgsl_version`.
    KgslVersion { drv_major: u32, drv_minor: u32, dev_major: u32, dev_minor: u32 }
    /// `kgsl_device_constraint`.
    Constraint { kind: u32, context_id: u32, data: u64, size: u64 }
}

/// `ioctl` numbers' type byte.
pub const TYPE: u8 = 0x09;

/// Flags of an object: `KGSL_MEMFLAGS_x`.
pub mod mem {
    /// Memory of protected content.
    pub const SECURE: u64 = 1 << 3;
    /// An address below 4 GiB.
    pub const FORCE_32BIT: u64 = 1 << 32;
    /// The GPU address is the one at which the program maps it.
    pub const USE_CPU_MAP: u64 = 1 << 28;
    /// Flags that are kept: what the GPU may do, cache mode, kind, alignment, and how it is mapped.
    pub const KEPT: u64 = 0x0fff_ff00 | USE_CPU_MAP | 1 << 31 | FORCE_32BIT;
}

/// Flags of a context: `KGSL_CONTEXT_x`.
pub mod ctx {
    /// The program saves no tile memory.
    pub const NO_GMEM_ALLOC: u32 = 0x0000_0002;
    /// The program has a preamble.
    pub const PREAMBLE: u32 = 0x0000_0010;
    /// The program chooses time stamps.
    pub const USER_GENERATED_TS: u32 = 0x0000_0080;
    /// Protected content.
    pub const SECURE: u32 = 0x0002_0000;
    /// A second queue for compute, of later chips.
    pub const LPAC: u32 = 0x2000_0000;
}

/// Flags of a command and of its objects: `KGSL_CMDBATCH_x`, `KGSL_CMDLIST_x`, `KGSL_OBJLIST_x`.
pub mod cmd {
    /// Has no commands, and only takes a time stamp.
    pub const MARKER: u64 = 0x0000_0002;
    /// Only waits for sync points.
    pub const SYNC: u64 = 0x0000_0400;
    /// Commands that run.
    pub const IB: u32 = 0x0000_0001;
    /// Commands that run if another context ran before.
    pub const CTXTSWITCH_PREAMBLE: u32 = 0x0000_0002;
    /// Commands that run before the others.
    pub const IB_PREAMBLE: u32 = 0x0000_0004;
    /// An object that the commands use.
    pub const MEMOBJ: u32 = 0x0000_0008;
    /// The object gets the times of the command.
    pub const PROFILE: u32 = 0x0000_0010;
}
