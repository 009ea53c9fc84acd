//! Where the lanes are.
//!
//! Lanes at the same step form a group. The group that is furthest behind runs
//! (smallest step first), and groups that meet become one, so any control flow
//! comes together again, reducible or not, without a stack. While all lanes
//! agree there is one group and nothing to schedule.
use super::lanes::{LANES, Mask, lanes_of};

/// Nested calls per lane; the compiler's model of the branch stack has 64 entries.
const CALL_DEPTH: usize = 64;

/// Lanes that wait for others.
#[derive(Clone, Copy, Debug)]
struct Group {
    step: u32,
    mask: Mask,
    at_barrier: bool,
}

/// Control state of a warp.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Step that the running group is at.
    pub step: u32,
    /// Lanes of the running group.
    pub active: Mask,
    /// Smallest step at which another group waits: the running group must not pass it.
    pub meet: u32,
    waiting: Vec<Group>,
    calls: Vec<[u32; LANES]>,
    depth: [u8; LANES],
    /// Lanes between predt or predf and prede, and those of them that do not run.
    inside: Mask,
    off: Mask,
}

/// What to do when the running group cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A group is running.
    Run,
    /// All that is left waits at a barrier (and may go on the next time).
    Barrier,
    /// Nothing is left.
    Ended,
}

impl Flow {
    /// All of `lanes` at step 0.
    pub fn restart(&mut self, lanes: Mask) {
        self.waiting.clear();
        self.calls.clear();
        self.depth = [0; LANES];
        (self.step, self.active, self.meet) = (0, lanes, u32::MAX);
        (self.inside, self.off) = (0, 0);
    }

    /// Lanes that execute now.
    pub fn executing(&self) -> Mask {
        self.active & !self.off
    }

    /// The lanes of `taken` go to `target`, the others of the group to the next step.
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

    /// Puts lanes that are no longer in the running group aside.
    fn park(&mut self, mask: Mask, step: u32, wait: Wait) {
        let at_barrier = wait == Wait::Barrier;
        self.waiting.push(Group { step, mask, at_barrier });
        if !at_barrier {
            self.meet = self.meet.min(step);
        }
    }

    /// `lanes` of the group are done.
    pub fn end(&mut self, lanes: Mask) {
        self.active &= !lanes;
        self.off &= !lanes;
    }

    /// The group waits before the next step until [`Flow::release`].
    pub fn wait(&mut self) {
        self.park(self.active, self.step + 1, Wait::Barrier);
        self.active = 0;
    }

    /// Lets those who waited at a barrier go on.
    fn release(&mut self) {
        self.waiting.iter_mut().for_each(|group| group.at_barrier = false);
    }

    /// Chooses the group that runs, when the running one has come to where
    /// others wait, or is gone.
    pub fn schedule(&mut self) -> Next {
        if self.active != 0 {
            self.park(self.active, self.step, Wait::Ready);
            self.active = 0;
        }
        let ready = self.waiting.iter().filter(|group| !group.at_barrier).map(|group| group.step);
        let Some(step) = ready.min() else {
            return self.idle();
        };
        self.step = step;
        let here = |group: &Group| group.step == step && !group.at_barrier;
        self.active =
            self.waiting.iter().filter(|group| here(group)).fold(0, |mask, group| mask | group.mask);
        self.waiting.retain(|group| !here(group));
        let rest = self.waiting.iter().filter(|group| !group.at_barrier).map(|group| group.step);
        self.meet = rest.min().unwrap_or(u32::MAX);
        Next::Run
    }

    /// Nobody can run.
    fn idle(&mut self) -> Next {
        self.meet = u32::MAX;
        if self.waiting.is_empty() {
            return Next::Ended;
        }
        self.release();
        Next::Barrier
    }

    /// Notes where each of `lanes` returns to; `None` when the stack is full.
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

    /// Sends each of `lanes` to where it was called from; `None` when one was not called.
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

    /// Where `lane`, which has been called, returns to.
    fn return_step(&self, lane: usize) -> u32 {
        self.calls[self.depth[lane] as usize - 1][lane]
    }

    /// The step that `lane` executes next; `None` when it has ended.
    pub fn step_of(&self, lane: usize) -> Option<u32> {
        let is_in = |mask: Mask| mask >> lane & 1 != 0;
        let waiting = || self.waiting.iter().find(|group| is_in(group.mask)).map(|group| group.step);
        if is_in(self.active) { Some(self.step) } else { waiting() }
    }

    /// Where the calls that `lane` is in return to, the innermost first.
    pub fn returns_of(&self, lane: usize) -> impl Iterator<Item = u32> {
        self.calls[..usize::from(self.depth[lane])].iter().rev().map(move |steps| steps[lane])
    }

    /// From here only the lanes of `truth` run.
    pub fn enter_region(&mut self, truth: Mask) {
        self.inside |= self.active;
        self.renew_region(truth);
    }

    /// Within a region `truth` is the new condition; outside nothing happens.
    pub fn renew_region(&mut self, truth: Mask) {
        self.off = (self.off & !self.active) | (self.inside & self.active & !truth);
    }

    /// All lanes of the group run again.
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
