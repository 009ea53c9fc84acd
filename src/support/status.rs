//! The exit status of the process, errors that carry one, and the rule that makes one of a run's report. Errors are
//! printed on stderr.

use std::process::{ExitCode, Termination};

use a4emu_gpu::fault::{Report, Severity};

use crate::terminal::{self, Block};

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

    /// The status for a severity: one rule for all commands.
    pub fn of(severity: Severity, warnings: Warnings) -> Self {
        match severity {
            Severity::Warning if warnings == Warnings::Pass => Self::Fine,
            Severity::Usage => Self::Usage,
            Severity::Warning | Severity::Damaged => Self::Damaged,
            Severity::Unsupported => Self::Unsupported,
        }
    }

    /// The worst status of all reports of a run.
    pub fn of_run(report: &Report, warnings: Warnings) -> Self {
        report.severity().map_or(Self::Fine, |severity| Self::of(severity, warnings))
    }

    /// The worse of the two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Whether warnings count in the exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warnings {
    /// Warnings do not count.
    Pass,
    /// Warnings count as damage: `--strict`.
    Count,
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

/// Fails if the input was refused, is no capture, or has no such process. For commands that search in the input.
///
/// # Errors
/// The run of `report` was refused.
pub fn not_refused(report: &Report) -> Result<(), Failure> {
    report.refused().map_or(Ok(()), |trouble| {
        let status = Status::of(trouble.severity(), Warnings::Pass);
        Err(Failure { status, message: trouble.to_string() })
    })
}

/// Combines errors with an exit status.
pub trait WithErrors: Sized {
    /// The worse of this status and the status of `result`. An error is printed on stderr, unless it only
    /// means that the reader of stdout closed the pipe.
    #[must_use]
    fn and<E: Into<anyhow::Error>>(self, result: Result<(), E>) -> Self;

    /// The value of `result`. An error is printed and counted as in [`WithErrors::and`].
    fn take<T>(&mut self, result: anyhow::Result<T>) -> Option<T>;
}

impl WithErrors for Status {
    fn and<E: Into<anyhow::Error>>(self, result: Result<(), E>) -> Self {
        let Err(error) = result.map_err(Into::into) else { return self };
        match error.chain().find_map(|cause| cause.downcast_ref::<Block>()) {
            Some(block) => terminal::say_block(block),
            None if is_closed_pipe(&error) => {}
            None => terminal::say(format_args!("{error:#}")),
        }
        self.worse(status_of(&error))
    }

    fn take<T>(&mut self, result: anyhow::Result<T>) -> Option<T> {
        let (value, error) = match result {
            Ok(value) => (Some(value), Ok(())),
            Err(error) => (None, Err(error)),
        };
        *self = self.and(error);
        value
    }
}

/// The exit status of `error`. A closed pipe is no error.
pub fn status_of(error: &anyhow::Error) -> Status {
    if is_closed_pipe(error) {
        return Status::Fine;
    }
    let status = |cause: &(dyn std::error::Error + 'static)| {
        // An error of a reader may have a failure inside.
        let inside = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let failure = cause.downcast_ref().or_else(|| inside?.downcast_ref());
        let failure = failure.map(|failure: &Failure| failure.status);
        failure.or_else(|| cause.downcast_ref::<Block>().map(|block| block.status))
    };
    error.chain().find_map(status).unwrap_or(Status::Usage)
}

/// Whether `error` means that the reader of stdout closed the pipe.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(broken)
            || cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind)
                == Some(std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn failure(status: Status) -> anyhow::Error {
        anyhow::Error::from(Failure { status, message: "x".into() }).context("around it")
    }

    #[test]
    fn warnings_count_if_they_are_asked_to() {
        let all = [Severity::Warning, Severity::Usage, Severity::Damaged, Severity::Unsupported];
        let of = |warnings| all.map(|severity| Status::of(severity, warnings));
        let [usage, damaged, unsupported] = [Status::Usage, Status::Damaged, Status::Unsupported];
        assert_eq!(of(Warnings::Pass), [Status::Fine, usage, damaged, unsupported]);
        assert_eq!(of(Warnings::Count), [damaged, usage, damaged, unsupported]);
        assert_eq!(Status::of_run(&Report::default(), Warnings::Count), Status::Fine);
    }

    #[test]
    fn the_worse_of_two_is_the_same_either_way() {
        use Status::{Damaged, Differs, Fine, Unsupported, Usage};
        let all = [Fine, Differs, Usage, Damaged, Unsupported];
        for (n, one) in all.into_iter().enumerate() {
            for (m, other) in all.into_iter().enumerate() {
                assert_eq!(one.worse(other), all[n.max(m)]);
                assert_eq!(one.and(Err(failure(other))), all[n.max(m)]);
            }
            assert_eq!(one.and(Ok::<(), anyhow::Error>(())), one);
        }
    }

    #[test]
    fn an_error_stands_for_its_own_status_or_wrong_use() {
        assert_eq!(status_of(&failure(Status::Unsupported)), Status::Unsupported);
        assert_eq!(status_of(&anyhow::anyhow!("x")), Status::Usage);
    }

    #[test]
    fn broken_pipe_errors_do_not_change_the_exit_status() {
        let pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        let json = serde_json::Error::io(pipe());
        for error in
            [anyhow::Error::from(pipe()), anyhow::Error::from(json), anyhow::Error::from(pipe()).context("x")]
        {
            assert_eq!(status_of(&error), Status::Fine);
            assert_eq!(Status::Damaged.and(Err(error)), Status::Damaged);
        }
        assert_eq!(status_of(&io::Error::from(io::ErrorKind::NotFound).into()), Status::Usage);
    }
}
