//! What can be wrong with the bytes: one line each, with the offending value
//! and where it stands.

use thiserror::Error;

/// Damage in the container of a capture. Offsets are bytes of the unpacked stream.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// Nothing at all to read.
    #[error("empty file, not a capture")]
    Empty,
    /// The first header is not one that a recorder writes.
    #[error("not a capture: no section starts at offset {offset:#x} (id {id:#x}, size {size:#x})")]
    NotACapture {
        /// Where the header stands.
        offset: u64,
        /// The dword where a section id should be.
        id: u32,
        /// The dword where a size should be.
        size: u32,
    },
    /// What the kernel writes after a hang (devcoredump), which is text and no capture.
    #[error("a dump that the kernel makes when a gpu hangs (devcoredump){}, and not a capture", of_chip(*.gpu_id))]
    CoreDump {
        /// Number of the chip, such as 630, if the dump says it near its beginning.
        gpu_id: Option<u32>,
    },
    /// The stream ends 1 to 7 bytes into a section header.
    #[error("capture ends inside a section header at offset {offset:#x} ({got} of 8 bytes)")]
    ShortHeader {
        /// Where the header starts.
        offset: u64,
        /// How many bytes of it exist.
        got: usize,
    },
    /// A size with bit 31 set, which no recorder writes.
    #[error("section {id:#x} at offset {offset:#x} has a corrupt size {size:#x}")]
    BadSize {
        /// Where the header stands.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size it claims.
        size: u32,
    },
    /// A payload larger than this reader keeps in memory; it was skipped.
    #[error("section {id:#x} at offset {offset:#x} is too large ({size:#x} bytes)")]
    TooLarge {
        /// Where the header stands.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size it claims.
        size: u32,
    },
    /// The stream ends inside a payload.
    #[error("capture ends inside section {id:#x} at offset {offset:#x} ({got:#x} of {size:#x} bytes)")]
    Truncated {
        /// Where the header stands.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size it claims.
        size: u32,
        /// The bytes that exist.
        got: u64,
    },
    /// A payload too short for what its id says it is.
    #[error("section {id:#x} at offset {offset:#x} has {got} bytes, too few for its kind")]
    ShortPayload {
        /// Where the header stands.
        offset: u64,
        /// Section id.
        id: u32,
        /// Its bytes.
        got: usize,
    },
    /// The compressed stream is cut off or corrupt.
    #[error("compressed data is damaged after offset {offset:#x} of the unpacked stream: {source}")]
    Compression {
        /// Unpacked bytes before the damage.
        offset: u64,
        /// What the decompressor says.
        source: std::io::Error,
    },
    /// The operating system could not read.
    #[error("cannot read at offset {offset:#x}: {source}")]
    Io {
        /// Unpacked bytes before the failure.
        offset: u64,
        /// What the operating system says.
        source: std::io::Error,
    },
}

/// `, of an A630`
fn of_chip(gpu_id: Option<u32>) -> String {
    gpu_id.map_or_else(String::new, |id| format!(", of an A{id}"))
}

impl CaptureError {
    /// The byte of the unpacked stream that it is about.
    pub fn offset(&self) -> Option<u64> {
        match *self {
            Self::Empty | Self::CoreDump { .. } => None,
            Self::NotACapture { offset, .. }
            | Self::ShortHeader { offset, .. }
            | Self::BadSize { offset, .. }
            | Self::TooLarge { offset, .. }
            | Self::Truncated { offset, .. }
            | Self::ShortPayload { offset, .. }
            | Self::Compression { offset, .. }
            | Self::Io { offset, .. } => Some(offset),
        }
    }
}

/// A dword that is not the start of a packet, or a packet that does not fit.
/// Offsets are dwords from the start of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// Reserved bits are set, or the type is not one of A4xx.
    #[error("not a packet header: {header:#010x} at dword {offset:#x}")]
    BadHeader {
        /// Dword offset in the buffer.
        offset: usize,
        /// The dword.
        header: u32,
    },
    /// A type-4 or type-7 header: a stream of A5xx or later.
    #[error("packet header {header:#010x} at dword {offset:#x} is of A5xx or later")]
    WrongGeneration {
        /// Dword offset in the buffer.
        offset: usize,
        /// The dword.
        header: u32,
    },
    /// The count runs past the end of the buffer.
    #[error("packet {header:#010x} at dword {offset:#x} needs {needed} dwords, {have} are left")]
    PastEnd {
        /// Dword offset in the buffer.
        offset: usize,
        /// The dword.
        header: u32,
        /// Payload dwords that the header asks for.
        needed: usize,
        /// Payload dwords that the buffer holds.
        have: usize,
    },
}
