//! Draws of the resolve pass.

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::gras::state::Viewports;
use crate::draw::rb::state::{ResolveState, resolve_bounds};
use crate::draw::stop::{Stop, charge};
use crate::gpu::Gpu;
use a4emu_shader::Reach;

use super::raster_queue::try_submit_tile;
use super::record::record_unsupported;
use super::schedule::{Schedule, flush_for_state, flush_for_vertices};
use super::snapshot::vertex_state;
use super::{Pipeline, Stopwatch, flush, geometry_queue, guesses, vertices};

/// Runs a draw of the resolve pass. Its rectangle is the area to copy.
pub(super) fn resolve(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Stop> {
    geometry_queue::finish(gpu);
    flush_for_state(gpu, call);
    let area = resolved_area(gpu, call);
    let start = Stopwatch::of(gpu);
    let mut unsupported = Vec::new();
    let copy = ResolveState::snapshot(&gpu.regs, &mut unsupported);
    record_unsupported(gpu, unsupported);
    let Some(copy) = copy else { return Ok(()) };
    guesses::of_copy(&copy).into_iter().for_each(|guess| gpu.note_guess(guess, Reach::OUTPUT));
    charge(&mut gpu.budget, Work::Copy16, copy.blocks(area))?;
    gpu.pipeline.surfaces.note(copy.written(call.submit, call.number));
    let Pipeline { batch, resolve_cache, schedule, .. } = &mut gpu.pipeline;
    let schedule = *schedule;
    // A submitted batch may own tile memory, so do not access it here.
    if schedule != Schedule::Reference
        && batch.take_copy(&copy, area, gpu.chip.gmem_bytes(), &mut gpu.mem, resolve_cache)
    {
        match schedule.defers() {
            true => try_submit_tile(gpu),
            false => flush(gpu),
        }
        return Ok(());
    }
    flush(gpu);
    let result = copy.run(area, &gpu.gmem, &mut gpu.mem);
    gpu.pipeline.stats.ms.resolve += start.milliseconds();
    Ok(result?)
}

/// Returns the pixels that the rectangle of a resolve covers. Without a usable vertex stage, these are all
/// pixels within the scissors.
fn resolved_area(gpu: &mut Gpu, call: &DrawCall) -> Rect {
    let bounds = resolve_bounds(&gpu.regs);
    let state = PrimitiveState::snapshot(&gpu.regs, call.initiator.PRIM_TYPE(), Viewports::First, gpu.model);
    let Ok(vertex) = vertex_state(gpu, call) else { return bounds };
    flush_for_vertices(gpu, &vertex);
    let Ok(mut shaded) = vertices(gpu, &vertex, || None) else { return bounds };
    setup::assemble(&state, &mut shaded.vertices, &shaded.list)
        .unwrap_or_default()
        .primitives
        .iter()
        .map(|p| p.shape.bounds.intersect(bounds))
        .filter(|rect| !rect.is_empty())
        .reduce(Rect::union)
        .unwrap_or(Rect { x1: bounds.x0, ..bounds })
}
