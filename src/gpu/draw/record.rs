//! A draw that has been recorded. Everything that it depends on is in it, so that the command stream may go on and
//! change the chip.
//!
//! There is one type for it, [`DrawRecord`], from the snapshot to the fragments. Its `step` is what the next step needs:
//!
//! 1. [`Geometry`]: it waits for primitives, or has them and waits for the draws before it (`pipeline/geometry.rs`).
//! 2. `Arc<Primitives>`: it is next in the order of the stream. The pipeline finds out what it can change.
//! 3. [`Fragments`]: it waits in a [batch](super::queue::batch) for its fragments to be drawn.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::fs::reasons::Reasons;
use super::fs::{DrawState, FragmentDraw, Plan};
use super::gras::primitives::Primitives;
use super::gras::raster::Rect;
use super::gras::setup::{self, Assembled};
use super::stats::Stopwatch;
use super::stop::{MAX_HELD, Stop};
use super::vertex_stages::VertexStages;
use super::vs::Shaded;
use crate::budget::Budget;
use crate::fault::Place;
use crate::memory::Memory;
use crate::work_trace::{Activity, begin};

/// A recorded draw, with what its next step needs.
pub struct DrawRecord<Step> {
    /// Place in the command stream, with the number of the draw.
    pub at: Place,
    /// State of set-up, fragments and targets.
    pub state: DrawState,
    /// What the next step needs.
    pub step: Step,
}

/// How far the primitives of a recorded draw are.
pub enum Geometry {
    /// The primitives have to be made, or are made and what that cost is not recorded yet.
    Pending(Box<Pending>),
    /// The primitives are known, and what they cost is recorded.
    Ready(Arc<Primitives>),
}

/// What makes the primitives of a draw. It stays in its box, since it is large.
pub struct Pending {
    /// State of the stages before set-up.
    pub stages: VertexStages,
    /// Work that may be done for them.
    pub budget: Budget,
    /// Whether to measure times.
    pub is_timed: bool,
    /// What was made, or the panic that ended it, once that has run.
    pub made: Option<Result<Result<Parts, Stop>, Box<dyn Any + Send>>>,
}

/// Vertices and primitives of a draw.
pub struct Parts {
    /// The vertices.
    pub shaded: Shaded,
    /// The primitives, or `None` if their type is not supported.
    pub assembled: Option<Assembled>,
    /// Time for vertices and for primitives.
    pub milliseconds: [f64; 2],
}

/// What the fragments of a draw need.
pub struct Fragments {
    /// Primitives of the draw.
    pub made: Arc<Primitives>,
    /// Number of primitives to draw.
    pub count: usize,
    /// Plan for the fragments.
    pub plan: Plan,
    /// Area that the draw may draw to.
    pub area: Rect,
    /// Map for pixel fates, if requested.
    pub reasons: Option<Arc<Reasons>>,
    /// Its surfaces in the batch.
    pub tile: Tile,
    /// Bytes of its textures that are copied, since they are not contiguous in memory.
    pub copied: u64,
}

/// The part of a batch that a draw uses.
#[derive(Clone, Default)]
pub struct Tile {
    /// The first pixel of the tile ([`batch`](super::queue::batch)).
    pub anchor: [i32; 2],
    /// The indices of the surfaces in the batch.
    pub surfaces: Arc<[usize]>,
}

impl DrawRecord<Geometry> {
    /// Makes pending primitives from `memory`.
    pub fn make(&mut self, memory: &Memory) {
        if let Geometry::Pending(pending) = &mut self.step {
            pending.run(&self.state, memory);
        }
    }
}

impl DrawRecord<Fragments> {
    /// Returns the draw for the stages after set-up.
    pub fn fragments(&self) -> FragmentDraw<'_> {
        let Fragments { made, count, plan, reasons, .. } = &self.step;
        let Primitives { vertices, primitives, bounds, .. } = &**made;
        FragmentDraw {
            state: &self.state,
            vertices,
            primitives: &primitives[..*count],
            bounds: &bounds[..*count],
            plan,
            reasons: reasons.as_deref(),
            tap: None,
        }
    }
}

impl Pending {
    fn run(&mut self, state: &DrawState, memory: &Memory) {
        let Self { stages, budget, is_timed, made } = self;
        let make = || {
            let active = begin(Activity::Vertices);
            let start = if *is_timed { Stopwatch::start() } else { Stopwatch::off() };
            let mut shaded = stages.vertex.shade_small(memory, budget)?;
            let of_vertices = start.milliseconds();
            drop(active);
            let _active = begin(Activity::Primitives);
            let list = std::mem::take(&mut shaded.list);
            let assembled = setup::assemble_in(&state.primitive, &mut shaded.vertices, &list, &[], MAX_HELD);
            let milliseconds = [of_vertices, start.milliseconds() - of_vertices];
            Ok(Parts { shaded, assembled, milliseconds })
        };
        *made = Some(catch_unwind(AssertUnwindSafe(make)));
    }
}
