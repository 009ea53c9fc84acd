//! What differs from one generation of the chip to the next, in one value. Readers of command streams, listings and
//! `explain` take it, so that a generation is added by its tables.

use crate::a4xx::A4XX;
use crate::a6xx::A6XX;
use crate::adreno::capture::NamedChip;
pub use crate::adreno::generation::{Framing, Generation};

/// The generations that can be read.
static GENERATIONS: [&Generation; 2] = [&A4XX, &A6XX];

/// The generation of a chip that is not named, or of none of [`GENERATIONS`].
pub static DEFAULT: &Generation = &A4XX;

impl Generation {
    /// Every generation that can be read.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GENERATIONS.into_iter()
    }

    /// The generation with this number, if it can be read.
    pub fn numbered(number: u32) -> Option<&'static Self> {
        Self::all().find(|generation| generation.number == number)
    }

    /// The result of `find` for the default, or for the first other generation for which it succeeds, where it is not
    /// known yet which chip a capture is of.
    ///
    /// # Errors
    /// The call fails if `find` fails for each generation. The error is that of the default.
    pub fn first<T, E>(find: impl Fn(&'static Self) -> Result<T, E>) -> Result<T, E> {
        find(DEFAULT).or_else(|error| {
            let mut others = Self::all().filter(|generation| generation.number != DEFAULT.number);
            others.find_map(|generation| find(generation).ok()).ok_or(error)
        })
    }

    /// The generation of `chip`, if it can be read.
    pub fn of(chip: NamedChip) -> Option<&'static Self> {
        chip.generation().and_then(Self::numbered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_selects_its_generation() {
        let number = |chip| Generation::of(NamedChip::GpuId(chip)).map(|generation| generation.number);
        assert_eq!([420, 630, 330, 6760].map(number), [Some(4), Some(6), None, None]);
        let mut numbers = GENERATIONS.map(|generation| generation.number);
        numbers.sort_unstable();
        assert!(numbers.array_windows().all(|[a, b]| a != b));
    }
}
