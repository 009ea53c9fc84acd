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
    /// Pages that were read since [`RegFile::watch`] began.
    read: [Cell<u64>; PAGE_WORDS],
}

/// Which registers something was made of, and when.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pages: [u64; PAGE_WORDS],
    time: u64,
}

impl Default for RegFile {
    fn default() -> Self {
        Self {
            words: Box::new([0; COUNT]),
            written: RegSet::default(),
            clock: 0,
            changed: Box::new([0; COUNT / PAGE]),
            read: Default::default(),
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
        self.read.iter().for_each(|word| word.set(0));
        let made = make(self);
        (made, Seen { pages: self.read.each_ref().map(Cell::get), time: self.clock })
    }

    /// Whether the registers of `seen` have the values that they had then.
    pub fn is_unchanged(&self, seen: &Seen) -> bool {
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

    fn note_read(&self, offset: u32) {
        let page = offset as usize / PAGE;
        if let Some(word) = self.read.get(page / 64) {
            word.set(word.get() | 1 << (page % 64));
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
