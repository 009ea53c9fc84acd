//! ir3, the shader instruction set of A3xx to A6xx. [`Isa`] is its generation, a parameter of all that reads or
//! writes words.
//!
//! One 64-bit word is one instruction. Each category is a file with its bit layout and one row per op. The
//! category's macro (`for_each_cat2!` and so on) passes the rows to a callback: here it makes the opcode
//! enumerations, in the emulator the loops over lanes. [`float`], [`int`] and [`convert`] hold the scalar
//! semantics that are longer than an expression.
//!
//! Decoding keeps every bit. Bits that the text does not show are kept in [`Instr::extra`] and printed after
//! the text as `{0x…}`. An unknown word is [`Body::Unknown`], printed as `raw 0x…`. So `encode(decode(x)) ==
//! x` and `parse(display(x)) == decode(x)` for every word.
pub mod access;
mod bits;
mod cat0;
mod cat1;
mod cat2;
mod cat3;
mod cat4;
mod cat5;
mod cat6;
mod cat7;
pub mod convert;
mod descriptor;
mod display;
pub mod float;
pub mod int;
mod isa;
pub mod layout;
mod line;
pub mod meaning;
mod multisrc;
mod operand;
mod parse;
pub mod program;
mod rows;

pub use cat0::{Cat0, Cat0Class, Cat0Op, Predicate};
pub use cat1::{Cat1, Cat1Class, Cat1Dst, Cat1Op, Cat1Src};
pub use cat2::{Cat2, Cat2Class, Cat2Op};
pub use cat3::{Cat3, Cat3Class, Cat3Op};
pub use cat4::{Cat4, Cat4Class, Cat4Op};
pub use cat5::{BindlessIndex, Cat5, Cat5Class, Cat5Op, Cat5Slots};
pub use cat6::{Cat6, Cat6Class, Cat6Form, Cat6Op, ConstantTarget, RegOrImm, ShuffleMode, View};
pub use cat7::{Cat7, Cat7Class, Cat7Op};
pub use descriptor::{Descriptor, DescriptorMode, Through};
pub use display::InProgram;
pub use isa::Isa;
pub use operand::{Cond, FLUT, FLUT_TEXT, Operand, Reg, Round, Src, Type};
pub use parse::{ParseError, parse};

use bits::{bit, field, put};

/// The flags that several categories share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// (sy): wait for texture and memory loads.
    pub sy: bool,
    /// (ss): wait for special functions and local memory.
    pub ss: bool,
    /// (jp): join point, the target of a branch.
    pub jp: bool,
    /// (ul): last use of a0 before it changes.
    pub ul: bool,
}

/// The op and operands of an instruction, by category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Flow control.
    Cat0(Cat0),
    /// Move and convert.
    Cat1(Cat1),
    /// Two-source ALU.
    Cat2(Cat2),
    /// Three-source ALU.
    Cat3(Cat3),
    /// Special functions.
    Cat4(Cat4),
    /// Textures and derivatives.
    Cat5(Cat5),
    /// Memory.
    Cat6(Cat6),
    /// Barriers.
    Cat7(Cat7),
    /// A word without a known meaning in its generation. All its bits are in [`Instr::extra`].
    Unknown,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// The generation whose word it is.
    pub isa: Isa,
    /// Shared flags.
    pub flags: Flags,
    /// The op and its operands.
    pub body: Body,
    /// Bits in which the word differs from the encoding of the other fields: bits that the op ignores. 0 in
    /// the output of compilers.
    pub extra: u64,
}

impl Instr {
    /// Decodes a word of an A4xx; [`Isa::decode`] decodes one of any generation.
    pub fn decode(word: u64) -> Self {
        Self::decode_in(Isa::A4xx, word)
    }

    #[inline(always)]
    fn decode_in(isa: Isa, word: u64) -> Self {
        let body = match field(word, 61, 3) {
            0 => Cat0::decode(isa, word).map(Body::Cat0),
            1 => Cat1::decode(isa, word).map(Body::Cat1),
            2 => Cat2::decode(isa, word).map(Body::Cat2),
            3 => Cat3::decode(isa, word).map(Body::Cat3),
            4 => Cat4::decode(word).map(Body::Cat4),
            5 => Cat5::decode(isa, word).map(Body::Cat5),
            6 => Cat6::decode(isa, word).map(Body::Cat6),
            _ => Cat7::decode(isa, word).map(Body::Cat7),
        };
        let Some(body) = body else {
            return Self { isa, flags: Flags::default(), body: Body::Unknown, extra: word };
        };
        let flags = Flags {
            sy: bit(word, 60),
            ss: body.has_ss() && bit(word, 44),
            jp: bit(word, 59),
            ul: body.has_ul() && bit(word, 45),
        };
        let instr = Self { isa, flags, body, extra: 0 };
        Self { extra: word ^ instr.encode(), ..instr }
    }

    /// Encodes the instruction as its word.
    pub fn encode(&self) -> u64 {
        let body = match &self.body {
            Body::Cat0(instr) => instr.encode(),
            Body::Cat1(instr) => instr.encode(),
            Body::Cat2(instr) => instr.encode(),
            Body::Cat3(instr) => instr.encode(),
            Body::Cat4(instr) => instr.encode(),
            Body::Cat5(instr) => instr.encode(self.isa),
            Body::Cat6(instr) => instr.encode(self.isa),
            Body::Cat7(instr) => instr.encode(),
            Body::Unknown => return self.extra,
        };
        let flags =
            put(self.flags.sy, 60) | put(self.flags.jp, 59) | put(self.flags.ss, 44) | put(self.flags.ul, 45);
        (body | flags) ^ self.extra
    }

    /// Whether the instruction is `end`.
    pub fn is_end(&self) -> bool {
        matches!(self.body, Body::Cat0(Cat0 { op: Cat0Op::End, .. }))
    }
}

impl Body {
    /// The mnemonic; `None` for an unknown word.
    pub const fn mnemonic(&self) -> Option<&'static str> {
        Some(match self {
            Self::Cat0(body) => body.op.name(),
            Self::Cat1(body) => body.op.name(),
            Self::Cat2(body) => body.op.name(),
            Self::Cat3(body) => body.op.name(),
            Self::Cat4(body) => body.op.name(),
            Self::Cat5(body) => body.op.name(),
            Self::Cat6(body) => body.op.name(),
            Self::Cat7(body) => body.op.name(),
            Self::Unknown => return None,
        })
    }

    /// Whether the category has the flag (ss) in bit 44.
    const fn has_ss(&self) -> bool {
        !matches!(self, Self::Cat5(_) | Self::Cat6(_) | Self::Unknown)
    }

    /// Whether the category has the flag (ul) in bit 45.
    const fn has_ul(&self) -> bool {
        matches!(self, Self::Cat1(_) | Self::Cat2(_) | Self::Cat3(_) | Self::Cat4(_))
    }
}
