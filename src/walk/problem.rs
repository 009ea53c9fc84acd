//! What a walk finds wrong; it goes on with the rest.

use a4emu_decoder::error::{CaptureError, PacketError};
use thiserror::Error;

use crate::status::Status;

/// One thing that is damaged or not supported.
#[derive(Debug, Error)]
pub enum Problem {
    /// The container.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A dword that is no packet. The address is that of the dword.
    #[error("{error} of the buffer at {buffer:#010x}")]
    Packet {
        /// What is wrong.
        error: PacketError,
        /// Start of the command buffer.
        buffer: u32,
    },
    /// A command buffer that is in no captured buffer.
    #[error("command buffer of {dwords} dwords at {address:#010x} is in no buffer of the capture")]
    NoBuffer {
        /// Its address.
        address: u64,
        /// Its length.
        dwords: u32,
    },
    /// A command buffer that runs past what is captured.
    #[error("command buffer at {address:#010x} has {dwords} dwords, {captured} of them captured")]
    CutBuffer {
        /// Its address.
        address: u64,
        /// Its length.
        dwords: u32,
        /// Dwords that exist.
        captured: usize,
    },
    /// A command buffer that is already being executed.
    #[error("command buffer at {address:#010x} calls itself")]
    SelfCall {
        /// Its address.
        address: u64,
    },
    /// Calls nested deeper than any driver nests them.
    #[error("command buffer at {address:#010x} is nested more than {limit} deep")]
    TooDeep {
        /// Its address.
        address: u64,
        /// The limit.
        limit: usize,
    },
    /// More dwords than any frame has: calls that multiply.
    #[error("submit executes more than {limit} dwords; the rest of it is left out")]
    Runaway {
        /// The limit for this submit.
        limit: u64,
    },
    /// Contents before any address.
    #[error("buffer contents at offset {offset:#x} of the capture belong to no address")]
    Orphan {
        /// Byte offset of the section.
        offset: u64,
    },
    /// An opcode that is not in the table.
    #[error("opcode {opcode:#04x} is unknown")]
    UnknownOpcode {
        /// The opcode.
        opcode: u8,
    },
    /// A packet too short for what its opcode says it is.
    #[error("{name} with {dwords} dwords is too short")]
    ShortPacket {
        /// Name of the opcode.
        name: &'static str,
        /// Dwords of payload.
        dwords: usize,
    },
    /// A chip of another generation.
    #[error("gpu {id} is not an A4xx")]
    OtherGpu {
        /// Number of the chip.
        id: u32,
    },
}

impl Problem {
    /// The exit status that it calls for; `None` for a warning.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Capture(CaptureError::Io { .. }) => Some(Status::Usage),
            Self::UnknownOpcode { .. } | Self::OtherGpu { .. } => Some(Status::Unsupported),
            Self::Packet { error: PacketError::WrongGeneration { .. }, .. } => Some(Status::Unsupported),
            Self::Orphan { .. } => None,
            _ => Some(Status::Damaged),
        }
    }
}
