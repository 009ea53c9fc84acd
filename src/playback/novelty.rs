//! How much of what a capture holds is new.
//!
//! A kilobyte of a packed file can hold a megabyte of zeros, or of any other pattern, so bytes alone
//! are no measure of how much somebody recorded. What does not pack is what was not there a
//! moment ago: a dword is counted if it is not zero and none of the last [`WINDOW`] had its value.
//! DEFLATE repeats what is up to 32 KB back, at any of the four places in a dword, and that is
//! within the window: each dword that counts has cost about a byte of the file. What counts is the
//! same whether a capture is packed or not.

use hashbrown::HashSet;

/// Dwords among which a value counts once, at least.
const WINDOW: usize = 1 << 15;

/// The values that came lately.
#[derive(Default)]
pub(super) struct Novelty {
    /// Of the dwords since the last turn.
    now: HashSet<u32>,
    /// Of the [`WINDOW`] dwords before.
    before: HashSet<u32>,
    /// Dwords since the last turn.
    since: usize,
    last: u32,
}

impl Novelty {
    /// How many dwords of `contents`, which come next, are new.
    pub(super) fn count(&mut self, contents: &[u8]) -> u64 {
        let dwords = contents.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        dwords.map(|dword| u64::from(self.is_new(dword))).sum()
    }

    fn is_new(&mut self, dword: u32) -> bool {
        self.since += 1;
        if self.since == WINDOW {
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.clear();
            self.since = 0;
        }
        // Most come in runs.
        if dword == 0 || dword == self.last {
            return false;
        }
        self.last = dword;
        self.now.insert(dword) && !self.before.contains(&dword)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(dwords: impl IntoIterator<Item = u32>) -> u64 {
        let bytes: Vec<u8> = dwords.into_iter().flat_map(u32::to_le_bytes).collect();
        Novelty::default().count(&bytes)
    }

    #[test]
    fn patterns_count_once() {
        let long = 20 * WINDOW;
        assert_eq!(count(std::iter::repeat_n(0, long)), 0);
        assert_eq!(count(std::iter::repeat_n(7, long)), 1);
        for period in [2, 1000, WINDOW] {
            let pattern = (0..long).map(|i| (i % period) as u32 + 1);
            assert_eq!(count(pattern), period as u64, "{period}");
        }
    }

    #[test]
    fn what_no_window_holds_counts_again() {
        assert_eq!(count((0..1 << 20).map(|i| i + 1)), 1 << 20);
        let round = || (0..3 * WINDOW as u32).map(|i| i + 1);
        assert_eq!(count(round().chain(round())), 6 * WINDOW as u64);
    }

    #[test]
    fn pieces_count_like_the_whole() {
        let bytes: Vec<u8> = (0..1u32 << 16).flat_map(|i| (i / 3 * 7919).to_le_bytes()).collect();
        let mut pieces = Novelty::default();
        let sum: u64 = bytes.chunks(400).map(|piece| pieces.count(piece)).sum();
        assert_eq!(sum, Novelty::default().count(&bytes));
    }
}
