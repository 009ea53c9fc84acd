//! What descriptors of ours stand for, and what an open of the node owns.

use std::collections::HashMap;
use std::sync::Arc;

use rustix::io::Errno;

use crate::arena;
use crate::gem::Bo;
use crate::ids::Ids;
use crate::mappings::Part;
use crate::queue::Queues;
use crate::syncobj::Syncobj;

/// What the node's `mmap` offsets of buffers are above their GPU addresses.
pub const MMAP_OFFSET: u64 = 1 << 32;

/// What a file descriptor of ours stands for.
pub enum Object {
    /// An open of the render node.
    File(DrmFile),
    /// An exported buffer.
    DmaBuf(Arc<Bo>),
    /// A fence, which has signalled: submits that give one are complete when their ioctl returns.
    Fence,
    /// An exported sync object.
    Syncobj(Arc<Syncobj>),
}

/// What one open of the node owns.
#[derive(Default)]
pub struct DrmFile {
    /// Its buffers.
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
    /// The `len` bytes at `offset` that a mapping of it shows.
    ///
    /// # Errors
    /// `EINVAL` if that is no part of a buffer, `ENODEV` for what has no memory.
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
    /// Adds one; its handle.
    pub fn add(&mut self, bo: Arc<Bo>) -> u32 {
        let address = bo.address;
        let handle = self.rows.add(bo);
        self.handles.insert(address, handle);
        handle
    }

    /// The buffer of a handle.
    ///
    /// # Errors
    /// `ENOENT`.
    pub fn get(&self, handle: u32) -> Result<&Arc<Bo>, Errno> {
        self.rows.get(handle).ok_or(Errno::NOENT)
    }

    /// Forgets a handle; gives what it named.
    pub fn remove(&mut self, handle: u32) -> Option<Arc<Bo>> {
        let bo = self.rows.remove(handle)?;
        self.handles.remove(&bo.address);
        Some(bo)
    }

    /// The handle of a buffer, if it has one here.
    pub fn handle_of(&self, bo: &Bo) -> Option<u32> {
        self.handles.get(&bo.address).copied()
    }

    /// The buffer whose `mmap` offset is `offset`.
    fn at(&self, offset: u64) -> Option<&Arc<Bo>> {
        let address = u32::try_from(offset.checked_sub(MMAP_OFFSET)?).ok()?;
        self.rows.get(*self.handles.get(&address)?)
    }
}
