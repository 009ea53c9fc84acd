//! Numbers with an upper bound. It is checked for all sources: arguments, launch requests, queries of a
//! browser.

use std::fmt;
use std::str::FromStr;

use a4emu_shader::LANES;

/// A lane of a warp.
pub type Lane = Below<LANES>;

/// A sample of a pixel.
pub type Sample = Below<4>;

/// A whole number below `MOST`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "u64")]
pub struct Below<const MOST: usize>(usize);

/// The error that a number is too large or no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{number}` is not one of 0 to {}", .most - 1)]
pub struct NotBelow {
    number: String,
    most: usize,
}

impl<const MOST: usize> Below<MOST> {
    /// The number.
    pub fn get(self) -> usize {
        self.0
    }
}

impl<const MOST: usize> TryFrom<u64> for Below<MOST> {
    type Error = NotBelow;

    fn try_from(number: u64) -> Result<Self, NotBelow> {
        let below = usize::try_from(number).ok().filter(|number| *number < MOST);
        below.map(Self).ok_or_else(|| NotBelow { number: number.to_string(), most: MOST })
    }
}

impl<const MOST: usize> FromStr for Below<MOST> {
    type Err = NotBelow;

    fn from_str(text: &str) -> Result<Self, NotBelow> {
        let wrong = || NotBelow { number: text.to_owned(), most: MOST };
        text.parse().map_err(|_| wrong()).and_then(|number: u64| Self::try_from(number))
    }
}

impl<const MOST: usize> fmt::Display for Below<MOST> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_range_text_and_json_numbers_are_refused() {
        assert_eq!("31".parse(), Lane::try_from(31));
        assert_eq!(serde_json::from_str::<Lane>("31").unwrap().get(), 31);
        for wrong in ["32", "-1", "", "18446744073709551616"] {
            assert!(wrong.parse::<Lane>().is_err(), "{wrong}");
            assert!(serde_json::from_str::<Lane>(wrong).is_err(), "{wrong}");
        }
        assert_eq!("4".parse::<Sample>().unwrap_err().to_string(), "`4` is not one of 0 to 3");
    }
}
