//! State of a draw that is kept for the next, for as long as nothing that it was made of changes.

use crate::memory::Memory;
use crate::regfile::{RegFile, Seen};

/// The value that was made last, with what it was made of: a key, registers, and memory.
pub struct Memo<K, T> {
    kept: Option<Kept<K, T>>,
}

struct Kept<K, T> {
    key: K,
    registers: Seen,
    /// Address and bytes.
    memory: Vec<(u32, u32)>,
    /// When the memory was read, as [`Memory::now`] counts.
    time: u64,
    value: T,
}

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self { kept: None }
    }
}

impl<K: PartialEq, T: Clone> Memo<K, T> {
    /// What `make` makes of `key` and registers alone.
    pub fn get(&mut self, regs: &RegFile, key: K, make: impl FnOnce(&RegFile) -> T) -> T {
        if let Some(kept) = &self.kept
            && kept.key == key
            && regs.is_unchanged(&kept.registers)
        {
            return kept.value.clone();
        }
        let (value, registers) = regs.watch(make);
        self.kept = Some(Kept { key, registers, memory: Vec::new(), time: 0, value: value.clone() });
        value
    }

    /// The same of memory as well: `make` says which (address and bytes).
    pub fn get_with_memory(
        &mut self,
        regs: &RegFile,
        memory: &Memory,
        key: K,
        make: impl FnOnce(&RegFile) -> (T, Vec<(u32, u32)>),
    ) -> T {
        if let Some(kept) = &self.kept
            && kept.memory.iter().any(|(at, len)| !memory.is_unchanged(*at, *len, kept.time))
        {
            self.kept = None;
        }
        let mut ranges = Vec::new();
        let value = self.get(regs, key, |regs| {
            let (value, read) = make(regs);
            ranges = read;
            value
        });
        if let Some(kept) = self.kept.as_mut().filter(|_| !ranges.is_empty()) {
            (kept.memory, kept.time) = (ranges, memory.now());
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTER: u32 = 0x2100;
    const FAR: u32 = 0x3000;

    /// A value that is made anew only when it has to be: how often, after each of these.
    #[test]
    fn a_value_is_made_again_when_something_that_it_was_made_of_changes() {
        let (mut regs, mut memory, mut memo) = (RegFile::default(), Memory::new(), Memo::default());
        memory.announce(0x1000, 0x4000, Some(&[1; 0x4000]));
        let mut made = 0;
        let mut get = |regs: &RegFile, memory: &Memory, key: u32| {
            let value = memo.get_with_memory(regs, memory, key, |regs| {
                made += 1;
                (regs.read(REGISTER), vec![(0x2000, 8)])
            });
            (made, value)
        };
        assert_eq!(get(&regs, &memory, 7), (1, 0));
        assert_eq!(get(&regs, &memory, 7), (1, 0));
        regs.write(REGISTER, 0).expect("a register");
        regs.write(FAR, 5).expect("a register");
        assert!(memory.write_u32(0x1ffc, 9));
        assert_eq!(get(&regs, &memory, 7), (1, 0), "nothing that it was made of has changed");
        regs.write(REGISTER, 3).expect("a register");
        assert_eq!(get(&regs, &memory, 7), (2, 3));
        assert_eq!(get(&regs, &memory, 8), (3, 3));
        assert!(memory.write_u32(0x2000, 9));
        assert_eq!(get(&regs, &memory, 8), (4, 3));
        memory.begin_group();
        memory.announce(0x1000, 0x4000, None);
        memory.unmap(0x1000, 0x5000);
        assert_eq!(get(&regs, &memory, 8), (5, 3));
    }
}
