//! Sets of address ranges, merged.

use std::collections::BTreeMap;

/// Disjoint address ranges that do not touch. Start to end (exclusive).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(BTreeMap<u64, u64>);

impl Extents {
    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds `start..end`.
    pub fn add(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &to)) = self.0.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Removes `start..end`.
    pub fn remove(&mut self, start: u64, end: u64) {
        while let Some((&from, &to)) = self.0.range(..end).next_back().filter(|(_, to)| **to > start) {
            self.0.remove(&from);
            let outside = [(from, start), (end, to)];
            self.0.extend(outside.into_iter().filter(|(from, to)| from < to));
        }
    }

    /// Joins ranges that lie close together, the closest first, until there are at most `most` (at least 1).
    pub fn join_to(&mut self, most: usize) {
        let mut gap = 16;
        while self.0.len() > most.max(1) {
            let mut joined = BTreeMap::new();
            let mut open: Option<(u64, u64)> = None;
            for (from, to) in self.iter() {
                match &mut open {
                    Some((_, end)) if from - *end <= gap => *end = to,
                    _ => joined.extend(open.replace((from, to))),
                }
            }
            joined.extend(open);
            (self.0, gap) = (joined, gap * 16);
        }
    }

    /// Number of ranges.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The ranges, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(start, end)| (*start, *end))
    }

    /// The parts of `start..end` that are in no range, ascending.
    pub fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        let mut at = end;
        for (&from, &to) in self.0.range(..end).rev().take_while(|(_, to)| **to > start) {
            if to < at {
                gaps.push((to, at));
            }
            at = from;
        }
        if start < at {
            gaps.push((start, at));
        }
        gaps.reverse();
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_ranges_are_joined_first() {
        let mut extents = Extents::default();
        for (start, end) in [(0, 4), (8, 12), (1000, 1004), (9000, 9004)] {
            extents.add(start, end);
        }
        extents.join_to(3);
        assert_eq!(extents.iter().collect::<Vec<_>>(), [(0, 12), (1000, 1004), (9000, 9004)]);
        extents.join_to(1);
        assert_eq!(extents.iter().collect::<Vec<_>>(), [(0, 9004)]);
    }

    /// Compares the ranges with one flag for each address.
    #[test]
    fn they_are_what_flags_would_be() {
        let (mut extents, mut flags) = (Extents::default(), [false; 64]);
        let mut state = 1u32;
        let mut random = move |below: u32| {
            state = state.wrapping_mul(0x9e37_79b9).rotate_left(7) ^ 0x55;
            state % below
        };
        for _ in 0..2000 {
            let start = random(63);
            let end = start + 1 + random(64 - start);
            match random(2) {
                0 => extents.add(start.into(), end.into()),
                _ => extents.remove(start.into(), end.into()),
            }
            let is_added = extents.gaps(start.into(), end.into()).is_empty();
            flags[start as usize..end as usize].fill(is_added);
            let gaps = extents.gaps(0, 64);
            let is_gap = |at: u64| gaps.iter().any(|(from, to)| (*from..*to).contains(&at));
            (0..64).for_each(|at| assert_eq!(is_gap(at), !flags[at as usize], "{extents:?} at {at}"));
        }
    }
}
