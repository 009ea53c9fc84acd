//! The memory of buffers: one file, as large as the GPU's address space, in which a
//! buffer lies at the offset that is its GPU address.
//!
//! The application maps its pieces of the file; the emulator maps all of it once (the
//! [`Window`]). So both see the same pages and nothing is copied.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::ffi::window::Window;

/// Bytes in a page.
pub const PAGE: u64 = 4096;

/// The first address that buffers get: the kernel keeps the first 16 MiB free on this chip.
pub const START: u64 = 16 << 20;

/// One past the last address: the chip has 32 bits.
pub const END: u64 = 1 << 32;

/// What happened to the address space since the emulator last looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A buffer of `len` bytes appeared at `address`.
    Map {
        /// Where.
        address: u32,
        /// How long, in bytes.
        len: u64,
    },
    /// The buffer there is gone.
    Unmap {
        /// Where.
        address: u32,
        /// How long, in bytes.
        len: u64,
    },
}

/// The memory file and who has which part of it.
pub struct Arena {
    /// The emulator's view of all of it.
    pub window: Window,
    store: Arc<OwnedFd>,
    free: FreeRanges,
    changes: Vec<Change>,
}

/// Locks `arena`. A panic elsewhere leaves it consistent: every method finishes its change.
pub fn lock(arena: &Mutex<Arena>) -> MutexGuard<'_, Arena> {
    arena.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    /// An empty address space in a new memory file.
    ///
    /// # Errors
    /// What the system says when it has no room for the file or the mapping.
    pub fn new() -> Result<Self, Errno> {
        let store = Arc::new(new_store()?);
        let window = Window::new(&store, END)?;
        Ok(Self { window, store, free: FreeRanges::new(START..END), changes: Vec::new() })
    }

    /// Room for `size` bytes: the address and the file. Contents are zero.
    ///
    /// # Errors
    /// `ENOMEM` when no gap is that large.
    pub fn allocate(&mut self, size: u64) -> Result<(u32, Arc<OwnedFd>), Errno> {
        let address = self.free.take(size).ok_or(Errno::NOMEM)? as u32;
        self.changes.push(Change::Map { address, len: size });
        Ok((address, self.store.clone()))
    }

    /// Gives back what [`Arena::allocate`] gave, and its pages to the system.
    pub fn release(&mut self, address: u32, size: u64, store: &Arc<OwnedFd>) {
        let range = u64::from(address)..u64::from(address) + size;
        if Arc::ptr_eq(store, &self.store) {
            // Keeping the pages is all that goes wrong if this fails.
            let _ = rustix::fs::fallocate(
                &self.store,
                rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE,
                range.start,
                size,
            );
        } else if self.window.remap(&self.store, range.clone()).is_err() {
            return;
        }
        self.changes.push(Change::Unmap { address, len: size });
        self.free.give(range);
    }

    /// What changed since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// In a forked child: buffers of both stay shared as the kernel has it, and what is free
    /// comes from a file of the child's own, so that the two do not allocate the same pages.
    ///
    /// # Errors
    /// What the system says when it has no room.
    pub fn part_from_parent(&mut self) -> Result<(), Errno> {
        self.store = Arc::new(new_store()?);
        let gaps: Vec<_> = self.free.iter().collect();
        gaps.into_iter().try_for_each(|gap| self.window.remap(&self.store, gap))
    }
}

fn new_store() -> Result<OwnedFd, Errno> {
    let store = rustix::fs::memfd_create("a4emu-memory", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&store, END)?;
    Ok(store)
}

/// Gaps of an address space, merged; handed out from the top as the kernel does for this chip.
struct FreeRanges {
    /// Start -> end.
    gaps: BTreeMap<u64, u64>,
}

impl FreeRanges {
    fn new(all: std::ops::Range<u64>) -> Self {
        Self { gaps: BTreeMap::from([(all.start, all.end)]) }
    }

    fn take(&mut self, size: u64) -> Option<u64> {
        let (&start, &end) = self.gaps.iter().rev().find(|(start, end)| *end - *start >= size)?;
        if end - start == size {
            self.gaps.remove(&start);
        } else {
            self.gaps.insert(start, end - size);
        }
        Some(end - size)
    }

    fn give(&mut self, range: std::ops::Range<u64>) {
        let mut end = range.end;
        if let Some(next) = self.gaps.remove(&end) {
            end = next;
        }
        match self.gaps.range_mut(..range.start).next_back() {
            Some((_, before)) if *before == range.start => *before = end,
            _ => _ = self.gaps.insert(range.start, end),
        }
    }

    fn iter(&self) -> impl Iterator<Item = std::ops::Range<u64>> {
        self.gaps.iter().map(|(start, end)| *start..*end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_merge_whatever_the_order() {
        let mut free = FreeRanges::new(0..10 * PAGE);
        let taken: Vec<u64> = (0..10).map(|_| free.take(PAGE).unwrap()).collect();
        assert_eq!((taken[0], taken[9], free.take(PAGE)), (9 * PAGE, 0, None));
        for index in [3, 5, 4, 0, 9, 1, 2, 8, 7, 6] {
            free.give(taken[index]..taken[index] + PAGE);
        }
        assert_eq!(free.gaps, BTreeMap::from([(0, 10 * PAGE)]));
    }

    #[test]
    fn memory_comes_back_zeroed_and_full_is_enomem() {
        let mut arena = Arena::new().unwrap();
        let (address, store) = arena.allocate(PAGE).unwrap();
        arena.window.pages(address, PAGE).as_mut().fill(7);
        arena.release(address, PAGE, &store);
        assert_eq!(arena.allocate(PAGE).unwrap().0, address);
        assert!(arena.window.pages(address, PAGE).as_ref().iter().all(|byte| *byte == 0));
        assert_eq!(arena.allocate(END).unwrap_err(), Errno::NOMEM);
        let len = PAGE;
        let changes =
            [Change::Map { address, len }, Change::Unmap { address, len }, Change::Map { address, len }];
        assert_eq!(arena.take_changes(), changes);
    }
}
