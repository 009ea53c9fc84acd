//! Checks F6 to F10: memory that one unit of the chip wrote and another one reads, without the flushes, invalidations and waits
//! between them. In order, as here, they have no effect, so that nothing else would show that they are missing.
//!
//! Source: docs/drivers/freedreno.rst ("Cache hierarchy") and the comments on accesses, stages and flushes in `tu_cmd_buffer.h`
//! and `tu_cmd_buffer.cc` of Mesa 25.0.7; docs/hardware/a6xx.md 8. A submit begins with clean caches.

use a4emu_decoder::a6xx::enums::VgtEventType;
use a4emu_decoder::a6xx::load_state::Source;
use a4emu_decoder::a6xx::pm4::Pm4;
use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::a6xx::blit::Surface;
use a4emu_gpu::cp::{BlitCall, Surfaces};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;

use super::uses::{Fetched, Half, Target, stored};
use crate::rules::Id;
use crate::state::Violations;

/// Maximum number of writes that are remembered at a time. Nothing is reported of further ones.
const MAX_WRITES: usize = 256;

/// First address, and the one behind the last.
type Range = (u64, u64);

/// What wrote memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    /// A packet: the command processor completes its stores later.
    Packet,
    /// A target in memory, or CP_BLIT: half of CCU holds what they write.
    Ccu(Half),
    /// The event BLIT, which passes by the caches.
    Resolve,
}

impl Writer {
    const fn name(self) -> &'static str {
        match self {
            Self::Packet => "a packet",
            Self::Ccu(Half::Color) => "a colour target or CP_BLIT",
            Self::Ccu(Half::Depth) => "a depth buffer",
            Self::Resolve => "the event BLIT",
        }
    }

    /// What makes its writes reach memory.
    const fn flush(self) -> &'static str {
        match self {
            Self::Packet => "CP_WAIT_MEM_WRITES",
            Self::Ccu(Half::Color) => "PC_CCU_FLUSH_COLOR_TS",
            Self::Ccu(Half::Depth) => "PC_CCU_FLUSH_DEPTH_TS",
            Self::Resolve => "",
        }
    }
}

/// A range that was written, and what has been done since.
#[derive(Clone, Copy, Debug)]
struct Write {
    writer: Writer,
    range: Range,
    /// Whether a flush to memory has begun.
    flushed: bool,
    /// Whether the flush was waited for.
    arrived: bool,
    /// Whether an invalidation of UCHE has begun.
    invalidated: bool,
}

impl Write {
    fn new(writer: Writer, range: Range) -> Self {
        let flushed = writer == Writer::Resolve;
        Self { writer, range, flushed, arrived: false, invalidated: false }
    }

    /// What lacks for the command processor.
    fn lacks_for_packets(&self) -> Option<&'static str> {
        match (self.flushed, self.writer) {
            (false, writer) => Some(writer.flush()),
            (true, Writer::Packet) => None,
            (true, _) => (!self.arrived).then_some("CP_WAIT_FOR_IDLE"),
        }
    }

    /// What lacks for what reads through UCHE. A wait forgets the writes to which nothing else lacks.
    fn lacks_for_uche(&self) -> Option<&'static str> {
        Some(match self {
            Self { flushed: false, .. } => self.writer.flush(),
            Self { invalidated: false, .. } => "CACHE_INVALIDATE",
            _ => "CP_WAIT_FOR_IDLE",
        })
    }
}

/// What shaders stored since the last complete flush. The exact bytes are not known: memory knows when a page changed last.
#[derive(Clone, Copy, Debug)]
struct Stores {
    /// Memory time of the first store.
    since: u64,
    /// Whether a flush to memory has begun.
    flushed: bool,
    /// Whether the flush was waited for.
    arrived: bool,
    /// Whether the stores were waited for.
    waited: bool,
}

/// What was written in this submit, and the flushes since.
#[derive(Default)]
pub struct Traffic {
    /// Memory time at which the last dispatch began.
    running: Option<u64>,
    stores: Option<Stores>,
    writes: Vec<Write>,
    /// Whether the running packet is an event, whose stores are in order with draws.
    is_event: bool,
    /// What packets and blits stored since the first store of a shader. Their pages are not taken for a shader's.
    others: Vec<Range>,
    /// Whether there were more of `others` than are remembered. Nothing is taken for a shader's store then.
    is_full: bool,
    /// Whether a wait for idle has begun that the command processor itself did not wait for.
    behind: bool,
    /// Whether CCU may hold what draws and blits wrote: its colour half, its depth half.
    held: [bool; 2],
    /// Whether a draw, dispatch, blit or event was not waited for.
    busy: bool,
    /// The last value of RB_CCU_CNTL.
    ccu: Option<u32>,
    /// How far the visibility streams of the last binning pass are.
    streams: Streams,
}

/// The steps from a binning pass to the draws of bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Streams {
    /// A binning pass ran.
    Made,
    /// CACHE_FLUSH_TS was written.
    Flushed,
    /// The flush was waited for.
    Arrived,
    /// The command processor waited for the flush, or no binning pass ran.
    #[default]
    Usable,
}

fn meets((start, end): Range, (first, behind): Range) -> bool {
    start < behind && first < end
}

impl Traffic {
    /// Called at the next packet or call: the last dispatch has finished its stores.
    fn settle(&mut self, gpu: Synced<'_>) {
        let Some(before) = self.running.take().filter(|before| gpu.memory().now() > *before) else { return };
        let since = self.stores.map_or(before, |stores| stores.since);
        if self.stores.is_none() {
            self.others.clear();
        }
        self.stores = Some(Stores { since, flushed: false, arrived: false, waited: false });
    }

    fn add(&mut self, writer: Writer, range: Range) {
        self.writes.retain(|it| !(it.writer == writer && it.range == range));
        if self.writes.len() < MAX_WRITES {
            self.writes.push(Write::new(writer, range));
        }
        self.note_other(range);
    }

    /// Notes a range that no shader stored to.
    fn note_other(&mut self, range: Range) {
        if self.others.len() < MAX_WRITES {
            self.others.push(range);
        } else {
            self.is_full = true;
        }
    }

    /// Checks a command that is about to execute.
    pub fn command(&mut self, gpu: Synced<'_>, packet: &Pm4<'_>, violations: &mut Violations) {
        self.settle(gpu);
        self.is_event = matches!(packet, Pm4::EventWrite(_));
        match packet {
            Pm4::WaitForIdle(_) => self.idle(),
            Pm4::WaitMemWrites(_) => self.land(),
            Pm4::WaitForMe(_) => self.catch_up(),
            Pm4::EventWrite(packet) => self.event(packet.event.EVENT()),
            // CP_REG_RMW and CP_REG_TO_SCRATCH wait for idle and for the command processor before they read.
            Pm4::RegRmw(_) | Pm4::RegToScratch(_) => {
                self.idle();
                self.catch_up();
            }
            Pm4::MemToMem(packet) if packet.control.WAIT_FOR_MEM_WRITES() => self.land(),
            _ => {}
        }
        if matches!(packet, Pm4::WaitRegMem(_) | Pm4::WaitMemGte(_)) {
            // A poll reads until the value is there.
            packet.reads().into_iter().for_each(|read| self.land_in(read));
        } else {
            self.packet_reads(gpu, packet, violations);
        }
        if matches!(packet, Pm4::MemToReg(_) | Pm4::MemToMem(_) | Pm4::RegToMem(_)) {
            self.catch_up();
        }
    }

    fn packet_reads(&mut self, gpu: Synced<'_>, packet: &Pm4<'_>, violations: &mut Violations) {
        let loaded = packet.load().and_then(|load| match load.source() {
            Source::Memory { address } => Some((address, u64::from(load.dwords()) * 4)),
            _ => None,
        });
        // Firmware of several chips lets these read before a pending wait for idle has ended.
        let overtakes = matches!(packet, Pm4::DrawIndirectMulti(_) | Pm4::DrawAuto(_) | Pm4::DrawPredSet(_));
        for (address, bytes) in packet.reads().into_iter().chain(loaded) {
            let range = (address.get(), address.get().saturating_add(bytes));
            if let Some((write, lacks)) = self.unseen(range, Write::lacks_for_packets) {
                let rule = if write.writer == Writer::Packet { Id::F6 } else { Id::F7 };
                let name = write.writer.name();
                violations.report(rule, format!("{name} wrote what is read at {address}: no {lacks} since"));
            } else if self.is_stored(gpu, range) {
                let lacks = match self.stores {
                    Some(Stores { flushed: false, .. }) => "CACHE_FLUSH_TS",
                    Some(Stores { arrived: false, .. }) => "CP_WAIT_FOR_IDLE",
                    _ if overtakes && self.behind => "CP_WAIT_FOR_ME",
                    _ => continue,
                };
                violations
                    .report(Id::F7, format!("a shader stored what is read at {address}: no {lacks} since"));
            }
        }
    }

    /// A write that meets `range`, and what lacks by `lacks`.
    fn unseen(
        &self,
        range: Range,
        lacks: impl Fn(&Write) -> Option<&'static str>,
    ) -> Option<(&Write, &'static str)> {
        let writes = self.writes.iter().filter(|it| meets(it.range, range));
        writes.filter_map(|it| Some((it, lacks(it)?))).next()
    }

    /// Whether a shader stored to a page of `range` since the last complete flush, and nothing else did.
    fn is_stored(&self, gpu: Synced<'_>, range: Range) -> bool {
        let Some(stores) = self.stores.filter(|_| !self.is_full) else { return false };
        let (start, bytes) = (Address::new(range.0), range.1 - range.0);
        let Ok(bytes) = u32::try_from(bytes) else { return false };
        let page = |at: u64| at / u64::from(a4emu_gpu::memory::PAGE);
        let pages = |(first, behind): Range| (page(first), page(behind.saturating_sub(1)) + 1);
        bytes > 0
            && u64::from(gpu.memory().room(start)) >= u64::from(bytes)
            && self.others.iter().all(|other| !meets(pages(*other), pages(range)))
            && !gpu.memory().is_unchanged(start, bytes, stores.since)
    }

    fn event(&mut self, event: VgtEventType) {
        self.busy = true;
        let half = match event {
            VgtEventType::PC_CCU_FLUSH_COLOR_TS => Some(Half::Color),
            VgtEventType::PC_CCU_FLUSH_DEPTH_TS => Some(Half::Depth),
            _ => None,
        };
        if let Some(half) = half {
            self.held[half as usize] = false;
            let written = self.writes.iter_mut().filter(|it| it.writer == Writer::Ccu(half));
            written.for_each(|it| it.flushed = true);
        }
        match event {
            VgtEventType::CACHE_FLUSH_TS => {
                self.stores.iter_mut().for_each(|it| it.flushed = true);
                if self.streams == Streams::Made {
                    self.streams = Streams::Flushed;
                }
            }
            // Drivers write the event before CP_WAIT_MEM_WRITES, and wait for both.
            VgtEventType::CACHE_INVALIDATE => {
                let written = self.writes.iter_mut().filter(|it| it.flushed || it.writer == Writer::Packet);
                written.for_each(|it| it.invalidated = true);
            }
            _ => {}
        }
    }

    /// The stores of packets are complete.
    fn land(&mut self) {
        self.writes.iter_mut().filter(|it| it.writer == Writer::Packet).for_each(|it| it.flushed = true);
    }

    /// The stores of packets to this address and so many bytes are complete.
    fn land_in(&mut self, (address, bytes): (Address, u64)) {
        let range = (address.get(), address.get().saturating_add(bytes));
        let stored = self.writes.iter_mut().filter(|it| it.writer == Writer::Packet);
        stored.filter(|it| meets(it.range, range)).for_each(|it| it.flushed = true);
    }

    /// The chip is idle.
    fn idle(&mut self) {
        (self.busy, self.behind) = (false, true);
        self.writes.retain(|it| !(it.flushed && it.invalidated));
        self.writes.iter_mut().for_each(|it| it.arrived = it.flushed);
        if let Some(stores) = &mut self.stores {
            (stores.waited, stores.arrived) = (true, stores.flushed);
        }
        if self.streams == Streams::Flushed {
            self.streams = Streams::Arrived;
        }
    }

    /// The command processor has waited for what came before.
    fn catch_up(&mut self) {
        self.behind = false;
        self.stores = self.stores.filter(|it| !it.arrived);
        if self.streams == Streams::Arrived {
            self.streams = Streams::Usable;
        }
    }

    /// Checks a write to RB_CCU_CNTL, which divides tile memory between tiles and CCU.
    pub fn ccu_control(&mut self, value: u32, violations: &mut Violations) {
        if self.ccu.replace(value).is_none_or(|before| before == value) {
            return;
        }
        let lacks = match self.held {
            [true, _] => Some("PC_CCU_FLUSH_COLOR_TS"),
            [_, true] => Some("PC_CCU_FLUSH_DEPTH_TS"),
            _ => self.busy.then_some("CP_WAIT_FOR_IDLE"),
        };
        lacks.into_iter().for_each(|lacks| {
            violations
                .report(Id::F10, format!("RB_CCU_CNTL changes, no {lacks} since the last draw or blit"));
        });
    }

    /// Records a store of a packet.
    pub fn store(&mut self, address: Address, bytes: usize) {
        let range = (address.get(), address.get().saturating_add(bytes as u64));
        if self.is_event {
            return self.note_other(range);
        }
        self.add(Writer::Packet, range);
    }

    /// Checks what a draw or dispatch fetches.
    pub fn fetch(&mut self, gpu: Synced<'_>, fetched: &[Fetched], violations: &mut Violations) {
        self.settle(gpu);
        for it in fetched {
            if let Some((write, lacks)) = self.unseen(it.range, Write::lacks_for_uche) {
                violations.report(Id::F8, format!("{} wrote {it}: no {lacks} since", write.writer.name()));
            } else if self.stores.is_some_and(|stores| !stores.waited) && self.is_stored(gpu, it.range) {
                violations.report(Id::F9, format!("a shader stored to {it}: no CP_WAIT_FOR_IDLE since"));
            }
        }
    }

    /// Checks and records a draw of `pass`. Its `targets` are in memory.
    pub fn draw(&mut self, pass: Pass, targets: &[Target], violations: &mut Violations) {
        match pass {
            Pass::Binning => self.streams = Streams::Made,
            Pass::Gmem if self.streams != Streams::Usable => {
                let lacks = match self.streams {
                    Streams::Made => "CACHE_FLUSH_TS",
                    Streams::Flushed => "CP_WAIT_FOR_IDLE",
                    _ => "CP_WAIT_FOR_ME",
                };
                let what = format!("visibility streams of the binning pass are read: no {lacks} since");
                violations.report(Id::F7, what);
                self.streams = Streams::Usable;
            }
            _ => {}
        }
        for target in targets {
            self.held[target.half as usize] = true;
            self.add(Writer::Ccu(target.half), target.range());
        }
        self.busy = true;
    }

    /// Records that a dispatch begins.
    pub fn dispatch(&mut self, gpu: Synced<'_>) {
        (self.running, self.busy) = (Some(gpu.memory().now()), true);
    }

    /// Checks and records a blit.
    pub fn blit(&mut self, gpu: Synced<'_>, call: &BlitCall, violations: &mut Violations) {
        self.settle(gpu);
        match call.between {
            Surfaces::Memory(_) => {
                let source = Surface::source(&gpu.regs).map(|it| Fetched::of_surface(&it));
                self.fetch(gpu, source.as_slice(), violations);
                self.held[Half::Color as usize] = true;
                self.add(Writer::Ccu(Half::Color), Surface::destination(&gpu.regs).range());
            }
            Surfaces::TileMemory => {
                if let Some(surface) = stored(&gpu.regs) {
                    self.add(Writer::Resolve, surface.range());
                }
            }
        }
        self.busy = true;
    }
}
