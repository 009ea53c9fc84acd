//! Blocks of draws: the data that the page unpacks only when it needs it. So a page of many draws opens as
//! quickly as a page of few.

use serde::Serialize;
use serde_json::value::RawValue;

use super::frame::{Draw, Frame, MeshOrWhy, Patch, Seen};
use super::pack::packed;

/// Number of draws in a block. The window of deflate is full after fewer draws, so larger blocks are hardly
/// smaller in sum.
pub const DRAWS: usize = 64;

/// The data that the blocks of a frame hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// State, changes, stored memory, counts of instructions, mesh and packets.
    Texts,
    /// Changed pixels, what happened to pixels, and their costs.
    Pictures,
}

#[derive(Serialize)]
struct Texts<'a> {
    state: Option<&'a RawValue>,
    changed: &'a [String],
    /// Warps and lanes by instruction, for each shader of the draw.
    counts: Vec<[&'a [u64]; 2]>,
    mesh: &'a MeshOrWhy,
    packets: &'a [String],
    written: &'a [Vec<String>],
}

#[derive(Serialize)]
struct Pictures<'a> {
    patches: &'a [Patch],
    copies: &'a [[u32; 4]],
    reasons: &'a [Patch],
    cost_map: &'a [Patch],
}

impl<'a> Texts<'a> {
    fn of(Draw { seen, packets, .. }: &'a Draw) -> Self {
        let counts = seen.shader_use.iter().map(|used| [&used.warps[..], &used.lanes]).collect();
        let Seen { changed, mesh, written, .. } = seen;
        Self { state: seen.state.as_deref(), changed, counts, mesh, packets, written }
    }
}

impl<'a> Pictures<'a> {
    fn of(Draw { seen, .. }: &'a Draw) -> Self {
        Self {
            patches: &seen.patches,
            copies: &seen.copies,
            reasons: &seen.reasons,
            cost_map: &seen.cost_map,
        }
    }
}

impl BlockKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Texts, Self::Pictures];

    /// The name that the page uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Texts => "texts",
            Self::Pictures => "pictures",
        }
    }

    /// Block `index` of `frame` as JSON: a list with an object for each of its draws. Empty behind the last.
    ///
    /// # Errors
    /// The call fails if the data cannot be serialized.
    pub fn json(self, frame: &Frame, index: usize) -> serde_json::Result<Vec<u8>> {
        let draws = frame.draws.chunks(DRAWS).nth(index).unwrap_or_default();
        match self {
            Self::Texts => serde_json::to_vec(&draws.iter().map(Texts::of).collect::<Vec<_>>()),
            Self::Pictures => serde_json::to_vec(&draws.iter().map(Pictures::of).collect::<Vec<_>>()),
        }
    }

    /// Block `index` as the page holds it.
    ///
    /// # Errors
    /// The call fails if the data cannot be serialized.
    pub fn packed(self, frame: &Frame, index: usize) -> anyhow::Result<String> {
        packed(&self.json(frame, index)?)
    }
}
