//! The register file: the values of registers, and which of them were written.

use std::cell::Cell;

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_decoder::generation::{DEFAULT, Generation};

use crate::fault::Fault;

/// Registers per page. Changes are tracked by page.
const PAGE: usize = 32;

/// One bit for each register of a page.
type PageBits = u32;

/// A register and its value.
type Value = (u16, u32);

/// Typical number of registers that a value is made from.
const TYPICAL_READ: usize = 32;

/// The indices of the set bits of `words`, ascending.
fn set_bits(words: impl IntoIterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(index, mut word)| {
        std::iter::from_fn(move || {
            let bit = word.trailing_zeros() as usize;
            (word != 0).then(|| {
                word &= word - 1;
                index * 64 + bit
            })
        })
    })
}

/// A set of register offsets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegSet(Vec<u64>);

impl RegSet {
    /// Adds `offset`, which must be one of a register. Returns false if it was already in the set.
    pub fn insert(&mut self, offset: u32) -> bool {
        let index = offset as usize / 64;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        let (word, bit) = (&mut self.0[index], 1 << (offset % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Whether `offset` is in the set.
    pub fn contains(&self, offset: u32) -> bool {
        self.0.get(offset as usize / 64).is_some_and(|word| word & (1 << (offset % 64)) != 0)
    }

    /// The offsets, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        set_bits(self.0.iter().copied()).map(|offset| offset as u32)
    }
}

/// The value of every register, and which registers were ever written.
///
/// Banking is invisible on an in-order chip: a write takes effect at once, and a draw uses the values at its
/// time.
#[derive(Clone)]
pub struct RegFile {
    words: Box<[u32]>,
    written: RegSet,
    /// Counts writes that change a value.
    clock: u64,
    /// When each page last changed.
    changed: Box<[u64]>,
    /// Registers that were read since [`RegFile::watch`] began, and the pages that contain them.
    read: Box<[Cell<PageBits>]>,
    pages_read: Box<[Cell<u64>]>,
}

/// The registers that a value was made from, with their values and the time.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pages: Vec<u16>,
    time: u64,
    values: Vec<Value>,
}

impl Default for RegFile {
    fn default() -> Self {
        Self::of(DEFAULT)
    }
}

impl RegFile {
    /// The registers of a chip of `generation`, all zero and unwritten.
    pub fn of(generation: &Generation) -> Self {
        let count = generation.registers.space();
        let pages = count.div_ceil(PAGE);
        Self {
            words: vec![0; count].into(),
            written: RegSet::default(),
            clock: 0,
            changed: vec![0; pages].into(),
            read: vec![Cell::new(0); pages].into(),
            pages_read: vec![Cell::new(0); pages.div_ceil(64)].into(),
        }
    }

    /// Takes the size that `generation` has. Registers that it has keep their values.
    pub fn resize(&mut self, generation: &Generation) {
        if generation.registers.space() == self.count() {
            return;
        }
        let before = std::mem::replace(self, Self::of(generation));
        for (offset, value) in before.iter() {
            let _ = self.write(offset, value);
        }
    }

    /// Number of registers (dword offsets).
    pub fn count(&self) -> usize {
        self.words.len()
    }

    /// Stores `value`. Returns the old value, or `None` at the first write.
    ///
    /// # Errors
    /// The register does not exist.
    #[inline]
    pub fn write(&mut self, offset: u32, value: u32) -> Result<Option<u32>, Fault> {
        if offset as usize >= self.count() {
            return Err(Fault::NoRegister(offset));
        }
        let old = self.set(offset as usize, value);
        Ok((!self.written.insert(offset)).then_some(old))
    }

    /// Stores `values` from register `first` on. Returns false, and stores none, if one of the registers does
    /// not exist.
    #[must_use]
    pub fn write_run(&mut self, first: u32, values: &[u32]) -> bool {
        if first as usize + values.len() > self.count() {
            return false;
        }
        for (offset, value) in (first..).zip(values) {
            self.set(offset as usize, *value);
            self.written.insert(offset);
        }
        true
    }

    /// Sets an existing register and returns its old value.
    fn set(&mut self, offset: usize, value: u32) -> u32 {
        let old = std::mem::replace(&mut self.words[offset], value);
        if old != value {
            self.clock += 1;
            self.changed[offset / PAGE] = self.clock;
        }
        old
    }

    /// The result of `make`, and the registers that it read. Must not be called within another `watch`.
    pub fn watch<T>(&self, make: impl FnOnce(&Self) -> T) -> (T, Seen) {
        self.pages_read.iter().for_each(|pages| pages.set(0));
        let made = make(self);
        let mut pages = Vec::new();
        let mut values = Vec::with_capacity(TYPICAL_READ);
        for page in set_bits(self.pages_read.iter().map(Cell::get)) {
            pages.push(page as u16);
            let read = set_bits([self.read[page].get().into()]).map(|bit| page * PAGE + bit);
            values.extend(read.map(|offset| (offset as u16, self.words[offset])));
        }
        (made, Seen { pages, time: self.clock, values })
    }

    /// Whether the pages of the registers of `seen` are unchanged. If they changed, the registers may still
    /// have the same values.
    pub fn is_untouched(&self, seen: &Seen) -> bool {
        seen.pages.iter().all(|page| self.changed[usize::from(*page)] <= seen.time)
    }

    /// Whether the registers of `seen` still have their values. Updates the time of `seen`, so the next check
    /// is faster.
    pub fn is_unchanged(&self, seen: &mut Seen) -> bool {
        if self.is_untouched(seen) {
            return true;
        }
        let same = self.holds(&seen.values);
        if same {
            seen.time = self.clock;
        }
        same
    }

    /// Whether registers have these values.
    fn holds(&self, values: &[Value]) -> bool {
        values.iter().all(|(offset, value)| self.words[*offset as usize] == *value)
    }

    fn note_read(&self, offset: u32) {
        let page = offset as usize / PAGE;
        let Some(read) = self.read.get(page) else { return };
        let (pages, bit) = (&self.pages_read[page / 64], 1 << (page % 64));
        // Bits that an earlier watch left do not count.
        let before = if pages.get() & bit == 0 { 0 } else { read.get() };
        pages.set(pages.get() | bit);
        read.set(before | 1 << (offset as usize % PAGE));
    }

    /// The value at `offset`. Zero if it was never written, or past the end.
    pub fn read(&self, offset: u32) -> u32 {
        self.note_read(offset);
        self.words.get(offset as usize).copied().unwrap_or(0)
    }

    /// The address in two registers: the low half at `low`, the high half behind it.
    pub fn address(&self, low: u32) -> Address {
        Address::wide(self.read(low), self.read(low + 1))
    }

    /// The value at `offset`, if it was ever written.
    pub fn written(&self, offset: u32) -> Option<u32> {
        self.written.contains(offset).then(|| self.words[offset as usize])
    }

    /// Register `R` as its type (element 0 of an array).
    pub fn get<R: Register>(&self) -> R {
        R::from_word(self.read(R::ROW.offset))
    }

    /// Element `index` of the register array `R` as its type. Zero past its end.
    pub fn at<R: Register>(&self, index: u32) -> R {
        if index >= R::ROW.len {
            return R::from_word(0);
        }
        R::from_word(self.read(R::ROW.offset + index * R::ROW.stride))
    }

    /// The written registers, by offset, with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.written.iter().map(|offset| (offset, self.words[offset as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_back_count_as_unchanged() {
        let mut regs = RegFile::default();
        regs.write(0x2100, 5).expect("a register");
        let (_, mut seen) = regs.watch(|regs| regs.read(0x2100));
        regs.write(0x2101, 9).expect("a register");
        assert!(!regs.is_untouched(&seen), "registers of a page are not told apart");
        assert!(regs.is_unchanged(&mut seen) && regs.is_untouched(&seen), "it is quicker the next time");
        regs.write(0x2100, 6).expect("a register");
        assert!(!regs.is_unchanged(&mut seen));
        regs.write(0x2100, 5).expect("a register");
        assert!(regs.is_unchanged(&mut seen));
    }

    /// Registers read before the watch, on the same page or on another, do not count.
    #[test]
    fn a_watch_sees_what_is_read_meanwhile() {
        let mut regs = RegFile::default();
        regs.write(0x2105, 7).expect("a register");
        let read = |regs: &RegFile, offsets: &[u32]| {
            let (sum, seen) = regs.watch(|regs| offsets.iter().map(|offset| regs.read(*offset)).sum::<u32>());
            (sum, seen.values)
        };
        assert_eq!(read(&regs, &[0x2100, 0x2102, 0x3fff]), (0, vec![(0x2100, 0), (0x2102, 0), (0x3fff, 0)]));
        assert_eq!(read(&regs, &[0x2105, 0x4000]), (7, vec![(0x2105, 7)]));
        regs.read(0x2110);
        assert_eq!(read(&regs, &[]), (0, vec![]));
    }

    #[test]
    fn a_run_is_written_as_one_after_the_other_or_not_at_all() {
        let (mut run, mut single) = (RegFile::default(), RegFile::default());
        let (_, seen) = run.watch(|regs| (regs.read(0x2120), regs.read(0x2200)));
        let values: Vec<u32> = (0..40).map(|i| i % 2).collect();
        assert!(run.write_run(0x2100, &values));
        for (offset, value) in (0x2100..).zip(&values) {
            single.write(offset, *value).expect("a register");
        }
        assert_eq!(run.iter().collect::<Vec<_>>(), single.iter().collect::<Vec<_>>());
        assert_eq!((run.clock, &run.changed), (single.clock, &single.changed));
        assert!(!run.is_untouched(&seen), "its second page has changed");
        let last = run.count() as u32 - 1;
        assert!(!run.write_run(last, &[5, 6]));
        assert_eq!(run.written(last), None, "nothing is done");
    }
}
