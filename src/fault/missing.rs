//! Memory that was read and is in no buffer of the capture.

use std::collections::BTreeMap;

use super::Client;

/// Address ranges kept for each client; further ones join the last.
const MAX_RANGES: usize = 4096;

/// A read of memory that the capture does not hold: `len` bytes at `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Miss {
    /// Who asked.
    pub client: Client,
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub len: u32,
}

/// Every address that was read and is not in the capture, by who asked; ranges merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Start -> end of disjoint ranges that do not touch.
    ranges: BTreeMap<Client, BTreeMap<u64, u64>>,
}

impl Missing {
    /// Adds a miss. Independent of the order of calls up to [`MAX_RANGES`] ranges a client.
    pub fn note(&mut self, miss: Miss) {
        let ranges = self.ranges.entry(miss.client).or_default();
        let (mut start, mut end) = (u64::from(miss.address), u64::from(miss.address) + u64::from(miss.len));
        if start == end {
            return;
        }
        while let Some((&from, &to)) = ranges.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            ranges.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        if ranges.len() == MAX_RANGES
            && let Some((from, to)) = ranges.pop_last()
        {
            (start, end) = (start.min(from), end.max(to));
        }
        ranges.insert(start, end);
    }

    /// Adds many, such as what a worker thread collected.
    pub fn extend(&mut self, misses: impl IntoIterator<Item = Miss>) {
        misses.into_iter().for_each(|miss| self.note(miss));
    }

    /// The merged ranges, by client and address. A range of 4 GiB reports `u32::MAX` bytes.
    pub fn iter(&self) -> impl Iterator<Item = Miss> {
        self.ranges.iter().flat_map(|(client, ranges)| {
            ranges.iter().map(|(start, end)| Miss {
                client: *client,
                address: *start as u32,
                len: u32::try_from(end - start).unwrap_or(u32::MAX),
            })
        })
    }

    /// Whether nothing was missing.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}
