//! CP_LOAD_STATE6: the stage and kind of state that a packet loads, the size of its units, and where its data is.
//!
//! Source: adreno_pm4.xml, and the tables of Mesa's cffdec.c.

use crate::a6xx::pm4::{LoadState6, StateBlock, StateSrc, StateType};
use crate::a6xx::regs::tex;
use crate::adreno::address::Address;
use crate::adreno::load_state::{LoadLayout, Pipe, Stage, StateKind};
use crate::bits::WordRow;

/// The layout of loaded state.
pub static LAYOUT: LoadLayout = LoadLayout { unit_dwords, words };

/// Number of dwords in one unit of NUM_UNIT and DST_OFF.
pub const fn unit_dwords(kind: StateKind) -> u32 {
    match kind {
        StateKind::Instructions(_) => 32,
        StateKind::Textures(_) | StateKind::SsboDescriptors(_) => 16,
        StateKind::Constants(_) | StateKind::Samplers(_) => 4,
        StateKind::SharedConstants(_) => 1,
        StateKind::Ubos(_) | StateKind::SsboSizes(_) | StateKind::SsboAddresses(_) | StateKind::Unknown => 2,
    }
}

const fn words(kind: StateKind) -> &'static [WordRow] {
    match kind {
        StateKind::Samplers(_) => tex::SAMPLER,
        StateKind::Textures(_) | StateKind::SsboDescriptors(_) => tex::TEXTURE,
        StateKind::Ubos(_) => tex::UBO,
        StateKind::Instructions(_)
        | StateKind::Constants(_)
        | StateKind::SharedConstants(_)
        | StateKind::SsboSizes(_)
        | StateKind::SsboAddresses(_)
        | StateKind::Unknown => &[],
    }
}

/// The family that a block belongs to.
enum Family {
    Texture(Stage),
    Shader(Stage),
    Images(Pipe),
    Unknown,
}

fn family(block: StateBlock) -> Family {
    use StateBlock as B;
    match block {
        B::SB6_VS_TEX => Family::Texture(Stage::VS),
        B::SB6_HS_TEX => Family::Texture(Stage::HS),
        B::SB6_DS_TEX => Family::Texture(Stage::DS),
        B::SB6_GS_TEX => Family::Texture(Stage::GS),
        B::SB6_FS_TEX => Family::Texture(Stage::FS),
        B::SB6_CS_TEX => Family::Texture(Stage::CS),
        B::SB6_VS_SHADER => Family::Shader(Stage::VS),
        B::SB6_HS_SHADER => Family::Shader(Stage::HS),
        B::SB6_DS_SHADER => Family::Shader(Stage::DS),
        B::SB6_GS_SHADER => Family::Shader(Stage::GS),
        B::SB6_FS_SHADER => Family::Shader(Stage::FS),
        B::SB6_CS_SHADER => Family::Shader(Stage::CS),
        B::SB6_IBO => Family::Images(Pipe::Graphics),
        B::SB6_CS_IBO => Family::Images(Pipe::Compute),
        B::Other(_) => Family::Unknown,
    }
}

/// The kind of state that `block` and `kind` name together. Images of the compute stage stand in its shader block, as
/// type ST6_IBO. Shared constants of both pipes stand in the block of the other images (a6xx.xml, HLSQ_SHARED_CONSTS).
pub fn state_kind(block: StateBlock, kind: StateType) -> StateKind {
    use StateType as T;
    match (family(block), kind) {
        (Family::Shader(stage), T::ST6_SHADER) => StateKind::Instructions(stage),
        (Family::Shader(stage), T::ST6_CONSTANTS) => StateKind::Constants(stage),
        (Family::Texture(stage), T::ST6_SHADER) => StateKind::Samplers(stage),
        (Family::Texture(stage), T::ST6_CONSTANTS) => StateKind::Textures(stage),
        (Family::Shader(stage) | Family::Texture(stage), T::ST6_UBO) => StateKind::Ubos(stage),
        (Family::Shader(Stage::CS), T::ST6_IBO) => StateKind::SsboDescriptors(Pipe::Compute),
        (Family::Images(Pipe::Graphics), T::ST6_CONSTANTS) => StateKind::SharedConstants(Pipe::Graphics),
        (Family::Images(Pipe::Graphics), T::ST6_UBO) => StateKind::SharedConstants(Pipe::Compute),
        (Family::Images(pipe), T::ST6_SHADER | T::ST6_IBO) => StateKind::SsboDescriptors(pipe),
        _ => StateKind::Unknown,
    }
}

/// Where the data of a CP_LOAD_STATE6 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// In the packet; cut to the size in the header.
    Inline(&'a [u32]),
    /// In GPU memory.
    Memory {
        /// Where the first dword is.
        address: Address,
    },
    /// Behind a bindless base: `SP_CS_BINDLESS_BASE` for the compute stage, `SP_BINDLESS_BASE` for others.
    Bindless {
        /// Number of the base, 0 to 15; the chip has five.
        base: u32,
        /// Dwords from the base to the first dword.
        offset: u32,
    },
    /// In a constant buffer of the stage.
    Ubo {
        /// Number of the constant buffer.
        ubo: u32,
        /// Bytes from its start to the first dword, as far as known.
        offset: u32,
    },
}

impl<'a> LoadState6<'a> {
    /// The kind of state that the packet loads.
    pub fn kind(&self) -> StateKind {
        state_kind(self.dst.STATE_BLOCK(), self.dst.STATE_TYPE())
    }

    /// Number of dwords that NUM_UNIT stands for.
    pub fn dwords(&self) -> u32 {
        self.dst.NUM_UNIT() * unit_dwords(self.kind())
    }

    /// Where the data is.
    pub fn source(&self) -> Source<'a> {
        match self.dst.STATE_SRC() {
            StateSrc::SS6_INDIRECT => {
                let address = Address::wide(self.src.EXT_SRC_ADDR(), self.EXT_SRC_ADDR_HI);
                Source::Memory { address }
            }
            StateSrc::SS6_BINDLESS => {
                Source::Bindless { base: self.src.0 >> 28, offset: self.src.0 & 0xff_ffff }
            }
            StateSrc::SS6_UBO => Source::Ubo { ubo: self.src.0 >> 16, offset: self.src.0 & 0xffff },
            StateSrc::SS6_DIRECT | StateSrc::Other(_) => {
                Source::Inline(&self.rest[..self.rest.len().min(self.dwords() as usize)])
            }
        }
    }
}
