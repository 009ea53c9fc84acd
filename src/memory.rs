//! The GPU's 32-bit address space: contiguous blocks found through a page map.
//!
//! A block is one buffer of the capture (or pages shared with another process).
//! What a capture does not hold is *missing*, never silently zero: reads of it
//! fill zeros and say so, and the caller reports the miss with who asked
//! ([`crate::fault::Missing`]). Nothing here is interior-mutable, so worker
//! threads read through `&Memory`.
//!
//! Captures re-dump buffers before each submit while nothing the GPU wrote was
//! ever executed. So a snapshot is merged: a byte equal to the same byte of that
//! buffer's previous snapshot was not touched by the CPU and keeps what the
//! emulated GPU wrote there.

use std::collections::BTreeSet;

use hashbrown::HashMap;

/// Bytes in a page: the unit of the page map and of provenance.
pub const PAGE: u32 = 4096;

/// A buffer without contents is backed in pieces of at most this many bytes, so
/// that one write cannot make us allocate what its announced length says.
const PIECE: u32 = 64 << 20;

/// Memory that somebody else also sees, such as a file mapped by another process.
pub trait SharedPages: AsRef<[u8]> + AsMut<[u8]> + Send + Sync {}
impl<T: AsRef<[u8]> + AsMut<[u8]> + Send + Sync> SharedPages for T {}

/// Where the bytes of a page come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The snapshot of this submit group, untouched since.
    Captured {
        /// Group whose snapshot it was.
        group: u32,
    },
    /// The emulated GPU wrote (some of) it.
    Written,
    /// Pages that another process also writes.
    Shared,
    /// Announced without contents, and never written.
    Blank,
    /// In no buffer.
    Unmapped,
}

enum Backing {
    /// Contents from the capture.
    Captured(Vec<u8>),
    /// Address only: no storage before the first write; then which pages were written.
    Blank {
        bytes: Vec<u8>,
        present: Vec<bool>,
    },
    Shared(Box<dyn SharedPages>),
}

/// One buffer: `len` contiguous bytes at `base`.
struct Block {
    base: u32,
    len: u32,
    group: u32,
    backing: Backing,
    /// Pages (by index in the block) that the GPU wrote, as their last snapshot had them.
    before: HashMap<u32, Box<[u8]>>,
}

/// The address space. Blocks never overlap.
#[derive(Default)]
pub struct Memory {
    /// By base.
    blocks: HashMap<u32, Block>,
    /// The bases, ascending.
    bases: BTreeSet<u32>,
    /// Base of one block with bytes in a page: the short way to most blocks. Blank blocks
    /// are not in it, since a length alone must not cost an entry for each page.
    pages: HashMap<u32, u32>,
    group: u32,
}

impl Block {
    fn blank(base: u32, len: u32, group: u32) -> Self {
        let backing = Backing::Blank { bytes: Vec::new(), present: Vec::new() };
        Self { base, len, group, backing, before: HashMap::new() }
    }

    fn captured(base: u32, bytes: &[u8], group: u32) -> Self {
        let backing = Backing::Captured(bytes.to_vec());
        Self { base, len: bytes.len() as u32, group, backing, before: HashMap::new() }
    }

    /// One past the last byte.
    fn end(&self) -> u64 {
        u64::from(self.base) + u64::from(self.len)
    }

    fn holds(&self, addr: u32) -> bool {
        addr >= self.base && self.end() > u64::from(addr)
    }

    /// Bytes `range` if all of them are known.
    fn bytes(&self, offset: u32, len: usize) -> Option<&[u8]> {
        let range = offset as usize..(offset as usize).checked_add(len)?;
        match &self.backing {
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

    /// The whole block, writable; storage appears now if there was none.
    fn storage(&mut self) -> &mut [u8] {
        match &mut self.backing {
            Backing::Captured(bytes) => bytes,
            Backing::Shared(pages) => (**pages).as_mut(),
            Backing::Blank { bytes, present } => {
                if bytes.is_empty() {
                    *bytes = vec![0; self.len as usize];
                    *present = vec![false; self.len.div_ceil(PAGE) as usize];
                }
                bytes
            }
        }
    }

    /// Bytes `offset..offset + len` for the GPU to write: keeps what the snapshot had.
    fn bytes_mut(&mut self, offset: u32, len: usize) -> Option<&mut [u8]> {
        let end = (offset as usize).checked_add(len).filter(|end| *end <= self.len as usize)?;
        self.storage();
        if len > 0 {
            for page in offset / PAGE..=(end as u32 - 1) / PAGE {
                self.touch(page);
            }
        }
        Some(&mut self.storage()[offset as usize..end])
    }

    /// Marks page `page` of the block as about to be written by the GPU.
    fn touch(&mut self, page: u32) {
        let start = (page * PAGE) as usize;
        match &mut self.backing {
            Backing::Captured(bytes) => {
                let end = bytes.len().min(start + PAGE as usize);
                self.before.entry(page).or_insert_with(|| bytes[start..end].into());
            }
            Backing::Blank { present, .. } => present[page as usize] = true,
            Backing::Shared(_) => {}
        }
    }

    /// Takes over the snapshot `new` of the bytes at `offset`: those that the CPU did
    /// not change since the previous snapshot stay as the GPU left them.
    fn merge(&mut self, offset: u32, new: &[u8]) {
        let mut at = offset;
        let mut rest = new;
        while !rest.is_empty() {
            let within = (at % PAGE) as usize;
            let (chunk, tail) = rest.split_at(rest.len().min(PAGE as usize - within));
            self.merge_page(at, chunk);
            at += chunk.len() as u32;
            rest = tail;
        }
    }

    fn merge_page(&mut self, at: u32, new: &[u8]) {
        let within = (at % PAGE) as usize;
        let now = match &mut self.backing {
            Backing::Captured(bytes) => &mut bytes[at as usize..at as usize + new.len()],
            Backing::Blank { .. } | Backing::Shared(_) => return,
        };
        let Some(before) = self.before.get_mut(&(at / PAGE)) else {
            now.copy_from_slice(new);
            return;
        };
        let before = &mut before[within..within + new.len()];
        for ((now, before), new) in now.iter_mut().zip(before).zip(new) {
            if *before != *new {
                *before = *new;
                *now = *new;
            }
        }
    }

    fn provenance(&self, offset: u32) -> Provenance {
        match &self.backing {
            Backing::Shared(_) => Provenance::Shared,
            Backing::Captured(_) if self.before.contains_key(&(offset / PAGE)) => Provenance::Written,
            Backing::Captured(_) => Provenance::Captured { group: self.group },
            Backing::Blank { present, .. } => match present.get((offset / PAGE) as usize) {
                Some(true) => Provenance::Written,
                _ => Provenance::Blank,
            },
        }
    }
}

/// Building the address space: what a capture (or a driver) announces.
impl Memory {
    /// Nothing mapped.
    pub fn new() -> Self {
        Self::default()
    }

    /// A submit group begins: buffers announced from here on are its snapshots.
    ///
    /// Buffers that the group does not name stay: drivers list only what a submit
    /// uses, and what the GPU wrote must survive until a later submit reads it. They go
    /// when an announcement overlaps them, which is how a freed address shows.
    pub fn begin_group(&mut self) {
        self.group += 1;
    }

    /// How many groups have begun.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Announces the buffer at `base` of `len` bytes, with the `contents` that the
    /// capture holds of it. Lengths past the end of the address space are cut.
    ///
    /// Contents shorter than `len` leave the rest without contents; more are cut.
    pub fn announce(&mut self, base: u32, len: u32, contents: Option<&[u8]>) {
        let len = u64::from(len).min((1 << 32) - u64::from(base)) as u32;
        let contents = contents.unwrap_or_default();
        let held = contents.len().min(len as usize);
        if held > 0 {
            self.place(base, &contents[..held]);
        }
        self.reserve(u64::from(base) + held as u64, u64::from(base) + u64::from(len));
    }

    /// Maps pages that are shared with somebody else at `base`, in place of what was there.
    pub fn map_shared(&mut self, base: u32, pages: Box<dyn SharedPages>) {
        let room = (1 << 32) - u64::from(base);
        let len = ((*pages).as_ref().len() as u64).min(room) as u32;
        self.unmap(u64::from(base), u64::from(base) + u64::from(len));
        let backing = Backing::Shared(pages);
        self.insert(Block { base, len, group: self.group, backing, before: HashMap::new() });
    }

    /// Removes every buffer that overlaps `start..end`.
    pub fn unmap(&mut self, start: u64, end: u64) {
        for base in self.overlapping(start, end) {
            self.remove(base);
        }
    }

    /// A snapshot: of a known buffer, of a part of one of this group, or of a new one.
    fn place(&mut self, base: u32, new: &[u8]) {
        let end = u64::from(base) + new.len() as u64;
        let group = self.group;
        if let Some(block) = self.block_mut(base)
            && block.end() >= end
            && matches!(block.backing, Backing::Captured(_))
            && (block.group == group || (block.base == base && block.end() == end))
        {
            block.group = group;
            block.merge(base - block.base, new);
            return;
        }
        self.carve(u64::from(base), end);
        self.insert(Block::captured(base, new, group));
    }

    /// Declares `start..end` as mapped without contents, where this group has none.
    fn reserve(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            let piece = end.min(at + u64::from(PIECE));
            self.reserve_piece(at as u32, (piece - at) as u32);
            at = piece;
        }
    }

    /// An address-only record says nothing new about bytes that we have: a buffer of the
    /// same place and size stays as the GPU left it.
    fn reserve_piece(&mut self, base: u32, len: u32) {
        let (start, end) = (u64::from(base), u64::from(base) + u64::from(len));
        let group = self.group;
        if let Some(block) = self.block_mut(base)
            && ((block.base == base && block.len == len) || (block.group == group && block.end() >= end))
        {
            block.group = group;
            return;
        }
        for base in self.overlapping(start, end) {
            if self.blocks[&base].group != group {
                self.remove(base);
            }
        }
        self.fill_gaps(start, end);
    }

    /// Blank blocks wherever `start..end` has none.
    fn fill_gaps(&mut self, start: u64, end: u64) {
        let mut at = start;
        for base in self.overlapping(start, end) {
            let next = self.blocks[&base].end();
            if at < u64::from(base) {
                self.insert(Block::blank(at as u32, (u64::from(base) - at) as u32, self.group));
            }
            at = at.max(next);
        }
        if at < end {
            self.insert(Block::blank(at as u32, (end - at) as u32, self.group));
        }
    }

    /// Makes room for contents at `start..end`: stale buffers go; a blank one of this
    /// group keeps its parts outside.
    fn carve(&mut self, start: u64, end: u64) {
        for base in self.overlapping(start, end) {
            let block = self.remove(base);
            if block.group != self.group || !matches!(block.backing, Backing::Blank { .. }) {
                continue;
            }
            for (from, to) in [(u64::from(base), start), (end, block.end())] {
                if from < to {
                    self.insert(Block::blank(from as u32, (to - from) as u32, self.group));
                }
            }
        }
    }

    fn insert(&mut self, block: Block) {
        if block.len == 0 {
            return;
        }
        if !matches!(block.backing, Backing::Blank { .. }) {
            self.pages.extend(pages_of(&block).map(|page| (page, block.base)));
        }
        self.bases.insert(block.base);
        self.blocks.insert(block.base, block);
    }

    /// Takes out the block at `base`, which must be there.
    fn remove(&mut self, base: u32) -> Block {
        let block = self.blocks.remove(&base).expect("a base from `overlapping`");
        self.bases.remove(&base);
        if !matches!(block.backing, Backing::Blank { .. }) {
            for page in pages_of(&block) {
                self.pages.remove(&page);
            }
        }
        block
    }

    /// Bases of the blocks that have a byte in `start..end`, ascending.
    fn overlapping(&self, start: u64, end: u64) -> Vec<u32> {
        if start >= end {
            return Vec::new();
        }
        let below = self.bases.range(..=(end - 1) as u32).rev();
        let mut bases: Vec<u32> =
            below.take_while(|base| self.blocks[*base].end() > start).copied().collect();
        bases.reverse();
        bases
    }
}

/// The page numbers that a block lies in.
fn pages_of(block: &Block) -> std::ops::RangeInclusive<u32> {
    block.base / PAGE..=((block.end() - 1) / u64::from(PAGE)) as u32
}

/// Access, by the GPU and by tools.
impl Memory {
    /// `len` bytes at `addr` without a copy, if they are known and in one buffer.
    pub fn slice(&self, addr: u32, len: usize) -> Option<&[u8]> {
        let block = self.block(addr)?;
        block.bytes(addr - block.base, len)
    }

    /// `len` bytes at `addr` for the GPU to write in place, if they are in one buffer.
    pub fn slice_mut(&mut self, addr: u32, len: usize) -> Option<&mut [u8]> {
        let block = self.block_mut(addr)?;
        block.bytes_mut(addr - block.base, len)
    }

    /// Fills `out` from `addr`; unknown bytes become zero. False if there were any.
    #[must_use = "a miss must be reported with who asked"]
    pub fn read(&self, addr: u32, out: &mut [u8]) -> bool {
        if let Some(bytes) = self.slice(addr, out.len()) {
            out.copy_from_slice(bytes);
            return true;
        }
        let mut complete = true;
        let mut at = u64::from(addr);
        let mut rest = out;
        while !rest.is_empty() {
            let step = rest.len().min((PAGE - at as u32 % PAGE) as usize);
            let (chunk, tail) = rest.split_at_mut(step);
            complete &= match u32::try_from(at) {
                Ok(at) => self.read_page(at, chunk),
                Err(_) => {
                    chunk.fill(0);
                    false
                }
            };
            at += step as u64;
            rest = tail;
        }
        complete
    }

    /// [`Memory::read`] within one page; byte by byte where buffers meet.
    fn read_page(&self, addr: u32, out: &mut [u8]) -> bool {
        if let Some(bytes) = self.slice(addr, out.len()) {
            out.copy_from_slice(bytes);
            return true;
        }
        let mut complete = true;
        for (offset, byte) in out.iter_mut().enumerate() {
            let known = self.slice(addr + offset as u32, 1);
            complete &= known.is_some();
            *byte = known.map_or(0, |bytes| bytes[0]);
        }
        complete
    }

    /// The dword at `addr` (any alignment), if all of it is known.
    pub fn read_u32(&self, addr: u32) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(addr, &mut bytes).then_some(u32::from_le_bytes(bytes))
    }

    /// `count` dwords at `addr`, if all of them are known.
    pub fn read_dwords(&self, addr: u32, count: usize) -> Option<Vec<u32>> {
        Some(self.known_dwords(addr, count)).filter(|words| words.len() == count)
    }

    /// Up to `count` dwords at `addr`: those before the first that is not known.
    pub fn known_dwords(&self, addr: u32, count: usize) -> Vec<u32> {
        let mut words = Vec::new();
        while words.len() < count {
            let Some(at) =
                (words.len() as u64 * 4).checked_add(addr.into()).and_then(|at| u32::try_from(at).ok())
            else {
                break;
            };
            // As much as the buffer holds at once, then page by page, then what is left over.
            let left = count - words.len();
            let steps =
                [left, left.min(self.room(at) as usize / 4), left.min((PAGE - at % PAGE) as usize / 4), 1];
            let found = steps.into_iter().filter(|step| *step > 0).find_map(|step| self.read_run(at, step));
            let Some(found) = found else { break };
            words.extend(found);
        }
        words
    }

    /// `count` dwords out of one buffer; a single one may stand across two.
    fn read_run(&self, addr: u32, count: usize) -> Option<Vec<u32>> {
        match self.slice(addr, count * 4) {
            Some(bytes) => Some(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()),
            None if count == 1 => self.read_u32(addr).map(|word| vec![word]),
            None => None,
        }
    }

    /// Stores `bytes` at `addr`; false if some of it is in no buffer (the rest is stored).
    #[must_use = "a store to nowhere is a fault"]
    pub fn write(&mut self, addr: u32, bytes: &[u8]) -> bool {
        if let Some(to) = self.slice_mut(addr, bytes.len()) {
            to.copy_from_slice(bytes);
            return true;
        }
        let mut complete = true;
        for (offset, byte) in bytes.iter().enumerate() {
            let to = u32::try_from(u64::from(addr) + offset as u64).ok().and_then(|at| self.slice_mut(at, 1));
            complete &= to.is_some();
            if let Some(to) = to {
                to[0] = *byte;
            }
        }
        complete
    }

    /// Stores a dword; false if it is in no buffer.
    #[must_use = "a store to nowhere is a fault"]
    pub fn write_u32(&mut self, addr: u32, value: u32) -> bool {
        self.write(addr, &value.to_le_bytes())
    }

    /// Whether a buffer has a byte in `start..end`.
    pub fn holds_any(&self, start: u64, end: u64) -> bool {
        let Some(last) = end.checked_sub(1).filter(|last| *last >= start) else { return false };
        let below = self.bases.range(..=u32::try_from(last).unwrap_or(u32::MAX)).next_back();
        below.is_some_and(|base| self.blocks[base].end() > start)
    }

    /// Where the byte at `addr` comes from.
    pub fn provenance(&self, addr: u32) -> Provenance {
        self.block(addr).map_or(Provenance::Unmapped, |block| block.provenance(addr - block.base))
    }

    /// Bytes from `addr` to the end of its buffer; 0 outside all buffers.
    pub fn room(&self, addr: u32) -> u32 {
        self.block(addr).map_or(0, |block| (block.end() - u64::from(addr)) as u32)
    }

    /// The buffer that holds `addr`: base and length in bytes.
    pub fn buffer_at(&self, addr: u32) -> Option<(u32, u32)> {
        self.block(addr).map(|block| (block.base, block.len))
    }

    /// The buffers, by address: base and length in bytes.
    pub fn buffers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.bases.iter().map(|base| (*base, self.blocks[base].len))
    }

    fn block(&self, addr: u32) -> Option<&Block> {
        let near = self.pages.get(&(addr / PAGE)).and_then(|base| self.blocks.get(base));
        near.filter(|block| block.holds(addr)).or_else(|| self.far_block(addr))
    }

    /// The block that holds `addr`, by order: for blank ones and where buffers share a page.
    fn far_block(&self, addr: u32) -> Option<&Block> {
        let base = self.bases.range(..=addr).next_back()?;
        self.blocks.get(base).filter(|block| block.holds(addr))
    }

    fn block_mut(&mut self, addr: u32) -> Option<&mut Block> {
        let base = self.block(addr)?.base;
        self.blocks.get_mut(&base)
    }
}
