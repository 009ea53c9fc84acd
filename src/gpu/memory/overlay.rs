//! Memory for a run that is thrown away: what it writes is its own.

use super::Memory;

/// 16 bytes that a block of the address space takes in an overlay, about.
const BLOCK: u64 = 16;

impl Memory {
    /// Memory that holds what this one holds, for a run whose writes nobody else may see. A buffer is copied before its
    /// first write; all copies together take no more than the [limit](Memory::limit) leaves, and writes that need more
    /// are left out, as [`Memory::was_cut`] says.
    pub fn overlay(&self) -> Self {
        Self {
            group: self.group,
            limit: self.limit.saturating_sub(self.held),
            is_overlay: true,
            ..self.view()
        }
    }

    /// Times 16 bytes that it has taken to make this overlay, and to write to it so far.
    pub fn overlay_cost(&self) -> u64 {
        BLOCK * self.blocks.len() as u64 + self.held / 16
    }
}
