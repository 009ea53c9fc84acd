//! The address ranges that buffers occupy.

use std::collections::BTreeMap;

/// Address ranges that do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Start and end of a range that has an address in `start..end`.
    pub(super) fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let (&from, &to) = self.0.range(..end).next_back()?;
        (start < end && to > start).then_some((from, to))
    }

    /// Adds `start..end`. Ranges that overlap become one.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        while let Some((from, to)) = self.overlap(start, end) {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Removes all ranges.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
