//! Draws that wait for their primitives, which worker threads make ([`queue::geometry`](crate::draw::queue::geometry)).
//!
//! Results are applied in stream order. Start and end depend only on the command stream, and so does the budget.

use std::panic::resume_unwind;
use std::sync::Arc;

use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::inspection::Observation;
use crate::draw::queue::geometry::{GeometryResult, GeometryTask, GeometryWorkers, Lists, Parts};
use crate::draw::rb::state::Targets;
use crate::draw::schedule::Schedule;
use crate::draw::stats::Stopwatch;
use crate::draw::stop::Stop;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::fault::Place;
use crate::gpu::Gpu;
use crate::pass::Pass;

use super::record::{record_end, record_primitives, record_vertices};
use super::{cache_or_report, draw_first_layer, note_written, primitives};

/// Draws with new primitives per batch that run at once before queueing starts. Batches with few draws gain nothing
/// from it.
const AT_ONCE: u32 = 16;

/// Maximum number of queued draws.
const MOST: usize = 256;

/// Queued draws: those without primitives, and draws with known primitives after them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    draws: Vec<QueuedDraw>,
    /// Worker queue, if a draw needs primitives.
    workers: Option<Arc<GeometryWorkers>>,
    /// List allocations for reuse.
    spare: Lists,
}

/// A queued draw.
struct QueuedDraw {
    at: Place,
    call: DrawCall,
    action: QueuedAction,
}

/// What to do with a queued draw.
enum QueuedAction {
    /// Draw it when its primitives are made.
    Made(DrawState),
    /// Draw these primitives.
    Known(DrawState, Arc<Primitives>),
    /// Only record its targets: it changes none of their pixels.
    Culled(Arc<Targets>),
}

impl GeometryQueue {
    /// Returns whether the draw of the packet at `address` is in the queue.
    pub(super) fn has(&self, address: u32) -> bool {
        self.draws.iter().any(|draw| draw.at.address == address)
    }

    /// Returns whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }
}

/// Queues a draw if that is worthwhile and has no visible effect. Otherwise returns its stages. Its
/// primitives may be known.
pub(super) fn enqueue_geometry(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) -> Option<VertexStages> {
    let may_wait = gpu.pipeline.schedule.defers()
        && gpu.pipeline.observation() == Observation::None
        && call.pass == Pass::Gmem
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let action = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if gpu.pipeline.geometry.is_empty() => return Some(stages),
        Some(known) => QueuedAction::Known(state.clone(), known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(gpu) => return Some(stages),
        None => {
            enqueue_task(gpu, stages, state);
            QueuedAction::Made(state.clone())
        }
    };
    enqueue(gpu, call, action);
    None
}

/// Records the targets of a draw that changes no pixel, in stream order.
pub(super) fn enqueue_culled(gpu: &mut Gpu, call: &DrawCall, targets: Arc<Targets>) {
    match gpu.pipeline.geometry.is_empty() {
        true => note_written(gpu, call, &targets, &targets.surfaces),
        false => enqueue(gpu, call, QueuedAction::Culled(targets)),
    }
}

/// Returns whether a draw without primitives is one of the first since the last batch.
fn is_one_of_few(gpu: &mut Gpu) -> bool {
    gpu.pipeline.queue.count_new_draw() <= AT_ONCE && gpu.pipeline.schedule == Schedule::Deferred
}

/// Adds a geometry task for a draw.
fn enqueue_task(gpu: &mut Gpu, stages: VertexStages, state: &DrawState) {
    let task = GeometryTask {
        number: gpu.pipeline.geometry.draws.len(),
        stages,
        primitive: state.primitive.clone(),
        budget: gpu.budget.fork_part(MOST as u64),
        is_timed: !gpu.pipeline.untimed,
    };
    let GeometryQueue { workers, spare, .. } = &mut gpu.pipeline.geometry;
    let workers = workers.get_or_insert_with(|| GeometryWorkers::open(gpu.mem.view(), std::mem::take(spare)));
    workers.add(task);
}

fn enqueue(gpu: &mut Gpu, call: &DrawCall, action: QueuedAction) {
    gpu.pipeline.geometry.draws.push(QueuedDraw { at: gpu.at, call: call.clone(), action });
    if gpu.pipeline.geometry.draws.len() >= MOST {
        finish(gpu);
    }
}

/// Completes all geometry tasks and continues all queued draws in order.
pub(super) fn finish(gpu: &mut Gpu) {
    if gpu.pipeline.geometry.is_empty() {
        return;
    }
    let mut draws = std::mem::take(&mut gpu.pipeline.geometry.draws);
    let Some(workers) = gpu.pipeline.geometry.workers.take() else { return };
    let mut spare = workers.close();
    let mut made = spare.made.drain(..);
    let here = gpu.at;
    for QueuedDraw { at, call, action } in draws.drain(..) {
        gpu.at = at;
        let result = match action {
            _ if gpu.budget.cut().is_some() => break,
            QueuedAction::Made(state) => {
                continue_draw(gpu, &call, state, made.next().expect("it was ordered"))
            }
            QueuedAction::Known(state, known) => draw_first_layer(gpu, &call, state, known),
            QueuedAction::Culled(targets) => {
                note_written(gpu, &call, &targets, &targets.surfaces);
                Ok(())
            }
        };
        record_end(gpu, result);
    }
    gpu.at = here;
    drop(made);
    (gpu.pipeline.geometry.draws, gpu.pipeline.geometry.spare) = (draws, spare);
}

/// Continues a draw with the result of its geometry task.
fn continue_draw(gpu: &mut Gpu, call: &DrawCall, state: DrawState, made: GeometryResult) -> Result<(), Stop> {
    let GeometryResult { task, result } = made;
    let GeometryTask { stages, budget, .. } = *task;
    let parts = result.unwrap_or_else(|panic| resume_unwind(panic));
    let primitives = match parts {
        Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] })
            if budget.cut().is_none() =>
        {
            gpu.budget.join(&budget);
            let Shaded { vertices, geometry, .. } = record_vertices(gpu, shaded, Stopwatch::start_if(false));
            gpu.pipeline.stats.ms.vertex += of_vertices;
            gpu.pipeline.stats.ms.primitive += of_primitives;
            let made = assembled
                .map(|assembled| record_primitives(gpu, call, assembled, vertices, Vec::new(), geometry));
            cache_or_report(gpu, call, stages, &state, made)
        }
        // The task's share of the budget was too small. Run it again with the whole budget.
        _ => primitives(gpu, call, stages, &state, None)?,
    };
    match primitives {
        Some(primitives) => draw_first_layer(gpu, call, state, primitives),
        None => Ok(()),
    }
}
