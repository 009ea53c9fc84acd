//! The stages between vertex shader and set-up that take whole primitives, and transform feedback.

use crate::budget::Work;
use crate::draw::ds::Points;
use crate::draw::gs::batch::GeometryDraw;
use crate::draw::gs::dispatch::{Choice, Demand};
use crate::draw::gs::runs::GeometryRuns;
use crate::draw::gs::state::GeometryState;
use crate::draw::hs::{Hull, Watch};
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pc::state::PatchState;
use crate::draw::pipeline::DrawContext;
use crate::draw::sp::used::UsedBuffers;
use crate::draw::stop::{Stop, charge};
use crate::draw::vertex_stages::{Tessellation, VertexStages};
use crate::draw::vertices::{VertexStream, Vertices};
use crate::draw::vpc::state::FeedbackState;
use crate::draw::vs::Shaded;
use crate::draw::work::{Geometry, LaterStages, TessellationCost};
use crate::draw::{ds, gs, pc};
use crate::fault::Client;
use crate::machine::Stage;
use crate::memory::Memory;

use super::between::Tessellated;
use super::record::{record_later, record_stages};
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
    let mut later = LaterStages::default();
    let (vertices, primitives) = match &stages.tessellation {
        Some(tessellation) => {
            let made = tessellate(context, tessellation, &shaded.vertices, &primitives, &mut later)?;
            if let Some(between) = &mut context.pipeline.between {
                (between.shaded, between.primitives) = (shaded.vertices, primitives);
            }
            made
        }
        None => (shaded.vertices, primitives),
    };
    let stream = match &stages.geometry {
        Some(geometry) => {
            let stream = shade_geometry(context, geometry, &vertices, &primitives, &mut later);
            if let Some(between) = &mut context.pipeline.between {
                match &mut between.tessellated {
                    Some(tessellated) => tessellated.shaded = Some(vertices),
                    None => (between.shaded, between.primitives) = (vertices, primitives),
                }
            }
            stream
        }
        None => VertexStream { vertices, list: primitives.vertices, ..VertexStream::default() },
    };
    record_stages(context, &later);
    Ok(Some(VertexStream { geometry: Geometry { later: Some(later.into()), ..shaded.geometry }, ..stream }))
}

/// Runs hull shader, tessellator and domain shader.
fn tessellate(
    context: &mut DrawContext<'_>,
    tessellation: &Tessellation,
    vertices: &Vertices,
    primitives: &PrimitiveList,
    later: &mut LaterStages,
) -> Result<(Vertices, PrimitiveList), Stop> {
    let draw = context.machine.at.draws;
    let Tessellation { hull, patches, domain } = tessellation;
    let watch = if context.pipeline.between.is_some() { Watch::Stores } else { Watch::Off };
    let (log, stores) = Hull { stage: hull, state: patches, vertices, patches: primitives, watch }
        .shade(&mut context.machine.mem, &mut context.machine.budget);
    let failed = log.fault.is_some();
    record_later(context, Stage::HS, "hull", log, later);
    let count = if failed { 0 } else { primitives.len() };
    let (factors, problems) = pc::factors::read(patches, draw, count, &context.machine.mem);
    note_factors(patches, count, &context.machine.mem, later);
    later.is_single |= !problems.faults.is_empty();
    context.machine.report.missing.extend(problems.missing.iter());
    problems.faults.into_iter().for_each(|fault| context.machine.fault(fault));
    let components = domain.outputs.components;
    let points =
        ds::points(patches, draw, components, &primitives.ids, &factors, &mut context.machine.budget)?;
    let (shaded, log) =
        ds::shade(domain, &points.points, &mut context.machine.mem, &mut context.machine.budget);
    record_later(context, Stage::DS, "domain", log, later);
    later.tessellation = TessellationCost {
        patches: primitives.len() as u64,
        culled: points.culled + (primitives.len() - count) as u64,
        points: points.points.len() as u64,
        primitives: points.primitives.len() as u64,
    };
    let Points { points, primitives, .. } = points;
    if let Some(between) = &mut context.pipeline.between {
        let (state, primitives) = (*patches, primitives.clone());
        between.tessellated = Some(Tessellated { state, stores, factors, points, primitives, shaded: None });
    }
    Ok((shaded, primitives))
}

/// Notes the buffer of the factors of so many patches.
fn note_factors(patches: &PatchState, count: usize, memory: &Memory, later: &mut LaterStages) {
    let mut read = UsedBuffers::default();
    read.note_read(memory, patches.factors.get(), patches.factor_bytes() * count);
    later.buffers.extend(read.read);
    later.is_single |= read.has_others;
}

/// Runs the geometry shader.
fn shade_geometry(
    context: &mut DrawContext<'_>,
    state: &GeometryState,
    vertices: &Vertices,
    primitives: &PrimitiveList,
    later: &mut LaterStages,
) -> VertexStream {
    let draw = context.machine.at.draws;
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
        later.is_single = true;
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
    later.dispatch = Some((choice, shaded.cost));
    later.is_single |= shaded.fault.is_some() || shaded.too_large.is_some();
    record_later(context, Stage::GS, "geometry", shaded.log, later);
    shaded.fault.into_iter().for_each(|fault| context.machine.fault(fault));
    shaded.too_large.into_iter().for_each(|what| context.machine.cut(what));
    let strips = shaded.strips;
    if let Some(between) = &mut context.pipeline.between {
        between.makers = Some(strips.makers);
    }
    VertexStream {
        vertices: strips.vertices,
        list: strips.list,
        words: strips.words,
        ..VertexStream::default()
    }
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
