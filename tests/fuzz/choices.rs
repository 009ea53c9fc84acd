//! The source of random choices: the bytes of a fuzzer's input, then pseudo-random numbers seeded by them, so
//! that short inputs suffice.

/// A sequence of choices.
pub struct Choices<'a> {
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Choices<'a> {
    /// The choices that follow from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        let state = bytes.iter().fold(0x2545_f491_4f6c_dd1d, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        });
        Self { bytes, state: state | 1 }
    }

    /// Returns any number.
    pub fn word(&mut self) -> u32 {
        if let Some((chunk, rest)) = self.bytes.split_first_chunk::<4>() {
            self.bytes = rest;
            return u32::from_le_bytes(*chunk);
        }
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.word() as usize % limit.max(1)
    }

    /// One element of `all`.
    pub fn of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let index = self.below(all.len());
        all.get(index)
    }

    /// A value that is likely to cause errors, usually near `old`.
    pub fn near(&mut self, old: u32) -> u32 {
        match self.below(8) {
            0 => self.word(),
            1 => u32::MAX >> self.below(32),
            2 => old.wrapping_add(1),
            3 => old.wrapping_sub(1),
            4 => old << 16,
            5 => old.swap_bytes(),
            _ => old ^ 1 << self.below(32),
        }
    }
}
