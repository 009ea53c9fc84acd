//! Reasons for an early end of a draw.

use std::fmt;

use crate::budget::{Budget, Work};
use crate::fault::Fault;

/// Maximum bytes that a draw holds between indices and primitives. Larger draws are split into parts, if
/// their vertices allow it (`pipeline/parts`).
pub const MAX_HELD: u64 = 3 << 27;

/// Reason why a draw or dispatch cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A fault of the program.
    Fault(Fault),
    /// The draw exceeds the memory limit. Later draws run.
    TooLarge(String),
    /// The budget of the run is used up. No later draw runs.
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

/// Refuses a draw that would hold `bytes` at a time. `what` names it in the message.
///
/// # Errors
/// The size is more than [`MAX_HELD`].
pub fn must_fit(bytes: u64, what: impl fmt::Display) -> Result<(), Stop> {
    match bytes <= MAX_HELD {
        true => Ok(()),
        false => Err(Stop::TooLarge(format!("{what} is cut: {bytes} bytes would be held for it"))),
    }
}

/// Takes `count` units of `work` from `budget`.
///
/// # Errors
/// The budget has fewer units left.
pub fn charge(budget: &mut Budget, work: Work, count: u64) -> Result<(), Stop> {
    budget.take(work, count).then_some(()).ok_or(Stop::NoBudget)
}
