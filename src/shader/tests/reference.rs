//! Every operation's loops against its scalar reference, bit for bit, on each
//! kind of CPU that this machine can play.
use a4emu_decoder::isa::ir3::{Cat2Op, Cond, Round, Type};

use crate::shader::alu::{self, Alu, Kernel};
use crate::shader::lanes::{ALL, LANES, Lanes, Mask};
use crate::shader::rowmap;
use crate::shader::rows::{self, AluOp, Halving, Saturating};

/// Floats and integers at the edges of what ops do.
const EDGES: [u32; 24] = [
    0x0000_0000, // 0, 0.0
    0x8000_0000, // -0.0, least s32
    0x3f80_0000, // 1.0
    0xbf80_0000, // -1.0
    0x3f00_0000, // 0.5
    0x3fc0_0000, // 1.5
    0xc020_0000, // -2.5
    0x4eff_ffff, // just below 2^31
    0x4f80_0000, // 2^32
    0xcf00_0000, // -2^31
    0x7f80_0000, // inf
    0xff80_0000, // -inf
    0x7fc0_0000, // NaN
    0xffa0_0001, // signalling NaN
    0x0000_0001, // least denormal
    0x807f_ffff, // greatest negative denormal
    0x7f7f_ffff, // greatest float
    0x7fff_ffff, // greatest s32
    0xffff_ffff,
    0x0000_ffff,
    0x0000_8000,
    0x0000_7c00, // inf as f16
    0x00ff_ffff, // greatest u24
    0x0000_001f,
];

const MASKS: [Mask; 4] = [ALL, 0x5555_0f01, 1 << 31, 0];

/// The best loops of this CPU, and AVX2's. The baseline is what the scalar
/// reference itself is compiled for.
const PATHS: [fn(AluOp) -> Kernel; 2] = [rows::kernel, rows::kernel_avx2];

fn operations() -> Vec<AluOp> {
    let flagged = [Cat2Op::AddU, Cat2Op::AddS, Cat2Op::SubU, Cat2Op::SubS];
    let saturating = flagged.iter().filter_map(|&op| Saturating::of(op)).map(AluOp::Saturating);
    let halving = flagged.iter().filter_map(|&op| Halving::of(op)).map(AluOp::Halving);
    let types = || Type::ALL.iter().copied();
    let pairs = types().flat_map(|from| types().map(move |to| (from, to)));
    let conversions =
        pairs.flat_map(|(from, to)| Round::ALL.iter().map(move |&r| AluOp::Convert(from, to, r)));
    let pure = AluOp::ALL.iter().copied().filter(|op| !matches!(op, AluOp::BaryF | AluOp::Setrm));
    pure.chain(saturating).chain(halving).chain(conversions).collect()
}

fn alu(op: AluOp, cond: Cond, width: u32) -> Alu {
    let kernel = rows::kernel(op);
    let (and, xor) = match op.is_float() {
        true => ([u32::MAX, 0x7fff_ffff, u32::MAX], [0, 0, 0x8000_0000]),
        false => ([u32::MAX; 3], [0; 3]),
    };
    Alu { kernel, op, dst: 3, src: [0, 1, 2], and, xor, cond, width }
}

/// Sources that bring every pair of edge values together.
fn sources() -> Vec<[Lanes; 3]> {
    let pairs = EDGES.len() * EDGES.len();
    let value = |n: usize, k: usize| {
        let n = n % pairs;
        [EDGES[n % EDGES.len()], EDGES[n / EDGES.len()], EDGES[(n * 7 + n / 24) % EDGES.len()]][k]
    };
    let warp =
        |base: usize| std::array::from_fn(|k| Lanes(std::array::from_fn(|lane| value(base + lane, k))));
    (0..pairs).step_by(LANES).map(warp).collect()
}

fn check(alu: &Alu, sources: &[Lanes; 3], mask: Mask) {
    let old = Lanes::splat(0xdead_beef);
    let mut file = vec![Lanes::ZERO; rowmap::UNIFORMS as usize];
    file[..4].copy_from_slice(&[sources[0], sources[1], sources[2], old]);
    alu::run(&[*alu], &mut file, mask);
    for lane in 0..LANES {
        let src = std::array::from_fn(|n| (sources[n][lane] & alu.and[n]) ^ alu.xor[n]);
        let expected = if mask >> lane & 1 != 0 { alu.scalar(src) } else { old[lane] };
        assert_eq!(file[3][lane], expected, "{alu:x?} of {src:x?}, lane {lane}, mask {mask:x}");
    }
}

#[test]
fn loops_give_what_the_scalar_rows_give() {
    let sources = sources();
    for op in operations() {
        let conds: &[Cond] = if is_compare(op) { Cond::ALL } else { &[Cond::Lt] };
        for (&cond, width) in conds.iter().flat_map(|cond| [(cond, 32), (cond, 16)]) {
            for path in PATHS {
                let alu = Alu { kernel: path(op), ..alu(op, cond, width) };
                for (n, sources) in sources.iter().enumerate() {
                    check(&alu, sources, MASKS[n % MASKS.len()]);
                }
                check(&alu, &sources[1], ALL);
            }
        }
    }
}

fn is_compare(op: AluOp) -> bool {
    use AluOp::{CmpsF, CmpsS, CmpsU, CmpvF, CmpvS, CmpvU};
    matches!(op, CmpsF | CmpsS | CmpsU | CmpvF | CmpvS | CmpvU)
}

#[test]
fn common_conversions_agree_with_the_general_one() {
    let pairs = [
        (AluOp::UintToFloat, Type::U32, Type::F32),
        (AluOp::SintToFloat, Type::S32, Type::F32),
        (AluOp::FloatToUint, Type::F32, Type::U32),
        (AluOp::FloatToSint, Type::F32, Type::S32),
    ];
    for (op, from, to) in pairs {
        for bits in EDGES.into_iter().chain((0..200).map(|n| n * 0x0147_ae13)) {
            let general = alu(AluOp::Convert(from, to, Round::Default), Cond::Lt, 32);
            assert_eq!(alu(op, Cond::Lt, 32).scalar([bits; 3]), general.scalar([bits; 3]), "{op:?} {bits:x}");
        }
    }
}

#[test]
fn float_results_that_are_nan_are_canonical() {
    for nan in [0x7fc0_0000, 0xffc0_1234, 0xffa0_0001] {
        for op in [AluOp::AddF, AluOp::MulF, AluOp::MadF32, AluOp::MaxF] {
            assert_eq!(alu(op, Cond::Lt, 32).scalar([nan; 3]), 0x7fc0_0000, "{op:?}");
        }
    }
}

#[test]
fn denormals_are_zero_where_it_shows() {
    const LEAST: u32 = 0x0000_0001;
    const GREATEST_NEGATIVE: u32 = 0x807f_ffff;
    let of =
        |op, cond, src: [u32; 2]| Alu { and: [u32::MAX; 3], ..alu(op, cond, 32) }.scalar([src[0], src[1], 0]);
    assert_eq!(of(AluOp::CmpsF, Cond::Eq, [LEAST, 0]), 1);
    assert_eq!(of(AluOp::CmpsF, Cond::Lt, [GREATEST_NEGATIVE, LEAST]), 0);
    assert_eq!(of(AluOp::Rcp, Cond::Lt, [GREATEST_NEGATIVE, 0]), 0xff80_0000, "-inf");
    assert_eq!(of(AluOp::FloorF, Cond::Lt, [GREATEST_NEGATIVE, 0]), 0x8000_0000, "-0, not -1");
    assert_eq!(of(AluOp::Copy, Cond::Lt, [LEAST, 0]), LEAST, "moves keep all bits");
    assert_eq!(of(AluOp::CmpsU, Cond::Eq, [LEAST, 0]), 0, "and so do integers");
}
