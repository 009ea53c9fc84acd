//! R1: registers that a stage reads and that nobody has written since the batch began.

use a4emu_decoder::bits::Register;
use a4emu_decoder::regs::RegName;
use a4emu_decoder::regs::gras::*;
use a4emu_decoder::regs::hlsq::*;
use a4emu_decoder::regs::pc::*;
use a4emu_decoder::regs::rb::*;
use a4emu_decoder::regs::sp::*;
use a4emu_decoder::regs::vfd::*;
use a4emu_decoder::regs::vpc::*;

use super::{Said, Scene};
use crate::gpu::Stage;
use crate::pass::Pass;
use crate::regfile::RegSet;
use crate::validate::rules::Id;

/// Registers that every draw reads.
const ALWAYS: &[u32] = &[
    PC_PRIM_VTX_CNTL::ROW.offset,
    VFD_CONTROL_0::ROW.offset,
    VFD_CONTROL_1::ROW.offset,
    VFD_CONTROL_3::ROW.offset,
    VFD_INDEX_OFFSET::ROW.offset,
    VFD_INSTANCE_START_OFFSET::ROW.offset,
    SP_VS_PARAM_REG::ROW.offset,
    SP_VS_CTRL_REG0::ROW.offset,
    SP_VS_CTRL_REG1::ROW.offset,
    SP_VS_LENGTH_REG::ROW.offset,
    SP_VS_OBJ_START::ROW.offset,
    HLSQ_VS_CONTROL_REG::ROW.offset,
    GRAS_CL_CLIP_CNTL::ROW.offset,
    GRAS_CL_VPORT_XOFFSET_0::ROW.offset,
    GRAS_CL_VPORT_XSCALE_0::ROW.offset,
    GRAS_CL_VPORT_YOFFSET_0::ROW.offset,
    GRAS_CL_VPORT_YSCALE_0::ROW.offset,
    GRAS_CL_VPORT_ZOFFSET_0::ROW.offset,
    GRAS_CL_VPORT_ZSCALE_0::ROW.offset,
    GRAS_SU_MODE_CONTROL::ROW.offset,
    GRAS_SC_CONTROL::ROW.offset,
    GRAS_SC_SCREEN_SCISSOR_TL::ROW.offset,
    GRAS_SC_SCREEN_SCISSOR_BR::ROW.offset,
    GRAS_SC_WINDOW_SCISSOR_TL::ROW.offset,
    GRAS_SC_WINDOW_SCISSOR_BR::ROW.offset,
    RB_MODE_CONTROL::ROW.offset,
    RB_RENDER_CONTROL::ROW.offset,
    RB_FRAME_BUFFER_DIMENSION::ROW.offset,
    RB_FS_OUTPUT_REG::ROW.offset,
    SP_FS_OUTPUT_REG::ROW.offset,
];

/// Those that a draw of the application reads, and those that copy do not.
const DRAWING: &[u32] = &[
    PC_PRIM_VTX_CNTL2::ROW.offset,
    PC_RESTART_INDEX::ROW.offset,
    GRAS_SU_POINT_MINMAX::ROW.offset,
    GRAS_SU_POINT_SIZE::ROW.offset,
    GRAS_SU_POLY_OFFSET_SCALE::ROW.offset,
    GRAS_SU_POLY_OFFSET_OFFSET::ROW.offset,
    RB_DEPTH_CONTROL::ROW.offset,
    RB_STENCIL_CONTROL::ROW.offset,
    RB_STENCIL_CONTROL2::ROW.offset,
];

/// Those that produce pixels read.
const PIXELS: &[u32] = &[
    VPC_ATTR::ROW.offset,
    VPC_PACK::ROW.offset,
    HLSQ_CONTROL_1_REG::ROW.offset,
    HLSQ_CONTROL_2_REG::ROW.offset,
    HLSQ_CONTROL_3_REG::ROW.offset,
    HLSQ_FS_CONTROL_REG::ROW.offset,
    SP_FS_LENGTH_REG::ROW.offset,
    SP_FS_CTRL_REG0::ROW.offset,
    RB_RENDER_COMPONENTS::ROW.offset,
    RB_ALPHA_CONTROL::ROW.offset,
    RB_DEPTH_CONTROL::ROW.offset,
    RB_STENCIL_CONTROL::ROW.offset,
    RB_FS_OUTPUT::ROW.offset,
];

/// Those of depth and stencil in tile memory.
const TILES: &[u32] = &[
    RB_DEPTH_INFO::ROW.offset,
    RB_DEPTH_PITCH::ROW.offset,
    RB_DEPTH_PITCH2::ROW.offset,
    RB_STENCIL_INFO::ROW.offset,
    GRAS_DEPTH_CONTROL::ROW.offset,
];

/// Those of a copy to memory.
const COPY: &[u32] = &[
    RB_COPY_CONTROL::ROW.offset,
    RB_COPY_DEST_BASE::ROW.offset,
    RB_COPY_DEST_PITCH::ROW.offset,
    RB_COPY_DEST_INFO::ROW.offset,
];

/// Adds what a draw reads that is not in `written`.
pub fn check(scene: &Scene<'_>, written: &RegSet, said: &mut Said) {
    let pixels = matches!(scene.pass, Pass::Gmem | Pass::Bypass | Pass::Restore);
    let draws = matches!(scene.pass, Pass::Gmem | Pass::Bypass);
    let offset = scene.regs.get::<RB_MODE_CONTROL>().ENABLE_GMEM().then_some(RB_BIN_OFFSET::ROW.offset);
    let groups = [
        (ALWAYS, true),
        (DRAWING, draws || scene.pass == Pass::Binning),
        (PIXELS, pixels),
        (TILES, scene.in_tiles()),
        (COPY, scene.pass == Pass::Resolve),
    ];
    let listed = groups.into_iter().filter(|(_, reads)| *reads).flat_map(|(group, _)| group.iter().copied());
    let all = listed.chain(offset).chain(elements(scene, pixels));
    for offset in all.filter(|offset| !written.contains(*offset)) {
        said.say(Id::R1, format!("{} is read and was not written since the batch began", RegName { offset }));
    }
}

/// Elements of arrays, as many as counts say.
fn elements(scene: &Scene<'_>, pixels: bool) -> impl Iterator<Item = u32> {
    let regs = scene.regs;
    let at = |row: &'static a4emu_decoder::bits::RegRow, i: u32| row.offset + i * row.stride;
    let attributes = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len);
    let fetches: [&'static a4emu_decoder::bits::RegRow; 4] =
        [&VFD_FETCH_INSTR_0::ROW, &VFD_FETCH_INSTR_1::ROW, &VFD_FETCH_INSTR_2::ROW, &VFD_DECODE_INSTR::ROW];
    let fetched = (0..attributes).flat_map(move |i| fetches.into_iter().map(move |row| at(row, i)));
    let outputs = if pixels { regs.get::<SP_FS_OUTPUT_REG>().MRT().min(8) } else { 0 };
    let targets: [&'static a4emu_decoder::bits::RegRow; 3] =
        [&SP_FS_MRT::ROW, &RB_MRT_CONTROL::ROW, &RB_MRT_BUF_INFO::ROW];
    let targets = (0..outputs).flat_map(move |i| targets.into_iter().map(move |row| at(row, i)));
    let varyings = if pixels { regs.get::<VPC_ATTR>().TOTALATTR().div_ceil(16).min(8) } else { 0 };
    let modes = (0..varyings).map(move |i| at(&VPC_VARYING_INTERP_MODE::ROW, i));
    let links = if pixels && scene.last_vertex_stage() == Stage::VS {
        regs.get::<SP_VS_PARAM_REG>().TOTALVSOUTVAR().min(32)
    } else {
        0
    };
    let outs = (0..links.div_ceil(2)).map(move |i| at(&SP_VS_OUT::ROW, i));
    let dsts = (0..links.div_ceil(4)).map(move |i| at(&SP_VS_VPC_DST::ROW, i));
    fetched.chain(targets).chain(modes).chain(outs).chain(dsts)
}
