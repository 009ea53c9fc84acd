//! The hull shader: a lane per output vertex of a patch, with all lanes of a patch in one warp.
//!
//! Lanes of a warp run in step, so a barrier between the invocations of a patch needs no extra work. All
//! outputs of the shader are stores.

use std::ops::Range;

use crate::draw::stage_words::StageEntry;

use crate::budget::Budget;
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pc::state::PatchState;
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch};
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::primitive_inputs::InputLayout;
use crate::draw::sp::state::StageState;
use crate::draw::vertices::Vertices;
use crate::memory::Memory;
use a4emu_shader::{LANES, Warp};

/// The hull stage of a draw.
pub struct Hull<'a> {
    /// The shader.
    pub stage: &'a StageState,
    /// Patch state.
    pub state: &'a PatchState,
    /// The input vertices.
    pub vertices: &'a Vertices,
    /// The input patches.
    pub patches: &'a PrimitiveList,
}

impl Hull<'_> {
    /// Runs the stage for all patches. Each job is a warp.
    pub fn shade(&self, memory: &mut Memory, budget: &mut Budget) -> ShaderLog {
        let slots = LANES / self.state.vertices_out;
        let count = self.patches.len();
        let jobs = (0..count).step_by(slots).map(|first| first..(first + slots).min(count));
        launch(self.stage, memory, budget, Threads::All, jobs, |worker, job| self.warp(worker, job)).log
    }

    fn warp(&self, worker: &mut Worker<'_>, job: Range<usize>) {
        let layout = InputLayout::new(self.state.vertices_in, self.vertices.varying_components());
        let patches = job.clone().map(|patch| self.patches.primitive(patch));
        layout.fill_all(&mut worker.memory.inputs, self.vertices, patches);
        let lanes = WarpLanes::first(job.len() * self.state.vertices_out);
        worker.run(lanes, None, |warp, _| self.enter(warp, job));
    }

    /// Writes the inputs to registers: r0.x slot and invocation, r0.y the patch's id in its instance, r0.z
    /// its number in the draw, counted over instances (guess `patch-number`).
    fn enter(&self, warp: &mut Warp, job: Range<usize>) {
        let vertices = self.state.vertices_out;
        for lane in 0..job.len() * vertices {
            let (slot, invocation) = (lane / vertices, lane % vertices);
            let patch = job.start + slot;
            warp.full_mut(0)[lane] = (self.state.entry.word)(StageEntry {
                slot: slot as u32,
                invocation: invocation as u32,
                vertex: 0,
            });
            warp.full_mut(1)[lane] = self.patches.ids[patch];
            warp.full_mut(2)[lane] = patch as u32;
        }
    }
}
