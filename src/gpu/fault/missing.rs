//! Reads of memory that no buffer of the capture holds.

use a4emu_decoder::adreno::address::Address;
use std::collections::BTreeMap;

use rangemap::RangeSet;

use super::Client;

/// Most address ranges kept for each client. More ranges are merged into the last one.
const MAX_RANGES: usize = 4096;

/// A read of memory that the capture does not hold: `len` bytes at `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Miss {
    /// The unit that read.
    pub client: Client,
    /// Address of the first byte.
    pub address: Address,
    /// Bytes.
    pub len: u32,
}

/// Address ranges that were read and that the capture does not hold, by client. Adjacent ranges are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    ranges: BTreeMap<Client, RangeSet<u64>>,
}

impl Missing {
    /// Adds a miss. With more than 4,096 ranges a client, the last two are merged; the result then depends on
    /// the order of calls.
    pub fn note(&mut self, miss: Miss) {
        let start = miss.address.get();
        let end = start.saturating_add(miss.len.into());
        if start == end {
            return;
        }
        let ranges = self.ranges.entry(miss.client).or_default();
        ranges.insert(start..end);
        let mut from_last = ranges.iter().rev();
        if ranges.len() > MAX_RANGES
            && let (Some(last), Some(before)) = (from_last.next(), from_last.next())
        {
            let joined = before.start..last.end;
            ranges.insert(joined);
        }
    }

    /// Adds several misses, such as the misses of a worker thread.
    pub fn extend(&mut self, misses: impl IntoIterator<Item = Miss>) {
        misses.into_iter().for_each(|miss| self.note(miss));
    }

    /// The merged ranges, by client and address. A range of 4 GiB reports `u32::MAX` bytes.
    pub fn iter(&self) -> impl Iterator<Item = Miss> {
        self.ranges.iter().flat_map(|(client, ranges)| {
            ranges.iter().map(|range| Miss {
                client: *client,
                address: Address::new(range.start),
                len: u32::try_from(range.end - range.start).unwrap_or(u32::MAX),
            })
        })
    }

    /// Whether no read missed.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_capped_and_none_is_forgotten() {
        let mut missing = Missing::default();
        let miss = |n: u32| Miss { client: Client::Texture, address: (n * 16).into(), len: 4 };
        missing.extend((0..2 * MAX_RANGES as u32).map(miss));
        let ranges: Vec<Miss> = missing.iter().collect();
        assert_eq!(ranges.len(), MAX_RANGES);
        let last = ranges.last().unwrap();
        assert_eq!((last.address + last.len.into()).get(), (2 * MAX_RANGES as u64 - 1) * 16 + 4);
        assert_eq!(ranges[0], miss(0), "the first ones are exact");
    }

    #[test]
    fn a_read_of_nothing_misses_nothing() {
        let mut missing = Missing::default();
        missing.note(Miss { client: Client::Index, address: 4.into(), len: 0 });
        assert!(missing.is_empty() && missing.iter().next().is_none());
    }
}
