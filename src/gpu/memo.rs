//! Caches of draw state. An entry is valid while the inputs that it was made from are unchanged.

use a4emu_decoder::adreno::address::Address;
use hashbrown::HashMap;

use crate::limits::CACHE_SLOTS;
use crate::memory::Memory;
use crate::regfile::{RegFile, Seen};

/// Numbers packets by address, in the order of their first occurrence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    by_packet: HashMap<Address, usize>,
    packets: Vec<Address>,
    /// The number that was returned last.
    last: usize,
}

impl Numbers {
    /// How many packets have a number.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether no packet has a number.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Forgets all numbers.
    pub fn clear(&mut self) {
        self.by_packet.clear();
        self.packets.clear();
    }

    /// The number of the packet at address `packet`, if it has one.
    pub fn find(&mut self, packet: Address) -> Option<usize> {
        // The last or the next number usually matches: packets come in the same order for each tile.
        let near = [self.last, self.last + 1].into_iter().find(|n| self.packets.get(*n) == Some(&packet));
        self.last = near.or_else(|| self.by_packet.get(&packet).copied())?;
        Some(self.last)
    }

    /// The number of the packet at address `packet`. A new packet gets the next number.
    pub fn of(&mut self, packet: Address) -> usize {
        self.find(packet).unwrap_or_else(|| {
            self.last = self.len();
            self.by_packet.insert(packet, self.last);
            self.packets.push(packet);
            self.last
        })
    }
}

/// Maps a draw packet's address to a cache slot, so that the draw finds its state again in the next tile.
/// Until then, the other draws change the state.
#[derive(Default)]
pub struct Slots(Numbers);

impl Slots {
    /// The slot of the packet at address `packet`.
    pub fn of(&mut self, packet: Address) -> usize {
        if let Some(known) = self.0.find(packet) {
            return known;
        }
        if self.0.len() >= CACHE_SLOTS {
            self.0.clear();
        }
        self.0.of(packet)
    }
}

/// One value per [slot](Slots).
pub struct BySlot<T>(Vec<Option<T>>);

impl<T> Default for BySlot<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> BySlot<T> {
    /// The value of `slot`.
    pub fn get(&self, slot: usize) -> Option<&T> {
        self.0.get(slot)?.as_ref()
    }

    /// The value of `slot`, mutable.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.0.get_mut(slot)?.as_mut()
    }

    /// Sets the value of `slot`.
    pub fn put(&mut self, slot: usize, value: T) {
        *self.slot(slot) = Some(value);
    }

    /// The entry of `slot`, which may be empty. Creates missing slots.
    fn slot(&mut self, slot: usize) -> &mut Option<T> {
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, || None);
        }
        &mut self.0[slot]
    }

    /// Removes the value of `slot`.
    pub fn remove(&mut self, slot: usize) {
        if let Some(value) = self.0.get_mut(slot) {
            *value = None;
        }
    }
}

/// What a value was made from: registers, and ranges of memory with the time at which they were read. The value is valid
/// while the registers have the same values and no page of the ranges has changed.
///
/// The other inputs of a cached value are loaded state, by counts of its changes, and keys, which are compared.
#[derive(Default)]
pub struct ReadSet {
    registers: Seen,
    /// Address and length in bytes of each range.
    ranges: Vec<(Address, u32)>,
    /// When the memory was read ([`Memory::now`]).
    time: u64,
}

impl ReadSet {
    /// `ranges` of memory (address and bytes) that are read now.
    pub fn of_memory(memory: &Memory, ranges: Vec<(Address, u32)>) -> Self {
        Self { registers: Seen::default(), ranges, time: memory.now() }
    }

    /// Whether the memory is as it was read.
    pub fn has_same_memory(&self, memory: &Memory) -> bool {
        self.ranges.iter().all(|(address, len)| memory.is_unchanged(*address, *len, self.time))
    }
}

/// A cache of values with their inputs: a key, registers and memory. Each [slot](Slots) has one entry. An
/// entry is valid for any draw with the same inputs.
pub struct Memo<K, T> {
    kept: BySlot<Kept<K, T>>,
    /// The slot whose value was returned last. Often nothing changes from one draw to the next.
    last: usize,
}

struct Kept<K, T> {
    key: K,
    read: ReadSet,
    value: T,
}

impl<K, T> Default for Memo<K, T> {
    fn default() -> Self {
        Self { kept: BySlot::default(), last: 0 }
    }
}

impl<K: PartialEq, T> Memo<K, T> {
    /// The value that `make` returns for `key` and the registers that it reads. Reads the cache entry of
    /// `slot`.
    pub fn get(&mut self, slot: usize, regs: &RegFile, key: K, make: impl FnOnce(&RegFile) -> T) -> &T {
        &self.kept(slot, regs, key, make).value
    }

    fn kept(
        &mut self,
        slot: usize,
        regs: &RegFile,
        key: K,
        make: impl FnOnce(&RegFile) -> T,
    ) -> &mut Kept<K, T> {
        // Tries the last slot first with the fast check, and again last with the full one.
        let known =
            [(self.last, true), (slot, false), (self.last, false)].into_iter().find(|(slot, is_quick)| {
                self.kept.get_mut(*slot).is_some_and(|kept| {
                    kept.key == key
                        && match is_quick {
                            true => regs.is_untouched(&kept.read.registers),
                            false => regs.is_unchanged(&mut kept.read.registers),
                        }
                })
            });
        if known.is_none() {
            self.kept.remove(slot);
        }
        self.last = known.map_or(slot, |(slot, _)| slot);
        self.kept.slot(self.last).get_or_insert_with(|| {
            let (value, registers) = regs.watch(make);
            Kept { key, read: ReadSet { registers, ..ReadSet::default() }, value }
        })
    }

    /// Like [`Self::get`], with memory as an input: `make` also returns the ranges that it read (address and
    /// bytes).
    pub fn get_with_memory(
        &mut self,
        slot: usize,
        regs: &RegFile,
        memory: &Memory,
        key: K,
        make: impl FnOnce(&RegFile) -> (T, Vec<(Address, u32)>),
    ) -> &T {
        for slot in [self.last, slot] {
            if let Some(kept) = self.kept.get(slot)
                && !kept.read.has_same_memory(memory)
            {
                self.kept.remove(slot);
            }
        }
        let mut ranges = Vec::new();
        let kept = self.kept(slot, regs, key, |regs| {
            let (value, read) = make(regs);
            ranges = read;
            value
        });
        if !ranges.is_empty() {
            (kept.read.ranges, kept.read.time) = (ranges, memory.now());
        }
        &kept.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGISTER: u32 = 0x2100;
    const FAR: u32 = 0x3000;

    /// Checks how often the value was made after each step: only when an input changed.
    #[test]
    fn a_value_is_made_again_when_something_that_it_was_made_of_changes() {
        let (mut regs, mut memory, mut memo) = (RegFile::default(), Memory::new(), Memo::default());
        memory.announce(0x1000, 0x4000, Some(&[1; 0x4000]));
        let mut made = 0;
        let mut get = |regs: &RegFile, memory: &Memory, key: u32| {
            let value = memo.get_with_memory(0, regs, memory, key, |regs| {
                made += 1;
                (regs.read(REGISTER), vec![(Address::new(0x2000), 8)])
            });
            (made, *value)
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

    #[test]
    fn each_slot_has_its_own() {
        let (mut regs, mut memo, mut made) = (RegFile::default(), Memo::default(), 0);
        for _ in 0..3 {
            for (slot, value) in [(0, 7), (2, 8)] {
                regs.write(REGISTER, value).expect("a register");
                let given = memo.get(slot, &regs, (), |regs| {
                    made += 1;
                    regs.read(REGISTER)
                });
                assert_eq!(*given, value);
            }
        }
        assert_eq!(made, 2, "each was made once");
    }

    #[test]
    fn packets_are_numbered_in_the_order_in_which_they_are_first_seen() {
        let mut numbers = Numbers::default();
        let mut of =
            |packets: &[u32]| packets.iter().map(|packet| numbers.of((*packet).into())).collect::<Vec<_>>();
        assert_eq!(of(&[40, 8, 8, 24]), [0, 1, 1, 2]);
        assert_eq!(of(&[40, 8, 24, 40, 24, 16, 8]), [0, 1, 2, 0, 2, 3, 1]);
        assert_eq!((numbers.find(24.into()), numbers.find(12.into()), numbers.len()), (Some(2), None, 4));
        numbers.clear();
        assert_eq!((numbers.find(24.into()), numbers.of(24.into()), numbers.of(40.into())), (None, 0, 1));
    }

    #[test]
    fn packets_have_slots_of_their_own() {
        let mut slots = Slots::default();
        let mut first: Vec<usize> = (0..100).map(|packet| slots.of(packet.into())).collect();
        assert_eq!((0..100).map(|packet| slots.of(packet.into())).collect::<Vec<_>>(), first);
        first.sort_unstable();
        assert_eq!(first, (0..100).collect::<Vec<_>>());
        assert!((0..100_000).all(|packet| slots.of(packet.into()) < CACHE_SLOTS));
    }
}
