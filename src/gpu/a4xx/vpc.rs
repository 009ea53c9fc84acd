//! The registers of the VPC: linkage of the last vertex stage, and transform feedback.

use a4emu_decoder::a4xx::regs;
use a4emu_decoder::a4xx::regs::groups::{ShaderOutput, used};
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::a4xx::regs::sp_geometry::*;
use a4emu_decoder::a4xx::regs::vpc::{
    STREAM_OUT_BUFFERS, STREAM_OUT_OVERRIDE, VPC_SO_BUF_CNTL, VPC_SO_BUFFER_BASE, VPC_SO_BUFFER_OFFSET,
    VPC_SO_BUFFER_SIZE, VPC_SO_FLUSH_WADDR_0, VPC_SO_FLUSH_WADDR_1, VPC_SO_FLUSH_WADDR_2,
    VPC_SO_FLUSH_WADDR_3, VPC_SO_NCOMP, VPC_SO_OVERRIDE,
};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;

use crate::draw::vpc::state::{
    FeedbackBuffer, FeedbackState, Filled, MAX_VARYINGS, StreamOutEntry, VertexOutputs,
};
use crate::machine::{ChipView, Stage};
use crate::regfile::RegFile;

/// Reads the linkage of `stage`, one of VS, DS and GS.
pub fn outputs(regs: &RegFile, stage: Stage) -> VertexOutputs {
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
    VertexOutputs { position, point_size, varyings, components }
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

/// Reads the transform feedback; `None` when no buffer is on.
pub fn feedback(chip: ChipView<'_>) -> Option<FeedbackState> {
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
            base: regs.at::<VPC_SO_BUFFER_BASE>(at).VALUE().into(),
            size: regs.at::<VPC_SO_BUFFER_SIZE>(at).VALUE(),
            stride: regs.at::<VPC_SO_NCOMP>(at).VALUE().saturating_mul(4),
            offset: regs.at::<VPC_SO_BUFFER_OFFSET>(at).VALUE(),
            flush: Some(flush[i]).filter(|address| *address != 0).map(Address::from),
        })
    };
    let words = chip.stream_out.iter().flat_map(|word| word.entries()).enumerate();
    let entry = |(location, entry): (usize, Option<regs::vpc::StreamOutEntry>)| {
        let regs::vpc::StreamOutEntry { buffer, offset } = entry?;
        Some((location, StreamOutEntry { buffer, offset }))
    };
    let entries = words.filter_map(entry).collect();
    Some(FeedbackState { buffers: std::array::from_fn(buffer), entries })
}

/// Returns the register offsets for the next draw's start, and their values.
pub fn filled(filled: &Filled) -> Vec<(u32, u32)> {
    let row = VPC_SO_BUFFER_OFFSET::ROW;
    let buffers = (0..).zip(&filled.0);
    buffers.filter_map(move |(i, buffer)| Some((row.offset + row.stride * i, (*buffer)?.offset))).collect()
}
