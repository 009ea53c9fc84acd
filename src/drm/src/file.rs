//! The objects behind the device's descriptors, and the state of an open file.

use std::collections::HashMap;
use std::sync::Arc;

use rustix::io::Errno;

use crate::arena;
use crate::gem::Bo;
use crate::ids::Ids;
use crate::mappings::Part;
use crate::queue::Queues;
use crate::syncobj::Syncobj;

/// Difference between a buffer's `mmap` offset and its GPU address.
pub const MMAP_OFFSET: u64 = 1 << 32;

/// The object behind a descriptor of the device.
pub enum Object {
    /// An open of the render node.
    File(DrmFile),
    /// An exported buffer.
    DmaBuf(Arc<Bo>),
    /// A fence. It is always signalled, since an ioctl that returns one waits for its submit.
    Fence,
    /// An exported sync object.
    Syncobj(Arc<Syncobj>),
}

/// The state of one open of the node.
#[derive(Default)]
pub struct DrmFile {
    /// Buffers of the file.
    pub buffers: Buffers,
    /// Sync objects by handle.
    pub syncobjs: Ids<Arc<Syncobj>>,
    /// Submit queues by id.
    pub queues: Queues,
}

/// The buffers of an open file, by handle and by GPU address.
#[derive(Default)]
pub struct Buffers {
    rows: Ids<Arc<Bo>>,
    handles: HashMap<u32, u32>,
}

impl Object {
    /// The `len` bytes at `offset` of the object, for a mapping.
    ///
    /// # Errors
    /// The call fails with `EINVAL` if the range is not in a buffer, and with `ENODEV` for an object without
    /// memory.
    pub fn part(&self, offset: u64, len: usize) -> Result<Part, Errno> {
        let part = |bo: &Arc<Bo>, start: u64| {
            let end = start.checked_add((len as u64).checked_next_multiple_of(arena::PAGE)?)?;
            let fits = len > 0 && start.is_multiple_of(arena::PAGE) && end <= bo.size;
            fits.then(|| Part { bo: bo.clone(), bytes: start..end })
        };
        match self {
            Self::File(file) => file.buffers.at(offset).and_then(|bo| part(bo, 0)).ok_or(Errno::INVAL),
            Self::DmaBuf(bo) => part(bo, offset).ok_or(Errno::INVAL),
            Self::Fence | Self::Syncobj(_) => Err(Errno::NODEV),
        }
    }
}

impl Buffers {
    /// Adds a buffer. Returns its handle.
    pub fn add(&mut self, bo: Arc<Bo>) -> u32 {
        let address = bo.address;
        let handle = self.rows.add(bo);
        self.handles.insert(address, handle);
        handle
    }

    /// The buffer with this handle.
    ///
    /// # Errors
    /// The call fails with `ENOENT`.
    pub fn get(&self, handle: u32) -> Result<&Arc<Bo>, Errno> {
        self.rows.get(handle).ok_or(Errno::NOENT)
    }

    /// Removes a handle. Returns its buffer.
    pub fn remove(&mut self, handle: u32) -> Option<Arc<Bo>> {
        let bo = self.rows.remove(handle)?;
        self.handles.remove(&bo.address);
        Some(bo)
    }

    /// The handle of a buffer in this file, if it has one.
    pub fn handle_of(&self, bo: &Bo) -> Option<u32> {
        self.handles.get(&bo.address).copied()
    }

    /// The buffer whose `mmap` offset is `offset`.
    fn at(&self, offset: u64) -> Option<&Arc<Bo>> {
        let address = u32::try_from(offset.checked_sub(MMAP_OFFSET)?).ok()?;
        self.rows.get(*self.handles.get(&address)?)
    }
}
