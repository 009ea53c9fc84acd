//! CP_LOAD_STATE4: the stage and kind of state that a packet loads, and the size of its units.
//!
//! Source: docs/hardware/command-processor.md, section 7.

use crate::a4xx::enums::{StateBlock, StateSrc, StateType};
use crate::a4xx::pm4::LoadState4;
use crate::a4xx::regs::tex;
use crate::adreno::load_state::{LoadLayout, Pipe, Stage, StateKind, StateSource};
use crate::bits::WordRow;

/// The layout of loaded state.
pub static LAYOUT: LoadLayout = LoadLayout { unit_dwords, words };

/// Number of dwords in one unit of NUM_UNIT and DST_OFF.
pub const fn unit_dwords(kind: StateKind) -> u32 {
    match kind {
        StateKind::Instructions(_) => 32,
        StateKind::Textures(_) => 8,
        StateKind::Constants(_) | StateKind::SsboDescriptors(_) => 4,
        StateKind::Samplers(_)
        | StateKind::Ubos(_)
        | StateKind::SsboSizes(_)
        | StateKind::SsboAddresses(_)
        | StateKind::SharedConstants(_)
        | StateKind::Unknown => 2,
    }
}

const fn words(kind: StateKind) -> &'static [WordRow] {
    match kind {
        StateKind::Samplers(_) => tex::SAMPLER,
        StateKind::Textures(_) => tex::TEXTURE,
        StateKind::SsboDescriptors(_) => tex::SSBO_0,
        StateKind::SsboSizes(_) => tex::SSBO_1,
        StateKind::Instructions(_)
        | StateKind::Constants(_)
        | StateKind::Ubos(_)
        | StateKind::SsboAddresses(_)
        | StateKind::SharedConstants(_)
        | StateKind::Unknown => &[],
    }
}

/// The family that a block belongs to.
enum Family {
    Texture(Stage),
    Shader(Stage),
    Ssbo(Pipe),
    Unknown,
}

fn family(block: StateBlock) -> Family {
    use StateBlock as B;
    match block {
        B::SB4_VS_TEX => Family::Texture(Stage::VS),
        B::SB4_HS_TEX => Family::Texture(Stage::HS),
        B::SB4_DS_TEX => Family::Texture(Stage::DS),
        B::SB4_GS_TEX => Family::Texture(Stage::GS),
        B::SB4_FS_TEX => Family::Texture(Stage::FS),
        B::SB4_CS_TEX => Family::Texture(Stage::CS),
        B::SB4_VS_SHADER => Family::Shader(Stage::VS),
        B::SB4_HS_SHADER => Family::Shader(Stage::HS),
        B::SB4_DS_SHADER => Family::Shader(Stage::DS),
        B::SB4_GS_SHADER => Family::Shader(Stage::GS),
        B::SB4_FS_SHADER => Family::Shader(Stage::FS),
        B::SB4_CS_SHADER => Family::Shader(Stage::CS),
        B::SB4_SSBO => Family::Ssbo(Pipe::Graphics),
        B::SB4_CS_SSBO => Family::Ssbo(Pipe::Compute),
        B::Other(_) => Family::Unknown,
    }
}

/// The kind of state that `block` and `kind` name together.
pub fn state_kind(block: StateBlock, kind: StateType) -> StateKind {
    use StateType as T;
    match (family(block), kind) {
        (Family::Shader(stage), T::ST4_SHADER) => StateKind::Instructions(stage),
        (Family::Shader(stage), T::ST4_CONSTANTS) => StateKind::Constants(stage),
        (Family::Texture(stage), T::ST4_SHADER) => StateKind::Samplers(stage),
        (Family::Texture(stage), T::ST4_CONSTANTS) => StateKind::Textures(stage),
        (Family::Shader(stage) | Family::Texture(stage), T::ST4_UBO) => StateKind::Ubos(stage),
        (Family::Ssbo(pipe), T::ST4_SHADER) => StateKind::SsboDescriptors(pipe),
        (Family::Ssbo(pipe), T::ST4_CONSTANTS) => StateKind::SsboSizes(pipe),
        (Family::Ssbo(pipe), T::ST4_UBO) => StateKind::SsboAddresses(pipe),
        (Family::Unknown, _) | (_, T::Other(_)) => StateKind::Unknown,
    }
}

impl<'a> LoadState4<'a> {
    /// The kind of state that the packet loads.
    pub fn kind(&self) -> StateKind {
        state_kind(self.dst.STATE_BLOCK(), self.src.STATE_TYPE())
    }

    /// Number of dwords that NUM_UNIT stands for.
    pub fn dwords(&self) -> u32 {
        self.dst.NUM_UNIT() * unit_dwords(self.kind())
    }

    /// Where the data is. STATE_SRC 1 and 3 have no known A4xx meaning and count as direct.
    pub fn source(&self) -> StateSource<'a> {
        match self.dst.STATE_SRC() {
            StateSrc::SS4_INDIRECT => StateSource::Memory { address: self.src.EXT_SRC_ADDR().into() },
            StateSrc::SS4_DIRECT | StateSrc::Other(_) => {
                StateSource::Inline(&self.rest[..self.rest.len().min(self.dwords() as usize)])
            }
        }
    }
}
