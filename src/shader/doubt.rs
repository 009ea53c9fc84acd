//! Doubts: places in a program that may rest on a guess, with the reach of their result.
//!
//! A watched program ([`super::Program::watched`]) has a [`Doubt`] before each operation that may rest on a
//! guess. When it executes, `doubted` checks whether another rule would give another result for the actual
//! values. Programs that are not watched have no doubts, and no cost.
use std::ops::{BitOr, BitOrAssign};

use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Round, Type};
use a4emu_decoder::guesses::Guess;

use super::alu::{Alu, Row};
use super::chosen::{Chooser, Way};
use super::effect::{Effect, File, Gather};
use super::extra::Extra;
use super::ops::{Op, Question, Sample};
use super::rows::AluOp;

/// The set of effects that a value may influence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach(u8);

impl Reach {
    /// Output of the stage. For fragments, pixels.
    pub const OUTPUT: Self = Self(1);
    /// Stored data.
    pub const MEMORY: Self = Self(2);
    /// Branches and kills.
    pub const CONTROL: Self = Self(4);
    /// Addresses of reads and writes, including texture coordinates.
    pub const ADDRESS: Self = Self(8);
    /// All effects.
    pub(super) const ALL: Self = Self(15);

    /// The names of the effects.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let names = ["output", "memory", "control", "address"];
        names.into_iter().enumerate().filter_map(move |(bit, name)| (self.0 >> bit & 1 != 0).then_some(name))
    }
}

impl BitOr for Reach {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Reach {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A place in a program that may rest on a guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// The condition under which it does.
    pub(super) when: When,
    /// The reach of the result.
    pub(super) reach: Reach,
}

/// Condition under which a place rests on a guess.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    /// Always, when it executes.
    Always(Guess),
    /// Depends on the source values of the next operation.
    Sources(Guess, Sources),
    /// When the index is outside of the register file.
    Outside {
        /// The indexed file.
        file: File,
        /// Offset that is added to a0.x.
        offset: i32,
    },
    /// Depends on the texture and the sampler.
    Texture(Sample<Row>),
    /// Never: only reports which register a0.x selects.
    Chosen {
        /// The operand.
        chooser: Chooser,
        /// Row of the register with index 0.
        base: Row,
        /// Offset that is added to a0.x.
        offset: i32,
    },
}

/// The sources of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sources {
    pub(super) rows: [Row; 3],
    pub(super) and: [u32; 3],
    pub(super) xor: [u32; 3],
    /// Number of sources in use.
    pub(super) count: usize,
}

impl Sources {
    fn of(alu: &Alu) -> Self {
        let count = match alu.op {
            AluOp::Cat3(_) => 3,
            AluOp::Cat2(op) if op.class().has_src2() => 2,
            _ => 1,
        };
        Self { rows: alu.src, and: alu.and, xor: alu.xor, count }
    }
}

impl When {
    /// The doubts about `alu`.
    pub fn of_alu(alu: &Alu) -> Vec<Self> {
        let guess = match alu.op {
            AluOp::Cat4(_) => return vec![Self::Always(Guess::SpecialFunctions), denormals(alu)],
            AluOp::Cat2(op) | AluOp::Saturated(op) | AluOp::Halved(op) if is_unused2(op) => {
                return vec![Self::Always(Guess::UnusedOps)];
            }
            AluOp::Cat3(op) if is_unused3(op) => return vec![Self::Always(Guess::UnusedOps)],
            AluOp::Convert(from, to, Round::Default) if from == Type::F32 && to == Type::F16 => {
                Some(Guess::CovHalfTruncates)
            }
            AluOp::Convert(from, to, round)
                if from.is_float() && !to.is_float() && round != Round::Default =>
            {
                return vec![Self::Always(Guess::CovIntegerRounds)];
            }
            AluOp::Cat3(Cat3Op::MadF32 | Cat3Op::MadF16) => Some(Guess::MadRoundsTwice),
            AluOp::Cat2(Cat2Op::MinF | Cat2Op::MaxF) => Some(Guess::NanMinMax),
            AluOp::Cat2(Cat2Op::CmpsF) => Some(Guess::NanCompare),
            AluOp::Extra(Extra::Saturate) => Some(Guess::NanSaturate),
            AluOp::Extra(Extra::FloatToHalf) => Some(Guess::HalfRounding),
            _ => None,
        };
        let guess = guess.map(|guess| Self::Sources(guess, Sources::of(alu)));
        guess.into_iter().chain(takes_floats(alu.op).then(|| denormals(alu))).collect()
    }

    /// The selection of a register by a0.x in `effect`, which belongs to instruction `at` of a program.
    pub fn of_choice(effect: &Effect, program: u64, at: u32) -> Option<Self> {
        let (way, base, offset) = match effect {
            Effect::Gather(Gather { file: File::Registers(base), offset, .. }) => {
                (Way::Reads, *base, *offset)
            }
            Effect::Scatter { base, offset, .. } => (Way::Writes, *base, *offset),
            _ => return None,
        };
        Some(Self::Chosen { chooser: Chooser { program, at, way }, base, offset })
    }

    /// The doubt about `effect`.
    pub fn of_effect(effect: &Effect) -> Option<Self> {
        match effect {
            Effect::Gather(Gather { file, offset, .. }) => {
                Some(Self::Outside { file: *file, offset: *offset })
            }
            Effect::Scatter { base, offset, .. } => {
                Some(Self::Outside { file: File::Registers(*base), offset: *offset })
            }
            Effect::Op(Op::Sample(sample), _) => Some(Self::Texture(*sample)),
            Effect::Op(Op::Query(query), _) if matches!(query.question, Question::Size(_)) => {
                Some(Self::Always(Guess::TexelOutside))
            }
            Effect::Op(Op::Varying(_), _) => Some(Self::Always(Guess::PlanePrecision)),
            _ => None,
        }
    }
}

/// The doubt about denormals, which any operation on floats has.
fn denormals(alu: &Alu) -> When {
    When::Sources(Guess::Denormals, Sources::of(alu))
}

/// Operations with two sources whose semantics are derived from their names.
fn is_unused2(op: Cat2Op) -> bool {
    use Cat2Op::*;
    matches!(op, CmpvF | CmpvU | CmpvS | MgenB | GetbitB | Shb | Msad)
}

/// Operations with three sources whose semantics are derived from their names.
fn is_unused3(op: Cat3Op) -> bool {
    use Cat3Op::*;
    matches!(op, MadshU16 | SelS16 | SelS32 | SelF16 | SelF32 | SadS16 | SadS32)
}

/// Whether an operation has f32 sources.
fn takes_floats(op: AluOp) -> bool {
    match op {
        AluOp::Cat2(op) => op.class().is_float(),
        AluOp::Cat3(op) => op.class().is_float(),
        AluOp::Cat4(_) => true,
        AluOp::Extra(op) => op == Extra::Saturate,
        AluOp::Saturated(_) | AluOp::Halved(_) | AluOp::Pico(_) | AluOp::Convert(..) => false,
    }
}
