//! Errors in the bytes of a capture or a command buffer. Each prints as one line with the wrong value and its
//! offset.

use thiserror::Error;

/// Why what begins with these dwords at `offset` is no capture.
fn not_a_capture(offset: u64, id: u32, size: u32) -> String {
    let bytes = [id.to_le_bytes(), size.to_le_bytes()];
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    match bytes.as_flattened().iter().all(is_text) {
        true => "it is text (`a4emu asm` makes a capture of a source)".into(),
        false => format!("no section starts at offset {offset:#x} (id {id:#x}, size {size:#x})"),
    }
}

/// Damage in the container of a capture. Offsets are bytes of the unpacked stream.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file has no bytes.
    #[error("empty file, not a capture")]
    Empty,
    /// The first header is not one that a recorder writes.
    #[error("not a capture: {}", not_a_capture(*offset, *id, *size))]
    NotACapture {
        /// Offset of the header.
        offset: u64,
        /// The dword at the place of the section id.
        id: u32,
        /// The dword at the place of the size.
        size: u32,
    },
    /// A line of a kernel dump (devcoredump) that cannot be read.
    #[error("line {line} of the dump: {what}")]
    Devcore {
        /// Number of the line, from 1.
        line: u64,
        /// The fault of the line, as text.
        what: String,
    },
    /// The stream ends 1 to 7 bytes into a section header.
    #[error("capture ends inside a section header at offset {offset:#x} ({got} of 8 bytes)")]
    ShortHeader {
        /// Offset of the header.
        offset: u64,
        /// Number of the header's bytes that exist.
        got: usize,
    },
    /// A size with bit 31 set, which no recorder writes.
    #[error("section {id:#x} at offset {offset:#x} has a corrupt size {size:#x}")]
    BadSize {
        /// Offset of the header.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size in the header.
        size: u32,
    },
    /// A payload larger than the reader keeps in memory. The reader skipped it.
    #[error("section {id:#x} at offset {offset:#x} is too large ({size:#x} bytes)")]
    TooLarge {
        /// Offset of the header.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size in the header, in bytes.
        size: u32,
    },
    /// The stream ends inside a payload.
    #[error("capture ends inside section {id:#x} at offset {offset:#x} ({got:#x} of {size:#x} bytes)")]
    Truncated {
        /// Offset of the header.
        offset: u64,
        /// Section id.
        id: u32,
        /// The size in the header, in bytes.
        size: u32,
        /// Number of the payload's bytes that exist.
        got: u64,
    },
    /// A payload too short for the kind of section that its id names.
    #[error("section {id:#x} at offset {offset:#x} has {got} bytes, too few for its kind")]
    ShortPayload {
        /// Offset of the header.
        offset: u64,
        /// Section id.
        id: u32,
        /// Number of bytes in the payload.
        got: usize,
    },
    /// The compressed stream is cut off or corrupt.
    #[error("compressed data is damaged after offset {offset:#x} of the unpacked stream: {source}")]
    Compression {
        /// Number of unpacked bytes before the damage.
        offset: u64,
        /// The decompressor's error.
        source: std::io::Error,
    },
    /// The operating system reported an error on reading.
    #[error("cannot read at offset {offset:#x}: {source}")]
    Io {
        /// Number of unpacked bytes before the failure.
        offset: u64,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl CaptureError {
    /// The offset in the unpacked stream at which the error is, in bytes.
    pub fn offset(&self) -> Option<u64> {
        match *self {
            Self::Empty | Self::Devcore { .. } => None,
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
    /// Reserved or parity bits are wrong, or the type is not one of the generation.
    #[error("not a packet header: {header:#010x} at dword {offset:#x}")]
    BadHeader {
        /// Dword offset in the buffer.
        offset: usize,
        /// The header.
        header: u32,
    },
    /// A header of another framing: of A5xx or later in a stream of types 0 to 3, or the other way around.
    #[error("packet header {header:#010x} at dword {offset:#x} is of {of}")]
    WrongGeneration {
        /// Dword offset in the buffer.
        offset: usize,
        /// The header.
        header: u32,
        /// The generations that have such headers.
        of: &'static str,
    },
    /// The count runs past the end of the buffer.
    #[error("packet {header:#010x} at dword {offset:#x} needs {needed} dwords, {have} are left")]
    PastEnd {
        /// Dword offset in the buffer.
        offset: usize,
        /// The header.
        header: u32,
        /// Payload dwords that the header asks for.
        needed: usize,
        /// Payload dwords that the buffer holds.
        have: usize,
    },
}
