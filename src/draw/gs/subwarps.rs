//! Who sits on which lanes of a warp.

use std::iter::Peekable;

use crate::draw::gs::dispatch::{Choice, Mode, SEATS};

/// One invocation of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Running number in the batch.
    pub index: usize,
    /// Which primitive.
    pub primitive: usize,
    /// Which invocation of it.
    pub invocation: u32,
}

/// An invocation that has lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seated {
    /// Which.
    pub item: Item,
    /// The vertex of its first lane.
    pub next: u32,
}

/// The seats of a warp, each of as many lanes.
#[derive(Clone, Debug)]
pub struct Seats {
    choice: Choice,
    taken: [Option<Seated>; SEATS],
}

impl Seats {
    /// Empty ones.
    pub fn new(choice: Choice) -> Self {
        Self { choice, taken: [None; SEATS] }
    }

    /// Gives free seats to the invocations that come next, and calls `seated` with each.
    /// Two instances of one primitive wait for each other.
    pub fn fill(
        &mut self,
        items: &mut Peekable<impl Iterator<Item = Item>>,
        mut seated: impl FnMut(usize, Item),
    ) {
        for seat in 0..self.choice.seats {
            if self.taken[seat].is_some() {
                continue;
            }
            let busy = self.taken.iter().flatten().map(|seated| seated.item.primitive).next();
            let together = self.choice.mode == Mode::DualInstanced;
            let allowed = |item: &Item| !together || busy.is_none_or(|primitive| primitive == item.primitive);
            let Some(item) = items.next_if(allowed) else { continue };
            self.taken[seat] = Some(Seated { item, next: 0 });
            seated(seat, item);
        }
    }

    /// Whether nobody is left.
    pub fn is_empty(&self) -> bool {
        self.taken.iter().all(Option::is_none)
    }

    /// Who has a seat.
    pub fn get(&self, seat: usize) -> Option<Seated> {
        self.taken[seat]
    }

    /// Gives a seat on, or leaves it free.
    pub fn put(&mut self, seat: usize, seated: Option<Seated>) {
        self.taken[seat] = seated;
    }

    /// Something about every seat that is taken, 0 for the others.
    pub fn each(&self, of: impl Fn(usize, &Seated) -> usize) -> [usize; SEATS] {
        std::array::from_fn(|seat| self.taken[seat].map_or(0, |seated| of(seat, &seated)))
    }

    /// First lane of a seat.
    pub fn first_lane(&self, seat: usize) -> usize {
        seat * self.choice.lanes
    }

    /// The seat that a lane belongs to, and which lane of that it is.
    pub fn seat_of(&self, lane: usize) -> (usize, usize) {
        (lane / self.choice.lanes, lane % self.choice.lanes)
    }

    /// Place of a seat's primitive in the local buffer: two instances share theirs.
    pub fn slot(&self, seat: usize) -> usize {
        if self.choice.mode == Mode::DualObject { seat } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gs::dispatch::{Demand, Setting};

    /// Three primitives of three invocations; who comes to sit, warp after warp, if all rise
    /// after one.
    fn seating(setting: Setting) -> Vec<Vec<(usize, u32)>> {
        let choice = Choice::new(setting, &Demand { registers: 4, inputs: 4, stores: false });
        let items = (0..9).map(|i| Item { index: i, primitive: i / 3, invocation: i as u32 % 3 });
        let (mut items, mut seats) = (items.peekable(), Seats::new(choice));
        let mut warps = Vec::new();
        loop {
            let mut warp = Vec::new();
            seats.fill(&mut items, |_, item| warp.push((item.primitive, item.invocation)));
            if seats.is_empty() {
                return warps;
            }
            warps.push(warp);
            (0..SEATS).for_each(|seat| seats.put(seat, None));
        }
    }

    #[test]
    fn objects_pair_as_they_come_and_instances_with_their_own_kind() {
        assert_eq!(seating(Setting::Single).len(), 9);
        let objects = seating(Setting::DualObject);
        assert_eq!(objects[1], [(0, 2), (1, 0)]);
        assert_eq!(objects.len(), 5);
        let instances = seating(Setting::DualInstanced);
        assert_eq!(instances[..3], [vec![(0, 0), (0, 1)], vec![(0, 2)], vec![(1, 0), (1, 1)]]);
        assert_eq!(instances.len(), 6);
    }

    #[test]
    fn one_who_stays_keeps_strangers_away_in_instanced_mode() {
        let choice = Choice::new(Setting::DualInstanced, &Demand { registers: 4, inputs: 4, stores: false });
        let items = (0..2).map(|i| Item { index: i, primitive: i, invocation: 0 });
        let (mut items, mut seats) = (items.peekable(), Seats::new(choice));
        seats.fill(&mut items, |_, _| ());
        assert_eq!(seats.each(|_, _| 1), [1, 0]);
        seats.fill(&mut items, |_, _| ());
        assert_eq!(seats.each(|_, _| 1), [1, 0]);
    }
}
