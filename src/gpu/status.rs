//! Exit statuses, and errors that carry one.

use std::process::{ExitCode, Termination};

/// Exit status of a run. For several inputs, the largest one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// No problem, or no difference.
    #[default]
    Fine = 0,
    /// A difference, or a failed assertion.
    Differs = 1,
    /// Wrong usage, or the operating system refused a request.
    Usage = 2,
    /// A damaged capture. The readable part was output.
    Damaged = 3,
    /// An unsupported feature. The rest was done.
    Unsupported = 4,
}

impl Status {
    /// The status for a process exit code. An unknown code is [`Self::Usage`].
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

/// An error with its exit status.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Exit status of the process.
    pub status: Status,
    /// One line of text, in lower case.
    pub message: String,
}
