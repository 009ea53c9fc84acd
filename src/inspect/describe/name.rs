//! Formats single values of the model.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::fmt;

use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::generation::Generation;
use serde::Serialize;

/// Names of the stages, in order.
pub(super) const STAGE_NAMES: [&str; 6] = ["VS", "HS", "DS", "GS", "FS", "CS"];

/// A GPU address. It may differ between two captures of one program, so comparisons use the memory at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Address(pub u64);

impl Address {
    /// The address of a packet or of memory.
    pub fn of(address: impl Into<GpuAddress>) -> Self {
        Self(address.into().get())
    }

    /// The address in 32 bits, as tables of an A4xx have it; an address above is the last one.
    pub fn narrow(self) -> u32 {
        self.gpu().narrow().unwrap_or(u32::MAX)
    }

    /// The address as memory takes it.
    pub fn gpu(self) -> GpuAddress {
        GpuAddress::new(self.0)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// An enumerator's name in the register database, or its number if it has no name.
pub(super) fn name(enumerator: impl fmt::Debug) -> String {
    let text = format!("{enumerator:?}");
    match text.strip_prefix("Other(").and_then(|rest| rest.strip_suffix(')')) {
        Some(number) => number.to_owned(),
        None => text,
    }
}

/// The name of a slot: its number, behind its bindless base if it has one.
pub(super) fn slot_name(base: Option<u8>, slot: u32) -> String {
    base.map_or_else(|| slot.to_string(), |base| format!("base{base}.{slot}"))
}

/// Name of a register by its id (number * 4 + component), such as `r2.x`.
pub(super) fn register(id: u32) -> String {
    format!("r{}.{}", id >> 2, component(id as usize & 3))
}

/// Name of a component: x, y, z or w.
pub(super) fn component(index: usize) -> char {
    ['x', 'y', 'z', 'w'][index & 3]
}

/// The names in `letters` of the components in `mask`.
pub(super) fn components(mask: u32, letters: [char; 4]) -> String {
    letters.iter().enumerate().filter(|(c, _)| mask >> c & 1 != 0).map(|(_, letter)| letter).collect()
}

/// The name of a packet: a command, or the first register that it writes.
pub fn packet_name(generation: &'static Generation, packet: &Packet<'_>) -> String {
    match *packet {
        Packet::Command { opcode, .. } => generation.packets.name(opcode).to_string(),
        Packet::Filler => "a filler".to_owned(),
        _ => {
            let first = packet.writes().next();
            first.map_or_else(String::new, |(offset, _)| generation.registers.name(offset).to_string())
        }
    }
}
