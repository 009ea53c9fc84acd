//! Tests of compiled code against the interpreter, bit for bit.
mod pixels;

use a4emu_decoder::adreno::ir3::program::assemble;
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Cat4Op, Cond, Round, Type};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::machine::Machine;
use super::sampler_variants::SamplerVariants;
use super::segment::{Segment, SegmentPart};
use super::{Dwords, MAX_LOCKSTEP, Routine, Texels, WarpGroup, run, select};
use crate::Program;
use crate::alu::Alu;
use crate::effect::Effect;
use crate::extra::{self, Extra};
use crate::lowered::{Lowered, Step};
use crate::rows::{AluOp, kernel};
use crate::summary::Summary;
use crate::testing::asked_programs;
use crate::tests::reference::{EDGES, MASKS, is_compare, is_float, sources};
use crate::tests::seed::random_cases;
use crate::{
    ALL, ComponentSource, Environment, Killed, LANES, Lanes, Mask, Op, Outcome, Plain, PlainLevel, Reading,
    Refused, TexelExtent, Warp,
};

/// Instruction sets that this computer can run.
fn machines() -> Vec<Machine> {
    match Machine::here() {
        Some(Machine::Avx512) => vec![Machine::Avx512, Machine::Avx2],
        Some(Machine::Avx2) => vec![Machine::Avx2],
        None => vec![],
    }
}

/// Every operation that can be compiled, with its possible modifiers.
fn operations() -> Vec<Alu> {
    let ops = Cat2Op::ALL.iter().map(|&op| AluOp::from(op));
    let ops =
        ops.chain(Cat3Op::ALL.iter().map(|&op| op.into())).chain(Cat4Op::ALL.iter().map(|&op| op.into()));
    let ops = ops.chain(Extra::ALL.iter().map(|&op| op.into()));
    let halves = Round::ALL.iter().map(|&round| AluOp::Convert(Type::F32, Type::F16, round));
    let ops = ops.chain(halves);
    let mut all = Vec::new();
    for op in ops.filter(|op: &AluOp| op.eval([0; 3], Cond::Lt, 32).is_some()) {
        let conds: &[Cond] = if is_compare(op) { Cond::ALL } else { &[Cond::Lt] };
        let (and, xor) = match is_float(op) {
            true => ([u32::MAX, 0x7fff_ffff, u32::MAX], [0, 0, 0x8000_0000]),
            false => ([u32::MAX; 3], [0; 3]),
        };
        for (&cond, width) in conds.iter().flat_map(|cond| [(cond, 32), (cond, 16)]) {
            let alu = Alu { kernel: kernel(op), op, dst: 3, src: [0, 1, 2], and, xor, cond, width };
            all.extend(select::has_code(&alu).then_some(alu));
        }
    }
    all
}

/// A program of these operations, with an effect for each step.
fn program_of(steps: Vec<(Vec<Alu>, Effect)>) -> Program {
    let mut alus = Vec::new();
    let mut made = Vec::new();
    for (at, (operations, effect)) in (0..).zip(steps) {
        let first = alus.len() as u32;
        alus.extend(operations);
        made.push(Step { first, end: alus.len() as u32, instructions: 1, at, effect });
    }
    let (uniforms, zeroed, overwritten, summary) = (vec![], vec![], vec![], Summary::default());
    let sources = vec![0; alus.len()];
    Program::from(Lowered {
        alus,
        sources,
        steps: made,
        uniforms,
        constants: None,
        zeroed,
        overwritten,
        summary,
        bindless: vec![],
        instructions: 8,
        classes: vec![],
        watched: false,
        hash: 0,
    })
}

fn native(routine: &Routine) -> &Segment {
    let segment = routine.segments[0].as_ref().expect("a segment");
    assert!(matches!(segment.parts[..], [SegmentPart::Native(_)]), "all of it is compiled");
    segment
}

/// The rows after `program` ran in a warp whose lanes outside `mask` had ended.
fn left(program: &Program, routine: Option<&Routine>, sources: &[Lanes], mask: Mask) -> Vec<Lanes> {
    let mut warp = Warp::new(program, &[]);
    warp.restart(program, ALL, 0);
    warp.stop_lanes(!mask);
    warp.rows[..sources.len()].copy_from_slice(sources);
    let outcome = match routine {
        Some(routine) => run(program, routine, &mut warp, &mut ()),
        None => crate::run(program, &mut warp, &mut ()),
    };
    assert_eq!(outcome, Outcome::Ended);
    warp.rows[..192].to_vec()
}

#[test]
fn every_operation_gives_what_its_row_gives() {
    let sources = sources();
    for machine in machines() {
        for alu in operations() {
            // The result is also compared with itself, so that one copy need not be canonical.
            let with = |dst| Alu { dst, ..alu };
            // An effect after which lanes may have ended.
            let branch = Effect::Kill(crate::effect::Condition::If(crate::effect::Test {
                row: crate::rowmap::ZERO,
                sense: true,
            }));
            let program = program_of(vec![(vec![with(3), with(4), with(5)], branch), (vec![], Effect::End)]);
            let routine = Routine::for_machine(&program, machine).expect("code");
            native(&routine);
            for (n, sources) in sources.iter().enumerate() {
                let mask = MASKS[n % MASKS.len()];
                let mut rows = sources.to_vec();
                rows.extend([Lanes::splat(0xdead_beef); 3]);
                let left = left(&program, Some(&routine), &rows, mask);
                for lane in (0..LANES).filter(|_| mask != 0) {
                    let expected = if mask >> lane & 1 != 0 { alu.value(&rows, lane) } else { 0xdead_beef };
                    for row in &left[3..6] {
                        assert_eq!(row[lane], expected, "{machine:?} {alu:x?} {sources:x?} {lane} {mask:x}");
                    }
                }
            }
        }
    }
}

/// Every f16 becomes the f32 of the scalar row, and the f32 at, between and beside all f16 become its f16, in each rounding.
#[test]
fn every_half_is_converted_as_its_row_does() {
    let halves: Vec<u32> = (0..=0xffff).collect();
    let floats = |half: &u32| {
        let here = extra::to_float(*half);
        [here, here + 1, here.wrapping_sub(1), here + 0x1000, here + 0xfff, here + 0x1001]
    };
    let floats: Vec<u32> = halves.iter().flat_map(floats).collect();
    let narrowing = Round::ALL.iter().map(|&round| AluOp::Convert(Type::F32, Type::F16, round));
    for machine in machines() {
        let widening = (AluOp::Extra(Extra::HalfToFloat), &halves);
        for (op, values) in narrowing.clone().map(|op| (op, &floats)).chain([widening]) {
            let one = |dst| Alu {
                kernel: kernel(op),
                op,
                dst,
                src: [0; 3],
                and: [u32::MAX; 3],
                xor: [0; 3],
                cond: Cond::Lt,
                width: 32,
            };
            let program = program_of(vec![(vec![one(1), one(2), one(3)], Effect::End)]);
            let routine = Routine::for_machine(&program, machine).expect("code");
            native(&routine);
            for values in values.chunks(LANES) {
                let row = Lanes(std::array::from_fn(|lane| values[lane % values.len()]));
                let left = left(&program, Some(&routine), &[row], ALL);
                for lane in 0..LANES {
                    let expected = op.eval([row[lane]; 3], Cond::Lt, 32).unwrap();
                    assert_eq!(left[3][lane], expected, "{machine:?} {op:?} {:x}", row[lane]);
                }
            }
        }
    }
}

/// Results fill all registers and some lie in spill rows, so that storing one of those evicts another.
#[test]
fn a_result_that_is_evicted_at_the_end_is_stored() {
    const VALUES: u16 = 40;
    let op = AluOp::from(Cat2Op::AddU);
    let add = |dst, src| {
        let (and, xor) = ([u32::MAX; 3], [0; 3]);
        Alu { kernel: kernel(op), op, dst, src: [src, src, src], and, xor, cond: Cond::Lt, width: 32 }
    };
    let doubled = (0..VALUES).map(|n| add(VALUES + n, n));
    let again = (0..VALUES).map(|n| add(2 * VALUES + n, VALUES + n));
    let program = program_of(vec![(doubled.chain(again).collect(), Effect::End)]);
    let rows: Vec<Lanes> = (1..=u32::from(VALUES)).map(Lanes::splat).collect();
    for machine in machines() {
        let routine = Routine::for_machine(&program, machine).expect("code");
        native(&routine);
        for mask in MASKS.into_iter().filter(|mask| *mask != 0) {
            let expected = left(&program, None, &rows, mask);
            let got = left(&program, Some(&routine), &rows, mask);
            assert_eq!(got, expected, "{machine:?} {mask:x}");
        }
    }
}

/// A warp with an instruction limit below a straight-line program's length stops where the interpreter stops.
#[test]
fn a_limit_cuts_a_line_as_it_cuts_steps() {
    let op = AluOp::from(Cat2Op::AddU);
    let add = |dst| {
        let (and, xor) = ([u32::MAX; 3], [0; 3]);
        Alu { kernel: kernel(op), op, dst, src: [dst, 1, 2], and, xor, cond: Cond::Lt, width: 32 }
    };
    let step = |effect| (vec![add(3), add(4), add(5)], effect);
    let program = program_of(vec![step(Effect::Continue), step(Effect::Continue), step(Effect::End)]);
    let rows: Vec<Lanes> = (1..7).map(Lanes::splat).collect();
    for machine in machines() {
        let routine = Routine::for_machine(&program, machine).expect("code");
        assert!(routine.line.is_some());
        let left = |routine: Option<&Routine>, limit| {
            let mut warp = Warp::new(&program, &[]);
            warp.restart(&program, ALL, 0);
            warp.rows[..rows.len()].copy_from_slice(&rows);
            warp.limit = limit;
            let outcome = match routine {
                Some(routine) => run(&program, routine, &mut warp, &mut ()),
                None => crate::run(&program, &mut warp, &mut ()),
            };
            (outcome, warp.executed(), warp.rows[..6].to_vec())
        };
        for limit in 0..5 {
            assert_eq!(left(Some(&routine), limit), left(None, limit), "{machine:?} {limit}");
        }
    }
}

/// A random word of category 1 to 4 that only computes, on few registers.
fn computing_word() -> impl Strategy<Value = u64> {
    let word = (1u64..=4, any::<u64>()).prop_map(|(category, bits)| {
        let small = bits & !(0x00f0_00f0_0000_0000 | 0xf0 | 0xf0 << 16);
        category << 61 | small & !(7 << 61)
    });
    // Common operations more often than by random opcodes.
    let common = (0usize..12, any::<u64>()).prop_map(|(n, bits)| {
        let op = [0u64, 1, 2, 3, 5, 6, 9, 16, 28, 54, 48, 20][n];
        let registers = bits & 0x0000_000f_c00f_c00f & !(0x3800 | 0x3800 << 16);
        2 << 61 | op << 53 | 1 << 52 | (bits >> 7 & 3) << 48 | registers
    });
    prop_oneof![1 => word, 1 => common]
}

/// A random word: a short branch, or a compare that sets predicates.
fn flow_word() -> impl Strategy<Value = u64> {
    let branch = (any::<u32>(), -10i32..10)
        .prop_map(|(high, offset)| u64::from(high & 0x1fff_ffff) << 32 | u64::from(offset as u32));
    let compare = (0u64..6, 0u64..32, 0u64..4).prop_map(|(cond, immediate, component)| {
        2 << 61 | 20 << 53 | 1 << 52 | cond << 48 | (0xf8 + component) << 32 | (0x2000 | immediate) << 16
    });
    let derivative = (0u64..16, 0u64..16, 0u64..2).prop_map(|(dst, src, y)| {
        5 << 61 | (if y == 0 { 27 } else { 28 }) << 54 | 1 << 44 | 1 << 40 | dst << 32 | src << 1 | 1
    });
    prop_oneof![2 => branch, 1 => compare, 2 => derivative]
}

/// A random word that samples a texture, with implicit level or a level from a register.
fn sample_word() -> impl Strategy<Value = u64> {
    (prop::sample::select(vec![3u64, 5]), 0u64..16, 0u64..16, 0u64..16, 1u64..16).prop_map(
        |(op, dst, coords, level, components)| {
            let level = if op == 5 { level << 9 } else { 0 };
            5 << 61 | op << 54 | 1 << 44 | components << 40 | dst << 32 | level | coords << 1 | 1
        },
    )
}

/// An environment that knows the planes of all locations, and returns made-up numbers for other operations.
struct Numbers;

impl Environment for Numbers {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        match op {
            Op::Varying(varying) => {
                for (lane, out) in out[0].iter_mut().enumerate() {
                    let [v0, d1, d2] = plane(varying.location[lane] as u16, lane).map(f32::from_bits);
                    let (i, j) = (f32::from_bits(varying.i[lane]), f32::from_bits(varying.j[lane]));
                    *out = (v0 + (i * d1 + j * d2)).to_bits();
                }
            }
            op => {
                let mut sum = mask;
                op.visit(|lanes| sum = sum.wrapping_mul(31).wrapping_add(lanes[3] ^ lanes[17]));
                *out = std::array::from_fn(|c| {
                    Lanes(std::array::from_fn(|l| sum.wrapping_mul(c as u32 + l as u32)))
                });
            }
        }
        Ok(())
    }

    /// Does some samples, with results that differ from [`Environment::perform`].
    fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        let Plain { coords: [s, t], level, components, .. } = *request;
        let first = mask.trailing_zeros() as usize % LANES;
        for c in (0..4).filter(|c| s[first] % 4 != 0 && components >> c & 1 != 0) {
            out[c] = Lanes(std::array::from_fn(|lane| {
                let level = if let PlainLevel::Explicit(level) = level { level[lane] } else { 0 };
                s[lane].wrapping_mul(31).wrapping_add(t[lane] ^ level) >> c
            }));
        }
        s[first] % 4 != 0
    }

    fn has_planes(&mut self, _: &[u16]) -> bool {
        true
    }

    fn planes(&mut self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        for (location, rows) in locations.iter().zip(frame.chunks_exact_mut(3)) {
            for (n, row) in rows.iter_mut().enumerate() {
                *row = Lanes(std::array::from_fn(|lane| plane(*location, lane)[n]));
            }
        }
        true
    }
}

/// A plane that differs for each quad.
fn plane(location: u16, lane: usize) -> [u32; 3] {
    let n = f32::from(location) + (lane / 4) as f32;
    [n + 0.25, 1.0 - n, n * 0.1].map(f32::to_bits)
}

/// Outcome, counters, killed lanes and rows of a warp after a run.
fn state(warp: &Warp, outcome: Outcome) -> (Outcome, u64, u64, Mask, Vec<Lanes>) {
    (outcome, warp.executed, warp.lane_instructions, warp.killed, warp.rows[..384].to_vec())
}

/// Runs to the end of a warp, through barriers. At a barrier, dead rows may differ from the interpreter's.
fn through_barriers(mut run: impl FnMut() -> Outcome) -> Outcome {
    loop {
        let outcome = run();
        if outcome != Outcome::Barrier {
            return outcome;
        }
    }
}

fn same(words: &[u64], values: &[u32], live: Mask, helpers: Mask, on_kill: Killed) {
    let program = Program::new(words).unwrap();
    let begun = || {
        let mut warp = Warp::new(&program, &std::array::from_fn::<_, 64, _>(|n| (n as f32 * 0.75).to_bits()));
        (warp.limit, warp.on_kill) = (700, on_kill);
        warp.restart(&program, live, helpers & !live);
        for id in 0..16u32 {
            *warp.full_mut(id) = Lanes(std::array::from_fn(|lane| values[id as usize * LANES + lane]));
        }
        warp
    };
    let mut warp = begun();
    let outcome = through_barriers(|| crate::run(&program, &mut warp, &mut Numbers));
    let expected = state(&warp, outcome);
    for machine in machines() {
        let Some(routine) = Routine::for_machine(&program, machine) else { continue };
        let mut warp = begun();
        let outcome = through_barriers(|| run(&program, &routine, &mut warp, &mut Numbers));
        let found = state(&warp, outcome);
        assert_eq!(expected.0, found.0, "{machine:?}: outcome");
        // A warp that faulted is discarded.
        if matches!(expected.0, Outcome::Fault(_)) {
            continue;
        }
        assert_eq!((expected.1, expected.2, expected.3), (found.1, found.2, found.3), "{machine:?}");
        let started = live | helpers;
        for (row, (expected, found)) in expected.4.iter().zip(&found.4).enumerate() {
            for lane in (0..LANES).filter(|lane| started >> lane & 1 != 0) {
                assert_eq!(expected[lane], found[lane], "{machine:?}: row {row} lane {lane}");
            }
        }
        same_together(&program, &routine, values);
    }
}

/// Compares lockstep execution with execution in turn. All lanes are live or helpers; each warp has these
/// `values` rotated.
fn same_together(program: &Program, routine: &Routine, values: &[u32]) {
    let Some(lockstep_cost) = routine.lockstep_cost() else { return };
    let constants: Vec<u32> = (0..64).map(|n| (n as f32 * 0.75).to_bits()).collect();
    // Registers hold values of an earlier warp.
    let used = || {
        let mut warp = Warp::new(program, &constants);
        (0..64).for_each(|id| *warp.full_mut(id) = Lanes::splat(0x4049_0fdb));
        warp
    };
    let enter = |warp: &mut Warp, turn: usize| {
        for id in 0..16 {
            let value = |lane| values[id as usize * LANES + (lane + 4 * turn) % LANES];
            *warp.full_mut(id) = Lanes(std::array::from_fn(value));
        }
    };
    for (count, live) in [(1, ALL), (MAX_LOCKSTEP, ALL), (MAX_LOCKSTEP, 0x0f21_3c85)] {
        let mut warps = vec![used(); count];
        for (turn, warp) in warps.iter_mut().enumerate() {
            warp.begin_lockstep(0..0, program, live, lockstep_cost.instructions);
            enter(warp, turn);
        }
        assert_eq!(routine.run_lockstep(program, &mut warps, &mut Numbers, None), WarpGroup::Colors);
        for (turn, found) in warps.iter().enumerate() {
            let mut warp = used();
            warp.restart(program, live, !live);
            enter(&mut warp, turn);
            assert_eq!(run(program, routine, &mut warp, &mut Numbers), Outcome::Ended);
            assert_eq!(found.covered(), warp.covered());
            assert_eq!((lockstep_cost.instructions, lockstep_cost.compiled), (warp.executed, warp.compiled));
            assert!(found.rows[..384] == warp.rows[..384], "warp {turn} of {count}");
        }
    }
    let epilogue = pixels::some_epilogue(values[0] ^ values[LANES]);
    pixels::same_pixels(program, routine, &[epilogue], |turn, warp| enter(warp, turn));
}

/// Edge values and random values.
fn value() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        prop::sample::select(EDGES.to_vec()),
        (-8i32..8).prop_map(|n| (n as f32 / 4.0).to_bits())
    ]
}

proptest! {
    #![proptest_config(random_cases(256))]

    #[test]
    fn straight_programs_do_the_same(
        words in prop::collection::vec(prop_oneof![8 => computing_word(), 1 => sample_word()], 1..120),
        values in prop::collection::vec(value(), 16 * LANES),
        live in any::<u32>(), helpers in any::<u32>(),
    ) {
        same(&words, &values, live, helpers, Killed::Help);
    }

    #[test]
    fn programs_with_control_flow_do_the_same(
        words in prop::collection::vec(prop_oneof![4 => computing_word(), 2 => flow_word(), 1 => sample_word(), 1 => any::<u64>()], 1..80),
        values in prop::collection::vec(value(), 16 * LANES),
        live in any::<u32>(), helpers in any::<u32>(), end in any::<bool>(),
    ) {
        let on_kill = if end { Killed::End } else { Killed::Help };
        same(&words, &values, live, helpers, on_kill);
    }
}

/// `scripts/fuzz` runs this with `A4EMU_PROGRAMS` programs, starting at seed `A4EMU_SEED`.
#[test]
#[ignore = "hours: scripts/fuzz runs it"]
fn many_programs_do_the_same() {
    let (first, count) = asked_programs();
    let word = prop_oneof![12 => computing_word(), 2 => flow_word(), 1 => sample_word()];
    for seed in first..first + count {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(Default::default(), rng);
        let mut sample = |len: u64| -> Vec<u64> {
            (0..len).map(|_| word.new_tree(&mut runner).expect("a word").current()).collect()
        };
        let words = sample(4 + seed % 60);
        // The rest of the state: a linear congruential sequence, mixed with edge values.
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 32) as u32
        };
        let mut value = || match next() % 3 {
            0 => EDGES[next() as usize % EDGES.len()],
            1 => ((next() % 64) as f32 / 8.0 - 4.0).to_bits(),
            _ => next(),
        };
        let values: Vec<u32> = (0..16 * LANES).map(|_| value()).collect();
        let (live, helpers) = if seed % 4 == 0 { (next(), next()) } else { (ALL, 0) };
        let on_kill = if seed % 8 == 0 { Killed::End } else { Killed::Help };
        let done = std::panic::catch_unwind(|| same(&words, &values, live, helpers, on_kill));
        assert!(done.is_ok(), "A4EMU_SEED={seed}: {words:x?}");
        if seed % 100_000 == 99_999 {
            eprintln!("A4EMU_SEED={first}: {} programs", seed + 1 - first);
        }
    }
}

/// Runs `text` compiled and interpreted, with lane numbers as floats in all registers.
fn same_text(text: &str, on_kill: Killed) {
    let values: Vec<u32> = (0..16 * LANES).map(|n| (((n % LANES) + n / LANES) as f32).to_bits()).collect();
    same(&assemble(text).unwrap(), &values, ALL, 0, on_kill);
}

#[test]
fn a_lane_that_ends_keeps_its_registers() {
    let write = |source: &str| {
        format!("mul.f r1.x, {source}, c1.x\nadd.f r1.y, {source}, c1.y\nadd.f r1.z, r1.x, r1.y\n")
    };
    let text = write("r0.x") + "cmps.f.lt p0.x, r0.x, c5.x\nkill p0.x\n" + &write("r0.y") + "end\n";
    same_text(&text, Killed::End);
    same_text(&text, Killed::Help);
}

#[test]
fn lanes_that_are_off_in_a_region_keep_their_registers() {
    let write = |source: &str| {
        format!("mul.f r1.x, {source}, c1.x\nadd.f r1.y, {source}, c1.y\nadd.f r1.z, r1.x, r1.y\n")
    };
    let read = "mul.f r2.x, r1.x, c1.x\nmul.f r2.y, r1.y, c1.x\nmul.f r1.x, r1.z, c1.y\nmov.f32f32 r1.y, r1.x\nmov.f32f32 r1.z, r1.x\n";
    let text = format!(
        "cmps.f.lt p0.x, r0.x, c5.x\n{}predt p0.x\n{}prede\n{read}end\n",
        write("r0.x"),
        write("r0.y")
    );
    same_text(&text, Killed::Help);
}

/// Lanes leave the loop one by one. Their neighbours' derivatives read the values that they left.
#[test]
fn a_neighbour_reads_what_a_lane_left_that_is_elsewhere() {
    let text = "mov.f32f32 r3.x, c0.x\nagain:\nadd.f r3.x, r3.x, c0.y\nmul.f r1.x, r3.x, r0.x\nadd.f r1.y, r1.x, r3.x\ndsx (f32)(x)r2.x, r1.y\n\
                add.f r2.y, r2.y, r2.x\ncmps.f.lt p0.x, r3.x, r0.y\nbr p0.x, #again\nmov.f32f32 r1.y, c0.x\n\
                mov.f32f32 r1.x, c0.x\nmov.f32f32 r2.x, c0.x\nend\n";
    same_text(text, Killed::Help);
}

#[test]
fn warps_run_side_by_side_where_nothing_but_texels_is_asked_for() {
    let compute = "add.f r1.x, r0.x, c0.x\nmul.f r1.y, r1.x, r0.y\nadd.f r1.z, r1.x, r1.y\n";
    let lockstep_cost = |text: &str| {
        let program = Program::new(&assemble(&format!("{compute}{text}end\n")).unwrap()).unwrap();
        let machine = Machine::here()?;
        Routine::for_machine(&program, machine).expect("code").lockstep_cost()
    };
    let requests = |text: &str| lockstep_cost(text).map(|lockstep_cost| lockstep_cost.requests);
    let is_there = Machine::here().map(|_| 0);
    assert_eq!(requests(""), is_there);
    assert_eq!(requests("sam (f32)(xyzw)r4.x, r1.x, s#0, t#0\n"), is_there.map(|none| none + 1));
    for other in
        ["ldg.u32 r4.x, g[r1.x], 1\n", "mova a0.x, hr1.x\nmov.f32f32 r4.x, r<a0.x + 2>\n", "kill p0.x\n"]
    {
        assert_eq!(requests(other), None, "{other}");
    }
}

#[test]
fn registers_read_before_a_write_are_zero() {
    let text = "add.f r1.x, r0.x, r5.x\nmul.f r1.y, r1.x, r0.y\nadd.f r1.z, r1.x, r1.y\nadd.f r5.x, r1.x, r1.y\nend\n";
    same_text(text, Killed::Help);
}

#[test]
fn varyings_and_derivatives_are_in_the_code() {
    let text = "bary.f r1.x, 0, r0.x\nbary.f r1.y, 1, r0.x\nbary.f (ei)r1.z, 5, r0.x\n\
                dsx (f32)(x)r2.x, r1.x\ndsy (f32)(x)r2.y, r1.y\nmad.f32 r2.z, r1.x, r1.y, r2.x\nend\n";
    let words = assemble(text).unwrap();
    let program = Program::new(&words).unwrap();
    for machine in machines() {
        let routine = Routine::for_machine(&program, machine).expect("code");
        assert_eq!(native(&routine).locations, [0, 1, 5]);
    }
    let values: Vec<u32> = (0..16 * LANES).map(|n| (n as f32 / 77.0).to_bits()).collect();
    same(&words, &values, ALL, 0, Killed::Help);
}

/// The result of a program with one sample. Pair reads and single reads must agree, on all machines.
fn sampled(reading: Reading, texels: Texels<'_>) -> Vec<Lanes> {
    let program = Program::new(&assemble("sam (f32)(xyzw)r1.x, r0.x, s#0, t#0\nend\n").unwrap()).unwrap();
    let coords = |step: f32| Lanes(std::array::from_fn(|lane| (lane as f32 * step - 0.3).to_bits()));
    let variants = machines().into_iter().flat_map(|machine| [true, false].map(|pairs| (machine, pairs)));
    let mut results = variants.map(|(machine, gather_pairs)| {
        let ways = SamplerVariants::new(&program, machine).expect("a request that can be in the code");
        let mut coded = ways.coded(&[Some(reading)]);
        coded.gather_pairs = gather_pairs;
        let way = Routine::with(&program, machine, coded).expect("code");
        let SegmentPart::Native(native) = &native(&way).parts[0] else {
            unreachable!("all of it is compiled")
        };
        let mut warp = Warp::new(&program, &[]);
        warp.restart(&program, ALL, 0);
        (*warp.full_mut(0), *warp.full_mut(1)) = (coords(0.05), coords(0.031));
        let code = native.code(&program, &[], ALL).expect("code");
        code.call(&mut warp.rows, &mut [Lanes::ZERO; 64], ALL, &[texels]);
        (4..8).map(|id| *warp.full(id)).collect::<Vec<Lanes>>()
    });
    let first = results.next().expect("a machine");
    assert!(results.all(|result| result == first), "{reading:?}");
    first
}

/// Compiled code does not trust the size of a texture: it reads only the texture's own dwords.
#[test]
fn code_reads_nothing_beside_a_texture() {
    if machines().is_empty() {
        return eprintln!("SKIPPED: no AVX2");
    }
    let mut around = vec![0u8; 4 * 90];
    around[4 * 30..4 * 60].fill(0x40);
    let (expected, components) =
        (Lanes::splat((64.0f32 / 255.0).to_bits()), [0, 1, 2, 3].map(ComponentSource::Byte));
    let other: Vec<u8> = (0..4 * 40u32).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
    for (is_linear, repeats) in
        [(false, [false; 2]), (true, [false; 2]), (true, [true; 2]), (true, [true, false])]
    {
        let reading = Reading { is_linear, repeats, components };
        let texels = |bytes, size, offset, pitch| {
            let dwords = Dwords::new(bytes).expect("two of them");
            Texels::new(dwords, TexelExtent::new(size, (offset, pitch), &reading))
        };
        for (size, offset, pitch) in [
            ([1000, 1000], 0, 1000),
            ([3, 3], 29, 3),
            ([3, 3], u32::MAX, 3),
            ([32767, 32767], 1 << 31, 32767),
            ([0, 0], 0, 0),
            ([u32::MAX, u32::MAX], 12, u32::MAX),
        ] {
            let found = sampled(reading, texels(&around[4 * 30..4 * 60], size, offset, pitch));
            assert_eq!(found, [expected; 4], "{reading:?} {size:?} {offset} {pitch}");
        }
        let found = sampled(reading, texels(&other, [5, 4], 3, 8));
        assert!(found.iter().any(|row| row.0.iter().any(|bits| *bits != row[0])), "{reading:?}");
    }
}

#[test]
#[should_panic(expected = "textures.len() >= of_textures")]
fn code_is_not_run_without_its_textures() {
    let Some(machine) = Machine::here() else { panic!("textures.len() >= of_textures: SKIPPED, no AVX2") };
    let text = "sam (f32)(x)r1.x, r0.x, s#0, t#0\nsam (f32)(x)r1.y, r0.x, s#0, t#0\nend\n";
    let program = Program::new(&assemble(text).unwrap()).unwrap();
    let ways = SamplerVariants::new(&program, machine).expect("requests that can be in the code");
    let reading =
        Reading { is_linear: false, repeats: [false; 2], components: [ComponentSource::Byte(0); 4] };
    let way = Routine::with(&program, machine, ways.coded(&[Some(reading); 2])).expect("code");
    let SegmentPart::Native(native) = &native(&way).parts[0] else { unreachable!("all of it is compiled") };
    let extent = TexelExtent::new([2, 2], (0, 2), &reading);
    let texels = Texels::new(Dwords::new(&[0; 16]).unwrap(), extent);
    let code = native.code(&program, &[], ALL).expect("code");
    code.call(&mut Warp::new(&program, &[]).rows, &mut [Lanes::ZERO; 64], ALL, &[texels]);
}
