//! Where a program rests on a guess, and how far what came of it reaches.
//!
//! A program that is lowered to be watched ([`super::Program::watched`]) has a [`Doubt`] before each operation that
//! may rest on one. When it is come by, the doubt looks whether it does: with these values, another rule
//! would give another result. Programs that nobody watches have none, and cost nothing.
use a4emu_decoder::guesses::Guess;
use a4emu_decoder::isa::ir3::access::FileReg;
use a4emu_decoder::isa::ir3::convert::convert;
use a4emu_decoder::isa::ir3::{Cat2Op, Cat3Op, Reg, Round, Type};

use super::alu::{Alu, Row};
use super::chosen::{Chooser, Way};
use super::effect::{Effect, File, Gather};
use super::environment::Environment;
use super::extra::Extra;
use super::lanes::{Mask, lanes_of};
use super::ops::{Op, Question, Sample};
use super::reach::Reach;
use super::rowmap::{ADDRESS, HALF, REGISTERS};
use super::rows::AluOp;
use super::run::indexed;
use super::warp::Warp;

/// A place in a program that may rest on a guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// What makes it rest on one.
    pub(super) when: When,
    /// Where the result may go.
    pub(super) reach: Reach,
}

/// What makes a place rest on a guess.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    /// That it is come by.
    Always(Guess),
    /// The values that the operation behind it takes.
    Sources(Guess, Sources),
    /// An address register outside of the file.
    Outside {
        /// Which file, where it is relative to.
        file: File,
        /// Index beside a0.x.
        offset: i32,
    },
    /// The texture and the sampler.
    Texture(Sample<Row>),
    /// Nothing: it is said which register a0.x chooses.
    Chosen {
        /// For whom.
        chooser: Chooser,
        /// Row of the register of index 0.
        base: Row,
        /// Index beside a0.x.
        offset: i32,
    },
}

/// Where an operation takes its values from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sources {
    rows: [Row; 3],
    and: [u32; 3],
    xor: [u32; 3],
    /// How many of them count.
    count: usize,
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

    /// The values in `lane`.
    fn values(&self, warp: &Warp, lane: usize) -> [u32; 3] {
        std::array::from_fn(|n| (warp.row(self.rows[n])[lane] & self.and[n]) ^ self.xor[n])
    }
}

impl When {
    /// Whatever is doubtful about `alu`.
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

    /// The register that a0.x chooses for `effect`, which belongs to instruction `at` of a program.
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

    /// Whatever is doubtful about `effect`.
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

/// The doubt that any operation on floats has.
fn denormals(alu: &Alu) -> When {
    When::Sources(Guess::Denormals, Sources::of(alu))
}

/// Ops of two sources whose meaning is their name's.
fn is_unused2(op: Cat2Op) -> bool {
    use Cat2Op::*;
    matches!(op, CmpvF | CmpvU | CmpvS | MgenB | GetbitB | Shb | Msad)
}

/// Ops of three sources whose meaning is their name's.
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

/// Whether an operation on the first `count` of these values rests on `guess`.
fn decides(guess: Guess, values: [u32; 3], count: usize) -> bool {
    let floats = values.map(f32::from_bits);
    let value = values[0];
    match guess {
        Guess::MadRoundsTwice => {
            let [a, b, c] = floats;
            let (once, twice) = (a.mul_add(b, c), a * b + c);
            once.to_bits() != twice.to_bits() && !(once.is_nan() && twice.is_nan())
        }
        Guess::NanMinMax | Guess::NanCompare => floats[..2].iter().any(|float| float.is_nan()),
        Guess::NanSaturate => floats[0].is_nan(),
        Guess::Denormals => floats[..count].iter().any(|float| float.is_subnormal()),
        Guess::HalfRounding => {
            let exact = convert(
                convert(value, Type::F32, Type::F16, Round::Even),
                Type::F16,
                Type::F32,
                Round::Default,
            );
            exact != value && !floats[0].is_nan()
        }
        Guess::CovHalfTruncates => {
            let to_half = |round| convert(value, Type::F32, Type::F16, round);
            to_half(Round::Default) != to_half(Round::Even)
        }
        _ => true,
    }
}

impl Warp {
    /// Tells the environment what `doubt` comes to in the lanes of `mask`.
    pub(super) fn doubt(&self, doubt: &Doubt, mask: Mask, environment: &mut impl Environment) {
        let reach = doubt.reach;
        let counted = mask & self.live;
        match &doubt.when {
            _ if counted == 0 => {}
            When::Always(guess) => environment.rests_on(*guess, reach),
            When::Sources(guess, sources) => {
                let mut lanes = lanes_of(counted);
                if lanes.any(|lane| decides(*guess, sources.values(self, lane), sources.count)) {
                    environment.rests_on(*guess, reach);
                }
            }
            When::Outside { file, offset } => {
                let address = self.row(ADDRESS);
                let len = match file {
                    File::Constants => self.constants().len(),
                    File::Registers(_) => usize::from(REGISTERS),
                };
                let is_outside = |lane: usize| {
                    let index = (address[lane] as i32).wrapping_add(*offset);
                    usize::try_from(index).map_or(true, |index| index >= len)
                };
                if lanes_of(counted).any(is_outside) {
                    environment.rests_on(Guess::RelativeOutside, reach);
                }
            }
            When::Chosen { chooser, base, offset } => {
                let address = self.row(ADDRESS);
                let reg = |lane: usize| {
                    let row = indexed(*base, (address[lane] as i32).wrapping_add(*offset))?;
                    Some(FileReg { half: *base == HALF, reg: Reg((row - base) as u8) })
                };
                environment.chooses(*chooser, &mut lanes_of(counted).filter_map(reg));
            }
            When::Texture(sample) => {
                environment.samples(&sample.map(&mut |row| self.row(row)), counted, reach);
            }
        }
    }
}
