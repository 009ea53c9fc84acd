//! Cached state of draws, by parts.

use std::sync::Arc;

use crate::draw::topology::Topology;

use super::fs::state::FragmentInputs;
use super::gras::setup::PrimitiveState;
use super::gras::state::Viewports;
use super::rb::state::Targets;
use super::sp::stage_cache::StageCache;
use super::vfd::state::{Attribute, Unplaced};
use super::vpc::state::VertexOutputs;
use crate::memo::{BySlot, Memo, Slots};

/// State from registers, with its unsupported features.
pub(super) type WithUnsupported<T> = (T, Vec<String>);

/// Cached snapshots of registers and loaded state.
#[derive(Default)]
pub(super) struct StateCache {
    /// Slots of the draw packets.
    pub slots: Slots,
    /// Stage caches in the order of [`crate::machine::STAGES`]. Each is taken out during its use.
    pub stages: [Option<Box<StageCache>>; 6],
    pub attributes: Memo<(), WithUnsupported<Box<[Unplaced]>>>,
    /// The attributes of each slot's last draw, with their places.
    pub placed: BySlot<Arc<[Attribute]>>,
    pub outputs: Memo<(), Arc<VertexOutputs>>,
    pub primitive: Memo<(Topology, Viewports), Arc<PrimitiveState>>,
    pub inputs: Memo<(), Arc<FragmentInputs>>,
    pub targets: Memo<(), WithUnsupported<Arc<Targets>>>,
}
