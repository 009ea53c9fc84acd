//! The stages between the registers and set-up: vertices, then whatever works on whole
//! primitives.

use a4emu_decoder::regs::enums::PrimType;
use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use crate::fault::Fault;
use crate::gpu::Gpu;

use super::call::DrawCall;
use super::geometry::dispatch::{Choice, Demand};
use super::geometry::input::Input;
use super::geometry::launch::Job;
use super::geometry::{self, GeometryState, Layers};
use super::pipeline::{note_reports, shade_vertices};
use super::state::{VertexState, topology};
use super::vertices::{HEADER, Vertices};

/// What the stages in front of set-up need of the registers.
pub struct FrontState {
    /// Vertex fetch and shader.
    pub vertex: VertexState,
    /// Geometry shader.
    pub geometry: Option<GeometryState>,
    /// Type of what the draw packet lists.
    topology: PrimType,
    /// Number of the draw.
    draw: u32,
}

/// Vertices on their way to set-up.
#[derive(Default)]
pub struct Stream {
    /// The vertices.
    pub vertices: Vertices,
    /// Their numbers in drawing order, with restarts.
    pub list: Vec<u32>,
    /// What a geometry shader said of each vertex; empty without one.
    pub words: Vec<PRIMITIVE_WORD>,
}

impl FrontState {
    /// What the draw needs.
    ///
    /// # Errors
    /// A fault when a stage that is on has no program.
    pub fn snapshot(gpu: &mut Gpu, call: &DrawCall) -> Result<Self, Fault> {
        Ok(Self {
            vertex: VertexState::snapshot(gpu, call)?,
            geometry: GeometryState::snapshot(gpu)?,
            topology: topology(call),
            draw: call.number,
        })
    }

    /// Type of the list that reaches set-up.
    pub fn topology(&self) -> PrimType {
        self.geometry.as_ref().map_or(self.topology, |geometry| geometry.topology)
    }

    /// Whether the vertex stage is all there is.
    pub fn is_plain(&self) -> bool {
        self.geometry.is_none()
    }

    /// What chooses the layer of the targets.
    pub fn layers(&self) -> Layers {
        self.geometry.as_ref().map_or(Layers::First, |geometry| geometry.layers)
    }
}

/// Runs the stages. `None` when the primitive type is not supported.
///
/// # Errors
/// A fault when the draw is larger than any real one.
pub fn run(gpu: &mut Gpu, state: &FrontState) -> Result<Option<Stream>, Fault> {
    let shaded = shade_vertices(gpu, &state.vertex)?;
    let stream = Stream { vertices: shaded.vertices, list: shaded.list, words: Vec::new() };
    match &state.geometry {
        None => Ok(Some(stream)),
        Some(geometry) => Ok(shade_geometry(gpu, state, geometry, stream)),
    }
}

fn shade_geometry(
    gpu: &mut Gpu,
    state: &FrontState,
    geometry: &GeometryState,
    stream: Stream,
) -> Option<Stream> {
    let per_instance = state.vertex.list_len();
    let input = Input::assemble(state.topology, geometry.provoking, &stream.list, per_instance);
    let Some(input) = input else {
        let what = format!("draw {}: a geometry shader of {:?}", state.draw, state.topology);
        gpu.report.unsupported(what, gpu.at);
        return None;
    };
    let demand = Demand {
        registers: geometry.stage.program.registers(),
        inputs: stream.vertices.stride() - HEADER,
        stores: geometry.stage.stores(),
    };
    let setting = gpu.pipeline.gs_dispatch;
    let choice = Choice::new(setting, &demand);
    if let Some(what) = choice.refusal(setting, &demand) {
        gpu.report.unsupported(format!("draw {}: {what}", state.draw), gpu.at);
    }
    let job = Job { state: geometry, vertices: &stream.vertices, input: &input, choice, draw: state.draw };
    let outcome = geometry::shade(&job, &mut gpu.mem);
    gpu.pipeline.dispatches.note(&choice, &outcome.cost);
    note_reports(gpu, outcome.reports);
    if let Some(fault) = outcome.fault {
        gpu.report.fault(fault, gpu.at);
    }
    let strips = outcome.strips;
    Some(Stream { vertices: strips.vertices, list: strips.list, words: strips.words })
}
