//! Dispatches: workgroups of warps that share memory and barriers.
pub mod inspect;
pub mod state;

use crate::budget::Budget;
use crate::draw::sp::groups::launch_groups;
use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::log::ShaderLog;
use crate::memory::Memory;
use a4emu_shader::{LANES, Lanes, Outcome, Warp};
use state::{DispatchState, GroupId, put};

/// A warp of a workgroup, with the private memory of its lanes.
struct Member {
    warp: Warp,
    private: Vec<u8>,
}

impl Member {
    /// Runs the warp until it ends, waits or faults, as [`Worker::resume`] does.
    fn resume(mut self, worker: &mut Worker<'_>) -> (Option<Outcome>, Self) {
        worker.warp = self.warp;
        worker.memory.swap_private(&mut self.private);
        let outcome = worker.resume(None);
        worker.memory.swap_private(&mut self.private);
        (outcome, Self { warp: std::mem::take(&mut worker.warp), private: self.private })
    }
}

impl DispatchState {
    /// Runs all groups, x fastest. Each job is a group.
    pub fn run(&self, memory: &mut Memory, budget: &mut Budget) -> ShaderLog {
        if self.groups.contains(&0) {
            return ShaderLog::default();
        }
        let work = |worker: &mut Worker<'_>, group| self.group(worker, group);
        let count = self.groups.iter().fold(1u64, |count, n| count.saturating_mul(u64::from(*n)));
        launch_groups(&self.stage, memory, budget, count, self.group_ids(), work)
    }

    /// Returns the ids of all groups, x fastest.
    fn group_ids(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [width, height, depth] = self.groups;
        let rows = (0..depth).flat_map(move |z| (0..height).map(move |y| [y, z]));
        rows.flat_map(move |[y, z]| (0..width).map(move |x| [x, y, z]))
    }

    /// Runs one workgroup. Every warp reaches the next barrier before any warp continues.
    fn group(&self, worker: &mut Worker<'_>, group: [u32; 3]) {
        let mut running = self.start(worker, group);
        while !running.is_empty() {
            let mut waiting = Vec::new();
            for member in running {
                match member.resume(worker) {
                    (Some(Outcome::Barrier), member) => waiting.push(member),
                    (Some(Outcome::Ended), member) => worker.reuse_warp(member.warp),
                    (Some(Outcome::Fault(_)) | None, _) => return,
                }
            }
            running = waiting;
        }
    }

    /// Prepares the warps of a group before their first instruction.
    fn start(&self, worker: &mut Worker<'_>, group: [u32; 3]) -> Vec<Member> {
        let constant = match self.group {
            Some(GroupId::Constant(id)) => Some(id),
            Some(GroupId::Shared(_)) | None => None,
        };
        worker.begin_group(constant.map(|id| move |constants: &mut [u32]| put(constants, Some(id), &group)));
        let count = self.size.iter().product::<u32>() as usize;
        let start = |first: usize| {
            let lanes = WarpLanes::first(count - first);
            let warp = worker.warp_of_group(lanes, |warp, _| self.enter(warp, group, first as u32));
            Member { warp, private: Vec::new() }
        };
        (0..count).step_by(LANES).map(start).collect()
    }

    /// Writes the ids of a group, and the local ids of its invocations from `first` on, to registers.
    fn enter(&self, warp: &mut Warp, group: [u32; 3], first: u32) {
        if let Some(GroupId::Shared(id)) = self.group {
            (id..).zip(group).for_each(|(id, value)| warp.set_shared(id, value));
        }
        let axis = |f: &dyn Fn(u32) -> u32| Lanes(std::array::from_fn(|lane| f(first + lane as u32)));
        if let Some(id) = self.linear_id {
            *warp.full_mut(id) = axis(&|i| i);
        }
        let Some(id) = self.local_id else { return };
        let [width, height, _] = self.size;
        *warp.full_mut(id) = axis(&|i| i % width);
        *warp.full_mut(id + 1) = axis(&|i| i / width % height);
        *warp.full_mut(id + 2) = axis(&|i| i / (width * height));
    }
}
