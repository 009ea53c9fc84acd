//! Category 4: special functions (ir3-cat4.xml).
//!
//! ```text
//! 15:0 SRC  39:32 DST  41:40 repeat  42 (sat)  43 SRC (r)  46 DST_CONV  52 FULL  58:53 opcode
//! ```
use super::bits::{bit, field, put};
use super::multisrc;
use super::operand::{Operand, Reg};
use super::rows::opcodes;
use crate::evaluate;

/// The operand type of a category-4 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat4Class {
    /// `|a: f32| -> f32`; half sources are converted, half results rounded once.
    Float1,
}

/// Category 4 rows: `{ opcode, Variant, "mnemonic", Class, denormals, use, semantics }`,
/// as in category 2.
#[macro_export]
macro_rules! for_each_cat4 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Rcp, "rcp", Float1, Flush, Common, |a| $crate::adreno::ir3::float::rcp(a) }
            { 1, Rsq, "rsq", Float1, Flush, Common, |a| $crate::adreno::ir3::float::rsq(a) }
            { 2, Log2, "log2", Float1, Flush, Common, |a| $crate::adreno::ir3::float::log2(a) }
            { 3, Exp2, "exp2", Float1, Flush, Common, |a| $crate::adreno::ir3::float::exp2(a) }
            { 4, Sin, "sin", Float1, Flush, Common, |a| $crate::adreno::ir3::float::sin(a) }
            { 5, Cos, "cos", Float1, Flush, Common, |a| $crate::adreno::ir3::float::cos(a) }
            { 6, Sqrt, "sqrt", Float1, Flush, Common, |a| a.sqrt() }
            { 9, Hrsq, "hrsq", Float1, Flush, Rare, |a| $crate::adreno::ir3::float::rsq(a) }
            { 10, Hlog2, "hlog2", Float1, Flush, Rare, |a| $crate::adreno::ir3::float::log2(a) }
            { 11, Hexp2, "hexp2", Float1, Flush, Rare, |a| $crate::adreno::ir3::float::exp2(a) }
        }
    };
}

for_each_cat4!(
    opcodes,
    /// The ops of category 4.
    Cat4Op,
    Cat4Class
);
for_each_cat4!(evaluate, Cat4Op);

/// An instruction of category 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat4 {
    /// The op.
    pub op: Cat4Op,
    /// Destination.
    pub dst: Reg,
    /// Whether the destination is a half register.
    pub dst_half: bool,
    /// Whether the source is a half register.
    pub half: bool,
    /// (rptN): repeat N more times.
    pub repeat: u8,
    /// (sat): saturate the result.
    pub sat: bool,
    /// The source.
    pub src: Operand,
}

impl Cat4 {
    /// Decodes `word`; `None` if a field has no meaning.
    #[inline(always)]
    pub(super) fn decode(word: u64) -> Option<Self> {
        let half = !bit(word, 52);
        let dst = Reg(field(word, 32, 8) as u8);
        Some(Self {
            op: Cat4Op::from_bits(field(word, 53, 6) as u8)?,
            dst,
            dst_half: half != bit(word, 46) && dst.has_halves(),
            half,
            repeat: field(word, 40, 2) as u8,
            sat: bit(word, 42),
            src: multisrc::decode(field(word, 0, 16) as u16, bit(word, 43), half)?,
        })
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let converts = self.half != self.dst_half && !self.dst.is_predicate();
        put(4u8, 61)
            | put(self.op.bits(), 53)
            | put(!self.half, 52)
            | put(converts, 46)
            | put(self.src.step, 43)
            | put(self.sat, 42)
            | put(self.repeat & 3, 40)
            | put(self.dst.0, 32)
            | put(multisrc::encode(&self.src), 0)
    }
}
