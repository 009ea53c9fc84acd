//! Draws of the resolve pass.

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup;
use crate::draw::gras::state::Viewports;
use crate::draw::pipeline::DrawContext;
use crate::draw::reads::MemoryRead;
use crate::draw::schedule::Schedule;
use crate::draw::stop::{Stop, charge};
use crate::work_trace::{Activity, begin};
use a4emu_shader::Reach;

use super::record::record_unsupported;
use super::snapshot::vertex_state;
use super::sync::{finish, sync, sync_state};
use super::{geometry, guesses, stopwatch, vertices, with_queue};

/// Runs a draw of the resolve pass. Its rectangle is the area to copy.
pub(super) fn resolve(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<(), Stop> {
    geometry::finish(context);
    sync_state(context, call);
    let area = resolved_area(context, call);
    let start = stopwatch(context);
    let mut unsupported = Vec::new();
    let copy = (context.read().resolve)(&context.machine.regs, &mut unsupported);
    record_unsupported(context, unsupported);
    let Some(copy) = copy else { return Ok(()) };
    guesses::of_copy(&copy).into_iter().for_each(|guess| context.machine.note_guess(guess, Reach::OUTPUT));
    charge(&mut context.machine.budget, Work::Copy16, copy.blocks(area))?;
    context.pipeline.surfaces.note(copy.written(call.submit, call.number));
    let schedule = context.pipeline.schedule;
    let is_queued = schedule != Schedule::Reference
        && with_queue(context, |queue, store| queue.add_copy(&copy, area, schedule, store));
    if is_queued {
        return Ok(());
    }
    finish(context);
    let _active = begin(Activity::Resolves);
    let result = copy.run(area, &context.machine.gmem, &mut context.machine.mem);
    context.pipeline.stats.ms.resolve += start.milliseconds();
    Ok(result?)
}

/// Returns the pixels that the rectangle of a resolve covers. Without a usable vertex stage, these are all
/// pixels within the scissors.
fn resolved_area(context: &mut DrawContext<'_>, call: &DrawCall) -> Rect {
    let bounds = (context.read().resolve_bounds)(&context.machine.regs);
    let state = (context.read().primitive)(
        &context.machine.regs,
        call.topology,
        Viewports::First,
        context.machine.model,
    );
    let Ok(vertex) = vertex_state(context, call) else { return bounds };
    sync(context, MemoryRead::of_vertices(&vertex));
    let Ok(mut shaded) = vertices(context, &vertex, || None) else { return bounds };
    setup::assemble(&state, &mut shaded.vertices, &shaded.list)
        .unwrap_or_default()
        .primitives
        .iter()
        .map(|p| p.shape.bounds.intersect(bounds))
        .filter(|rect| !rect.is_empty())
        .reduce(Rect::union)
        .unwrap_or(Rect { x1: bounds.x0, ..bounds })
}
