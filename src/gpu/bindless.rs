//! Bindless bases of an A6xx.

use a4emu_decoder::a6xx::regs::compute::{SP_BINDLESS_BASE_DESCRIPTOR_LO, SP_CS_BINDLESS_BASE_DESCRIPTOR_LO};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::bits::Register;

use crate::regfile::RegFile;

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
}
