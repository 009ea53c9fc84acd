//! Which command a run belongs to, by the rule of [`Rows`](crate::describe::Rows).

use hashbrown::HashMap;

use crate::describe::{Key, MAX_ROWS};
use a4emu_gpu::gpu::Gpu;

/// Bytes of memory that a command of a page takes until the page is written, about: its row, its state, its lines of
/// packets, what of the picture it changed. Measured: 1.6 GB for 60,000.
const KEPT: u64 = 1 << 14;

/// Numbers commands in the order of their first runs.
#[derive(Debug, Default)]
pub struct Commands {
    group: u32,
    /// Of this group, by packet.
    numbers: HashMap<u32, usize>,
    count: usize,
}

/// A command that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// For the first time.
    New(usize),
    /// Again, for another tile.
    Known(usize),
}

impl Command {
    /// Its number.
    pub fn number(self) -> usize {
        match self {
            Self::New(number) | Self::Known(number) => number,
        }
    }
}

impl Commands {
    /// The command of the call that runs now; none where a table has no more rows.
    pub fn of(&mut self, gpu: &Gpu) -> Option<Command> {
        let Key { group, packet } = Key::of(gpu);
        if group != self.group {
            self.group = group;
            self.numbers.clear();
        }
        if let Some(number) = self.numbers.get(&packet) {
            return Some(Command::Known(*number));
        }
        if self.count >= MAX_ROWS || !gpu.budget.keep(KEPT) {
            return None;
        }
        self.numbers.insert(packet, self.count);
        self.count += 1;
        Some(Command::New(self.count - 1))
    }
}
