//! Numbers the commands of a run, with the identity rule of [`Rows`](crate::describe::Rows).

use a4emu_decoder::adreno::address::Address;
use hashbrown::HashMap;

use crate::describe::{Key, MAX_ROWS};
use a4emu_gpu::gpu::Gpu;

/// Rough size in memory of a command until the page is written, in bytes: its row, state, packet lines and
/// changed pixels. Measured: 1.6 GB for 60,000.
const KEPT: u64 = 1 << 14;

/// Numbers commands in the order of their first runs.
#[derive(Debug, Default)]
pub struct Commands {
    group: u32,
    /// Number of each command of the current group, by packet address.
    numbers: HashMap<Address, usize>,
    count: usize,
}

/// The command of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Its first run.
    New(usize),
    /// A further run, for another tile.
    Known(usize),
}

impl Command {
    /// The command's number.
    pub fn number(self) -> usize {
        match self {
            Self::New(number) | Self::Known(number) => number,
        }
    }
}

impl Commands {
    /// The command of the call that runs now; none if the table is full.
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
