//! Registers that a0.x has selected. Only a run knows them, the program does not.
use std::collections::BTreeMap;

use a4emu_decoder::adreno::ir3::access::FileReg;

/// Most operands whose selections are kept. Further ones are dropped.
const MAX_CHOOSERS: usize = 1 << 16;

/// Words of a set of all registers.
const WORDS: usize = FileReg::COUNT / 64;

/// Use of the register that a0.x selects for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// As a source.
    Reads,
    /// As the destination.
    Writes,
}

/// An operand that a0.x selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chooser {
    /// Hash of the program's words ([`super::Program::hash_of`]).
    pub program: u64,
    /// Index of the instruction.
    pub at: u32,
    /// Source or destination.
    pub way: Way,
}

/// The registers that a0.x has selected, by operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen(BTreeMap<Chooser, [u64; WORDS]>);

impl Chosen {
    /// Adds registers that a0.x has selected for `chooser`.
    pub fn add(&mut self, chooser: Chooser, regs: impl Iterator<Item = FileReg>) {
        if self.0.len() < MAX_CHOOSERS || self.0.contains_key(&chooser) {
            let words = self.0.entry(chooser).or_default();
            regs.map(FileReg::index).for_each(|index| words[index / 64] |= 1 << (index % 64));
        }
    }

    /// Adds all selections of `other`.
    pub fn append(&mut self, other: &Self) {
        other.iter().for_each(|(chooser, regs)| self.add(chooser, regs));
    }

    /// The operands, each with its selected registers.
    pub fn iter(&self) -> impl Iterator<Item = (Chooser, impl Iterator<Item = FileReg>)> {
        self.0.iter().map(|(chooser, words)| {
            let indices = (0..FileReg::COUNT).filter(|index| words[index / 64] >> (index % 64) & 1 != 0);
            (*chooser, indices.map(FileReg::at))
        })
    }
}
