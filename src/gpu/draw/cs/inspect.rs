//! Inspection of one warp of a dispatch before its first instruction, for a debugger.

use a4emu_decoder::adreno::address::Address;

use crate::budget::{Budget, Work};
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::launch::{Threads, Worker, launch};
use crate::draw::sp::memory::GpuMemory;
use crate::draw::stop::Stop;
use crate::fault::Fault;
use crate::memory::Memory;
use a4emu_shader::{Environment, LANES, Lanes, Mask, Op, Refused, Warp};

use super::state::DispatchState;
use super::{Member, take_turns, to_barrier};

/// A warp of a workgroup, with the other warps that share its memory and barriers.
struct GroupWarps<'a> {
    worker: Worker<'a>,
    /// The other warps of its wave, if they exchange values.
    wave: Vec<Member>,
    /// Warps of the group that run before it.
    before: Vec<Member>,
    /// Warps of the group that run after it.
    after: Vec<Member>,
    /// Whether the budget ended the other warps. The chosen one goes on alone.
    is_cut: bool,
}

impl GroupWarps<'_> {
    /// Runs warps to the next barrier. Returns the warps that reached it.
    fn meet(&mut self, warps: Vec<Member>) -> Vec<Member> {
        if self.is_cut {
            return Vec::new();
        }
        let waiting = to_barrier(&mut self.worker, warps).unwrap_or_default();
        self.go_on_alone_if_cut();
        waiting
    }

    fn go_on_alone_if_cut(&mut self) {
        if self.worker.is_cut() {
            self.is_cut = true;
            [&mut self.wave, &mut self.before, &mut self.after].into_iter().for_each(Vec::clear);
            self.worker.allow(u64::MAX);
        }
    }
}

impl Environment for GroupWarps<'_> {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        StageEnvironment { memory: &mut self.worker.memory, quads: None }.perform(op, mask, out)
    }

    fn peek(&self, address: u64) -> Option<u8> {
        let mut byte = [0];
        self.worker.memory.gpu.get().read(Address::new(address), &mut byte).then_some(byte[0])
    }

    fn barrier(&mut self) {
        let [wave, before, after] = [&mut self.wave, &mut self.before, &mut self.after].map(std::mem::take);
        self.wave = self.meet(wave);
        self.after = self.meet(after);
        self.before = self.meet(before);
    }

    fn wave(&mut self, warp: &mut Warp) {
        take_turns(&mut self.worker, &mut self.wave, Some(warp));
        self.go_on_alone_if_cut();
    }
}

/// Selects a warp of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichWarp {
    /// The n-th warp, counted over all groups.
    Warp(u32),
    /// The warp with a global invocation id.
    Invocation([u32; 3]),
}

/// Position of a warp in a dispatch.
struct WarpPlace {
    group: [u32; 3],
    /// Number in its group.
    warp: usize,
    lane: usize,
}

impl DispatchState {
    /// Passes the chosen warp and its lane to `look`. If the shader stores, earlier groups have run. Earlier
    /// warps of the group have reached the first barrier.
    ///
    /// # Errors
    /// A fault if there is no such warp. The budget ended other warps of the group: the chosen one went on alone if that was
    /// behind its first barrier.
    pub fn inspect(
        &self,
        chosen: WhichWarp,
        memory: &mut Memory,
        budget: &mut Budget,
        look: impl FnOnce(Warp, usize, &mut dyn Environment),
    ) -> Result<(), Stop> {
        let place = self.place(chosen)?;
        if self.stage.stores() {
            let before = self.group_ids().take_while(|group| *group != place.group);
            let work = |worker: &mut Worker<'_>, group| self.group(worker, group);
            launch(&self.stage, memory, budget, Threads::This, before, work);
        }
        let mut worker = Worker::new(&self.stage, GpuMemory::ReadWrite(memory)).until(&budget.ends());
        worker.allow(budget.share(Work::Copy16, 1));
        let mut before = self.start(&mut worker, place.group);
        let nothing = || Fault::Draw("there is no such warp".into());
        let is_joined = before.get(place.warp).ok_or_else(nothing)?.warp.place().joined;
        let warps = if is_joined { self.wave } else { 1 };
        let mut wave = before.split_off(place.warp - place.warp % warps);
        let after = wave.split_off(warps.min(wave.len()));
        let warp = wave.remove(place.warp % warps);
        let mut company = GroupWarps { worker, wave, before: Vec::new(), after, is_cut: false };
        company.before = company.meet(before);
        if !company.is_cut {
            look(warp.warp, place.lane, &mut company);
        }
        if company.is_cut { Err(Stop::NoBudget) } else { Ok(()) }
    }

    /// Returns the position of the chosen warp.
    fn place(&self, chosen: WhichWarp) -> Result<WarpPlace, Fault> {
        let nothing = || {
            let [[x, y, z], [w, h, d]] = [self.groups, self.size];
            Fault::Draw(format!("it has {x}x{y}x{z} groups of {w}x{h}x{d} invocations"))
        };
        let place = match chosen {
            WhichWarp::Warp(number) => {
                let warps = (self.size.iter().product::<u32>() as usize).div_ceil(LANES);
                let (group, warp) = (number as usize / warps, number as usize % warps);
                let [width, height, _] = self.groups.map(|n| (n as usize).max(1));
                let group = [group % width, group / width % height, group / width / height];
                WarpPlace { group: group.map(|n| n as u32), warp, lane: 0 }
            }
            WhichWarp::Invocation(id) => {
                let group = std::array::from_fn(|axis| id[axis] / self.size[axis]);
                let [x, y, z] = std::array::from_fn(|axis| id[axis] % self.size[axis]);
                let local = ((z * self.size[1] + y) * self.size[0] + x) as usize;
                WarpPlace { group, warp: local / LANES, lane: local % LANES }
            }
        };
        let is_there = (0..3).all(|axis| place.group[axis] < self.groups[axis]);
        is_there.then_some(place).ok_or_else(nothing)
    }
}
