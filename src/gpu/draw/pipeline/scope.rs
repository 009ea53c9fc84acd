//! Determines which pixels a draw can change, how many primitives the budget pays for, and how fragments run.

use crate::budget::Work;
use crate::draw::fs::bands::Visible;
use crate::draw::fs::{DrawState, Plan};
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::pipeline::DrawContext;
use crate::draw::rb::state::Targets;
use crate::draw::rb::surface::{Reads, Surface, reachable};
use crate::draw::reads::MemoryRead;
use crate::draw::sp::state::StageState;
use crate::memory::Memory;

use crate::draw::inspection::Observation;
use crate::draw::schedule::Schedule;

/// Returns whether all primitives of `made` are outside the scissor.
pub fn is_culled(made: &Primitives, targets: &Targets) -> bool {
    made.extent.intersect(targets.scissor).is_empty()
}

/// Returns how the fragments of a draw run. If costs or pixel histories are requested, the shader always
/// runs.
pub fn plan(context: &mut DrawContext<'_>, state: &DrawState) -> Plan {
    let plan = Plan::new(state, &mut context.machine.mem, &mut context.machine.budget);
    let must_shade = context.pipeline.observation() > Observation::None
        || context.pipeline.schedule == Schedule::Reference;
    if must_shade { plan.without_copy() } else { plan }
}

/// Returns whether the fragment shader can read the buffers of `surfaces` in memory.
pub fn reads(stage: &StageState, surfaces: &[Surface], mem: &Memory) -> Reads {
    let mut buffers = surfaces.iter().filter_map(|surface| surface.buffer(mem));
    match stage.reads_buffers() || buffers.any(|buffer| MemoryRead::Stage(stage).is_of(buffer)) {
        true => Reads::Surfaces,
        false => Reads::Elsewhere,
    }
}

/// Returns the area that a draw of `made` to `surfaces` can change. `None` if it is empty.
pub fn visible(
    context: &DrawContext<'_>,
    state: &DrawState,
    surfaces: &[Surface],
    made: &Primitives,
) -> Option<Visible> {
    if is_culled(made, &state.targets) {
        return None;
    }
    Visible::of(&made.bounds, drawable(context, state, surfaces))
}

/// Returns the pixels that a draw to `surfaces` may change: within the scissor, and backed by memory.
pub fn drawable(context: &DrawContext<'_>, state: &DrawState, surfaces: &[Surface]) -> Rect {
    state.targets.scissor.intersect(reachable(
        surfaces,
        context.machine.chip.gmem_bytes(),
        &context.machine.mem,
    ))
}

/// Charges the budget for the visible pixels of primitives with these `bounds`. Returns how many primitives
/// it pays for.
pub fn affordable(
    context: &mut DrawContext<'_>,
    targets: &Targets,
    bounds: &[Rect],
    Visible { area, pixels, .. }: Visible,
) -> usize {
    let price = targets.pixel_price();
    let pixels = pixels.saturating_mul(price);
    if context.machine.budget.affords(Work::Pixel, pixels) && context.machine.budget.take(Work::Pixel, pixels)
    {
        return bounds.len();
    }
    let touched = bounds.iter().map(|bounds| bounds.intersect(area).area() * price);
    touched.take_while(|pixels| context.machine.budget.take(Work::Pixel, *pixels)).count()
}
