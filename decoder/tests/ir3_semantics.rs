//! Tests the semantics of every pure ALU op on edge values.
use a4emu_decoder::adreno::ir3::convert::{convert, float_to_half, half_to_float};
use a4emu_decoder::adreno::ir3::{
    Cat0Op, Cat2Op, Cat3Op, Cat4Op, Cat5Op, Cat6Op, Cond, Instr, Round, Type, float, int,
};
use half::f16;
use pretty_assertions::assert_eq;
use std::collections::BTreeSet;

/// Evaluates a category-2 op on raw bits; compares use lt. `None` for ops with other effects.
fn cat2(op: Cat2Op, a: u32, b: u32, w: u32) -> Option<u32> {
    op.eval([a, b, 0], Cond::Lt, w)
}

fn saturating(op: Cat2Op, a: u32, b: u32, w: u32) -> Option<u32> {
    op.eval_saturated([a, b, 0], Cond::Lt, w)
}

fn halving(op: Cat2Op, a: u32, b: u32, w: u32) -> Option<u32> {
    op.eval_halved([a, b, 0], Cond::Lt, w)
}

fn cat3(op: Cat3Op, values: [u32; 3]) -> u32 {
    op.eval(values, Cond::Lt, 32).unwrap()
}

fn cat4(op: Cat4Op, a: f32) -> f32 {
    f32::from_bits(op.eval([a.to_bits(), 0, 0], Cond::Lt, 32).unwrap())
}

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const TINY: f32 = f32::from_bits(1);
const INT_MIN: u32 = 0x8000_0000;

#[test]
fn float_ops_at_their_edges() {
    use Cat2Op::*;
    let cases = [
        (AddF, INF, -INF, NAN),
        (AddF, TINY, TINY, f32::from_bits(2)),
        (AddF, -0.0, 0.0, 0.0),
        (AddF, f32::MAX, f32::MAX, INF),
        (MulF, 0.0, INF, NAN),
        (MulF, -0.0, 3.0, -0.0),
        (MulF, f32::MIN_POSITIVE, 0.5, f32::from_bits(0x0040_0000)),
        (MinF, NAN, 1.0, 1.0),
        (MinF, 1.0, NAN, 1.0),
        (MinF, NAN, NAN, NAN),
        (MinF, 0.0, -0.0, -0.0),
        (MinF, -INF, TINY, -INF),
        (MaxF, NAN, -1.0, -1.0),
        (MaxF, -1.0, NAN, -1.0),
        (MaxF, -INF, -TINY, -TINY),
        (SignF, -TINY, 0.0, -0.0),
        (SignF, INF, 0.0, 1.0),
        (SignF, -0.0, 0.0, -0.0),
        (SignF, NAN, 0.0, 0.0),
        (AbsnegF, -0.0, 0.0, -0.0),
        (FloorF, -0.5, 0.0, -1.0),
        (FloorF, -TINY, 0.0, -0.0),
        (CeilF, -0.5, 0.0, -0.0),
        (CeilF, TINY, 0.0, 0.0),
        (RndneF, 2.5, 0.0, 2.0),
        (RndneF, -3.5, 0.0, -4.0),
        (RndazF, 2.5, 0.0, 3.0),
        (RndazF, -0.5, 0.0, -1.0),
        (RndazF, 0.499_999_97, 0.0, 0.0),
        (TruncF, -1.9, 0.0, -1.0),
        (TruncF, NAN, 0.0, NAN),
        (FloorF, 1e30, 0.0, 1e30),
    ];
    for (op, a, b, expected) in cases {
        let result = f32::from_bits(cat2(op, a.to_bits(), b.to_bits(), 32).unwrap());
        let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
        assert!(same, "{} {a} {b}: {result}, not {expected}", op.name());
    }
}

/// Denormal sources are zero exactly for the ops that flush them.
#[test]
fn denormals_are_zero_where_it_shows() {
    const LEAST: u32 = 0x0000_0001;
    const GREATEST_NEGATIVE: u32 = 0x807f_ffff;
    let of = |op: Cat2Op, cond, src: [u32; 2]| op.eval([src[0], src[1], 0], cond, 32).unwrap();
    assert_eq!(of(Cat2Op::CmpsF, Cond::Eq, [LEAST, 0]), 1);
    assert_eq!(of(Cat2Op::CmpsF, Cond::Lt, [GREATEST_NEGATIVE, LEAST]), 0);
    assert_eq!(of(Cat2Op::CmpsU, Cond::Eq, [LEAST, 0]), 0, "integers have none");
    assert_eq!(of(Cat2Op::AbsnegF, Cond::Lt, [GREATEST_NEGATIVE, 0]), 0x8000_0000);
    assert_eq!(of(Cat2Op::MaxF, Cond::Lt, [LEAST, 0]), LEAST, "max keeps it");
}

#[test]
fn float_results_that_are_nan_are_canonical() {
    for nan in [0x7fc0_0000, 0xffc0_1234, 0xffa0_0001] {
        let results = [
            cat2(Cat2Op::AddF, nan, nan, 32),
            cat2(Cat2Op::MaxF, nan, nan, 32),
            Some(cat3(Cat3Op::MadF32, [nan; 3])),
            Some(cat4(Cat4Op::Rcp, f32::from_bits(nan)).to_bits()),
        ];
        assert_eq!(results, [Some(0x7fc0_0000); 4]);
    }
}

#[test]
fn integer_ops_at_their_edges() {
    use Cat2Op::*;
    let ones = u32::MAX;
    let cases = [
        (AddU, ones, 1, 32, 0),
        (AddS, 0x7fff_ffff, 1, 32, INT_MIN),
        (SubU, 0, 1, 32, ones),
        (SubS, INT_MIN, 1, 32, 0x7fff_ffff),
        (MinU, ones, 0, 32, 0),
        (MinS, ones, 0, 32, ones),
        (MaxU, INT_MIN, 5, 32, INT_MIN),
        (MaxS, INT_MIN, 5, 32, 5),
        (AbsnegS, INT_MIN, 0, 32, INT_MIN),
        (AndB, 0xff00, 0x0ff0, 32, 0x0f00),
        (OrB, 0xf0, 0x0f, 32, 0xff),
        (XorB, ones, INT_MIN, 32, 0x7fff_ffff),
        (NotB, 0, 0, 32, ones),
        (MulU24, 0xff00_0003, 0xff00_0005, 32, 15),
        (MulU24, 0x00ff_ffff, 0x00ff_ffff, 32, 0xfe00_0001),
        (MulS24, 0x00ff_ffff, 3, 32, 3u32.wrapping_neg()),
        (MulS24, 0x0080_0000, 0x0080_0000, 32, 0),
        (MullU, 0xdead_ffff, 0xbeef_ffff, 32, 0xfffe_0001),
        (BfrevB, 1, 0, 32, INT_MIN),
        (BfrevB, 1, 0, 16, 0x8000),
        (ClzB, 0, 0, 32, ones),
        (ClzB, 1, 0, 32, 31),
        (ClzB, 1, 0, 16, 15),
        (ClzB, INT_MIN, 0, 32, 0),
        (ClzS, 0, 0, 32, ones),
        (ClzS, ones, 0, 32, ones),
        (ClzS, INT_MIN, 0, 32, 1),
        (ClzS, 0x4000_0000, 0, 32, 1),
        (ClzS, 0xffff_fffe, 0, 16, 15),
        (ShlB, 1, 33, 32, 2),
        (ShlB, 1, 17, 16, 2),
        (ShrB, INT_MIN, 31, 32, 1),
        (AshrB, INT_MIN, 31, 32, ones),
        (AshrB, 0xffff_8000, 15, 16, ones),
        (AshrB, 8, 35, 32, 1),
        (CbitsB, 0xf00f, 0, 32, 8),
        (GetbitB, 0b100, 2, 32, 1),
        (MgenB, 4, 8, 32, 0xf00),
        (Shb, 8, 1, 32, 16),
        (Shb, 8, ones, 32, 4),
        (Msad, 0x0100_0203, 0x0505_0101, 32, 4 + 1 + 2),
        (CmpsU, INT_MIN, 0, 32, 0),
        (CmpsS, INT_MIN, 0, 32, 1),
        (CmpvS, INT_MIN, 0, 32, ones),
        (CmpvU, 0, 1, 32, ones),
    ];
    for (op, a, b, w, expected) in cases {
        assert_eq!(cat2(op, a, b, w), Some(expected), "{} {a:x} {b:x} {w}", op.name());
    }
}

#[test]
fn saturating_and_halving_adds() {
    use Cat2Op::*;
    let cases = [
        (AddU, 0xffff, 1, 16, 0xffff),
        (AddU, u32::MAX, 1, 32, u32::MAX),
        (AddS, 0x7fff, 1, 16, 0x7fff),
        (AddS, INT_MIN, u32::MAX, 32, INT_MIN),
        (SubU, 1, 2, 32, 0),
        (SubS, 0xffff_8000, 1, 16, 0xffff_8000),
        (SubS, 0x7fff_ffff, u32::MAX, 32, 0x7fff_ffff),
    ];
    for (op, a, b, w, expected) in cases {
        assert_eq!(saturating(op, a, b, w), Some(expected), "{} {a:x} {b:x}", op.name());
    }
    assert_eq!(halving(AddU, u32::MAX, u32::MAX, 32), Some(u32::MAX));
    assert_eq!(halving(AddS, INT_MIN, INT_MIN, 32), Some(INT_MIN));
    assert_eq!(halving(AddS, 3u32.wrapping_neg(), 0, 32), Some(2u32.wrapping_neg()));
    assert_eq!(saturating(MulF, 0, 0, 32), None);
}

#[test]
fn three_source_ops_at_their_edges() {
    use Cat3Op::*;
    let f = |v: f32| v.to_bits();
    let cases = [
        (MadU16, [0xffff, 0xffff, 1], 0xfffe_0002),
        (MadshU16, [2, 3, 1], 0x0006_0001),
        (MadS16, [u32::MAX, 2, 5], 3),
        (MadshM16, [0x0007_0003, 0x0005_0002, 9], 0x000f_0009),
        (MadU24, [0xff00_0002, 3, u32::MAX], 5),
        (MadS24, [0x00ff_ffff, 2, 0], 2u32.wrapping_neg()),
        // (1 + 2^-12) squared is 1 + 2^-11 + 2^-24. A fused mad would keep the last bit.
        (MadF32, [f(1.000_244_1), f(1.000_244_1), f(-1.000_488_3)], 0),
        (MadF32, [f(0.0), f(INF), f(1.0)], f(f32::NAN) | INT_MIN),
        (SelB32, [1, 0, 2], 2),
        (SelB32, [1, INT_MIN, 2], 1),
        (SelB16, [1, 1, 2], 1),
        (SelS32, [1, u32::MAX, 2], 2),
        (SelF32, [1, f(-0.0), 2], 1),
        (SadS32, [INT_MIN, 0, 1], 0x8000_0001),
        (SadS16, [u32::MAX, 1, 1], 3),
    ];
    for (op, values, expected) in cases {
        let result = cat3(op, values);
        let nan = f32::from_bits(result).is_nan() && f32::from_bits(expected).is_nan() && op == MadF32;
        assert!(result == expected || nan, "{} {values:x?}: {result:x}", op.name());
    }
}

#[test]
fn a_32_bit_product_is_mull_and_two_madsh() {
    for (a, b) in [(0xdead_beef, 0x1234_5678), (u32::MAX, u32::MAX), (0x8000_0001, 7)] {
        let low = cat2(Cat2Op::MullU, a, b, 32).unwrap();
        let mid = cat3(Cat3Op::MadshM16, [a, b, low]);
        let product = cat3(Cat3Op::MadshM16, [b, a, mid]);
        assert_eq!(product, a.wrapping_mul(b));
    }
}

/// Distance in units in the last place of f32 from the exact value.
fn ulps(result: f32, exact: f64) -> f64 {
    let near = exact as f32;
    let unit = f64::from(near.abs().next_up()) - f64::from(near.abs());
    (f64::from(result) - exact).abs() / unit
}

/// Every 16,411th f32 from `low` to `high`, both positive, and their negatives.
fn spread(low: f32, high: f32) -> impl Iterator<Item = f32> {
    (low.to_bits()..=high.to_bits()).step_by(16_411).map(f32::from_bits).flat_map(|x| [x, -x])
}

#[test]
fn special_functions_are_within_an_ulp() {
    use std::f32::consts::PI;
    let check = |op: Cat4Op, x: f32, exact: f64, most: f64| {
        let error = ulps(cat4(op, x), exact);
        assert!(error <= most, "{} {x:e}: {error} ulp", op.name());
    };
    for x in spread(f32::MIN_POSITIVE, 3e38) {
        let wide = f64::from(x);
        check(Cat4Op::Rcp, x, 1.0 / wide, 0.5001);
        if x > 0.0 {
            check(Cat4Op::Rsq, x, 1.0 / wide.sqrt(), 1.5);
            check(Cat4Op::Sqrt, x, wide.sqrt(), 0.5001);
            check(Cat4Op::Log2, x, wide.log2(), 0.51);
        }
    }
    for x in spread(1e-6, 126.0) {
        check(Cat4Op::Exp2, x, f64::from(x).exp2(), 0.51);
    }
    for x in spread(1e-6, PI) {
        check(Cat4Op::Sin, x, f64::from(x).sin(), 0.51);
        check(Cat4Op::Cos, x, f64::from(x).cos(), 0.51);
    }
}

#[test]
fn special_functions_at_their_edges() {
    use Cat4Op::*;
    let cases = [
        (Rcp, 0.0, INF),
        (Rcp, -0.0, -INF),
        (Rcp, -INF, -0.0),
        (Rcp, -TINY, -INF),
        (Rsq, 0.0, INF),
        (Rsq, INF, 0.0),
        (Rsq, -1.0, NAN),
        (Sqrt, -0.0, -0.0),
        (Sqrt, -1.0, NAN),
        (Sqrt, INF, INF),
        (Log2, 0.0, -INF),
        (Log2, -0.0, -INF),
        (Log2, -1.0, NAN),
        (Log2, 1.0, 0.0),
        (Log2, 8.0, 3.0),
        (Log2, TINY, -INF),
        (Log2, INF, INF),
        (Log2, NAN, NAN),
        (Exp2, 0.0, 1.0),
        (Exp2, 128.0, INF),
        (Exp2, -149.0, TINY),
        (Exp2, -151.0, 0.0),
        (Exp2, -INF, 0.0),
        (Exp2, INF, INF),
        (Exp2, NAN, NAN),
        (Sin, 0.0, 0.0),
        (Sin, -0.0, -0.0),
        (Sin, INF, NAN),
        (Sin, TINY, 0.0),
        (Cos, 0.0, 1.0),
        (Cos, -INF, NAN),
    ];
    for (op, a, expected) in cases {
        let result = cat4(op, a);
        let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
        assert!(same, "{} {a:e}: {result:e}, not {expected:e}", op.name());
    }
    for huge in [1e10, 1e20, f32::MAX, -f32::MAX] {
        assert!(cat4(Sin, huge).abs() <= 1.0 && cat4(Cos, huge).abs() <= 1.0, "{huge}");
    }
}

#[test]
fn halves_convert_like_ieee() {
    for bits in 0..=u16::MAX {
        let expected = f16::from_bits(bits).to_f32();
        let value = half_to_float(bits);
        assert!(value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(), "{bits:x}");
        if !value.is_nan() {
            for round in [Round::Default, Round::Even, Round::Up, Round::Down] {
                assert_eq!(float_to_half(value, round), bits, "{bits:x} {round:?}");
            }
        }
    }
    for value in (0..=u32::MAX).step_by(9_973).map(f32::from_bits).filter(|value| !value.is_nan()) {
        assert_eq!(float_to_half(value, Round::Even), f16::from_f32(value).to_bits(), "{value:e}");
        let (down, up) = (float_to_half(value, Round::Down), float_to_half(value, Round::Up));
        assert!(half_to_float(down) <= value && value <= half_to_float(up), "{value:e}");
        let zero = half_to_float(float_to_half(value, Round::Default));
        assert!(zero.abs() <= value.abs() && (zero.is_finite() || value.is_infinite()), "{value:e}");
        assert!(zero == half_to_float(down) || zero == half_to_float(up), "{value:e}");
    }
    assert!(half_to_float(float_to_half(NAN, Round::Default)).is_nan());
}

#[test]
fn conversions_at_their_edges() {
    use Type::*;
    let f = |v: f32| v.to_bits();
    let cases = [
        (f(-1.9), F32, S32, 1u32.wrapping_neg()),
        (f(-1.9), F32, U32, 0),
        (f(5e9), F32, U32, u32::MAX),
        (f(-5e9), F32, S32, INT_MIN),
        (f(NAN), F32, S32, 0),
        (f(40000.0), F32, S16, 0x7fff),
        (f(-1.0), F32, S16, 0xffff),
        (f(300.0), F32, U8, 0xff),
        (0x3c00, F16, S32, 1),
        (f(1.000_9), F32, F16, 0x3c00),
        (f(1e9), F32, F16, 0x7bff),
        (0x0001, F16, F32, f(5.960_464_5e-8)),
        (0x8000, F16, F32, f(-0.0)),
        (u32::MAX, U32, F32, f(4_294_967_300.0)),
        (u32::MAX, S32, F32, f(-1.0)),
        (0xffff, S16, S32, u32::MAX),
        (0xffff, U16, S32, 0xffff),
        (0x1ff, U8Wide, S16, 0xff),
        (0x1234_5678, U32, S16, 0x5678),
        (0x1234_5678, U32, U8, 0x78),
        (70000, U32, F16, 0x7c00),
        (2049, U32, F16, 0x6800),
        (0x1_7c01, F16, F16, 0x7c01),
    ];
    for (bits, src, dst, expected) in cases {
        assert_eq!(convert(bits, src, dst, Round::Default), expected, "{bits:x} {src:?} {dst:?}");
    }
    assert_eq!(convert(f(1.5), F32, S32, Round::Even), 2);
    assert_eq!(convert(f(1.1), F32, S32, Round::Up), 2);
    assert_eq!(convert(f(-1.1), F32, S32, Round::Down), 2u32.wrapping_neg());
    assert_eq!(convert(0x0100_0001, U32, F32, Round::Up), f(16_777_218.0));
}

#[test]
fn saturation_of_floats() {
    let cases = [(NAN, 0.0), (-0.0, 0.0), (INF, 1.0), (-INF, 0.0), (0.25, 0.25), (TINY, TINY)];
    for (value, expected) in cases {
        assert_eq!(float::saturate(value).to_bits(), f32::to_bits(expected), "{value}");
    }
    assert_eq!(int::sad(-5, 5, 1), 11);
}

#[test]
fn each_row_is_reached_by_its_opcode_and_its_name() {
    let mut names = BTreeSet::new();
    let mut unique = |name: &'static str| assert!(names.insert(name), "two rows are called {name}");
    macro_rules! each {
        ($($op:ident)*) => {$(
            for &op in $op::ALL {
                assert_eq!($op::from_bits(op.bits()), Some(op));
                assert_eq!($op::from_name(op.name()), Some(op));
                unique(op.name());
            }
        )*};
    }
    each!(Cat0Op Cat2Op Cat3Op Cat4Op Cat5Op Cat6Op);
    assert_eq!(Instr::decode(0).to_string(), "nop");
}
