//! Checks R1 and R3: registers that a stage reads but that no packet has written since the batch began.

use a4emu_decoder::a4xx::enums::{VgtEventType, VisCullMode};
use a4emu_decoder::a4xx::pm4::Pm4;
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::hlsq::*;
use a4emu_decoder::a4xx::regs::pc::*;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::a4xx::regs::tpl1::*;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_decoder::a4xx::regs::vpc::*;
use a4emu_decoder::bits::{RegRow, Register};

use super::memory::clamps_to_border;
use super::{Scene, Violations};
use crate::rules::Id;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::a4xx::rb::{blend, blend_constant_register};
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::draw::rb::blend::ConstantCopy;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegSet;

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
    SP_VS_OBJ_OFFSET_REG::ROW.offset,
    SP_INSTR_CACHE_CTRL::ROW.offset,
    SP_SP_CTRL_REG::ROW.offset,
    HLSQ_UPDATE_CONTROL::ROW.offset,
    HLSQ_CONTROL_0_REG::ROW.offset,
    GRAS_CL_CLIP_CNTL::ROW.offset,
    GRAS_CL_GB_CLIP_ADJ::ROW.offset,
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
    RB_MSAA_CONTROL::ROW.offset,
    RB_FRAME_BUFFER_DIMENSION::ROW.offset,
    RB_FS_OUTPUT_REG::ROW.offset,
    SP_FS_OUTPUT_REG::ROW.offset,
];

/// Registers that a draw of the application reads, but not a copy.
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
    RB_STENCILREFMASK::ROW.offset,
    RB_STENCILREFMASK_BF::ROW.offset,
    RB_VPORT_Z_CLAMP_MIN::ROW.offset,
    RB_VPORT_Z_CLAMP_MAX::ROW.offset,
];

/// Registers that a dispatch reads.
const COMPUTE: &[u32] = &[
    HLSQ_UPDATE_CONTROL::ROW.offset,
    HLSQ_CONTROL_0_REG::ROW.offset,
    HLSQ_CS_CONTROL_REG::ROW.offset,
    HLSQ_CL_NDRANGE_0::ROW.offset,
    HLSQ_CL_NDRANGE_1::ROW.offset,
    HLSQ_CL_NDRANGE_2::ROW.offset,
    HLSQ_CL_NDRANGE_3::ROW.offset,
    HLSQ_CL_NDRANGE_4::ROW.offset,
    HLSQ_CL_NDRANGE_5::ROW.offset,
    HLSQ_CL_NDRANGE_6::ROW.offset,
    HLSQ_CL_CONTROL_0::ROW.offset,
    SP_SP_CTRL_REG::ROW.offset,
    SP_CS_CTRL_REG0::ROW.offset,
    SP_CS_OBJ_START::ROW.offset,
    SP_CS_LENGTH_REG::ROW.offset,
];

/// Registers that draws with pixels read.
const PIXELS: &[u32] = &[
    VPC_ATTR::ROW.offset,
    VPC_PACK::ROW.offset,
    HLSQ_CONTROL_1_REG::ROW.offset,
    HLSQ_CONTROL_2_REG::ROW.offset,
    HLSQ_CONTROL_3_REG::ROW.offset,
    HLSQ_CONTROL_4_REG::ROW.offset,
    HLSQ_FS_CONTROL_REG::ROW.offset,
    SP_FS_LENGTH_REG::ROW.offset,
    SP_FS_CTRL_REG0::ROW.offset,
    SP_FS_CTRL_REG1::ROW.offset,
    SP_FS_OBJ_OFFSET_REG::ROW.offset,
    SP_FS_OBJ_START::ROW.offset,
    GRAS_CNTL::ROW.offset,
    GRAS_ALPHA_CONTROL::ROW.offset,
    RB_RENDER_CONTROL2::ROW.offset,
    RB_RENDER_COMPONENTS::ROW.offset,
    RB_ALPHA_CONTROL::ROW.offset,
    RB_DEPTH_CONTROL::ROW.offset,
    RB_STENCIL_CONTROL::ROW.offset,
    RB_FS_OUTPUT::ROW.offset,
];

/// Registers of depth and stencil in GMEM.
const TILES: &[u32] = &[
    RB_DEPTH_INFO::ROW.offset,
    RB_DEPTH_PITCH::ROW.offset,
    RB_DEPTH_PITCH2::ROW.offset,
    RB_STENCIL_INFO::ROW.offset,
    GRAS_DEPTH_CONTROL::ROW.offset,
];

/// Registers of a resolve.
const COPY: &[u32] = &[
    RB_COPY_CONTROL::ROW.offset,
    RB_COPY_DEST_BASE::ROW.offset,
    RB_COPY_DEST_PITCH::ROW.offset,
    RB_COPY_DEST_INFO::ROW.offset,
];

/// Registers of GRAS whose old value has hung the chip.
const HANGING: [u32; 3] =
    [GRAS_CNTL::ROW.offset, GRAS_ALPHA_CONTROL::ROW.offset, GRAS_DEPTH_CONTROL::ROW.offset];

/// Adds a violation for each register that a draw reads and that is not in `written`.
pub fn check(scene: &Scene<'_>, call: &DrawCall, written: &RegSet, violations: &mut Violations) {
    let pixels = matches!(scene.pass, Pass::Gmem | Pass::Bypass | Pass::Restore);
    let draws = matches!(scene.pass, Pass::Gmem | Pass::Bypass);
    let offset = scene.regs.get::<RB_MODE_CONTROL>().ENABLE_GMEM().then_some(RB_BIN_OFFSET::ROW.offset);
    let apart = scene.in_tiles() && scene.regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL();
    let stencil = apart.then_some(RB_STENCIL_PITCH::ROW.offset);
    let culls = initiator(call).VIS_CULL() == VisCullMode::USE_VISIBILITY && scene.pass == Pass::Gmem;
    let stream = culls.then_some(PC_VSTREAM_CONTROL::ROW.offset);
    let groups = [
        (ALWAYS, true),
        (DRAWING, draws || scene.pass == Pass::Binning),
        (PIXELS, pixels),
        (TILES, scene.in_tiles()),
        (COPY, scene.pass == Pass::Resolve),
    ];
    let listed = groups.into_iter().filter(|(_, reads)| *reads).flat_map(|(group, _)| group.iter().copied());
    let all = listed.chain(offset).chain(stencil).chain(stream).chain(elements(scene, pixels));
    let all = all.chain(constants(scene).filter(|_| draws));
    unwritten(all.chain(borders(scene)), written, violations);
}

/// Adds a violation for each register that a dispatch reads and that is not in `written`.
pub fn check_dispatch(scene: &Scene<'_>, written: &RegSet, violations: &mut Violations) {
    unwritten(COMPUTE.iter().copied().chain(borders(scene)), written, violations);
}

/// Adds violations for an event. Only the event that stores the sample counters reads a register.
pub fn check_event(packet: &Pm4<'_>, written: &RegSet, violations: &mut Violations) {
    let event = match packet {
        Pm4::EventWrite(packet) => packet.event.EVENT(),
        Pm4::EventWriteZpd(packet) => packet.event.EVENT(),
        _ => return,
    };
    let counts = (event == VgtEventType::ZPASS_DONE).then_some(RB_SAMPLE_COUNT_CONTROL::ROW.offset);
    unwritten(counts.into_iter(), written, violations);
}

fn unwritten(read: impl Iterator<Item = u32>, written: &RegSet, violations: &mut Violations) {
    for offset in read.filter(|offset| !written.contains(*offset)) {
        let rule = if HANGING.contains(&offset) { Id::R3 } else { Id::R1 };
        violations.report(
            rule,
            format!("{} is read and was not written since the batch began", REGISTERS.name(offset)),
        );
    }
}

/// Registers with the components of the blend constant that targets use.
fn constants(scene: &Scene<'_>) -> impl Iterator<Item = u32> {
    let regs = scene.regs;
    let blending = (0..8).filter(|i| {
        regs.get::<RB_RENDER_COMPONENTS>().target(*i) != 0 && regs.at::<RB_MRT_CONTROL>(*i).BLEND()
    });
    let read = blending.filter_map(|i| {
        let format = formats::color(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT())?;
        let used = blend(regs, i, format).uses_constant();
        let components = (0..4).filter(move |c| used[*c as usize]);
        Some(components.map(move |c| blend_constant_register(c, ConstantCopy::of(format))))
    });
    read.flatten()
}

/// Registers with the border colours of the stages whose samplers use them.
fn borders(scene: &Scene<'_>) -> impl Iterator<Item = u32> {
    let shown = scene.programs.iter().filter(|checked| clamps_to_border(scene, checked));
    shown.map(|checked| match checked.program.stage {
        Stage::VS => TPL1_TP_VS_BORDER_COLOR_BASE_ADDR::ROW.offset,
        Stage::HS => TPL1_TP_HS_BORDER_COLOR_BASE_ADDR::ROW.offset,
        Stage::DS => TPL1_TP_DS_BORDER_COLOR_BASE_ADDR::ROW.offset,
        Stage::GS => TPL1_TP_GS_BORDER_COLOR_BASE_ADDR::ROW.offset,
        Stage::FS => TPL1_TP_FS_BORDER_COLOR_BASE_ADDR::ROW.offset,
        Stage::CS => TPL1_TP_CS_BORDER_COLOR_BASE_ADDR::ROW.offset,
    })
}

/// The elements of arrays up to the counts in registers.
fn elements(scene: &Scene<'_>, pixels: bool) -> impl Iterator<Item = u32> {
    let regs = scene.regs;
    let at = |row: &'static RegRow, i: u32| row.offset + i * row.stride;
    let attributes = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len);
    let fetches: [&'static RegRow; 4] =
        [&VFD_FETCH_INSTR_0::ROW, &VFD_FETCH_INSTR_1::ROW, &VFD_FETCH_INSTR_2::ROW, &VFD_DECODE_INSTR::ROW];
    let fetched = (0..attributes).flat_map(move |i| fetches.into_iter().map(move |row| at(row, i)));
    let outputs = if pixels { regs.get::<SP_FS_OUTPUT_REG>().MRT().min(8) } else { 0 };
    let targets: [&'static RegRow; 6] = [
        &SP_FS_MRT::ROW,
        &RB_MRT_CONTROL::ROW,
        &RB_MRT_BUF_INFO::ROW,
        &RB_MRT_BASE::ROW,
        &RB_MRT_CONTROL3::ROW,
        &RB_MRT_BLEND_CONTROL::ROW,
    ];
    let targets = (0..outputs).flat_map(move |i| targets.into_iter().map(move |row| at(row, i)));
    let varyings = if pixels { regs.get::<VPC_ATTR>().TOTALATTR().div_ceil(16).min(8) } else { 0 };
    let modes: [&'static RegRow; 2] = [&VPC_VARYING_INTERP_MODE::ROW, &VPC_VARYING_PS_REPL_MODE::ROW];
    let modes = (0..varyings).flat_map(move |i| modes.into_iter().map(move |row| at(row, i)));
    let links = if pixels && scene.last_vertex_stage() == Stage::VS {
        regs.get::<SP_VS_PARAM_REG>().TOTALVSOUTVAR().min(32)
    } else {
        0
    };
    let outs = (0..links.div_ceil(2)).map(move |i| at(&SP_VS_OUT::ROW, i));
    let dsts = (0..links.div_ceil(4)).map(move |i| at(&SP_VS_VPC_DST::ROW, i));
    fetched.chain(targets).chain(modes).chain(outs).chain(dsts)
}
