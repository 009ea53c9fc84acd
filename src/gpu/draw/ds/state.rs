//! State of the domain shader.

use std::sync::Arc;

use crate::draw::sp::state::StageState;
use crate::draw::vpc::state::VertexOutputs;

/// The domain shader of a draw.
pub struct DomainState {
    /// The shader.
    pub stage: Arc<StageState>,
    /// Outputs of the shader.
    pub outputs: VertexOutputs,
    /// Registers of u and v.
    pub coordinate: [Option<u32>; 2],
}
