//! State of the VPC from registers: linkage of the last vertex stage, and transform feedback.

use a4emu_decoder::a4xx::regs::groups::{ShaderOutput, used};
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::a4xx::regs::sp_geometry::*;
use a4emu_decoder::a4xx::regs::vpc::*;
use a4emu_decoder::bits::Register;

use crate::machine::{ChipView, Stage};
use crate::regfile::RegFile;

/// Varying components that the VPC can hold.
pub const MAX_VARYINGS: usize = 128;

/// Linkage of the registers of the last vertex stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexOutputs {
    /// First of the four position registers.
    pub position: u32,
    /// Register of the point size.
    pub point_size: Option<u32>,
    /// Register and location of each varying component.
    pub varyings: Vec<(u32, usize)>,
    /// Number of varying components of a vertex.
    pub components: usize,
}

impl VertexOutputs {
    /// Takes a snapshot of the outputs of `stage`, one of VS, DS and GS.
    pub fn snapshot(regs: &RegFile, stage: Stage) -> Self {
        let (position, point_size, total) = outputs_of(regs, stage);
        let mut varyings = Vec::new();
        for output in 0..total.min(32) {
            let (source, location) = linkage(regs, stage, output);
            for c in (0..4).filter(|c| source.components & (1 << c) != 0) {
                if let Some(location) = (location + c).checked_sub(8) {
                    varyings.push((source.regid + c, location as usize));
                }
            }
        }
        varyings.retain(|(_, location)| *location < MAX_VARYINGS);
        let components = varyings.iter().map(|(_, location)| location + 1).max().unwrap_or(0);
        Self { position, point_size, varyings, components }
    }
}

/// Returns the registers of position and point size, and the number of other outputs. No register for the
/// point size of a domain shader is known.
fn outputs_of(regs: &RegFile, stage: Stage) -> (u32, Option<u32>, u32) {
    match stage {
        Stage::GS => {
            let param = regs.get::<SP_GS_PARAM_REG>();
            let size = used(param.PRIMREGID()).map(|word| word + 1);
            (param.POSREGID(), size, param.TOTALGSOUTVAR())
        }
        Stage::DS => {
            let param = regs.get::<SP_DS_PARAM_REG>();
            (param.POSREGID(), None, param.TOTALGSOUTVAR())
        }
        Stage::VS | Stage::HS | Stage::FS | Stage::CS => {
            let param = regs.get::<SP_VS_PARAM_REG>();
            (param.POSREGID(), used(param.PSIZEREGID()), param.TOTALVSOUTVAR())
        }
    }
}

/// Returns the source of output `j`, and the location of its first component.
fn linkage(regs: &RegFile, stage: Stage, j: u32) -> (ShaderOutput, u32) {
    let (half, quarter) = (j as usize % 2, j as usize % 4);
    match stage {
        Stage::GS => (
            regs.at::<SP_GS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_GS_VPC_DST>(j / 4).locations()[quarter],
        ),
        Stage::DS => (
            regs.at::<SP_DS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_DS_VPC_DST>(j / 4).locations()[quarter],
        ),
        Stage::VS | Stage::HS | Stage::FS | Stage::CS => (
            regs.at::<SP_VS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_VS_VPC_DST>(j / 4).locations()[quarter],
        ),
    }
}

/// Transform feedback state from registers.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackState {
    pub(super) buffers: [Option<FeedbackBuffer>; 4],
    /// Location of each component, and its destination.
    pub(super) entries: Vec<(usize, StreamOutEntry)>,
}

/// A buffer of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FeedbackBuffer {
    pub stream: u32,
    pub base: u32,
    pub size: u32,
    /// Bytes per vertex.
    pub stride: u32,
    /// Offset of the next vertex.
    pub offset: u32,
    /// Address to write the offset to, if not 0.
    pub flush: u32,
}

impl FeedbackState {
    /// Takes a snapshot; `None` when no buffer is on.
    pub fn snapshot(chip: ChipView<'_>) -> Option<Self> {
        let regs = chip.regs;
        let streams = STREAM_OUT_BUFFERS(regs.get::<VPC_SO_BUF_CNTL>().VALUE()).streams();
        let off = STREAM_OUT_OVERRIDE(regs.get::<VPC_SO_OVERRIDE>().VALUE()).DISABLE();
        if off || streams == [None; 4] {
            return None;
        }
        let flush = [
            regs.get::<VPC_SO_FLUSH_WADDR_0>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_1>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_2>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_3>().VALUE(),
        ];
        let buffer = |i: usize| {
            let at = i as u32;
            streams[i].map(|stream| FeedbackBuffer {
                stream,
                base: regs.at::<VPC_SO_BUFFER_BASE>(at).VALUE(),
                size: regs.at::<VPC_SO_BUFFER_SIZE>(at).VALUE(),
                stride: regs.at::<VPC_SO_NCOMP>(at).VALUE().saturating_mul(4),
                offset: regs.at::<VPC_SO_BUFFER_OFFSET>(at).VALUE(),
                flush: flush[i],
            })
        };
        let words = chip.stream_out.iter().flat_map(|word| word.entries()).enumerate();
        let entries = words.filter_map(|(location, entry)| Some((location, entry?))).collect();
        Some(Self { buffers: std::array::from_fn(buffer), entries })
    }
}

impl FeedbackState {
    /// Returns address and size of the active buffers.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32)> {
        self.buffers.iter().flatten().map(|buffer| (buffer.base, buffer.size))
    }
}

/// Fill state of the buffers after a draw.
pub struct Filled(pub(super) [Option<FeedbackBuffer>; 4]);

impl Filled {
    /// Returns the register offsets for the next draw's start, and their values.
    pub fn registers(&self) -> impl Iterator<Item = (u32, u32)> {
        let row = VPC_SO_BUFFER_OFFSET::ROW;
        let buffers = (0..).zip(&self.0);
        buffers.filter_map(move |(i, buffer)| Some((row.offset + row.stride * i, (*buffer)?.offset)))
    }
}
