//! State of the geometry shader from registers.

use std::sync::Arc;

use a4emu_decoder::a4xx::enums::{PaSuScDraw, PrimType};
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::pc::PC_GS_PARAM;
use a4emu_decoder::a4xx::regs::sp_geometry::SP_GS_PARAM_REG;

use crate::draw::sp::state::StageState;
use crate::draw::vpc::state::VertexOutputs;
use crate::machine::Stage;
use crate::regfile::RegFile;

/// State of the geometry stage.
pub struct GeometryState {
    /// The shader.
    pub stage: Arc<StageState>,
    /// Outputs of the shader.
    pub outputs: VertexOutputs,
    /// Register of the primitive word.
    pub primitive_word: Option<u32>,
    /// Maximum number of vertices per invocation: 1 to 1024.
    pub max_vertices: u32,
    /// Invocations of a primitive: 1 to 32.
    pub invocations: u32,
    /// Output type: points, line strips or triangle strips.
    pub topology: PrimType,
    /// Selection of the layer of primitives.
    pub layers: Layers,
}

/// Selection of the layer of the render target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// All primitives use the first layer.
    First,
    /// The primitive word selects the layer.
    Chosen,
}

impl GeometryState {
    /// Takes a snapshot for the shader `stage`.
    pub fn snapshot(regs: &RegFile, stage: Arc<StageState>) -> Self {
        let param = regs.get::<PC_GS_PARAM>();
        Self {
            stage,
            outputs: VertexOutputs::snapshot(regs, Stage::GS),
            primitive_word: used(regs.get::<SP_GS_PARAM_REG>().PRIMREGID()),
            max_vertices: param.MAX_VERTICES() + 1,
            invocations: param.INVOCATIONS() + 1,
            topology: topology(param.PRIMTYPE()),
            layers: if param.LAYER() { Layers::Chosen } else { Layers::First },
        }
    }
}

/// Returns the list type of an output type. Points have their own size.
fn topology(kind: PaSuScDraw) -> PrimType {
    match kind {
        PaSuScDraw::PC_DRAW_POINTS => PrimType::DI_PT_POINTLIST_PSIZE,
        PaSuScDraw::PC_DRAW_LINES => PrimType::DI_PT_LINESTRIP,
        PaSuScDraw::PC_DRAW_TRIANGLES | PaSuScDraw::Other(_) => PrimType::DI_PT_TRISTRIP,
    }
}
