//! The `.rd` container: a flat sequence of sections, raw or gzip.
//!
//! Source: docs/hardware/capture-format.md. A section is `{id, size, payload}`, all little-endian; 8-byte
//! markers of all ones may stand before a header. The reader streams: it holds one section at a time. It
//! allocates more than a megabyte for a payload only when the bytes arrive.

use nom::combinator::{map, opt};
use nom::number::complete::le_u32;
use nom::{IResult, Parser};

use crate::error::CaptureError;

mod ahead;
mod chip;
mod devcore;
mod gunzip;
mod hang;
mod process;
mod sections;

pub use ahead::Ahead;
pub use chip::{ChipId, NamedChip};
pub use devcore::is_devcore;
pub use gunzip::Gunzip;
pub use hang::{Hang, IbPlace, Registers};
pub use process::{OfProcess, ProcessPattern, process_of};
pub use sections::Sections;

/// Largest payload that is kept, in bytes. A buffer object of an A4xx system is smaller.
pub const MAX_PAYLOAD: u32 = 0x1000_0000;

enums! {
    /// What a section holds. Those from 0xa4000001 on are our own, and are not in files of other tools:
    /// three are made of a kernel dump (devcoredump), one is of recordings.
    rd_sect_type => SectionId {
        NONE = 0, TEST = 1, CMD = 2, GPUADDR = 3, CONTEXT = 4, CMDSTREAM = 5, CMDSTREAM_ADDR = 6, PARAM = 7,
        FLUSH = 8, PROGRAM = 9, VERT_SHADER = 10, FRAG_SHADER = 11, BUFFER_CONTENTS = 12, GPU_ID = 13,
        CHIP_ID = 14, SHADER_LOG_BUFFER = 15, CP_LOG_BUFFER = 16, WRBUFFER = 17,
        DEVCORE = 0xa400_0001, DEVCORE_REGISTERS = 0xa400_0002, HANG = 0xa400_0003,
        EXACT_CONTENTS = 0xa400_0004,
    }
    /// What a `PARAM` section sets (test harness only).
    rd_param_type => ParamId {
        SURFACE_WIDTH = 0, SURFACE_HEIGHT = 1, SURFACE_PITCH = 2, COLOR = 3, BLIT_X = 4, BLIT_Y = 5,
        BLIT_WIDTH = 6, BLIT_HEIGHT = 7, BLIT_X2 = 8, BLIT_Y2 = 9,
    }
}

/// One section as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Byte offset of the header in the unpacked stream.
    pub offset: u64,
    /// The kind of the section.
    pub id: SectionId,
    /// The payload. It is shorter than the header's size if the capture is cut off.
    pub payload: Vec<u8>,
}

/// How to treat the commands of a capture from a GPU of another generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// Skip the commands: only the container is read.
    #[default]
    PassOver,
    /// Interpret the commands as those of an A4xx.
    Interpret,
}

/// The address record of a `GPUADDR` section (length in bytes) or a `CMDSTREAM_ADDR` section (in dwords).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressRecord {
    /// GPU address; its high half is 0 on A4xx.
    pub address: u64,
    /// Length in bytes or dwords.
    pub length: u32,
}

/// The typed view of a section's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// Test name or comment.
    Test(String),
    /// The process that made the submit, e.g. `glxgears/23375: fence=7`.
    Cmd(String),
    /// A buffer of this address and length in bytes; its contents may follow.
    GpuAddr(AddressRecord),
    /// Contents of the last announced buffer.
    BufferContents(&'a [u8]),
    /// A command buffer to execute, with its length in dwords.
    CmdstreamAddr(AddressRecord),
    /// Test harness parameter: id, value, bit length.
    Param(ParamId, u32, u32),
    /// GPU number such as 420; 0 is "unknown".
    GpuId(u32),
    /// The chip id that the kernel reports.
    ChipId(ChipId),
    /// GLSL source of a vertex or fragment shader.
    Source(String),
    /// What a kernel dump says about the kernel, the process and the fault: lines of `key: value`.
    Devcore(String),
    /// The registers of a kernel dump.
    DevcoreRegisters(Registers<'a>),
    /// Where the GPU stood.
    Hang(Hang),
    /// Contents from here on are what memory held before the submit, with all results of the GPU. So they
    /// replace what a run has written there.
    ExactContents,
    /// A payload that is kept but not interpreted.
    Other(&'a [u8]),
}

impl Section {
    /// Parses the payload by the section's id.
    ///
    /// # Errors
    /// [`CaptureError::ShortPayload`] if the payload is too short for its record.
    pub fn body(&self) -> Result<Body<'_>, CaptureError> {
        let payload = self.payload.as_slice();
        let short =
            |_| CaptureError::ShortPayload { offset: self.offset, id: self.id.to_bits(), got: payload.len() };
        Ok(match self.id {
            SectionId::TEST => Body::Test(text(payload)),
            SectionId::CMD => Body::Cmd(text(payload)),
            SectionId::VERT_SHADER | SectionId::FRAG_SHADER => Body::Source(text(payload)),
            SectionId::GPUADDR => Body::GpuAddr(address_record(payload).map_err(short)?.1),
            SectionId::CMDSTREAM_ADDR => Body::CmdstreamAddr(address_record(payload).map_err(short)?.1),
            SectionId::BUFFER_CONTENTS => Body::BufferContents(payload),
            SectionId::PARAM => param(payload).map_err(short)?.1,
            SectionId::GPU_ID => Body::GpuId(word(payload).map_err(short)?.1),
            SectionId::CHIP_ID => Body::ChipId(chip_id(payload).map_err(short)?.1),
            SectionId::DEVCORE => Body::Devcore(text(payload)),
            SectionId::DEVCORE_REGISTERS => Body::DevcoreRegisters(Registers(payload)),
            SectionId::HANG => Body::Hang(hang::hang(payload).map_err(short)?.1),
            SectionId::EXACT_CONTENTS => Body::ExactContents,
            _ => Body::Other(payload),
        })
    }
}

fn word(input: &[u8]) -> IResult<&[u8], u32> {
    le_u32(input)
}

fn header(input: &[u8]) -> IResult<&[u8], (u32, u32)> {
    (le_u32, le_u32).parse(input)
}

fn wide(low: u32, high: Option<u32>) -> u64 {
    u64::from(high.unwrap_or(0)) << 32 | u64::from(low)
}

/// Parses an address record. The high half comes last, so old 8-byte records parse too.
fn address_record(input: &[u8]) -> IResult<&[u8], AddressRecord> {
    let record = |(low, length, high)| AddressRecord { address: wide(low, high), length };
    map((le_u32, le_u32, opt(le_u32)), record).parse(input)
}

fn chip_id(input: &[u8]) -> IResult<&[u8], ChipId> {
    map((le_u32, opt(le_u32)), |(low, high)| ChipId(wide(low, high))).parse(input)
}

fn param(input: &[u8]) -> IResult<&[u8], Body<'static>> {
    let param = |(id, value, bits)| Body::Param(ParamId::from_bits(id), value, bits);
    map((le_u32, le_u32, le_u32), param).parse(input)
}

/// Text up to the first NUL. The bytes after it are padding and may be garbage.
fn text(payload: &[u8]) -> String {
    let end = payload.iter().position(|&byte| byte == 0).unwrap_or(payload.len());
    String::from_utf8_lossy(&payload[..end]).into_owned()
}
