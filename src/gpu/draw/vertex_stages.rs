//! The stages before set-up: vertices, then the stages that take whole primitives.

use std::sync::Arc;

use crate::draw::topology::Topology;

use super::ds::state::DomainState;
use super::gras::state::Viewports;
use super::gs::state::{GeometryState, Layers};
use super::pc::assembler::{PrimitiveList, Provoking};
use super::pc::state::PatchState;
use super::sp::state::StageState;
use super::vpc::state::FeedbackState;
use super::vs::VertexState;
use crate::machine::Stage;
use crate::pass::Pass;

/// State of the stages before set-up. What few draws have is in boxes: the state of most draws is compared for each tile.
pub struct VertexStages {
    /// Vertex fetch and shader.
    pub vertex: VertexState,
    /// Hull shader, tessellator, domain shader.
    pub tessellation: Option<Box<Tessellation>>,
    /// Geometry shader.
    pub geometry: Option<Box<GeometryState>>,
    /// Transform feedback.
    pub feedback: Option<Box<FeedbackState>>,
    /// Primitive type of the draw packet.
    pub topology: Topology,
    /// Provoking vertex of a primitive.
    pub provoking: Provoking,
    /// Pass of the draw.
    pub pass: Pass,
}

/// State of the tessellation stages.
pub struct Tessellation {
    /// The hull shader.
    pub hull: Arc<StageState>,
    /// The tessellator.
    pub patches: PatchState,
    /// The domain shader.
    pub domain: DomainState,
}

impl Tessellation {
    fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (&self.domain, &other.domain);
        self.patches.is_same(&other.patches)
            && self.hull.is_same(&other.hull)
            && self.hull.has_same_buffers(&other.hull)
            && one.stage.has_same_buffers(&two.stage)
            && (&one.outputs, one.coordinate) == (&two.outputs, two.coordinate)
            && one.stage.is_same(&two.stage)
    }
}

impl VertexStages {
    /// Returns the type of the list that reaches set-up.
    pub fn topology(&self) -> Topology {
        match (&self.geometry, &self.tessellation) {
            (Some(geometry), _) => geometry.topology,
            (None, Some(tessellation)) => tessellation.patches.topology(),
            (None, None) => self.topology,
        }
    }

    /// Returns whether the vertex stage is the only stage.
    pub fn is_plain(&self) -> bool {
        self.geometry.is_none() && self.tessellation.is_none()
    }

    /// Returns whether the primitives depend only on the vertices, and the stages have no other results.
    pub fn is_reusable(&self) -> bool {
        self.is_plain() && self.feedback.is_none()
    }

    /// Returns whether the draw may run again for the next tile, and makes the same primitives where its stages find the same
    /// memory. The bypass pass has no tiles.
    pub fn may_repeat(&self) -> bool {
        let store = self.later().any(|stage| stage.stage != Stage::HS && stage.stores());
        let is_anywhere = self.geometry.iter().any(|geometry| geometry.stage.reads_buffers());
        self.feedback.is_none() && self.pass != Pass::Bypass && !store && !is_anywhere
    }

    /// Returns whether both make the same primitives from the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        let tessellation = match (&self.tessellation, &other.tessellation) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let geometry = match (&self.geometry, &other.geometry) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let lists = (self.topology, self.provoking) == (other.topology, other.provoking);
        lists && tessellation && geometry && self.vertex.is_same(&other.vertex)
    }

    /// Returns whether the stages write memory.
    pub fn store(&self) -> bool {
        self.feedback.is_some() || self.later().chain([&*self.vertex.stage]).any(StageState::stores)
    }

    /// Returns the stages behind the vertex shader.
    pub fn later(&self) -> impl Iterator<Item = &StageState> + Clone {
        let patches = self.tessellation.iter().flat_map(|it| [&it.hull, &it.domain.stage]);
        patches.chain(self.geometry.iter().map(|it| &it.stage)).map(|stage| &**stage)
    }

    /// Returns which viewports primitives use.
    pub fn viewports(&self) -> Viewports {
        match self.geometry.as_ref().and_then(|geometry| geometry.primitive_word) {
            Some(_) => Viewports::Chosen,
            None => Viewports::First,
        }
    }

    /// Returns the selection of the layer of the targets.
    pub fn layers(&self) -> Layers {
        self.geometry.as_ref().map_or(Layers::First, |geometry| geometry.layers)
    }

    /// Returns the primitives of `list` for the first stage after the vertices, or `None` when it cannot take
    /// their type.
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
