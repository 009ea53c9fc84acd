//! Descriptors of an A6xx in memory: those of the bindings, and those behind bindless bases.

use a4emu_decoder::a6xx::regs::compute::{SP_BINDLESS_BASE_DESCRIPTOR_LO, SP_CS_BINDLESS_BASE_DESCRIPTOR_LO};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::bits::Register;

use crate::memory::{Memory, little_endian};
use crate::regfile::RegFile;

/// The words of a descriptor.
pub type DescriptorWords = [u32; 16];

/// A bindless base of an A6xx: descriptors in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindlessBase {
    /// Address of the first descriptor.
    pub start: Address,
    /// Bytes from one descriptor to the next.
    pub stride: u64,
}

impl BindlessBase {
    /// Base number `base` of compute shaders, or of the stages of draws. `None` if the chip has no such base.
    pub fn of(regs: &RegFile, stage: Option<Stage>, base: u32) -> Option<Self> {
        let row = match stage {
            Some(Stage::CS) => &SP_CS_BINDLESS_BASE_DESCRIPTOR_LO::ROW,
            _ => &SP_BINDLESS_BASE_DESCRIPTOR_LO::ROW,
        };
        let written = (base < row.len).then(|| regs.address(row.offset + base * row.stride).get())?;
        // The two low bits are the size of a descriptor.
        Some(Self { start: Address::new(written & !3), stride: 8 << (written & 3) })
    }

    /// Returns the address of descriptor `slot`.
    pub fn descriptor(&self, memory: &Memory, slot: u32) -> Address {
        memory.behind(self.start, u64::from(slot).saturating_mul(self.stride))
    }

    /// Returns the words of descriptor `slot`; those behind its end are zero. `None` if memory lacks some of them.
    pub fn words(&self, memory: &Memory, slot: u32) -> Option<DescriptorWords> {
        let mut bytes = [0; 64];
        let len = self.stride.min(64) as usize;
        memory.read(self.descriptor(memory, slot), &mut bytes[..len]).then_some(())?;
        Some(std::array::from_fn(|n| little_endian(&bytes[4 * n..][..4])))
    }
}
