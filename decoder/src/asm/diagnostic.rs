//! What is wrong with a source, and where.

use std::fmt;

/// Why a source is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is wrong.
    Source,
    /// It asks for more work than it may.
    Work,
}

/// One error. Prints as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as it was included.
    pub file: String,
    /// The whole text of that file.
    pub source: String,
    /// The bytes of `source` that are meant.
    pub range: std::ops::Range<usize>,
    /// One lower-case line.
    pub message: String,
    /// Whose fault it is.
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
