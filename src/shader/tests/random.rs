//! Tests with random programs: the vector path against single lanes, and hostile words.
use proptest::prelude::*;

use super::*;
use crate::LANES;
use crate::lanes::lanes_of;
use crate::{InstructionCount, ShaderFault, run_counting};

/// Runs the operations of `program` on one lane, with the rows' `eval`.
fn one_lane(program: &Program, rows: &mut [Lanes], lane: usize) {
    for alu in &program.alus {
        rows[alu.dst as usize][lane] = alu.value(rows, lane);
    }
}

/// A random word of category 2, 3 or 4 that only computes, mostly on r0 to r3.
fn computing_word() -> impl Strategy<Value = u64> {
    let word = (2u64..=4, any::<u64>()).prop_map(|(category, bits)| {
        let small = bits & !(0x00f0_00f0_0000_0000 | 0xf0 | 0xf0 << 16);
        category << 61 | small & !(7 << 61)
    });
    word.prop_filter("has an effect", |&word| Program::new(&[word]).unwrap().steps.len() == 1)
}

proptest! {
    #![proptest_config(random_cases(64))]

    #[test]
    fn vectors_compute_what_single_lanes_compute(
        words in prop::collection::vec(computing_word(), 1..40),
        values in prop::collection::vec(any::<u32>(), 16 * LANES),
        live in any::<u32>(),
    ) {
        let program = Program::new(&words).unwrap();
        let mut warp = Warp::new(&program, &constants());
        warp.restart(&program, live, 0);
        for id in 0..16u32 {
            *warp.full_mut(id) = integers(|lane| values[id as usize * LANES + lane as usize]);
        }
        let mut rows = warp.rows.clone();
        run(&program, &mut warp, &mut ());
        for lane in lanes_of(live) {
            one_lane(&program, &mut rows, lane);
            for (row, expected) in warp.rows.iter().zip(&rows) {
                prop_assert_eq!(row[lane], expected[lane]);
            }
        }
    }

    #[test]
    fn a_watched_program_does_the_same(
        words in prop::collection::vec(prop_oneof![computing_word(), flow_word(), any::<u64>()], 1..40),
        values in prop::collection::vec(any::<u32>(), 16 * LANES),
    ) {
        let ran = |program: &Program| {
            let mut warp = Warp::new(program, &constants());
            warp.limit = 2000;
            warp.restart(program, ALL, 0);
            for id in 0..16u32 {
                *warp.full_mut(id) = integers(|lane| values[id as usize * LANES + lane as usize]);
            }
            let outcome = run(program, &mut warp, &mut ());
            (outcome, warp.executed, warp.rows)
        };
        prop_assert!(ran(&Program::new(&words).unwrap()) == ran(&watched(&words)));
    }

    #[test]
    fn any_words_run_to_an_outcome(words in prop::collection::vec(any::<u64>(), 1..60), live in any::<u32>()) {
        let program = Program::new(&words).unwrap();
        let mut warp = Warp::new(&program, &constants());
        warp.limit = 500;
        warp.restart(&program, live, !live & 0xff);
        for _ in 0..4 {
            run(&program, &mut warp, &mut ());
        }
    }

    #[test]
    fn any_control_flow_runs_to_an_outcome(words in prop::collection::vec(flow_word(), 1..40)) {
        let program = Program::new(&words).unwrap();
        let mut warp = Warp::new(&program, &constants());
        warp.limit = 2000;
        warp.restart(&program, ALL, 0);
        *warp.full_mut(0) = integers(|lane| lane);
        for _ in 0..4 {
            run(&program, &mut warp, &mut ());
        }
    }
}

/// A random word, mostly of category 0 with a short branch, else a compare that sets a predicate.
fn flow_word() -> impl Strategy<Value = u64> {
    let branch = (any::<u32>(), -10i32..10)
        .prop_map(|(high, offset)| u64::from(high & 0x1fff_ffff) << 32 | u64::from(offset as u32));
    let compare = (0u64..6, 0u64..32, 0u64..4).prop_map(|(cond, immediate, component)| {
        // cmps.u.COND p0.component, r0.x, immediate
        2 << 61 | 20 << 53 | 1 << 52 | cond << 48 | (0xf8 + component) << 32 | (0x2000 | immediate) << 16
    });
    prop_oneof![3 => branch, 1 => compare]
}

/// Doubts split a repeated operation into steps. The instruction limit must not change.
#[test]
fn a_watched_program_is_cut_off_and_counted_as_the_other() {
    // A repeated sad.s16 of its own results, and a branch back to it.
    let words = [0x670e_4804_b70f_9000, 0x1a86_0000_ffff_ffff];
    let programs = [Program::new(&words).unwrap(), watched(&words)];
    for limit in 1..20 {
        let [plain, watched] = programs.each_ref().map(|program| {
            let mut warp = Warp::new(program, &constants());
            warp.limit = limit;
            warp.restart(program, ALL, 0);
            for id in 0..16u32 {
                *warp.full_mut(id) = integers(|lane| (lane + 1) << id);
            }
            let mut counts = [InstructionCount::default(); 2];
            let outcome = run_counting(program, &mut warp, &mut (), &mut counts);
            (outcome, warp.executed, warp.rows, counts)
        });
        assert!(plain == watched, "limit {limit}");
        assert_eq!(plain.3[0].warps, limit / 2 + 1, "a round is two instructions, the last is cut off");
    }
}

#[test]
fn a_jump_out_of_the_program_does_nothing_on_its_way() {
    // A call to before the program. The operation after it is the last one.
    let words = [0x1180_0000_ffff_ffff, 0x9803_1401_8c0f_6000];
    for program in [Program::new(&words).unwrap(), watched(&words)] {
        let mut warp = Warp::new(&program, &constants());
        warp.restart(&program, ALL, 0);
        let before = warp.rows.clone();
        assert_eq!(run(&program, &mut warp, &mut ()), Outcome::from(ShaderFault::OutOfProgram { at: 2 }));
        assert_eq!(warp.executed, 1);
        assert!(warp.rows == before);
    }
}

#[test]
fn programs_that_are_no_programs_are_refused() {
    use crate::ProgramError;
    assert_eq!(Program::new(&[]).unwrap_err(), ProgramError::Empty);
    let long = vec![0; Program::MAX_INSTRUCTIONS + 1];
    assert_eq!(Program::new(&long).unwrap_err(), ProgramError::TooLong(long.len()));
}
