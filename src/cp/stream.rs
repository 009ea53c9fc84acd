//! Walking command buffers: packets in order, calls, limits.

use a4emu_decoder::error::PacketError;
use a4emu_decoder::packet::{Packet, Packets};

use super::{Cp, Flow};
use crate::fault::{Client, Fault, Place};

/// Calls that may be open at once: the chip has two levels below the ring and state
/// groups one deeper (docs/hardware/command-processor.md, sections 5 and 6); one more is let through.
const MAX_DEPTH: u32 = 4;

/// The hardware stores 20 bits of a call's length.
const MAX_DWORDS: u32 = 0xf_ffff;

/// What follows a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The next packet.
    Next,
    /// The packet behind this many dwords.
    Skip(u32),
    /// Nothing: an observer ended the replay.
    Stop,
}

impl From<Flow> for Step {
    fn from(flow: Flow) -> Self {
        match flow {
            Flow::Continue | Flow::Skip => Self::Next,
            Flow::Stop => Self::Stop,
        }
    }
}

impl Cp<'_> {
    /// Runs the `dwords` of command stream at `address`, as a submit names them.
    pub fn submit(&mut self, address: u32, dwords: u32) -> Flow {
        self.gpu.at.address = address;
        let flow = match self.observer.submit(self.gpu, address, dwords) {
            Flow::Continue => self.call_buffer(address, dwords, Client::CommandStream),
            Flow::Skip => Step::Next,
            Flow::Stop => Step::Stop,
        };
        match flow {
            Step::Stop => Flow::Stop,
            Step::Next | Step::Skip(_) => Flow::Continue,
        }
    }

    /// Runs a buffer and returns: a submit, an indirect buffer or a state group.
    pub(super) fn call_buffer(&mut self, address: u32, dwords: u32, client: Client) -> Step {
        let at = self.gpu.at;
        if self.depth == MAX_DEPTH {
            self.gpu.report.fault(Fault::Runaway("buffers call each other without end"), at);
            return Step::Next;
        }
        if !self.afford(address, dwords) {
            return Step::Next;
        }
        let words = self.fetch_stream(address, dwords, client);
        self.depth += 1;
        let step = self.run(address, &words);
        self.depth -= 1;
        self.gpu.at.address = at.address;
        step
    }

    /// Whether `dwords` at `address` may be read, as far as they are there; a capture that
    /// asks for more than any frame does is faulty.
    pub(super) fn afford(&mut self, address: u32, dwords: u32) -> bool {
        let held = dwords.min(self.gpu.mem.room(address) / 4);
        let affords = self.gpu.cp.burn(held.into());
        if !affords {
            let fault = Fault::Runaway("more dwords to execute than any frame has");
            self.gpu.report.fault(fault, self.gpu.at);
        }
        affords
    }

    /// The dwords of a buffer, as far as they are known. A copy: packets may store
    /// into the buffer that they stand in.
    fn fetch_stream(&mut self, address: u32, dwords: u32, client: Client) -> Vec<u32> {
        let dwords = dwords.min(MAX_DWORDS);
        let words = self.gpu.mem.known_dwords(address, dwords as usize);
        let missing = dwords - words.len() as u32;
        if missing > 0 {
            let from = address.wrapping_add(words.len() as u32 * 4);
            self.gpu.report.miss(client, from, missing * 4);
        }
        if words.is_empty() && dwords > 0 {
            self.gpu.report.fault(Fault::NoBuffer { address, dwords }, self.gpu.at);
        }
        words
    }

    /// Executes the packets of one buffer in order.
    fn run(&mut self, base: u32, words: &[u32]) -> Step {
        let mut packets = Packets::new(words);
        loop {
            let address = base.wrapping_add(packets.offset() as u32 * 4);
            let Some(packet) = packets.next() else { return Step::Next };
            self.gpu.at.address = address;
            let step = match packet {
                Ok(packet) => self.execute(&packet),
                Err(error) => return self.damaged(base, &error),
            };
            match step {
                Step::Next => {}
                Step::Skip(dwords) => Packets::skip(&mut packets, dwords as usize),
                Step::Stop => return Step::Stop,
            }
        }
    }

    /// Nothing says where the next packet of a damaged buffer would start: it ends here.
    fn damaged(&mut self, base: u32, error: &PacketError) -> Step {
        let at = Place { address: base, ..self.gpu.at };
        self.gpu.report.fault(Fault::Stream(error.to_string()), at);
        Step::Next
    }

    fn execute(&mut self, packet: &Packet<'_>) -> Step {
        self.observer.packet(self.gpu, packet, self.depth);
        match *packet {
            Packet::Type0 { .. } | Packet::Type1 { .. } => {
                packet.writes().for_each(|(reg, value)| self.write_reg(reg, value));
                Step::Next
            }
            Packet::Type2 => Step::Next,
            Packet::Type3 { predicated: true, .. } if self.gpu.cp.predicate == Some(false) => Step::Next,
            Packet::Type3 { opcode, payload, .. } => self.command(opcode, payload),
        }
    }
}
