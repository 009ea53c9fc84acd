//! The memory objects of an open: ranges of pages of its file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustix::io::Errno;

use super::args::mem;
use crate::arena::PAGE;
use crate::ffi::maps::Mapping;
use crate::ffi::pages::Window;
use crate::gaps::Gaps;

/// Bytes of freed objects that are kept at most without a look whether the program has unmapped them.
const FREED: u64 = 64 << 20;

/// End of the addresses of programs, exclusive.
const END: u64 = 1 << 47;

/// A memory object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemObject {
    /// Size in bytes, a multiple of the page size.
    pub size: u64,
    /// Flags that the program gave it.
    pub flags: u64,
    /// GPU address that the device has chosen. `None` for one that is where the program maps it.
    chosen: Option<u64>,
    /// Where the program has mapped it, as of the last look.
    mapped: Option<u64>,
    /// Whether the program has freed it. It ends when it is not mapped any more.
    freed: bool,
}

impl MemObject {
    /// The GPU address, if it has one.
    pub fn address(&self) -> Option<u64> {
        let is_live = !self.freed || self.mapped.is_some();
        self.chosen.or(self.mapped).filter(|_| is_live)
    }
}

/// The objects of an open, by id.
pub struct Objects {
    window: Arc<Window>,
    rows: BTreeMap<u32, MemObject>,
    /// Free pages of the file.
    free: Gaps,
    /// Address of the first page, for objects whose address the device chooses.
    base: u64,
    /// Bytes of freed objects since the last look.
    freed: u64,
    /// Number of changes.
    pub changes: u64,
    /// Whether another process has the same objects: the one that forked this one.
    is_inherited: bool,
}

impl Objects {
    /// Makes an empty list for the file of `window`. The addresses that the device chooses begin at `base`.
    pub fn new(window: Arc<Window>, base: u64) -> Self {
        // An id is not 0.
        let free = Gaps::new(1..window.bytes() / PAGE);
        Self { window, rows: BTreeMap::new(), free, base, freed: 0, changes: 0, is_inherited: false }
    }

    /// The memory of the objects.
    pub fn window(&self) -> &Arc<Window> {
        &self.window
    }

    /// Adds an object of at least `size` bytes of zeros. Returns its id and the object.
    ///
    /// New objects lie below older ones, as the system's addresses do. So the system joins their mappings, and a look
    /// at them is short.
    ///
    /// # Errors
    /// The call fails with `ENOMEM` if there is no room, also in a forked child, which does not share the parent's
    /// free pages.
    pub fn add(&mut self, size: u64, flags: u64) -> Result<(u32, &MemObject), Errno> {
        let size = size.checked_next_multiple_of(PAGE).ok_or(Errno::NOMEM)?;
        if self.is_inherited {
            return Err(Errno::NOMEM);
        }
        let first = self.free.take(size / PAGE).ok_or(Errno::NOMEM)?;
        let id = u32::try_from(first).map_err(|_| Errno::NOMEM)?;
        let chosen = (flags & mem::USE_CPU_MAP == 0).then(|| self.base + first * PAGE);
        self.changes += 1;
        let object = MemObject { size, flags, chosen, mapped: None, freed: false };
        Ok((id, self.rows.entry(id).or_insert(object)))
    }

    /// Whether so much is freed that a look is due which of it is unmapped.
    pub fn is_look_due(&self) -> bool {
        self.freed > FREED
    }

    /// Frees an object. Its memory is released when it is not mapped any more.
    ///
    /// # Errors
    /// The call fails with `EINVAL` for a bad id.
    pub fn free(&mut self, id: u32) -> Result<(), Errno> {
        let object = self.rows.get_mut(&id).filter(|object| !object.freed).ok_or(Errno::INVAL)?;
        object.freed = true;
        self.freed += object.size;
        self.changes += 1;
        Ok(())
    }

    /// The object with this id.
    ///
    /// # Errors
    /// The call fails with `EINVAL` for a bad id.
    pub fn get(&self, id: u32) -> Result<&MemObject, Errno> {
        self.rows.get(&id).filter(|object| !object.freed).ok_or(Errno::INVAL)
    }

    /// The id of the object that has the GPU address `address`, as of the last look.
    ///
    /// # Errors
    /// The call fails with `EINVAL` if there is none.
    pub fn id_at(&self, address: u64) -> Result<u32, Errno> {
        let holds = |object: &MemObject| {
            let start = object.address().filter(|_| !object.freed);
            start.is_some_and(|start| (start..start + object.size).contains(&address))
        };
        self.rows.iter().find(|(_, object)| holds(object)).map(|(id, _)| *id).ok_or(Errno::INVAL)
    }

    /// Whether the program may map `len` bytes at `offset` of the file.
    ///
    /// # Errors
    /// The call fails with `EINVAL` if no object begins there, and with `ERANGE` if it has another size.
    pub fn check_mapping(&self, offset: u64, len: u64) -> Result<(), Errno> {
        let object = self.get(u32::try_from(offset / PAGE).map_err(|_| Errno::INVAL)?)?;
        let len = len.checked_next_multiple_of(PAGE).ok_or(Errno::INVAL)?;
        if offset.is_multiple_of(PAGE) && len == object.size { Ok(()) } else { Err(Errno::RANGE) }
    }

    /// Takes over where the program has mapped what: `mappings` of the file. Ends objects that are freed and not mapped.
    ///
    /// An object that is mapped more than once keeps its address. A new one has the highest address, since systems mostly
    /// map downwards. An object that is mapped in part is taken as a whole.
    pub fn follow<'a>(&mut self, mappings: impl Iterator<Item = &'a Mapping>) {
        let mut now: BTreeMap<u32, u64> = BTreeMap::new();
        for mapping in mappings {
            for (id, at) in self.in_mapping(mapping) {
                let before = self.rows.get(&id).and_then(|object| object.mapped);
                let is_kept = before.is_some() && now.get(&id).copied() == before;
                if !is_kept {
                    now.insert(id, at);
                }
            }
        }
        for (id, object) in &mut self.rows {
            object.mapped = now.get(id).copied();
        }
        self.reap();
    }

    /// The objects in a mapping, and the address of each one's first byte.
    fn in_mapping(&self, mapping: &Mapping) -> Vec<(u32, u64)> {
        let end = mapping.offset + (mapping.at.end - mapping.at.start);
        let first = |id: u32| u64::from(id) * PAGE;
        let below = self.rows.range(..u32::try_from(end.div_ceil(PAGE)).unwrap_or(u32::MAX)).rev();
        let inside = below.take_while(|(id, object)| first(**id) + object.size > mapping.offset);
        let start = |(id, object): (&u32, &MemObject)| {
            let at = (mapping.at.start + first(*id)).checked_sub(mapping.offset)?;
            (at > 0 && at + object.size <= END).then_some((*id, at))
        };
        inside.filter_map(start).collect()
    }

    fn reap(&mut self) {
        let gone: Vec<u32> =
            self.rows.iter().filter(|(_, it)| it.freed && it.mapped.is_none()).map(|(id, _)| *id).collect();
        for id in gone {
            let Some(object) = self.rows.remove(&id) else { continue };
            let first = u64::from(id);
            // A parent may still use it.
            if !self.is_inherited {
                self.window.clear(first * PAGE..first * PAGE + object.size);
                self.free.give(first..first + object.size / PAGE);
            }
            self.changes += 1;
        }
        self.freed = 0;
    }

    /// The objects that have a GPU address: id, address, and their range of the file.
    pub fn placed(&self) -> impl Iterator<Item = (u32, u64, Range<u64>)> {
        self.rows.iter().filter_map(|(id, object)| {
            let first = u64::from(*id) * PAGE;
            Some((*id, object.address()?, first..first + object.size))
        })
    }

    /// Called in a forked child.
    pub fn part_from_parent(&mut self) {
        self.is_inherited = true;
        self.changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::MemfdFlags;

    use super::*;
    use crate::ffi::Inode;

    const SIZE: u64 = 1 << 20;

    fn objects() -> Objects {
        let fd = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, SIZE).unwrap();
        Objects::new(Arc::new(Window::new(&fd, SIZE).unwrap()), 1 << 34)
    }

    fn mapping(at: u64, id: u32, pages: u64) -> Mapping {
        let at = at..at + pages * PAGE;
        Mapping { at, offset: u64::from(id) * PAGE, inode: Inode::default() }
    }

    #[test]
    fn an_object_is_where_it_is_mapped_and_ends_with_that() {
        let mut objects = objects();
        let (id, _) = objects.add(5, mem::USE_CPU_MAP).unwrap();
        let (below, _) = objects.add(2 * PAGE, mem::USE_CPU_MAP).unwrap();
        assert_eq!(below + 2, id, "below the older one");
        assert_eq!((objects.get(id).unwrap().size, objects.get(id).unwrap().address()), (PAGE, None));
        // One mapping of both, as the system joins them.
        let both = mapping(0x7000_0000, below, 3);
        objects.follow([&both].into_iter());
        let placed: Vec<_> = objects.placed().map(|(id, at, _)| (id, at)).collect();
        assert_eq!(placed, [(below, 0x7000_0000), (id, 0x7000_2000)]);
        assert_eq!((objects.id_at(0x7000_1fff), objects.id_at(0x7000_3000)), (Ok(below), Err(Errno::INVAL)));
        // Second mappings change nothing.
        let (lower, higher) = (mapping(0x6000_0000, below, 3), mapping(0x7100_0000, below, 3));
        objects.follow([&lower, &both, &higher].into_iter());
        assert_eq!(objects.get(id).unwrap().address(), Some(0x7000_2000));
        objects.window.pages(u64::from(id) * PAGE..u64::from(id + 1) * PAGE).as_mut().fill(7);
        assert_eq!((objects.free(id), objects.free(id)), (Ok(()), Err(Errno::INVAL)));
        objects.follow([&both].into_iter());
        assert_eq!((objects.placed().count(), objects.get(id)), (2, Err(Errno::INVAL)), "it is still mapped");
        objects.follow([&mapping(0x7000_0000, below, 2)].into_iter());
        assert_eq!(objects.placed().count(), 1);
        let (again, _) = objects.add(1, 0).unwrap();
        assert_eq!(again, id);
        let pages = objects.window.pages(u64::from(id) * PAGE..u64::from(id + 1) * PAGE);
        assert!(pages.as_ref().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_part_of_a_mapping_is_the_whole_object() {
        let mut objects = objects();
        let (id, _) = objects.add(4 * PAGE, mem::USE_CPU_MAP).unwrap();
        objects.follow([&mapping(0x7000_2000, id + 2, 1)].into_iter());
        assert_eq!(objects.get(id).unwrap().address(), Some(0x7000_0000));
        objects.follow([&mapping(PAGE, id + 2, 1)].into_iter());
        assert_eq!(objects.get(id).unwrap().address(), None, "it would begin below 0");
    }

    #[test]
    fn without_room_there_is_no_object() {
        let mut objects = objects();
        assert_eq!(objects.add(SIZE, 0).map(|(id, _)| id), Err(Errno::NOMEM), "page 0 is no object's");
        assert_eq!(objects.add(u64::MAX, 0).map(|(id, _)| id), Err(Errno::NOMEM));
        let (id, all) = objects.add(SIZE - PAGE, 0).unwrap();
        assert_eq!((id, all.address()), (1, Some((1 << 34) + PAGE)), "the device chooses");
        assert_eq!(objects.add(1, 0).map(|(id, _)| id), Err(Errno::NOMEM));
        assert_eq!(objects.check_mapping(PAGE, SIZE - PAGE - 5), Ok(()));
        let bad = [(0, PAGE), (2 * PAGE, PAGE), (PAGE, PAGE), (PAGE + 1, SIZE - PAGE), (u64::MAX, 1)];
        let errors = bad.map(|(offset, len)| objects.check_mapping(offset, len).unwrap_err());
        assert_eq!(errors, [Errno::INVAL, Errno::INVAL, Errno::RANGE, Errno::RANGE, Errno::INVAL]);
        objects.free(id).unwrap();
        objects.part_from_parent();
        objects.follow(std::iter::empty());
        assert_eq!(objects.add(1, 0).map(|(id, _)| id), Err(Errno::NOMEM), "the parent has these pages");
    }
}
