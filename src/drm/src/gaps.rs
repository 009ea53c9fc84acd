//! The free gaps of an address space, merged. The smallest gap that fits is used first, from its top. The
//! time of an operation grows only logarithmically with their number.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The free gaps.
pub struct Gaps {
    /// End of each gap by its start.
    by_start: BTreeMap<u64, u64>,
    /// Size and start of each gap. The first entry that is large enough is the best: the smallest gap and,
    /// among equals, the highest.
    by_size: BTreeSet<(u64, Reverse<u64>)>,
}

impl Gaps {
    /// Makes one gap of `all`.
    pub fn new(all: Range<u64>) -> Self {
        let mut gaps = Self { by_start: BTreeMap::new(), by_size: BTreeSet::new() };
        gaps.insert(all);
        gaps
    }

    /// Takes `size` free bytes. Returns their start.
    pub fn take(&mut self, size: u64) -> Option<u64> {
        let &(len, Reverse(start)) = self.by_size.range((size, Reverse(u64::MAX))..).next()?;
        self.remove(start);
        if len > size {
            self.insert(start..start + len - size);
        }
        Some(start + len - size)
    }

    /// Returns `range` to the free gaps.
    pub fn give(&mut self, range: Range<u64>) {
        let mut whole = range.clone();
        if let Some(end) = self.remove(range.end) {
            whole.end = end;
        }
        let before = self.by_start.range(..range.start).next_back().map(|(start, end)| (*start, *end));
        if let Some((start, _)) = before.filter(|(_, end)| *end == range.start) {
            self.remove(start);
            whole.start = start;
        }
        self.insert(whole);
    }

    /// All gaps.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.by_start.iter().map(|(start, end)| *start..*end)
    }

    fn insert(&mut self, gap: Range<u64>) {
        self.by_start.insert(gap.start, gap.end);
        self.by_size.insert((gap.end - gap.start, Reverse(gap.start)));
    }

    /// Removes the gap at `start`. Returns its end.
    fn remove(&mut self, start: u64) -> Option<u64> {
        let end = self.by_start.remove(&start)?;
        self.by_size.remove(&(end - start, Reverse(start)));
        Some(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_merge_whatever_the_order() {
        let mut gaps = Gaps::new(0..10);
        let taken: Vec<u64> = (0..10).map(|_| gaps.take(1).unwrap()).collect();
        assert_eq!((taken[0], taken[9], gaps.take(1)), (9, 0, None));
        for index in [3, 5, 4, 0, 9, 1, 2, 8, 7, 6] {
            gaps.give(taken[index]..taken[index] + 1);
        }
        assert!(gaps.iter().eq(std::iter::once(0..10)), "one gap again");
        assert_eq!(gaps.by_size.len(), 1);
    }

    #[test]
    fn the_smallest_gap_that_fits_is_used() {
        let mut gaps = Gaps::new(0..100);
        gaps.take(100);
        for gap in [0..10, 20..24, 30..33, 40..44] {
            gaps.give(gap);
        }
        assert_eq!([gaps.take(3), gaps.take(4), gaps.take(2)], [Some(30), Some(40), Some(22)]);
        assert_eq!(gaps.take(11), None);
    }
}
