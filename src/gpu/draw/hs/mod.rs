//! The hull shader: a lane per output vertex of a patch, with all lanes of a patch in one warp.
//!
//! Lanes of a warp run in step, so a barrier between the invocations of a patch needs no extra work. All
//! outputs of the shader are stores.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::draw::stage_words::StageEntry;

use crate::budget::Budget;
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pc::state::PatchState;
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch};
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::primitive_inputs::InputLayout;
use crate::draw::sp::state::StageState;
use crate::draw::sp::stores::{LaneStore, LaneStores};
use crate::draw::vertices::Vertices;
use crate::memory::Memory;
use a4emu_shader::{LANES, Warp};

/// Maximum number of stores of a hull shader that are recorded.
pub const MAX_HULL_STORES: usize = 1 << 16;

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
    /// Whether stores are recorded.
    pub watch: Watch,
}

/// Whether the stores of a hull shader are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Stores are not recorded.
    Off,
    /// The first [`MAX_HULL_STORES`] stores are recorded.
    Stores,
}

/// What a hull shader stores to memory.
#[derive(Default)]
pub struct HullStores {
    /// The stores, by patch and invocation, each in their order.
    pub all: Vec<HullStore>,
    /// Number of stores for which there was no room.
    pub left_out: u64,
}

/// A store of an invocation of a hull shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HullStore {
    /// Number of the patch in the draw.
    pub patch: u32,
    /// Number of the invocation in the patch: the output vertex.
    pub invocation: u32,
    /// What it stores.
    pub stored: LaneStore,
}

impl Hull<'_> {
    /// Runs the stage for all patches. Each job is a warp.
    pub fn shade(&self, memory: &mut Memory, budget: &mut Budget) -> (ShaderLog, HullStores) {
        let slots = LANES / self.state.vertices_out;
        let count = self.patches.len();
        let jobs = (0..count).step_by(slots).map(|first| first..(first + slots).min(count));
        // Jobs of a shader that stores run one after the other.
        let room = AtomicUsize::new(if self.watch == Watch::Stores { MAX_HULL_STORES } else { 0 });
        let launched = launch(self.stage, memory, budget, Threads::All, jobs, |worker, job| {
            self.watched(worker, job, &room)
        });
        let mut stores = HullStores::default();
        for mut job in launched.results {
            stores.all.append(&mut job.all);
            stores.left_out += job.left_out;
        }
        (launched.log, stores)
    }

    /// Runs a warp. Returns its stores, if they are recorded.
    fn watched(&self, worker: &mut Worker<'_>, job: Range<usize>, room: &AtomicUsize) -> HullStores {
        let first = job.start;
        worker.memory.stores =
            (self.watch == Watch::Stores).then(|| LaneStores::new(room.load(Ordering::Relaxed)));
        self.warp(worker, job);
        let Some(stores) = worker.memory.stores.take() else { return HullStores::default() };
        room.store(stores.room, Ordering::Relaxed);
        let vertices = self.state.vertices_out;
        let of_lane = |stored: LaneStore| HullStore {
            patch: (first + stored.lane / vertices) as u32,
            invocation: (stored.lane % vertices) as u32,
            stored,
        };
        let mut all: Vec<_> = stores.all.into_iter().map(of_lane).collect();
        all.sort_by_key(|store| store.stored.lane);
        HullStores { all, left_out: stores.left_out }
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
