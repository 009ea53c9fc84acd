//! The stages between the registers and set-up: vertices, then whatever works on whole
//! primitives.

use a4emu_decoder::regs::enums::PrimType;
use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use crate::fault::Fault;
use crate::gpu::Gpu;

use crate::draw::call::DrawCall;
use crate::draw::gras::state::{VertexState, Viewports, provoking, topology};
use crate::draw::gs::batch::Job;
use crate::draw::gs::dispatch::{Choice, Demand};
use crate::draw::gs::{self, GeometryState, Layers};
use crate::draw::pc::assembler::Input;
use crate::draw::pc::state::{self as tessellation, Tessellated, TessellationState};
use crate::draw::pc::topology::Provoking;
use crate::draw::pipeline::{note_reports, shade_vertices};
use crate::draw::vertices::{HEADER, Vertices};
use crate::draw::vpc::feedback::FeedbackState;

/// What the stages in front of set-up need of the registers.
pub struct FrontState {
    /// Vertex fetch and shader.
    pub vertex: VertexState,
    /// Hull and domain shader.
    pub tessellation: Option<TessellationState>,
    /// Geometry shader.
    pub geometry: Option<GeometryState>,
    /// Transform feedback.
    pub feedback: Option<FeedbackState>,
    /// Type of what the draw packet lists.
    topology: PrimType,
    /// Which vertex of a primitive in a strip is kept in its place.
    provoking: Provoking,
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
            tessellation: TessellationState::snapshot(gpu, call)?,
            geometry: GeometryState::snapshot(gpu)?,
            feedback: FeedbackState::snapshot(gpu),
            topology: topology(call),
            provoking: provoking(&gpu.regs),
            draw: call.number,
        })
    }

    /// Type of the list that reaches set-up.
    pub fn topology(&self) -> PrimType {
        match (&self.geometry, &self.tessellation) {
            (Some(geometry), _) => geometry.topology,
            (None, Some(tessellation)) => tessellation.topology(),
            (None, None) => self.topology,
        }
    }

    /// Whether the vertex stage is all there is.
    fn is_plain(&self) -> bool {
        self.geometry.is_none() && self.tessellation.is_none()
    }

    /// Whether what reaches set-up follows from the vertices, and nothing else is done.
    pub fn is_reusable(&self) -> bool {
        self.is_plain() && self.feedback.is_none()
    }

    /// Which viewports primitives go through.
    pub fn viewports(&self) -> Viewports {
        match self.geometry.as_ref().and_then(|geometry| geometry.primitive_word) {
            Some(_) => Viewports::Chosen,
            None => Viewports::First,
        }
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
    let stream = shade(gpu, state)?;
    if let (Some(feedback), Some(stream)) = (&state.feedback, &stream) {
        feedback.run(gpu, state.topology(), state.provoking, stream);
    }
    Ok(stream)
}

fn shade(gpu: &mut Gpu, state: &FrontState) -> Result<Option<Stream>, Fault> {
    let shaded = shade_vertices(gpu, &state.vertex)?;
    if state.is_plain() {
        return Ok(Some(Stream { vertices: shaded.vertices, list: shaded.list, words: Vec::new() }));
    }
    let Some(input) = primitives(gpu, state, &shaded.list) else { return Ok(None) };
    let whole = Tessellated { vertices: shaded.vertices, input };
    let whole = match &state.tessellation {
        Some(tessellation) => tessellation::run(gpu, tessellation, &whole.vertices, &whole.input)?,
        None => whole,
    };
    Ok(Some(match &state.geometry {
        Some(geometry) => shade_geometry(gpu, geometry, &whole, state.draw),
        None => Stream { vertices: whole.vertices, list: whole.input.vertices, words: Vec::new() },
    }))
}

/// The whole primitives that the first stage after the vertices takes.
fn primitives(gpu: &mut Gpu, state: &FrontState, list: &[u32]) -> Option<Input> {
    let per_instance = state.vertex.list_len();
    if let Some(tessellation) = &state.tessellation {
        return Some(Input::patches(tessellation.vertices_in(), list, per_instance));
    }
    let input = Input::assemble(state.topology, state.provoking, list, per_instance);
    if input.is_none() {
        let what = format!("draw {}: a geometry shader of {:?}", state.draw, state.topology);
        gpu.report.unsupported(what, gpu.at);
    }
    input
}

fn shade_geometry(gpu: &mut Gpu, geometry: &GeometryState, whole: &Tessellated, draw: u32) -> Stream {
    let demand = Demand {
        registers: geometry.stage.program.registers(),
        inputs: whole.vertices.stride() - HEADER,
        stores: geometry.stage.stores(),
    };
    let setting = gpu.pipeline.gs_dispatch;
    let choice = Choice::new(setting, &demand);
    if let Some(what) = choice.refusal(setting, &demand) {
        gpu.report.unsupported(format!("draw {draw}: {what}"), gpu.at);
    }
    let job = Job { state: geometry, vertices: &whole.vertices, input: &whole.input, choice, draw };
    let outcome = gs::shade(&job, &mut gpu.mem);
    gpu.pipeline.dispatches.note(&choice, &outcome.cost);
    note_reports(gpu, outcome.reports);
    if let Some(fault) = outcome.fault {
        gpu.report.fault(fault, gpu.at);
    }
    let strips = outcome.strips;
    Stream { vertices: strips.vertices, list: strips.list, words: strips.words }
}
