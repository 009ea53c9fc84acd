//! Execution of command buffers: packets in order, calls, limits.

use a4emu_decoder::adreno::address::Address;
use std::rc::Rc;

use a4emu_decoder::adreno::packet::{Packet, Packets};
use a4emu_decoder::adreno::pm4::IndirectBufferCall;
use a4emu_decoder::error::PacketError;
use hashbrown::HashMap;

use super::{Cp, Flow};
use crate::budget::Work;
use crate::draw;
use crate::fault::{Client, Fault, Trouble};
use crate::gpu::{Gpu, Machine};
use crate::memo::ReadSet;
use crate::memory::Memory;
use crate::settled::Running;
use crate::work_trace::{Activity, begin};

/// Most calls that may be open at once. The chip has two levels below the ring, and state groups one deeper
/// (docs/hardware/command-processor.md, sections 5 and 6). Streams of other tools may nest deeper.
pub const MAX_DEPTH: u32 = 8;

/// Most dwords of buffers that are kept.
const MAX_KEPT: usize = 1 << 21;

/// Buffers that have run, by address and length. Buffers of draws run again for each tile.
#[derive(Default)]
pub(super) struct Streams {
    seen: HashMap<(Address, u32), Option<Stream>>,
    /// Number of dwords that are kept.
    kept: usize,
}

/// The contents of a buffer.
struct Stream {
    words: Rc<Vec<u32>>,
    memory: ReadSet,
}

impl Streams {
    /// The dwords that ran from `address`, if no store has changed them since.
    fn find(&self, address: Address, dwords: u32, memory: &Memory) -> Option<Rc<Vec<u32>>> {
        let stream = self.seen.get(&(address, dwords))?.as_ref()?;
        stream.memory.has_same_memory(memory).then(|| stream.words.clone())
    }

    /// Keeps the dwords that now run from `address`. Returns whether this buffer runs for the first time.
    fn add(&mut self, address: Address, dwords: u32, words: &Rc<Vec<u32>>, memory: &Memory) -> bool {
        let before = self.seen.remove(&(address, dwords));
        if let Some(Some(stream)) = &before {
            self.kept -= stream.words.len();
        }
        // An incomplete buffer is not kept, so that each run reports what is missing.
        let is_kept = words.len() == dwords as usize && self.kept + words.len() <= MAX_KEPT;
        let stream = is_kept.then(|| {
            self.kept += words.len();
            let memory = ReadSet::of_memory(memory, vec![(address, dwords.saturating_mul(4))]);
            Stream { words: words.clone(), memory }
        });
        self.seen.insert((address, dwords), stream);
        before.is_none()
    }
}

/// A loop over bins: for each one a part of a table, then the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bins {
    /// Number of bins.
    pub(super) count: u32,
    /// Address of the table.
    pub(super) prefix: Address,
    /// Dwords of the table for each bin.
    pub(super) prefix_dwords: u32,
    /// Dwords of the body, from the next packet on.
    pub(super) body: u32,
}

/// Where execution continues after a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// At the next packet.
    Next,
    /// At the packet after this many dwords.
    Skip(u32),
    /// In another buffer, which does not return.
    Chain(IndirectBufferCall),
    /// At the next packet, once for each bin.
    Bins(Bins),
    /// Nowhere in this submit: the run was ended, or its budget is used up.
    Stop,
}

impl Cp<'_> {
    /// Runs the `dwords` of command stream at `address`, as one submit.
    pub fn submit(&mut self, address: impl Into<Address>, dwords: u32) -> Flow {
        let flow = self.submit_part(address, dwords);
        self.gpu.settle();
        flow
    }

    /// Runs one of several streams that are submitted together. Draws may stay queued for the next stream:
    /// call [`Gpu::settle`] after the last one.
    pub fn submit_part(&mut self, address: impl Into<Address>, dwords: u32) -> Flow {
        let address = address.into();
        let _active = begin(Activity::Commands);
        self.gpu.cp.frame_draws.begin_submit();
        self.gpu.at.address = address;
        if self.observer.submit(&mut Running::of(self.gpu), address, dwords) == Flow::Stop {
            return Flow::Stop;
        }
        self.call_buffer(address, dwords, Client::CommandStream);
        self.flow
    }

    /// Ends the run for the observer or the engine.
    pub(super) fn stop(&mut self) -> Step {
        self.flow = Flow::Stop;
        Step::Stop
    }

    /// Runs a buffer (a submit, an indirect buffer or a state group) and returns.
    pub(super) fn call_buffer(&mut self, address: Address, dwords: u32, client: Client) -> Step {
        let mut step = self.enter_buffer(address, dwords, client);
        // A buffer that another one goes on in takes its place, so that a long chain is not nested.
        while let Step::Chain(next) = step {
            if !self.charge(Work::Packet, 1) {
                return Step::Stop;
            }
            step = self.enter_buffer(next.address, next.dwords, client);
        }
        step
    }

    /// Runs a buffer up to its end, or to where it goes on in another one.
    fn enter_buffer(&mut self, address: Address, dwords: u32, client: Client) -> Step {
        if let Some(fault) = self.refuses(address) {
            self.trouble(fault);
            return Step::Next;
        }
        self.depends_on_draws("a command buffer", address);
        let (words, is_new) = self.fetch_stream(address, dwords, client);
        self.run_buffer(address, &words, is_new)
    }

    /// Runs the dwords of a buffer.
    fn run_buffer(&mut self, address: Address, words: &[u32], is_new: bool) -> Step {
        if !self.charge(Work::Dword, words.len() as u64) {
            return Step::Stop;
        }
        let outside = self.gpu.at;
        self.gpu.at.depth = self.open.len() as u32;
        self.gpu.at.repeated |= !is_new;
        self.open.push(address);
        let step = self.run(address, words);
        self.open.pop();
        let at = &mut self.gpu.at;
        (at.address, at.depth, at.repeated) = (outside.address, outside.depth, outside.repeated);
        step
    }

    /// The fault if the buffer at `address` must not be entered. Nested calls multiply the work.
    fn refuses(&self, address: Address) -> Option<Fault> {
        if self.open.contains(&address) {
            return Some(Fault::SelfCall { address });
        }
        let too_deep = self.open.len() as u32 > MAX_DEPTH;
        too_deep.then_some(Fault::TooDeep { address, limit: MAX_DEPTH })
    }

    /// The dwords of a buffer, as far as memory holds them, and whether it runs for the first time. They are
    /// a copy, as packets may store into their own buffer.
    fn fetch_stream(&mut self, address: Address, dwords: u32, client: Client) -> (Rc<Vec<u32>>, bool) {
        self.gpu.sync_reads([draw::MemoryRead::Bytes(address, u64::from(dwords) * 4)]);
        if let Some(words) = self.seen.find(address, dwords, &self.gpu.mem) {
            return (words, false);
        }
        let words = Rc::new(self.known_stream(address, dwords, client));
        let is_new = self.seen.add(address, dwords, &words, &self.gpu.mem);
        (words, is_new)
    }

    /// The dwords of a buffer, as far as memory holds them. Reports what is missing.
    fn known_stream(&mut self, address: Address, dwords: u32, client: Client) -> Vec<u32> {
        self.gpu.sync_reads([draw::MemoryRead::Bytes(address, u64::from(dwords) * 4)]);
        let words = self.gpu.mem.known_dwords(address, dwords as usize);
        let held = words.len() as u32;
        if held < dwords {
            let missing = (dwords - held).saturating_mul(4);
            let first = self.gpu.chip.generation().behind(address, u64::from(held) * 4);
            self.gpu.report.miss(client, first, missing);
            self.trouble(match held {
                0 => Fault::NoBuffer { address, dwords },
                held => Fault::CutBuffer { address, dwords, held },
            });
        }
        words
    }

    /// Executes the packets of one buffer in order.
    fn run(&mut self, base: Address, words: &[u32]) -> Step {
        let mut packets = Packets::new(self.gpu.chip.generation().framing, words);
        loop {
            self.gpu.at.address = base + packets.offset() as u64 * 4;
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
                Step::Bins(bins) => {
                    let rest = packets.rest();
                    let body = &rest[..rest.len().min(bins.body as usize)];
                    if let Step::Stop = self.run_bins(base + packets.offset() as u64 * 4, body, bins) {
                        return Step::Stop;
                    }
                    Packets::skip(&mut packets, body.len());
                }
                Step::Chain(_) | Step::Stop => return step,
            }
        }
    }

    /// Runs a loop over bins, whose body stands at `base`. It ends where a part of the table is in no buffer.
    fn run_bins(&mut self, base: Address, body: &[u32], bins: Bins) -> Step {
        if std::mem::replace(&mut self.in_bins, true) {
            self.trouble(Fault::Stream("CP_START_BIN inside of a loop over bins".to_owned()));
            return Step::Next;
        }
        let step = self.run_each_bin(base, body, bins);
        self.in_bins = false;
        step
    }

    fn run_each_bin(&mut self, base: Address, body: &[u32], bins: Bins) -> Step {
        let bytes = u64::from(bins.prefix_dwords) * 4;
        for bin in 0..bins.count {
            let at = self.gpu.chip.generation().behind(bins.prefix, u64::from(bin).wrapping_mul(bytes));
            if !self.charge(Work::Packet, 1) || !self.charge(Work::Dword, body.len() as u64) {
                return Step::Stop;
            }
            // Parts of a table are not kept as buffers that have run: there may be billions of them.
            if bins.prefix_dwords > 0 {
                let words = self.known_stream(at, bins.prefix_dwords, Client::CommandStream);
                if words.is_empty() {
                    return Step::Next;
                }
                if let Step::Stop = self.run_buffer(at, &words, bin == 0) {
                    return Step::Stop;
                }
            }
            if let Step::Stop = self.run(base, body) {
                return Step::Stop;
            }
        }
        Step::Next
    }

    /// Notes whether the GPU of a kernel dump stood at `packet`.
    fn look_for_hang(&mut self, packet: &Packet<'_>) {
        let Gpu { hang: Some(search), machine: Machine { at, mem, chip, .. }, .. } = self.gpu else { return };
        let base = self.open.last().copied().unwrap_or(at.address);
        search.look(chip.generation(), packet, [base, at.address], at.depth, mem);
    }

    fn execute(&mut self, packet: &Packet<'_>) -> Step {
        if !self.charge(Work::Packet, 1) {
            return Step::Stop;
        }
        if self.shows_packets {
            self.look_for_hang(packet);
            self.observer.packet(&mut Running::of(self.gpu), packet);
        }
        match *packet {
            Packet::Registers { reg, one_reg: false, values } => {
                self.write_regs(reg, values);
                Step::Next
            }
            Packet::Registers { .. } | Packet::TwoRegisters { .. } => {
                packet.writes().for_each(|(reg, value)| self.write_reg(reg, value));
                Step::Next
            }
            Packet::Filler => Step::Next,
            Packet::Command { predicated: true, .. } if self.gpu.cp.predicate == Some(false) => Step::Next,
            Packet::Command { opcode, payload, .. } => (self.commands.command)(self, opcode, payload),
        }
    }
}

/// The report of a damaged buffer. The start of its next packet is unknown, so the buffer ends there.
fn damage(buffer: Address, error: &PacketError) -> Trouble {
    let what = format!("{error} of the buffer at {buffer}");
    match error {
        PacketError::WrongGeneration { .. } => {
            Trouble::Unsupported(format!("a stream of another generation ({what})"))
        }
        _ => Fault::Stream(what).into(),
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::pm4::PACKETS;
    use a4emu_decoder::asm::pack;

    use super::*;
    use crate::cp::{Renderer, Silent};
    use crate::gpu::Gpu;
    use crate::machine::Chip;

    const STREAM: u32 = 0x1000;
    const CALLED: u32 = 0x8000;
    const REGISTERS: u32 = 0x2100;

    fn packet(name: &str, payload: &[u32]) -> Vec<u32> {
        let row = PACKETS.by_name(name).expect("a packet");
        let mut words = vec![pack::type3(row.opcode, payload.len() as u32)];
        words.extend(payload);
        words
    }

    #[test]
    fn a_buffer_that_a_packet_has_changed_runs_as_it_is_then() {
        let call = packet("CP_INDIRECT_BUFFER", &[CALLED, 4]);
        let store = packet("CP_MEM_WRITE", &[CALLED + 12, 9]);
        let stream = [call.clone(), call.clone(), store, call].concat();
        let called = [pack::type0(REGISTERS, 1), 5, pack::type0(REGISTERS + 1, 1), 7];
        let mut gpu = Gpu::new(Chip::default());
        gpu.mem.announce(STREAM, 4 * stream.len() as u32, Some(bytemuck::cast_slice(&stream)));
        gpu.mem.announce(CALLED, 16, Some(bytemuck::cast_slice(&called)));
        Cp::new(&mut gpu, &mut Renderer, &mut Silent).submit(STREAM, stream.len() as u32);
        assert_eq!([0, 1].map(|register| gpu.regs.read(REGISTERS + register)), [5, 9]);
    }

    #[test]
    fn no_more_is_kept_of_buffers_than_fits() {
        let (mut memory, mut streams) = (Memory::new(), Streams::default());
        let dwords = MAX_KEPT as u32 / 2 + 1;
        let words = Rc::new(vec![1; dwords as usize]);
        memory.announce(0x1000_0000u32, 4 * dwords, Some(bytemuck::cast_slice(&words)));
        memory.announce(0x2000_0000u32, 4 * dwords, Some(bytemuck::cast_slice(&words)));
        assert!(streams.add(0x1000_0000.into(), dwords, &words, &memory));
        assert!(streams.add(0x2000_0000.into(), dwords, &words, &memory));
        let found = [0x1000_0000, 0x2000_0000].map(|at| streams.find(at.into(), dwords, &memory).is_some());
        assert_eq!(found, [true, false]);
        assert!(!streams.add(0x1000_0000.into(), dwords, &words, &memory), "it has been run");
        assert!(
            streams.find(0x1000_0000.into(), dwords, &memory).is_some(),
            "what is replaced does not count"
        );
        assert!(streams.find(0x1000_0000.into(), dwords - 1, &memory).is_none());
    }
}
