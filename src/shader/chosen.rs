//! Registers that a0.x has chosen: what no program says of itself, and only a run knows.
use std::collections::BTreeMap;

use a4emu_decoder::isa::ir3::access::FileReg;

/// Instructions of which choices are kept; of more nothing is known.
const MAX_CHOOSERS: usize = 1 << 16;

/// Words of a set of all registers.
const WORDS: usize = FileReg::COUNT / 64;

/// What an instruction does to the register that a0.x chooses for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// It is a source.
    Reads,
    /// It is the destination.
    Writes,
}

/// An operand that a0.x chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chooser {
    /// Hash of the program's words ([`super::Program::hash_of`]).
    pub program: u64,
    /// Index of the instruction.
    pub at: u32,
    /// Source or destination.
    pub way: Way,
}

/// What a0.x has chosen for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen(BTreeMap<Chooser, [u64; WORDS]>);

impl Chosen {
    /// `chooser` was given these registers.
    pub fn add(&mut self, chooser: Chooser, regs: impl Iterator<Item = FileReg>) {
        if self.0.len() < MAX_CHOOSERS || self.0.contains_key(&chooser) {
            let words = self.0.entry(chooser).or_default();
            regs.map(FileReg::index).for_each(|index| words[index / 64] |= 1 << (index % 64));
        }
    }

    /// Adds what others chose.
    pub fn append(&mut self, other: &Self) {
        other.iter().for_each(|(chooser, regs)| self.add(chooser, regs));
    }

    /// The choosers, with the registers that each was given.
    pub fn iter(&self) -> impl Iterator<Item = (Chooser, impl Iterator<Item = FileReg>)> {
        self.0.iter().map(|(chooser, words)| {
            let indices = (0..FileReg::COUNT).filter(|index| words[index / 64] >> (index % 64) & 1 != 0);
            (*chooser, indices.map(FileReg::at))
        })
    }
}
