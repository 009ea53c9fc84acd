//! The draw pipeline: the order of the stages, and the state kept between draws.
//!
//! Only this file and its submodules access the whole machine. The other files of `draw/` take state
//! and values. They return results and the log entries to record.
//!
//! - [`between`]: what the stages before set-up pass on, for inspection tools.
//! - `trial_run`: trial runs with discarded results.
//! - `guesses`: the guesses that the results of a draw rest on.
//! - [`look`]: the contents of a draw, for inspection tools.
//! - `parts`: draws with too many vertices to hold at once.
//! - `record`: statistics, costs and faults of draws.
//! - `resolve`: draws of the resolve pass.
//! - `scope`: the pixels that a draw can change, and how many primitives the budget pays for.
//! - `snapshot`: the state that the stages of a draw run with.
//! - [`sync`]: the waits for queued work.
//! - `geometry`: small draws that wait for primitives, and the worker threads that make these.
//! - `whole`: the stages that take whole primitives.

pub mod between;
mod geometry;
mod guesses;
pub mod look;
mod parts;
mod record;
mod resolve;
mod scope;
mod snapshot;
pub mod sync;
mod trial_run;
mod whole;

use std::sync::Arc;

use a4emu_decoder::guesses::Guess;

use crate::budget::Work;
use crate::fidelity::Line;
use crate::generation::readers;
use crate::limits::KNOWN_DRAWS_PER_NEW;
use crate::machine::{Machine, Stage};
use crate::pass::Pass;
use crate::pool::Pool;
use crate::work_trace::{Activity, begin};

use between::Between;
use geometry::GeometryQueue;
use guesses::record_guesses;
use look::watched;
use record::{
    record_cost, record_end, record_fragments, record_known, record_log, record_outside, record_primitives,
    record_vertices, unknown_type,
};
use scope::{affordable, drawable, is_culled, plan, reads, visible};
use snapshot::{fragment_state, set_up_state, stage, vertex_stages};
use sync::{finish, sync, sync_state};
use whole::{feed_back, whole_primitives};

use super::call::{DispatchCall, DrawCall};
use super::fs::tap::Tap;
use super::fs::{DrawState, FragmentDraw, unseen};
use super::gras::layers::{self, Grouping, Layer};
use super::gras::primitives::Primitives;
use super::gras::setup::{self, PrimitiveState, ScreenPrimitive};
use super::gras::viewport::Projection;
use super::gs::cost::DispatchCosts;
use super::gs::dispatch::Setting;
use super::gs::state::Layers;
use super::inspection::{Inspected, Inspection, Observation};
use super::primitive_cache::PrimitiveCache;
use super::queue::batch::Finished;
use super::queue::{KnownTiles, Queue, Results, Store};
use super::rb::rendered::Surfaces;
use super::rb::state::Targets;
use super::rb::surface::{Surface, copied, reachable, with_rows};
use super::reads::MemoryRead;
use super::record::{DrawRecord, Fragments};
use super::schedule::Schedule;
use super::sp::log::ShaderLog;
use super::sp::programs::{Programs, Watched};
use super::sp::state::StageState;
use super::state_cache::StateCache;
use super::stats::{Stats, StatsReport, Stopwatch};
use super::stop::{MAX_HELD, Stop, charge, must_fit};
use super::tpl1;
use super::vertex_stages::VertexStages;
use super::vertices::VertexStream;
use super::vs::{Shaded, VertexState};
use super::work::{Geometry, TessellationCost};
use a4emu_shader::{Counting, Reach};

/// What draws work on: the machine, and what the pipeline keeps between draws.
pub struct DrawContext<'g> {
    pub(crate) machine: &'g mut Machine,
    pub(crate) pipeline: &'g mut Pipeline,
}

/// State that the pipeline keeps between draws.
#[derive(Default)]
pub struct Pipeline {
    /// State snapshots that no register write has invalidated.
    states: StateCache,
    /// Lowered shaders.
    pub programs: Programs,
    /// Rendered surfaces, in the order of their last write.
    pub surfaces: Surfaces,
    /// Cached primitives of draws that run again for the next tile.
    pub primitives: PrimitiveCache,
    /// Draws queued for their primitives.
    geometry: GeometryQueue,
    /// Draws queued for their fragments, and resolve copies.
    queue: Queue,
    /// Uniform cells of tile memory.
    known_tiles: KnownTiles,
    /// Pool of buffers for working copies of surfaces.
    row_pool: Pool<u8>,
    /// When draws run.
    pub schedule: Schedule,
    /// Counts and times of all draws.
    pub stats: Stats,
    /// Switches timing off. Reading the clock takes a visible part of the time of small draws.
    pub untimed: bool,
    /// How geometry shaders are assigned to the lanes of a warp.
    pub gs_dispatch: Setting,
    /// Lane assignments that geometry shaders used, with their cost.
    pub dispatches: DispatchCosts,
    /// Cost of tessellation.
    pub tessellation: TessellationCost,
    /// Whether performance counters need counts of single instructions.
    pub(crate) counts_classes: bool,
    /// What the caller of [`Gpu::inspect`](crate::gpu::Gpu::inspect) wants to be recorded of draws.
    inspection: Inspection,
    /// What was recorded of draws since that call.
    inspected: Inspected,
    /// What the stages before set-up pass on, if a trial run records it.
    between: Option<Box<Between>>,
}

impl Pipeline {
    /// Returns the report that `--stats` prints, with the guesses that the run rests on.
    pub fn report(&self, guesses: Option<Vec<Line>>) -> StatsReport {
        let tessellation = (self.tessellation.patches > 0).then_some(self.tessellation);
        StatsReport { stats: self.stats, tessellation, geometry: self.dispatches.rows(), guesses }
    }
}

impl Pipeline {
    /// Records `wanted` from now on. Returns what was recorded so far.
    pub(crate) fn inspect(&mut self, wanted: Inspection) -> Inspected {
        self.inspection = wanted;
        std::mem::take(&mut self.inspected)
    }

    /// Returns how closely the run is observed.
    fn observation(&self) -> Observation {
        if self.programs.watched == Watched::Guesses {
            return Observation::Instruction;
        }
        let least = if self.counts_classes { Observation::Draw } else { Observation::None };
        self.inspection.observation().max(least)
    }

    /// Returns whether executions of single instructions are counted, for costs or for performance counters.
    fn counting(&self) -> Counting {
        let of_costs = self.inspection.costs.unwrap_or_default();
        if self.counts_classes { Counting::On } else { of_costs }
    }

    /// Returns whether draws are queued, which may change tile memory, counters and memory.
    pub fn has_queued_draws(&self) -> bool {
        !self.geometry.is_empty() || self.queue.has_draws()
    }

    /// Returns whether copies to memory are queued, or memory is lent to worker threads.
    pub fn has_queued_copies(&self) -> bool {
        self.queue.has_copies()
    }
}

/// Starts the measurement of a part of a draw, unless timing is off.
fn stopwatch(context: &DrawContext<'_>) -> Stopwatch {
    if context.pipeline.untimed { Stopwatch::off() } else { Stopwatch::start() }
}

/// Calls `work` with the queue and the parts of the machine that it works on, and records the draws that ended.
fn with_queue<R>(context: &mut DrawContext<'_>, work: impl FnOnce(&mut Queue, &mut Store<'_>) -> R) -> R {
    let Machine { mem: memory, gmem, budget, chip, .. } = &mut *context.machine;
    let results = Results::default();
    let Pipeline { queue, known_tiles: known, .. } = &mut *context.pipeline;
    let mut store = Store { memory, gmem, known, gmem_bytes: chip.gmem_bytes(), budget, results };
    let result = work(queue, &mut store);
    let results = store.results;
    record_results(context, results);
    result
}

/// Runs a draw.
pub fn run(context: &mut DrawContext<'_>, call: &DrawCall) {
    context.pipeline.stats.draws += 1;
    if call.count == 0 || call.instances == 0 || context.machine.budget.cut().is_some() {
        return;
    }
    context.machine.budget.charge_later(Work::Draw, 1);
    forget_derived(context);
    let result = match call.pass {
        // A binning pass only produces the visibility stream, which the emulator does not use.
        Pass::Binning => Ok(()),
        Pass::Resolve => resolve::resolve(context, call),
        Pass::Gmem | Pass::Bypass | Pass::Restore if (context.read().discards)(&context.machine.regs) => {
            vertices_only(context, call)
        }
        Pass::Gmem | Pass::Bypass | Pass::Restore => render(context, call),
    };
    record_end(context, result);
}

/// Runs a dispatch.
pub fn dispatch(context: &mut DrawContext<'_>, call: &DispatchCall) {
    context.pipeline.stats.draws += 1;
    if context.machine.budget.cut().is_some() {
        return;
    }
    context.machine.budget.charge_later(Work::Draw, 1);
    forget_derived(context);
    finish(context);
    let (start, _active) = (stopwatch(context), begin(Activity::Compute));
    let result = compute(context, call);
    record_end(context, result);
    context.pipeline.stats.ms.compute += start.milliseconds();
}

/// Discards what was derived for earlier draws, if the schedule is the reference model.
fn forget_derived(context: &mut DrawContext<'_>) {
    if context.pipeline.schedule == Schedule::Reference {
        context.pipeline.states = StateCache::default();
        context.pipeline.primitives = PrimitiveCache::default();
        context.pipeline.queue.forget_copies();
    }
}

/// Runs a draw through all stages.
fn render(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<(), Stop> {
    let start = stopwatch(context);
    context.pipeline.queue.count_work(1);
    sync_state(context, call);
    let stages = vertex_stages(context, call)?;
    let (primitive, targets) = set_up_state(context, &stages);
    sync(context, MemoryRead::of_vertices(&stages.vertex));
    if context.pipeline.geometry.has(context.machine.at.address) {
        geometry::finish(context);
    }
    let known = cached_primitives(context, &stages, &primitive)?;
    if let Some(known) = &known {
        note_unseen(context, known, &targets);
    }
    if let Some(known) = &known
        && context.pipeline.observation() < Observation::Instruction
        && is_culled(known, &targets)
    {
        // Most draws run for most tiles, so first check whether this tile contains any of it.
        record_known(context, known);
        note_written(context, &targets, &targets.surfaces);
        return Ok(());
    }
    let state = DrawState { primitive, fragment: fragment_state(context)?, targets };
    known.iter().for_each(|known| record_known(context, known));
    sync(context, stages.later().chain([&*state.fragment.stage]).map(MemoryRead::Stage));
    textures_fit(context, &stages)?;
    let layers = stages.layers();
    let rests = context.machine.fidelity.is_some().then(|| guesses::of_stages(&stages, call));
    context.pipeline.stats.ms.snapshot += start.milliseconds();
    let Some(stages) = geometry::enqueue(context, stages, &state, known.as_ref()) else { return Ok(()) };
    geometry::finish(context);
    let is_known = known.is_some();
    let primitives = match known {
        Some(known) => Some(known),
        None if context.pipeline.inspection.pixels.is_some() => watched(context, stages, &state)?,
        None => primitives(context, stages, &state, rests.as_deref())?,
    };
    let Some(primitives) = primitives else { return Ok(()) };
    if !is_known {
        note_unseen(context, &primitives, &state.targets);
    }
    if let Some(rests) = rests {
        record_guesses(context, rests, &state, &primitives);
    }
    match layers {
        Layers::First => {
            draw_first_layer(context, DrawRecord { at: context.machine.at, state, step: primitives })
        }
        Layers::Chosen => draw_layers(context, &state, Arc::unwrap_or_clone(primitives), None),
    }
}

/// Records the results of queued draws that have ended.
fn record_results(context: &mut DrawContext<'_>, Results { batches, milliseconds }: Results) {
    context.pipeline.stats.ms.fragment += milliseconds;
    if batches.is_empty() {
        return;
    }
    let here = context.machine.at;
    for Finished { at, work, log } in batches.into_iter().flatten() {
        context.machine.at = at;
        let log = ShaderLog { work, ..log.map_or_else(ShaderLog::default, |log| *log) };
        record_fragments(context, log);
    }
    context.machine.at = here;
    record_end(context, Ok(()));
}

/// Runs a draw with rasteriser discard. Only the stores of its vertex stages have an effect.
fn vertices_only(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<(), Stop> {
    geometry::finish(context);
    sync_state(context, call);
    let stages = vertex_stages(context, call)?;
    sync(context, MemoryRead::of_vertices(&stages.vertex));
    sync(context, stages.later().map(MemoryRead::Stage));
    textures_fit(context, &stages)?;
    vertex_stream(context, &stages, None)?;
    Ok(())
}

fn compute(context: &mut DrawContext<'_>, call: &DispatchCall) -> Result<(), Stop> {
    let stage = stage(context, Stage::CS)?;
    bytes_copied(context, &stage)?;
    let state = (readers(context.machine.chip).dispatch)(&context.machine.regs, call, &stage)?;
    state.rests.iter().for_each(|guess| context.machine.note_guess(*guess, Reach::ADDRESS));
    let log = state.run(&mut context.machine.mem, &mut context.machine.budget);
    record_cost(context, Stage::CS, &log);
    record_log(context, "compute", log);
    Ok(())
}

/// Returns how many bytes of its textures a stage copies for each launch, since they are not contiguous in memory. A stage that
/// stores copies them for each request.
///
/// # Errors
/// The bytes that the stage would copy are more than [`MAX_HELD`].
fn bytes_copied(context: &DrawContext<'_>, stage: &StageState) -> Result<u64, Stop> {
    if stage.stores() {
        return Ok(0);
    }
    let copied = stage.textures.bytes_copied(&context.machine.mem);
    must_fit(copied, format_args!("the copy of {:?} textures", stage.stage))?;
    Ok(copied)
}

/// Checks that what [`bytes_copied`] returns for the stages before set-up can be held.
fn textures_fit(context: &DrawContext<'_>, stages: &VertexStages) -> Result<(), Stop> {
    let mut all = stages.later().chain([&*stages.vertex.stage]);
    all.try_for_each(|stage| bytes_copied(context, stage).map(|_| ()))
}

/// Runs all stages before set-up, which has this `state`. Returns `None` when the primitive type is not
/// supported.
fn vertex_stream(
    context: &mut DrawContext<'_>,
    stages: &VertexStages,
    state: Option<&PrimitiveState>,
) -> Result<Option<VertexStream>, Stop> {
    if stages.store() {
        finish(context);
    }
    let projection = || state.filter(|_| stages.is_plain()).and_then(PrimitiveState::projection);
    let _active = begin(Activity::Vertices);
    let shaded = vertices(context, &stages.vertex, projection)?;
    let stream = match stages.is_plain() {
        true => {
            let Shaded { vertices, list, geometry, .. } = shaded;
            Some(VertexStream { vertices, list, words: Vec::new(), geometry })
        }
        false => whole_primitives(context, stages, shaded)?,
    };
    if let (Some(feedback), Some(stream)) = (&stages.feedback, &stream) {
        feed_back(context, feedback, stages, stream)?;
    }
    Ok(stream)
}

/// Runs vertex fetch and vertex shader.
fn vertices(
    context: &mut DrawContext<'_>,
    state: &VertexState,
    projection: impl FnOnce() -> Option<Projection>,
) -> Result<Shaded, Stop> {
    let start = stopwatch(context);
    let shaded = state.shade_for(projection, &mut context.machine.mem, &mut context.machine.budget)?;
    Ok(record_vertices(context, shaded, start))
}

/// Returns whether the primitives of the draw can be those of the last tile. Later stages than the vertex shader run again
/// where a caller looks at them.
fn may_be_known(context: &DrawContext<'_>, stages: &VertexStages) -> bool {
    let is_seen = context.pipeline.observation() > Observation::None || context.machine.fidelity.is_some();
    stages.feedback.is_none() && (stages.is_plain() || (stages.may_repeat() && !is_seen))
}

/// Returns the cached primitives of the draw from the previous tile, if they are still valid.
fn cached_primitives(
    context: &mut DrawContext<'_>,
    stages: &VertexStages,
    state: &Arc<PrimitiveState>,
) -> Result<Option<Arc<Primitives>>, Stop> {
    if !may_be_known(context, stages) || context.pipeline.inspection.pixels.is_some() {
        return Ok(None);
    }
    if !stages.is_plain() {
        sync(context, stages.later().map(MemoryRead::Stage));
    }
    let slot = context.pipeline.states.slots.of(context.machine.at.address);
    let (cache, memory) = (&mut context.pipeline.primitives, &context.machine.mem);
    let looked_through = cache.looked_through(slot, stages, memory) / 16;
    charge(&mut context.machine.budget, Work::Copy16, looked_through)?;
    let found = cache.find(slot, stages, state, memory);
    // Without counts of instructions they are no answer where these are requested.
    let is_counted = |made: &Arc<Primitives>| {
        let Geometry { work, counts, .. } = &made.geometry;
        context.pipeline.counting() == Counting::Off || work.warps == 0 || !counts.is_empty()
    };
    Ok(found.filter(is_counted))
}

/// Makes the primitives for the rasteriser. Returns `None` when the primitive type is not supported. `rests`
/// are the guesses that the draw rests on, if guesses are recorded.
fn primitives(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    rests: Option<&[Guess]>,
) -> Result<Option<Arc<Primitives>>, Stop> {
    if parts::are_needed(&stages) {
        return parts::primitives(context, stages, state, rests);
    }
    let Some(stream) = vertex_stream(context, &stages, Some(&state.primitive))? else { return Ok(None) };
    assembled(context, stages, state, stream)
}

/// Runs set-up on a vertex stream. Returns `None` when the primitive type is not supported.
fn assembled(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    stream: VertexStream,
) -> Result<Option<Arc<Primitives>>, Stop> {
    let work = if stages.is_plain() { 0 } else { stream.list.len() as u64 };
    charge(&mut context.machine.budget, Work::Vertex, work)?;
    let made = set_up(context, &state.primitive, stream);
    Ok(cache_or_report(context, stages, state, made))
}

/// Caches and returns the primitives of a draw. Reports the primitive type if set-up does not support it.
fn cache_or_report(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    made: Option<Primitives>,
) -> Option<Arc<Primitives>> {
    context.pipeline.queue.count_work(KNOWN_DRAWS_PER_NEW - 1);
    if made.is_none() {
        unknown_type(context, stages.topology());
    }
    Some(cache_made(context, stages, state, made?))
}

/// Wraps the primitives `made` by a draw, and caches them if the draw can run again for the next tile.
fn cache_made(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    made: Primitives,
) -> Arc<Primitives> {
    let made = Arc::new(made);
    if stages.may_repeat() && may_be_known(context, &stages) {
        let slot = context.pipeline.states.slots.of(context.machine.at.address);
        let (cache, state) = (&mut context.pipeline.primitives, state.primitive.clone());
        cache.keep(slot, stages, state, &context.machine.mem, &made);
    }
    made
}

/// Runs set-up on `stream` and records the time. Returns `None` when the primitive type is not supported.
fn set_up(context: &mut DrawContext<'_>, state: &PrimitiveState, stream: VertexStream) -> Option<Primitives> {
    let (start, _active) = (stopwatch(context), begin(Activity::Primitives));
    let culled = culled(context, state, &stream);
    let VertexStream { mut vertices, list, words, geometry } = stream;
    let assembled = setup::assemble_in(state, &mut vertices, &list, &words, MAX_HELD)?;
    context.pipeline.stats.ms.primitive += start.milliseconds();
    Some(Primitives { culled, ..record_primitives(context, assembled, vertices, words, geometry) })
}

/// Returns the primitives that set-up culls, if their pixels are recorded.
fn culled(context: &DrawContext<'_>, state: &PrimitiveState, stream: &VertexStream) -> Vec<ScreenPrimitive> {
    let records = context.pipeline.inspection.reasons.as_ref().is_some_and(|reasons| reasons.has_unseen());
    if !records || state.cull == [None; 2] {
        return Vec::new();
    }
    let all = PrimitiveState { cull: [None; 2], ..state.clone() };
    let VertexStream { mut vertices, list, words, .. } = stream.clone();
    let made = setup::assemble_in(&all, &mut vertices, &list, &words, MAX_HELD);
    let mut culled = made.map_or_else(Vec::new, |made| made.primitives);
    culled.retain(|primitive| state.cull.contains(&Some(primitive.face)));
    culled
}

/// Records the pixels of a draw without fragments, if they are recorded.
fn note_unseen(context: &DrawContext<'_>, made: &Primitives, targets: &Targets) {
    let Some(reasons) = context.pipeline.inspection.reasons.clone().filter(|reasons| reasons.has_unseen())
    else {
        return;
    };
    context.machine.budget.observe(Work::Vertex, (made.primitives.len() + made.culled.len()) as u64);
    let reachable = reachable(&targets.surfaces, context.machine.chip.gmem_bytes(), &context.machine.mem);
    unseen::note(&reasons, made, targets.samples, targets.scissor.intersect(reachable));
}

/// Draws all primitives to the first layer of the targets. Queues the draw if the delay has no visible
/// effect.
fn draw_first_layer(context: &mut DrawContext<'_>, draw: DrawRecord<Arc<Primitives>>) -> Result<(), Stop> {
    let DrawRecord { at, state, step: made } = draw;
    let schedule = context.pipeline.schedule;
    if schedule == Schedule::Reference {
        return draw_layer(context, &state, 0, &made, None);
    }
    let (targets, surfaces) = (&state.targets, &state.targets.surfaces);
    let Some(visible) = visible(context, &state, surfaces, &made) else {
        note_written(context, targets, surfaces);
        return Ok(());
    };
    let area = visible.area;
    let has_room = context.pipeline.queue.has_room(targets, area) || {
        with_queue(context, |queue, store| queue.make_room(schedule, store));
        context.pipeline.queue.has_room(targets, area)
    };
    if state.fragment.stage.stores() || !has_room {
        return draw_layer(context, &state, 0, &made, None);
    }
    let copied = bytes_copied(context, &state.fragment.stage)?;
    charge(&mut context.machine.budget, Work::Copy16, tpl1::copy_cost(copied))?;
    let plan = plan(context, &state);
    let count = affordable(context, targets, &made.bounds, visible);
    let reasons = context.pipeline.inspection.reasons.clone();
    let tile = context.pipeline.queue.tile(targets);
    let step = Fragments { made, count, plan, area, reasons, tile, copied };
    let draw = DrawRecord { at, state, step };
    with_queue(context, |queue, store| queue.add(draw, &visible, schedule, store));
    Ok(())
}

/// Draws primitives that choose their layers in the shader, with `tap` as observer.
fn draw_layers(
    context: &mut DrawContext<'_>,
    state: &DrawState,
    made: Primitives,
    tap: Option<&Tap>,
) -> Result<(), Stop> {
    let Primitives { mut vertices, primitives, words, .. } = made;
    let grouping = if state.fragment.stage.stores() { Grouping::Runs } else { Grouping::Layers };
    for Layer { number, primitives } in layers::split(primitives, &words, grouping) {
        let made = Primitives::new(vertices, primitives, Vec::new());
        draw_layer(context, state, number, &made, tap)?;
        vertices = made.vertices;
    }
    Ok(())
}

/// Draws all primitives to one layer of the targets, with `tap` as observer.
fn draw_layer(
    context: &mut DrawContext<'_>,
    state: &DrawState,
    layer: u32,
    made: &Primitives,
    tap: Option<&Tap>,
) -> Result<(), Stop> {
    let (start, _active) = (stopwatch(context), begin(Activity::Fragments));
    let surfaces: Vec<Surface> =
        state.targets.surfaces.iter().map(|surface| surface.at_layer(layer, &context.machine.mem)).collect();
    let tap = tap.filter(|tap| tap.is_of_layer(layer));
    let result = fragments(context, state, &surfaces, made, tap);
    context.pipeline.stats.ms.fragment += start.milliseconds();
    note_written(context, &state.targets, &surfaces);
    result
}

/// Records the surfaces in memory that a draw targets, even if the draw changes no pixel.
fn note_written(context: &mut DrawContext<'_>, targets: &Targets, surfaces: &[Surface]) {
    let written = targets.written(surfaces, context.machine.at.submit, context.machine.at.draws);
    // Each surface is searched for among all surfaces written before.
    context
        .machine
        .budget
        .charge_later(Work::Copy16, 2 * (written.len() * context.pipeline.surfaces.iter().len()) as u64);
    written.into_iter().for_each(|written| context.pipeline.surfaces.note(written));
}

/// Runs rasteriser, fragment shader and render backend for one layer.
fn fragments(
    context: &mut DrawContext<'_>,
    state: &DrawState,
    surfaces: &[Surface],
    made: &Primitives,
    tap: Option<&Tap>,
) -> Result<(), Stop> {
    let Primitives { vertices, primitives, bounds, .. } = made;
    let Some(visible) = visible(context, state, surfaces, made) else { return Ok(()) };
    let area = visible.area;
    finish(context);
    bytes_copied(context, &state.fragment.stage)?;
    charge(&mut context.machine.budget, Work::Copy16, copied(surfaces, area))?;
    let plan = plan(context, state);
    let count = affordable(context, &state.targets, bounds, visible);
    let (primitives, bounds) = (&primitives[..count], &bounds[..count]);
    let reasons = context.pipeline.inspection.reasons.clone();
    let reasons = reasons.as_deref();
    let draw = FragmentDraw { state, vertices, primitives, bounds, plan: &plan, reasons, tap };
    let budget = &mut context.machine.budget;
    let reads = (reads(&state.fragment.stage, surfaces, &context.machine.mem), &context.pipeline.row_pool);
    let (mut shaded, outside) =
        with_rows(surfaces, area, &mut context.machine.gmem, &mut context.machine.mem, reads, |rows, mem| {
            draw.shade(area, rows, mem, budget)
        });
    record_outside(context, surfaces, &outside);
    shaded.log.work.samples = shaded.results.iter().sum();
    record_fragments(context, shaded.log);
    Ok(())
}
