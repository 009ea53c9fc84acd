//! What a draw or dispatch stored to memory, apart from its targets: by its shaders and by stream-out, and by the packets
//! behind it.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use a4emu_decoder::a4xx::enums::VgtEventType;
use a4emu_decoder::a4xx::pm4::CP_EVENT_WRITE_0;
use a4emu_decoder::a4xx::regs::rb::RB_SAMPLE_COUNT_CONTROL;
use a4emu_decoder::a4xx::regs::vpc::*;
use a4emu_decoder::a6xx::regs::REGISTERS as REGISTERS_A6XX;
use a4emu_decoder::adreno::packet::Packet;
use serde::Serialize;

use super::draw::Draw;
use super::name::Address;
use super::run::Runs;
use super::stage::{Buffer, ShaderStage};
use super::target;
use a4emu_gpu::a4xx::vpc::feedback;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::Memory;
use a4emu_gpu::settled::{Running, Synced};
use a4emu_rules::number::Number;
use a4emu_rules::shader::{Shaders, Uses};

/// Number of listed dwords of each stored range.
const MAX_WORDS: usize = 8;

/// Maximum number of stored ranges of a draw.
const MAX_WRITTEN: usize = 64;

/// Number of logged ranges above which close ones are joined.
pub(super) const MAX_LOGGED: usize = 1 << 16;

/// Ranges that no descriptor names are one if at most this many bytes lie between them.
const GAP: u64 = 256;

/// Bytes that are compared at a time.
const CHUNK: usize = 1 << 12;

/// What was stored through one descriptor, register or pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// What names the memory: `CS buffer 0`, `stream-out buffer 1`, `memory at VS c4.x`, a register, or `memory`.
    pub what: String,
    /// The packet that stored; none if the draw or dispatch did.
    pub by: Option<String>,
    /// Address of the first byte.
    pub address: Address,
    /// Bytes from the first to the last that was stored.
    pub bytes: u64,
    /// Bytes that differ afterwards, summed over the runs. Bytes count whose value before the capture does not hold.
    pub changed: u64,
    /// The first dwords that changed; if none did, the first that were stored.
    pub words: Vec<Word>,
    /// Number of further dwords that changed.
    pub more: u64,
    /// Hash of all dwords after each store, in their order.
    #[serde(skip)]
    pub hash: u64,
}

/// A dword that was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// Address.
    pub address: Address,
    /// Its value before; none if the capture does not hold it.
    pub before: Option<u32>,
    /// Its value after.
    pub after: Option<u32>,
}

impl Written {
    /// What the listed dwords are taken for.
    pub fn number(&self) -> Number {
        let words: Vec<u32> =
            self.words.iter().flat_map(|word| [word.before, word.after]).flatten().collect();
        Number::guess(words)
    }

    /// The words as lines: a title, then each listed dword.
    pub fn lines(&self) -> Vec<String> {
        let Self { what, by, address, bytes, changed, words, more, .. } = self;
        let by = by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
        let changed = match changed {
            0 => "the same bytes as before".to_owned(),
            changed => format!("{changed} changed"),
        };
        let number = self.number();
        let (hex, text) = (
            |word: Option<u32>| word.map_or("unknown".to_owned(), |bits| format!("{bits:08x}")),
            |word: Option<u32>| word.map_or("unknown".to_owned(), |bits| number.text(bits)),
        );
        let line = |word: &Word| {
            let (before, after) = (word.before, word.after);
            let [old, new] = [hex(before), hex(after)];
            let taken = match number {
                Number::Bits => String::new(),
                _ => format!(" ({} -> {})", text(before), text(after)),
            };
            format!("{}: {old} -> {new}{taken}", word.address)
        };
        let title = format!("{what}{by}: {bytes} bytes at {address}, {changed}");
        let more = (*more > 0).then(|| format!("... {more} more"));
        std::iter::once(title).chain(words.iter().map(line)).chain(more).collect()
    }

    fn new(what: String, by: Option<String>, start: u64, end: u64) -> Self {
        let (changed, words, more, hash) = (0, Vec::new(), 0, 0);
        Self { what, by, address: Address(start), bytes: end - start, changed, words, more, hash }
    }

    fn end(&self) -> u64 {
        self.address.0 + self.bytes
    }

    /// Adds the range of a store.
    fn extend(&mut self, start: u64, end: u64) {
        let (first, last) = (self.address.0.min(start), self.end().max(end));
        (self.address, self.bytes) = (Address(first), last - first);
    }

    /// Adds what differs in the dwords `old` and `new` at `at`, of which `start..end` was stored. `is_known` says of a
    /// dword whether it is known before and after. A byte whose value before is not known counts as changed.
    fn compare(
        &mut self,
        (at, start, end): (u64, u64, u64),
        [old, new]: [&[u8]; 2],
        is_known: &dyn Fn(u32) -> [bool; 2],
    ) {
        let words = old.as_chunks::<4>().0.iter().zip(new.as_chunks::<4>().0);
        for (address, (old, new)) in (at..).step_by(4).zip(words) {
            let [before, after] = is_known(address as u32);
            let mixed = self.hash ^ u64::from(u32::from_le_bytes(*new));
            self.hash = (mixed.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            self.changed += match before || !after {
                true => old.iter().zip(new).filter(|(old, new)| old != new).count() as u64,
                false => end.min(address + 4) - start.max(address),
            };
            let is_changed = old != new || (after && !before);
            if is_changed || self.words.len() < MAX_WORDS {
                let before = before.then(|| u32::from_le_bytes(*old));
                let after = after.then(|| u32::from_le_bytes(*new));
                self.word(Word { address: Address(address), before, after }, is_changed);
            }
        }
    }

    /// Adds what differs in `start..end`.
    fn compare_memory(&mut self, start: u64, end: u64, [before, after]: [&Memory; 2]) {
        // Bytes around the range are equal.
        let (mut at, last) = (start & !3, end.next_multiple_of(4).min(1 << 32));
        let [mut old, mut new] = [[0; CHUNK]; 2];
        while at < last {
            let len = (CHUNK as u64).min(last - at) as usize;
            let [old, new] = [&mut old[..len], &mut new[..len]];
            let is_whole = [before.read(at as u32, old), after.read(at as u32, new)];
            self.compare((at, start, end), [old, new], &|address| match is_whole {
                [true, true] => is_whole,
                _ => [before, after].map(|memory| memory.read_u32(address).is_some()),
            });
            at += len as u64;
        }
    }

    /// Adds a dword of a run, or its value after a later run.
    fn word(&mut self, word: Word, is_changed: bool) {
        let is_same = |it: &Word| it.before == it.after;
        if let Some(known) = self.words.iter_mut().find(|it| it.address == word.address) {
            known.after = word.after;
        } else if self.words.len() < MAX_WORDS {
            self.words.push(word);
        } else if is_changed && let Some(given_up) = self.words.iter().position(is_same) {
            self.words.remove(given_up);
            self.words.push(word);
        } else {
            self.more += u64::from(is_changed);
        }
    }
}

/// Follows what the runs of a draw store.
#[derive(Default)]
pub struct WrittenBy {
    before: Option<Memory>,
    /// What was stored, in the order of the first store.
    pub all: Vec<Written>,
    /// Number of ranges without room.
    pub left_out: u64,
}

/// A range of memory with a name.
pub(super) struct Named {
    /// None for a target, whose pixels are compared instead.
    what: Option<String>,
    start: u64,
    end: u64,
}

impl WrittenBy {
    /// Called before a run. If the draw can store apart from its targets, its stores are logged from here on.
    pub fn before(&mut self, gpu: &mut Gpu, draw: &Draw) {
        let stores =
            draw.shaders.iter().any(|it| it.shader.as_ref().is_some_and(|shader| shader.uses.stores));
        if stores || feedback(gpu.sync().view()).is_some() {
            gpu.memory_mut().log_writes_joined(MAX_LOGGED);
            self.before = Some(gpu.sync().memory().view());
        }
    }

    /// Called after the run. The registers are still those of the draw.
    pub fn after(&mut self, gpu: &mut Gpu, draw: &Draw) {
        let Some(before) = self.before.take() else { return };
        let stored = gpu.memory_mut().take_writes();
        let bytes: u64 = stored.iter().map(|(start, end)| end - start).sum();
        gpu.budget.observe(Work::Copy16, stored.len() as u64 + bytes / 4);
        let names = names(gpu.sync(), draw);
        for (start, end) in stored {
            let mut at = start;
            while at < end {
                let (what, until) = name_of(&names, at, end);
                if let Some(written) = what.and_then(|what| self.entry((what, None), at, until)) {
                    written.compare_memory(at, until, [&before, gpu.sync().memory()]);
                }
                at = until;
            }
        }
    }

    /// Whether nothing was stored.
    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.left_out == 0
    }

    /// Adds what others stored later.
    pub fn append(&mut self, mut later: Self) {
        let room = MAX_WRITTEN.saturating_sub(self.all.len()).min(later.all.len());
        self.left_out += later.left_out + (later.all.len() - room) as u64;
        self.all.extend(later.all.drain(..room));
    }

    /// What was stored through `what`, with `start..end`; none if there is no room.
    fn entry(&mut self, (what, by): (&str, Option<&str>), start: u64, end: u64) -> Option<&mut Written> {
        let is_near = |it: &Written| it.end() + GAP >= start && end + GAP >= it.address.0;
        let is_it =
            |it: &Written| it.what == what && it.by.as_deref() == by && (what != UNNAMED || is_near(it));
        let known = self.all.iter().position(is_it);
        if known.is_none() && self.all.len() >= MAX_WRITTEN {
            self.left_out += 1;
            return None;
        }
        let at = known.unwrap_or(self.all.len());
        if known.is_none() {
            self.all.push(Written::new(what.to_owned(), by.map(str::to_owned), start, end));
        }
        self.all[at].extend(start, end);
        Some(&mut self.all[at])
    }
}

/// The name of memory that nothing names.
const UNNAMED: &str = "memory";

/// The name of the memory at `at`, and the end of the part of `at..end` that has it.
pub(super) fn name_of(names: &[Named], at: u64, end: u64) -> (Option<&str>, u64) {
    // Of several, the one that begins last is the closest description; of equal ones the first is.
    let around = names.iter().filter(|it| (it.start..it.end).contains(&at));
    let best = around.reduce(|best, it| if it.start > best.start { it } else { best });
    let next = names.iter().map(|it| it.start).filter(|start| *start > at).min().unwrap_or(end);
    let until = end.min(next).min(best.map_or(end, |best| best.end));
    (best.map_or(Some(UNNAMED), |best| best.what.as_deref()), until)
}

/// What the state of `draw` names in memory.
pub(super) fn names(gpu: Synced<'_>, draw: &Draw) -> Vec<Named> {
    let memory = gpu.memory();
    let factors =
        draw.tessellation.as_ref().map(|it| ("tessellation factors".to_owned(), it.address, u32::MAX));
    let named = stream_out(gpu).into_iter().chain(factors).chain(buffers(draw)).chain(pointers(draw));
    let named = named.filter_map(|(what, start, bytes)| {
        let (from, bytes) = (start.0, u64::from(bytes.min(memory.room(start.gpu()))));
        (start != Address(0) && bytes > 0).then(|| Named { what: Some(what), start: from, end: from + bytes })
    });
    named.chain(targets(draw)).collect()
}

/// A name, an address, and the greatest number of bytes there.
type NamedRange = (String, Address, u32);

/// The buffers of stream-out, if it is on.
fn stream_out(gpu: Synced<'_>) -> Vec<NamedRange> {
    if feedback(gpu.view()).is_none() {
        return Vec::new();
    }
    let regs = &gpu.regs;
    let flush = [
        regs.get::<VPC_SO_FLUSH_WADDR_0>().VALUE(),
        regs.get::<VPC_SO_FLUSH_WADDR_1>().VALUE(),
        regs.get::<VPC_SO_FLUSH_WADDR_2>().VALUE(),
        regs.get::<VPC_SO_FLUSH_WADDR_3>().VALUE(),
    ];
    let places = (0..).zip(flush).flat_map(|(at, flush)| {
        let base = regs.at::<VPC_SO_BUFFER_BASE>(at).VALUE();
        let size = regs.at::<VPC_SO_BUFFER_SIZE>(at).VALUE();
        let buffer = format!("stream-out buffer {at} (VPC_SO[{at}].BUFFER_BASE)");
        [(buffer, Address::of(base), size), (format!("VPC_SO_FLUSH_WADDR_{at}"), Address::of(flush), 4)]
    });
    places.collect()
}

/// The stages whose programs the capture holds.
fn stages(draw: &Draw) -> impl Iterator<Item = (&ShaderStage, &Uses)> {
    draw.shaders.iter().filter_map(|stage| Some((stage, &stage.shader.as_ref()?.uses)))
}

/// The storage buffers and images that programs may store to.
fn buffers(draw: &Draw) -> Vec<NamedRange> {
    let mut places = Vec::new();
    for (stage, uses) in stages(draw) {
        // A slot that is stored to describes the memory better than one that is loaded from.
        let is_stored = |slot: u32| uses.stored.iter().any(|stored| u32::from(*stored) == slot);
        let (stored, others): (Vec<_>, Vec<_>) =
            stage.buffers.iter().partition(|buffer| is_stored(buffer.slot));
        let others = others.into_iter().filter(|_| uses.relative_buffers);
        let place =
            |it: &Buffer| (format!("{} buffer {}", stage.name(), it.slot_name()), it.address, u32::MAX);
        places.extend(stored.into_iter().chain(others).map(place));
    }
    places
}

/// The constants that may be addresses, of programs that store to addresses.
fn pointers(draw: &Draw) -> Vec<NamedRange> {
    let mut places = Vec::new();
    for (stage, _) in stages(draw).filter(|(_, uses)| uses.stores_by_pointer) {
        for constant in &stage.constants {
            let named = "xyzw".chars().zip(constant.bits).filter(|(c, _)| constant.components.contains(*c));
            let what = |c: char| format!("memory at {} c{}.{c}", stage.name(), constant.index);
            places.extend(named.map(|(component, bits)| (what(component), Address::of(bits), u32::MAX)));
        }
    }
    places
}

/// The targets in memory. Their pixels are compared instead.
fn targets(draw: &Draw) -> impl Iterator<Item = Named> {
    draw.attachments().into_iter().filter_map(|attachment| {
        let target::SurfacePlace::Address(Address(start)) = attachment.place else { return None };
        let bytes = u64::from(attachment.pitch) * u64::from(attachment.size[1]);
        Some(Named { what: None, start, end: start.saturating_add(bytes) })
    })
}

/// An engine that renders, and records what draws and dispatches store apart from their targets.
#[derive(Default)]
pub struct Storing {
    /// The numbers of the runs that are looked at; none for all.
    runs: Option<BTreeSet<u32>>,
    shaders: Shaders,
    by_draw: BTreeMap<u32, WrittenBy>,
    /// Number of ranges that are not kept, since there are too many draws or no memory.
    left_out: u64,
}

impl Storing {
    /// Makes an engine that looks at these runs, and ends at the first draw with vertices behind the last of them;
    /// or at all.
    pub fn new(runs: Option<BTreeSet<u32>>) -> Self {
        Self { runs, ..Self::default() }
    }

    /// What a command with these frame draws stored, and then what the packets behind it did.
    pub fn take(
        &mut self,
        frame_draws: impl IntoIterator<Item = u32> + Clone,
        packets: &mut PacketStores<'_>,
    ) -> WrittenBy {
        let mut all = take(&mut self.by_draw, frame_draws.clone());
        all.append(packets.take(frame_draws));
        all
    }

    /// What all commands stored, by frame draw, and the number of ranges that are left out.
    pub fn finish(mut self, mut packets: PacketStores<'_>) -> (Vec<(u32, Vec<Written>)>, u64) {
        let numbers: BTreeSet<u32> = self.by_draw.keys().chain(packets.by_draw.keys()).copied().collect();
        let mut left_out = self.left_out + packets.left_out;
        let of = |number: u32| {
            let written = self.take([number], &mut packets);
            left_out += written.left_out;
            (number, written.all)
        };
        (numbers.into_iter().map(of).collect(), left_out)
    }
}

impl Engine for Storing {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if self.runs.as_ref().is_some_and(BTreeSet::is_empty) && !draws_nothing(call) {
            return Flow::Stop;
        }
        let is_looked_at = self.runs.as_mut().is_none_or(|runs| runs.remove(&call.number()));
        let number = call.frame_draw();
        if !is_looked_at {
            return Renderer.run(gpu, call);
        }
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let mut written = self.by_draw.remove(&number).unwrap_or_default();
        written.before(gpu, &draw);
        let flow = Renderer.run(gpu, call);
        written.after(gpu, &draw);
        let bytes = written.all.len() * (size_of::<Written>() + MAX_WORDS * size_of::<Word>());
        if self.by_draw.len() < MAX_DRAWS && gpu.budget.keep(bytes as u64) {
            self.by_draw.extend((!written.is_empty()).then_some((number, written)));
        } else {
            self.left_out += written.all.len() as u64 + written.left_out;
        }
        flow
    }
}

/// Removes what was stored by these frame draws.
fn take(by_draw: &mut BTreeMap<u32, WrittenBy>, frame_draws: impl IntoIterator<Item = u32>) -> WrittenBy {
    let mut all = WrittenBy::default();
    frame_draws.into_iter().filter_map(|number| by_draw.remove(&number)).for_each(|more| all.append(more));
    all
}

/// Maximum number of draws behind which packets store.
const MAX_DRAWS: usize = 1 << 16;

/// Maximum number of draws without vertices in front of a packet that stores.
const MAX_EMPTY: usize = 8;

/// An observer of what the packets behind draws store, up to the next draw with vertices, or to the end of the submit.
/// The result of a query is stored there.
pub struct PacketStores<'r> {
    /// The runs of the one draw that is looked at; none for all draws.
    runs: Option<&'r Runs>,
    /// Frame draws that are behind: one with vertices, and those without that follow.
    behind: Vec<u32>,
    /// Whether the last selected run has begun.
    is_last: bool,
    /// The packet that runs, and whether it writes a sample count.
    packet: (String, bool),
    /// What was stored, by frame draw.
    by_draw: BTreeMap<u32, WrittenBy>,
    /// Number of stores behind draws without room.
    left_out: u64,
}

impl<'r> PacketStores<'r> {
    /// Makes an observer of the packets behind `runs`, or behind all draws.
    pub fn new(runs: Option<&'r Runs>) -> Self {
        let (behind, packet, by_draw) = Default::default();
        Self { runs, behind, is_last: false, packet, by_draw, left_out: 0 }
    }

    /// What was stored behind a command with these frame draws.
    pub fn take(&mut self, frame_draws: impl IntoIterator<Item = u32>) -> WrittenBy {
        take(&mut self.by_draw, frame_draws)
    }
}

impl Observer for PacketStores<'_> {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let is_selected = self.runs.is_none_or(|runs| runs.has(gpu, call));
        // Drivers draw nothing in front of a query's packet.
        if !draws_nothing(call) || self.behind.len() >= MAX_EMPTY {
            self.behind.clear();
        }
        if is_selected {
            self.behind.push(call.frame_draw());
            self.is_last |= self.runs.is_some_and(|runs| runs.is_last(call));
        }
        Flow::Continue
    }

    fn submitted(&mut self, _: &mut Running<'_>) -> Flow {
        self.behind.clear();
        if self.is_last { Flow::Stop } else { Flow::Continue }
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        if self.behind.is_empty() {
            return;
        }
        let (name, is_count) = &mut self.packet;
        name.clear();
        *is_count = false;
        match packet {
            Packet::Command { opcode, payload, .. } => {
                name.push_str(gpu.chip.generation().packets.row(*opcode).map_or(UNNAMED, |row| row.name));
                let event = payload.first().map(|word| CP_EVENT_WRITE_0(*word).EVENT());
                *is_count = name == "CP_EVENT_WRITE" && event == Some(VgtEventType::ZPASS_DONE);
            }
            // The one register that stores.
            Packet::Registers { .. } | Packet::TwoRegisters { .. } | Packet::Filler => {
                name.push_str("CP_ME_NRT_DATA")
            }
        }
    }

    fn store(&mut self, gpu: &mut Running<'_>, address: GpuAddress, bytes: &[u8]) {
        let (packet, is_count) = &self.packet;
        let generation = gpu.chip.generation();
        let what = match generation.number {
            _ if !*is_count => UNNAMED,
            6 if gpu.regs.address(*SAMPLE_COUNT_A6XX) == address => "RB_SAMPLE_COUNT_ADDR",
            4 if address == gpu.regs.get::<RB_SAMPLE_COUNT_CONTROL>().ADDR().into() => {
                "RB_SAMPLE_COUNT_CONTROL.ADDR"
            }
            _ => UNNAMED,
        };
        let start = address.get() & !3;
        let end = (address.get() + bytes.len() as u64).min(1 << generation.address_bits);
        let len = end.next_multiple_of(4) - start;
        gpu.budget.observe(Work::Copy16, 1 + len / 4);
        if self.behind.is_empty() {
            return;
        }
        let memory = gpu.sync().memory();
        if memory.buffer_at(address).is_none() {
            return;
        }
        let mut old = vec![0; len as usize];
        let is_whole = memory.read(GpuAddress::new(start), &mut old);
        let mut new = old.clone();
        for (new, stored) in new[(address.get() - start) as usize..].iter_mut().zip(bytes) {
            *new = *stored;
        }
        for number in &self.behind {
            if self.by_draw.len() >= MAX_DRAWS && !self.by_draw.contains_key(number) {
                self.left_out += 1;
                continue;
            }
            let written = self.by_draw.entry(*number).or_default();
            if let Some(written) = written.entry((what, Some(packet)), address.get(), end) {
                let is_known = |word| [is_whole || memory.read_u32(word).is_some(), true];
                written.compare((start, address.get(), end), [&old, &new], &is_known);
            }
        }
    }
}

/// The low half of where the A6xx stores sample counts.
static SAMPLE_COUNT_A6XX: LazyLock<u32> =
    LazyLock::new(|| REGISTERS_A6XX.by_name("RB_SAMPLE_COUNT_ADDR_LO").expect("a register of the A6xx"));

/// Whether a draw has no vertices.
pub(super) fn draws_nothing(call: &Call) -> bool {
    matches!(call, Call::Draw(call) if call.count == 0 || call.instances == 0)
}
