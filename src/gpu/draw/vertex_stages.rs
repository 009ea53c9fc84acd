//! The stages between the registers and set-up: vertices, then whatever works on whole
//! primitives.

use std::sync::Arc;

use a4emu_decoder::regs::enums::PrimType;

use super::ds::state::DomainState;
use super::gras::state::Viewports;
use super::gs::state::{GeometryState, Layers};
use super::pc::assembler::{PrimitiveList, Provoking};
use super::pc::state::PatchState;
use super::sp::state::StageState;
use super::vpc::state::FeedbackState;
use super::vs::VertexState;

/// What the stages in front of set-up need of the registers.
pub struct VertexStages {
    /// Vertex fetch and shader.
    pub vertex: VertexState,
    /// Hull shader, tessellator, domain shader.
    pub tessellation: Option<Tessellation>,
    /// Geometry shader.
    pub geometry: Option<GeometryState>,
    /// Transform feedback.
    pub feedback: Option<FeedbackState>,
    /// Type of what the draw packet lists.
    pub topology: PrimType,
    /// Which vertex of a primitive in a strip is kept in its place.
    pub provoking: Provoking,
    /// Number of the draw.
    pub draw: u32,
}

/// What becomes of patches.
pub struct Tessellation {
    /// The hull shader.
    pub hull: Arc<StageState>,
    /// The tessellator.
    pub patches: PatchState,
    /// The domain shader.
    pub domain: DomainState,
}

impl VertexStages {
    /// Type of the list that reaches set-up.
    pub fn topology(&self) -> PrimType {
        match (&self.geometry, &self.tessellation) {
            (Some(geometry), _) => geometry.topology,
            (None, Some(tessellation)) => tessellation.patches.topology(),
            (None, None) => self.topology,
        }
    }

    /// Whether the vertex stage is all there is.
    pub fn is_plain(&self) -> bool {
        self.geometry.is_none() && self.tessellation.is_none()
    }

    /// Whether what reaches set-up follows from the vertices, and nothing else is done.
    pub fn is_reusable(&self) -> bool {
        self.is_plain() && self.feedback.is_none()
    }

    /// Whether they write memory.
    pub fn store(&self) -> bool {
        let geometry = self.geometry.iter().map(|geometry| &geometry.stage);
        let tessellation = self.tessellation.iter().flat_map(|it| [&it.hull, &it.domain.stage]);
        let mut stages = geometry.chain(tessellation).chain([&self.vertex.stage]);
        self.feedback.is_some() || stages.any(|stage| stage.stores())
    }

    /// Which viewports primitives go through.
    pub fn viewports(&self) -> Viewports {
        match self.geometry.as_ref().and_then(|geometry| geometry.primitive_word) {
            Some(_) => Viewports::Chosen,
            None => Viewports::First,
        }
    }

    /// What chooses the layer of the targets.
    pub fn layers(&self) -> Layers {
        self.geometry.as_ref().map_or(Layers::First, |geometry| geometry.layers)
    }

    /// The whole primitives of `list` that the first stage after the vertices takes; `None` when it
    /// cannot take their type.
    pub fn whole_primitives(&self, list: &[u32]) -> Option<PrimitiveList> {
        let per_instance = self.vertex.fetch.list_len();
        match &self.tessellation {
            Some(tessellation) => {
                Some(PrimitiveList::patches(tessellation.patches.vertices_in, list, per_instance))
            }
            None => PrimitiveList::assemble(self.topology, self.provoking, list, per_instance),
        }
    }
}
