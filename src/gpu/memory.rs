//! The GPU's address space: contiguous blocks, found through a page map. The generation of the chip says how far it
//! reaches ([`Memory::set_address_bits`]).
//!
//! A block is one buffer of the capture, or pages shared with another process. Memory that a capture does not
//! hold is *missing*, never silently zero. A read of it fills zeros and says so, and the caller reports the
//! miss with its client ([`crate::fault::Missing`]). Reads need no interior mutability, so worker threads
//! read through `&Memory`.
//!
//! Captures dump buffers again before each submit, without the results of the GPU. So a snapshot is merged: a
//! byte equal to the same byte of the buffer's previous snapshot was not changed by the CPU. It keeps what
//! the emulated GPU wrote there. Recordings of a4emu have the results, and say so ([`Snapshots::Exact`]).

mod block;
mod changes;
mod extents;
mod overlay;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::generation::DEFAULT;
use hashbrown::HashMap;

use block::{Backing, Block, is_zero};
use extents::Extents;

/// Bytes of a page, the unit of the page map and of provenance.
pub const PAGE: u32 = 4096;

/// Most bytes of one block without contents. Longer buffers are split, so that one write does not allocate
/// the whole announced length.
const PIECE: u32 = 64 << 20;

/// Memory that is also visible elsewhere, such as a file mapped by another process.
pub trait SharedPages: AsRef<[u8]> + AsMut<[u8]> + Send + Sync {}
impl<T: AsRef<[u8]> + AsMut<[u8]> + Send + Sync> SharedPages for T {}

/// Whether code outside the GPU has ever been able to see some pages, and so to write them.
#[derive(Clone, Default)]
pub struct Seen(Arc<AtomicBool>);

impl Seen {
    /// Marks the pages as seen from now on.
    pub fn note(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_noted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// The source of the bytes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The snapshot of a submit group, unchanged since.
    Captured {
        /// Group of the snapshot.
        group: u32,
    },
    /// The emulated GPU wrote at least a part of it.
    Written,
    /// Another process can also write it.
    Shared,
    /// A buffer without contents, never written.
    Blank,
    /// No buffer.
    Unmapped,
}

/// What the contents of a buffer mean that was announced before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Snapshots {
    /// Contents lack what the emulated GPU wrote. Bytes that are as in the snapshot before keep its results.
    #[default]
    Merged,
    /// Contents are the bytes of memory before the submit, with the results of the GPU.
    Exact,
}

/// Up to four bytes as a little-endian number.
pub fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Default of [`Memory::limit`], in bytes.
pub const MAX_HELD: u64 = 1 << 29;

/// The address space. Blocks never overlap.
pub struct Memory {
    /// End of the addresses, exclusive.
    end: u64,
    /// Blocks by base address.
    blocks: HashMap<u64, Block>,
    /// The base addresses, ascending.
    bases: Arc<BTreeSet<u64>>,
    /// The base of one block in each page: the fast lookup for most blocks. Blocks without contents are not
    /// in it, since a length alone must not cost an entry per page.
    pages: Arc<HashMap<u64, u64>>,
    group: u32,
    /// Ranges of the blocks of this group.
    announced: Extents,
    /// Bytes of allocated memory of all blocks. Zeros and shared pages take none.
    held: u64,
    /// Limit of the bytes held. Contents and writes that need more are left out.
    pub limit: u64,
    /// What announced contents mean.
    pub snapshots: Snapshots,
    cut: bool,
    /// Number of changes of bytes.
    clock: u64,
    /// Time of the last possible write to shared pages from outside.
    shared_change: u64,
    /// Whether it is an [overlay](Memory::overlay). A write then copies shared bytes first, and counts the
    /// copy.
    is_overlay: bool,
    /// Ranges that were prepared for writing, while they are [logged](Memory::log_writes).
    writes: Option<Extents>,
    /// Number of logged ranges above which close ones are joined.
    most_logged: usize,
}

/// Bytes that were [lent](Memory::lend), with the storage of their buffer.
pub struct Lent {
    base: u64,
    backing: Backing,
    offset: u32,
    len: usize,
}

impl Lent {
    /// The lent bytes, for writing.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.bytes_at(Address::new(self.base) + u64::from(self.offset), self.len)
    }

    /// Base address of their buffer.
    pub fn base(&self) -> Address {
        Address::new(self.base)
    }

    /// Other bytes of the buffer: `len` at `address`, or fewer if the buffer ends before.
    pub fn bytes_at(&mut self, address: impl Into<Address>, len: usize) -> &mut [u8] {
        let Some(offset) = address.into().get().checked_sub(self.base) else { return &mut [] };
        let all = self.backing.bytes_mut().and_then(|all| all.get_mut(offset as usize..)).unwrap_or_default();
        let len = len.min(all.len());
        &mut all[..len]
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            end: 1 << DEFAULT.address_bits,
            blocks: HashMap::new(),
            bases: Arc::default(),
            pages: Arc::default(),
            group: 0,
            announced: Extents::default(),
            held: 0,
            limit: MAX_HELD,
            snapshots: Snapshots::default(),
            cut: false,
            clock: 0,
            shared_change: 0,
            is_overlay: false,
            writes: None,
            most_logged: usize::MAX,
        }
    }
}

/// Construction of the address space from what a capture or a driver announces.
impl Memory {
    /// An address space with no buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many bits an address has, below 64. Buffers above stay, and are not reached any more.
    pub fn set_address_bits(&mut self, bits: u32) {
        self.end = 1 << bits;
    }

    /// The address `bytes` behind `address`. It goes on from 0 behind the chip's last one.
    #[inline]
    pub fn behind(&self, address: Address, bytes: u64) -> Address {
        Address::new(address.get().wrapping_add(bytes) & (self.end - 1))
    }

    /// The address as a number. `None` above the last address of the chip, which is in no buffer.
    #[inline]
    fn reached(&self, address: impl Into<Address>) -> Option<u64> {
        Some(address.into().get()).filter(|address| *address < self.end)
    }

    /// Begins a submit group: buffers announced from now on are its snapshots.
    ///
    /// Buffers that the group does not name stay. Drivers list only the buffers of a submit, and what the GPU
    /// wrote must survive until a later submit reads it. A buffer is removed when an announcement overlaps
    /// it, which is how a freed address shows.
    pub fn begin_group(&mut self) {
        self.group += 1;
        self.announced.clear();
    }

    /// Number of groups that have begun.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// Announces a buffer of `len` bytes at `base`, with the `contents` that the capture holds. A length past
    /// the end of the address space is cut.
    ///
    /// If the contents are shorter than `len`, the rest is without contents. If they are longer, they are
    /// cut.
    pub fn announce(&mut self, base: impl Into<Address>, len: u32, contents: Option<&[u8]>) {
        let Some(base) = self.reached(base) else { return };
        let len = u64::from(len).min(self.end - base) as u32;
        let contents = contents.unwrap_or_default();
        let held = contents.len().min(len as usize);
        if held > 0 {
            self.place(base, &contents[..held]);
        }
        self.reserve(base + held as u64, base + u64::from(len));
    }

    /// Maps shared pages at `base`, and removes the buffers there. Until `seen` is set, only the GPU changes
    /// the pages.
    pub fn map_shared(&mut self, base: impl Into<Address>, pages: Arc<dyn SharedPages>, seen: Seen) {
        let Some(base) = self.reached(base) else { return };
        let room = (self.end - base).min(u32::MAX.into());
        let len = ((*pages).as_ref().len() as u64).min(room) as u32;
        self.unmap(base, base + u64::from(len));
        self.insert(Block::shared(base, len, pages, seen, self.group));
    }

    /// Removes every buffer that overlaps `start..end`.
    pub fn unmap(&mut self, start: u64, end: u64) {
        for base in self.overlapping(start, end) {
            self.remove(base);
        }
    }

    /// Places a snapshot of a known buffer, of a part of a buffer of this group, or of a new buffer.
    fn place(&mut self, base: u64, new: &[u8]) {
        let end = base + new.len() as u64;
        let group = self.group;
        let old = self.block(base).filter(|block| {
            let is_same = block.base == base && block.end() == end;
            block.is_captured() && block.end() >= end && (block.group == group || is_same)
        });
        let growth = match old {
            _ if is_zero(new) => 0,
            Some(old) => old.growth(0),
            None => new.len() as u64,
        };
        if old.is_some() {
            if self.affords(growth) {
                let (now, how) = (self.tick(), self.snapshots);
                self.update(base, |block| block.merge((base - block.base) as u32, new, how, now));
            }
            return;
        }
        self.clear_range(base, end);
        if self.affords(growth) {
            self.insert(Block::captured(base, new, group));
        } else {
            self.reserve(base, end);
        }
    }

    /// Whether `more` bytes may be held. If not, [`Self::was_cut`] reports it.
    fn affords(&mut self, more: u64) -> bool {
        let affords = self.held + more <= self.limit;
        self.cut |= !affords;
        affords
    }

    /// Whether contents or writes were left out since the last call, because of [`Memory::limit`].
    pub fn was_cut(&mut self) -> bool {
        std::mem::take(&mut self.cut)
    }

    /// Changes the block at `addr`, and makes it a block of this group.
    fn update(&mut self, addr: u64, change: impl FnOnce(&mut Block)) {
        let group = self.group;
        let Some(block) = self.block_mut(addr) else { return };
        let before = block.stored();
        change(block);
        block.group = group;
        let (range, after) = ((block.base, block.end()), block.stored());
        self.announced.add(range.0, range.1);
        self.held = self.held - before + after;
    }

    /// Maps `start..end` without contents where this group has no buffer. A buffer of the same base and length
    /// stays as it is.
    fn reserve(&mut self, start: u64, end: u64) {
        let is_same = |block: &&Block| block.base == start && block.end() == end;
        if start < end && self.block(start).filter(is_same).is_some() {
            return self.update(start, |_| {});
        }
        let mut at = start;
        while at < end {
            let piece = end.min(at + u64::from(PIECE));
            self.reserve_piece(at, (piece - at) as u32);
            at = piece;
        }
    }

    /// Maps one piece without contents. A piece of the same base and length keeps what the GPU wrote.
    fn reserve_piece(&mut self, start: u64, len: u32) {
        let end = start + u64::from(len);
        if self.block(start).is_some_and(|block| block.base == start && block.len == len) {
            return self.update(start, |_| {});
        }
        // Between the buffers of this group there are at most stale ones. Visits only the gaps, so repeated
        // announcements stay cheap.
        for (from, to) in self.announced.gaps(start, end) {
            self.unmap(from, to);
            self.insert(Block::blank(from, (to - from) as u32, self.group));
        }
    }

    /// Makes room for contents at `start..end`: removes stale buffers. A block of this group without contents
    /// keeps its parts outside.
    fn clear_range(&mut self, start: u64, end: u64) {
        for base in self.overlapping(start, end) {
            let block = self.remove(base);
            if block.group != self.group || !block.is_blank() {
                continue;
            }
            for (from, to) in [(base, start), (end, block.end())] {
                if from < to {
                    self.insert(Block::blank(from, (to - from) as u32, self.group));
                }
            }
        }
    }

    fn insert(&mut self, mut block: Block) {
        if block.len == 0 {
            return;
        }
        block.changes.note_all(self.tick());
        if block.group == self.group {
            self.announced.add(block.base, block.end());
        }
        self.held += block.stored();
        if !block.is_blank() {
            Arc::make_mut(&mut self.pages).extend(pages_of(&block).map(|page| (page, block.base)));
        }
        Arc::make_mut(&mut self.bases).insert(block.base);
        self.blocks.insert(block.base, block);
    }

    /// Removes the block at `base`, which must exist.
    fn remove(&mut self, base: u64) -> Block {
        let block = self.blocks.remove(&base).expect("a base from `overlapping`");
        Arc::make_mut(&mut self.bases).remove(&base);
        if block.group == self.group {
            self.announced.remove(block.base, block.end());
        }
        self.held -= block.stored();
        if !block.is_blank() {
            let pages = Arc::make_mut(&mut self.pages);
            for page in pages_of(&block) {
                pages.remove(&page);
            }
        }
        block
    }

    /// Bases of the blocks that have a byte in `start..end`, ascending.
    fn overlapping(&self, start: u64, end: u64) -> Vec<u64> {
        if start >= end {
            return Vec::new();
        }
        let below = self.bases.range(..end).rev();
        let mut bases: Vec<u64> =
            below.take_while(|base| self.blocks[*base].end() > start).copied().collect();
        bases.reverse();
        bases
    }
}

/// The page numbers of a block.
fn pages_of(block: &Block) -> std::ops::RangeInclusive<u64> {
    block.base / u64::from(PAGE)..=(block.end() - 1) / u64::from(PAGE)
}

/// Change tracking, for caches of values made from memory.
impl Memory {
    /// The current time. It advances with every change.
    pub fn now(&self) -> u64 {
        self.clock
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Assumes that shared pages were written from outside. Called when the first command buffer of a submit
    /// begins, and when a wait of the GPU ends.
    pub fn host_may_have_written(&mut self) {
        self.shared_change = self.tick();
    }

    /// Whether code outside the GPU may write the byte at `addr` while the GPU runs.
    pub fn is_seen(&self, addr: impl Into<Address>) -> bool {
        self.reached(addr.into()).and_then(|addr| self.block(addr)).is_some_and(|block| block.seen.is_noted())
    }

    /// Whether the byte at `addr` is what a chip left there: the capture is not one that a4emu has recorded, and the run has
    /// not written the page.
    pub fn is_of_a_chip(&self, addr: impl Into<Address>) -> bool {
        let block = self.reached(addr.into()).and_then(|addr| Some((addr, self.block(addr)?)));
        self.snapshots == Snapshots::Merged
            && block.is_some_and(|(addr, block)| block.is_untouched((addr - block.base) as u32 / PAGE))
    }

    /// Whether the `len` bytes at `addr` are in one buffer and unchanged since `time`. Changes are tracked by
    /// page.
    pub fn is_unchanged(&self, addr: impl Into<Address>, len: u32, time: u64) -> bool {
        let addr = addr.into();
        let Some(block) = self.reached(addr).and_then(|addr| self.block(addr)) else { return false };
        let first = (addr.get() - block.base) as u32;
        let Some(last) = first.checked_add(len.max(1) - 1).filter(|last| *last < block.len) else {
            return false;
        };
        let others_may_have_written = block.seen.is_noted() && self.shared_change > time;
        !others_may_have_written && !block.changes.any_after(first / PAGE..=last / PAGE, time)
    }
}

/// Access for the GPU and for tools.
impl Memory {
    /// The `len` bytes at `addr` without a copy, if they are known and in one buffer.
    pub fn slice(&self, addr: impl Into<Address>, len: usize) -> Option<&[u8]> {
        let addr = self.reached(addr)?;
        let block = self.block(addr)?;
        block.bytes((addr - block.base) as u32, len)
    }

    /// How many of the `len` bytes at `addr` are in the buffer that holds it, and these without a copy if they are known.
    pub fn held(&self, addr: impl Into<Address>, len: u32) -> (usize, Option<&[u8]>) {
        let found = self.reached(addr).and_then(|at| Some((at, self.block(at)?)));
        let Some((at, block)) = found else { return (0, None) };
        let held = (block.end() - at).min(len.into()) as usize;
        (held, block.bytes((at - block.base) as u32, held))
    }

    /// The buffer that holds `addr`: its base and all its bytes, if they are known without looking at single pages.
    pub fn buffer_bytes(&self, addr: impl Into<Address>) -> Option<(u64, &[u8])> {
        let block = self.block(self.reached(addr)?)?;
        Some((block.base, block.all_bytes()?))
    }

    /// All bytes of the buffer with this base, if they are known without looking at single pages.
    pub fn buffer_at_base(&self, base: u64) -> Option<&[u8]> {
        self.blocks.get(&base)?.all_bytes()
    }

    /// The `len` bytes at `addr` for the GPU to write in place, if they are in one buffer.
    pub fn slice_mut(&mut self, addr: impl Into<Address>, len: usize) -> Option<&mut [u8]> {
        let addr = self.reached(addr)?;
        let base = self.prepare_at(addr, len)?;
        self.blocks.get_mut(&base)?.prepared((addr - base) as u32, len)
    }

    /// Prepares `len` bytes at `addr` for a write: keeps the snapshot's bytes and marks a change. Returns the
    /// base of their buffer. `None` if they are not in one buffer, if they exceed the limit, or if they are
    /// lent and were not written before.
    pub fn prepare(&mut self, addr: impl Into<Address>, len: usize) -> Option<Address> {
        let addr = self.reached(addr)?;
        self.prepare_at(addr, len).map(Address::new)
    }

    fn prepare_at(&mut self, addr: u64, len: usize) -> Option<u64> {
        let block = self.block(addr)?;
        let copied = if self.is_overlay { block.shared_bytes() } else { 0 };
        let (base, growth) = (block.base, block.growth(len));
        if !self.affords(growth + copied) {
            return None;
        }
        let now = self.tick();
        let block = self.blocks.get_mut(&base)?;
        if self.is_overlay {
            block.make_private();
        }
        self.held += block.prepare((addr - base) as u32, len, now)? + copied;
        if let Some(writes) = self.writes.as_mut().filter(|_| len > 0) {
            writes.add(addr, addr + len as u64);
            if writes.len() > self.most_logged {
                writes.join_to(self.most_logged / 2);
            }
        }
        Some(base)
    }

    /// Begins to log which ranges the GPU writes.
    pub fn log_writes(&mut self) {
        (self.writes, self.most_logged) = (Some(Extents::default()), usize::MAX);
    }

    /// Begins to log which ranges the GPU writes, and joins close ones where there are more than `most`.
    pub fn log_writes_joined(&mut self, most: usize) {
        (self.writes, self.most_logged) = (Some(Extents::default()), most);
    }

    /// Ends the log of writes. Returns the ranges: start and end, ascending.
    pub fn take_writes(&mut self) -> Vec<(u64, u64)> {
        self.writes.take().map_or_else(Vec::new, |writes| writes.iter().collect())
    }

    /// A read-only snapshot of memory, for a concurrent reader. While it exists, pages that another process
    /// also writes cannot be written.
    pub fn view(&self) -> Self {
        let blocks = self.blocks.iter().map(|(base, block)| (*base, block.view()));
        let (bases, pages) = (self.bases.clone(), self.pages.clone());
        Self { end: self.end, blocks: blocks.collect(), bases, pages, ..Self::default() }
    }

    /// Lends `len` bytes at `addr` for writing while the rest of the address space is in use, if they are in
    /// one buffer. The buffer's bytes are unknown until they are [given back](Memory::give_back).
    pub fn lend(&mut self, addr: impl Into<Address>, len: usize) -> Option<Lent> {
        let addr = addr.into();
        self.slice_mut(addr, len)?;
        let lent = self.lend_buffer(addr)?;
        Some(Lent { offset: (addr.get() - lent.base) as u32, len, ..lent })
    }

    /// Lends the whole buffer at `addr`. The bytes that change must have been prepared or written before.
    /// `None` if it is already lent.
    pub fn lend_buffer(&mut self, addr: impl Into<Address>) -> Option<Lent> {
        let addr = self.reached(addr)?;
        let block = self.block_mut(addr).filter(|block| !block.is_lent())?;
        Some(Lent { base: block.base, backing: block.lend(), offset: 0, len: block.len as usize })
    }

    /// Takes back the storage of a lent buffer.
    pub fn give_back(&mut self, lent: Lent) {
        if let Some(block) = self.blocks.get_mut(&lent.base) {
            block.backing = lent.backing;
        }
    }

    /// Fills `out` from `addr`. Unknown bytes become zero; then it returns false.
    #[must_use = "a miss must be reported with who asked"]
    pub fn read(&self, addr: impl Into<Address>, out: &mut [u8]) -> bool {
        let addr = addr.into();
        if let Some(bytes) = self.slice(addr, out.len()) {
            out.copy_from_slice(bytes);
            return true;
        }
        let mut complete = true;
        for (part, bytes) in self.parts(addr, out.len()) {
            match bytes {
                Some(bytes) => out[part].copy_from_slice(bytes),
                None => {
                    out[part].fill(0);
                    complete = false;
                }
            }
        }
        complete
    }

    /// The `len` bytes at `addr`, with zeros for those that are not known. Where most are zeros, this is quicker than
    /// [`Self::read`]: it does not touch their pages of the copy.
    pub fn copied(&self, addr: impl Into<Address>, len: usize) -> Vec<u8> {
        let mut copy = vec![0; len];
        for (part, bytes) in self.parts(addr.into(), len) {
            if let Some(bytes) = bytes.filter(|bytes| !is_zero(bytes)) {
                copy[part].copy_from_slice(bytes);
            }
        }
        copy
    }

    /// Whether all of the `len` bytes from `addr` on are known.
    pub fn is_known(&self, addr: impl Into<Address>, len: usize) -> bool {
        let addr = addr.into();
        self.slice(addr, len).is_some() || self.parts(addr, len).all(|(_, bytes)| bytes.is_some())
    }

    /// The `len` bytes from `addr` on, in parts: which of them, and what they are if they are known.
    fn parts(&self, addr: Address, len: usize) -> impl Iterator<Item = (Range<usize>, Option<&[u8]>)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let at = addr.get().saturating_add(done as u64);
            let start = done;
            done += self.run_at(at).min(len - start);
            (start < len).then(|| (start..done, self.slice(Address::new(at), done - start)))
        })
    }

    /// The number of bytes from `at` on that are either all in one page of one buffer or all in no buffer. At
    /// least 1.
    fn run_at(&self, at: u64) -> usize {
        if at >= self.end {
            return usize::MAX;
        }
        let run = match self.block(at) {
            Some(block) => (block.end() - at).min(u64::from(PAGE) - (at - block.base) % u64::from(PAGE)),
            None => self.bases.range(at..).next().map_or(self.end - at, |base| base - at),
        };
        run as usize
    }

    /// The dword at `addr` (any alignment), if all of it is known.
    pub fn read_u32(&self, addr: impl Into<Address>) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(addr, &mut bytes).then_some(u32::from_le_bytes(bytes))
    }

    /// `count` dwords at `addr`, if all of them are known.
    pub fn read_dwords(&self, addr: impl Into<Address>, count: usize) -> Option<Vec<u32>> {
        Some(self.known_dwords(addr, count)).filter(|words| words.len() == count)
    }

    /// Up to `count` dwords at `addr`: those before the first unknown one.
    pub fn known_dwords(&self, addr: impl Into<Address>, count: usize) -> Vec<u32> {
        let Some(addr) = self.reached(addr) else { return Vec::new() };
        let mut words = Vec::new();
        while words.len() < count {
            let Some(at) = self.reached(Address::new(addr) + words.len() as u64 * 4) else { break };
            // Tries the whole buffer at once, then one page, then one dword.
            let left = count - words.len();
            let page = (u64::from(PAGE) - at % u64::from(PAGE)) as usize;
            let steps = [left, left.min(self.room(Address::new(at)) as usize / 4), left.min(page / 4), 1];
            if !steps.into_iter().any(|step| step > 0 && self.read_run(at, step, &mut words)) {
                break;
            }
        }
        words
    }

    /// Appends `count` dwords of one buffer. A single dword may span two buffers. Returns false, and appends
    /// none, if they are not all known.
    fn read_run(&self, addr: u64, count: usize, words: &mut Vec<u32>) -> bool {
        let addr = Address::new(addr);
        if let Some(bytes) = self.slice(addr, count * 4) {
            words.extend(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
            return true;
        }
        let single = (count == 1).then(|| self.read_u32(addr)).flatten();
        words.extend(single);
        single.is_some()
    }

    /// Stores `bytes` at `addr`. Returns false if a part is in no buffer; the rest is stored.
    #[must_use = "a store to nowhere is a fault"]
    pub fn write(&mut self, addr: impl Into<Address>, bytes: &[u8]) -> bool {
        let addr = addr.into();
        if let Some(to) = self.slice_mut(addr, bytes.len()) {
            to.copy_from_slice(bytes);
            return true;
        }
        let mut complete = true;
        let mut at = addr.get();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (chunk, tail) = rest.split_at(self.run_at(at).min(rest.len()));
            match self.slice_mut(Address::new(at), chunk.len()) {
                Some(to) => to.copy_from_slice(chunk),
                None => complete = false,
            }
            at = at.saturating_add(chunk.len() as u64);
            rest = tail;
        }
        complete
    }

    /// Stores a dword. Returns false if it is in no buffer.
    #[must_use = "a store to nowhere is a fault"]
    pub fn write_u32(&mut self, addr: impl Into<Address>, value: u32) -> bool {
        self.write(addr, &value.to_le_bytes())
    }

    /// Whether a buffer has a byte in `start..end`.
    pub fn holds_any(&self, start: u64, end: u64) -> bool {
        let Some(last) = end.checked_sub(1).filter(|last| *last >= start) else { return false };
        let below = self.bases.range(..=last).next_back();
        below.is_some_and(|base| self.blocks[base].end() > start)
    }

    /// The source of the byte at `addr`.
    pub fn provenance(&self, addr: impl Into<Address>) -> Provenance {
        let Some(addr) = self.reached(addr) else { return Provenance::Unmapped };
        self.block(addr).map_or(Provenance::Unmapped, |block| block.provenance((addr - block.base) as u32))
    }

    /// Bytes from `addr` to the end of its buffer; 0 outside all buffers.
    pub fn room(&self, addr: impl Into<Address>) -> u32 {
        let Some(addr) = self.reached(addr) else { return 0 };
        self.block(addr).map_or(0, |block| (block.end() - addr) as u32)
    }

    /// The buffer that holds `addr`: base and length in bytes.
    pub fn buffer_at(&self, addr: impl Into<Address>) -> Option<(Address, u32)> {
        self.block(self.reached(addr)?).map(|block| (Address::new(block.base), block.len))
    }

    /// The buffer that holds `addr`, for a chip whose addresses have 32 bits: base and length in bytes.
    pub fn narrow_buffer_at(&self, addr: impl Into<Address>) -> Option<(u32, u32)> {
        self.buffer_at(addr).and_then(|(base, len)| Some((base.narrow()?, len)))
    }

    /// The buffers, by address: base and length in bytes.
    pub fn buffers(&self) -> impl Iterator<Item = (Address, u32)> {
        self.bases.iter().map(|base| (Address::new(*base), self.blocks[base].len))
    }

    fn block(&self, addr: u64) -> Option<&Block> {
        let near = self.pages.get(&(addr / u64::from(PAGE))).and_then(|base| self.blocks.get(base));
        near.filter(|block| block.holds(addr)).or_else(|| self.far_block(addr))
    }

    /// The block that holds `addr`, by order of the bases: for blocks without contents, and for blocks that
    /// share a page.
    fn far_block(&self, addr: u64) -> Option<&Block> {
        let base = self.bases.range(..=addr).next_back()?;
        self.blocks.get(base).filter(|block| block.holds(addr))
    }

    fn block_mut(&mut self, addr: u64) -> Option<&mut Block> {
        let base = self.block(addr)?.base;
        self.blocks.get_mut(&base)
    }
}
