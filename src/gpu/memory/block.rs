//! One buffer: contiguous bytes. Storage is allocated when there is something to store.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::changes::Changes;
use super::{PAGE, Provenance, Seen, SharedPages, Snapshots};

/// The bytes of an all-zero buffer. All such buffers share them. They take addresses, but no memory. Parts of buffers that are
/// longer than this are copied.
static ZEROS: [u8; 1 << 26] = [0; 1 << 26];

/// The storage of a block. A [view](super::Memory::view) shares it.
#[derive(Clone)]
pub(super) enum Backing {
    /// Contents from the capture that are all zero so far. Nothing is stored.
    Zeros,
    /// Contents from the capture.
    Captured(Arc<Vec<u8>>),
    /// A buffer without contents. It has no storage before the first write. `present` tells which pages were
    /// written.
    Blank {
        bytes: Arc<Vec<u8>>,
        present: Arc<Vec<bool>>,
    },
    Shared(Arc<dyn SharedPages>),
    /// The storage is lent. Its bytes are unknown until they are given back.
    Lent(Pages),
}

/// The pages of lent storage that were written before.
#[derive(Clone)]
pub(super) enum Pages {
    /// The pages in [`Block::before`].
    Kept,
    /// The pages marked here.
    Present(Arc<Vec<bool>>),
    /// Not tracked.
    Any,
}

impl Backing {
    /// The stored bytes for writing. Storage that a view shares is copied first. `None` if pages of another
    /// process are shared with a view, which cannot be copied.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Zeros => Some(&mut []),
            Self::Captured(bytes) | Self::Blank { bytes, .. } => Some(Arc::make_mut(bytes).as_mut_slice()),
            Self::Shared(pages) => Arc::get_mut(pages).map(|pages| pages.as_mut()),
            Self::Lent(_) => None,
        }
    }
}

/// One buffer: `len` contiguous bytes at `base`.
pub(super) struct Block {
    pub(super) base: u64,
    pub(super) len: u32,
    pub(super) group: u32,
    pub(super) backing: Backing,
    /// Contents of the pages that the GPU wrote, as in their last snapshot. By page index in the block.
    before: SnapshotPages,
    /// When its bytes changed.
    pub(super) changes: Changes,
    /// Whether code outside the GPU may have written it.
    pub(super) seen: Seen,
}

/// Contents of some pages of a block, by page index. (Every copy to a surface looks up all of its pages, so that a map is
/// too slow.)
#[derive(Default)]
struct SnapshotPages {
    pages: Vec<Option<Box<[u8]>>>,
    count: u64,
}

impl SnapshotPages {
    fn contains(&self, page: u32) -> bool {
        self.pages.get(page as usize).is_some_and(Option::is_some)
    }

    fn get_mut(&mut self, page: u32) -> Option<&mut Box<[u8]>> {
        self.pages.get_mut(page as usize)?.as_mut()
    }

    /// Adds those of `pages` of the block `bytes` that are not there yet.
    fn add(&mut self, pages: RangeInclusive<u32>, bytes: &[u8]) {
        let (first, end) = (*pages.start() as usize, *pages.end() as usize + 1);
        if self.pages.len() < end {
            self.pages.resize_with(end, || None);
        }
        let bytes = bytes.chunks(PAGE as usize).skip(first);
        for (page, bytes) in self.pages[first..end].iter_mut().zip(bytes).filter(|(page, _)| page.is_none()) {
            *page = Some(bytes.into());
            self.count += 1;
        }
    }
}

impl Block {
    pub(super) fn blank(base: u64, len: u32, group: u32) -> Self {
        Self::new(base, len, group, Backing::Blank { bytes: Arc::default(), present: Arc::default() })
    }

    pub(super) fn shared(base: u64, len: u32, pages: Arc<dyn SharedPages>, seen: Seen, group: u32) -> Self {
        Self { seen, ..Self::new(base, len, group, Backing::Shared(pages)) }
    }

    pub(super) fn captured(base: u64, bytes: &[u8], group: u32) -> Self {
        let backing =
            if is_zero(bytes) { Backing::Zeros } else { Backing::Captured(Arc::new(stored(bytes))) };
        Self::new(base, bytes.len() as u32, group, backing)
    }

    fn new(base: u64, len: u32, group: u32, backing: Backing) -> Self {
        let (before, changes, seen) = Default::default();
        Self { base, len, group, backing, before, changes, seen }
    }

    /// Whether it is a buffer whose contents the capture holds.
    pub(super) fn is_captured(&self) -> bool {
        matches!(self.backing, Backing::Zeros | Backing::Captured(_))
    }

    /// Whether the block is of a capture, and the GPU has not written this page of it.
    pub(super) fn is_untouched(&self, page: u32) -> bool {
        match &self.backing {
            Backing::Zeros => true,
            Backing::Captured(_) => !self.before.contains(page),
            Backing::Blank { present, .. } => present.get(page as usize) != Some(&true),
            Backing::Shared(_) | Backing::Lent(_) => false,
        }
    }

    /// Whether the block has no contents of the capture. Such a block is not in the page map.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.backing, Backing::Blank { .. })
    }

    /// Bytes of allocated memory that it uses.
    pub(super) fn stored(&self) -> u64 {
        let storage = match &self.backing {
            Backing::Zeros | Backing::Shared(_) | Backing::Lent(_) => 0,
            Backing::Captured(bytes) | Backing::Blank { bytes, .. } => bytes.len() as u64,
        };
        storage + self.before.count * u64::from(PAGE)
    }

    /// Most bytes by which [`Block::stored`] grows if `len` of its bytes are written.
    pub(super) fn growth(&self, len: usize) -> u64 {
        let snapshot = (len as u64).min(self.len.into()) + 2 * u64::from(PAGE);
        match &self.backing {
            Backing::Shared(_) | Backing::Lent(_) => 0,
            Backing::Captured(_) => snapshot,
            Backing::Zeros => u64::from(self.len) + snapshot,
            Backing::Blank { bytes, .. } if bytes.is_empty() => self.len.into(),
            Backing::Blank { .. } => 0,
        }
    }

    /// End of the block, exclusive.
    pub(super) fn end(&self) -> u64 {
        self.base + u64::from(self.len)
    }

    pub(super) fn holds(&self, addr: u64) -> bool {
        addr >= self.base && self.end() > addr
    }

    /// The `len` bytes at `offset`, if all of them are known.
    pub(super) fn bytes(&self, offset: u32, len: usize) -> Option<&[u8]> {
        let range = offset as usize..(offset as usize).checked_add(len)?;
        match &self.backing {
            Backing::Zeros if range.end <= self.len as usize => ZEROS.get(..len),
            Backing::Zeros | Backing::Lent(_) => None,
            Backing::Captured(bytes) => bytes.get(range),
            Backing::Shared(pages) => (**pages).as_ref().get(range),
            Backing::Blank { bytes, present } => {
                let first = offset / PAGE;
                let last = (offset as usize + len.max(1) - 1) as u32 / PAGE;
                let known = present.get(first as usize..=last as usize)?.iter().all(|p| *p);
                known.then(|| bytes.get(range)).flatten()
            }
        }
    }

    /// All its bytes, if they are known without looking at single pages.
    pub(super) fn all_bytes(&self) -> Option<&[u8]> {
        match &self.backing {
            Backing::Zeros => ZEROS.get(..self.len as usize),
            Backing::Captured(bytes) => bytes.get(..self.len as usize),
            Backing::Shared(pages) => (**pages).as_ref().get(..self.len as usize),
            Backing::Blank { .. } | Backing::Lent(_) => None,
        }
    }

    /// Allocates the storage, if there is none.
    fn make_storage(&mut self) {
        match &mut self.backing {
            Backing::Zeros => self.backing = Backing::Captured(Arc::new(vec![0; self.len as usize])),
            Backing::Blank { bytes, present } if bytes.is_empty() => {
                *bytes = Arc::new(vec![0; self.len as usize]);
                *present = Arc::new(vec![false; self.len.div_ceil(PAGE) as usize]);
            }
            Backing::Captured(_) | Backing::Blank { .. } | Backing::Shared(_) | Backing::Lent(_) => {}
        }
    }

    /// Whether its storage is lent.
    pub(super) fn is_lent(&self) -> bool {
        matches!(self.backing, Backing::Lent(_))
    }

    /// Lends its storage. Its bytes are unknown until the storage is given back.
    pub(super) fn lend(&mut self) -> Backing {
        let pages = match &self.backing {
            Backing::Zeros | Backing::Captured(_) => Pages::Kept,
            Backing::Blank { present, .. } => Pages::Present(present.clone()),
            Backing::Shared(_) => Pages::Any,
            Backing::Lent(pages) => pages.clone(),
        };
        std::mem::replace(&mut self.backing, Backing::Lent(pages))
    }

    /// Bytes of its storage that a view or another process shares. A write copies them first.
    pub(super) fn shared_bytes(&self) -> u64 {
        match &self.backing {
            Backing::Captured(bytes) | Backing::Blank { bytes, .. } if Arc::strong_count(bytes) > 1 => {
                bytes.len() as u64
            }
            Backing::Shared(pages) => (**pages).as_ref().len() as u64,
            _ => 0,
        }
    }

    /// Replaces pages that are shared with another process by a private copy.
    pub(super) fn make_private(&mut self) {
        if let Backing::Shared(pages) = &self.backing {
            self.backing = Backing::Captured(Arc::new((**pages).as_ref().to_vec()));
        }
    }

    /// A read-only view of the same bytes.
    pub(super) fn view(&self) -> Self {
        Self::new(self.base, self.len, self.group, self.backing.clone())
    }

    /// Prepares the bytes `offset..offset + len` for a write of the GPU: keeps the snapshot's bytes, and
    /// marks them as changed at time `now`. Returns by how many bytes [`Block::stored`] grew. `None` if they
    /// are lent and were not written before.
    pub(super) fn prepare(&mut self, offset: u32, len: usize, now: u64) -> Option<u64> {
        let end = (offset as usize).checked_add(len).filter(|end| *end <= self.len as usize)?;
        let before = self.stored();
        self.make_storage();
        if len > 0 && !self.was_written(offset / PAGE..=(end as u32 - 1) / PAGE) {
            return None;
        }
        if len > 0 {
            let pages = offset / PAGE..=(end as u32 - 1) / PAGE;
            self.changes.note(pages.clone(), self.len.div_ceil(PAGE), now);
            self.touch(pages);
        }
        Some(self.stored() - before)
    }

    /// Whether `pages` may be written now. Lent pages may if they were written before.
    fn was_written(&self, mut pages: RangeInclusive<u32>) -> bool {
        match &self.backing {
            Backing::Lent(Pages::Kept) => pages.all(|page| self.before.contains(page)),
            Backing::Lent(Pages::Present(present)) => {
                pages.all(|page| present.get(page as usize).is_some_and(|present| *present))
            }
            _ => true,
        }
    }

    /// [Prepared](Block::prepare) bytes, unless they are lent.
    pub(super) fn prepared(&mut self, offset: u32, len: usize) -> Option<&mut [u8]> {
        self.backing.bytes_mut()?.get_mut(offset as usize..offset as usize + len)
    }

    /// Marks `pages` of the block as written by the GPU.
    fn touch(&mut self, pages: RangeInclusive<u32>) {
        match &mut self.backing {
            Backing::Captured(bytes) => self.before.add(pages, bytes),
            Backing::Blank { present, .. } => {
                Arc::make_mut(present)[*pages.start() as usize..=*pages.end() as usize].fill(true);
            }
            Backing::Zeros | Backing::Shared(_) | Backing::Lent(_) => {}
        }
    }

    /// Merges the snapshot `new` of the bytes at `offset`. Unless it is exact, bytes that the CPU did not
    /// change since the previous snapshot keep what the GPU wrote. Changed pages get the time `now`.
    pub(super) fn merge(&mut self, offset: u32, new: &[u8], how: Snapshots, now: u64) {
        if matches!(self.backing, Backing::Zeros) {
            if is_zero(new) {
                return;
            }
            self.make_storage();
        }
        let mut at = offset;
        let mut rest = new;
        while !rest.is_empty() {
            let within = (at % PAGE) as usize;
            let (chunk, tail) = rest.split_at(rest.len().min(PAGE as usize - within));
            if self.merge_page(at, chunk, how) {
                let page = at / PAGE;
                self.changes.note(page..=page, self.len.div_ceil(PAGE), now);
            }
            at += chunk.len() as u32;
            rest = tail;
        }
    }

    /// Merges the part of a snapshot in one page. Returns whether bytes changed.
    fn merge_page(&mut self, at: u32, new: &[u8], how: Snapshots) -> bool {
        let within = (at % PAGE) as usize;
        let now = match &mut self.backing {
            Backing::Captured(bytes) => &mut Arc::make_mut(bytes)[at as usize..at as usize + new.len()],
            Backing::Zeros | Backing::Blank { .. } | Backing::Shared(_) | Backing::Lent(_) => return false,
        };
        let before = self.before.get_mut(at / PAGE).map(|before| &mut before[within..within + new.len()]);
        if how == Snapshots::Exact {
            before.into_iter().for_each(|before| before.copy_from_slice(new));
            let changes = new != now;
            now.copy_from_slice(new);
            return changes;
        }
        if new == before.as_deref().unwrap_or(now) {
            return false;
        }
        let Some(before) = before else {
            now.copy_from_slice(new);
            return true;
        };
        for ((now, before), new) in now.iter_mut().zip(before).zip(new) {
            if *before != *new {
                *before = *new;
                *now = *new;
            }
        }
        true
    }

    pub(super) fn provenance(&self, offset: u32) -> Provenance {
        match &self.backing {
            Backing::Shared(_) => Provenance::Shared,
            Backing::Captured(_) if self.before.contains(offset / PAGE) => Provenance::Written,
            Backing::Zeros | Backing::Captured(_) => Provenance::Captured { group: self.group },
            Backing::Blank { present, .. } => match present.get((offset / PAGE) as usize) {
                Some(true) => Provenance::Written,
                _ => Provenance::Blank,
            },
            Backing::Lent(_) => Provenance::Written,
        }
    }
}

/// Whether all of `bytes` are zero.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(PAGE as usize).all(|page| page.iter().fold(0, |all, byte| all | byte) == 0)
}

/// A copy of `bytes`. Pages of zeros are not touched, so the system allocates no memory for them.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stored = vec![0; bytes.len()];
    let pages = stored.chunks_mut(PAGE as usize).zip(bytes.chunks(PAGE as usize));
    pages.filter(|(_, page)| !is_zero(page)).for_each(|(to, page)| to.copy_from_slice(page));
    stored
}
