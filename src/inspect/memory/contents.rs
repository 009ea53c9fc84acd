//! The bytes of a range of memory, of which some may be missing.

use std::ops::Range;

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::memory::{Memory, PAGE, Provenance};

/// The bytes of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    start: u64,
    /// The bytes; 0 where they are missing.
    bytes: Vec<u8>,
    /// Offsets of what the capture does not hold, ascending.
    missing: Vec<Range<u64>>,
}

impl Contents {
    /// The `len` bytes at `start`. The caller bounds `len`.
    pub fn of(memory: &Memory, start: Address, len: u64) -> Self {
        let mut all = Self { start: start.get(), bytes: vec![0; len as usize], missing: Vec::new() };
        let mut at = 0;
        while at < len {
            let address = all.start + at;
            let step = (u64::from(PAGE) - address % u64::from(PAGE)).min(len - at);
            all.read(memory, at, step);
            at += step;
        }
        all
    }

    /// Reads `step` bytes at offset `at`, which are in one page: all at once, then dwords, then bytes.
    fn read(&mut self, memory: &Memory, at: u64, step: u64) {
        let address = Address::new(self.start + at);
        let out = &mut self.bytes[at as usize..][..step as usize];
        if memory.read(address, out) {
            return;
        }
        let is_blank =
            memory.provenance(address) == Provenance::Blank && u64::from(memory.room(address)) >= step;
        let smaller = match step {
            _ if is_blank || !memory.holds_any(address.get(), address.get() + step) => 0,
            0..=1 => 0,
            2..=4 => 1,
            _ => 4,
        };
        if smaller == 0 {
            return self.miss(at..at + step);
        }
        for from in (at..at + step).step_by(smaller as usize) {
            self.read(memory, from, smaller.min(at + step - from));
        }
    }

    fn miss(&mut self, range: Range<u64>) {
        match self.missing.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.missing.push(range),
        }
    }

    /// Address of the first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Number of bytes.
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// All bytes, if none is missing.
    pub fn whole(&self) -> Option<&[u8]> {
        self.missing.is_empty().then_some(&self.bytes)
    }

    /// The ranges of addresses whose bytes the capture does not hold.
    pub fn missing(&self) -> impl Iterator<Item = Range<u64>> {
        self.missing.iter().map(|range| range.start + self.start..range.end + self.start)
    }

    /// The missing range that holds or follows offset `at`.
    fn gap(&self, at: u64) -> Option<&Range<u64>> {
        self.missing.get(self.missing.partition_point(|range| range.end <= at))
    }

    /// The byte at offset `at`; none if it is missing.
    pub fn byte(&self, at: u64) -> Option<u8> {
        let is_missing = self.gap(at).is_some_and(|range| range.start <= at);
        self.bytes.get(at as usize).copied().filter(|_| !is_missing)
    }

    /// Whether a byte of these offsets is known.
    pub fn has_any(&self, start: u64, end: u64) -> bool {
        self.gap(start).is_none_or(|range| range.start > start || range.end < end.min(self.size()))
    }

    /// Whether a byte of these offsets is another one in `before`, or is known in one of both only.
    pub fn differs(&self, before: &Self, start: u64, end: u64) -> bool {
        (start..end.min(self.size())).any(|at| self.byte(at) != before.byte(at))
    }

    /// Number of bytes that are other ones in `before`.
    pub fn changed(&self, before: &Self) -> u64 {
        (0..self.size()).filter(|at| self.byte(*at) != before.byte(*at)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_capture_does_not_hold_is_missing_and_not_zero() {
        let mut memory = Memory::new();
        memory.announce(0x1ffd_u32, 6, Some(&[1, 2, 3, 4, 0, 0]));
        memory.announce(0x4000_u32, 0x2000, None);
        let contents = Contents::of(&memory, Address::new(0x1ff8), 0x2008 + 0x3000);
        assert_eq!(
            (4..12).map(|at| contents.byte(at)).collect::<Vec<_>>(),
            [None, Some(1), Some(2), Some(3), Some(4), Some(0), Some(0), None]
        );
        assert_eq!(contents.missing().collect::<Vec<_>>(), [0x1ff8..0x1ffd, 0x2003..0x7000]);
        assert!(
            contents.has_any(0, 8)
                && !contents.has_any(0, 5)
                && !contents.has_any(16, 32)
                && contents.whole().is_none()
        );
        let one = Contents::of(&memory, Address::new(0x1ffd), 2);
        assert_eq!(one.whole(), Some(&[1, 2][..]));
    }

    #[test]
    fn changes_are_bytes_that_differ_or_became_known() {
        let mut memory = Memory::new();
        memory.announce(0x1000_u32, 8, None);
        let before = Contents::of(&memory, Address::new(0x1000), 8);
        assert!(memory.write(0x1004_u32, &[0, 9]));
        let after = Contents::of(&memory, Address::new(0x1000), 8);
        assert!(after.differs(&before, 4, 8) && after.changed(&before) >= 2 && after.changed(&after) == 0);
    }

    /// An address beyond 32 bits, which an A4xx does not have, is missing.
    #[test]
    fn far_addresses_are_missing() {
        let contents = Contents::of(&Memory::new(), Address::new(1 << 40), 16);
        let missing: Vec<_> = contents.missing().map(|range| (range.start, range.end)).collect();
        assert_eq!(missing, [(1 << 40, (1 << 40) + 16)]);
        assert_eq!(contents.size(), 16);
    }
}
