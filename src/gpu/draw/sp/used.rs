//! Which buffers of global memory shaders use.

use a4emu_decoder::adreno::address::Address;

use crate::limits::JOURNAL_BUFFERS;
use crate::memory::Memory;

/// The buffers of global memory that a stage used, by their base addresses.
#[derive(Clone, Debug, Default)]
pub struct UsedBuffers {
    /// The buffers that the stage read.
    pub read: Vec<u64>,
    /// The buffers that the stage stored to.
    pub written: Vec<u64>,
    /// Whether it used others: too many, parts of one, or what is no buffer.
    pub has_others: bool,
}

impl UsedBuffers {
    /// Notes a read of the buffer with this base address.
    pub fn note_read_of(&mut self, base: u64) {
        note(&mut self.read, base);
        self.has_others |= self.read.len() > JOURNAL_BUFFERS;
        self.read.truncate(JOURNAL_BUFFERS);
    }

    /// Notes a read of `len` bytes.
    pub fn note_read(&mut self, memory: &Memory, address: u64, len: usize) {
        match inside(memory, address, len) {
            Inside::Buffer(base) => self.note_read_of(base),
            Inside::None | Inside::Parts => self.has_others = true,
        }
    }

    /// Notes a store of `len` bytes.
    pub fn note_store(&mut self, memory: &Memory, address: u64, len: usize) {
        match inside(memory, address, len) {
            Inside::Buffer(base) => note(&mut self.written, base),
            Inside::None | Inside::Parts => self.has_others = true,
        }
        self.has_others |= self.written.len() > JOURNAL_BUFFERS;
        self.written.truncate(JOURNAL_BUFFERS);
    }

    /// Adds the buffers of a later job.
    pub fn append(&mut self, later: &Self) {
        later.read.iter().for_each(|base| self.note_read_of(*base));
        later.written.iter().for_each(|base| note(&mut self.written, *base));
        self.has_others |= later.has_others || self.written.len() > JOURNAL_BUFFERS;
        self.written.truncate(JOURNAL_BUFFERS);
    }
}

/// Where an access lies.
pub(super) enum Inside {
    /// In the buffer with this base address.
    Buffer(u64),
    /// In no buffer.
    None,
    /// In more than one buffer, or in a part of one.
    Parts,
}

/// Adds `base`, unless it is there.
pub(super) fn note(bases: &mut Vec<u64>, base: u64) {
    if bases.last() != Some(&base) && !bases.contains(&base) {
        bases.push(base);
    }
}

/// Returns where an access of `len` bytes lies.
pub(super) fn inside(memory: &Memory, address: u64, len: usize) -> Inside {
    let end = address.saturating_add(len as u64);
    match memory.buffer_at(Address::new(address)) {
        Some((base, size)) if end <= base.get() + u64::from(size) => Inside::Buffer(base.get()),
        None if !memory.holds_any(address, end) => Inside::None,
        _ => Inside::Parts,
    }
}
