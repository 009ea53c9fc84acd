//! Type-7 packets of the A6xx. One row per opcode gives its name, its typed body and the table of its dwords, which
//! `decode` prints.
//!
//! Source: numbers and names are those of adreno_pm4.xml; docs/hardware/a6xx.md.

mod bodies;
mod rows;
mod words;

pub use crate::adreno::pm4::IndirectBufferCall;
pub use bodies::{CondExecRange, DrawStateGroup, IndirectDraws};
pub use rows::*;
pub use words::*;

use crate::adreno::pm4::{Outline, PacketTable};

/// Every opcode that has a row.
pub static PACKETS: PacketTable = PacketTable::new(ROWS);

/// What a packet does, as far as all readers of streams treat it alike.
pub(super) fn outline(opcode: u8, payload: &[u32]) -> Outline<'_> {
    let packet = Pm4::parse(opcode, payload);
    match packet {
        Pm4::Nop(nop) => Outline::Nop(nop.rest),
        _ if packet.load().is_some() => Outline::Load,
        _ => packet.call().map_or(Outline::Other, Outline::Call),
    }
}

#[cfg(test)]
mod tests;
