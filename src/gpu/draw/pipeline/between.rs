//! What the stages between vertex fetch and set-up take and make, for a tool that shows it.

use crate::draw::ds::DomainPoint;
use crate::draw::gs::emitted::Maker;
use crate::draw::hs::HullStores;
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::Factors;
use crate::draw::vertices::Vertices;

/// What the stages of a draw pass on.
#[derive(Default)]
pub struct Between {
    /// The vertices that the vertex shader makes.
    pub shaded: Vertices,
    /// The patches, or the primitives that the geometry shader takes.
    pub primitives: PrimitiveList,
    /// What the tessellation stages make.
    pub tessellated: Option<Tessellated>,
    /// The invocations of the geometry shader that made vertices, in the order of these.
    pub makers: Option<Vec<Maker>>,
}

/// What the tessellation stages of a draw make.
pub struct Tessellated {
    /// Patch state.
    pub state: PatchState,
    /// What the hull shader stores.
    pub stores: HullStores,
    /// The factors of each patch.
    pub factors: Vec<Factors>,
    /// The points that the domain shader runs for.
    pub points: Vec<DomainPoint>,
    /// The primitives of these points.
    pub primitives: PrimitiveList,
    /// The vertices that the domain shader makes. `None` if they reach set-up.
    pub shaded: Option<Vertices>,
}
