//! Integer sequences, and their conversion to weights and colours.
//!
//! Source: Khronos Data Format Specification 1.3, sections 23.11 to 23.13 and 23.17.

/// A range of values from 0 to below `base << bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// 1 (bits only), 3 (five values share eight bits of trits) or 5 (three values share seven bits of
    /// quints).
    base: u32,
    bits: u32,
}

/// All ranges, in order of size.
pub(super) const RANGES: [Range; 21] = [
    range(1, 1),
    range(3, 0),
    range(1, 2),
    range(5, 0),
    range(3, 1),
    range(1, 3),
    range(5, 1),
    range(3, 2),
    range(1, 4),
    range(5, 2),
    range(3, 3),
    range(1, 5),
    range(5, 3),
    range(3, 4),
    range(1, 6),
    range(5, 4),
    range(3, 5),
    range(1, 7),
    range(5, 5),
    range(3, 6),
    range(1, 8),
];

const fn range(base: u32, bits: u32) -> Range {
    Range { base, bits }
}

/// A value of a sequence: its trit or quint, and its plain bits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Symbol {
    digit: u32,
    bits: u32,
}

/// A stream of the bits of a block, lowest first.
struct Stream(u128);

impl Stream {
    fn take(&mut self, count: u32) -> u32 {
        let taken = self.0 as u32 & ((1 << count) - 1);
        self.0 >>= count;
        taken
    }
}

impl Range {
    /// Number of bits of `count` values.
    pub fn length(self, count: u32) -> u32 {
        let shared = match self.base {
            3 => (8 * count).div_ceil(5),
            5 => (7 * count).div_ceil(3),
            _ => 0,
        };
        self.bits * count + shared
    }

    /// Reads values from the low end of `data`. Shared bits past the last value are 0.
    pub fn read(self, data: u128, out: &mut [Symbol]) {
        let mut stream = Stream(data);
        let shares: &[u32] = match self.base {
            3 => &[2, 2, 1, 2, 1],
            5 => &[3, 2, 2],
            _ => &[0],
        };
        for group in out.chunks_mut(shares.len()) {
            let (mut packed, mut at) = (0, 0);
            for (symbol, share) in group.iter_mut().zip(shares) {
                symbol.bits = stream.take(self.bits);
                packed |= stream.take(*share) << at;
                at += share;
            }
            let digits = if self.base == 3 { trits(packed) } else { quints(packed) };
            group.iter_mut().zip(digits).for_each(|(symbol, digit)| symbol.digit = digit);
        }
    }

    /// Converts to a colour value, 0..=255.
    pub fn color(self, symbol: Symbol) -> u8 {
        let x = symbol.bits >> 1;
        let (spread, factor) = match (self.base, self.bits) {
            (3, 1) => (0, 204),
            (3, 2) => (x << 8 | x << 4 | x << 2 | x << 1, 93),
            (3, 3) => (x << 7 | x << 2 | x, 44),
            (3, 4) => (x << 6 | x, 22),
            (3, 5) => (x << 5 | x >> 2, 11),
            (3, _) => (x << 4 | x >> 4, 5),
            (5, 1) => (0, 113),
            (5, 2) => (x << 8 | x << 3 | x << 2, 54),
            (5, 3) => (x << 7 | x << 1 | x >> 1, 26),
            (5, 4) => (x << 6 | x >> 1, 13),
            (5, _) => (x << 5 | x >> 3, 6),
            (_, bits) => return repeated(symbol.bits, bits, 8) as u8,
        };
        unfold(symbol, spread, factor, 9) as u8
    }

    /// Converts to a weight, 0..=64.
    pub fn weight(self, symbol: Symbol) -> u32 {
        let x = symbol.bits >> 1;
        let of_63 = match (self.base, self.bits) {
            (3, 0) => [0, 32, 63][symbol.digit as usize],
            (3, 1) => unfold(symbol, 0, 50, 7),
            (3, 2) => unfold(symbol, x << 6 | x << 2 | x, 23, 7),
            (3, _) => unfold(symbol, x << 5 | x, 11, 7),
            (5, 0) => [0, 16, 32, 47, 63][symbol.digit as usize],
            (5, 1) => unfold(symbol, 0, 28, 7),
            (5, _) => unfold(symbol, x << 6 | x << 1, 13, 7),
            (_, bits) => repeated(symbol.bits, bits, 6),
        };
        of_63 + u32::from(of_63 > 32)
    }
}

/// Repeats a number of `bits` bits until it fills `to` bits.
fn repeated(value: u32, bits: u32, to: u32) -> u32 {
    let copies = (0..to).step_by(bits.max(1) as usize).map(|at| value << to >> bits >> at);
    copies.fold(0, |all, copy| all | copy)
}

/// Converts a trit or quint with bits to a number of `width - 1` bits. The lowest bit mirrors the value.
fn unfold(symbol: Symbol, spread: u32, factor: u32, width: u32) -> u32 {
    let mirror = (symbol.bits & 1) * ((1 << width) - 1);
    let folded = (symbol.digit * factor + spread) ^ mirror;
    mirror & 1 << (width - 2) | folded >> 2
}

fn bit(value: u32, at: u32) -> u32 {
    value >> at & 1
}

/// Unpacks five trits from eight bits.
fn trits(packed: u32) -> [u32; 5] {
    let (rest, t3, t4) = match packed {
        _ if packed >> 2 & 7 == 7 => (packed >> 5 << 2 | packed & 3, 2, 2),
        _ if packed >> 5 & 3 == 3 => (packed & 31, bit(packed, 7), 2),
        _ => (packed & 31, packed >> 5 & 3, bit(packed, 7)),
    };
    let first = |low: u32, high: u32| high << 1 | low & !high;
    let (t0, t1, t2) = match rest {
        _ if rest & 3 == 3 => (first(bit(rest, 2), bit(rest, 3)), bit(rest, 4), 2),
        _ if rest >> 2 & 3 == 3 => (rest & 3, 2, 2),
        _ => (first(bit(rest, 0), bit(rest, 1)), rest >> 2 & 3, bit(rest, 4)),
    };
    [t0, t1, t2, t3, t4]
}

/// Unpacks three quints from seven bits.
fn quints(packed: u32) -> [u32; 5] {
    let low = bit(packed, 0);
    let (rest, q2) = match (packed >> 1 & 3, packed >> 5 & 3) {
        (3, 0) => return [4, 4, low << 2 | (bit(packed, 4) & !low) << 1 | bit(packed, 3) & !low, 0, 0],
        (3, high) => (packed >> 3 << 3 & 0x18 | (!high & 3) << 1 | low, 4),
        (_, high) => (packed & 31, high),
    };
    match rest & 7 {
        5 => [rest >> 3, 4, q2, 0, 0],
        first => [first, rest >> 3, q2, 0, 0],
    }
}
