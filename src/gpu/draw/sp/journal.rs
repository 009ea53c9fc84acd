//! Stores of workgroups that run side by side.
//!
//! Workgroups run in order: each one sees what those before it stored. Most do not look. So a chunk of them runs on a thread of
//! its own, and keeps its stores in a journal, with the buffers that it read and stored to. If a chunk read no buffer that an
//! earlier chunk stored to, it did what it does in order.

use std::ops::Range;

use super::log::ShaderLog;
use super::used::{Inside, inside, note};
use crate::limits::{JOURNAL_BUFFERS, JOURNAL_BYTES};
use crate::memory::Memory;

/// The stores of a chunk of workgroups, and the buffers that it used.
#[derive(Default)]
pub struct Journal {
    /// Base addresses of the buffers that were read.
    read: Vec<u64>,
    /// Base addresses of the buffers that were stored to.
    written: Vec<u64>,
    /// Address of each store, and its range of `bytes`.
    stores: Vec<(u64, Range<usize>)>,
    /// The bytes of all stores.
    bytes: Vec<u8>,
    /// Number of stores of the workgroups before the current one.
    before: usize,
    /// Whether the last store lies in a buffer.
    is_last_inside: bool,
    /// Whether the chunk has to run in order instead.
    is_given_up: bool,
}

impl Journal {
    /// Begins a workgroup. Returns the number of stores so far.
    pub fn begin_group(&mut self) -> usize {
        self.before = self.stores.len();
        self.before
    }

    /// Notes a read of `len` bytes. A read of a buffer that the chunk stored to would see old bytes.
    pub fn note_read(&mut self, memory: &Memory, address: u64, len: usize) {
        match inside(memory, address, len) {
            Inside::Buffer(base) => self.note_read_of(base),
            Inside::None => {}
            Inside::Parts => self.give_up(),
        }
    }

    /// Notes a read of the buffer with this base address.
    pub fn note_read_of(&mut self, base: u64) {
        note(&mut self.read, base);
        self.is_given_up |= self.written.contains(&base) || self.read.len() > JOURNAL_BUFFERS;
    }

    /// Keeps a store. One outside of all buffers is kept too, since it is reported when it is made. It is not joined with others,
    /// as each is reported.
    pub fn store(&mut self, memory: &Memory, address: u64, bytes: &[u8]) {
        let place = inside(memory, address, bytes.len());
        let is_inside = matches!(place, Inside::Buffer(_));
        let joins = is_inside && self.is_last_inside;
        self.is_last_inside = is_inside;
        match place {
            Inside::Buffer(base) => note(&mut self.written, base),
            Inside::None => {}
            Inside::Parts => self.give_up(),
        }
        let is_full = self.written.len() > JOURNAL_BUFFERS || self.bytes.len() + bytes.len() > JOURNAL_BYTES;
        if is_full || self.is_given_up {
            return self.give_up();
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        match self.stores[self.before..].last_mut() {
            Some((first, place)) if joins && *first + place.len() as u64 == address => place.end = end,
            _ => self.stores.push((address, start..end)),
        }
    }

    /// Notes that the chunk has to run in order. Its stores are not made.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// Returns whether the chunk has to run in order.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Returns whether the chunk did what it does in order, after chunks that stored to the buffers `written`.
    pub fn holds(&self, written: &[u64]) -> bool {
        !self.is_given_up && !self.read.iter().any(|base| written.contains(base))
    }

    /// Returns the number of stores.
    pub fn count(&self) -> usize {
        self.stores.len()
    }

    /// Adds the buffers that were stored to.
    pub fn add_written(&self, all: &mut Vec<u64>) {
        self.written.iter().for_each(|base| note(all, *base));
    }

    /// Makes a range of the stores. Those outside of all buffers go to `log`.
    pub fn make(&self, stores: Range<usize>, memory: &mut Memory, log: &mut ShaderLog) {
        for (address, bytes) in &self.stores[stores] {
            log.store(memory, *address, &self.bytes[bytes.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes stores of four bytes at these addresses, beside a buffer at 0x2000. Returns how many stores the journal kept, how many
    /// pages were lost, and the first dwords of the buffer.
    fn made(addresses: &[u64]) -> (usize, usize, Vec<u32>) {
        let mut memory = Memory::default();
        memory.announce(0x2000, 0x1000, Some(&[0; 0x1000]));
        let (mut journal, mut log) = (Journal::default(), ShaderLog::default());
        addresses.iter().for_each(|address| journal.store(&memory, *address, &[1, 0, 0, 0]));
        journal.make(0..journal.count(), &mut memory, &mut log);
        let dwords = (0..2).map(|n| memory.read_u32(0x2000 + 4 * n).expect("a buffer")).collect();
        (journal.count(), log.lost_pages.len(), dwords)
    }

    #[test]
    fn stores_are_joined_inside_of_buffers_alone() {
        assert_eq!(made(&[0x2000, 0x2004]), (1, 0, vec![1, 1]));
        assert_eq!(made(&[0x8000, 0x8004]), (2, 2, vec![0, 0]), "each is reported, as in order");
        assert_eq!(made(&[0x1ffc, 0x2000, 0x2004]), (2, 1, vec![1, 1]), "what is inside is stored");
    }
}
