//! State of the geometry shader.

use std::sync::Arc;

use crate::draw::sp::state::StageState;
use crate::draw::stage_words::{EntryLayout, PrimitiveWord};
use crate::draw::topology::Topology;
use crate::draw::vpc::state::VertexOutputs;

/// State of the geometry stage.
pub struct GeometryState {
    /// The shader.
    pub stage: Arc<StageState>,
    /// Outputs of the shader.
    pub outputs: VertexOutputs,
    /// Layout of the word that starts an invocation.
    pub entry: EntryLayout,
    /// Reads a primitive word.
    pub read_word: fn(u32) -> PrimitiveWord,
    /// Register of the primitive word.
    pub primitive_word: Option<u32>,
    /// Maximum number of vertices per invocation: 1 to 1024.
    pub max_vertices: u32,
    /// Invocations of a primitive: 1 to 32.
    pub invocations: u32,
    /// Output type: points, line strips or triangle strips.
    pub topology: Topology,
    /// Selection of the layer of primitives.
    pub layers: Layers,
}

impl GeometryState {
    /// Returns whether both make the same vertices from the same primitives.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { stage, outputs, entry: _, read_word: _, primitive_word, .. } = self;
        let numbers = |state: &Self| (state.max_vertices, state.invocations, state.topology, state.layers);
        numbers(self) == numbers(other)
            && (outputs, primitive_word) == (&other.outputs, &other.primitive_word)
            && stage.is_same(&other.stage)
            && stage.has_same_buffers(&other.stage)
    }
}

/// Selection of the layer of the render target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// All primitives use the first layer.
    First,
    /// The primitive word selects the layer.
    Chosen,
}
