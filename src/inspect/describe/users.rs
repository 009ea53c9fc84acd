//! Which draws, dispatches and packets of a run use a range of memory, and what names the memory for them.

use std::cell::RefCell;

use a4emu_decoder::a4xx::enums::PollMemoryType;
use a4emu_decoder::a4xx::pm4::Pm4;
use a4emu_decoder::a6xx::{self, A6XX};
use a4emu_decoder::adreno::address::Address as GpuAddress;
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::adreno::packet::Packet;
use serde::Serialize;

use super::blits::BlitSurface;
use super::draw::Draw;
use super::name::{Address, packet_name};
use super::target::SurfacePlace;
use super::written::{MAX_LOGGED, name_of, names};
use a4emu_gpu::a4xx;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::observer::{Announced, Load};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::machine::CodeSource;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::{Running, Synced};
use a4emu_rules::shader::Shaders;

/// Maximum number of listed uses.
const MAX_USES: usize = 4096;

/// What names memory that holds packets.
const COMMANDS: &str = "the command processor (packets)";

/// How memory is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// The capture gives its contents.
    Contents,
    /// Bytes of it were stored.
    Written,
    /// The state of a draw or a packet names it as what is read.
    Read,
}

impl Access {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contents => "contents",
            Self::Written => "written",
            Self::Read => "read",
        }
    }
}

/// A use of the range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Use {
    /// How it is used.
    pub access: Access,
    /// What names the memory: `FS texture 0`, `CS buffer 1`, `resolve of target 0`, a packet.
    pub by: String,
    /// The submit.
    pub submit: u32,
    /// The number of the first run of the draw or dispatch; none for packets.
    pub draw: Option<u32>,
    /// Its frame draw.
    pub frame_draw: Option<u32>,
    /// Address of the packet; none for contents, and where memory holds packets.
    pub packet: Option<Address>,
    /// Number of runs or packets that do the same.
    pub count: u64,
    /// Address of the first byte of the range that is used.
    pub address: Address,
    /// Bytes of the range from there to the last one that is used.
    pub bytes: u64,
}

/// The uses of a range of memory in a run.
pub struct Users {
    start: u64,
    end: u64,
    /// The uses, in the order of the first of each.
    pub all: Vec<Use>,
    /// Number of uses without room.
    pub left_out: u64,
}

impl Users {
    /// The uses of the `bytes` at `start`.
    pub fn new(start: GpuAddress, bytes: u64) -> Self {
        let start = start.get();
        Self { start, end: start.saturating_add(bytes), all: Vec::new(), left_out: 0 }
    }

    /// The part of `start..end` that is in the range.
    fn part(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let part = (self.start.max(start), self.end.min(end));
        (part.0 < part.1).then_some(part)
    }

    /// Adds a use of `start..end`, if a part of it is in the range.
    fn add(&mut self, gpu: &Gpu, call: Option<&Call>, access: Access, by: String, (start, end): (u64, u64)) {
        let Some((start, end)) = self.part(start, end) else { return };
        // The packets of a submit are one use.
        let is_packet = access != Access::Contents && by != COMMANDS;
        let packet = is_packet.then(|| Address::of(gpu.at.address));
        let frame_draw = call.map(Call::frame_draw);
        let is_same = |it: &&mut Use| {
            let is_run = frame_draw.is_some() || it.submit == gpu.at.submit;
            it.access == access && it.by == by && it.frame_draw == frame_draw && it.packet == packet && is_run
        };
        if let Some(known) = self.all.iter_mut().rev().find(is_same) {
            let first = known.address.0;
            let last = (first + known.bytes).max(end);
            (known.count, known.address) = (known.count + 1, Address::of(GpuAddress::new(first.min(start))));
            known.bytes = last - first.min(start);
        } else if self.all.len() < MAX_USES {
            let (submit, draw) = (gpu.at.submit, call.map(Call::number));
            let (address, bytes) = (Address::of(GpuAddress::new(start)), end - start);
            self.all.push(Use { access, by, submit, draw, frame_draw, packet, count: 1, address, bytes });
        } else {
            self.left_out += 1;
        }
    }

    /// The bytes of the part of `start..end` that is in the range; missing ones are 0.
    fn bytes(&self, gpu: Synced<'_>, start: u64, end: u64) -> Vec<u8> {
        let Some((start, end)) = self.part(start, end) else { return Vec::new() };
        gpu.budget.observe(Work::Copy16, 1 + (end - start) / 16);
        let mut bytes = vec![0; (end - start) as usize];
        let _missing_is_zero = gpu.memory().read(GpuAddress::new(start), &mut bytes);
        bytes
    }
}

/// An engine that renders, and adds how draws and dispatches use the range.
pub struct UsingCalls<'a> {
    users: &'a RefCell<Users>,
    shaders: Shaders,
}

impl<'a> UsingCalls<'a> {
    /// Makes an engine that adds to `users`.
    pub fn new(users: &'a RefCell<Users>) -> Self {
        Self { users, shaders: Shaders::default() }
    }
}

impl Engine for UsingCalls<'_> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let users = &mut *self.users.borrow_mut();
        for (by, range) in reads(gpu.sync(), &draw) {
            users.add(gpu, Some(call), Access::Read, by, range);
        }
        for (by, range) in unrendered(gpu, &draw) {
            users.add(gpu, Some(call), Access::Written, by, range);
        }
        let targets = targets(&draw);
        let stores = draw.shaders.iter().filter_map(|it| it.shader.as_ref()).any(|it| it.uses.stores);
        let stays_in_tiles =
            matches!(draw.pass, Some(Pass::Gmem | Pass::Restore)) && draw.tessellation.is_none();
        if stays_in_tiles && !stores && a4xx::vpc::feedback(gpu.sync().view()).is_none() {
            return Renderer.run(gpu, call);
        }
        let before: Vec<Vec<u8>> =
            targets.iter().map(|(_, (start, end))| users.bytes(gpu.sync(), *start, *end)).collect();
        gpu.memory_mut().log_writes_joined(MAX_LOGGED);
        let flow = Renderer.run(gpu, call);
        let stored = gpu.memory_mut().take_writes();
        gpu.budget.observe(Work::Copy16, stored.len() as u64);
        // Whole rows of a target count as prepared for writing: what changed in them was written.
        for ((by, (start, end)), before) in targets.into_iter().zip(before) {
            if users.bytes(gpu.sync(), start, end) != before {
                users.add(gpu, Some(call), Access::Written, by, (start, end));
            }
        }
        let names = names(gpu.sync(), &draw);
        for (start, end) in stored {
            let Some((start, end)) = users.part(start, end) else { continue };
            let mut at = start;
            while at < end {
                let (what, until) = name_of(&names, at, end);
                if let Some(what) = what {
                    users.add(gpu, Some(call), Access::Written, what.to_owned(), (at, until));
                }
                at = until;
            }
        }
        flow
    }
}

/// A name, and the first and the last address behind it.
type NamedRange = (String, (u64, u64));

/// The memory that the state of `draw` names as what is read: indices, vertices, textures, buffers, programs.
fn reads(gpu: Synced<'_>, draw: &Draw) -> Vec<NamedRange> {
    let range = |Address(start): Address, bytes: u64| (start, start.saturating_add(bytes));
    let fetched = draw.reads(gpu.memory()).into_iter();
    let mut all: Vec<NamedRange> = fetched.map(|it| (it.what, range(it.address, it.bytes.into()))).collect();
    for stage in &draw.shaders {
        let words = stage.shader.as_ref().map_or(0, |shader| shader.words.len() as u64);
        if gpu.loaded.stage(stage.stage).source == CodeSource::Memory {
            all.push((format!("{} program", stage.name()), range(stage.address, 8 * words)));
        }
    }
    all
}

/// What a draw or blit of an A6xx writes by its registers: whole rows, as draws are not rendered, and tiles not known.
fn unrendered(gpu: &Gpu, draw: &Draw) -> Vec<NamedRange> {
    if let Some(BlitSurface { place: SurfacePlace::Address(Address(start)), bytes, register, .. }) =
        draw.blit.as_ref().map(|blit| &blit.destination)
    {
        return vec![((*register).to_owned(), (*start, start.saturating_add(*bytes)))];
    }
    let Some([_, rows]) = draw.frame.filter(|_| gpu.chip.generation().number == A6XX.number) else {
        return Vec::new();
    };
    let range = |place: SurfacePlace, pitch: u32| match place {
        SurfacePlace::Address(Address(start)) => {
            Some((start, start.saturating_add(u64::from(pitch) * u64::from(rows))))
        }
        SurfacePlace::Gmem(_) => None,
    };
    let colours = draw.targets.iter().filter(|it| !it.write_mask.is_empty());
    let named = colours.map(|it| (format!("target {} (not rendered)", it.index), range(it.place, it.pitch)));
    let depth = draw.depth.iter().filter(|it| it.write);
    let depth = depth.map(|it| ("depth (not rendered)".to_owned(), range(it.place, it.pitch)));
    named.chain(depth).filter_map(|(name, range)| Some((name, range?))).collect()
}

/// The surfaces in memory that a draw renders or copies to.
fn targets(draw: &Draw) -> Vec<NamedRange> {
    let named = |it: super::canvas::Attachment| {
        let SurfacePlace::Address(Address(start)) = it.place else { return None };
        let bytes = u64::from(it.pitch) * u64::from(it.size[1]);
        let what =
            if draw.resolve.is_some() { format!("resolve of {}", it.which) } else { it.which.to_string() };
        Some((what, (start, start.saturating_add(bytes))))
    };
    draw.attachments().into_iter().filter_map(named).collect()
}

/// An observer that adds how packets and the contents of the capture use the range.
pub struct UsingPackets<'a> {
    users: &'a RefCell<Users>,
    packet: String,
    /// The bytes before the contents that the capture has announced since the last submit.
    before: Option<Vec<u8>>,
    /// Whether the capture has given contents.
    has_contents: bool,
}

impl<'a> UsingPackets<'a> {
    /// Makes an observer that adds to `users`.
    pub fn new(users: &'a RefCell<Users>) -> Self {
        Self { users, packet: String::new(), before: None, has_contents: false }
    }
}

impl Observer for UsingPackets<'_> {
    fn buffer(&mut self, gpu: &mut Running<'_>, buffer: Announced) {
        let users = self.users.borrow();
        let start = buffer.address.get();
        if users.part(start, start + u64::from(buffer.captured)).is_some() && self.before.is_none() {
            self.before = Some(users.bytes(gpu.sync(), users.start, users.end));
        }
    }

    fn submit(&mut self, gpu: &mut Running<'_>, _: GpuAddress, _: u32) -> Flow {
        let users = &mut *self.users.borrow_mut();
        let (start, end) = (users.start, users.end);
        if let Some(before) = self.before.take()
            && (!std::mem::replace(&mut self.has_contents, true)
                || users.bytes(gpu.sync(), start, end) != before)
        {
            users.add(gpu, None, Access::Contents, "the capture".to_owned(), (start, end));
        }
        Flow::Continue
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let users = &mut *self.users.borrow_mut();
        self.packet = packet_name(gpu.chip.generation(), packet);
        let start = gpu.at.address.get();
        let dwords = 1 + match packet {
            Packet::Registers { values, .. } | Packet::TwoRegisters { values, .. } => values.len(),
            Packet::Command { payload, .. } => payload.len(),
            Packet::Filler => 0,
        };
        if users.part(start, start + 4 * dwords as u64).is_some() {
            users.add(gpu, None, Access::Read, COMMANDS.to_owned(), (start, start + 4 * dwords as u64));
        }
        if gpu.chip.generation().number == A6XX.number {
            for (address, bytes) in loads_a6xx(packet) {
                let start = address.get();
                users.add(gpu, None, Access::Read, self.packet.clone(), (start, start.saturating_add(bytes)));
            }
            return;
        }
        for (address, bytes) in loads(packet) {
            let start = u64::from(address);
            users.add(gpu, None, Access::Read, self.packet.clone(), (start, start + u64::from(bytes)));
        }
    }

    fn store(&mut self, gpu: &mut Running<'_>, address: GpuAddress, bytes: &[u8]) {
        let start = address.get();
        let end = start.saturating_add(bytes.len() as u64);
        self.users.borrow_mut().add(gpu, None, Access::Written, self.packet.clone(), (start, end));
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        let start = load.address.get();
        let by = format!("{} ({})", self.packet, loaded(load.kind));
        let end = start.saturating_add(4 * u64::from(load.announced));
        self.users.borrow_mut().add(gpu, None, Access::Read, by, (start, end));
    }
}

/// The memory that a packet of an A4xx reads for itself: address and bytes.
fn loads(packet: &Packet<'_>) -> Vec<(u32, u32)> {
    let Packet::Command { opcode, payload, .. } = *packet else { return Vec::new() };
    match Pm4::parse(opcode, payload) {
        Pm4::DrawIndirect(packet) => vec![(packet.INDIRECT, 16)],
        Pm4::DrawIndxIndirect(packet) => vec![(packet.INDIRECT, 20)],
        Pm4::ExecCsIndirect(packet) => vec![(packet.ADDR, 12)],
        Pm4::MemToReg(packet) => vec![(packet.SRC, 4 * packet.control.CNT().max(1))],
        Pm4::MemToMem(packet) => {
            let bytes = if packet.control.DOUBLE() { 8 } else { 4 };
            packet.rest.iter().take(3).map(|source| (*source, bytes)).collect()
        }
        Pm4::CondWrite(packet) if packet.control.POLL_MEMORY() => vec![(packet.POLL_ADDR, 4)],
        Pm4::WaitRegMem(packet) if packet.control.POLL() != PollMemoryType::POLL_REGISTER => {
            vec![(packet.POLL_ADDR, 4)]
        }
        Pm4::CondExec(packet) => vec![(packet.ADDR0, 4), (packet.ADDR1, 4)],
        _ => Vec::new(),
    }
}

/// As [`loads`], of an A6xx.
fn loads_a6xx(packet: &Packet<'_>) -> Vec<(GpuAddress, u64)> {
    let Packet::Command { opcode, payload, .. } = *packet else { return Vec::new() };
    a6xx::pm4::Pm4::parse(opcode, payload).reads()
}

/// What a load of state loads.
fn loaded(kind: StateKind) -> String {
    let what = match kind {
        StateKind::Instructions(_) => "program",
        StateKind::Constants(_) => "constants",
        StateKind::SharedConstants(_) => "shared constants",
        StateKind::Samplers(_) => "samplers",
        StateKind::Textures(_) => "textures",
        StateKind::Ubos(_) => "uniform buffers",
        StateKind::SsboDescriptors(_) | StateKind::SsboSizes(_) | StateKind::SsboAddresses(_) => {
            "storage buffers"
        }
        StateKind::Unknown => "unknown state",
    };
    kind.stage().map_or_else(|| what.to_owned(), |stage| format!("{} {what}", stage.name()))
}
