//! Control flow of the lanes of a warp.
//!
//! Lanes at the same step form a group. The group with the smallest step runs, and groups that reach the same
//! step are merged. So any control flow converges again, reducible or not, without a stack. While all lanes
//! agree, there is one group and no scheduling.
use super::lanes::{LANES, Mask, lanes_of};

/// Most nested calls per lane. The compiler's model of the branch stack has 64 entries.
const CALL_DEPTH: usize = 64;

/// A group of lanes that does not run.
#[derive(Clone, Copy, Debug)]
struct Group {
    step: u32,
    mask: Mask,
    at_barrier: bool,
}

/// Control state of a warp.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Step of the running group.
    pub step: u32,
    /// Lanes of the running group.
    pub active: Mask,
    /// Smallest step of a waiting group, and at most the fence. The running group must not pass it.
    pub meet: u32,
    /// Where the warp stops, because others of its wave run first.
    fence: Fence,
    waiting: Vec<Group>,
    calls: Vec<[u32; LANES]>,
    depth: [u8; LANES],
    /// Lanes between predt or predf and prede. Those of them that do not execute are in `off`.
    inside: Mask,
    off: Mask,
}

/// Where a warp stops before others of its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// The warp runs steps before this one.
    Before(u32),
    /// The warp runs this step, maybe several times in a row, and no other.
    Only(u32),
}

impl Fence {
    /// The warp runs no step.
    pub const CLOSED: Self = Self::Before(0);
}

impl Default for Fence {
    fn default() -> Self {
        Self::Before(u32::MAX)
    }
}

/// Result of [`Flow::schedule`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A group is running.
    Run,
    /// The group with the smallest step is at the fence.
    Fence,
    /// All remaining lanes wait at a barrier. It is released for the next call.
    Barrier,
    /// No lane remains.
    Ended,
}

impl Flow {
    /// Starts `lanes` at step 0.
    pub fn restart(&mut self, lanes: Mask) {
        self.waiting.clear();
        self.calls.clear();
        self.depth = [0; LANES];
        (self.step, self.active, self.meet) = (0, lanes, u32::MAX);
        self.fence = Fence::default();
        (self.inside, self.off) = (0, 0);
    }

    /// Makes the warp stop at `fence`.
    pub fn set_fence(&mut self, fence: Fence) {
        self.fence = fence;
        // Before the next step, the smallest one is found.
        self.meet = 0;
    }

    /// The smallest step of a group that can run. `None` if there is none.
    pub fn lowest(&self) -> Option<u32> {
        self.ready().chain((self.active != 0).then_some(self.step)).min()
    }

    /// The steps of waiting groups that can run.
    fn ready(&self) -> impl Iterator<Item = u32> {
        self.waiting.iter().filter(|group| !group.at_barrier).map(|group| group.step)
    }

    /// Lanes that execute now.
    pub fn executing(&self) -> Mask {
        self.active & !self.off
    }

    /// Moves the lanes of `taken` to `target`, and the others of the group to the next step.
    pub fn branch(&mut self, taken: Mask, target: u32) {
        if taken == self.active {
            self.step = target;
        } else {
            self.step += 1;
            if taken != 0 {
                self.active &= !taken;
                self.park(taken, target, Wait::Ready);
            }
        }
    }

    /// Adds a waiting group of lanes that have left the running group.
    fn park(&mut self, mask: Mask, step: u32, wait: Wait) {
        let at_barrier = wait == Wait::Barrier;
        self.waiting.push(Group { step, mask, at_barrier });
        if !at_barrier {
            self.meet = self.meet.min(step);
        }
    }

    /// Ends `lanes` of the group.
    pub fn end(&mut self, lanes: Mask) {
        self.active &= !lanes;
        self.off &= !lanes;
    }

    /// Makes the group wait before the next step until [`Flow::release`].
    pub fn wait(&mut self) {
        self.park(self.active, self.step + 1, Wait::Barrier);
        self.active = 0;
    }

    /// Releases the groups that wait at a barrier.
    fn release(&mut self) {
        self.waiting.iter_mut().for_each(|group| group.at_barrier = false);
    }

    /// Selects the group that runs next. Called when the running group has reached a waiting one, or is
    /// empty.
    pub fn schedule(&mut self) -> Next {
        if self.active != 0 {
            self.park(self.active, self.step, Wait::Ready);
            self.active = 0;
        }
        let Some(step) = self.ready().min() else {
            return self.idle();
        };
        self.step = step;
        let here = |group: &Group| group.step == step && !group.at_barrier;
        self.active =
            self.waiting.iter().filter(|group| here(group)).fold(0, |mask, group| mask | group.mask);
        self.waiting.retain(|group| !here(group));
        let (limit, runs) = match self.fence {
            Fence::Before(fence) => (fence, step < fence),
            Fence::Only(only) => (0, step == only),
        };
        self.meet = self.ready().min().unwrap_or(u32::MAX).min(limit);
        if runs { Next::Run } else { Next::Fence }
    }

    /// The result when no group can run. Releases the barrier.
    fn idle(&mut self) -> Next {
        self.meet = u32::MAX;
        if self.waiting.is_empty() {
            return Next::Ended;
        }
        self.release();
        Next::Barrier
    }

    /// Pushes the return step of each of `lanes`. `None` if the stack is full.
    pub fn call(&mut self, lanes: Mask) -> Option<()> {
        for lane in lanes_of(lanes) {
            let depth = self.depth[lane] as usize;
            if depth == CALL_DEPTH {
                return None;
            }
            if depth == self.calls.len() {
                self.calls.push([0; LANES]);
            }
            self.calls[depth][lane] = self.step + 1;
            self.depth[lane] += 1;
        }
        Some(())
    }

    /// Returns each of `lanes` to its caller. `None` if one of them is in no call.
    pub fn ret(&mut self, lanes: Mask) -> Option<()> {
        if lanes_of(lanes).any(|lane| self.depth[lane] == 0) {
            return None;
        }
        let mut rest = lanes;
        while rest != 0 {
            let step = self.return_step(rest.trailing_zeros() as usize);
            let together = lanes_of(rest).filter(|&lane| self.return_step(lane) == step);
            let together = together.fold(0, |mask, lane| mask | 1 << lane);
            rest &= !together;
            self.active &= !together;
            self.park(together, step, Wait::Ready);
        }
        lanes_of(lanes).for_each(|lane| self.depth[lane] -= 1);
        self.step += 1;
        Some(())
    }

    /// The return step of `lane`, which is in a call.
    fn return_step(&self, lane: usize) -> u32 {
        self.calls[self.depth[lane] as usize - 1][lane]
    }

    /// The step that `lane` executes next. `None` if it has ended.
    pub fn step_of(&self, lane: usize) -> Option<u32> {
        let is_in = |mask: Mask| mask >> lane & 1 != 0;
        let waiting = || self.waiting.iter().find(|group| is_in(group.mask)).map(|group| group.step);
        if is_in(self.active) { Some(self.step) } else { waiting() }
    }

    /// The return steps of the open calls of `lane`, innermost first.
    pub fn returns_of(&self, lane: usize) -> impl Iterator<Item = u32> {
        self.calls[..usize::from(self.depth[lane])].iter().rev().map(move |steps| steps[lane])
    }

    /// Begins a region in which only the lanes of `truth` execute.
    pub fn enter_region(&mut self, truth: Mask) {
        self.inside |= self.active;
        self.renew_region(truth);
    }

    /// Sets a new condition within a region. Without effect outside.
    pub fn renew_region(&mut self, truth: Mask) {
        self.off = (self.off & !self.active) | (self.inside & self.active & !truth);
    }

    /// Ends the region: all lanes of the group execute again.
    pub fn leave_region(&mut self) {
        self.inside &= !self.active;
        self.off &= !self.active;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Ready,
    Barrier,
}
