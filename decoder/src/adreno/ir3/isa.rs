//! The generations of the instruction set. All read one table of rows; a row names the generations that have it.
use super::Instr;

/// A generation of the instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Isa {
    /// A3xx and A4xx.
    #[default]
    A4xx,
    /// A5xx.
    A5xx,
    /// A6xx.
    A6xx,
}

impl Isa {
    /// Every generation, from the oldest.
    pub const ALL: [Self; 3] = [Self::A4xx, Self::A5xx, Self::A6xx];

    /// The generation in a row, or `other` if the row names none.
    pub(super) const fn or(named: &[Self], other: Self) -> Self {
        if named.is_empty() { other } else { named[0] }
    }

    /// The instruction set of chips whose number begins with `generation`, if it is known.
    pub const fn of_generation(generation: u32) -> Option<Self> {
        match generation {
            3 | 4 => Some(Self::A4xx),
            5 => Some(Self::A5xx),
            6 => Some(Self::A6xx),
            _ => None,
        }
    }

    /// Decodes `word`. Never fails: see [`super::Body::Unknown`].
    pub fn decode(self, word: u64) -> Instr {
        // The decoder is compiled for each generation by itself: A4xx must not pay for the others.
        match self {
            Self::A4xx => Instr::decode(word),
            Self::A5xx => Instr::decode_in(Self::A5xx, word),
            Self::A6xx => Instr::decode_in(Self::A6xx, word),
        }
    }

    /// The name of the chips, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A4xx => "A4xx",
            Self::A5xx => "A5xx",
            Self::A6xx => "A6xx",
        }
    }

    /// Whether the (r) bits of an ALU instruction without repeat mean (nopN): from A5xx on (ir3-common.xml,
    /// `#cat2-cat3-nop-encoding`).
    pub const fn has_nops(self) -> bool {
        !matches!(self, Self::A4xx)
    }

    /// Whether a word must have each fixed bit of its form, as Mesa's disassembler asks for it. Words of A4xx
    /// with other fixed bits are printed with these bits behind the text.
    pub(super) const fn is_strict(self) -> bool {
        !matches!(self, Self::A4xx)
    }

    /// Whether hr0.x and hr0.y are the halves of r0.x. Before A6xx, half registers are a file of their own
    /// (ir3_compiler.c, `mergedregs`).
    pub const fn merges_halves(self) -> bool {
        matches!(self, Self::A6xx)
    }

    /// Whether r48.x and the registers after it are shared: one value for all fibers of a wave
    /// (ir3_compiler.c, `has_shared_regfile`: from A5xx on).
    pub const fn has_shared(self) -> bool {
        !matches!(self, Self::A4xx)
    }

    /// Registers of an address in global memory: from A5xx on it has 64 bits.
    pub const fn address_registers(self) -> u8 {
        match self {
            Self::A4xx => 1,
            Self::A5xx | Self::A6xx => 2,
        }
    }
}
