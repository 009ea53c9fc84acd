//! Doubts: places in a program that may rest on a guess, with the reach of their result.
//!
//! A watched program ([`super::Program::watched`]) has a [`Doubt`] before each operation that may rest on a
//! guess. When it executes, the doubt checks whether another rule would give another result for the actual
//! values. Programs that are not watched have no doubts, and no cost.
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Reg, Round, Type};
use a4emu_decoder::guesses::Guess;
use multiversion::multiversion;

use super::alu::{Alu, Row};
use super::chosen::{Chooser, Way};
use super::effect::{Effect, File, Gather};
use super::environment::Environment;
use super::extra::Extra;
use super::lanes::{LANES, Lanes, Mask, lanes_of};
use super::ops::{Op, Question, Sample};
use super::reach::Reach;
use super::rowmap::{ADDRESS, HALF, REGISTERS};
use super::rows::AluOp;
use super::run::indexed;
use super::warp::Warp;

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
    rows: [Row; 3],
    and: [u32; 3],
    xor: [u32; 3],
    /// Number of sources in use.
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

/// Whether an operation on `sources` rests on `guess` in a lane of `mask`, so that another rule would give
/// another result. It has no branch per lane, so it takes about as long as the operation.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn decides(guess: Guess, rows: [&Lanes; 3], sources: &Sources, mask: Mask) -> bool {
    let values: [[u32; LANES]; 3] = std::array::from_fn(|n| {
        std::array::from_fn(|lane| (rows[n].0[lane] & sources.and[n]) ^ sources.xor[n])
    });
    let float = |n: usize, lane: usize| f32::from_bits(values[n][lane]);
    match guess {
        Guess::MadRoundsTwice => any_lane(
            mask,
            #[inline(always)]
            |lane| {
                let [a, b, c] = [0, 1, 2].map(|n| float(n, lane));
                let (once, twice) = (a.mul_add(b, c), a * b + c);
                (once.to_bits() != twice.to_bits()) & !(once.is_nan() & twice.is_nan())
            },
        ),
        Guess::NanMinMax | Guess::NanCompare => any_lane(
            mask,
            #[inline(always)]
            |lane| float(0, lane).is_nan() | float(1, lane).is_nan(),
        ),
        Guess::NanSaturate => any_lane(
            mask,
            #[inline(always)]
            |lane| float(0, lane).is_nan(),
        ),
        Guess::Denormals => (0..sources.count).any(|n| {
            any_lane(
                mask,
                #[inline(always)]
                |lane| values[n][lane] & 0x7f80_0000 == 0 && values[n][lane] & 0x007f_ffff != 0,
            )
        }),
        Guess::HalfRounding => any_lane(
            mask,
            #[inline(always)]
            |lane| below_half(values[0][lane]) != 0 && !float(0, lane).is_nan(),
        ),
        Guess::CovHalfTruncates => any_lane(
            mask,
            #[inline(always)]
            |lane| rounds_up(values[0][lane]),
        ),
        _ => mask != 0,
    }
}

/// Whether `holds` is true for one of the lanes of `mask`.
#[inline(always)]
fn any_lane(mask: Mask, holds: impl Fn(usize) -> bool) -> bool {
    (0..LANES).fold(0, |any, lane| any | (u32::from(holds(lane)) & mask >> lane)) & 1 != 0
}

/// Number of fraction bits of an f32 that an f16 of its exponent cannot hold. The implicit leading 1 counts.
#[inline(always)]
fn bits_below_half(bits: u32) -> u32 {
    // 2^-14 is the smallest f16 with 11 bits. Each lower power of two has one bit less.
    (126 - (bits >> 23 & 0xff).clamp(102, 113)).clamp(13, 24)
}

/// The part of an f32 (not NaN) that an f16 loses. 0 if the f16 has the same value.
#[inline(always)]
fn below_half(bits: u32) -> u32 {
    let exponent = bits >> 23 & 0xff;
    let fraction = bits & 0x007f_ffff | u32::from(exponent > 0) << 23;
    let lost = fraction & ((1 << bits_below_half(bits)) - 1);
    let is_finite_but_too_large = exponent > 142 && exponent < 255;
    let is_too_small = exponent < 102 && fraction != 0;
    lost | u32::from(is_finite_but_too_large | is_too_small)
}

/// Whether rounding an f32 to even and truncating it give different f16 values.
#[inline(always)]
fn rounds_up(bits: u32) -> bool {
    let exponent = bits >> 23 & 0xff;
    let below = bits_below_half(bits);
    let fraction = bits & 0x007f_ffff | u32::from(exponent > 0) << 23;
    let (lost, half) = (fraction & ((1 << below) - 1), 1 << (below - 1));
    let is_odd = fraction >> below & 1 == 1;
    let rounds = (lost > half) | ((lost == half) & is_odd);
    (exponent < 255) & ((exponent > 142) | ((exponent >= 102) & rounds))
}

impl Warp {
    /// Evaluates `doubt` in the lanes of `mask`, and reports to the environment if it rests on the guess.
    pub(super) fn doubt(&self, doubt: &Doubt, mask: Mask, environment: &mut impl Environment) {
        let reach = doubt.reach;
        let counted = mask & self.live;
        match &doubt.when {
            _ if counted == 0 => {}
            When::Always(guess) => environment.note_guess(*guess, reach),
            When::Sources(guess, sources) => {
                if decides(*guess, sources.rows.map(|row| self.row(row)), sources, counted) {
                    environment.note_guess(*guess, reach);
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
                    environment.note_guess(Guess::RelativeOutside, reach);
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

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::ir3::convert::convert;

    use super::*;

    /// f32 values with all exponents, critical fractions and both signs.
    fn floats() -> impl Iterator<Item = u32> {
        let fractions =
            (0..=23).flat_map(|bit| [1 << bit, (1 << bit) - 1, (1 << bit) + 1, 3 << bit, 5 << bit]);
        let fractions: Vec<u32> = fractions.chain([0x7f_f000, 0x7f_efff, 0x7f_dfff]).collect();
        (0..512).flat_map(move |sign_exponent| {
            fractions.clone().into_iter().map(move |fraction| sign_exponent << 23 | fraction & 0x7f_ffff)
        })
    }

    fn rests(guess: Guess, bits: u32) -> bool {
        let sources = Sources { rows: [0; 3], and: [!0; 3], xor: [0; 3], count: 1 };
        let mut row = Lanes([0; LANES]);
        row.0[5] = bits;
        let on = |mask| decides(guess, [&row; 3], &sources, mask);
        assert!(!on(!(1 << 5)), "only lanes of the mask count");
        on(1 << 5)
    }

    #[test]
    fn a_conversion_to_half_rests_on_its_rounding_where_that_changes_the_result() {
        for bits in floats().filter(|bits| !f32::from_bits(*bits).is_nan()) {
            let half = |round| convert(bits, Type::F32, Type::F16, round);
            let back = convert(half(Round::Even), Type::F16, Type::F32, Round::Default);
            assert_eq!(rests(Guess::HalfRounding, bits), back != bits, "{bits:#x}");
            let differs = half(Round::Default) != half(Round::Even);
            assert_eq!(rests(Guess::CovHalfTruncates, bits), differs, "{bits:#x}");
        }
    }

    #[test]
    fn an_operation_rests_on_what_is_done_with_denormals_where_a_source_is_one() {
        for bits in floats() {
            assert_eq!(rests(Guess::Denormals, bits), f32::from_bits(bits).is_subnormal(), "{bits:#x}");
        }
    }
}
