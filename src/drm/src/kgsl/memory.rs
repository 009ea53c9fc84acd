//! Memory: the ioctls `KGSL_GPUOBJ_x` and their older forms `KGSL_GPUMEM_x`.

use rustix::io::Errno;

use super::args::{self, mem};
use super::command;
use super::objects::Objects;
use crate::device::{Call, State};
use crate::ffi::user;

/// `KGSL_GPUOBJ_FREE_ON_EVENT`.
const FREE_ON_EVENT: u64 = 1;
/// `KGSL_GPU_EVENT_TIMESTAMP` and `KGSL_GPU_EVENT_FENCE`.
const EVENTS: std::ops::RangeInclusive<u32> = 1..=2;

/// Most objects of a bulk operation on caches.
const MOST: u32 = 1 << 20;

/// A new object: what the program is told.
struct New {
    id: u32,
    size: u64,
    flags: u64,
    address: u64,
}

fn allocate(call: &Call, size: u64, flags: u64) -> Result<New, Errno> {
    if size == 0 {
        return Err(Errno::INVAL);
    }
    if flags & (mem::SECURE | mem::FORCE_32BIT) != 0 {
        return Err(Errno::OPNOTSUPP);
    }
    let flags = flags & mem::KEPT;
    let mut state = call.device.state();
    if state.kgsl(call.file)?.objects.is_look_due() {
        command::look(&mut state)?;
    }
    match add(&mut state, call, size, flags) {
        Err(Errno::NOMEM) => {
            // The program may have unmapped what it has freed.
            command::look(&mut state)?;
            add(&mut state, call, size, flags)
        }
        added => added,
    }
}

fn add(state: &mut State, call: &Call, size: u64, flags: u64) -> Result<New, Errno> {
    let (id, object) = state.kgsl(call.file)?.objects.add(size, flags)?;
    Ok(New { id, size: object.size, flags, address: object.address().unwrap_or(0) })
}

/// `KGSL_GPUOBJ_ALLOC`. What the program says about its use is not kept.
///
/// # Errors
/// The call fails with `EINVAL` for size 0, with `EOPNOTSUPP` for protected memory or a 32-bit address, and with
/// `ENOMEM`.
pub fn alloc(call: &Call, ask: &mut args::GpuobjAlloc) -> Result<(), Errno> {
    let new = allocate(call, ask.size, ask.flags)?;
    (ask.id, ask.size, ask.flags, ask.mmapsize) = (new.id, new.size, new.flags, new.size);
    Ok(())
}

/// `KGSL_GPUMEM_ALLOC_ID`.
///
/// # Errors
/// The call fails like [`alloc`].
pub fn alloc_id(call: &Call, ask: &mut args::GpumemAllocId) -> Result<(), Errno> {
    let new = allocate(call, ask.size, ask.flags.into())?;
    (ask.id, ask.size, ask.flags, ask.mmapsize) = (new.id, new.size, new.flags as u32, new.size);
    ask.gpuaddr = new.address;
    Ok(())
}

/// `KGSL_GPUOBJ_FREE`. An object that is freed on an event is freed at once: commands that were submitted before keep
/// what they use.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id or event, or with `EFAULT`.
pub fn free(call: &Call, ask: &mut args::GpuobjFree) -> Result<(), Errno> {
    if ask.flags & FREE_ON_EVENT != 0 {
        if !EVENTS.contains(&ask.kind) {
            return Err(Errno::INVAL);
        }
        let len = if ask.kind == *EVENTS.start() { 8 } else { 4 };
        user::read_bytes(ask.private, &mut [0; 8][..len])?;
    }
    free_object(call, ask.id)
}

/// `KGSL_GPUMEM_FREE_ID`.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id.
pub fn free_id(call: &Call, ask: &mut args::GpumemFreeId) -> Result<(), Errno> {
    free_object(call, ask.id)
}

/// `KGSL_SHAREDMEM_FREE`: frees the object at an address.
///
/// # Errors
/// The call fails with `EINVAL` if there is none.
pub fn free_at(call: &Call, ask: &mut args::SharedmemFree) -> Result<(), Errno> {
    let mut state = call.device.state();
    command::look(&mut state)?;
    let objects = &mut state.kgsl(call.file)?.objects;
    let id = objects.id_at(ask.gpuaddr)?;
    objects.free(id)
}

fn free_object(call: &Call, id: u32) -> Result<(), Errno> {
    call.device.state().kgsl(call.file)?.objects.free(id)
}

/// The object with an id, or at an address if the id is 0, after a look where it is mapped.
fn with_object<R>(
    call: &Call,
    (id, address): (u32, u64),
    with: impl FnOnce(u32, &Objects) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let mut state = call.device.state();
    command::look(&mut state)?;
    let objects = &state.kgsl(call.file)?.objects;
    let id = if id == 0 { objects.id_at(address)? } else { id };
    with(id, objects)
}

/// `KGSL_GPUOBJ_INFO`. The address of an object that the program has not mapped is 0.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id or address.
pub fn info(call: &Call, ask: &mut args::GpuobjInfo) -> Result<(), Errno> {
    with_object(call, (ask.id, ask.gpuaddr), |id, objects| {
        let object = objects.get(id)?;
        (ask.id, ask.size, ask.flags) = (id, object.size, object.flags);
        (ask.gpuaddr, ask.va_len, ask.va_addr) = (object.address().unwrap_or(0), object.size, 0);
        Ok(())
    })
}

/// `KGSL_GPUMEM_GET_INFO`.
///
/// # Errors
/// The call fails like [`info`].
pub fn get_info(call: &Call, ask: &mut args::GpumemGetInfo) -> Result<(), Errno> {
    with_object(call, (ask.id, ask.gpuaddr), |id, objects| {
        let object = objects.get(id)?;
        (ask.id, ask.size, ask.flags) = (id, object.size, object.flags as u32);
        (ask.gpuaddr, ask.mmapsize, ask.useraddr) = (object.address().unwrap_or(0), object.size, 0);
        Ok(())
    })
}

/// `KGSL_GPUOBJ_SET_INFO`: what it says is not kept.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id.
pub fn set_info(call: &Call, ask: &mut args::GpuobjSetInfo) -> Result<(), Errno> {
    call.device.state().kgsl(call.file)?.objects.get(ask.id).map(drop)
}

/// `KGSL_MAP_USER_MEM`: memory of the program that is no object cannot be used. tinygrad takes this error for a kernel
/// that has it mapped already.
///
/// # Errors
/// The call fails with `EFAULT`.
pub fn map_user(_: &Call, _: &mut args::MapUserMem) -> Result<(), Errno> {
    Err(Errno::FAULT)
}

/// `KGSL_GPUOBJ_IMPORT`: see [`map_user`].
///
/// # Errors
/// The call fails with `EFAULT`.
pub fn import(_: &Call, _: &mut args::GpuobjImport) -> Result<(), Errno> {
    Err(Errno::FAULT)
}

/// `KGSL_GPUOBJ_SYNC`: there are no caches to write back.
///
/// # Errors
/// The call fails with `EINVAL` without objects, or with `EFAULT`.
pub fn sync(_: &Call, ask: &mut args::GpuobjSync) -> Result<(), Errno> {
    if ask.obj_len == 0 || ask.count == 0 {
        return Err(Errno::INVAL);
    }
    user::read_bytes(ask.objs, &mut [0])
}

/// `KGSL_GPUMEM_SYNC_CACHE`.
///
/// # Errors
/// The call fails with `EINVAL` for a bad id or address.
pub fn sync_cache(call: &Call, ask: &mut args::GpumemSyncCache) -> Result<(), Errno> {
    with_object(call, (ask.id, ask.gpuaddr), |id, objects| objects.get(id).map(drop))
}

/// `KGSL_GPUMEM_SYNC_CACHE_BULK`.
///
/// # Errors
/// The call fails with `EINVAL` without ids, or with `EFAULT`.
pub fn sync_cache_bulk(_: &Call, ask: &mut args::GpumemSyncCacheBulk) -> Result<(), Errno> {
    if ask.id_list == 0 || ask.count == 0 || ask.count > MOST {
        return Err(Errno::INVAL);
    }
    user::read_bytes(ask.id_list, &mut [0; 4])
}
