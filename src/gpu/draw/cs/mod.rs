//! Dispatches: workgroups of warps that share memory and barriers.
pub mod inspect;
pub mod state;

use crate::budget::Budget;
use crate::draw::sp::groups::launch_groups;
use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::log::ShaderLog;
use crate::memory::Memory;
use a4emu_shader::{LANES, Lanes, Outcome, Turn, Warp, WavePlace, exchange, turn};
use state::{DispatchState, GroupId, put};

/// A warp of a workgroup, with the private memory of its lanes.
struct Member {
    warp: Warp,
    private: Vec<u8>,
    /// Number of its wave in the group.
    wave: usize,
    /// Whether it waits at a barrier.
    waits: bool,
}

impl Member {
    /// Runs the warp until it ends, waits or faults, as [`Worker::resume`] does.
    fn resume(&mut self, worker: &mut Worker<'_>) -> Option<Outcome> {
        worker.charge_turn();
        std::mem::swap(&mut worker.warp, &mut self.warp);
        worker.memory.swap_private(&mut self.private);
        let outcome = worker.resume(None);
        worker.memory.swap_private(&mut self.private);
        std::mem::swap(&mut worker.warp, &mut self.warp);
        outcome
    }
}

/// Runs warps until each has ended or waits. Returns those that wait. `None` if a fault or the budget ends the group.
fn to_barrier(worker: &mut Worker<'_>, warps: Vec<Member>) -> Option<Vec<Member>> {
    let mut waiting = Vec::new();
    let mut warps = warps.into_iter().peekable();
    while let Some(mut member) = warps.next() {
        if member.warp.place().joined {
            let number = member.wave;
            let mut wave = vec![member];
            wave.extend(std::iter::from_fn(|| warps.next_if(|member| member.wave == number)));
            if !take_turns(worker, &mut wave, None) {
                return None;
            }
            // The others of the group follow. Then all go on.
            waiting.extend(wave.into_iter().map(|member| Member { waits: false, ..member }));
            continue;
        }
        match member.resume(worker) {
            Some(Outcome::Barrier) => waiting.push(member),
            Some(Outcome::Ended) => worker.reuse_warp(member.warp),
            Some(Outcome::Wave | Outcome::Fault(_)) | None => return None,
        }
    }
    Some(waiting)
}

/// Runs `wave`, which are warps of one wave in order, until each has ended or waits. With `other`, one more warp of the wave
/// that somebody else runs, until that one is the next. Returns false if a fault or the budget ends the group.
fn take_turns(worker: &mut Worker<'_>, wave: &mut Vec<Member>, mut other: Option<&mut Warp>) -> bool {
    loop {
        let running = wave.iter_mut().filter(|member| !member.waits).map(|member| &mut member.warp);
        let next = turn(&mut in_order(running, &mut other));
        let number = match next {
            None => return true,
            Some(Turn::Exchange) => {
                worker.charge_turn();
                let all = wave.iter_mut().map(|member| &mut member.warp);
                exchange(&worker.stage.program, &mut in_order(all, &mut other));
                continue;
            }
            Some(Turn::Run(number)) => number,
        };
        let Some(at) = wave.iter().position(|member| member.warp.place().warp == number) else { return true };
        match wave[at].resume(worker) {
            Some(Outcome::Ended) => worker.reuse_warp(wave.remove(at).warp),
            Some(Outcome::Barrier) => wave[at].waits = true,
            Some(Outcome::Wave) => {}
            Some(Outcome::Fault(_)) | None => return false,
        }
    }
}

/// The `warps`, which are in the order of the wave, and `other`.
fn in_order<'w>(
    warps: impl Iterator<Item = &'w mut Warp>,
    other: &'w mut Option<&mut Warp>,
) -> Vec<&'w mut Warp> {
    let mut warps = warps.collect::<Vec<_>>();
    if let Some(other) = other.as_deref_mut() {
        let at = warps.partition_point(|warp| warp.place().warp < other.place().warp);
        warps.insert(at, other);
    }
    warps
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
            let Some(waiting) = to_barrier(worker, running) else { return };
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
            let warp = worker.warp_of_group(lanes, |warp, _| {
                self.enter(warp, group, first as u32);
                if let Some(place) = self.place_in_wave(first / LANES, count) {
                    warp.join(place);
                }
            });
            Member { warp, private: Vec::new(), wave: first / LANES / self.wave, waits: false }
        };
        (0..count).step_by(LANES).map(start).collect()
    }

    /// The place of the warp with a number in its wave, if the shader asks for it. A group has `count` invocations.
    fn place_in_wave(&self, number: usize, count: usize) -> Option<WavePlace> {
        let warp = number % self.wave;
        let of_wave = self.wave.min(count.div_ceil(LANES) - (number - warp));
        let place = WavePlace { warp, lanes: self.wave * LANES, joined: of_wave > 1 };
        self.stage.summary.exchanges.then_some(place)
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
