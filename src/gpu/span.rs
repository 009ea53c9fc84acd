//! Ranges of submits and draws, which are numbered from 0.

use std::fmt;
use std::str::FromStr;

/// A half-open range of indices: `3`, `3..7`, `3..`, `..7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First index inside.
    pub start: u64,
    /// First index after the range.
    pub end: u64,
}

impl Span {
    /// Every index.
    pub const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Whether `index` is inside.
    pub fn contains(&self, index: u64) -> bool {
        (self.start..self.end).contains(&index)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
        let Some((start, end)) = text.split_once("..") else {
            let start: u64 = number(text)?;
            return Ok(Self { start, end: start.saturating_add(1) });
        };
        let start = if start.trim().is_empty() { 0 } else { number(start)? };
        let end = match end.trim().strip_prefix('=') {
            Some(last) => number(last)?.saturating_add(1),
            None if end.trim().is_empty() => u64::MAX,
            None => number(end)?,
        };
        match start < end {
            true => Ok(Self { start, end }),
            false => Err(format!("`{text}` is empty: the second number is not in the range")),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { start, end } if end == start.saturating_add(1) => write!(f, "{start}"),
            Self { start, end: u64::MAX } => write!(f, "{start}.."),
            Self { start, end } => write!(f, "{start}..{end}"),
        }
    }
}
