//! Fragments: tests rows of pixels early, gathers quads, shades eight quads per warp, and merges the results.
//!
//! - [`bands`]: divides the pixels of a draw among threads.
//! - [`band`]: the fragments of one band.
//! - [`history`]: effects of each primitive on one pixel, and why.
//! - [`inspect`]: one warp, for a debugger.
//! - `known`: counts the pixels whose colours are known without a run of the shader.
//! - `outline`: the pixels on the edge of a primitive.
//! - [`reasons`]: fates of all pixels; [`unseen`]: those without fragments.
//! - [`sampled`]: the fragments of one band, of targets with several samples of a pixel.
//! - [`tap`]: observes single fragments of a draw whose shader stores.
//! - [`texels`]: rectangles that copy texels to pixels.
pub mod band;
pub mod bands;
pub mod history;
pub mod inspect;
mod known;
mod outline;
pub mod reasons;
pub mod sampled;
pub mod state;
pub mod tap;
pub mod texels;
pub mod unseen;

use std::sync::Arc;

use crate::budget::Budget;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::{PrimitiveState, ScreenPrimitive};
use crate::draw::rb::color::{ColorOutput, ColorTarget, Precision};
use crate::draw::rb::state::{Targets, TestOrder};
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch};
use crate::draw::vertices::Vertices;
use crate::draw::vpc::interpolate::{Source, WarpQuads};
use crate::draw::work::KnownRun;
use crate::memory::Memory;
use a4emu_shader::{Epilogue, LANES};
use reasons::Reasons;
use state::{FragmentInputs, FragmentState};
use tap::Tap;
use texels::TexelCopy;

/// Everything that set-up, fragments and merging depend on, apart from memory.
#[derive(Clone)]
pub struct DrawState {
    /// Assembly and set-up.
    pub primitive: Arc<PrimitiveState>,
    /// Fragment inputs.
    pub fragment: FragmentState,
    /// Render targets and their state.
    pub targets: Arc<Targets>,
}

impl DrawState {
    /// Returns whether barycentrics may affect a colour directly: the shader reads them as plain registers,
    /// or a colour output uses their registers.
    fn depends_on_barycentrics(&self) -> bool {
        let program = &self.fragment.stage.program;
        let is_read = |id: u32| program.inputs().any(|input| input == id);
        let is_put_out = |id: u32| {
            self.targets.color.iter().any(|target| {
                let ColorOutput { regid, precision, .. } = target.output;
                precision == Precision::Full && (regid..regid + 4).contains(&id)
            })
        };
        let barycentrics = self.fragment.inputs.ij.iter().flat_map(|(id, _)| [*id, id + 1]);
        barycentrics.into_iter().any(|id| !program.overwrites(id) && (is_read(id) || is_put_out(id)))
    }
}

/// A draw after set-up.
pub struct FragmentDraw<'a> {
    /// Pipeline state.
    pub state: &'a DrawState,
    /// Vertices of the draw.
    pub vertices: &'a Vertices,
    /// Primitives of the draw, in order.
    pub primitives: &'a [ScreenPrimitive],
    /// Bounds of each primitive.
    pub bounds: &'a [Rect],
    /// Plan for the fragments.
    pub plan: &'a Plan,
    /// Map for pixel fates, if requested.
    pub reasons: Option<&'a Reasons>,
    /// Observer of single fragments, for a shader that stores.
    pub tap: Option<&'a Tap>,
}

impl<'a> FragmentDraw<'a> {
    /// Returns the source of the varyings.
    pub(super) fn source(&self) -> Source<'a> {
        let FragmentInputs { interpolation, replacement, interpolated, .. } = &*self.state.fragment.inputs;
        let FragmentDraw { primitives, vertices, .. } = *self;
        Source { primitives, vertices, interpolation, replacement, interpolated: *interpolated }
    }

    /// Returns whether only colour writes follow the shader, from full registers, without records of pixel
    /// fates.
    fn has_plain_colors(&self) -> bool {
        let Targets { alpha_test, color, .. } = &*self.state.targets;
        let is_plain = |target: &ColorTarget| {
            target.output.precision == Precision::Full && !target.blend.is_some_and(|blend| blend.is_dual())
        };
        let is_tested = self.plan.order == TestOrder::Late || alpha_test.is_some();
        !is_tested && self.reasons.is_none() && color.iter().all(is_plain)
    }

    /// Runs a started warp to its end, unless the tap catches it first. Returns whether it finished.
    pub(super) fn finish_warp(
        &self,
        worker: &mut Worker<'_>,
        pieces: &WarpQuads<'_>,
        sample: Option<usize>,
    ) -> bool {
        match self.tap {
            None => worker.finish(Some(pieces)),
            Some(tap) => tap.finish(worker, pieces, sample),
        }
    }

    /// Returns [`Targets::epilogue`], unless pixel fates are recorded.
    fn epilogue(&self) -> Option<(Epilogue, usize)> {
        self.state.targets.epilogue().filter(|_| self.reasons.is_none())
    }
}

/// Decisions about the work that every pixel needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether depth and stencil tests run before or after the shader.
    pub order: TestOrder,
    /// Source of the colours of covered pixels.
    pub color: Coloring,
    /// Source of the texel copy, where a rectangle copy gives the same result as shading.
    pub copy: Option<Box<TexelCopy>>,
    /// What a warp runs, where all warps give a known result.
    pub known: KnownRun,
}

/// Where colours come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// No colour is written, because the shader has no effect.
    None,
    /// All pixels get the same dword, one per target.
    Solid(Vec<u32>),
    /// The shader computes the colour.
    Shaded,
}

impl Plan {
    /// Decides which work every pixel needs.
    pub fn new(state: &DrawState, memory: &mut Memory, budget: &mut Budget) -> Self {
        let stage = &state.fragment.stage;
        let late = state.targets.order == TestOrder::Late || stage.kills();
        let order = if late { TestOrder::Late } else { TestOrder::Early };
        let mut known = KnownRun::default();
        let color = if order == TestOrder::Late || stage.stores() {
            Coloring::Shaded
        } else if state.targets.color.is_empty() {
            Coloring::None
        } else {
            solid(state, memory, budget, &mut known).map_or(Coloring::Shaded, Coloring::Solid)
        };
        let copy = match (&color, order) {
            (Coloring::Shaded, TestOrder::Early) => TexelCopy::of(state).map(Box::new),
            _ => None,
        };
        if let Some(copy) = &copy {
            known.instructions = copy.instructions();
        }
        Self { order, color, copy, known }
    }

    /// Returns the plan without the texel copy, so that the shader runs for every pixel.
    #[must_use]
    pub fn without_copy(self) -> Self {
        Self { copy: None, ..self }
    }
}

/// Returns the dword of every target if all pixels get the same one: then the shader has no inputs and runs
/// once. `known` is what that run executed.
fn solid(
    state: &DrawState,
    memory: &mut Memory,
    budget: &mut Budget,
    known: &mut KnownRun,
) -> Option<Vec<u32>> {
    let is_watched = state.fragment.stage.program.is_watched();
    if !state.fragment.is_uniform() || is_watched || state.depends_on_barycentrics() {
        return None;
    }
    let once = |worker: &mut Worker<'_>, ()| {
        if !worker.run(WarpLanes::first(LANES), None, |_, _| ()) {
            return None;
        }
        let word = |target: &ColorTarget| {
            target.solid(&band::colors(&worker.warp, &target.output, &mut Default::default()).map(|c| *c))
        };
        state.targets.color.iter().map(word).collect()
    };
    let stage = &state.fragment.stage;
    let mut launched = launch(stage, memory, budget, Threads::This, std::iter::once(()), once);
    *known = KnownRun { instructions: launched.log.work.instructions, counts: launched.log.counts };
    launched.results.pop().flatten()
}
