//! Category 7: barriers (ir3-cat7.xml).
//!
//! ```text
//! 51 .w  52 .r  53 .l  54 .g  58:55 opcode
//! ```
use super::bits::{bit, field, put};
use super::rows::opcodes;

/// What a category-7 op does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat7Class {
    /// Waits, for fibers or for memory.
    Barrier,
}

/// Category 7 rows: `{ opcode, Variant, "mnemonic", Class }`. The cache ops of
/// later generations are no rows of an A4xx.
#[macro_export]
macro_rules! for_each_cat7 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Bar, "bar", Barrier }
            { 1, Fence, "fence", Barrier }
        }
    };
}

for_each_cat7!(
    opcodes,
    /// The ops of category 7.
    Cat7Op,
    Cat7Class
);

/// An instruction of category 7.
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
}

/// A bit that Mesa sets in every barrier (`x1xxxx` over 50:45 in ir3-cat7.xml).
const ALWAYS: u64 = 1 << 49;

impl Cat7 {
    /// The fields of `word`; `None` for an opcode without a row.
    pub(super) fn decode(word: u64) -> Option<Self> {
        Some(Self {
            op: Cat7Op::from_bits(field(word, 55, 4) as u8)?,
            global: bit(word, 54),
            local: bit(word, 53),
            read: bit(word, 52),
            write: bit(word, 51),
        })
    }

    /// The bits of the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        put(7u8, 61)
            | put(self.op.bits(), 55)
            | put(self.global, 54)
            | put(self.local, 53)
            | put(self.read, 52)
            | put(self.write, 51)
            | ALWAYS
    }
}
