//! Finds the highest index of a draw, for M2.

use hashbrown::HashMap;

use a4emu_gpu::a4xx::pc::restart;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::settled::Synced;

/// Maximum number of cached ranges.
const MAX_KNOWN: usize = 4096;

/// Maximum number of indices that are read in a run.
const MAX_INDICES: u64 = 1 << 28;

/// The indices of a draw in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Range {
    address: u32,
    width: u32,
    count: u32,
    restart: Option<u32>,
}

/// A cache of the highest indices of draws, since the tiles of a draw repeat them.
#[derive(Default)]
pub struct Highest {
    /// The highest index of each range, with the memory time at which it was read.
    known: HashMap<Range, (u64, Option<u32>)>,
    looked: u64,
}

impl Highest {
    /// The highest index of a draw; none if it has no indices or they are not in one buffer.
    pub fn of(&mut self, gpu: Synced<'_>, call: &DrawCall) -> Option<u32> {
        let restart = restart(&gpu.regs);
        match &call.indices {
            IndexSource::Auto => None,
            IndexSource::Immediate(indices) => {
                indices.iter().copied().filter(|index| Some(*index) != restart).max()
            }
            IndexSource::Memory { base, width, first, .. } => {
                let address = base.narrow()?.checked_add(first.checked_mul(*width)?)?;
                self.in_memory(gpu, Range { address, width: *width, count: call.count, restart })
            }
        }
    }

    fn in_memory(&mut self, gpu: Synced<'_>, range: Range) -> Option<u32> {
        let bytes = range.count.checked_mul(range.width)?;
        if let Some((time, highest)) = self.known.get(&range)
            && gpu.memory().is_unchanged(range.address, bytes, *time)
        {
            return *highest;
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.looked += u64::from(range.count);
        let words =
            gpu.memory().slice(range.address, bytes as usize).filter(|_| self.looked <= MAX_INDICES)?;
        let highest = highest(words, range);
        self.known.insert(range, (gpu.memory().now(), highest));
        highest
    }
}

fn highest(bytes: &[u8], range: Range) -> Option<u32> {
    let index = |bytes: &[u8]| bytes.iter().rev().fold(0, |index, byte| index << 8 | u32::from(*byte));
    let indices = bytes.chunks_exact(range.width.max(1) as usize).map(index);
    indices.filter(|index| Some(*index) != range.restart).max()
}
