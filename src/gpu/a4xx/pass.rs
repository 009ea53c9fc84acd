//! The pass that the registers are set up for, and the stages that a draw of a pass runs.

use a4emu_decoder::a4xx::enums::RenderMode;
use a4emu_decoder::a4xx::pm4::VGT_DRAW_INITIATOR_A4XX;
use a4emu_decoder::a4xx::regs::gras::GRAS_SC_CONTROL;
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_GS_CONTROL_REG;
use a4emu_decoder::a4xx::regs::pc::PC_BINNING_COMMAND;
use a4emu_decoder::a4xx::regs::rb::{RB_MODE_CONTROL, RB_RENDER_CONTROL};

use crate::machine::Stage;
use crate::pass::{Pass, Stages};
use crate::regfile::RegFile;

/// The pass that the registers are set up for.
///
/// Source: docs/hardware/driver-flow.md, sections 3 to 6. A restore has no bit of its own: it
/// draws to tile memory with the bin offset off, in raster mode 1, which bypass rendering never sets.
pub fn pass(regs: &RegFile) -> Pass {
    let control = regs.get::<GRAS_SC_CONTROL>();
    let mode = control.RENDER_MODE();
    if mode == RenderMode::RB_RESOLVE_PASS {
        Pass::Resolve
    } else if regs.get::<PC_BINNING_COMMAND>().BINNING_ENABLE()
        || regs.get::<RB_RENDER_CONTROL>().BINNING_PASS()
        || mode == RenderMode::RB_TILING_PASS
    {
        Pass::Binning
    } else if regs.get::<RB_MODE_CONTROL>().ENABLE_GMEM() {
        Pass::Gmem
    } else if control.RASTER_MODE() != 0 {
        Pass::Restore
    } else {
        Pass::Bypass
    }
}

/// The stages that a draw of this pass runs, in order. `initiator` is the word of its packet, if it has one.
pub fn stages(pass: Pass, regs: &RegFile, initiator: Option<u32>) -> Stages {
    let patches = initiator.is_some_and(|word| VGT_DRAW_INITIATOR_A4XX(word).patch_vertices().is_some());
    let stages = [
        (Stage::VS, true),
        (Stage::HS, patches),
        (Stage::DS, patches),
        (Stage::GS, has_geometry_shader(regs)),
        (Stage::FS, true),
    ];
    stages.map(|(stage, is_there)| (is_there && pass.runs(stage)).then_some(stage)).into_iter().flatten()
}

/// Returns whether there is a geometry shader: HLSQ_GS_CONTROL_REG enables it, or has instructions for it.
pub fn has_geometry_shader(regs: &RegFile) -> bool {
    let control = regs.get::<HLSQ_GS_CONTROL_REG>();
    control.ENABLED() || control.INSTRLENGTH() != 0
}
