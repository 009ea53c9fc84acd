//! Category 7: barriers and caches (ir3-cat7.xml).
//!
//! ```text
//! 58:55 opcode
//! barrier  51 .w  52 .r  53 .l  54 .g
//! cache    51 .all rather than .shr      sleep  51 .l rather than .s
//! ```
use super::bits::{bit, field, put};
use super::isa::Isa;
use super::rows::opcodes;

/// The effect of a category-7 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat7Class {
    /// Waits for fibers or for memory.
    Barrier,
    /// Waits for a short or a long time.
    Sleep,
    /// Operates on the instruction cache.
    Instructions,
    /// Operates on data caches: the shared one, or all.
    Data,
}

impl Cat7Class {
    /// The suffix of the mnemonic for bit 51 clear and set; `None` for ops without one.
    pub(super) const fn choice(self) -> Option<[&'static str; 2]> {
        match self {
            Self::Sleep => Some([".s", ".l"]),
            Self::Data => Some([".shr", ".all"]),
            Self::Barrier | Self::Instructions => None,
        }
    }
}

/// Category 7 rows: `{ opcode, Variant, "mnemonic", Class }`. Mesa names the ops from 2 on for every
/// generation. No A4xx program with one of them is known, and the emulator does not execute them.
#[macro_export]
macro_rules! for_each_cat7 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Bar, "bar", Barrier }
            { 1, Fence, "fence", Barrier }
            { 2, Sleep, "sleep", Sleep }
            { 3, Icinv, "icinv", Instructions }
            { 4, Dccln, "dccln", Data }
            { 5, Dcinv, "dcinv", Data }
            { 6, Dcflu, "dcflu", Data }
        }
    };
}

for_each_cat7!(
    opcodes,
    /// The ops of category 7.
    Cat7Op,
    Cat7Class
);

/// An instruction of category 7. Fields that the op's class does not use are false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat7 {
    /// The op.
    pub op: Cat7Op,
    /// `.g`: global memory.
    pub global: bool,
    /// `.l`: local memory.
    pub local: bool,
    /// `.r`: reads.
    pub read: bool,
    /// `.w`: writes.
    pub write: bool,
    /// Bit 51, the second of two suffixes: `.l` of sleep, `.all` of a cache.
    pub second: bool,
}

/// A bit that Mesa sets in every barrier (`x1xxxx` over 50:45 in ir3-cat7.xml).
const ALWAYS: u64 = 1 << 49;

impl Cat7 {
    /// Decodes `word`; `None` for an opcode without a row.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let op = Cat7Op::from_bits(field(word, 55, 4) as u8)?;
        let is_exact = match op.class() {
            Cat7Class::Barrier => word & ALWAYS != 0,
            Cat7Class::Data => !bit(word, 52),
            Cat7Class::Sleep | Cat7Class::Instructions => true,
        };
        if isa.is_strict() && !is_exact {
            return None;
        }
        let barrier = |at| op.class() == Cat7Class::Barrier && bit(word, at);
        Some(Self {
            op,
            global: barrier(54),
            local: barrier(53),
            read: barrier(52),
            write: barrier(51),
            second: op.class().choice().is_some() && bit(word, 51),
        })
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        put(7u8, 61)
            | put(self.op.bits(), 55)
            | put(self.global, 54)
            | put(self.local, 53)
            | put(self.read, 52)
            | put(self.write || self.second, 51)
            | if self.op.class() == Cat7Class::Barrier { ALWAYS } else { 0 }
    }
}
