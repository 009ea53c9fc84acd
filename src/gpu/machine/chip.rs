//! The chips of the A4xx family, and what is known of each.

use std::fmt;

use a4emu_decoder::capture::{Foreign, is_a4xx};

use crate::fault::Trouble;

/// The known facts of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipRow {
    /// Number of three digits, such as 420.
    pub id: u32,
    /// The number as text.
    pub name: &'static str,
    /// Tile memory in bytes.
    pub gmem_bytes: usize,
    /// The patch level that the device reports.
    pub patch: u8,
    /// Whether Mesa's driver supports it, so that the device can report it.
    pub in_mesa: bool,
    /// Source of the facts.
    pub source: &'static str,
}

const KIB: usize = 1 << 10;

/// All known chips. The kernel's driver and Mesa list three, the vendor's driver a fourth.
pub const CHIPS: [ChipRow; 4] = [
    ChipRow {
        id: 405,
        name: "405",
        gmem_bytes: 256 * KIB,
        patch: 0,
        in_mesa: true,
        source: "the kernel's a4xx_catalog.c",
    },
    ChipRow {
        id: 418,
        name: "418",
        gmem_bytes: 512 * KIB,
        patch: 0,
        in_mesa: false,
        source: "the vendor's kgsl, adreno-gpulist.h",
    },
    ChipRow {
        id: 420,
        name: "420",
        gmem_bytes: 1536 * KIB,
        patch: 0,
        in_mesa: true,
        source: "the kernel's a4xx_catalog.c",
    },
    ChipRow {
        id: 430,
        name: "430",
        gmem_bytes: 1536 * KIB,
        patch: 2,
        in_mesa: true,
        source: "the kernel's a4xx_catalog.c",
    },
];

/// A chip of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Number of three digits, such as 420.
    pub id: u32,
}

impl Default for Chip {
    /// The most common chip, for a capture that does not name its chip.
    fn default() -> Self {
        Self { id: 420 }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            id @ ..1000 => write!(f, "A{id}"),
            id => write!(f, "chip of number {id}"),
        }
    }
}

impl Chip {
    /// The chip's row of [`CHIPS`], if it has one.
    pub fn row(self) -> Option<&'static ChipRow> {
        CHIPS.iter().find(|row| row.id == self.id)
    }

    /// Tile memory in bytes. An unlisted chip has as much as the default, which no known chip exceeds.
    pub fn gmem_bytes(self) -> usize {
        const MOST: usize = 1536 * KIB;
        self.row().map_or(MOST, |row| row.gmem_bytes)
    }

    /// Whether this chip is emulated.
    pub const fn is_a4xx(self) -> bool {
        is_a4xx(self.id)
    }

    /// The report for a capture of this chip, if it is of another generation.
    pub fn refusal(self, foreign: Foreign) -> Option<Trouble> {
        match foreign {
            _ if self.is_a4xx() => None,
            Foreign::Interpret => Some(Trouble::Unsupported(format!(
                "gpu {} is no A4xx and is taken for one: another generation",
                self.id
            ))),
            Foreign::PassOver => Some(Trouble::Refused(format!(
                "the capture is of an {self}, and a4emu is an emulator of the A4xx: its commands are passed over \
                 (Mesa's cffdump reads them; --force takes them for an A4xx's)"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers_and_no_chip_is_there_twice() {
        for (index, row) in CHIPS.iter().enumerate() {
            assert_eq!(row.name.parse(), Ok(row.id));
            assert!(Chip { id: row.id }.is_a4xx());
            assert!(CHIPS[..index].iter().all(|before| before.id < row.id));
        }
        assert!(CHIPS.iter().all(|row| row.gmem_bytes <= Chip { id: 499 }.gmem_bytes()));
        assert_eq!(Chip::default().row().map(|row| row.in_mesa), Some(true));
    }
}
