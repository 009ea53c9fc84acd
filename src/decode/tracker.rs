//! What the registers hold while the stream goes by, and what changed since the last draw.

use a4emu_decoder::packet::Packet;
use a4emu_decoder::pm4::{Pm4, RegRmw, RegisterWrites};

use crate::cp::Pass;
use crate::regfile::{COUNT, RegFile};
use crate::walk::Seen;

/// A register that was written since the last draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Dword offset.
    pub offset: u32,
    /// Value at the last draw; `None` if nobody had written it.
    pub before: Option<u32>,
}

/// Register values by last write, for every register write that the stream shows.
pub struct Tracker {
    regs: RegFile,
    changes: Vec<Change>,
    /// Which registers are in `changes`, by the number of the draw being set up.
    marks: Box<[u32]>,
    draw: u32,
}

impl Default for Tracker {
    fn default() -> Self {
        Self { regs: RegFile::default(), changes: Vec::new(), marks: vec![0; COUNT].into(), draw: 1 }
    }
}

impl Tracker {
    /// The registers now.
    pub fn regs(&self) -> &RegFile {
        &self.regs
    }

    /// The pass that a draw would belong to now.
    pub fn pass(&self) -> Pass {
        Pass::of(&self.regs)
    }

    /// Registers written since the last draw, in order of their first write.
    pub fn written(&self) -> &[Change] {
        &self.changes
    }

    /// Those of them that hold another value than at the last draw.
    pub fn changed(&self) -> impl Iterator<Item = Change> {
        self.changes.iter().copied().filter(|change| self.regs.written(change.offset) != change.before)
    }

    /// Whether and how `offset` was written since the last draw.
    pub fn change(&self, offset: u32) -> Option<Change> {
        self.changes.iter().copied().find(|change| change.offset == offset)
    }

    /// A draw has been shown: from now on changes count from here.
    pub fn next_draw(&mut self) {
        self.changes.clear();
        self.draw = self.draw.wrapping_add(1);
    }

    /// Takes over what the packet does to registers, as far as that is known without executing.
    pub fn packet(&mut self, seen: &Seen<'_>) {
        for (offset, value) in writes(seen) {
            self.write(offset, value);
        }
        match seen.body {
            Some(Pm4::RegRmw(packet)) => self.modify(&packet),
            Some(Pm4::SetConstant(packet)) => {
                if let RegisterWrites::Sum { register, addend, constant } = packet.writes() {
                    self.write(register, self.regs.read(addend).wrapping_add(constant));
                }
            }
            _ => {}
        }
    }

    fn modify(&mut self, packet: &RegRmw<'_>) {
        let value = packet.apply(|offset| self.regs.read(offset));
        self.write(packet.control.DST_REG(), value);
    }

    fn write(&mut self, offset: u32, value: u32) {
        let before = self.regs.written(offset);
        if !self.regs.write(offset, value) {
            return;
        }
        let mark = &mut self.marks[offset as usize];
        if *mark != self.draw {
            *mark = self.draw;
            self.changes.push(Change { offset, before });
        }
    }
}

/// The register writes whose values stand in the packet, in order: `(register, value)`.
pub fn writes<'a>(seen: &Seen<'a>) -> impl Iterator<Item = (u32, u32)> + use<'a> {
    let own = match seen.packet {
        Packet::Type3 { .. } => None,
        packet => Some(packet.writes()),
    };
    let (first, values) = seen.body.and_then(|body| body.register_values()).unwrap_or((0, &[]));
    let single = match seen.body {
        Some(Pm4::RegWrNoCtxt(packet)) => Some((packet.REG, packet.VALUE)),
        _ => None,
    };
    own.into_iter().flatten().chain((first..).zip(values.iter().copied())).chain(single)
}
