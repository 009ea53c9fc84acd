//! Where there is no compiler: every program is interpreted.
use super::environment::Environment;
use super::program::Program;
use super::run::Outcome;
use super::warp::Warp;

/// A compiled program, of which there is none.
pub enum Routine {}

impl Routine {
    /// None.
    pub fn new(_: &Program) -> Option<Self> {
        None
    }

    /// Never called.
    pub fn toll(&self) -> Option<Toll> {
        match *self {}
    }
}

/// Warps that run side by side at most.
pub const TOGETHER: usize = 1;

/// What a warp of those costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toll {
    /// Its instructions.
    pub instructions: u64,
    /// Those of them that are machine code.
    pub compiled: u64,
    /// Its requests for texels.
    pub requests: u64,
}

/// None do.
pub fn run_together(_: &Program, _: &mut [Warp], _: &mut impl Environment) -> bool {
    false
}

/// There is no machine that code is made for.
pub fn target() -> Option<&'static str> {
    None
}

/// Nothing is refused.
pub fn refusal() -> Option<String> {
    None
}

/// Nothing.
pub fn listing(_: &Program, _: &dyn Fn(u32) -> String) -> String {
    String::new()
}

/// Never called.
pub fn run(_: &Program, routine: &Routine, _: &mut Warp, _: &mut impl Environment) -> Outcome {
    match *routine {}
}
