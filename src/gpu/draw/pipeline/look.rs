//! Contents of a draw for inspection tools: its vertices, its effect on a pixel, and one warp before its
//! first instruction.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::draw::topology::Topology;

use super::between::Between;
use super::record::{no_room, unknown_type};
use super::snapshot::{draw_state, missing_code, stage, vertex_stages};
use super::sync::finish;
use super::trial_run::{TileMemory, trial_run};
use super::{affordable, assembled, draw_layer, draw_layers, drawable, vertex_stream};
use crate::budget::Work;
use crate::draw::call::{DispatchCall, DrawCall};
use crate::draw::cs;
use crate::draw::cs::state::DispatchState;
use crate::draw::debugged::{Launch, Looked, Place};
use crate::draw::fs::bands::Visible;
use crate::draw::fs::history::{PixelOf, Touch};
use crate::draw::fs::inspect::{WarpPixels, WhichWarp};
use crate::draw::fs::tap::{Caught, Ran, Tap, Wanted};
use crate::draw::fs::{DrawState, FragmentDraw, Plan};
use crate::draw::gras::layers;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::{self, Assembled, PrimitiveState};
use crate::draw::gs::state::Layers;
use crate::draw::pc;
use crate::draw::pc::tessellator::{Domain, Factors};
use crate::draw::pipeline::DrawContext;
use crate::draw::sp::catch::Catch;
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::memory::{GpuMemory, ShaderMemory};
use crate::draw::sp::state::code;
use crate::draw::stop::{MAX_HELD, Stop, charge};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vertices::VertexStream;
use crate::draw::vfd::state::Attribute;
use crate::draw::vs::Fetched;
use crate::fault::Fault;
use crate::generation::readers;
use crate::machine::Stage;
use crate::pass::Pass;
use a4emu_shader::{Granularity, Program};

/// Makes the primitives as [`super::primitives`] does, after it has recorded the history of the watched
/// pixels.
pub(super) fn watched(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
) -> Result<Option<Arc<Primitives>>, Stop> {
    finish(context);
    let Some(stream) = vertex_stream(context, &stages, None)? else { return Ok(None) };
    if let Some(pixels) = context.pipeline.inspection.pixels.take() {
        let mut found = Vec::new();
        let seen = histories(context, (state, stages.layers()), &stream, &pixels, &mut found);
        context.pipeline.inspection.pixels = Some(pixels);
        context.pipeline.inspected.pixels.append(&mut found);
        seen?;
    }
    assembled(context, stages, state, stream)
}

/// Determines the history of `pixels` of the first layer, and adds it to `found`.
fn histories(
    context: &mut DrawContext<'_>,
    (state, layers): (&DrawState, Layers),
    stream: &VertexStream,
    pixels: &[[i32; 2]],
    found: &mut Vec<Vec<Touch>>,
) -> Result<(), Stop> {
    let (_, program) = stepwise(context, Stage::FS)?;
    let cull = state.primitive.cull;
    let mut state = state.clone();
    state.fragment.stage = Arc::new(state.fragment.stage.with_program(program));
    let mut ran = match state.fragment.stage.stores() {
        true => results(context, (&state, layers), stream, pixels.to_vec())?.into_iter(),
        false => Vec::new().into_iter(),
    };
    state.primitive = Arc::new(PrimitiveState { cull: [None; 2], ..(*state.primitive).clone() });
    let Some(made) = numbered(context, &state.primitive, stream.clone())? else { return Ok(()) };
    let Numbered { made, numbers, .. } = if layers == Layers::Chosen { made.of_first_layer() } else { made };
    let Primitives { vertices, primitives, .. } = &made;
    let surfaces = &state.targets.surfaces;
    let area = drawable(context, &state, surfaces);
    let plan = Plan::new(&state, &mut context.machine.mem, &mut context.machine.budget);
    let draw = FragmentDraw {
        state: &state,
        vertices,
        primitives,
        bounds: &[],
        plan: &plan,
        reasons: None,
        tap: None,
    };
    for &at in pixels {
        charge(&mut context.machine.budget, Work::Vertex, primitives.len() as u64)?;
        let bytes = surfaces
            .iter()
            .map(|surface| surface.read_pixel(at, &context.machine.gmem, &context.machine.mem));
        let mut bytes: Vec<Vec<u8>> = bytes.collect();
        let ran = state.fragment.stage.stores().then(|| ran.next().unwrap_or_default());
        let pixel = PixelOf { draw: &draw, numbers: &numbers, cull, area, at };
        found.push(pixel.history(&mut bytes, ran, &mut context.machine.mem, &mut context.machine.budget));
    }
    Ok(())
}

/// Determines the results of the fragments at `pixels` of the first layer, for a draw whose shader stores.
fn results(
    context: &mut DrawContext<'_>,
    state: (&DrawState, Layers),
    stream: &VertexStream,
    pixels: Vec<[i32; 2]>,
) -> Result<Vec<VecDeque<Ran>>, Stop> {
    let tap = Tap::new(Wanted::Results(pixels));
    trial_run(context, TileMemory::Copied, |context| tapped(context, state, stream.clone(), &tap))?;
    Ok(tap.take_results())
}

/// Draws all fragments, with `tap` as observer.
fn tapped(
    context: &mut DrawContext<'_>,
    (state, layers): (&DrawState, Layers),
    stream: VertexStream,
    tap: &Tap,
) -> Result<(), Stop> {
    let VertexStream { mut vertices, list, words, .. } = stream;
    charge(&mut context.machine.budget, Work::Vertex, list.len() as u64)?;
    let made = setup::assemble_in(&state.primitive, &mut vertices, &list, &words, MAX_HELD);
    let Some(Assembled { primitives, .. }) = made else { return Ok(()) };
    let made = Primitives::new(vertices, primitives, words);
    match layers {
        Layers::First => draw_layer(context, state, 0, &made, Some(tap)),
        Layers::Chosen => draw_layers(context, state, made, Some(tap)),
    }
}

/// Primitives for the rasteriser with their numbers in the draw.
struct Numbered {
    made: Primitives,
    /// Per primitive: the number in the draw of the primitive that it is, or is a piece of.
    numbers: Vec<u32>,
    /// Number of primitives at the end of the draw that did not fit into memory.
    left_out: usize,
}

impl Numbered {
    /// Keeps only the primitives of the first layer.
    fn of_first_layer(self) -> Self {
        let Primitives { vertices, primitives, words, .. } = self.made;
        let (primitives, numbers) = primitives
            .into_iter()
            .zip(self.numbers)
            .filter(|(primitive, _)| layers::layer(primitive, &words) == 0)
            .unzip();
        Self { made: Primitives::new(vertices, primitives, words), numbers, ..self }
    }
}

/// Runs set-up on `stream` and keeps the primitive numbers. Returns `None` when the primitive type is not
/// supported.
fn numbered(
    context: &mut DrawContext<'_>,
    state: &PrimitiveState,
    stream: VertexStream,
) -> Result<Option<Numbered>, Stop> {
    let VertexStream { mut vertices, list, words, .. } = stream;
    charge(&mut context.machine.budget, Work::Vertex, list.len() as u64)?;
    let made = setup::assemble_numbered(state, &mut vertices, &list, &words, MAX_HELD);
    Ok(made.map(|(Assembled { primitives, left_out }, numbers)| {
        let made = Primitives::new(vertices, primitives, words);
        Numbered { made, numbers, left_out }
    }))
}

/// The vertices of a draw, as fetched and as they reach set-up.
pub struct DrawVertices {
    /// The attributes that the draw fetches.
    pub attributes: Arc<[Attribute]>,
    /// The fetched values.
    pub fetched: Fetched,
    /// Primitive type of the fetched vertex list.
    pub topology: Topology,
    /// What the stages between pass on. `None` if there is the vertex shader alone.
    pub between: Option<Box<Between>>,
    /// The vertices that reach set-up. `None` when the primitive type is not supported.
    pub stream: Option<VertexStream>,
    /// Primitive type of the vertex list that reaches set-up.
    pub out_topology: Topology,
    /// Whether the vertices that reach set-up are the fetched ones in the same order.
    pub is_plain: bool,
}

/// Returns the vertices of a draw. Stores by its shaders are discarded.
///
/// # Errors
/// A fault or an exhausted budget that stops the draw.
pub fn vertices_of(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<DrawVertices, Stop> {
    trial_run(context, TileMemory::Untouched, |context| vertices_apart(context, call))
}

/// Maximum number of patches whose factors are returned.
pub const MAX_FACTORS: usize = 16;

/// Returns the domain and the factors of the first patches of a draw, if it has patches. Stores by its shaders
/// are discarded.
///
/// # Errors
/// A fault or an exhausted budget that stops the draw.
pub fn factors_of(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
) -> Result<Option<(Domain, Vec<Factors>)>, Stop> {
    trial_run(context, TileMemory::Untouched, |context| {
        let stages = VertexStages { feedback: None, ..vertex_stages(context, call)? };
        let Some(patches) = stages.tessellation.as_ref().map(|tessellation| tessellation.patches) else {
            return Ok(None);
        };
        // The hull shader stores the factors when it runs.
        vertex_stream(context, &stages, None)?;
        let count =
            stages.vertex.fetch.list_len() / patches.vertices_in * stages.vertex.fetch.instances as usize;
        let (factors, _) =
            pc::factors::read(&patches, call.number, count.min(MAX_FACTORS), &context.machine.mem);
        Ok(Some((patches.tessellator.domain, factors)))
    })
}

fn vertices_apart(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<DrawVertices, Stop> {
    let stages = VertexStages { feedback: None, ..vertex_stages(context, call)? };
    context.pipeline.between = (!stages.is_plain()).then(Box::default);
    let fetched = stages.vertex.fetched(&mut context.machine.mem, &mut context.machine.budget)?;
    let stream = vertex_stream(context, &stages, None)?;
    Ok(DrawVertices {
        attributes: stages.vertex.fetch.attributes.clone(),
        fetched,
        topology: stages.topology,
        between: context.pipeline.between.take().filter(|_| stream.is_some()),
        stream,
        out_topology: stages.topology(),
        is_plain: stages.is_plain(),
    })
}

/// Passes the warp at `place` of a stage before set-up to `look`. The earlier stages and the earlier warps of
/// the stage have run by then. All their stores are discarded afterwards.
///
/// # Errors
/// There is no such warp.
pub fn inspect_vertices(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
    stage: Stage,
    place: Place,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    if call.pass == Pass::Binning {
        return Ok(Looked::NotHere);
    }
    trial_run(context, TileMemory::Untouched, |context| vertices_looked_at(context, call, stage, place, look))
}

fn vertices_looked_at(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
    stage: Stage,
    place: Place,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    let mut stages = vertex_stages(context, call)?;
    let (wanted, lane) = stages.wanted(stage, place, &context.machine.mem, &mut context.machine.budget)?;
    let missing = || Fault::Draw(format!("it has no {stage:?} stage"));
    let state = stages.stage_mut(stage).ok_or_else(missing)?;
    let (words, program) = stepwise(context, stage)?;
    let catch = Arc::new(Catch::new(wanted));
    let watched = Arc::new(state.with_program(program.clone()).caught_by(catch.clone()));
    *state = watched.clone();
    let budget = context.machine.budget.clone();
    let ran = vertex_stream(context, &stages, None);
    if catch.get().is_ok() {
        // The catch ended the launch, not the budget.
        context.machine.budget = budget;
    }
    let caught = match (catch.get(), ran) {
        (Ok(caught), _) => caught,
        (Err(_), Err(stop)) => return Err(stop),
        (Err(warps), Ok(_)) => {
            return Err(Fault::Draw(format!("no such place in the {warps} warps of its {stage:?}")).into());
        }
    };
    let lane = catch.lane(lane);
    let gpu_memory = GpuMemory::ReadWrite(&mut context.machine.mem);
    let memory = &mut ShaderMemory::with_own(gpu_memory, &watched, caught.memory.clone());
    let environment = &mut StageEnvironment { memory, quads: None };
    let warp = caught.warp.clone();
    look(Launch { words: &words, program: &program, warp, environment, lane, pixels: None });
    Ok(Looked::Done)
}

/// Passes a warp of the draw's fragment shader to `look`. The stages before it have run, and for a shader
/// with stores also its earlier warps. All their stores are discarded afterwards.
///
/// # Errors
/// A fault if the draw makes no such fragment.
pub fn inspect_fragments(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
    chosen: WhichWarp,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    if matches!(call.pass, Pass::Resolve | Pass::Binning) {
        return Ok(Looked::NotHere);
    }
    trial_run(context, TileMemory::Copied, |context| fragments_looked_at(context, call, chosen, look))
}

fn fragments_looked_at(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
    chosen: WhichWarp,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    let (words, program) = stepwise(context, Stage::FS)?;
    let stages = vertex_stages(context, call)?;
    let mut state = draw_state(context, &stages)?;
    let area = drawable(context, &state, &state.targets.surfaces);
    if !chosen.is_inside(area) {
        return Ok(Looked::NotHere);
    }
    state.fragment.stage = Arc::new(state.fragment.stage.with_program(program.clone()));
    let Some(stream) = vertex_stream(context, &stages, None)? else { return Ok(Looked::NotHere) };
    let again = state.fragment.stage.stores().then(|| stream.clone());
    let Some(Numbered { made, numbers, left_out }) = numbered(context, &state.primitive, stream)? else {
        unknown_type(context, stages.topology());
        return Ok(Looked::NotHere);
    };
    no_room(context, left_out);
    let plan = Plan::new(&state, &mut context.machine.mem, &mut context.machine.budget);
    let Primitives { vertices, primitives, bounds, .. } = &made;
    let count = match chosen {
        WhichWarp::Warp(_) => Visible::of(bounds, area)
            .map_or(0, |visible| affordable(context, &state.targets, bounds, visible)),
        WhichWarp::Pixel { .. } => {
            charge(&mut context.machine.budget, Work::Vertex, primitives.len() as u64)?;
            primitives.len()
        }
    };
    let (primitives, bounds, numbers) = (&primitives[..count], &bounds[..count], &numbers[..count]);
    let draw =
        FragmentDraw { state: &state, vertices, primitives, bounds, plan: &plan, reasons: None, tap: None };
    let hand_over = |pixels: WarpPixels, warp, mut environment: StageEnvironment<'_, '_, '_>| {
        let (lane, environment) = (pixels.lane_of(chosen), &mut environment);
        look(Launch { words: &words, program: &program, warp, environment, lane, pixels: Some(pixels) });
    };
    match again {
        None => draw.inspect(area, chosen, numbers, &mut context.machine.mem, hand_over)?,
        Some(stream) => {
            let (pixels, wanted) = draw.tap_for(area, chosen, numbers)?;
            let caught = caught(context, (&state, stages.layers()), stream, wanted)?;
            draw.inspect_caught(pixels, numbers, *caught, hand_over);
        }
    }
    Ok(Looked::Done)
}

/// Runs a draw whose shader stores, and catches the `wanted` warp.
fn caught(
    context: &mut DrawContext<'_>,
    state: (&DrawState, Layers),
    stream: VertexStream,
    wanted: Wanted,
) -> Result<Box<Caught>, Stop> {
    let is_warp = matches!(wanted, Wanted::Warp(_));
    let tap = Tap::new(wanted);
    let budget = context.machine.budget.clone();
    let ran = tapped(context, state, stream, &tap);
    match (tap.take_caught(), ran) {
        (Ok(caught), _) => {
            // The tap ended the draw, not the budget.
            context.machine.budget = budget;
            Ok(caught)
        }
        (Err(_), Err(stop)) => Err(stop),
        (Err(warps), Ok(())) if is_warp => {
            Err(Fault::Draw(format!("its fragments make {warps} warps")).into())
        }
        (Err(_), Ok(())) => {
            let what = "its shader does not run for that primitive there: depth or stencil fails before";
            Err(Fault::Draw(what.into()).into())
        }
    }
}

/// Passes a warp of a dispatch to `look`. If the shader stores, the earlier workgroups have run. All their
/// stores are discarded afterwards.
///
/// # Errors
/// There is no such warp.
pub fn inspect_dispatch(
    context: &mut DrawContext<'_>,
    call: &DispatchCall,
    place: Place,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    trial_run(context, TileMemory::Untouched, |context| dispatch_looked_at(context, call, place, look))
}

fn dispatch_looked_at(
    context: &mut DrawContext<'_>,
    call: &DispatchCall,
    place: Place,
    look: impl FnOnce(Launch<'_>),
) -> Result<Looked, Stop> {
    let (words, program) = stepwise(context, Stage::CS)?;
    let stage = stage(context, Stage::CS)?;
    let state = (readers(context.machine.chip).dispatch)(&context.machine.regs, call, &stage)?;
    let stepped = DispatchState { stage: state.stage.with_program(program.clone()), ..state };
    let chosen = match place {
        Place::Warp(number) => cs::inspect::WhichWarp::Warp(number),
        Place::Invocation(id) => cs::inspect::WhichWarp::Invocation(id),
        Place::Vertex(_) | Place::Pixel { .. } => {
            return Err(Fault::Draw(format!("a dispatch has no such place: {place:?}")).into());
        }
    };
    stepped.inspect(
        chosen,
        &mut context.machine.mem,
        &mut context.machine.budget,
        |warp, lane, environment| {
            look(Launch {
                words: &words,
                program: &program,
                warp,
                environment,
                lane: Some(lane),
                pixels: None,
            });
        },
    )?;
    Ok(Looked::Done)
}

fn stepwise(context: &mut DrawContext<'_>, stage: Stage) -> Result<(Vec<u64>, Arc<Program>), Fault> {
    let readers = readers(context.machine.chip).stage;
    let dialect = (readers.dialect)(context.machine.view(), stage);
    let words =
        code(readers, context.machine.view(), stage).map_err(|miss| missing_code(context, stage, miss))?;
    let program = Program::lowered(dialect, Granularity::Instructions, &words)
        .map_err(|error| Fault::Shader(error.to_string()))?;
    Ok((words, Arc::new(program)))
}
