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
