//! The stages between vertex shader and set-up that take whole primitives, and transform feedback.

use crate::budget::Work;
use crate::draw::gs::batch::GeometryDraw;
use crate::draw::gs::dispatch::{Choice, Demand};
use crate::draw::gs::runs::GeometryRuns;
use crate::draw::gs::state::GeometryState;
use crate::draw::hs::Hull;
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::stop::{Stop, charge};
use crate::draw::vertex_stages::{Tessellation, VertexStages};
use crate::draw::vertices::{VertexStream, Vertices};
use crate::draw::vpc::state::FeedbackState;
use crate::draw::vs::Shaded;
use crate::draw::{ds, gs, pc};
use crate::fault::Client;
use crate::gpu::Gpu;
use crate::machine::Stage;

use super::record::{record_cost, record_log};

/// Runs the stages that take whole primitives.
pub(super) fn whole_primitives(
    gpu: &mut Gpu,
    stages: &VertexStages,
    shaded: Shaded,
) -> Result<Option<VertexStream>, Stop> {
    let Some(primitives) = stages.whole_primitives(&shaded.list) else {
        let what = format!("draw {}: a geometry shader of {:?}", stages.draw, stages.topology);
        gpu.report.unsupported(what, gpu.at);
        return Ok(None);
    };
    let (vertices, primitives) = match &stages.tessellation {
        Some(tessellation) => tessellate(gpu, tessellation, &shaded.vertices, &primitives)?,
        None => (shaded.vertices, primitives),
    };
    Ok(Some(match &stages.geometry {
        Some(geometry) => shade_geometry(gpu, geometry, &vertices, &primitives, stages.draw)?,
        None => VertexStream { vertices, list: primitives.vertices, ..VertexStream::default() },
    }))
}

/// Runs hull shader, tessellator and domain shader.
fn tessellate(
    gpu: &mut Gpu,
    tessellation: &Tessellation,
    vertices: &Vertices,
    primitives: &PrimitiveList,
) -> Result<(Vertices, PrimitiveList), Stop> {
    let Tessellation { hull, patches, domain } = tessellation;
    let log = Hull { stage: hull, state: patches, vertices, patches: primitives }
        .shade(&mut gpu.mem, &mut gpu.budget);
    let failed = log.fault.is_some();
    record_cost(gpu, Stage::HS, &log, 0);
    record_log(gpu, &format!("draw {}: hull", patches.draw), log);
    let count = if failed { 0 } else { primitives.len() };
    let (factors, problems) = pc::factors::read(patches, count, &gpu.mem);
    gpu.report.missing.extend(problems.missing.iter());
    problems.faults.into_iter().for_each(|fault| gpu.report.fault(fault, gpu.at));
    let components = domain.outputs.components;
    let points = ds::points(patches, components, &primitives.ids, &factors, &mut gpu.budget)?;
    let (shaded, log) = ds::shade(domain, &points.points, &mut gpu.mem, &mut gpu.budget);
    record_cost(gpu, Stage::DS, &log, 0);
    record_log(gpu, &format!("draw {}: domain", patches.draw), log);
    let cost = &mut gpu.pipeline.tessellation;
    cost.patches += primitives.len() as u64;
    cost.culled += points.culled + (primitives.len() - count) as u64;
    cost.points += points.points.len() as u64;
    cost.primitives += points.primitives.len() as u64;
    Ok((shaded, points.primitives))
}

/// Runs the geometry shader.
fn shade_geometry(
    gpu: &mut Gpu,
    state: &GeometryState,
    vertices: &Vertices,
    primitives: &PrimitiveList,
    draw: u32,
) -> Result<VertexStream, Stop> {
    let demand = Demand {
        registers: state.stage.program.registers(),
        inputs: vertices.varying_components(),
        stores: state.stage.stores() || state.stage.summary.stores_locally,
    };
    let setting = gpu.pipeline.gs_dispatch;
    let choice = Choice::new(setting, &demand);
    if let Some(what) = choice.refusal(setting, &demand) {
        gpu.report.unsupported(format!("draw {draw}: {what}"), gpu.at);
    }
    // A draw runs again for each tile: its first run is shown.
    let is_first = gpu.pipeline.inspected.geometry_runs.is_none();
    let watched = gpu.pipeline.inspection.geometry_runs.filter(|_| is_first);
    let work = GeometryDraw { state, vertices, primitives, choice, draw, watched };
    let shaded = gs::shade(&work, &mut gpu.mem, &mut gpu.budget);
    if let Some(primitive) = watched.filter(|_| primitives.len() > 0) {
        let mut runs = shaded.runs;
        runs.sort_by_key(|run| (run.invocation, run.vertex));
        let (primitives, most) = (primitives.len(), state.max_vertices);
        gpu.pipeline.inspected.geometry_runs = Some(GeometryRuns { primitive, primitives, most, runs });
    }
    gpu.pipeline.dispatches.add(&choice, &shaded.cost);
    record_cost(gpu, Stage::GS, &shaded.log, 0);
    record_log(gpu, &format!("draw {draw}: geometry"), shaded.log);
    shaded.fault.into_iter().for_each(|fault| gpu.report.fault(fault, gpu.at));
    shaded.too_large.into_iter().for_each(|what| gpu.report.cut(what, gpu.at));
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
    gpu: &mut Gpu,
    feedback: &FeedbackState,
    stages: &VertexStages,
    stream: &VertexStream,
) -> Result<(), Stop> {
    charge(&mut gpu.budget, Work::LaneAccess, 3 * stream.list.len() as u64 * feedback.components())?;
    let (topology, provoking) = (stages.topology(), stages.provoking);
    let filled = feedback.run(topology, provoking, stream, &mut |address, value| {
        gpu.store(Client::Geometry, address, &value.to_le_bytes());
    });
    gpu.written_back.extend(filled.registers());
    Ok(())
}
