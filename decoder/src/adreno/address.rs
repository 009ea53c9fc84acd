//! Addresses of GPU memory.

use std::fmt;
use std::ops::Add;

/// An address of GPU memory, of a chip of any generation. How many bits of it a chip has is said by its
/// [`Generation`](crate::generation::Generation); memory refuses what is above them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u64);

impl Address {
    /// The address of byte `byte`.
    pub const fn new(byte: u64) -> Self {
        Self(byte)
    }

    /// The address in two dwords, the low one first.
    pub const fn wide(low: u32, high: u32) -> Self {
        Self((high as u64) << 32 | low as u64)
    }

    /// The number of the byte.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The address in 32 bits; `None` if it is above 4 GiB, which no chip before A5xx reaches.
    pub const fn narrow(self) -> Option<u32> {
        if self.0 >> 32 == 0 { Some(self.0 as u32) } else { None }
    }
}

/// The address `bytes` further, which wraps at the end of 64 bits.
impl Add<u64> for Address {
    type Output = Self;

    fn add(self, bytes: u64) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl From<u32> for Address {
    fn from(byte: u32) -> Self {
        Self(byte.into())
    }
}

/// At least eight hexadecimal digits behind `0x`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// As the formatter says, such as `{:08x}` at the beginning of a line.
impl fmt::LowerHex for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_32_bits_and_grow_above() {
        for (byte, text, bare) in
            [(0x1000, "0x00001000", "00001000"), (0x12_3456_789a, "0x123456789a", "123456789a")]
        {
            let address = Address::new(byte);
            assert_eq!((address.to_string(), format!("{address:08x}")), (text.to_owned(), bare.to_owned()));
        }
        let [last, first] = [u64::from(u32::MAX), 1 << 32].map(Address::new);
        assert_eq!([last.narrow(), first.narrow()], [Some(u32::MAX), None]);
        assert_eq!(last + 1, first);
    }
}
