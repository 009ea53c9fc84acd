//! Inspection of one warp of a draw or dispatch before its first instruction, for a debugger.

use std::sync::Arc;

use super::stage_words::{EntryLayout, StageEntry};

use super::fs::inspect::WarpPixels;
use super::sp::catch::Wanted;
use super::sp::state::StageState;
use super::stop::Stop;
use super::vertex_stages::VertexStages;
use crate::budget::Budget;
use crate::fault::Fault;
use crate::machine::Stage;
use crate::memory::Memory;
use a4emu_shader::{Environment, LANES, Program, Warp, lanes_of};

/// Selects a warp or lane of a draw or dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The n-th warp of the stage. For fragments: the n-th 8x4 block that a primitive touches.
    Warp(u32),
    /// The n-th vertex that the draw lists, or the n-th point of the tessellator.
    Vertex(u32),
    /// A pixel of the render target.
    Pixel {
        /// Column and row.
        at: [i32; 2],
        /// Number of the primitive; otherwise the last one that covers the pixel.
        primitive: Option<u32>,
        /// Number of the sample, if the shader runs per sample; otherwise the first covered one.
        sample: Option<usize>,
    },
    /// An invocation: x, y, z of a dispatch; or primitive (or patch), its invocation and, for a geometry
    /// shader, vertex.
    Invocation([u32; 3]),
}

impl Place {
    /// The words for what selects the warp, with their article.
    fn kind(self) -> &'static str {
        match self {
            Self::Warp(_) => "its number",
            Self::Vertex(_) => "a vertex",
            Self::Pixel { .. } => "a pixel",
            Self::Invocation(_) => "an invocation",
        }
    }
}

/// A warp before its first instruction. Its program can run one instruction per step.
pub struct Launch<'l> {
    /// The program's words.
    pub words: &'l [u64],
    /// The lowered program.
    pub program: &'l Program,
    /// The warp, with inputs in its registers.
    pub warp: Warp,
    /// Environment of the warp.
    pub environment: &'l mut dyn Environment,
    /// The selected lane.
    pub lane: Option<usize>,
    /// Pixels of the warp, for a fragment shader.
    pub pixels: Option<WarpPixels>,
}

/// Result of a request to inspect a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// The warp was passed on.
    Done,
    /// This run of the draw lacks the warp. A run for another tile may have it.
    NotHere,
}

impl VertexStages {
    /// Returns the request for the warp of `stage` at `place`, and its lane if already known.
    ///
    /// # Errors
    /// A fault if the stage has no such place.
    pub(super) fn wanted(
        &self,
        stage: Stage,
        place: Place,
        memory: &Memory,
        budget: &mut Budget,
    ) -> Result<(Wanted, Option<usize>), Stop> {
        let by_number = |number: usize| (Wanted::Number((number / LANES) as u32), Some(number % LANES));
        Ok(match (stage, place) {
            (_, Place::Warp(number)) => (Wanted::Number(number), None),
            (Stage::VS, Place::Vertex(number)) => by_number(self.vertex.job_of(memory, budget, number)?),
            (Stage::DS, Place::Vertex(number)) => by_number(number as usize),
            (Stage::HS, Place::Invocation(what)) => {
                let entry = self.tessellation.as_ref().map(|it| it.patches.entry);
                (Wanted::Lane(Box::new(move |warp| hull_lane(warp, entry?, what))), None)
            }
            (Stage::GS, Place::Invocation(what)) => {
                let entry = self.geometry.as_ref().map(|it| it.entry);
                (Wanted::Lane(Box::new(move |warp| geometry_lane(warp, entry?, what))), None)
            }
            _ => {
                let what = place.kind();
                return Err(Fault::Draw(format!("a warp of {stage:?} is not found by {what}")).into());
            }
        })
    }

    /// Returns the state of `stage`, if the draw has that stage.
    pub(super) fn stage_mut(&mut self, stage: Stage) -> Option<&mut Arc<StageState>> {
        match stage {
            Stage::VS => Some(&mut self.vertex.stage),
            Stage::HS => self.tessellation.as_mut().map(|it| &mut it.hull),
            Stage::DS => self.tessellation.as_mut().map(|it| &mut it.domain.stage),
            Stage::GS => self.geometry.as_mut().map(|it| &mut it.stage),
            Stage::FS | Stage::CS => None,
        }
    }
}

/// Returns the lane with `[patch, invocation, _]`.
fn hull_lane(warp: &Warp, layout: EntryLayout, [patch, invocation, _]: [u32; 3]) -> Option<usize> {
    started(warp)
        .find(|lane| warp.full(2)[*lane] == patch && entry(warp, layout, *lane).invocation == invocation)
}

/// Returns the lane with `[primitive, invocation, vertex]`.
fn geometry_lane(
    warp: &Warp,
    layout: EntryLayout,
    [primitive, invocation, vertex]: [u32; 3],
) -> Option<usize> {
    started(warp).find(|lane| {
        let entry = entry(warp, layout, *lane);
        warp.full(1)[*lane] == primitive && entry.invocation == invocation && entry.vertex == vertex
    })
}

fn entry(warp: &Warp, layout: EntryLayout, lane: usize) -> StageEntry {
    (layout.entry)(warp.full(0)[lane])
}

fn started(warp: &Warp) -> impl Iterator<Item = usize> {
    lanes_of(warp.started())
}
