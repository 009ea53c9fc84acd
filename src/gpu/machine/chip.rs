//! The chips that the device can be, and what is known of each.

use a4emu_decoder::adreno::capture::{Foreign, NamedChip};
use a4emu_decoder::generation::{DEFAULT, Generation};

use crate::budget::{OptionNames, in_brackets};
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
    /// The chip id that the device reports: core, major, minor and patch level, a byte each. Other patch
    /// levels are the same chip.
    pub chip_id: u32,
    /// Whether Mesa's driver supports it, so that the device can report it.
    pub in_mesa: bool,
    /// Whether alpha of an sRGB texture in ASTC blocks is decoded. Mesa avoids it on this chip alone (its
    /// commit adf795432f); of the others nothing is known.
    pub astc_srgb_alpha: bool,
    /// Source of the facts.
    pub source: &'static str,
}

const KIB: usize = 1 << 10;

/// All known chips. Of the A4xx, the kernel's driver and Mesa list three, the vendor's driver a fourth.
pub const CHIPS: [ChipRow; 5] = [
    ChipRow {
        id: 405,
        name: "405",
        gmem_bytes: 256 * KIB,
        chip_id: 0x0400_0500,
        in_mesa: true,
        astc_srgb_alpha: true,
        source: "the kernel's a4xx_catalog.c",
    },
    ChipRow {
        id: 418,
        name: "418",
        gmem_bytes: 512 * KIB,
        chip_id: 0x0401_0800,
        in_mesa: false,
        astc_srgb_alpha: true,
        source: "the vendor's kgsl, adreno-gpulist.h",
    },
    ChipRow {
        id: 420,
        name: "420",
        gmem_bytes: 1536 * KIB,
        chip_id: 0x0402_0000,
        in_mesa: true,
        astc_srgb_alpha: false,
        source: "the kernel's a4xx_catalog.c",
    },
    ChipRow {
        id: 430,
        name: "430",
        gmem_bytes: 1536 * KIB,
        chip_id: 0x0403_0002,
        in_mesa: true,
        astc_srgb_alpha: true,
        source: "the kernel's a4xx_catalog.c",
    },
    ChipRow {
        id: 630,
        name: "630",
        gmem_bytes: 1024 * KIB,
        chip_id: 0x0603_0001,
        in_mesa: true,
        astc_srgb_alpha: true,
        source: "the kernel's a6xx_catalog.c",
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

impl Chip {
    /// The chip that a capture names. Its number is 0 if the chip has none.
    pub fn named(name: NamedChip) -> Self {
        Self { id: name.gpu_id().unwrap_or(0) }
    }

    /// The generation as which its streams are read. A chip of another one is only here because `--force` reads it so.
    pub fn generation(self) -> &'static Generation {
        Generation::of(NamedChip::GpuId(self.id)).unwrap_or(DEFAULT)
    }

    /// Whether its draws run. Of other chips they are left out, and reported. Dispatches run on all.
    pub fn renders(self) -> bool {
        self.generation().number == DEFAULT.number
    }

    /// The chip's row of [`CHIPS`], if it has one.
    pub fn row(self) -> Option<&'static ChipRow> {
        CHIPS.iter().find(|row| row.id == self.id)
    }

    /// Tile memory in bytes. An unlisted chip has as much as the default, which no known chip exceeds.
    pub fn gmem_bytes(self) -> usize {
        const MOST: usize = 1536 * KIB;
        self.row().map_or(MOST, |row| row.gmem_bytes)
    }
}

/// The kind of a file of commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// An `.rd` capture.
    #[default]
    Capture,
    /// A dump that the kernel makes after a hang (devcoredump).
    Devcore,
}

impl Kind {
    /// The tool of Mesa that reads it, for chips of all generations.
    fn reader(self) -> &'static str {
        match self {
            Self::Capture => "cffdump",
            Self::Devcore => "crashdec",
        }
    }
}

/// The report for a file that names this chip, if it is of another generation. `names` has the option that reads it.
pub fn refusal(name: NamedChip, file: Kind, foreign: Foreign, names: OptionNames) -> Option<Trouble> {
    match foreign {
        _ if Generation::of(name).is_some() => None,
        Foreign::Interpret => {
            let what = format!("to read a capture of {name} as one of an A4xx{}", in_brackets(names.force));
            Some(Trouble::Unsupported(what))
        }
        Foreign::PassOver => {
            let force = match names.force {
                "" => String::new(),
                name => format!("; {name} reads it as an A4xx"),
            };
            Some(Trouble::Refused(format!(
                "recorded on {name}: a4emu reads captures of the Adreno A4xx and A6xx; Mesa's {} reads this file{force}",
                file.reader()
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::capture::ChipId;

    use super::*;

    #[test]
    fn names_are_numbers_and_no_chip_is_there_twice() {
        for (index, row) in CHIPS.iter().enumerate() {
            assert_eq!(row.name.parse(), Ok(row.id));
            let name = NamedChip::ChipId(ChipId(row.chip_id.into()));
            assert_eq!((Chip::named(name).id, name.is_a4xx()), (row.id, row.id < 500));
            assert!(CHIPS[..index].iter().all(|before| before.id < row.id));
        }
        assert!(CHIPS.iter().all(|row| row.gmem_bytes <= Chip { id: 499 }.gmem_bytes()));
        assert_eq!(Chip::default().row().map(|row| row.in_mesa), Some(true));
    }
}
