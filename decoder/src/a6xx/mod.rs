//! The A6xx: its registers, packets, enumerations and loaded state.
pub mod enums;
pub mod load_state;
pub mod pm4;
pub mod regs;

use crate::adreno::generation::{Dumps, Framing, Generation, IbRegisters};

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
    // a6xx_submit in a6xx_gpu.c: event, address in two dwords, fence.
    dumps: Dumps {
        fence_dwords: 4,
        has_old_rptr: true,
        ibs: [
            IbRegisters { base: &["CP_IB1_BASE_LO", "CP_IB1_BASE_HI"], left: "CP_IB1_REM_SIZE" },
            IbRegisters { base: &["CP_IB2_BASE_LO", "CP_IB2_BASE_HI"], left: "CP_IB2_REM_SIZE" },
        ],
    },
};
