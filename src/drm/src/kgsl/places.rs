//! Where the objects of all opens are in the GPU's address space. Each submit looks, and tells the emulator what has
//! changed since the submit before.

use std::collections::BTreeMap;
use std::ops::Range;

use rustix::io::Errno;

use super::file::KgslFile;
use crate::ffi::Inode;
use crate::ffi::maps::{self, Mapping};
use crate::ffi::pages::Pages;

/// Most bytes of an object that the emulator gets as one buffer.
const PIECE: u64 = 1 << 31;

/// The first address that the device chooses, as in the kernel (`KGSL_IOMMU_VA_BASE64`). It is above those of the render
/// node.
const BASE: u64 = 0x5_0000_0000;
/// Addresses for each open, and the number of opens before they are used again. All are below those at which systems map
/// by themselves.
const OPENS: (u64, u64) = (1 << 36, 512);

/// A change of the address space between two submits.
pub enum Change {
    /// Addresses that have no object any more.
    Gone(Range<u64>),
    /// An object, or a piece of one, at an address.
    Born(u64, Pages),
}

/// An object in the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    len: u64,
    file: Inode,
    id: u32,
}

/// The state of the last look.
#[derive(Default)]
pub struct Places {
    /// Objects by address. They do not overlap.
    now: BTreeMap<u64, Place>,
    /// Mappings of the opens' files.
    mappings: Vec<Mapping>,
    /// Number of changes of each open's objects.
    changes: Vec<(Inode, u64)>,
    /// Whether something has changed since the emulator was told.
    is_stale: bool,
    /// Number of opens so far.
    opens: u64,
}

/// The opens of the process.
pub type Files<'a> = Vec<(Inode, &'a mut KgslFile)>;

impl Places {
    /// The first address that the device chooses for a new open.
    pub fn open(&mut self) -> u64 {
        let (bytes, most) = OPENS;
        let index = self.opens % most;
        self.opens += 1;
        BASE + index * bytes
    }

    /// Looks where the objects of `files` are mapped.
    ///
    /// # Errors
    /// The call fails if the system does not tell what is mapped.
    pub fn look(&mut self, files: &mut Files<'_>) -> Result<(), Errno> {
        let mut mappings = maps::shared()?;
        mappings.retain(|mapping| {
            let file = files.iter().find(|(inode, _)| *inode == mapping.inode);
            file.is_some_and(|(_, file)| !file.objects.window().range().contains(&mapping.at.start))
        });
        let changes: Vec<_> = files.iter().map(|(inode, file)| (*inode, file.objects.changes)).collect();
        if mappings == self.mappings && changes == self.changes {
            return Ok(());
        }
        for (inode, file) in files.iter_mut() {
            file.objects.follow(mappings.iter().filter(|mapping| mapping.inode == *inode));
        }
        self.mappings = mappings;
        self.changes = files.iter().map(|(inode, file)| (*inode, file.objects.changes)).collect();
        self.is_stale = true;
        Ok(())
    }

    /// The changes since the last call, as of the last look at `files`: those that remove something first.
    pub fn take_changes(&mut self, files: &Files<'_>) -> Vec<Change> {
        if !std::mem::take(&mut self.is_stale) {
            return Vec::new();
        }
        let wanted = self.wanted(files);
        let changes = self.difference(&wanted, files);
        self.now = wanted;
        changes
    }

    /// The objects by address. Of two that overlap, the one stays that was there before, else the first.
    fn wanted(&self, files: &Files<'_>) -> BTreeMap<u64, Place> {
        let all = files.iter().flat_map(|(file, it)| {
            let place = |(id, at, bytes): (u32, u64, Range<u64>)| {
                (at, Place { len: bytes.end - bytes.start, file: *file, id })
            };
            it.objects.placed().map(place)
        });
        let (old, new): (Vec<_>, Vec<_>) = all.partition(|(at, place)| self.now.get(at) == Some(place));
        let mut wanted: BTreeMap<u64, Place> = old.into_iter().collect();
        for (at, place) in new {
            let below = wanted.range(..at + place.len).next_back();
            if below.is_none_or(|(start, other)| start + other.len <= at) {
                wanted.insert(at, place);
            }
        }
        wanted
    }

    fn difference(&self, wanted: &BTreeMap<u64, Place>, files: &Files<'_>) -> Vec<Change> {
        let gone = self.now.iter().filter(|(at, place)| wanted.get(at) != Some(place));
        let mut changes: Vec<_> = gone.map(|(at, place)| Change::Gone(*at..at + place.len)).collect();
        for (at, place) in wanted.iter().filter(|(at, place)| self.now.get(at) != Some(place)) {
            let Some((_, file)) = files.iter().find(|(inode, _)| *inode == place.file) else { continue };
            let first = u64::from(place.id) * crate::arena::PAGE;
            for offset in (0..place.len).step_by(PIECE as usize) {
                let bytes = first + offset..first + place.len.min(offset + PIECE);
                changes.push(Change::Born(at + offset, file.objects.window().pages(bytes)));
            }
        }
        changes
    }

    /// Called in a forked child, whose emulator has no objects yet.
    pub fn part_from_parent(&mut self) {
        *self = Self { opens: self.opens, is_stale: true, ..Self::default() };
    }
}
