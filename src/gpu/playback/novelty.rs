//! Measure of how much of a capture's contents is new.
//!
//! A kilobyte of a packed file can hold a megabyte of zeros, or of any other pattern. So the number of bytes
//! does not measure how much was recorded. Only data that does not pack counts: a dword counts if it is not
//! zero and none of the last [`WINDOW`] dwords had its value. DEFLATE repeats data from up to 32 KB back, at
//! any of the four byte offsets in a dword. The window covers that. So each dword that counts has cost about
//! a byte of the file. The count is the same for packed and unpacked captures.

/// Fewest dwords after which a value can count again.
const WINDOW: u32 = 1 << 15;

/// Bits of a place in the table. The table has twice as many places as values that two windows can hold.
const PLACE_BITS: u32 = 17;

/// Places where a value may be. If all are taken, the value does not count, so crowding them has no
/// advantage.
const PLACES: usize = 8;

/// A value, and the window of its last occurrence.
#[derive(Clone, Copy, Default)]
struct Seen {
    dword: u32,
    /// Number of the window; 0 if never.
    window: u32,
}

/// The recent values.
pub(super) struct NewDwordCounter {
    seen: Vec<Seen>,
    /// Number of the current window, and the number of dwords in it.
    window: u32,
    filled: u32,
    last: u32,
}

impl Default for NewDwordCounter {
    fn default() -> Self {
        Self { seen: vec![Seen::default(); (1 << PLACE_BITS) + PLACES], window: 2, filled: 0, last: 0 }
    }
}

impl NewDwordCounter {
    /// Number of new dwords in `contents`, which follow the contents before.
    pub(super) fn count(&mut self, contents: &[u8]) -> u64 {
        let (lines, rest) = contents.as_chunks::<64>();
        let lines = lines.iter().map(|line| match *line == [0; 64] {
            true => {
                self.pass(16);
                0
            }
            false => self.count_dwords(line),
        });
        lines.sum::<u64>() + self.count_dwords(rest)
    }

    fn count_dwords(&mut self, bytes: &[u8]) -> u64 {
        let dwords = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        dwords.map(|dword| u64::from(self.is_new(dword))).sum()
    }

    /// Advances the window by `dwords`.
    fn pass(&mut self, dwords: u32) {
        self.filled += dwords;
        if self.filled >= WINDOW {
            self.filled -= WINDOW;
            self.window = self.window.saturating_add(1);
        }
    }

    fn is_new(&mut self, dword: u32) -> bool {
        self.pass(1);
        // Most repeated values come in runs.
        if dword == 0 || dword == self.last {
            return false;
        }
        self.last = dword;
        let first = (dword.wrapping_mul(0x9e37_79b1) >> (32 - PLACE_BITS)) as usize;
        let window = self.window;
        let is_recent = |seen: &Seen| seen.window + 1 >= window;
        let places = &mut self.seen[first..first + PLACES];
        if let Some(seen) = places.iter_mut().find(|seen| seen.dword == dword && is_recent(seen)) {
            seen.window = window;
            return false;
        }
        let free = places.iter_mut().find(|seen| !is_recent(seen));
        free.map(|seen| *seen = Seen { dword, window }).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(dwords: impl IntoIterator<Item = u32>) -> u64 {
        let bytes: Vec<u8> = dwords.into_iter().flat_map(u32::to_le_bytes).collect();
        NewDwordCounter::default().count(&bytes)
    }

    #[test]
    fn patterns_count_once() {
        let long = 20 * WINDOW as usize;
        assert_eq!(count(std::iter::repeat_n(0, long)), 0);
        assert_eq!(count(std::iter::repeat_n(7, long)), 1);
        assert_eq!(count((0..long).map(|i| u32::from(i % 40 == 0))), 1);
        for period in [2, 1000, WINDOW as usize] {
            let pattern = (0..long).map(|i| (i % period) as u32 + 1);
            assert_eq!(count(pattern), period as u64, "{period}");
        }
    }

    #[test]
    fn dwords_outside_the_window_count_as_new() {
        assert_eq!(count((0..1 << 20).map(|i| i + 1)), 1 << 20);
        let round = || (0..3 * WINDOW).map(|i| i + 1);
        assert_eq!(count(round().chain(round())), 6 * u64::from(WINDOW));
    }

    /// Many values that hash to the same places.
    #[test]
    fn crowding_gains_nothing() {
        // Multiples of the factor's inverse: their products are consecutive.
        let inverse =
            (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(x.wrapping_mul(0x9e37_79b1))));
        let crowd = (0..1000).map(|i| inverse.wrapping_mul(i + 1));
        assert_eq!(count(crowd.cycle().take(1 << 20)), PLACES as u64);
    }

    #[test]
    fn pieces_count_like_the_whole() {
        let bytes: Vec<u8> = (0..1u32 << 16).flat_map(|i| (i / 3 * 7919).to_le_bytes()).collect();
        let mut pieces = NewDwordCounter::default();
        let sum: u64 = bytes.chunks(400).map(|piece| pieces.count(piece)).sum();
        assert_eq!(sum, NewDwordCounter::default().count(&bytes));
    }
}
