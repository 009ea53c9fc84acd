//! Records how draws ended, what they cost and what went wrong.

use a4emu_decoder::a4xx::enums::PrimType;
use a4emu_decoder::a4xx::stage_words::PRIMITIVE_WORD;
use a4emu_decoder::guesses::Guess;

use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::Assembled;
use crate::draw::rb::surface::{Location, Outside, Surface};
use crate::draw::sp::log::ShaderLog;
use crate::draw::stats::StageCost;
use crate::draw::stop::Stop;
use crate::draw::vertices::Vertices;
use crate::draw::vs::Shaded;
use crate::draw::work::{Geometry, ShaderWork};
use crate::fault::{Client, Fault, Miss};
use crate::gpu::Gpu;
use crate::machine::Stage;
use a4emu_shader::{InstructionCount, Reach};

use crate::draw::stats::Stopwatch;

/// Records how a draw or dispatch ended.
pub(super) fn record_end(gpu: &mut Gpu, result: Result<(), Stop>) {
    match result {
        Ok(()) | Err(Stop::NoBudget) => {}
        Err(Stop::Fault(fault)) => gpu.report.fault(fault, gpu.at),
        Err(Stop::TooLarge(what)) => gpu.report.cut(what, gpu.at),
    }
    gpu.report_cut();
}

/// Records the work of the vertex shader since `start`.
pub(super) fn record_vertices(gpu: &mut Gpu, mut shaded: Shaded, start: Stopwatch) -> Shaded {
    // Clipping may have added vertices to those of the shader.
    let vertices = shaded.log.work.lanes;
    gpu.pipeline.stats.vertices += vertices;
    gpu.pipeline.stats.emulated.vertices += vertices;
    record_cost(gpu, Stage::VS, &shaded.log, 0);
    let mut log = std::mem::take(&mut shaded.log);
    shaded.geometry =
        Geometry { vertices, primitives: 0, work: log.work, counts: std::mem::take(&mut log.counts) };
    record_log(gpu, "vertex", log);
    gpu.pipeline.stats.ms.vertex += start.milliseconds();
    shaded
}

/// Records the primitives that set-up made from `vertices`, which cost `geometry`.
pub(super) fn record_primitives(
    gpu: &mut Gpu,
    Assembled { primitives, left_out }: Assembled,
    vertices: Vertices,
    words: Vec<PRIMITIVE_WORD>,
    geometry: Geometry,
) -> Primitives {
    let count = primitives.len() as u64;
    gpu.pipeline.stats.primitives += count;
    no_room(gpu, left_out);
    let geometry = Geometry { primitives: count, ..geometry };
    Primitives { geometry, ..Primitives::new(vertices, primitives, words) }
}

/// Records that set-up does not support a primitive type.
pub(super) fn unknown_type(gpu: &mut Gpu, topology: PrimType) {
    gpu.report.unsupported(format!("draw {}: primitive type {topology:?}", gpu.at.draws), gpu.at);
}

/// Records the primitives at the end of a draw that did not fit into memory, if any.
pub(super) fn no_room(gpu: &mut Gpu, left_out: usize) {
    if left_out > 0 {
        let what = format!("draw {}: there is no room for its last {left_out} primitives", gpu.at.draws);
        gpu.report.cut(what, gpu.at);
    }
}

/// Records the work of the fragments of a draw.
pub(super) fn record_fragments(gpu: &mut Gpu, samples: u64, log: ShaderLog) {
    gpu.pipeline.stats.pixels += samples;
    gpu.counters.samples_passed += samples;
    record_cost(gpu, Stage::FS, &log, samples);
    record_log(gpu, "fragment", log);
}

/// Records what the chip runs to make `made`, which the emulator knew.
pub(super) fn record_known(gpu: &mut Gpu, made: &Primitives) {
    gpu.pipeline.stats.add_geometry(&made.geometry);
    add_cost(gpu, Stage::VS, (&made.geometry.work, &made.geometry.counts), 0);
}

/// Records what the chip runs for the shader of `stage`, with the cost if costs per draw are requested.
pub(super) fn record_cost(gpu: &mut Gpu, stage: Stage, log: &ShaderLog, samples: u64) {
    gpu.pipeline.stats.add_work(stage, &log.work);
    add_cost(gpu, stage, (&log.work, &log.counts), samples);
}

fn add_cost(gpu: &mut Gpu, stage: Stage, (work, counts): (&ShaderWork, &[InstructionCount]), samples: u64) {
    if gpu.pipeline.inspection.costs.is_some() {
        let work = work.of_chip();
        let (instructions, units, counts) = (work.instructions, work.units(), counts.to_vec());
        gpu.pipeline.inspected.costs.push(StageCost {
            at: gpu.at,
            stage,
            instructions,
            units,
            samples,
            counts,
        });
    }
}

/// Records the work and the faults of the shader of `stage`.
pub(super) fn record_log(gpu: &mut Gpu, stage: &str, log: ShaderLog) {
    let emulated = &mut gpu.pipeline.stats.emulated;
    emulated.warps += log.work.warps;
    emulated.instructions += log.work.instructions;
    emulated.compiled += log.work.compiled;
    gpu.report.missing.extend(log.missing.iter());
    for page in log.lost_pages {
        gpu.report.fault(Fault::Store { client: Client::Global, page: page.into() }, gpu.at);
    }
    if let (Some(fidelity), Some(rests)) = (&mut gpu.fidelity, log.rests) {
        fidelity.extend(*rests, gpu.at);
    }
    if let Some(chosen) = log.chosen {
        gpu.chosen.append(&chosen);
    }
    if let Some(outside) = log.outside_inputs.first() {
        gpu.note_guess(Guess::InputsOutside, Reach::OUTPUT);
        gpu.report.fault(outside.fault(gpu.at.draws), gpu.at);
    }
    record_unsupported(gpu, log.unsupported);
    if let Some(fault) = log.fault {
        match fault.refusal() {
            Some(what) => gpu.report.unsupported(format!("{stage} {what}"), gpu.at),
            None => gpu.report.fault(Fault::Shader(format!("{stage} {fault}")), gpu.at),
        }
    }
}

pub(super) fn record_unsupported(gpu: &mut Gpu, unsupported: impl IntoIterator<Item = String>) {
    unsupported.into_iter().for_each(|what| gpu.report.unsupported(what, gpu.at));
}

/// Records surfaces that lie outside of all memory.
pub(super) fn record_outside(gpu: &mut Gpu, surfaces: &[Surface], outside: &[Outside]) {
    for &Outside { surface, address, len } in outside {
        gpu.report.missing.note(Miss { client: Client::RenderTarget, address: address.into(), len });
        let page = address - address % crate::memory::PAGE;
        if matches!(surfaces[surface].location, Location::Memory(_)) {
            gpu.report.fault(Fault::Store { client: Client::RenderTarget, page: page.into() }, gpu.at);
        }
    }
}
