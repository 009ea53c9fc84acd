//! The memory of buffers: one file, as large as the GPU's address space, in which a
//! buffer lies at the offset that is its GPU address.
//!
//! The application maps its pieces of the file, and so does the emulator ([`Pages`]): both
//! see the same memory and nothing is copied.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use crate::ffi::pages::Pages;

/// Bytes in a page.
pub const PAGE: u64 = 4096;

/// The first address that buffers get: the kernel keeps the first 16 MiB free on this chip.
pub const START: u64 = 16 << 20;

/// One past the last address: the chip has 32 bits.
pub const END: u64 = 1 << 32;

/// What happened to the address space since the emulator last looked.
pub enum Change {
    /// A buffer appeared at `address`.
    Map {
        /// Where.
        address: u32,
        /// Its memory.
        pages: Pages,
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
    /// What the system says when it has no room for the file.
    pub fn new() -> Result<Self, Errno> {
        Ok(Self { store: Arc::new(new_store()?), free: FreeRanges::new(START..END), changes: Vec::new() })
    }

    /// Room for `size` bytes: the address and the file. Contents are zero.
    ///
    /// # Errors
    /// `ENOMEM` when no gap is that large, or the process may not map more.
    pub fn allocate(&mut self, size: u64) -> Result<(u32, Arc<OwnedFd>), Errno> {
        let start = self.free.take(size).ok_or(Errno::NOMEM)?;
        let pages =
            Pages::new(&self.store, start, size).inspect_err(|_| self.free.give(start..start + size))?;
        let address = start as u32;
        self.changes.push(Change::Map { address, pages });
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
        }
        self.free.give(range);
        // One that came and went between two submits, the emulator never hears of.
        let unseen = |change: &Change| matches!(change, Change::Map { address: at, .. } if *at == address);
        match self.changes.iter().rposition(unseen) {
            Some(index) => _ = self.changes.remove(index),
            None => self.changes.push(Change::Unmap { address, len: size }),
        }
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
        Ok(())
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
        let mut changes = arena.take_changes();
        let Some(Change::Map { address: mapped, pages }) = changes.first_mut() else {
            panic!("it is mapped")
        };
        assert_eq!((*mapped, pages.as_ref()[5]), (address, 0));
        pages.as_mut().fill(7);
        arena.release(address, PAGE, &store);
        assert_eq!(arena.allocate(PAGE).unwrap().0, address);
        assert!(pages.as_ref().iter().all(|byte| *byte == 0), "the pages went back");
        assert!(matches!(arena.take_changes()[..], [Change::Unmap { .. }, Change::Map { .. }]));
        let (unseen, _) = arena.allocate(PAGE).unwrap();
        arena.release(unseen, PAGE, &store);
        assert!(arena.take_changes().is_empty());
        assert_eq!(arena.allocate(END).unwrap_err(), Errno::NOMEM);
    }
}
