//! The state of draws, by its parts.

use std::sync::Arc;

use a4emu_decoder::regs::enums::PrimType;

use super::fs::state::FragmentInputs;
use super::gras::setup::PrimitiveState;
use super::gras::state::Viewports;
use super::rb::state::Targets;
use super::sp::kept::StageCache;
use super::vfd::state::Unplaced;
use super::vpc::state::VertexOutputs;
use crate::memo::{Memo, Slots};

/// What registers say, with what of it is not supported.
pub(super) type Said<T> = (T, Vec<String>);

/// What the registers and loaded state of draws were made into.
#[derive(Default)]
pub(super) struct Kept {
    /// Of the draws' packets.
    pub slots: Slots,
    /// In the order of [`crate::gpu::STAGES`]; each is taken out while its stage is looked at.
    pub stages: [Option<Box<StageCache>>; 6],
    pub attributes: Memo<(), Said<Box<[Unplaced]>>>,
    pub outputs: Memo<(), Arc<VertexOutputs>>,
    pub primitive: Memo<(PrimType, Viewports), Arc<PrimitiveState>>,
    pub inputs: Memo<(), Arc<FragmentInputs>>,
    pub targets: Memo<(), Said<Arc<Targets>>>,
}
