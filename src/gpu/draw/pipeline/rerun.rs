//! Draws of a buffer that runs again for the next tile: they are drawn once more without a look at the state of each.
//!
//! Drivers run one buffer of draws for each tile, and all that changes in between is where the tile lies. Frames of
//! hundreds of small draws spend more on finding out that nothing else has than on drawing.

mod noting;

use std::sync::Arc;

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::fs::batch::reads;
use crate::draw::fs::state::FragmentState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::rb::state::Targets;
use crate::draw::sp::state::StageState;
use crate::draw::vs::VertexState;
use crate::gpu::Gpu;
use crate::regfile::{Remade, Sources};

use super::draw_first_layer;
use super::late::{Resolves, overlap, waits_for};
use super::record::record_end;

pub(super) use noting::{Recorder, note, note_call, record_culled};
pub use noting::{begin, end, note_memory, pay};

/// Draws of a buffer that are known.
#[derive(Default)]
pub struct IbReplay {
    draws: Vec<Draw>,
    /// What it costs to come from the last of them to the end, in units of the budget.
    rest: u64,
    /// What they are drawn to.
    targets: Vec<TileBinding>,
    /// Memory that they are made of: address and bytes.
    memory: Vec<(u32, u32)>,
    /// Their vertex and fragment stages.
    stages: Vec<Arc<StageState>>,
    /// When the first draw was noted, as [`Memory::now`](crate::memory::Memory::now) counts.
    time: u64,
}

/// A draw that is known.
struct Draw {
    /// Address of its packet.
    address: u32,
    call: DrawCall,
    primitive: Arc<PrimitiveState>,
    fragment: FragmentState,
    /// Which of the targets are its.
    targets: usize,
    made: Made,
    /// What it costs to come to it from the one before it, in units of the budget.
    units: u64,
}

/// Primitives of a draw.
enum Made {
    /// These.
    Known(Arc<Primitives>),
    /// What is kept in this slot for the draw of such vertices.
    Kept(usize, Box<VertexState>),
}

/// Targets, and what they are made of.
struct TileBinding {
    /// As they were, and of what.
    first: Arc<Targets>,
    sources: Sources,
    /// As they are for the tile that is drawn now.
    now: Arc<Targets>,
}

impl IbReplay {
    /// How many draws there are.
    pub fn count(&self) -> usize {
        self.draws.len()
    }

    /// Makes them ready for the tile that registers say, with `room` for so many bytes of primitives. False if they may
    /// be others: it is for the caller to know that registers and loaded state are the same but for the tile.
    pub fn make_ready(&mut self, gpu: &mut Gpu, room: &mut usize) -> bool {
        let is_unchanged = |(address, len): &(u32, u32)| gpu.mem.is_unchanged(*address, *len, self.time);
        let is_ready = are_unseen(gpu)
            && gpu.pipeline.unmade.is_empty()
            && self.memory.iter().all(is_unchanged)
            && !waits_for(gpu, |buffer| self.reads(buffer));
        let jit = gpu.pipeline.programs.jit;
        self.stages.iter().for_each(|stage| stage.program.prepare(jit));
        is_ready
            && self.draws.iter_mut().all(|draw| draw.find(gpu, room))
            && self.targets.iter_mut().all(|targets| targets.follow(gpu))
    }

    /// Whether one of them may read this buffer.
    fn reads(&self, buffer: (u32, u32)) -> bool {
        self.memory.iter().any(|(address, len)| overlap(buffer, (*address, (*len).into())))
            || self.stages.iter().any(|stage| reads(stage, buffer))
    }

    /// Draws what it is ready for, as their packets would, as long as that can be paid. How many those were.
    pub fn run(&mut self, gpu: &mut Gpu) -> usize {
        let Self { draws, targets, .. } = self;
        let mut ran = 0;
        while ran < draws.len() && draws[ran].run(gpu, targets) {
            ran += 1;
        }
        gpu.at.frame_draw = gpu.cp.frame_draws.count();
        ran
    }

    /// Pays for the packets behind the last draw, if that can be paid.
    pub fn pay_rest(&self, gpu: &mut Gpu) -> bool {
        pays(gpu, self.rest)
    }
}

/// Whether nobody looks at draws one by one, who may then be drawn together.
fn are_unseen(gpu: &Gpu) -> bool {
    let pipeline = &gpu.pipeline;
    pipeline.resolves != Resolves::AtOnce
        && pipeline.watch.is_none()
        && pipeline.costs.is_none()
        && pipeline.reasons.is_none()
        && gpu.fidelity.is_none()
}

/// Takes so many units from the budget, or nothing if they are not there.
fn pays(gpu: &mut Gpu, units: u64) -> bool {
    let count = units / Work::Copy16.price();
    gpu.budget.affords(Work::Copy16, count) && gpu.budget.take(Work::Copy16, count)
}

impl Draw {
    /// Finds its primitives, unless they are known; false if there are none, or no room for them.
    fn find(&mut self, gpu: &mut Gpu, room: &mut usize) -> bool {
        let Made::Kept(slot, vertex) = &self.made else { return true };
        let found = gpu.pipeline.primitives.find(*slot, vertex, &self.primitive, &gpu.mem);
        let Some(made) = found.filter(|made| made.bytes() <= *room) else { return false };
        *room -= made.bytes();
        self.made = Made::Known(made);
        true
    }

    /// Draws it; false, and nothing done, if what comes before it cannot be paid.
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
        gpu.pipeline.stats.reruns += 1;
        gpu.pipeline.found += 1;
        let (primitive, fragment) = (self.primitive.clone(), self.fragment.clone());
        let state = DrawState { primitive, fragment, targets: targets[self.targets].now.clone() };
        let result = draw_first_layer(gpu, &self.call, state, made.clone());
        record_end(gpu, result);
        gpu.at.draws += 1;
        true
    }
}

impl TileBinding {
    /// They are those of the tile that registers say; false if that takes more than was known.
    fn follow(&mut self, gpu: &mut Gpu) -> bool {
        let mut unsupported = Vec::new();
        match gpu.regs.made_of(&self.sources, |regs| Targets::snapshot(regs, &mut unsupported)) {
            Remade::Same => self.now = self.first.clone(),
            Remade::New(targets) => self.now = Arc::new(targets),
            Remade::OfOthers => return false,
        }
        unsupported.is_empty()
    }
}
