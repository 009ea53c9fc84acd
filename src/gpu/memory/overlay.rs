//! Overlays: memory for a run whose writes are discarded.

use super::Memory;

/// Cost of one block of the address space in an overlay, in units of 16 bytes (estimated).
const BLOCK: u64 = 16;

impl Memory {
    /// An overlay of this memory, for a run whose writes must not affect it. A buffer is copied before its
    /// first write. The copies take at most the bytes that the [limit](Memory::limit) leaves. Writes that
    /// need more are left out, and [`Memory::was_cut`] reports it.
    pub fn overlay(&self) -> Self {
        Self {
            group: self.group,
            limit: self.limit.saturating_sub(self.held),
            is_overlay: true,
            ..self.view()
        }
    }

    /// Cost of making this overlay and of its copies so far, in units of 16 bytes.
    pub fn overlay_cost(&self) -> u64 {
        BLOCK * self.blocks.len() as u64 + self.held / 16
    }
}
