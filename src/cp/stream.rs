//! Walking command buffers: packets in order, calls, limits.

use a4emu_decoder::error::PacketError;
use a4emu_decoder::packet::{Packet, Packets};

use super::{Cp, Flow};
use crate::budget::Work;
use crate::draw;
use crate::fault::{Client, Fault, Trouble};

/// Calls that may be open at once. The chip has two levels below the ring and state groups
/// one deeper (docs/hardware/command-processor.md, sections 5 and 6); streams of other tools
/// may nest deeper.
pub const MAX_DEPTH: u32 = 8;

/// What follows a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The next packet.
    Next,
    /// The packet behind this many dwords.
    Skip(u32),
    /// Nothing more of this submit: the run has been ended, or its budget is used up.
    Stop,
}

impl Cp<'_> {
    /// Runs the `dwords` of command stream at `address`, as a submit names them.
    pub fn submit(&mut self, address: u32, dwords: u32) -> Flow {
        let flow = self.submit_part(address, dwords);
        draw::flush(self.gpu);
        flow
    }

    /// The same for one of several streams that are submitted together. Draws may wait for what comes with the others:
    /// behind the last, [`draw::flush`].
    pub fn submit_part(&mut self, address: u32, dwords: u32) -> Flow {
        self.gpu.cp.frame_draws.begin_submit();
        self.gpu.at.address = address;
        if self.observer.submit(self.gpu, address, dwords) == Flow::Stop {
            return Flow::Stop;
        }
        self.call_buffer(address, dwords, Client::CommandStream);
        self.flow
    }

    /// The observer or the engine wants no more.
    pub(super) fn stop(&mut self) -> Step {
        self.flow = Flow::Stop;
        Step::Stop
    }

    /// Runs a buffer and returns: a submit, an indirect buffer or a state group.
    pub(super) fn call_buffer(&mut self, address: u32, dwords: u32, client: Client) -> Step {
        if let Some(fault) = self.refuses(address) {
            self.trouble(fault);
            return Step::Next;
        }
        self.depends_on_draws("a command buffer", address);
        let words = self.fetch_stream(address, dwords, client);
        if !self.charge(Work::Dword, words.len() as u64) {
            return Step::Stop;
        }
        let outside = self.gpu.at;
        self.gpu.at.depth = self.open.len() as u32;
        self.gpu.at.repeated |= !self.seen.insert((address, dwords));
        self.open.push(address);
        let step = self.run(address, &words);
        self.open.pop();
        let at = &mut self.gpu.at;
        (at.address, at.depth, at.repeated) = (outside.address, outside.depth, outside.repeated);
        step
    }

    /// Why the buffer at `address` must not be entered: nested calls multiply.
    fn refuses(&self, address: u32) -> Option<Fault> {
        if self.open.contains(&address) {
            return Some(Fault::SelfCall { address });
        }
        let too_deep = self.open.len() as u32 > MAX_DEPTH;
        too_deep.then_some(Fault::TooDeep { address, limit: MAX_DEPTH })
    }

    /// The dwords of a buffer, as far as they are known. A copy: packets may store
    /// into the buffer that they stand in.
    fn fetch_stream(&mut self, address: u32, dwords: u32, client: Client) -> Vec<u32> {
        draw::settle(self.gpu, address, u64::from(dwords) * 4);
        let words = self.gpu.mem.known_dwords(address, dwords as usize);
        let held = words.len() as u32;
        if held < dwords {
            let missing = (dwords - held).saturating_mul(4);
            self.gpu.report.miss(client, address.wrapping_add(held * 4), missing);
            self.trouble(match held {
                0 => Fault::NoBuffer { address, dwords },
                held => Fault::CutBuffer { address, dwords, held },
            });
        }
        words
    }

    /// Executes the packets of one buffer in order.
    fn run(&mut self, base: u32, words: &[u32]) -> Step {
        let mut packets = Packets::new(words);
        loop {
            self.gpu.at.address = base.wrapping_add(packets.offset() as u32 * 4);
            let step = match packets.next() {
                None => return Step::Next,
                Some(Ok(packet)) => self.execute(&packet),
                Some(Err(error)) => {
                    self.trouble(damage(base, &error));
                    return Step::Next;
                }
            };
            match step {
                Step::Next => {}
                Step::Skip(dwords) => Packets::skip(&mut packets, dwords as usize),
                Step::Stop => return Step::Stop,
            }
        }
    }

    fn execute(&mut self, packet: &Packet<'_>) -> Step {
        if !self.charge(Work::Packet, 1) {
            return Step::Stop;
        }
        if self.shows {
            self.observer.packet(self.gpu, packet);
        }
        match *packet {
            Packet::Type0 { reg, one_reg: false, values } => {
                self.write_regs(reg, values);
                Step::Next
            }
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

/// Nothing says where the next packet of a damaged buffer would start: it ends there.
fn damage(buffer: u32, error: &PacketError) -> Trouble {
    let what = format!("{error} of the buffer at {buffer:#010x}");
    match error {
        PacketError::WrongGeneration { .. } => {
            Trouble::Unsupported(format!("a stream of another generation ({what})"))
        }
        _ => Fault::Stream(what).into(),
    }
}
