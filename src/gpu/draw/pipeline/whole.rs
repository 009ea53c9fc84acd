//! The stages between vertex shader and set-up that take whole primitives, and transform feedback.

use crate::budget::Work;
use crate::draw::gs::batch::GeometryDraw;
use crate::draw::gs::dispatch::{Choice, Demand};
use crate::draw::gs::runs::GeometryRuns;
use crate::draw::gs::state::GeometryState;
use crate::draw::hs::Hull;
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pipeline::DrawContext;
use crate::draw::stop::{Stop, charge};
use crate::draw::vertex_stages::{Tessellation, VertexStages};
use crate::draw::vertices::{VertexStream, Vertices};
use crate::draw::vpc::state::FeedbackState;
use crate::draw::vs::Shaded;
use crate::draw::{ds, gs, pc};
use crate::fault::Client;
use crate::machine::Stage;

use super::record::{record_cost, record_log};
use super::sync::finish;

/// Runs the stages that take whole primitives.
pub(super) fn whole_primitives(
    context: &mut DrawContext<'_>,
    stages: &VertexStages,
    shaded: Shaded,
) -> Result<Option<VertexStream>, Stop> {
    let draw = context.machine.at.draws;
    let Some(primitives) = stages.whole_primitives(&shaded.list) else {
        let what = format!("draw {draw}: a geometry shader of {:?}", stages.topology);
        context.machine.unsupported(what);
        return Ok(None);
    };
    let (vertices, primitives) = match &stages.tessellation {
        Some(tessellation) => tessellate(context, tessellation, &shaded.vertices, &primitives, draw)?,
        None => (shaded.vertices, primitives),
    };
    Ok(Some(match &stages.geometry {
        Some(geometry) => shade_geometry(context, geometry, &vertices, &primitives, draw)?,
        None => VertexStream { vertices, list: primitives.vertices, ..VertexStream::default() },
    }))
}

/// Runs hull shader, tessellator and domain shader.
fn tessellate(
    context: &mut DrawContext<'_>,
    tessellation: &Tessellation,
    vertices: &Vertices,
    primitives: &PrimitiveList,
    draw: u32,
) -> Result<(Vertices, PrimitiveList), Stop> {
    let Tessellation { hull, patches, domain } = tessellation;
    let log = Hull { stage: hull, state: patches, vertices, patches: primitives }
        .shade(&mut context.machine.mem, &mut context.machine.budget);
    let failed = log.fault.is_some();
    record_cost(context, Stage::HS, &log);
    record_log(context, &format!("draw {draw}: hull"), log);
    let count = if failed { 0 } else { primitives.len() };
    let (factors, problems) = pc::factors::read(patches, draw, count, &context.machine.mem);
    context.machine.report.missing.extend(problems.missing.iter());
    problems.faults.into_iter().for_each(|fault| context.machine.fault(fault));
    let components = domain.outputs.components;
    let points =
        ds::points(patches, draw, components, &primitives.ids, &factors, &mut context.machine.budget)?;
    let (shaded, log) =
        ds::shade(domain, &points.points, &mut context.machine.mem, &mut context.machine.budget);
    record_cost(context, Stage::DS, &log);
    record_log(context, &format!("draw {draw}: domain"), log);
    let cost = &mut context.pipeline.tessellation;
    cost.patches += primitives.len() as u64;
    cost.culled += points.culled + (primitives.len() - count) as u64;
    cost.points += points.points.len() as u64;
    cost.primitives += points.primitives.len() as u64;
    Ok((shaded, points.primitives))
}

/// Runs the geometry shader.
fn shade_geometry(
    context: &mut DrawContext<'_>,
    state: &GeometryState,
    vertices: &Vertices,
    primitives: &PrimitiveList,
    draw: u32,
) -> Result<VertexStream, Stop> {
    let demand = Demand {
        registers: state.stage.program.registers(),
        inputs: vertices.varying_components(),
        vertices: state.max_vertices,
        stores: state.stage.stores() || state.stage.summary.stores_locally,
    };
    let setting = context.pipeline.gs_dispatch;
    let choice = Choice::new(setting, &demand);
    if let Some(what) = choice.refusal(setting, &demand) {
        context.machine.unsupported(format!("draw {draw}: {what}"));
    }
    // A draw runs again for each tile: its first run is shown.
    let is_first = context.pipeline.inspected.geometry_runs.is_none();
    let watched = context.pipeline.inspection.geometry_runs.filter(|_| is_first);
    let work = GeometryDraw { state, vertices, primitives, choice, draw, watched };
    let shaded = gs::shade(&work, &mut context.machine.mem, &mut context.machine.budget);
    if let Some(primitive) = watched.filter(|_| !primitives.is_empty()) {
        let mut runs = shaded.runs;
        runs.sort_by_key(|run| (run.invocation, run.vertex));
        let (primitives, most) = (primitives.len(), state.max_vertices);
        context.pipeline.inspected.geometry_runs = Some(GeometryRuns { primitive, primitives, most, runs });
    }
    context.pipeline.dispatches.add(&choice, &shaded.cost);
    record_cost(context, Stage::GS, &shaded.log);
    record_log(context, &format!("draw {draw}: geometry"), shaded.log);
    shaded.fault.into_iter().for_each(|fault| context.machine.fault(fault));
    shaded.too_large.into_iter().for_each(|what| context.machine.cut(what));
    let strips = shaded.strips;
    Ok(VertexStream {
        vertices: strips.vertices,
        list: strips.list,
        words: strips.words,
        ..VertexStream::default()
    })
}

/// Runs transform feedback.
pub(super) fn feed_back(
    context: &mut DrawContext<'_>,
    feedback: &FeedbackState,
    stages: &VertexStages,
    stream: &VertexStream,
) -> Result<(), Stop> {
    charge(
        &mut context.machine.budget,
        Work::LaneAccess,
        3 * stream.list.len() as u64 * feedback.components(),
    )?;
    let (topology, provoking) = (stages.topology(), stages.provoking);
    finish(context);
    let read = context.read();
    let filled = feedback.run(topology, provoking, stream, &mut |base, behind, value| {
        let address = context.machine.mem.behind(base, behind);
        context.machine.store(Client::Geometry, address, &value.to_le_bytes());
    });
    context.machine.written_back.extend((read.filled)(&filled));
    Ok(())
}
