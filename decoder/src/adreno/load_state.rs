//! CP_LOAD_STATE4: the stage and kind of state that a packet loads, and the size of its units.
//!
//! Source: docs/hardware/command-processor.md, section 7.

use crate::a4xx::enums::{StateBlock, StateSrc, StateType};
use crate::a4xx::pm4::LoadState4;
use crate::a4xx::regs::tex;
use crate::bits::WordRow;

/// A programmable stage, in the order of the packet's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Vertex.
    VS,
    /// Hull (tessellation control).
    HS,
    /// Domain (tessellation evaluation).
    DS,
    /// Geometry.
    GS,
    /// Fragment.
    FS,
    /// Compute.
    CS,
}

/// The kind of state that a block and a type name together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateKind {
    /// Instruction store of a stage, in groups of 16 instructions.
    Instructions(Stage),
    /// Constant file of a stage, in vec4s.
    Constants(Stage),
    /// Sampler slots of a stage.
    Samplers(Stage),
    /// Texture slots of a stage.
    Textures(Stage),
    /// Constant-buffer pointers of a stage; only seen in vendor traces.
    Ubos(Stage),
    /// SSBO and image descriptors.
    SsboDescriptors(Pipe),
    /// SSBO and image sizes.
    SsboSizes(Pipe),
    /// SSBO and image addresses.
    SsboAddresses(Pipe),
    /// A block and type without a known meaning; in the captures its units have two dwords.
    Unknown,
}

/// The pipe whose stages share a set of SSBO slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipe {
    /// All 3D stages.
    Graphics,
    /// The compute stage.
    Compute,
}

/// Where the data of a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSource<'a> {
    /// In the packet; cut to the size in the header.
    Inline(&'a [u32]),
    /// In GPU memory.
    Memory {
        /// Byte address.
        address: u32,
    },
}

impl Stage {
    /// The stage's name in two letters, as drivers write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VS => "VS",
            Self::HS => "HS",
            Self::DS => "DS",
            Self::GS => "GS",
            Self::FS => "FS",
            Self::CS => "CS",
        }
    }
}

impl StateKind {
    /// Number of dwords in one unit of NUM_UNIT and DST_OFF.
    pub const fn unit_dwords(self) -> u32 {
        match self {
            Self::Instructions(_) => 32,
            Self::Textures(_) => 8,
            Self::Constants(_) | Self::SsboDescriptors(_) => 4,
            Self::Samplers(_)
            | Self::Ubos(_)
            | Self::SsboSizes(_)
            | Self::SsboAddresses(_)
            | Self::Unknown => 2,
        }
    }

    /// The words of one unit; empty if they have no known fields.
    pub const fn words(self) -> &'static [WordRow] {
        match self {
            Self::Samplers(_) => tex::SAMPLER,
            Self::Textures(_) => tex::TEXTURE,
            Self::SsboDescriptors(_) => tex::SSBO_0,
            Self::SsboSizes(_) => tex::SSBO_1,
            Self::Instructions(_)
            | Self::Constants(_)
            | Self::Ubos(_)
            | Self::SsboAddresses(_)
            | Self::Unknown => &[],
        }
    }

    /// The stage that the state belongs to; `None` if several stages share it.
    pub const fn stage(self) -> Option<Stage> {
        match self {
            Self::Instructions(stage)
            | Self::Constants(stage)
            | Self::Samplers(stage)
            | Self::Textures(stage)
            | Self::Ubos(stage) => Some(stage),
            Self::SsboDescriptors(pipe) | Self::SsboSizes(pipe) | Self::SsboAddresses(pipe) => match pipe {
                Pipe::Graphics => None,
                Pipe::Compute => Some(Stage::CS),
            },
            Self::Unknown => None,
        }
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
        self.dst.NUM_UNIT() * self.kind().unit_dwords()
    }

    /// Where the data is. STATE_SRC 1 and 3 have no known A4xx meaning and count as direct.
    pub fn source(&self) -> StateSource<'a> {
        match self.dst.STATE_SRC() {
            StateSrc::SS4_INDIRECT => StateSource::Memory { address: self.src.EXT_SRC_ADDR() },
            StateSrc::SS4_DIRECT | StateSrc::Other(_) => {
                StateSource::Inline(&self.rest[..self.rest.len().min(self.dwords() as usize)])
            }
        }
    }
}
