//! The block diagram: the order of the stages, and what outlives a draw.
//!
//! With its parts, this is the only file of `draw/` that holds the machine. The stages take their state and
//! values, and give values and what is to be recorded.
//!
//! - `ahead`: fragments that others draw while the command processor goes on.
//! - `apart`: runs that are thrown away.
//! - `guesses`: which ones a draw rests on.
//! - `helper`: a thread that is woken before there is something for it to do.
//! - [`late`]: copies that wait, and who must not read memory before they are done.
//! - [`look`]: what a draw is made of, for whoever looks at it.
//! - `parts`: draws whose vertices are too many to be held at once.
//! - `record`: what is recorded of draws.
//! - [`rerun`]: draws of a buffer that runs again for the next tile.
//! - `resolve`: draws of the resolve pass.
//! - `scope`: what a draw can change, and what of that is paid for.
//! - `unmade`: small draws whose primitives others make.
//! - `whole`: the stages that take whole primitives.

mod ahead;
mod apart;
mod guesses;
mod helper;
pub mod late;
pub mod look;
mod parts;
mod record;
pub mod rerun;
mod resolve;
mod scope;
mod unmade;
mod whole;

use std::sync::Arc;
use std::time::Instant;

use a4emu_decoder::guesses::Guess;

use crate::budget::Work;
use crate::fault::{Fault, Miss};
use crate::fidelity::Line;
use crate::gpu::{Gpu, Stage};
use crate::pass::Pass;
use crate::spare::Pool;

use ahead::{Ahead, KNOWN_PER_NEW, drain_ahead, finish_ahead, make_room, try_submit};
use guesses::record_guesses;
use late::{Resolves, settle_stages, settle_state, settle_vertices};
use look::{Watch, watched};
use record::{
    record_cost, record_end, record_fragments, record_log, record_outside, record_primitives,
    record_unsupported, record_vertices, unknown_type,
};
use scope::{affordable, drawable, is_out_of_sight, plan, reads, visible};
use unmade::GeometryQueue;
use whole::{feed_back, whole_primitives};

use super::call::{DispatchCall, DrawCall};
use super::cs::state::DispatchState;
use super::ds::state::DomainState;
use super::fs::batch::{Batch, Finished, Waiting};
use super::fs::copies::ResolveCache;
use super::fs::reasons::Reasons;
use super::fs::state::{FragmentInputs, FragmentState};
use super::fs::tap::Tap;
use super::fs::{DrawState, FragmentDraw};
use super::gras::layers::{self, Grouping, Layer};
use super::gras::primitives::Primitives;
use super::gras::setup::{self, PrimitiveState};
use super::gras::viewport::Projection;
use super::gs::cost::DispatchCosts;
use super::gs::dispatch::Setting;
use super::gs::state::{GeometryState, Layers};
use super::kept::{Kept, Said};
use super::pc::state::PatchState;
use super::primitive_cache::{PrimitiveCache, looked_through};
use super::rb::rendered::Surfaces;
use super::rb::state::{Targets, discards};
use super::rb::surface::{Surface, copied, with_rows};
use super::sp::kept::NoStage;
use super::sp::launch::Threads;
use super::sp::programs::Programs;
use super::sp::state::StageState;
use super::stats::{CostList, Stats, StatsReport, TessellationCost};
use super::stop::{MAX_HELD, Stop, charge};
use super::vertex_stages::{Tessellation, VertexStages};
use super::vertices::VertexStream;
use super::vfd::state::{FetchState, attributes, placed};
use super::vpc::state::{FeedbackState, VertexOutputs};
use super::vs::{Shaded, VertexState};
use super::{ds, gs, hs, pc};

/// What the pipeline keeps between draws.
#[derive(Default)]
pub struct Pipeline {
    /// State that no write has changed since.
    kept: Kept,
    /// Lowered shaders.
    pub programs: Programs,
    /// Surfaces that were rendered, in the order of their last write.
    pub surfaces: Surfaces,
    /// Primitives of draws that run again for the next tile.
    pub primitives: PrimitiveCache,
    /// Draws that are noted for the next tile.
    noting: Option<Box<rerun::Recorder>>,
    /// How many more buffers of draws are noted when they first run, in the hope that they run again.
    pub recording_credits: u32,
    /// Draws that wait for their primitives.
    unmade: GeometryQueue,
    /// Draws that wait for their fragments.
    batch: Batch,
    /// What the copies of tile memory before have left in memory.
    left: ResolveCache,
    /// Those before them, which others draw.
    ahead: Ahead,
    /// Copies of surfaces that were worked on.
    rows: Pool<u8>,
    /// Whether somebody is woken early.
    expected: helper::ExpectedDemand,
    /// What it has taken to find what waits, in draws of known primitives.
    found: u64,
    /// When tile memory is copied to memory.
    pub resolves: Resolves,
    /// Counts and times.
    pub stats: Stats,
    /// Whether nobody asks for the times: of small draws, to look at the clock is a part that shows.
    pub untimed: bool,
    /// How geometry shaders are to be laid on lanes.
    pub gs_dispatch: Setting,
    /// How they were, and what that cost.
    pub dispatches: DispatchCosts,
    /// What tessellation cost.
    pub tessellation: TessellationCost,
    /// What each draw's stages took, for whoever puts a list here and takes it out.
    pub costs: Option<CostList>,
    /// What is wanted of the next draw.
    pub watch: Option<Watch>,
    /// Where draws note what becomes of pixels, for whoever puts a map here and takes it out.
    pub reasons: Option<Arc<Reasons>>,
    /// Who takes fragments of the next draw, whose shader stores.
    tap: Option<Arc<Tap>>,
}

impl Pipeline {
    /// What `--stats` prints, with the guesses that the run rests on.
    pub fn report(&self, guesses: Option<Vec<Line>>) -> StatsReport {
        let tessellation = (self.tessellation.patches > 0).then_some(self.tessellation);
        StatsReport { stats: self.stats, tessellation, geometry: self.dispatches.rows(), guesses }
    }
}

/// What the parts of a draw take.
#[derive(Clone, Copy)]
struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts, if somebody asks for times.
    fn of(gpu: &Gpu) -> Self {
        Self::if_asked(!gpu.pipeline.untimed)
    }

    fn if_asked(is_asked: bool) -> Self {
        Self(is_asked.then(Instant::now))
    }

    fn milliseconds(self) -> f64 {
        self.0.map_or(0.0, |start| start.elapsed().as_secs_f64() * 1e3)
    }
}

/// A submit begins.
pub fn begin_submit(gpu: &mut Gpu) {
    // What broke the one before may have left something half noted.
    gpu.pipeline.noting = None;
    gpu.pipeline.primitives.begin_submit();
    helper::begin_submit(gpu);
}

/// Runs a draw.
pub fn run(gpu: &mut Gpu, call: &DrawCall) {
    gpu.pipeline.stats.draws += 1;
    rerun::note_call(gpu);
    if call.count == 0 || call.instances == 0 || gpu.budget.cut().is_some() {
        return;
    }
    gpu.budget.owe(Work::Draw, 1);
    rerun::pay(gpu, Work::Draw, 1);
    let result = match call.pass {
        // The result would be the visibility stream, which nobody reads.
        Pass::Binning => Ok(()),
        Pass::Resolve => resolve::resolve(gpu, call),
        Pass::Gmem | Pass::Bypass | Pass::Restore if discards(&gpu.regs) => vertices_only(gpu, call),
        Pass::Gmem | Pass::Bypass | Pass::Restore => render(gpu, call),
    };
    record_end(gpu, result);
}

/// Runs a dispatch.
pub fn dispatch(gpu: &mut Gpu, call: &DispatchCall) {
    gpu.pipeline.stats.draws += 1;
    rerun::note_call(gpu);
    if gpu.budget.cut().is_some() {
        return;
    }
    gpu.budget.owe(Work::Draw, 1);
    flush(gpu);
    let start = Stopwatch::of(gpu);
    let result = compute(gpu, call);
    record_end(gpu, result);
    gpu.pipeline.stats.ms.compute += start.milliseconds();
}

/// A draw from end to end.
fn render(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Stop> {
    let start = Stopwatch::of(gpu);
    gpu.pipeline.found += 1;
    settle_state(gpu, call);
    let stages = vertex_stages(gpu, call)?;
    let (primitive, targets) = set_up_state(gpu, &stages);
    settle_vertices(gpu, &stages.vertex);
    if gpu.pipeline.unmade.has(gpu.at.address) {
        unmade::finish(gpu);
    }
    let known = known_primitives(gpu, &stages, &primitive)?;
    if let Some(known) = &known
        && gpu.fidelity.is_none()
        && is_out_of_sight(known, &targets)
    {
        // Most draws are in most tiles, which is to be found out first.
        rerun::record_culled(gpu, call, &stages, known, (&primitive, &targets));
        unmade::out_of_sight(gpu, call, targets);
        return Ok(());
    }
    let state = DrawState { primitive, fragment: fragment_state(gpu)?, targets };
    rerun::note(gpu, call, &stages, &state, known.as_ref());
    settle_stages(gpu, &stages, Some(&state.fragment.stage));
    let layers = stages.layers();
    let rests = gpu.fidelity.is_some().then(|| guesses::of_stages(&stages, call));
    gpu.pipeline.stats.ms.snapshot += start.milliseconds();
    let Some(stages) = unmade::enqueue_geometry(gpu, call, stages, &state, known.as_ref()) else {
        return Ok(());
    };
    unmade::finish(gpu);
    let primitives = match known {
        Some(known) => Some(known),
        None if gpu.pipeline.watch.is_some() => watched(gpu, call, stages, &state)?,
        None => primitives(gpu, call, stages, &state, rests.as_deref())?,
    };
    let Some(primitives) = primitives else { return Ok(()) };
    if let Some(rests) = rests {
        record_guesses(gpu, rests, &state, &primitives);
    }
    match layers {
        Layers::First => draw_first_layer(gpu, call, state, primitives),
        Layers::Chosen => draw_layers(gpu, call, &state, Arc::unwrap_or_clone(primitives)),
    }
}

/// Draws the fragments that wait. Whoever looks at tile memory or counters, or writes memory that
/// shaders may read, asks for it first.
pub fn flush(gpu: &mut Gpu) {
    unmade::finish(gpu);
    finish_ahead(gpu);
    if gpu.pipeline.batch.is_empty() {
        return;
    }
    let start = Stopwatch::of(gpu);
    let batch = take_batch(gpu).sorted(Threads::All);
    let mut lent = batch.copies().lend(&mut gpu.mem);
    let finished = batch.shade(&mut gpu.gmem, &gpu.mem, &mut lent, &mut gpu.budget);
    lent.into_iter().for_each(|lent| gpu.mem.give_back(lent));
    record_finished(gpu, finished);
    gpu.pipeline.stats.ms.fragment += start.milliseconds();
}

/// All that waits. What comes next waits anew.
fn take_batch(gpu: &mut Gpu) -> Batch {
    gpu.pipeline.found = 0;
    gpu.pipeline.unmade.begin();
    std::mem::take(&mut gpu.pipeline.batch)
}

/// Records what became of a batch.
fn record_finished(gpu: &mut Gpu, finished: Vec<Finished>) {
    let here = gpu.at;
    for Finished { at, samples, log } in finished {
        gpu.at = at;
        record_fragments(gpu, samples, log);
    }
    gpu.at = here;
    record_end(gpu, Ok(()));
}

/// Rasteriser discard: what the stages before it store is all that is left.
fn vertices_only(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Stop> {
    unmade::finish(gpu);
    settle_state(gpu, call);
    let stages = vertex_stages(gpu, call)?;
    settle_vertices(gpu, &stages.vertex);
    settle_stages(gpu, &stages, None);
    vertex_stream(gpu, &stages, None)?;
    Ok(())
}

fn compute(gpu: &mut Gpu, call: &DispatchCall) -> Result<(), Stop> {
    let stage = stage(gpu, Stage::CS)?;
    let state = DispatchState::snapshot(&gpu.regs, call, &stage)?;
    let log = state.run(&mut gpu.mem, &mut gpu.budget);
    record_cost(gpu, Stage::CS, &log, 0);
    record_log(gpu, "compute", log);
    Ok(())
}

/// Vertices, shaded by all stages that there are in front of set-up, which has this `state`. `None` when the primitive
/// type is not supported.
fn vertex_stream(
    gpu: &mut Gpu,
    stages: &VertexStages,
    state: Option<&PrimitiveState>,
) -> Result<Option<VertexStream>, Stop> {
    if stages.store() {
        flush(gpu);
    }
    let projection = || state.filter(|_| stages.is_plain()).and_then(PrimitiveState::projection);
    let shaded = vertices(gpu, &stages.vertex, projection)?;
    let stream = match stages.is_plain() {
        true => Some(VertexStream { vertices: shaded.vertices, list: shaded.list, words: Vec::new() }),
        false => whole_primitives(gpu, stages, shaded)?,
    };
    if let (Some(feedback), Some(stream)) = (&stages.feedback, &stream) {
        feed_back(gpu, feedback, stages, stream)?;
    }
    Ok(stream)
}

/// Vertex fetch and vertex shader.
fn vertices(
    gpu: &mut Gpu,
    state: &VertexState,
    projection: impl FnOnce() -> Option<Projection>,
) -> Result<Shaded, Stop> {
    let start = Stopwatch::of(gpu);
    helper::shades(gpu, u64::from(state.fetch.count) * u64::from(state.fetch.instances));
    let shaded = state.shade_for(projection, &mut gpu.mem, &mut gpu.budget)?;
    Ok(record_vertices(gpu, shaded, start))
}

/// What the previous tile left of what reaches the rasteriser.
fn known_primitives(
    gpu: &mut Gpu,
    stages: &VertexStages,
    state: &Arc<PrimitiveState>,
) -> Result<Option<Arc<Primitives>>, Stop> {
    if !stages.is_reusable() || gpu.pipeline.watch.is_some() {
        return Ok(None);
    }
    let looked_through = looked_through(&stages.vertex) / 16;
    charge(&mut gpu.budget, Work::Copy16, looked_through)?;
    rerun::pay(gpu, Work::Copy16, looked_through);
    let slot = gpu.pipeline.kept.slots.of(gpu.at.address);
    Ok(gpu.pipeline.primitives.find(slot, &stages.vertex, state, &gpu.mem))
}

/// What reaches the rasteriser. `None` when the primitive type is not supported. `rests` are the guesses that the draw
/// rests on, if those are noted.
fn primitives(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    rests: Option<&[Guess]>,
) -> Result<Option<Arc<Primitives>>, Stop> {
    if parts::are_needed(&stages) {
        return parts::primitives(gpu, call, stages, state, rests);
    }
    let Some(stream) = vertex_stream(gpu, &stages, Some(&state.primitive))? else { return Ok(None) };
    assembled(gpu, call, stages, state, stream)
}

/// Set-up. `None` when the primitive type is not supported.
fn assembled(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    stream: VertexStream,
) -> Result<Option<Arc<Primitives>>, Stop> {
    let work = if stages.is_plain() { 0 } else { stream.list.len() as u64 };
    charge(&mut gpu.budget, Work::Vertex, work)?;
    let made = set_up(gpu, call, &state.primitive, stream);
    Ok(keep_if_known(gpu, call, stages, state, made))
}

/// What a draw has made, if set-up knows its primitive type; otherwise that is recorded.
fn keep_if_known(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    made: Option<Primitives>,
) -> Option<Arc<Primitives>> {
    gpu.pipeline.found += KNOWN_PER_NEW - 1;
    if made.is_none() {
        unknown_type(gpu, call, stages.topology());
    }
    Some(keep(gpu, call, stages, state, made?))
}

/// What a draw has `made`: kept for the next tile, if that will have the same.
fn keep(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    made: Primitives,
) -> Arc<Primitives> {
    let made = Arc::new(made);
    // What is drawn straight to memory is not drawn again for another tile.
    if stages.is_reusable() && call.pass != Pass::Bypass {
        let slot = gpu.pipeline.kept.slots.of(gpu.at.address);
        let (cache, state) = (&mut gpu.pipeline.primitives, state.primitive.clone());
        cache.keep(slot, stages.vertex, state, &gpu.mem, &made);
    }
    made
}

/// What set-up makes of `stream`. `None` when it does not know the primitive type.
fn set_up(
    gpu: &mut Gpu,
    call: &DrawCall,
    state: &PrimitiveState,
    stream: VertexStream,
) -> Option<Primitives> {
    let start = Stopwatch::of(gpu);
    let VertexStream { mut vertices, list, words } = stream;
    let assembled = setup::assemble_in(state, &mut vertices, &list, &words, MAX_HELD)?;
    gpu.pipeline.stats.ms.primitive += start.milliseconds();
    Some(record_primitives(gpu, call, assembled, vertices, words))
}

/// Draws all primitives to the first layer of the targets: later, if nobody can see that.
fn draw_first_layer(
    gpu: &mut Gpu,
    call: &DrawCall,
    state: DrawState,
    made: Arc<Primitives>,
) -> Result<(), Stop> {
    let surfaces = &state.targets.surfaces;
    let Some(visible) = visible(gpu, &state, surfaces, &made) else {
        note_written(gpu, call, &state.targets, surfaces);
        return Ok(());
    };
    let area = visible.area;
    if !gpu.pipeline.batch.can_take(&state.targets, area) {
        make_room(gpu);
        if !gpu.pipeline.batch.can_take(&state.targets, area) {
            return draw_layer(gpu, call, &state, 0, &made);
        }
    }
    if state.fragment.stage.stores() {
        return draw_layer(gpu, call, &state, 0, &made);
    }
    let plan = plan(gpu, &state);
    let count = affordable(gpu, &state.targets, &made.bounds, visible);
    let reasons = gpu.pipeline.reasons.clone();
    gpu.pipeline.batch.add(Waiting { at: gpu.at, state, made, count, plan, area, reasons }, &visible);
    try_submit(gpu);
    Ok(())
}

/// Draws primitives that choose their layers.
fn draw_layers(gpu: &mut Gpu, call: &DrawCall, state: &DrawState, made: Primitives) -> Result<(), Stop> {
    let Primitives { mut vertices, primitives, words, .. } = made;
    let grouping = if state.fragment.stage.stores() { Grouping::Runs } else { Grouping::Layers };
    for Layer { number, primitives } in layers::split(primitives, &words, grouping) {
        let made = Primitives::new(vertices, primitives, Vec::new());
        draw_layer(gpu, call, state, number, &made)?;
        vertices = made.vertices;
    }
    Ok(())
}

/// Draws all primitives to one layer of the targets.
fn draw_layer(
    gpu: &mut Gpu,
    call: &DrawCall,
    state: &DrawState,
    layer: u32,
    made: &Primitives,
) -> Result<(), Stop> {
    let start = Stopwatch::of(gpu);
    let surfaces: Vec<Surface> =
        state.targets.surfaces.iter().map(|surface| surface.at_layer(layer)).collect();
    let tap = gpu.pipeline.tap.clone().filter(|tap| tap.is_of_layer(layer));
    let result = fragments(gpu, state, &surfaces, made, tap.as_deref());
    gpu.pipeline.stats.ms.fragment += start.milliseconds();
    note_written(gpu, call, &state.targets, &surfaces);
    result
}

/// Notes which surfaces in memory a draw was for, whether any of its pixels could be seen or not.
fn note_written(gpu: &mut Gpu, call: &DrawCall, targets: &Targets, surfaces: &[Surface]) {
    let written = targets.written(surfaces, call.submit, call.number);
    // Each is looked for among all that were written before.
    gpu.budget.owe(Work::Copy16, 2 * (written.len() * gpu.pipeline.surfaces.iter().len()) as u64);
    written.into_iter().for_each(|written| gpu.pipeline.surfaces.note(written));
}

/// Rasteriser, fragment shader, render backend.
fn fragments(
    gpu: &mut Gpu,
    state: &DrawState,
    surfaces: &[Surface],
    made: &Primitives,
    tap: Option<&Tap>,
) -> Result<(), Stop> {
    let Primitives { vertices, primitives, bounds, .. } = made;
    let Some(visible) = visible(gpu, state, surfaces, made) else { return Ok(()) };
    let area = visible.area;
    flush(gpu);
    charge(&mut gpu.budget, Work::Copy16, copied(surfaces, area))?;
    let plan = plan(gpu, state);
    let count = affordable(gpu, &state.targets, bounds, visible);
    let (primitives, bounds) = (&primitives[..count], &bounds[..count]);
    let reasons = gpu.pipeline.reasons.clone();
    let reasons = reasons.as_deref();
    let draw = FragmentDraw { state, vertices, primitives, bounds, plan: &plan, reasons, tap };
    let budget = &mut gpu.budget;
    let reads = (reads(&state.fragment.stage, surfaces, &gpu.mem), &gpu.pipeline.rows);
    let (shaded, outside) = with_rows(surfaces, area, &mut gpu.gmem, &mut gpu.mem, reads, |rows, mem| {
        draw.shade(area, rows, mem, budget)
    });
    record_outside(gpu, surfaces, &outside);
    record_fragments(gpu, shaded.results.iter().sum(), shaded.log);
    Ok(())
}

// Registers to state.

/// The program, constants and descriptors of `stage`. That there is none is recorded.
fn stage(gpu: &mut Gpu, stage: Stage) -> Result<Arc<StageState>, Fault> {
    known_stage(gpu, stage).map_err(|why| match why {
        NoStage::Missing(miss) => missing_code(gpu, stage, miss),
        NoStage::Fault(fault) => fault,
    })
}

/// The same, and nobody hears of it if there is none.
fn known_stage(gpu: &mut Gpu, stage: Stage) -> Result<Arc<StageState>, NoStage> {
    let mut programs = std::mem::take(&mut gpu.pipeline.programs);
    let mut kept = gpu.pipeline.kept.stages[stage as usize].take().unwrap_or_default();
    let slot = gpu.pipeline.kept.slots.of(gpu.at.address);
    let state = kept.get(gpu, &mut programs, stage, slot);
    gpu.pipeline.kept.stages[stage as usize] = Some(kept);
    gpu.pipeline.programs = programs;
    state
}

/// Records that the program of `stage` is not there.
fn missing_code(gpu: &mut Gpu, stage: Stage, miss: Miss) -> Fault {
    gpu.report.missing.note(miss);
    Fault::Shader(format!("{stage:?} program at {:#010x} is missing", miss.address))
}

fn vertex_state(gpu: &mut Gpu, call: &DrawCall) -> Result<VertexState, Fault> {
    let stage = stage(gpu, Stage::VS)?;
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.kept);
    let slot = kept.slots.of(gpu.at.address);
    let (attributes, unsupported) =
        kept.attributes.get(slot, regs, (), |regs| with_unsupported(|list| attributes(regs, list)));
    let attributes = placed(regs, attributes);
    let fetch = FetchState::snapshot(regs, call, pc::state::restart(regs), attributes, gpu.model);
    let outputs = kept.outputs.get(slot, regs, (), |regs| Arc::new(VertexOutputs::snapshot(regs, Stage::VS)));
    let vertex = VertexState { fetch, stage, outputs: outputs.clone() };
    let unsupported = unsupported.clone();
    record_unsupported(gpu, unsupported);
    Ok(vertex)
}

/// What `make` makes, and what it says is not supported.
fn with_unsupported<T>(make: impl FnOnce(&mut Vec<String>) -> T) -> Said<T> {
    let mut unsupported = Vec::new();
    (make(&mut unsupported), unsupported)
}

fn vertex_stages(gpu: &mut Gpu, call: &DrawCall) -> Result<VertexStages, Fault> {
    Ok(VertexStages {
        vertex: vertex_state(gpu, call)?,
        tessellation: tessellation(gpu, call)?,
        geometry: match gs::state::is_on(&gpu.regs) {
            true => {
                let stage = stage(gpu, Stage::GS)?;
                Some(GeometryState::snapshot(&gpu.regs, stage))
            }
            false => None,
        },
        feedback: FeedbackState::snapshot(gpu),
        topology: call.initiator.PRIM_TYPE(),
        provoking: pc::state::provoking(&gpu.regs),
        draw: call.number,
    })
}

fn tessellation(gpu: &mut Gpu, call: &DrawCall) -> Result<Option<Tessellation>, Fault> {
    let Some(patches) = pc::state::patches(call)? else { return Ok(None) };
    hs::state::require(&gpu.regs, call.number)?;
    ds::state::require(&gpu.regs, call.number)?;
    let patches = PatchState::snapshot(&gpu.regs, call.number, patches)?;
    let (hull, domain) = (stage(gpu, Stage::HS)?, stage(gpu, Stage::DS)?);
    Ok(Some(Tessellation { hull, patches, domain: DomainState::snapshot(&gpu.regs, domain) }))
}

/// All that a draw needs behind its vertex stages.
fn draw_state(gpu: &mut Gpu, stages: &VertexStages) -> Result<DrawState, Fault> {
    let (primitive, targets) = set_up_state(gpu, stages);
    Ok(DrawState { primitive, fragment: fragment_state(gpu)?, targets })
}

/// What set-up and the render backend need.
fn set_up_state(gpu: &mut Gpu, stages: &VertexStages) -> (Arc<PrimitiveState>, Arc<Targets>) {
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.kept);
    let slot = kept.slots.of(gpu.at.address);
    // They are all that depends on where the tile is.
    let (targets, unsupported) = regs.aside(|regs| {
        let make = |list: &mut Vec<String>| Arc::new(Targets::snapshot(regs, list));
        kept.targets.get(slot, regs, (), |_| with_unsupported(make))
    });
    let (topology, viewports, model) = (stages.topology(), stages.viewports(), gpu.model);
    let primitive = kept.primitive.get(slot, regs, (topology, viewports), |regs| {
        Arc::new(PrimitiveState::snapshot(regs, topology, viewports, model))
    });
    let (primitive, targets) = (primitive.clone(), targets.clone());
    let unsupported = unsupported.clone();
    record_unsupported(gpu, unsupported);
    (primitive, targets)
}

fn fragment_state(gpu: &mut Gpu) -> Result<FragmentState, Fault> {
    let inputs = fragment_inputs(gpu);
    let stage = stage(gpu, Stage::FS)?;
    Ok(FragmentState { stage, inputs })
}

fn fragment_inputs(gpu: &mut Gpu) -> Arc<FragmentInputs> {
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.kept);
    let slot = kept.slots.of(gpu.at.address);
    kept.inputs.get(slot, regs, (), |regs| Arc::new(FragmentInputs::snapshot(regs))).clone()
}
