//! Draws of the resolve pass.

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::gras::state::Viewports;
use crate::draw::rb::state::{ResolveState, resolve_bounds};
use crate::draw::schedule::Schedule;
use crate::draw::stop::{Stop, charge};
use crate::gpu::Gpu;
use crate::work_trace::{Activity, begin};
use a4emu_shader::Reach;

use super::record::record_unsupported;
use super::snapshot::vertex_state;
use super::sync::{MemoryRead, finish, sync, sync_state};
use super::{geometry, guesses, stopwatch, vertices, with_queue};

/// Runs a draw of the resolve pass. Its rectangle is the area to copy.
pub(super) fn resolve(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Stop> {
    geometry::finish(gpu);
    sync_state(gpu, call);
    let area = resolved_area(gpu, call);
    let start = stopwatch(gpu);
    let mut unsupported = Vec::new();
    let copy = ResolveState::snapshot(&gpu.regs, &mut unsupported);
    record_unsupported(gpu, unsupported);
    let Some(copy) = copy else { return Ok(()) };
    guesses::of_copy(&copy).into_iter().for_each(|guess| gpu.note_guess(guess, Reach::OUTPUT));
    charge(&mut gpu.budget, Work::Copy16, copy.blocks(area))?;
    gpu.pipeline.surfaces.note(copy.written(call.submit, call.number));
    let schedule = gpu.pipeline.schedule;
    let is_queued = schedule != Schedule::Reference
        && with_queue(gpu, |queue, store| queue.add_copy(&copy, area, schedule, store));
    if is_queued {
        return Ok(());
    }
    finish(gpu);
    let _active = begin(Activity::Resolves);
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
    sync(gpu, MemoryRead::of_vertices(&vertex));
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
