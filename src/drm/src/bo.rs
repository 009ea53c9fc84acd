//! Buffer objects, which own their memory in the [`Arena`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use crate::arena::{self, Arena};
use crate::uapi;

/// A buffer object. Its memory is released with its last owner: handles, mappings, exports and running
/// submits.
pub struct Bo {
    /// GPU address.
    pub address: u32,
    /// Size in bytes, a multiple of the page size.
    pub size: u64,
    /// Generation of its memory. See [`Arena::allocate`].
    generation: u32,
    /// Name that the program gave it.
    pub name: Mutex<String>,
    /// What the program keeps with the buffer, for others that import it.
    pub metadata: Mutex<Vec<u8>>,
    /// The flags that the program gave it. `None` for a buffer of another process.
    pub flags: Option<u32>,
    /// Whether the program has declared the contents unneeded.
    pub unneeded: AtomicBool,
    /// Whether it was made for scan-out, or shared with other devices or processes.
    can_present: AtomicBool,
    /// Number of the last submit that uses it.
    pub used: AtomicU64,
    /// Number of the last submit that writes it.
    pub written: AtomicU64,
    arena: Arc<Mutex<Arena>>,
}

impl Drop for Bo {
    fn drop(&mut self) {
        arena::lock(&self.arena).release(self.address, self.size, self.generation);
    }
}

impl Bo {
    /// Allocates a buffer of at least `size` bytes.
    pub fn new(arena: &Arc<Mutex<Arena>>, size: u64) -> Result<Self, Errno> {
        let size = size.checked_next_multiple_of(arena::PAGE).ok_or(Errno::NOMEM)?;
        let (address, generation) = arena::lock(arena).allocate(size)?;
        Ok(Self {
            address,
            size,
            generation,
            name: Mutex::default(),
            metadata: Mutex::default(),
            flags: None,
            unneeded: AtomicBool::new(false),
            can_present: AtomicBool::new(false),
            used: AtomicU64::new(0),
            written: AtomicU64::new(0),
            arena: arena.clone(),
        })
    }

    /// Records that submit `number` uses the buffer, and may write it.
    pub fn mark_used(&self, number: u64, access: u32) {
        self.used.fetch_max(number, Ordering::Relaxed);
        if access & uapi::submit::BO_WRITE != 0 {
            self.written.fetch_max(number, Ordering::Relaxed);
        }
    }

    /// Records that the program may access the bytes from now on.
    pub fn show(&self) {
        arena::lock(&self.arena).show(self.address);
    }

    /// Marks the buffer as one that may be presented.
    pub fn note_presentable(&self) {
        self.can_present.store(true, Ordering::Relaxed);
    }

    /// Whether it may be presented.
    pub fn can_present(&self) -> bool {
        self.can_present.load(Ordering::Relaxed)
    }

    /// Whether other processes may import it.
    pub fn can_be_shared(&self) -> bool {
        self.flags.is_none_or(|flags| flags & uapi::BO_NO_SHARE == 0)
    }

    /// Whether the byte at `address` is in the buffer.
    pub fn holds(&self, address: u32) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| u64::from(offset) < self.size)
    }

    /// Whether the program has declared the contents unneeded.
    pub fn is_unneeded(&self) -> bool {
        self.unneeded.load(Ordering::Relaxed)
    }
}
