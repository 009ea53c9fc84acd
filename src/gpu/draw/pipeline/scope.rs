//! What a draw can change, and what of that the budget pays for; how its fragments are handled.

use crate::budget::Work;
use crate::draw::fs::bands::Visible;
use crate::draw::fs::{DrawState, Plan};
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::state::Targets;
use crate::draw::rb::surface::{Reads, Surface, reachable};
use crate::draw::sp::state::StageState;
use crate::gpu::Gpu;
use crate::memory::Memory;

/// Whether nothing of `made` is within the scissor.
pub fn is_out_of_sight(made: &Primitives, targets: &Targets) -> bool {
    made.extent.intersect(targets.scissor).is_empty()
}

/// How the fragments of a draw are handled. Whoever asks what shaders take, or what becomes of pixels, sees them run.
pub fn plan(gpu: &mut Gpu, state: &DrawState) -> Plan {
    let plan = Plan::new(state, &mut gpu.mem, &mut gpu.budget);
    let is_looked_at = gpu.pipeline.costs.is_some() || gpu.pipeline.reasons.is_some();
    if is_looked_at { plan.without_copy() } else { plan }
}

/// Whether fragments read the buffers of `surfaces` in memory.
pub fn reads(stage: &StageState, surfaces: &[Surface], mem: &Memory) -> Reads {
    let anywhere = stage.summary.loads || stage.summary.stores;
    let mut buffers = surfaces.iter().filter_map(|surface| surface.buffer(mem));
    match anywhere || buffers.any(|buffer| stage.textures.reads(buffer)) {
        true => Reads::Surfaces,
        false => Reads::Elsewhere,
    }
}

/// What a draw of `made` to `surfaces` can change; `None` when there is nothing.
pub fn visible(gpu: &Gpu, state: &DrawState, surfaces: &[Surface], made: &Primitives) -> Option<Visible> {
    if is_out_of_sight(made, &state.targets) {
        return None;
    }
    Visible::of(&made.bounds, drawable(gpu, state, surfaces))
}

/// The pixels that a draw to `surfaces` may change: within the scissor, and where there is memory.
pub fn drawable(gpu: &Gpu, state: &DrawState, surfaces: &[Surface]) -> Rect {
    state.targets.scissor.intersect(reachable(surfaces, gpu.chip.gmem_bytes(), &gpu.mem))
}

/// How many of the primitives with these `bounds`, of which so much of `targets` is visible, the budget pays for, which it
/// does.
pub fn affordable(
    gpu: &mut Gpu,
    targets: &Targets,
    bounds: &[Rect],
    Visible { area, pixels, .. }: Visible,
) -> usize {
    let price = targets.pixel_price();
    let pixels = pixels.saturating_mul(price);
    if gpu.budget.affords(Work::Pixel, pixels) && gpu.budget.take(Work::Pixel, pixels) {
        return bounds.len();
    }
    let touched = bounds.iter().map(|bounds| bounds.intersect(area).area() * price);
    touched.take_while(|pixels| gpu.budget.take(Work::Pixel, *pixels)).count()
}
