//! State that packets load: the stages, the kinds of state, and the layout of their units in a generation.

use crate::adreno::address::Address;
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
    /// Constants that the stages of a pipe share, from c504.x on, in dwords; from A6xx on.
    SharedConstants(Pipe),
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
        /// Where the first dword is.
        address: Address,
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
    /// The stage that the state belongs to; `None` if several stages share it.
    pub const fn stage(self) -> Option<Stage> {
        match self {
            Self::Instructions(stage)
            | Self::Constants(stage)
            | Self::Samplers(stage)
            | Self::Textures(stage)
            | Self::Ubos(stage) => Some(stage),
            Self::SharedConstants(pipe)
            | Self::SsboDescriptors(pipe)
            | Self::SsboSizes(pipe)
            | Self::SsboAddresses(pipe) => match pipe {
                Pipe::Graphics => None,
                Pipe::Compute => Some(Stage::CS),
            },
            Self::Unknown => None,
        }
    }
}

/// How a generation lays out loaded state.
#[derive(Debug)]
pub struct LoadLayout {
    /// Number of dwords in one unit of a kind, in which packets count places and sizes. At least 1.
    pub unit_dwords: fn(StateKind) -> u32,
    /// The words of one unit of a kind; empty if they have no known fields.
    pub words: fn(StateKind) -> &'static [WordRow],
}
