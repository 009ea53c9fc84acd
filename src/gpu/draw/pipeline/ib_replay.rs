//! Replay of an indirect buffer (IB) for the next tile: its draws run again without checking the state of
//! each.
//!
//! Drivers run one buffer of draws for each tile, and only the position of the tile changes in between.
//! Frames with hundreds of small draws spend more time on checking the state than on drawing.

mod recorder;

use std::sync::Arc;

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::fs::state::FragmentState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::queue::batch::reads;
use crate::draw::rb::state::Targets;
use crate::draw::sp::state::StageState;
use crate::draw::vs::VertexState;
use crate::gpu::Gpu;
use crate::memo::MemoryInputs;
use crate::regfile::{Recomputed, Sources};

use super::draw_first_layer;
use super::hazards::overlap;
use super::observation::Observation;
use super::record::record_end;

pub(super) use recorder::{Recorder, note, note_call, record_culled};
pub use recorder::{begin, end, note_memory, pay};

/// Recorded draws of an indirect buffer.
#[derive(Default)]
pub struct IbReplay {
    draws: Vec<Draw>,
    /// Cost of the packets after the last draw, in budget units.
    rest: u64,
    /// Targets of the draws.
    targets: Vec<TileBinding>,
    /// Memory that the draws depend on, from the first recorded draw on.
    memory: MemoryInputs,
    /// Vertex and fragment stages of the draws.
    stages: Vec<Arc<StageState>>,
}

/// A recorded draw.
struct Draw {
    /// Address of the draw packet.
    address: u32,
    call: DrawCall,
    primitive: Arc<PrimitiveState>,
    fragment: FragmentState,
    /// Index of its targets in the list.
    targets: usize,
    made: Made,
    /// Cost of the packets between the previous draw and this one, in budget units.
    units: u64,
}

/// Primitives of a draw.
enum Made {
    /// Primitives that are present.
    Known(Arc<Primitives>),
    /// Primitives to look up in this cache slot, for this vertex state.
    Cached(usize, Box<VertexState>),
}

/// Targets with the registers that they depend on.
struct TileBinding {
    /// Targets at recording, with their register sources.
    first: Arc<Targets>,
    sources: Sources,
    /// Targets for the current tile.
    now: Arc<Targets>,
}

impl IbReplay {
    /// Returns the number of draws.
    pub fn count(&self) -> usize {
        self.draws.len()
    }

    /// Prepares the draws for the tile that the registers describe, with `room` bytes for primitives. Returns
    /// false if the draws may differ. The caller must check that registers and loaded state are the same
    /// except for the tile.
    pub fn make_ready(&mut self, gpu: &mut Gpu, room: &mut usize) -> bool {
        let is_ready = Observation::allows_deferral(gpu)
            && gpu.pipeline.geometry.is_empty()
            && self.memory.are_unchanged(&gpu.mem)
            && gpu.pipeline.queue.writer(|buffer| self.reads(buffer)).is_none();
        let jit = gpu.pipeline.programs.jit;
        self.stages.iter().for_each(|stage| stage.program.prepare(jit));
        is_ready
            && self.draws.iter_mut().all(|draw| draw.find(gpu, room))
            && self.targets.iter_mut().all(|targets| targets.follow(gpu))
    }

    /// Returns whether a draw may read this buffer.
    fn reads(&self, buffer: (u32, u32)) -> bool {
        self.memory.ranges().iter().any(|(address, len)| overlap(buffer, (*address, (*len).into())))
            || self.stages.iter().any(|stage| reads(stage, buffer))
    }

    /// Runs the prepared draws as their packets would, as long as the budget lasts. Returns how many ran.
    pub fn run(&mut self, gpu: &mut Gpu) -> usize {
        let Self { draws, targets, .. } = self;
        let mut ran = 0;
        while ran < draws.len() && draws[ran].run(gpu, targets) {
            ran += 1;
        }
        gpu.at.frame_draw = gpu.cp.frame_draws.count();
        ran
    }

    /// Pays for the packets after the last draw. Returns false if the budget is too small.
    pub fn pay_rest(&self, gpu: &mut Gpu) -> bool {
        pays(gpu, self.rest)
    }
}

/// Takes units from the budget. Takes none and returns false if there are too few.
fn pays(gpu: &mut Gpu, units: u64) -> bool {
    let count = units / Work::Copy16.price();
    gpu.budget.affords(Work::Copy16, count) && gpu.budget.take(Work::Copy16, count)
}

impl Draw {
    /// Finds the primitives in the cache, unless present. Returns false if they are missing or exceed `room`.
    fn find(&mut self, gpu: &mut Gpu, room: &mut usize) -> bool {
        let Made::Cached(slot, vertex) = &self.made else { return true };
        let found = gpu.pipeline.primitives.find(*slot, vertex, &self.primitive, &gpu.mem);
        let Some(made) = found.filter(|made| made.bytes() <= *room) else { return false };
        *room -= made.bytes();
        self.made = Made::Known(made);
        true
    }

    /// Runs the draw. Returns false and does nothing if the budget does not cover the packets before it.
    fn run(&mut self, gpu: &mut Gpu, targets: &[TileBinding]) -> bool {
        let Made::Known(made) = &self.made else { return false };
        if !pays(gpu, self.units) {
            return false;
        }
        gpu.at.address = self.address;
        gpu.at.frame_draw = gpu.cp.frame_draws.number(self.address);
        let call = &mut self.call;
        (call.number, call.frame_draw, call.submit) = (gpu.at.draws, gpu.at.frame_draw, gpu.at.submit);
        gpu.pipeline.stats.draws += 1;
        gpu.pipeline.stats.replayed += 1;
        gpu.pipeline.queue.count_work(1);
        let (primitive, fragment) = (self.primitive.clone(), self.fragment.clone());
        let state = DrawState { primitive, fragment, targets: targets[self.targets].now.clone() };
        let result = draw_first_layer(gpu, &self.call, state, made.clone());
        record_end(gpu, result);
        gpu.at.draws += 1;
        true
    }
}

impl TileBinding {
    /// Updates the targets to the tile that the registers describe. Returns false if they depend on other
    /// registers now.
    fn follow(&mut self, gpu: &mut Gpu) -> bool {
        let mut unsupported = Vec::new();
        match gpu.regs.recompute(&self.sources, |regs| Targets::snapshot(regs, &mut unsupported)) {
            Recomputed::Same => self.now = self.first.clone(),
            Recomputed::New(targets) => self.now = Arc::new(targets),
            Recomputed::OtherInputs => return false,
        }
        unsupported.is_empty()
    }
}
