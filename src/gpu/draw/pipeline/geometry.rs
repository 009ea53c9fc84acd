//! Draws that wait for their primitives, which worker threads make ([`queue::geometry`](crate::draw::queue::geometry)).
//!
//! Results are applied in stream order. Start and end depend only on the command stream, and so does the budget.

use a4emu_decoder::adreno::address::Address;
use std::panic::resume_unwind;
use std::sync::Arc;

use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::inspection::Observation;
use crate::draw::pipeline::DrawContext;
use crate::draw::queue::geometry::{GeometryWorkers, Lists};
use crate::draw::record::{DrawRecord, Geometry, Parts, Pending};
use crate::draw::schedule::Schedule;
use crate::draw::stats::Stopwatch;
use crate::draw::stop::Stop;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::Shaded;
use crate::limits::{GEOMETRY_AT_ONCE, GEOMETRY_DRAWS};
use crate::pass::Pass;

use super::record::{record_end, record_primitives, record_vertices};
use super::{cache_or_report, draw_first_layer, primitives};

/// Queued draws: those without primitives, and draws with known primitives after them.
#[derive(Default)]
pub(super) struct GeometryQueue {
    /// Packet address of each queued draw.
    addresses: Vec<Address>,
    /// The draws with known primitives, and the number of each in the queue.
    ready: Vec<(usize, DrawRecord)>,
    /// The other draws, if there are any.
    workers: Option<Arc<GeometryWorkers>>,
    /// List allocations for reuse.
    spare: Lists,
}

impl GeometryQueue {
    /// Returns whether the draw of the packet at `address` is in the queue.
    pub(super) fn has(&self, address: Address) -> bool {
        self.addresses.contains(&address)
    }

    /// Returns whether the queue is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }
}

/// Queues a draw if that is worthwhile and has no visible effect. Otherwise returns its stages. Its
/// primitives may be known.
pub(super) fn enqueue(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) -> Option<VertexStages> {
    let may_wait = context.pipeline.schedule.defers()
        && context.pipeline.observation() == Observation::None
        && stages.pass == Pass::Gmem
        && state.targets.are_in_tile_memory()
        && stages.is_reusable()
        && state.fragment.stage.only_reads();
    let geometry = match known {
        _ if !may_wait => return Some(stages),
        Some(_) if context.pipeline.geometry.is_empty() => return Some(stages),
        Some(known) => Geometry::Ready(known.clone()),
        None if !stages.vertex.is_small() || is_one_of_few(context) => return Some(stages),
        None => {
            let (budget, is_timed) =
                (context.machine.budget.fork_part(GEOMETRY_DRAWS as u64), !context.pipeline.untimed);
            Geometry::Pending(Box::new(Pending { stages, budget, is_timed, made: None }))
        }
    };
    let draw = DrawRecord { at: context.machine.at, state: state.clone(), geometry };
    let GeometryQueue { addresses, ready, workers, spare } = &mut context.pipeline.geometry;
    match draw.geometry {
        Geometry::Pending(_) => workers
            .get_or_insert_with(|| GeometryWorkers::open(context.machine.mem.view(), std::mem::take(spare)))
            .add(addresses.len(), draw),
        Geometry::Ready(_) => ready.push((addresses.len(), draw)),
    }
    addresses.push(context.machine.at.address);
    if addresses.len() >= GEOMETRY_DRAWS {
        finish(context);
    }
    None
}

/// Returns whether a draw without primitives is one of the first since the last batch.
fn is_one_of_few(context: &mut DrawContext<'_>) -> bool {
    context.pipeline.queue.count_new_draw() <= GEOMETRY_AT_ONCE
        && context.pipeline.schedule == Schedule::Deferred
}

/// Completes all primitives and continues the queued draws in order.
pub(super) fn finish(context: &mut DrawContext<'_>) {
    let Some(workers) = context.pipeline.geometry.workers.take() else { return };
    context.pipeline.geometry.addresses.clear();
    let mut lists = workers.close();
    lists.made.append(&mut context.pipeline.geometry.ready);
    lists.made.sort_by_key(|(number, _)| *number);
    let here = context.machine.at;
    for (_, DrawRecord { at, state, geometry }) in lists.made.drain(..) {
        if context.machine.budget.cut().is_some() {
            break;
        }
        context.machine.at = at;
        let result = match geometry {
            Geometry::Ready(known) => draw_first_layer(context, state, known),
            Geometry::Pending(pending) => continue_draw(context, state, *pending),
        };
        record_end(context, result);
    }
    context.machine.at = here;
    context.pipeline.geometry.spare = lists;
}

/// Continues a draw whose primitives were made.
fn continue_draw(context: &mut DrawContext<'_>, state: DrawState, pending: Pending) -> Result<(), Stop> {
    let Pending { stages, budget, made, .. } = pending;
    let primitives = match made.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))) {
        Some(Ok(Parts { shaded, assembled, milliseconds: [of_vertices, of_primitives] }))
            if budget.cut().is_none() =>
        {
            context.machine.budget.join(&budget);
            let Shaded { vertices, geometry, .. } = record_vertices(context, shaded, Stopwatch::off());
            context.pipeline.stats.ms.vertex += of_vertices;
            context.pipeline.stats.ms.primitive += of_primitives;
            let made = assembled
                .map(|assembled| record_primitives(context, assembled, vertices, Vec::new(), geometry));
            cache_or_report(context, stages, &state, made)
        }
        // Its share of the budget was too small. Make them again with the whole budget.
        _ => primitives(context, stages, &state, None)?,
    };
    match primitives {
        Some(primitives) => draw_first_layer(context, state, primitives),
        None => Ok(()),
    }
}
