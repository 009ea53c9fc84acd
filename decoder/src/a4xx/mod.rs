//! The A4xx: its registers, packets, enumerations, loaded state, and the words that its stages pass to each other.
pub mod enums;
pub mod load_state;
pub mod pm4;
pub mod regs;
pub mod stage_words;

use crate::adreno::generation::{Dumps, Framing, Generation, IbRegisters};

/// The generation as readers of its streams see it.
pub static A4XX: Generation = Generation {
    number: 4,
    prefix: "A4XX",
    address_bits: 32,
    framing: Framing::Types0To3,
    registers: &regs::REGISTERS,
    packets: &pm4::PACKETS,
    outline: pm4::outline,
    enums: enums::TABLES,
    descriptors: &[regs::tex::SAMPLER, regs::tex::TEXTURE, regs::tex::SSBO_0, regs::tex::SSBO_1],
    loads: &load_state::LAYOUT,
    // a4xx_submit in a4xx_gpu.c: event, address, fence.
    dumps: Dumps {
        fence_dwords: 3,
        has_old_rptr: false,
        ibs: [
            IbRegisters { base: &["CP_IB1_BASE"], left: "CP_IB1_BUFSZ" },
            IbRegisters { base: &["CP_IB2_BASE"], left: "CP_IB2_BUFSZ" },
        ],
    },
};
