//! Tests of whole programs, in assembly, on one warp.
mod doubts;
mod effects;
mod flow;
mod merged;
mod operands;
mod random;
pub(super) mod reference;
#[path = "../../../decoder/tests/seed/mod.rs"]
pub(crate) mod seed;
mod wave;

use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::program::assemble;
use seed::random_cases;

use super::{
    ALL, Dialect, Environment, Granularity, Halves, Lanes, Mask, Outcome, Program, SyncFlag, Warp, run,
};

/// Assembles a program.
pub(crate) fn program(source: &str) -> Program {
    Program::new(&assemble(source).unwrap()).unwrap()
}

/// The program of `words`, with reports of guesses.
pub(crate) fn watched(words: &[u64]) -> Program {
    Program::lowered(Dialect::A4XX, Granularity::Watched, words).unwrap()
}

/// The program of `words` of a generation of the instruction set, with the half registers that Mesa's drivers use there.
fn of(isa: Isa, words: &[u64]) -> Program {
    let halves = if isa == Isa::A6xx { Halves::Merged } else { Halves::Apart };
    let dialect = Dialect { isa, halves, sync: SyncFlag::Scheduling };
    Program::lowered(dialect, Granularity::Runs, words).unwrap()
}

/// A register with a float per lane.
fn floats(f: impl Fn(f32) -> f32) -> Lanes {
    Lanes::from(std::array::from_fn(|lane| f(lane as f32)))
}

/// A register with an integer per lane.
fn integers(f: impl Fn(u32) -> u32) -> Lanes {
    Lanes(std::array::from_fn(|lane| f(lane as u32)))
}

/// Runs `source` to its end in `environment`, with lane numbers in r0.x (integer) and r0.y (float). Returns
/// the warp.
fn ran_in(source: &str, live: Mask, environment: &mut impl Environment) -> Warp {
    let program = program(source);
    let mut warp = Warp::new(&program, &constants());
    warp.restart(&program, live, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    *warp.full_mut(1) = floats(|lane| lane);
    assert_eq!(run(&program, &mut warp, environment), Outcome::Ended, "{source}");
    warp
}

/// Like [`ran_in`] without an environment, with all lanes live.
fn ran(source: &str) -> Warp {
    ran_in(source, ALL, &mut ())
}

/// A constant file: constant n is the float n, up to c15.w.
fn constants() -> [u32; 64] {
    std::array::from_fn(|n| (n as f32).to_bits())
}

#[test]
fn straight_line_arithmetic_reads_constants_and_registers() {
    let warp = ran("mul.f r0.z, r0.y, c0.z\nadd.f r1.x, c1.x, r0.z\nmad.f32 r1.y, c0.y, r1.x, r0.y\nend");
    assert_eq!(*warp.full(2), floats(|lane| 2.0 * lane));
    assert_eq!(*warp.full(4), floats(|lane| 2.0 * lane + 4.0));
    assert_eq!(*warp.full(5), floats(|lane| 3.0 * lane + 4.0));
    assert_eq!(warp.executed(), 4);
}

#[test]
fn a_warp_is_clean_after_a_restart() {
    let program = program("add.f r0.z, r0.z, r0.y\nmov.f32f32 r1.x, r0.z\nend");
    let mut warp = Warp::new(&program, &[]);
    for _ in 0..3 {
        warp.restart(&program, ALL, 0);
        *warp.full_mut(1) = floats(|lane| lane + 1.0);
        run(&program, &mut warp, &mut ());
        assert_eq!(*warp.full(4), floats(|lane| lane + 1.0));
    }
}
