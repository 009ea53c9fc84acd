//! The register file: values, and which registers anybody wrote.

use std::cell::Cell;

use a4emu_decoder::bits::Register;

use crate::fault::Fault;

/// Registers that packets can reach (dword offsets).
pub const COUNT: usize = 0x4000;

const WORDS: usize = COUNT / 64;

/// Registers whose changes are not told apart.
const PAGE: usize = 32;

/// Words with a bit for each page of registers.
const PAGE_WORDS: usize = COUNT / PAGE / 64;

/// The registers of a page, a bit each.
type PageBits = u32;

/// A set of register offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegSet(Box<[u64; WORDS]>);

impl Default for RegSet {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl RegSet {
    /// Adds `offset`, which must be below [`COUNT`]; false if it was there.
    pub fn insert(&mut self, offset: u32) -> bool {
        let (word, bit) = (&mut self.0[offset as usize / 64], 1 << (offset % 64));
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
        self.0.iter().enumerate().flat_map(|(index, word)| {
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| index as u32 * 64 + bit)
        })
    }
}

/// Every register's value, and which of them anybody ever wrote.
///
/// Banking is invisible to an in-order chip: a write is there at once, and a draw uses
/// what is there when it comes.
#[derive(Clone)]
pub struct RegFile {
    words: Box<[u32; COUNT]>,
    written: RegSet,
    /// Counts writes that change a value.
    clock: u64,
    /// When each page changed last.
    changed: Box<[u64; COUNT / PAGE]>,
    /// Registers that were read since [`RegFile::watch`] began.
    read: Box<[Cell<PageBits>; COUNT / PAGE]>,
}

/// Which registers something was made of, with their values, and when.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pages: [u64; PAGE_WORDS],
    time: u64,
    values: Vec<(u16, u32)>,
}

impl Default for RegFile {
    fn default() -> Self {
        Self {
            words: Box::new([0; COUNT]),
            written: RegSet::default(),
            clock: 0,
            changed: Box::new([0; COUNT / PAGE]),
            read: Box::new([const { Cell::new(0) }; COUNT / PAGE]),
        }
    }
}

impl RegFile {
    /// Stores `value`; what the register held, if somebody had written it.
    ///
    /// # Errors
    /// When there is no such register.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<Option<u32>, Fault> {
        let Some(word) = self.words.get_mut(offset as usize) else { return Err(Fault::NoRegister(offset)) };
        let old = std::mem::replace(word, value);
        if old != value {
            self.clock += 1;
            self.changed[offset as usize / PAGE] = self.clock;
        }
        Ok((!self.written.insert(offset)).then_some(old))
    }

    /// What `make` makes, and which registers it has read for that. Not within another `watch`.
    pub fn watch<T>(&self, make: impl FnOnce(&Self) -> T) -> (T, Seen) {
        self.read.iter().for_each(|page| page.set(0));
        let made = make(self);
        let mut seen = Seen { time: self.clock, ..Seen::default() };
        for (page, read) in self.read.iter().enumerate() {
            let mut bits = read.get();
            seen.pages[page / 64] |= u64::from(bits != 0) << (page % 64);
            while bits != 0 {
                let offset = page * PAGE + bits.trailing_zeros() as usize;
                seen.values.push((offset as u16, self.words[offset]));
                bits &= bits - 1;
            }
        }
        (made, seen)
    }

    /// Whether nobody changed the registers of `seen` since, as far as that is told apart: if not, they may have the
    /// values that they had then all the same.
    pub fn is_untouched(&self, seen: &Seen) -> bool {
        let (words, _) = self.changed.as_chunks::<64>();
        words.iter().zip(seen.pages).all(|(changed, mut pages)| {
            while pages != 0 {
                if changed[pages.trailing_zeros() as usize] > seen.time {
                    return false;
                }
                pages &= pages - 1;
            }
            true
        })
    }

    /// Whether the registers of `seen` have the values that they had then. It is quicker the next time.
    pub fn is_unchanged(&self, seen: &mut Seen) -> bool {
        if self.is_untouched(seen) {
            return true;
        }
        let same = seen.values.iter().all(|(offset, value)| self.words[*offset as usize] == *value);
        if same {
            seen.time = self.clock;
        }
        same
    }

    fn note_read(&self, offset: u32) {
        let offset = offset as usize;
        if let Some(page) = self.read.get(offset / PAGE) {
            page.set(page.get() | 1 << (offset % PAGE));
        }
    }

    /// The value at `offset`; zero where nobody wrote and past the end.
    pub fn read(&self, offset: u32) -> u32 {
        self.note_read(offset);
        self.words.get(offset as usize).copied().unwrap_or(0)
    }

    /// The value at `offset` if somebody wrote it.
    pub fn written(&self, offset: u32) -> Option<u32> {
        self.written.contains(offset).then(|| self.words[offset as usize])
    }

    /// Register `R`, typed (element 0 of an array).
    pub fn get<R: Register>(&self) -> R {
        R::from_word(self.read(R::ROW.offset))
    }

    /// Element `index` of the register array `R`, typed; zero past its end.
    pub fn at<R: Register>(&self, index: u32) -> R {
        if index >= R::ROW.len {
            return R::from_word(0);
        }
        R::from_word(self.read(R::ROW.offset + index * R::ROW.stride))
    }

    /// The registers ever written, by offset, with their values.
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
}
