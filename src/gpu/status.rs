//! The exit status that what went wrong stands for, and failures that carry one.

use std::process::{ExitCode, Termination};

/// Exit status of a run; over several inputs the largest one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Fine, or the same.
    #[default]
    Fine = 0,
    /// A difference, or an assertion that failed.
    Differs = 1,
    /// Wrong use, or the operating system refused.
    Usage = 2,
    /// A damaged capture; what could be read was put out.
    Damaged = 3,
    /// Something that is not supported yet; the rest was done.
    Unsupported = 4,
}

impl Status {
    /// The status that a process exited with; what none of ours does is wrong use.
    pub fn from_code(code: u8) -> Self {
        let all = [Self::Fine, Self::Differs, Self::Usage, Self::Damaged, Self::Unsupported];
        all.into_iter().find(|status| *status as u8 == code).unwrap_or(Self::Usage)
    }

    /// The worse of the two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

impl Termination for Status {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// An error with the exit status that it stands for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// What the process exits with.
    pub status: Status,
    /// One lower-case line.
    pub message: String,
}
