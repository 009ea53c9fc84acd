//! Errors in a source, with their positions.

use std::fmt;

/// Why a source is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The source is wrong.
    Source,
    /// The source needs more work than the bounds allow.
    Work,
}

/// One error. Prints as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the file, as the `include` names it.
    pub file: String,
    /// The whole text of the file.
    pub source: String,
    /// The range of `source`, in bytes, that the error is about.
    pub range: std::ops::Range<usize>,
    /// One lower-case line.
    pub message: String,
    /// Why the source is refused.
    pub reason: Reason,
}

impl Diagnostic {
    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self) -> (usize, usize) {
        let before = self.source.get(..self.range.start).unwrap_or(&self.source);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(f, "{}:{line}:{column}: {}", self.file, self.message)
    }
}

impl std::error::Error for Diagnostic {}
