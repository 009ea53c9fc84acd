//! The chip that a capture names: a number such as 420, or the chip id of the kernel.

use std::fmt;

use super::Body;

/// The chip id that the kernel reports: core, major, minor and patch level, a byte each, core on top. Bits 32
/// and above hold the speed bin, or are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChipId(pub u64);

/// Names of chips whose chip ids do not hold their numbers. Source: Mesa's freedreno_devices.py.
const NEW_NAMES: [(u32, &str); 6] = [
    (0x0606_0201, "644"),
    (0x4303_0c00, "735"),
    (0x4305_0a01, "740"),
    (0x4305_0c01, "X1-85"),
    (0x4305_1401, "750"),
    (0x4405_0001, "830"),
];

/// Core bytes of chip ids from the A740 on, and their generations. Source: Mesa's freedreno_devices.py.
const NEW_CORES: [(u8, u32); 2] = [(0x43, 7), (0x44, 8)];

/// The generations that have chips: A2xx to A8xx.
const GENERATIONS: std::ops::RangeInclusive<u32> = 2..=8;

impl ChipId {
    /// The payload of its section.
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    fn low(self) -> u32 {
        self.0 as u32
    }

    /// The generation: 4 for an A4xx. `None` if no chip of that kind is known.
    pub fn generation(self) -> Option<u32> {
        let [_, _, _, core] = self.low().to_le_bytes();
        let new = NEW_CORES.iter().find(|(new, _)| *new == core).map(|(_, generation)| *generation);
        new.or_else(|| Some(u32::from(core)).filter(|core| GENERATIONS.contains(core)))
    }

    /// The number of three digits, such as 420. Old ids hold it in their bytes, by the rule
    /// `100 core + 10 major + minor` of Mesa's freedreno_devices.py. `None` if the id holds none, and its
    /// number is not known.
    pub fn gpu_id(self) -> Option<u32> {
        if let Some(name) = self.new_name() {
            return name.parse().ok();
        }
        let [_patch, minor, major, core] = self.low().to_le_bytes().map(u32::from);
        let is_old = GENERATIONS.contains(&core) && major <= 9 && minor <= 9;
        is_old.then_some(core * 100 + major * 10 + minor)
    }

    fn new_name(self) -> Option<&'static str> {
        NEW_NAMES.iter().find(|(id, _)| *id == self.low()).map(|(_, name)| *name)
    }
}

/// The chip as the capture names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedChip {
    /// The number in a `GPU_ID` section, such as 420.
    GpuId(u32),
    /// The id in a `CHIP_ID` section.
    ChipId(ChipId),
}

impl NamedChip {
    /// The chip that a section names. `None` if it names none: 0 stands for "unknown".
    pub fn of(body: &Body<'_>) -> Option<Self> {
        match *body {
            Body::GpuId(id) if id != 0 => Some(Self::GpuId(id)),
            Body::ChipId(id) if id.0 != 0 => Some(Self::ChipId(id)),
            _ => None,
        }
    }

    /// The generation: 4 for an A4xx. `None` if no chip of that kind is known.
    pub fn generation(self) -> Option<u32> {
        match self {
            Self::GpuId(id) => Some(id / 100).filter(|first| GENERATIONS.contains(first)),
            Self::ChipId(id) => id.generation(),
        }
    }

    /// The number of three digits, such as 420, if it is known.
    pub fn gpu_id(self) -> Option<u32> {
        match self {
            Self::GpuId(id) => Some(id),
            Self::ChipId(id) => id.gpu_id(),
        }
    }

    /// Whether the chip is an A4xx.
    pub fn is_a4xx(self) -> bool {
        self.generation() == Some(4)
    }

    /// The name without the maker: `420`, `X1-85`, or the chip id where no name is known.
    pub fn short(self) -> String {
        let name = match self {
            Self::GpuId(_) => None,
            Self::ChipId(id) => id.new_name().map(str::to_owned),
        };
        name.or_else(|| self.gpu_id().map(|id| id.to_string())).unwrap_or_else(|| self.source())
    }

    /// The section and its value.
    fn source(self) -> String {
        match self {
            Self::GpuId(id) => format!("GPU_ID {id}"),
            Self::ChipId(id) => format!("chip id {:#010x}", id.0),
        }
    }
}

/// A phrase such as `an Adreno 320 (chip id 0x03020000)`.
impl fmt::Display for NamedChip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.generation(), *self) {
            (None, _) => write!(f, "an unknown chip ({})", self.source()),
            (Some(generation), Self::ChipId(id)) if id.new_name().is_none() && id.gpu_id().is_none() => {
                write!(f, "an Adreno A{generation}xx ({})", self.source())
            }
            _ => write!(f, "an Adreno {} ({})", self.short(), self.source()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_id(id: u64) -> NamedChip {
        NamedChip::ChipId(ChipId(id))
    }

    #[test]
    fn numbers_and_chip_ids_are_told_apart() {
        let rows = [
            (NamedChip::GpuId(330), Some(3), "an Adreno 330 (GPU_ID 330)", "330"),
            (NamedChip::GpuId(420), Some(4), "an Adreno 420 (GPU_ID 420)", "420"),
            (NamedChip::GpuId(6760), None, "an unknown chip (GPU_ID 6760)", "6760"),
            (by_id(0x0302_0000), Some(3), "an Adreno 320 (chip id 0x03020000)", "320"),
            (by_id(0x0400_0500), Some(4), "an Adreno 405 (chip id 0x04000500)", "405"),
            (by_id(0x0401_0800), Some(4), "an Adreno 418 (chip id 0x04010800)", "418"),
            (by_id(0x0403_0002), Some(4), "an Adreno 430 (chip id 0x04030002)", "430"),
            (by_id(0x0450_0000), Some(4), "an Adreno A4xx (chip id 0x04500000)", "chip id 0x04500000"),
            (NamedChip::GpuId(605), Some(6), "an Adreno 605 (GPU_ID 605)", "605"),
            (by_id(0x0603_00ff), Some(6), "an Adreno 630 (chip id 0x060300ff)", "630"),
            (by_id(0x0606_0201), Some(6), "an Adreno 644 (chip id 0x06060201)", "644"),
            (by_id(0xffff_0609_0000), Some(6), "an Adreno 690 (chip id 0xffff06090000)", "690"),
            (by_id(0x0703_0001), Some(7), "an Adreno 730 (chip id 0x07030001)", "730"),
            (by_id(0x4305_0a01), Some(7), "an Adreno 740 (chip id 0x43050a01)", "740"),
            (by_id(0xffff_4305_0a01), Some(7), "an Adreno 740 (chip id 0xffff43050a01)", "740"),
            (by_id(0x4305_0c01), Some(7), "an Adreno X1-85 (chip id 0x43050c01)", "X1-85"),
            (by_id(0x4399_9999), Some(7), "an Adreno A7xx (chip id 0x43999999)", "chip id 0x43999999"),
            (by_id(0x9900_0000), None, "an unknown chip (chip id 0x99000000)", "chip id 0x99000000"),
        ];
        for (chip, generation, text, short) in rows {
            assert_eq!((chip.generation(), chip.to_string().as_str()), (generation, text));
            assert_eq!((chip.short().as_str(), chip.is_a4xx()), (short, generation == Some(4)));
        }
        assert_eq!([Body::GpuId(0), Body::ChipId(ChipId(0))].iter().find_map(NamedChip::of), None);
    }
}
