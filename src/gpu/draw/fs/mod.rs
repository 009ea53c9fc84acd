//! Fragments: rows of pixels are tested early, gathered in quads, shaded eight quads at a time, merged.
//!
//! - [`bands`]: how the pixels of a draw are shared out among threads.
//! - [`band`]: the fragments of one band.
//! - [`batch`]: draws that wait, to share bands with others.
//! - [`copies`]: copies of tile memory that wait behind them.
//! - [`history`]: what each primitive does to one pixel, and why.
//! - [`inspect`]: one warp, for a debugger.
//! - `outline`: the pixels on the edge of a primitive.
//! - [`reasons`]: what became of all pixels.
//! - [`sampled`]: the fragments of one band, of targets with several samples of a pixel.
//! - [`tap`]: single fragments of a draw that stores, as it runs them.
//! - [`texels`]: rectangles whose pixels become texels.
pub mod band;
pub mod bands;
pub mod batch;
pub mod copies;
pub mod history;
pub mod inspect;
mod outline;
pub mod reasons;
pub mod sampled;
pub mod state;
pub mod tap;
pub mod texels;

use std::sync::Arc;

use crate::budget::Budget;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::{PrimitiveState, ScreenPrimitive};
use crate::draw::rb::color::{ColorOutput, ColorTarget, Precision};
use crate::draw::rb::state::{Targets, TestOrder};
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch};
use crate::draw::vertices::Vertices;
use crate::draw::vpc::interpolate::{Source, WarpQuads};
use crate::memory::Memory;
use a4emu_shader::{Finish, LANES};
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
    /// Where results go.
    pub targets: Arc<Targets>,
}

impl DrawState {
    /// Whether barycentrics may reach a colour as they are: the shader reads them other than for varyings, or leaves
    /// them where a colour is taken from.
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

/// A draw ready for its fragments.
pub struct FragmentDraw<'a> {
    /// Its state.
    pub state: &'a DrawState,
    /// Its vertices.
    pub vertices: &'a Vertices,
    /// Its primitives, in order.
    pub primitives: &'a [ScreenPrimitive],
    /// Of each of them.
    pub bounds: &'a [Rect],
    /// How fragments are handled.
    pub plan: &'a Plan,
    /// Where it is noted what becomes of pixels, if somebody wants to know.
    pub reasons: Option<&'a Reasons>,
    /// Who takes single fragments, of a shader that stores.
    pub tap: Option<&'a Tap>,
}

impl<'a> FragmentDraw<'a> {
    /// Where varyings come from.
    pub(super) fn source(&self) -> Source<'a> {
        let FragmentInputs { interpolation, replacement, interpolated, .. } = &*self.state.fragment.inputs;
        let FragmentDraw { primitives, vertices, .. } = *self;
        Source { primitives, vertices, interpolation, replacement, interpolated: *interpolated }
    }

    /// Whether nothing comes after the shader but a colour for each target, in full registers, and nobody looks.
    fn has_plain_colors(&self) -> bool {
        let Targets { alpha_test, color, .. } = &*self.state.targets;
        let is_plain = |target: &ColorTarget| {
            target.output.precision == Precision::Full && !target.blend.is_some_and(|blend| blend.is_dual())
        };
        let is_tested = self.plan.order == TestOrder::Late || alpha_test.is_some();
        !is_tested && self.reasons.is_none() && color.iter().all(is_plain)
    }

    /// Runs the warp of these quads, which `worker` has started, to its end, unless somebody wants it before. Says
    /// whether it came to its end.
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

    /// [`Targets::finish`], if nobody looks.
    fn finish(&self) -> Option<(Finish, usize)> {
        self.state.targets.finish().filter(|_| self.reasons.is_none())
    }
}

/// What can be done without running the shader for every pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Depth and stencil before or after the shader.
    pub order: TestOrder,
    /// What covered pixels get.
    pub color: Coloring,
    /// What rectangles are copied from where that is the same as to shade them.
    pub copy: Option<Box<TexelCopy>>,
}

/// Where colours come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// Nothing is written: the shader has no effect.
    None,
    /// All pixels get the same dword, one per target.
    Solid(Vec<u32>),
    /// The shader says.
    Shaded,
}

impl Plan {
    /// Decides what can be done without running the shader for every pixel.
    pub fn new(state: &DrawState, memory: &mut Memory, budget: &mut Budget) -> Self {
        let stage = &state.fragment.stage;
        let late = state.targets.order == TestOrder::Late || stage.kills();
        let order = if late { TestOrder::Late } else { TestOrder::Early };
        let color = if order == TestOrder::Late || stage.stores() {
            Coloring::Shaded
        } else if state.targets.color.is_empty() {
            Coloring::None
        } else {
            solid(state, memory, budget).map_or(Coloring::Shaded, Coloring::Solid)
        };
        let copy = match (&color, order) {
            (Coloring::Shaded, TestOrder::Early) => TexelCopy::of(state).map(Box::new),
            _ => None,
        };
        Self { order, color, copy }
    }

    /// The same, where the shader runs for every pixel that it says something of.
    #[must_use]
    pub fn without_copy(self) -> Self {
        Self { copy: None, ..self }
    }
}

/// The dword of every target if all pixels get the same: the shader has no inputs, and runs once.
fn solid(state: &DrawState, memory: &mut Memory, budget: &mut Budget) -> Option<Vec<u32>> {
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
    launch(stage, memory, budget, Threads::This, std::iter::once(()), once).results.pop().flatten()
}
