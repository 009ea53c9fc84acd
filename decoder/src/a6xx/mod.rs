//! The A6xx: its registers, packets, enumerations and loaded state.
pub mod enums;
pub mod load_state;
pub mod pm4;
pub mod regs;

use crate::adreno::generation::{Framing, Generation};

/// The generation as readers of its streams see it.
pub static A6XX: Generation = Generation {
    number: 6,
    prefix: "A6XX",
    address_bits: 49,
    framing: Framing::Types4And7,
    registers: &regs::REGISTERS,
    packets: &pm4::PACKETS,
    outline: pm4::outline,
    enums: enums::TABLES,
    descriptors: &[regs::tex::SAMPLER, regs::tex::TEXTURE, regs::tex::UBO],
    loads: &load_state::LAYOUT,
};
