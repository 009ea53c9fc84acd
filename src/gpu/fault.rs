//! Everything that can go wrong: one type, [`Trouble`], with a severity and a [`Place`], and one table from
//! its kind to the severity. A [`Fault`] is an error of the recorded program or its command stream.
//! Unsupported features and limits are the emulator's. [`Missing`] memory is in no buffer of the capture. All
//! are recorded with counts; none panics.

mod missing;
mod trouble;

use a4emu_decoder::adreno::address::Address;
use std::fmt;

pub use missing::{Miss, Missing};
pub use trouble::{Damage, Log, Report, Severity, Trouble};

/// A place in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Submit, counted from 0 over the capture.
    pub submit: u32,
    /// Number of the running draw or dispatch. Between two of them, the number of the next one.
    pub draws: u32,
    /// Number of its frame draw. Between two draws, the number that the next new frame draw gets.
    pub frame_draw: u32,
    /// GPU address of the packet.
    pub address: Address,
    /// Number of calls around the packet's buffer. 0 is the submitted buffer.
    pub depth: u32,
    /// Whether it is inside a command buffer that this submit has already run.
    pub repeated: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "submit {} at {}", self.submit, self.address)
    }
}

/// An error on which the chip would hang or return garbage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A command stream that cannot be parsed, with the reader's message.
    Stream(String),
    /// A packet that is shorter than its layout.
    ShortPacket {
        /// Name of the opcode.
        name: &'static str,
        /// Dwords of payload.
        dwords: usize,
    },
    /// A call to a buffer that is not in memory.
    NoBuffer {
        /// Its address.
        address: Address,
        /// Its length in dwords, as the call says.
        dwords: u32,
    },
    /// A call to a buffer that memory holds only in part.
    CutBuffer {
        /// Its address.
        address: Address,
        /// Its length in dwords, as the call says.
        dwords: u32,
        /// Dwords that memory holds.
        held: u32,
    },
    /// A call to a buffer that is already running.
    SelfCall {
        /// Its address.
        address: Address,
    },
    /// Calls that are nested deeper than the limit.
    TooDeep {
        /// The buffer that was not entered.
        address: Address,
        /// Most calls that may be open.
        limit: u32,
    },
    /// A wait whose condition can no longer become true.
    EndlessWait {
        /// Memory address or register that it polls.
        polled: Address,
        /// The polled value, after the mask.
        value: u32,
        /// The value that it waits for.
        reference: u32,
    },
    /// A register that does not exist.
    NoRegister(u32),
    /// A store to an address in no buffer.
    Store {
        /// The unit that stored.
        client: Client,
        /// Page of the address.
        page: Address,
    },
    /// A shader that cannot run, or ran too long.
    Shader(String),
    /// A draw, surface or descriptor that is invalid.
    Draw(String),
}

impl Fault {
    /// Whether the command stream itself is damaged. The other faults are the recorded program's.
    fn is_damage(&self) -> bool {
        match self {
            Self::Stream(_)
            | Self::ShortPacket { .. }
            | Self::NoBuffer { .. }
            | Self::CutBuffer { .. }
            | Self::SelfCall { .. }
            | Self::TooDeep { .. }
            | Self::NoRegister(_) => true,
            Self::EndlessWait { .. } | Self::Store { .. } | Self::Shader(_) | Self::Draw(_) => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortPacket { name, dwords } => write!(f, "{name} with {dwords} dwords is too short"),
            Self::NoBuffer { address, dwords } => {
                write!(f, "command buffer of {dwords} dwords at {address} is in no buffer of the capture")
            }
            Self::CutBuffer { address, dwords, held } => {
                write!(f, "command buffer at {address} has {dwords} dwords, {held} of them captured")
            }
            Self::SelfCall { address } => write!(f, "command buffer at {address} calls itself"),
            Self::TooDeep { address, limit } => {
                write!(f, "command buffer at {address} is nested more than {limit} deep")
            }
            Self::EndlessWait { polled, value, reference } => {
                write!(f, "wait on {polled:#x} cannot end: {value:#x} against {reference:#x}")
            }
            Self::NoRegister(offset) => write!(f, "write to {offset:#x}, which is no register"),
            Self::Store { client, page } => write!(f, "{client} store to page {page}, in no buffer"),
            Self::Stream(what) | Self::Shader(what) | Self::Draw(what) => f.write_str(what),
        }
    }
}

/// The unit that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Command buffers.
    CommandStream,
    /// Draw-state groups.
    DrawState,
    /// Packets that copy, compare or store memory.
    Packet,
    /// Shader code.
    ShaderCode,
    /// Constants loaded by packet.
    Constants,
    /// Descriptors loaded by packet.
    Descriptors,
    /// Parameters of an indirect draw or dispatch.
    Indirect,
    /// Index buffers.
    Index,
    /// Vertex buffers.
    Vertex,
    /// Texture and image texels.
    Texture,
    /// Border colours.
    BorderColor,
    /// Loads, stores and atomics of shaders through pointers.
    Global,
    /// Buffer descriptors (SSBO) and typed images.
    Ssbo,
    /// Private (spill) memory.
    Private,
    /// Render targets in system memory.
    RenderTarget,
    /// Resolves.
    Resolve,
    /// Counters and queries.
    Query,
    /// Tessellation factors and other geometry scratch.
    Geometry,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandStream => "command stream",
            Self::DrawState => "draw state group",
            Self::Packet => "packet",
            Self::ShaderCode => "shader code",
            Self::Constants => "constants",
            Self::Descriptors => "descriptors",
            Self::Indirect => "indirect parameters",
            Self::Index => "index buffer",
            Self::Vertex => "vertex fetch",
            Self::Texture => "texture",
            Self::BorderColor => "border colour",
            Self::Global => "shader global memory",
            Self::Ssbo => "shader buffer",
            Self::Private => "shader private memory",
            Self::RenderTarget => "render target",
            Self::Resolve => "resolve",
            Self::Query => "query",
            Self::Geometry => "geometry scratch",
        })
    }
}
