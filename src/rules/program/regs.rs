//! Sets of registers.

use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::access::FileReg;

const WORDS: usize = FileReg::COUNT / 64;

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Regs([u64; WORDS]);

impl Regs {
    /// Adds `reg`.
    pub fn add(&mut self, reg: FileReg) {
        self.0[reg.index() / 64] |= 1 << (reg.index() % 64);
    }

    /// Adds `reg` and the registers that share bits with it.
    pub fn add_sharing(&mut self, isa: Isa, reg: FileReg) {
        reg.sharing(isa).for_each(|reg| self.add(reg));
    }

    /// Removes `reg`.
    pub fn remove(&mut self, reg: FileReg) {
        self.0[reg.index() / 64] &= !(1 << (reg.index() % 64));
    }

    /// Whether `reg` is in the set.
    pub fn has(&self, reg: FileReg) -> bool {
        self.0[reg.index() / 64] >> (reg.index() % 64) & 1 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds all registers of `other`.
    pub fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
    }

    /// Keeps only registers that are also in `other`.
    pub fn meet(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, kept)| *word &= kept);
    }

    /// The registers of the set.
    pub fn iter(&self) -> impl Iterator<Item = FileReg> {
        (0..FileReg::COUNT).map(FileReg::at).filter(|reg| self.has(*reg))
    }
}

impl FromIterator<FileReg> for Regs {
    fn from_iter<I: IntoIterator<Item = FileReg>>(regs: I) -> Self {
        let mut set = Self::default();
        regs.into_iter().for_each(|reg| set.add(reg));
        set
    }
}
