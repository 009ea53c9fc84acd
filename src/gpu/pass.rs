//! Passes of the driver's rendering scheme.

use std::fmt;

use a4emu_decoder::a4xx::enums::RenderMode;
use a4emu_decoder::a4xx::pm4::VGT_DRAW_INITIATOR_A4XX;
use a4emu_decoder::a4xx::regs::gras::GRAS_SC_CONTROL;
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_GS_CONTROL_REG;
use a4emu_decoder::a4xx::regs::pc::PC_BINNING_COMMAND;
use a4emu_decoder::a4xx::regs::rb::{RB_MODE_CONTROL, RB_RENDER_CONTROL};

use crate::machine::Stage;
use crate::regfile::RegFile;

/// The pass of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pass {
    /// Sorts primitives into bins; writes no pixels.
    Binning,
    /// Renders into tile memory.
    Gmem,
    /// Renders into system memory.
    Bypass,
    /// Copies tile memory to system memory.
    Resolve,
    /// Copies system memory to tile memory.
    Restore,
}

impl Pass {
    /// All passes.
    pub const ALL: [Self; 5] = [Self::Binning, Self::Gmem, Self::Bypass, Self::Resolve, Self::Restore];

    /// The pass that the registers are set up for.
    ///
    /// Source: docs/hardware/driver-flow.md, sections 3 to 6. A restore has no bit of its own: it
    /// draws to tile memory with the bin offset off, in raster mode 1, which bypass rendering never sets.
    pub fn of(regs: &RegFile) -> Self {
        let control = regs.get::<GRAS_SC_CONTROL>();
        let mode = control.RENDER_MODE();
        if mode == RenderMode::RB_RESOLVE_PASS {
            Self::Resolve
        } else if regs.get::<PC_BINNING_COMMAND>().BINNING_ENABLE()
            || regs.get::<RB_RENDER_CONTROL>().BINNING_PASS()
            || mode == RenderMode::RB_TILING_PASS
        {
            Self::Binning
        } else if regs.get::<RB_MODE_CONTROL>().ENABLE_GMEM() {
            Self::Gmem
        } else if control.RASTER_MODE() != 0 {
            Self::Restore
        } else {
            Self::Bypass
        }
    }

    /// The stages that a draw of this pass runs, in order. Binning and resolve passes run no fragment shader,
    /// no tessellation and no geometry shader.
    pub fn stages(
        self,
        regs: &RegFile,
        initiator: Option<VGT_DRAW_INITIATOR_A4XX>,
    ) -> impl Iterator<Item = Stage> + use<> {
        let draws = !matches!(self, Self::Binning | Self::Resolve);
        let patches = draws && initiator.is_some_and(|initiator| initiator.patch_vertices().is_some());
        let stages = [
            (Stage::VS, true),
            (Stage::HS, patches),
            (Stage::DS, patches),
            (Stage::GS, draws && has_geometry_shader(regs)),
            (Stage::FS, draws),
        ];
        stages.into_iter().filter(|(_, runs)| *runs).map(|(stage, _)| stage)
    }

    /// The name in the output of `decode` and `replay`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Binning => "binning",
            Self::Gmem => "gmem",
            Self::Bypass => "bypass",
            Self::Resolve => "resolve",
            Self::Restore => "restore",
        }
    }
}

/// Returns whether there is a geometry shader: HLSQ_GS_CONTROL_REG enables it, or has instructions for it.
pub fn has_geometry_shader(regs: &RegFile) -> bool {
    let control = regs.get::<HLSQ_GS_CONTROL_REG>();
    control.ENABLED() || control.INSTRLENGTH() != 0
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
