//! Stores of lanes, for a tool that shows them.

use a4emu_decoder::adreno::address::Address;

/// A store of a lane to GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneStore {
    /// Lane of the warp.
    pub lane: usize,
    /// Address of the first byte.
    pub address: Address,
    /// The values: of 32 bits, or the low 16 bits of each where the instruction stores halves.
    pub values: [u32; 4],
    /// Number of values.
    pub count: usize,
}

/// The stores of a job, as far as there is room.
pub struct LaneStores {
    /// The stores in their order.
    pub all: Vec<LaneStore>,
    /// Number of further stores that fit.
    pub room: usize,
    /// Number of stores for which there was no room.
    pub left_out: u64,
}

impl LaneStores {
    /// Creates an empty list for at most `room` stores.
    pub fn new(room: usize) -> Self {
        Self { all: Vec::new(), room, left_out: 0 }
    }

    /// Adds a store.
    pub fn add(&mut self, store: LaneStore) {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                self.all.push(store);
            }
            None => self.left_out += 1,
        }
    }
}
