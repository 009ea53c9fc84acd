//! Tests of every operation's loops against its scalar reference, bit for bit, for each kind of CPU that this
//! machine can run.
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Cat4Op, Cond, Round, Type};
use a4emu_decoder::isa::pico;

use crate::alu::{self, Alu, Kernel};
use crate::extra::Extra;
use crate::lanes::{ALL, LANES, Lanes, Mask};
use crate::rowmap;
use crate::rows::{self, AluOp};

/// Floats and integers at the edges of the value ranges.
pub(crate) const EDGES: [u32; 24] = [
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

pub(crate) const MASKS: [Mask; 4] = [ALL, 0x5555_0f01, 1 << 31, 0];

/// The widest loops of this CPU, and those of AVX2. The scalar reference is compiled for the baseline.
const PATHS: [fn(AluOp) -> Kernel; 2] = [rows::kernel, rows::kernel_avx2];

/// Every operation that computes a value.
fn operations() -> Vec<AluOp> {
    let types = || Type::ALL.iter().copied();
    let pairs = types().flat_map(|from| types().map(move |to| (from, to)));
    let conversions =
        pairs.flat_map(|(from, to)| Round::ALL.iter().map(move |&r| AluOp::Convert(from, to, r)));
    let flagged = |op: &Cat2Op| [AluOp::Saturated(*op), AluOp::Halved(*op)];
    let ops = Cat2Op::ALL.iter().flat_map(flagged).chain(Cat2Op::ALL.iter().map(|&op| op.into()));
    let ops =
        ops.chain(Cat3Op::ALL.iter().map(|&op| op.into())).chain(Cat4Op::ALL.iter().map(|&op| op.into()));
    let ops =
        ops.chain(pico::Op::ALL.iter().map(|&op| op.into())).chain(Extra::ALL.iter().map(|&op| op.into()));
    ops.filter(|op: &AluOp| op.eval([0; 3], Cond::Lt, 32).is_some()).chain(conversions).collect()
}

/// Whether sources have sign modifiers.
pub(crate) fn is_float(op: AluOp) -> bool {
    match op {
        AluOp::Cat2(op) => op.class().is_float(),
        AluOp::Cat3(op) => op.class().is_float(),
        AluOp::Cat4(_) => true,
        _ => false,
    }
}

fn alu(op: impl Into<AluOp>, cond: Cond, width: u32) -> Alu {
    let op = op.into();
    let kernel = rows::kernel(op);
    let (and, xor) = match is_float(op) {
        true => ([u32::MAX, 0x7fff_ffff, u32::MAX], [0, 0, 0x8000_0000]),
        false => ([u32::MAX; 3], [0; 3]),
    };
    Alu { kernel, op, dst: 3, src: [0, 1, 2], and, xor, cond, width }
}

/// The value of one lane, without modifiers.
fn value(op: impl Into<AluOp>, cond: Cond, src: [u32; 3]) -> u32 {
    op.into().eval(src, cond, 32).unwrap()
}

/// Sources with every pair of edge values.
pub(crate) fn sources() -> Vec<[Lanes; 3]> {
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
    let before = file.clone();
    alu::run(&[*alu], &mut file, mask);
    for lane in 0..LANES {
        let expected = if mask >> lane & 1 != 0 { alu.value(&before, lane) } else { old[lane] };
        assert_eq!(file[3][lane], expected, "{alu:x?} of {sources:x?}, lane {lane}, mask {mask:x}");
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

pub(crate) fn is_compare(op: AluOp) -> bool {
    matches!(op, AluOp::Cat2(op) if op.class().has_cond())
}

#[test]
fn common_conversions_agree_with_the_general_one() {
    let pairs = [
        (Extra::UintToFloat, Type::U32, Type::F32),
        (Extra::SintToFloat, Type::S32, Type::F32),
        (Extra::FloatToUint, Type::F32, Type::U32),
        (Extra::FloatToSint, Type::F32, Type::S32),
    ];
    for (op, from, to) in pairs {
        for bits in EDGES.into_iter().chain((0..200).map(|n| n * 0x0147_ae13)) {
            let general = AluOp::Convert(from, to, Round::Default);
            assert_eq!(
                value(op, Cond::Lt, [bits; 3]),
                value(general, Cond::Lt, [bits; 3]),
                "{op:?} {bits:x}"
            );
        }
    }
}
