//! Why a draw ends before its end.

use std::fmt;

use crate::budget::{Budget, Work};
use crate::fault::Fault;

/// Bytes that a draw holds at a time on its way from indices to primitives. Larger ones go in parts, if their vertices
/// can be shaded part for part (`pipeline/parts`).
pub const MAX_HELD: u64 = 3 << 27;

/// Why a draw or dispatch cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The program asked for something impossible.
    Fault(Fault),
    /// It is larger than we can hold; later draws run.
    TooLarge(String),
    /// The budget of the run is used up; nothing runs any more.
    NoBudget,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(fault) => write!(f, "{fault}"),
            Self::TooLarge(what) => write!(f, "{what}"),
            Self::NoBudget => write!(f, "the run may do no more work"),
        }
    }
}

/// Refuses a draw for which `bytes` would be held at a time, which is `what`.
///
/// # Errors
/// That is more than [`MAX_HELD`].
pub fn must_fit(bytes: u64, what: impl fmt::Display) -> Result<(), Stop> {
    match bytes <= MAX_HELD {
        true => Ok(()),
        false => Err(Stop::TooLarge(format!("{what} is cut: {bytes} bytes would be held for it"))),
    }
}

/// Takes `count` of `work` from `budget`.
///
/// # Errors
/// There is not so much left.
pub fn charge(budget: &mut Budget, work: Work, count: u64) -> Result<(), Stop> {
    budget.take(work, count).then_some(()).ok_or(Stop::NoBudget)
}
