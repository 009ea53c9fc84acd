//! Subwarps: groups of lanes of a warp, with one invocation each.

use std::iter::Peekable;

use crate::draw::gs::dispatch::{Choice, Mode, SUBWARPS};

/// One invocation of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Number in the batch.
    pub index: usize,
    /// Number of the primitive.
    pub primitive: usize,
    /// Number of the invocation in the primitive.
    pub number: u32,
}

/// An invocation that is assigned to a subwarp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The invocation.
    pub invocation: Invocation,
    /// Number of the vertex in its first lane.
    pub next: u32,
}

/// The subwarps of a warp, all of the same size.
#[derive(Clone, Debug)]
pub struct Subwarps {
    choice: Choice,
    running: [Option<Running>; SUBWARPS],
}

impl Subwarps {
    /// Creates free subwarps.
    pub fn new(choice: Choice) -> Self {
        Self { choice, running: [None; SUBWARPS] }
    }

    /// Assigns the next invocations to free subwarps, and calls `begin` with each. In instanced mode, both
    /// subwarps must have the same primitive.
    pub fn fill(
        &mut self,
        invocations: &mut Peekable<impl Iterator<Item = Invocation>>,
        mut begin: impl FnMut(usize, Invocation),
    ) {
        for subwarp in 0..self.choice.subwarps {
            if self.running[subwarp].is_some() {
                continue;
            }
            let busy = self.running.iter().flatten().map(|running| running.invocation.primitive).next();
            let together = self.choice.mode == Mode::DualInstanced;
            let allowed = |invocation: &Invocation| {
                !together || busy.is_none_or(|primitive| primitive == invocation.primitive)
            };
            let Some(invocation) = invocations.next_if(allowed) else { continue };
            self.running[subwarp] = Some(Running { invocation, next: 0 });
            begin(subwarp, invocation);
        }
    }

    /// Returns whether all subwarps are free.
    pub fn is_empty(&self) -> bool {
        self.running.iter().all(Option::is_none)
    }

    /// Returns the invocation of a subwarp.
    pub fn get(&self, subwarp: usize) -> Option<Running> {
        self.running[subwarp]
    }

    /// Assigns an invocation to a subwarp, or frees it.
    pub fn put(&mut self, subwarp: usize, running: Option<Running>) {
        self.running[subwarp] = running;
    }

    /// Returns a value for every subwarp in use, and 0 for free ones.
    pub fn each(&self, of: impl Fn(usize, &Running) -> usize) -> [usize; SUBWARPS] {
        std::array::from_fn(|subwarp| self.running[subwarp].map_or(0, |running| of(subwarp, &running)))
    }

    /// Returns the first lane of a subwarp.
    pub fn first_lane(&self, subwarp: usize) -> usize {
        subwarp * self.choice.lanes
    }

    /// Returns the subwarp of a lane, and the lane's number in it.
    pub fn subwarp_of(&self, lane: usize) -> (usize, usize) {
        (lane / self.choice.lanes, lane % self.choice.lanes)
    }

    /// Returns the slot of a subwarp's primitive in the inputs. Two instances share one slot.
    pub fn slot(&self, subwarp: usize) -> usize {
        if self.choice.mode.mixes_primitives() { subwarp } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gs::dispatch::{Demand, Setting};

    fn demand(vertices: u32) -> Demand {
        Demand { registers: 4, inputs: 4, vertices, stores: false }
    }

    /// Runs three primitives of three invocations. Returns the invocations that begin in each warp, if all
    /// end after one warp.
    fn beginning(setting: Setting) -> Vec<Vec<(usize, u32)>> {
        let choice = Choice::new(setting, &demand(6));
        let items = (0..9).map(|i| Invocation { index: i, primitive: i / 3, number: i as u32 % 3 });
        let (mut items, mut subwarps) = (items.peekable(), Subwarps::new(choice));
        let mut warps = Vec::new();
        loop {
            let mut warp = Vec::new();
            subwarps.fill(&mut items, |_, invocation| warp.push((invocation.primitive, invocation.number)));
            if subwarps.is_empty() {
                return warps;
            }
            warps.push(warp);
            (0..SUBWARPS).for_each(|subwarp| subwarps.put(subwarp, None));
        }
    }

    #[test]
    fn objects_pair_as_they_come_and_instances_with_their_own_kind() {
        assert_eq!(beginning(Setting::Single).len(), 9);
        let objects = beginning(Setting::DualObject);
        assert_eq!(objects[1], [(0, 2), (1, 0)]);
        assert_eq!(objects.len(), 5);
        let instances = beginning(Setting::DualInstanced);
        assert_eq!(instances[..3], [vec![(0, 0), (0, 1)], vec![(0, 2)], vec![(1, 0), (1, 1)]]);
        assert_eq!(instances.len(), 6);
        // Five invocations of six vertices.
        let packed = beginning(Setting::Auto);
        assert_eq!(packed[0], [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
        assert_eq!(packed.len(), 2);
    }

    #[test]
    fn busy_subwarp_blocks_other_primitives_in_instanced_mode() {
        let choice = Choice::new(Setting::DualInstanced, &demand(6));
        let items = (0..2).map(|i| Invocation { index: i, primitive: i, number: 0 });
        let (mut items, mut subwarps) = (items.peekable(), Subwarps::new(choice));
        subwarps.fill(&mut items, |_, _| ());
        assert_eq!(subwarps.each(|_, _| 1)[..2], [1, 0]);
        subwarps.fill(&mut items, |_, _| ());
        assert_eq!(subwarps.each(|_, _| 1)[..2], [1, 0]);
    }
}
