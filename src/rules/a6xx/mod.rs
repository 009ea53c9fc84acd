//! Checks streams of an A6xx: packets, programs, memory, and registers that have to agree.
//!
//! Rules that do not depend on the generation name both in their row. What the A4xx alone has is in `stream` and `state`.

mod agree;
mod draws;
mod packets;
#[cfg(test)]
mod tests;
mod traffic;
mod uses;

pub use draws::{blit, dispatch, draw};
pub use packets::{command, registers};
pub use traffic::Traffic;

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::settled::Synced;

/// Whether the `bytes` from `address` on are in one buffer.
fn holds(gpu: Synced<'_>, address: Address, bytes: u64) -> bool {
    bytes == 0 || u64::from(gpu.memory().room(address)) >= bytes
}
