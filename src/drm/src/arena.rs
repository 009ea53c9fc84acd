//! The memory of buffers. It is as large as the GPU's address space, and the offset of a buffer is its GPU
//! address.
//!
//! The application and the emulator ([`Pages`]) use the same memory, and nothing is copied. It is one
//! mapping and no file, so neither the system's limit of mappings nor the program's use of descriptors
//! affects it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use a4emu_gpu::memory::Seen;
use rustix::io::Errno;

use crate::ffi::Inode;
use crate::ffi::pages::{Pages, Region};
use crate::gaps::Gaps;

/// Size of a page in bytes.
pub const PAGE: u64 = 4096;

/// The first address of buffers. The kernel keeps the first 16 MiB free on this chip.
pub const START: u64 = 16 << 20;

/// One past the last address, since the chip has 32-bit addresses.
pub const END: u64 = 1 << 32;

/// Changes of the address space since the emulator's last look.
#[derive(Default)]
pub struct Changes {
    /// Ranges of released buffers. They were released before those of `born` were allocated.
    pub gone: Vec<Range<u64>>,
    /// New buffers by address.
    pub born: BTreeMap<u32, Pages>,
    /// Addresses of released buffers whose memory was a file.
    pub unshared: Vec<u32>,
}

/// An allocated buffer.
struct Live {
    bytes: u64,
    /// Whether the program or another process has mapped it.
    seen: Seen,
}

/// A file that is the memory of a buffer.
#[derive(Clone)]
pub struct Backing {
    /// The identity of the file.
    pub inode: Inode,
    /// Path at which it can be opened, also by a forked child of its owner.
    pub path: String,
}

/// The memory of all buffers and its allocation.
pub struct Arena {
    region: &'static Region,
    free: Gaps,
    /// Allocated buffers by address.
    live: BTreeMap<u32, Live>,
    /// The files of buffers whose memory is a file, by address.
    shared: BTreeMap<u32, Backing>,
    changes: Changes,
    /// Number of forks since the first process. Each fork adds one in the child.
    generation: u32,
    /// Whether the free gaps are still shared with the process that forked this one.
    shares_gaps: bool,
}

/// Locks `arena`. A panic leaves it consistent, since every method finishes its change.
pub fn lock(arena: &Mutex<Arena>) -> MutexGuard<'_, Arena> {
    arena.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    /// Makes an empty address space.
    pub fn new(region: &'static Region) -> Self {
        Self {
            region,
            free: Gaps::new(START..END),
            live: BTreeMap::new(),
            shared: BTreeMap::new(),
            changes: Changes::default(),
            generation: 0,
            shares_gaps: false,
        }
    }

    /// Allocates `size` bytes of zeros. Returns the address and the generation it belongs to.
    ///
    /// # Errors
    /// The call fails with `ENOMEM` if no gap is large enough.
    pub fn allocate(&mut self, size: u64) -> Result<(u32, u32), Errno> {
        self.have_own_gaps()?;
        let start = self.free.take(size).ok_or(Errno::NOMEM)?;
        let address = start as u32;
        let seen = Seen::default();
        self.changes.born.insert(address, self.region.pages(start..start + size, seen.clone()));
        self.live.insert(address, Live { bytes: size, seen });
        Ok((address, self.generation))
    }

    /// Releases a result of [`Arena::allocate`], and its memory.
    pub fn release(&mut self, address: u32, size: u64, generation: u32) {
        let range = u64::from(address)..u64::from(address) + size;
        self.live.remove(&address);
        let was_shared = self.shared.remove(&address).is_some();
        if was_shared {
            self.changes.unshared.push(address);
        }
        let emptied = if generation == self.generation && !was_shared {
            self.region.clear(range.clone());
            Ok(())
        } else {
            // The memory still belongs to the other process too, so it must not be cleared.
            self.have_own_gaps().and_then(|()| self.region.replace(range.clone()))
        };
        if emptied.is_ok() {
            self.free.give(range.clone());
        }
        // A buffer that was allocated and released between two submits is not reported to the emulator.
        if self.changes.born.remove(&address).is_none() {
            self.changes.gone.push(range);
        }
    }

    /// Makes the file `fd`, described by `backing`, the memory of the buffer at `address`.
    ///
    /// # Errors
    /// The call fails if the file cannot be mapped.
    pub fn share(&mut self, address: u32, fd: &OwnedFd, backing: Backing) -> Result<(), Errno> {
        let live = self.live.get(&address).ok_or(Errno::INVAL)?;
        live.seen.note();
        self.region.back(u64::from(address)..u64::from(address) + live.bytes, fd)?;
        self.shared.insert(address, backing);
        Ok(())
    }

    /// Records that the program or another process may access the buffer at `address` from now on.
    pub fn show(&self, address: u32) {
        self.live.get(&address).into_iter().for_each(|live| live.seen.note());
    }

    /// Records that another process may access all buffers from now on.
    pub fn show_all(&self) {
        self.live.values().for_each(|live| live.seen.note());
    }

    /// The bytes of the buffer at `address`.
    pub fn contents(&self, address: u32) -> Option<Pages> {
        Some(pages(self.region, address, self.live.get(&address)?))
    }

    /// The file that is the memory of the buffer at `address`, if any.
    pub fn backing(&self, address: u32) -> Option<&Backing> {
        self.shared.get(&address)
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// Called in a forked child, whose emulator starts anew. Existing buffers stay shared with the parent,
    /// as with the kernel.
    pub fn part_from_parent(&mut self) {
        self.generation += 1;
        self.shares_gaps = true;
        let pages = |(address, live): (&u32, &Live)| (*address, pages(self.region, *address, live));
        self.changes = Changes { born: self.live.iter().map(pages).collect(), ..Changes::default() };
    }

    /// Replaces gaps that are still shared with the parent by new memory, so that the two processes do not
    /// allocate the same pages. This is not done at the fork, since most children execute another program at
    /// once.
    fn have_own_gaps(&mut self) -> Result<(), Errno> {
        if std::mem::take(&mut self.shares_gaps) {
            let replaced = self.free.iter().try_for_each(|gap| self.region.replace(gap));
            self.shares_gaps = replaced.is_err();
            return replaced;
        }
        Ok(())
    }
}

fn pages(region: &Region, address: u32, live: &Live) -> Pages {
    region.pages(u64::from(address)..u64::from(address) + live.bytes, live.seen.clone())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use a4emu_gpu::memory::Memory;

    use super::*;

    fn arena() -> Arena {
        Arena::new(Box::leak(Box::new(Region::new(END).unwrap())))
    }

    #[test]
    fn memory_comes_back_zeroed_and_full_is_enomem() {
        let mut arena = arena();
        let (address, generation) = arena.allocate(PAGE).unwrap();
        let mut pages = arena.take_changes().born.remove(&address).expect("it is mapped");
        assert_eq!(pages.as_ref()[5], 0);
        pages.as_mut().fill(7);
        arena.release(address, PAGE, generation);
        assert_eq!(arena.allocate(PAGE).unwrap().0, address);
        assert!(pages.as_ref().iter().all(|byte| *byte == 0), "the memory went back");
        let changes = arena.take_changes();
        assert_eq!((changes.gone.len(), changes.born.len()), (1, 1));
        let (unseen, _) = arena.allocate(PAGE).unwrap();
        arena.release(unseen, PAGE, generation);
        let changes = arena.take_changes();
        assert!(changes.gone.is_empty() && changes.born.is_empty());
        assert_eq!(arena.allocate(END).unwrap_err(), Errno::NOMEM);
    }

    #[test]
    fn a_child_gets_memory_of_its_own() {
        let mut arena = arena();
        let (inherited, generation) = arena.allocate(PAGE).unwrap();
        let mut pages = arena.take_changes().born.remove(&inherited).unwrap();
        pages.as_mut().fill(7);
        arena.part_from_parent();
        assert_eq!(arena.take_changes().born[&inherited].as_ref()[0], 7, "shared");
        arena.release(inherited, PAGE, generation);
        let (again, new) = arena.allocate(PAGE).unwrap();
        assert_eq!((again, new, pages.as_ref()[0]), (inherited, generation + 1, 0));
    }

    /// Whether the emulator treats the buffer at `address` as unchanged by the program or other processes.
    fn is_private(memory: &mut Memory, address: u32) -> bool {
        let before = memory.now();
        memory.host_may_have_written();
        memory.is_unchanged(address, PAGE as u32, before)
    }

    #[test]
    fn buffers_are_private_until_shown_or_shared() {
        let mut arena = arena();
        let mut memory = Memory::new();
        let addresses: Vec<u32> = (0..4).map(|_| arena.allocate(PAGE).unwrap().0).collect();
        for (address, pages) in arena.take_changes().born {
            let seen = pages.seen.clone();
            memory.map_shared(address, Arc::new(pages), seen);
        }
        let private =
            |memory: &mut Memory| addresses.iter().map(|at| is_private(memory, *at)).collect::<Vec<_>>();
        assert_eq!(private(&mut memory), [true; 4]);
        arena.show(addresses[1]);
        assert_eq!(private(&mut memory), [true, false, true, true]);
        let fd = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, PAGE).unwrap();
        let backing = Backing { inode: Inode::of_owned(&fd).unwrap(), path: String::new() };
        arena.share(addresses[2], &fd, backing).unwrap();
        assert_eq!(private(&mut memory), [true, false, false, true]);
        arena.show_all();
        assert_eq!(private(&mut memory), [false; 4]);
        arena.part_from_parent();
        assert!(arena.take_changes().born.values().all(|pages| {
            let (mut memory, seen) = (Memory::new(), pages.seen.clone());
            memory.map_shared(0x1000u32, Arc::new(vec![0; PAGE as usize]), seen);
            !is_private(&mut memory, 0x1000)
        }));
    }
}
