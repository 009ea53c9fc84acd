//! Shader programs: words that are lowered once, and compiled if they run often.
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::environment::Environment;
use super::epilogue::{Epilogue, WarpGroup};
use super::jit::{self, Routine, Vectors};
use super::lowered::Lowered;
use super::run::{Outcome, step};
use super::warp::Warp;
use crate::limits::COMPILE_WARPS;

/// Selection of the programs that are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jit {
    /// None: the interpreter runs all
    Off,
    /// All, before their first run
    On,
    /// As [`Jit::On`], with AVX2 where AVX-512 would be used: to compare both on one computer
    Avx2,
    /// Programs that run often enough for it to pay
    #[default]
    Auto,
}

impl Jit {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Off, Self::On, Self::Avx2, Self::Auto];

    /// The name in the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Avx2 => "avx2",
            Self::Auto => "auto",
        }
    }
}

impl FromStr for Jit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|jit| jit.name() == name).ok_or_else(|| format!("invalid variant: {name}"))
    }
}

/// The warp count of a program, and its code once compiled. A clone starts from zero.
#[derive(Default)]
pub struct Tier {
    warps: Count,
    routine: OnceLock<Option<Routine>>,
}

/// A counter that many threads change, in a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Count(AtomicU64);

impl Clone for Tier {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tier").field("warps", &self.warps).finish_non_exhaustive()
    }
}

/// A program. Cache it by the contents of its instruction words.
#[derive(Clone, Debug)]
pub struct Program {
    lowered: Lowered,
    tier: Tier,
}

impl From<Lowered> for Program {
    fn from(lowered: Lowered) -> Self {
        Self { lowered, tier: Tier::default() }
    }
}

impl Deref for Program {
    type Target = Lowered;

    fn deref(&self) -> &Lowered {
        &self.lowered
    }
}

impl Program {
    /// Most instructions accepted ([`Lowered::MAX_INSTRUCTIONS`]).
    pub const MAX_INSTRUCTIONS: usize = Lowered::MAX_INSTRUCTIONS;

    /// The hash of `words` ([`Lowered::hash_of`]).
    pub fn hash_of(words: &[u64]) -> u64 {
        Lowered::hash_of(words)
    }

    /// The short form of a program's `hash` ([`Lowered::short`]).
    pub fn short(hash: u64) -> String {
        Lowered::short(hash)
    }

    /// Compiles the program, if it is due. If called between draws, every run compiles the same programs.
    pub fn prepare(&self, jit: Jit) {
        let tier = &self.tier;
        // After the decision, the shared counter is not read.
        if tier.routine.get().is_some() {
            return;
        }
        let due = match jit {
            Jit::Off => false,
            Jit::On | Jit::Avx2 => true,
            Jit::Auto => tier.warps.0.load(Ordering::Relaxed) >= COMPILE_WARPS,
        };
        if due && !self.watched {
            tier.routine.get_or_init(|| {
                Routine::new(self, if jit == Jit::Avx2 { Vectors::Avx2 } else { Vectors::Best })
            });
        }
    }

    /// Counts `warps` warps that have run. Does nothing after the decision, since a counter that all threads
    /// change is slow.
    pub fn ran(&self, warps: u64) {
        if self.tier.routine.get().is_none() {
            self.tier.warps.0.fetch_add(warps, Ordering::Relaxed);
        }
    }

    /// The compiled code, if there is some.
    pub fn routine(&self) -> Option<&Routine> {
        self.tier.routine.get()?.as_ref()
    }
}

/// Runs `warp` until it ends, waits at a barrier, or faults.
pub fn run(program: &Program, warp: &mut Warp, environment: &mut impl Environment) -> Outcome {
    if let Some(routine) = program.routine() {
        return jit::run(program, routine, warp, environment);
    }
    loop {
        if let Some(outcome) = step(program, warp, environment) {
            return outcome;
        }
    }
}

/// Runs all lanes of `warps` in lockstep, with the results and cost of running them in turn. The warps must
/// have begun with [`Warp::begin_lockstep`], and have the same primitive. With a variant for `epilogue`, they
/// leave only pixels.
pub fn run_lockstep(
    program: &Program,
    warps: &mut [Warp],
    environment: &mut impl Environment,
    epilogue: Option<&Epilogue>,
) -> WarpGroup {
    program
        .routine()
        .map_or(WarpGroup::Not, |routine| routine.run_lockstep(program, warps, environment, epilogue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;

    fn program() -> Program {
        tests::program("add.f r0.x, r0.x, r0.y\nmul.f r0.y, r0.x, r0.x\nadd.f r0.z, r0.x, r0.y\nend\n")
    }

    fn is_decided(program: &Program, jit: Jit) -> bool {
        program.prepare(jit);
        program.tier.routine.get().is_some()
    }

    #[test]
    fn a_program_is_compiled_when_it_has_run_often_enough() {
        let program = program();
        program.ran(COMPILE_WARPS - 1);
        assert!(!is_decided(&program, Jit::Auto));
        program.ran(1);
        assert!(program.tier.routine.get().is_none(), "between draws alone");
        assert!(!is_decided(&program, Jit::Off) && is_decided(&program, Jit::Auto));
        program.ran(1);
        assert_eq!(program.tier.warps.0.load(Ordering::Relaxed), COMPILE_WARPS, "nobody counts any more");
        assert!(!is_decided(&program.clone(), Jit::Auto), "a copy begins anew");
    }

    #[test]
    fn jit_on_compiles_before_the_first_run() {
        assert!(is_decided(&program(), Jit::On) && !is_decided(&program(), Jit::Off));
    }
}
