//! Records how draws ended, what they cost and what went wrong.

use a4emu_decoder::adreno::address::Address;

use crate::draw::stage_words::PrimitiveWord;
use crate::draw::topology::Topology;
use a4emu_decoder::guesses::Guess;

use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::Assembled;
use crate::draw::pipeline::DrawContext;
use crate::draw::rb::surface::{Location, Outside, Surface};
use crate::draw::sp::log::ShaderLog;
use crate::draw::stats::StageCost;
use crate::draw::stop::Stop;
use crate::draw::vertices::Vertices;
use crate::draw::vs::Shaded;
use crate::draw::work::{Geometry, LaterStages, ShaderWork};
use crate::fault::{Client, Fault, Miss};
use crate::machine::Stage;
use a4emu_shader::{InstructionCount, Reach};

use crate::draw::stats::Stopwatch;

/// Records how a draw or dispatch ended.
pub(super) fn record_end(context: &mut DrawContext<'_>, result: Result<(), Stop>) {
    match result {
        Ok(()) | Err(Stop::NoBudget) => {}
        Err(Stop::Fault(fault)) => context.machine.fault(fault),
        Err(Stop::TooLarge(what)) => context.machine.cut(what),
    }
    context.machine.report_cut();
}

/// Records the work of the vertex shader since `start`.
pub(super) fn record_vertices(context: &mut DrawContext<'_>, mut shaded: Shaded, start: Stopwatch) -> Shaded {
    // Clipping may have added vertices to those of the shader.
    let vertices = shaded.log.work.lanes;
    context.pipeline.stats.vertices += vertices;
    context.pipeline.stats.emulated.vertices += vertices;
    record_cost(context, Stage::VS, &shaded.log);
    let mut log = std::mem::take(&mut shaded.log);
    shaded.geometry =
        Geometry { vertices, work: log.work, counts: std::mem::take(&mut log.counts), ..Geometry::default() };
    record_log(context, "vertex", log);
    context.pipeline.stats.ms.vertex += start.milliseconds();
    shaded
}

/// Records the primitives that set-up made from `vertices`, which cost `geometry`.
pub(super) fn record_primitives(
    context: &mut DrawContext<'_>,
    Assembled { primitives, left_out }: Assembled,
    vertices: Vertices,
    words: Vec<PrimitiveWord>,
    geometry: Geometry,
) -> Primitives {
    let count = primitives.len() as u64;
    context.pipeline.stats.primitives += count;
    no_room(context, left_out);
    let geometry = Geometry { primitives: count, ..geometry };
    Primitives { geometry, ..Primitives::new(vertices, primitives, words) }
}

/// Records that set-up does not support a primitive type.
pub(super) fn unknown_type(context: &mut DrawContext<'_>, topology: Topology) {
    context.machine.unsupported(format!("draw {}: primitive type {topology:?}", context.machine.at.draws));
}

/// Records the primitives at the end of a draw that did not fit into memory, if any.
pub(super) fn no_room(context: &mut DrawContext<'_>, left_out: usize) {
    if left_out > 0 {
        let what =
            format!("draw {}: there is no room for its last {left_out} primitives", context.machine.at.draws);
        context.machine.cut(what);
    }
}

/// Records the work and the faults of a `stage` behind the vertex shader, and adds its work to `later`.
pub(super) fn record_later(
    context: &mut DrawContext<'_>,
    stage: Stage,
    name: &str,
    log: ShaderLog,
    later: &mut LaterStages,
) {
    later.add(stage, log.work, &log.buffers);
    later.is_single |= !log.is_silent();
    record_cost(context, stage, &log);
    record_log(context, &format!("draw {}: {name}", context.machine.at.draws), log);
}

/// Records what the stages behind the vertex shader cost, apart from the work of their shaders.
pub(super) fn record_stages(context: &mut DrawContext<'_>, later: &LaterStages) {
    context.pipeline.tessellation.add(&later.tessellation);
    if let Some((choice, cost)) = &later.dispatch {
        context.pipeline.dispatches.add(choice, cost);
    }
}

/// Records the work of the fragments of a draw.
pub(super) fn record_fragments(context: &mut DrawContext<'_>, log: ShaderLog) {
    context.machine.counters.samples_passed += log.work.samples;
    record_cost(context, Stage::FS, &log);
    record_log(context, "fragment", log);
}

/// Records what the chip runs to make `made`, which the emulator knew.
pub(super) fn record_known(context: &mut DrawContext<'_>, made: &Primitives) {
    context.pipeline.stats.add_geometry(&made.geometry);
    made.geometry.later.iter().for_each(|later| record_stages(context, later));
    add_cost(context, Stage::VS, &made.geometry.work, &made.geometry.counts);
}

/// Records what the chip runs for the shader of `stage`, with the cost if costs per draw are requested.
pub(super) fn record_cost(context: &mut DrawContext<'_>, stage: Stage, log: &ShaderLog) {
    context.pipeline.stats.add_work(stage, &log.work);
    add_cost(context, stage, &log.work, &log.counts);
}

fn add_cost(context: &mut DrawContext<'_>, stage: Stage, work: &ShaderWork, counts: &[InstructionCount]) {
    if context.pipeline.inspection.costs.is_some() {
        let work = work.of_chip();
        let (instructions, units, counts) = (work.instructions, work.units(), counts.to_vec());
        context.pipeline.inspected.costs.push(StageCost {
            at: context.machine.at,
            stage,
            instructions,
            units,
            samples: work.samples,
            counts,
        });
    }
}

/// Records the work and the faults of the shader of `stage`.
pub(super) fn record_log(context: &mut DrawContext<'_>, stage: &str, log: ShaderLog) {
    let emulated = &mut context.pipeline.stats.emulated;
    emulated.warps += log.work.warps;
    emulated.instructions += log.work.instructions;
    emulated.compiled += log.work.compiled;
    context.machine.report.missing.extend(log.missing.iter());
    for page in log.lost_pages {
        context.machine.fault(Fault::Store { client: Client::Global, page });
    }
    if let (Some(fidelity), Some(rests)) = (&mut context.machine.fidelity, log.rests) {
        fidelity.extend(*rests, context.machine.at);
    }
    if let Some(chosen) = log.chosen {
        context.machine.chosen.append(&chosen);
    }
    if let Some(outside) = log.outside_inputs.first() {
        context.machine.note_guess(Guess::InputsOutside, Reach::OUTPUT);
        context.machine.fault(outside.fault(context.machine.at.draws));
    }
    record_unsupported(context, log.unsupported);
    if let Some(fault) = log.fault {
        match fault.refusal() {
            Some(what) => context.machine.unsupported(format!("{stage} {what}")),
            None => context.machine.fault(Fault::Shader(format!("{stage} {fault}"))),
        }
    }
}

pub(super) fn record_unsupported(
    context: &mut DrawContext<'_>,
    unsupported: impl IntoIterator<Item = String>,
) {
    unsupported.into_iter().for_each(|what| context.machine.unsupported(what));
}

/// Records surfaces that lie outside of all memory.
pub(super) fn record_outside(context: &mut DrawContext<'_>, surfaces: &[Surface], outside: &[Outside]) {
    for &Outside { surface, address, len } in outside {
        context.machine.report.missing.note(Miss { client: Client::RenderTarget, address, len });
        let byte = address.get();
        let page = Address::new(byte - byte % u64::from(crate::memory::PAGE));
        if matches!(surfaces[surface].location, Location::Memory(_)) {
            context.machine.fault(Fault::Store { client: Client::RenderTarget, page });
        }
    }
}
