//! The registers that each stage has of its own, by their names.

use std::sync::LazyLock;

use a4emu_decoder::a6xx::regs::REGISTERS;

use crate::machine::{STAGES, Stage};

/// Offsets of a stage's registers: the low halves of its addresses, the length of its program, and its counts.
#[derive(Debug)]
pub struct StageRegisters {
    /// Address of the program.
    pub start: u32,
    /// Length of the program, in groups of 16 instructions.
    pub length: u32,
    /// Counts of textures, samplers and images.
    pub config: u32,
    /// Address of the textures.
    pub textures: u32,
    /// Address of the samplers.
    pub samplers: u32,
}

impl StageRegisters {
    /// The registers of `stage`.
    pub fn of(stage: Stage) -> &'static Self {
        static ALL: LazyLock<[StageRegisters; 6]> = LazyLock::new(|| STAGES.map(StageRegisters::named));
        &ALL[stage as usize]
    }

    fn named(stage: Stage) -> Self {
        let offset = |what: &str| {
            REGISTERS.by_name(&format!("SP_{}_{what}", stage.name())).expect("a register of the A6xx")
        };
        Self {
            start: offset("OBJ_START_LO"),
            length: offset("INSTRLEN"),
            config: offset("CONFIG"),
            textures: offset("TEX_CONST_LO"),
            samplers: offset("TEX_SAMP_LO"),
        }
    }
}
