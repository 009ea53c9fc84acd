//! Makes a capture of an edit: packets around the draw set what is edited, and set it back.
//!
//! The command buffer that holds the draw's packet is copied to a place where the capture has no buffer, with these
//! packets in it. What called the buffer calls the copy. All other bytes stay as they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use a4emu_decoder::a4xx::pm4::{CP_INDIRECT_BUFFER_1, CondExecRange, Pm4};
use a4emu_decoder::a6xx;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::{Body, Section, SectionId};
use a4emu_decoder::adreno::packet::{Packet, Packets};
use a4emu_decoder::adreno::pm4::Outline;
use a4emu_decoder::generation::{Framing, Generation};
use anyhow::{Context, bail, ensure};

use super::packets::{Around, around};
use super::{Change, Edit};
use crate::describe::Capture;
use a4emu_gpu::cp::{Call, Engine, Flow, GROUPS, Group, Observer, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, accepted};

/// Alignment of new buffers, in bytes.
const PAGE: u64 = 4096;

/// What calls a command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Caller {
    /// The section with this number, a submit.
    Submit(usize),
    /// A packet: the address of the dword that has the buffer's address (or the low half), and the dword behind it,
    /// which has its length.
    Packet { at: u64, size: u32 },
}

/// A command buffer that is running.
#[derive(Clone, Copy, Debug)]
struct Open {
    address: u64,
    dwords: u32,
    caller: Option<Caller>,
    /// Whether groups of state run before the draw of the last packet, and the last of all groups if it does.
    groups: (bool, Option<Group>),
}

/// A command buffer with edited draws.
#[derive(Debug, Default)]
struct Buffer {
    words: Vec<u32>,
    callers: BTreeSet<Caller>,
    /// The number of the section before which the copy is announced.
    section: usize,
    /// The edited draws, by the offset of their packet in dwords.
    draws: BTreeMap<usize, Around>,
}

/// Identifies a command buffer: group of buffers, address, length in dwords.
type BufferKey = (u32, u64, u32);

/// The command buffers with edited draws, as a run finds them, and the place of the run.
struct Found {
    generation: &'static Generation,
    /// The number of the section that is played.
    section: usize,
    /// Group of buffers, and its first submit.
    first_submit: (u32, usize),
    open: Vec<Open>,
    buffers: BTreeMap<BufferKey, Buffer>,
    error: Option<anyhow::Error>,
}

/// Contents of a buffer: number of the section, address, bytes.
type Dump = (usize, u64, u64);

/// The capture with `edits` in it, without compression.
///
/// # Errors
/// The call fails if the capture is damaged or is one of another chip, or if an edit cannot be written as packets: it
/// names one of several runs, or the state before differs from run to run.
pub fn capture_of(
    capture: &Capture,
    edits: &[Edit],
    limits: &Limits,
    shared: &Shared,
) -> anyhow::Result<Vec<u8>> {
    for edit in edits {
        let is_one = edit.runs.only.is_some() && edit.runs.count > 1;
        ensure!(
            !is_one,
            "the packet of the edited draw runs for several tiles: name all its runs, such as f5"
        );
    }
    let mut playback = limits.playback(capture.name());
    let found = RefCell::new(Found::new(capture.generation(limits, shared)?));
    let (mut dumps, mut taken): (Vec<Dump>, Vec<(u64, u64)>) = Default::default();
    let mut engine = Placing { edits, found: &found, skip: Skip::default() };
    let mut announced = None;
    for (number, section) in capture.sections(&playback.gpu.budget, shared)?.enumerate() {
        let section = section.context("a damaged capture is not written again")?;
        match section.body() {
            Ok(Body::GpuAddr(record)) => {
                taken.push((record.address, record.address.saturating_add(record.length.into())));
                announced = Some(record);
            }
            Ok(Body::BufferContents(bytes)) => {
                let bytes = bytes.len() as u64;
                dumps.extend(announced.take().map(|record| (number, record.address, bytes)));
            }
            _ => {}
        }
        found.borrow_mut().section = number;
        if playback.section(&section, &mut engine, &mut Calls(&found)) == Flow::Stop {
            break;
        }
    }
    accepted(capture.name(), &playback.gpu.report)?;
    ensure!(playback.gpu.budget.cut().is_none(), "the run was cut off before the capture was read");
    let Found { generation, buffers, error, .. } = found.into_inner();
    error.map_or(Ok(()), Err)?;
    let copies = copies(generation, buffers, taken)?;
    write(capture, &copies, &dumps, limits, shared)
}

/// A command buffer with its edits, at its new place.
struct Copied {
    address: u64,
    words: Vec<u32>,
    section: usize,
}

/// New buffers, and the dwords that change elsewhere.
#[derive(Default)]
struct Copies {
    buffers: Vec<Copied>,
    /// Dwords in memory, each with the section of the first submit that reads it.
    dwords: BTreeMap<u64, (u32, usize)>,
    /// Address and length of submits, by number of the section.
    submits: BTreeMap<usize, (u64, u32)>,
}

/// Finds places for the buffers, and changes their callers.
fn copies(
    generation: &Generation,
    buffers: BTreeMap<BufferKey, Buffer>,
    mut taken: Vec<(u64, u64)>,
) -> anyhow::Result<Copies> {
    let mut all = Copies::default();
    let mut olds = Vec::new();
    for ((_, old, _), buffer) in buffers {
        let mut laid = with_edits(&buffer, generation.framing)?;
        let bytes = 4 * laid.words.len() as u64;
        let address = room(&mut taken, bytes, 1 << generation.address_bits)
            .context("there is no room for another command buffer")?;
        laid.place(address);
        for caller in &buffer.callers {
            match caller {
                Caller::Submit(section) => {
                    all.submits.insert(*section, (address, laid.runs));
                }
                Caller::Packet { at, size } => {
                    let length = CP_INDIRECT_BUFFER_1::FIELDS[0].insert(*size, laid.runs);
                    ensure!(
                        length & 0xf_ffff == laid.runs,
                        "the command buffer is too long for a packet that calls it"
                    );
                    let [low, high] = halves(address);
                    let called = if is_wide(generation) { &[low, high, length][..] } else { &[low, length] };
                    for (index, word) in called.iter().enumerate() {
                        all.dwords.insert(at.wrapping_add(4 * index as u64), (*word, buffer.section));
                    }
                }
            }
        }
        olds.push((old, buffer.draws.clone()));
        all.buffers.push(Copied { address, words: laid.words, section: buffer.section });
    }
    // A copied buffer may call another one.
    for (copy, (old, draws)) in all.buffers.iter_mut().zip(olds) {
        let moved = |index: usize| {
            let earlier = draws
                .iter()
                .filter(|(draw, _)| **draw < index)
                .map(|(_, it)| it.before.len() + it.after.len());
            index + earlier.sum::<usize>()
        };
        for (at, (value, _)) in &all.dwords {
            let index = at.checked_sub(old).map(|offset| moved(offset as usize / 4));
            if let Some(word) = index.and_then(|index| copy.words.get_mut(index)) {
                *word = *value;
            }
        }
    }
    Ok(all)
}

/// Whether addresses have two dwords.
fn is_wide(generation: &Generation) -> bool {
    generation.address_bits > 32
}

/// The dwords of an address, the low one first.
const fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

/// The dwords of a buffer with the packets around its draws.
#[derive(Debug, PartialEq, Eq)]
struct Laid {
    words: Vec<u32>,
    /// Number of dwords that run. Groups of state are behind them.
    runs: u32,
    /// Groups and programs: the index of the dwords that take the address, and that of what they name.
    groups: Vec<[usize; 2]>,
}

impl Laid {
    /// Says where the groups are, in a buffer at `address`.
    fn place(&mut self, address: u64) {
        for [at, group] in &self.groups {
            self.words[*at..][..2].copy_from_slice(&halves(address + 4 * *group as u64));
        }
    }
}

/// Dwords to a multiple of which programs are placed.
const PROGRAM_UNIT: usize = 32;

/// Puts the packets around the draws of a buffer.
fn with_edits(buffer: &Buffer, framing: Framing) -> anyhow::Result<Laid> {
    let mut words = Vec::with_capacity(buffer.words.len());
    let (mut at, mut named) = (0, Vec::new());
    for (draw, around) in &buffer.draws {
        let rest = buffer.words.get(*draw..).unwrap_or_default();
        let mut packet = Packets::new(framing, rest);
        let _may_be_cut = packet.next().context("the command buffer does not hold the draw's packet")?;
        let end = (draw + packet.offset()).min(buffer.words.len());
        words.extend_from_slice(&buffer.words[at..*draw]);
        words.extend_from_slice(&around.before);
        named.push((words.len(), around));
        words.extend_from_slice(&buffer.words[*draw..end]);
        words.extend_from_slice(&around.after);
        at = end;
    }
    words.extend_from_slice(&buffer.words[at..]);
    let runs = words.len() as u32;
    let mut groups = Vec::new();
    for (end, around) in named {
        let mut packets = end - around.before.len();
        if !around.group.is_empty() {
            packets = words.len();
            groups.push([end - 2, packets]);
            words.extend_from_slice(&around.group);
        }
        for program in &around.programs {
            words.resize(words.len().next_multiple_of(PROGRAM_UNIT), 0);
            groups.extend(program.named.iter().map(|at| [packets + at, words.len()]));
            words.extend_from_slice(&program.words);
        }
    }
    Ok(Laid { words, runs, groups })
}

/// A place for `bytes` below `end` that no buffer has, which is taken then.
fn room(taken: &mut Vec<(u64, u64)>, bytes: u64, end: u64) -> Option<u64> {
    taken.sort_unstable();
    let mut at = PAGE;
    for (start, behind) in taken.iter() {
        if *start >= at.checked_add(bytes)? {
            break;
        }
        at = at.max(behind.checked_next_multiple_of(PAGE)?);
    }
    let behind = at.checked_add(bytes).filter(|behind| *behind <= end)?;
    taken.push((at, behind));
    Some(at)
}

/// Writes all sections, changed and new ones among them.
fn write(
    capture: &Capture,
    copies: &Copies,
    dumps: &[Dump],
    limits: &Limits,
    shared: &Shared,
) -> anyhow::Result<Vec<u8>> {
    let mut changes: BTreeMap<usize, Vec<(usize, u32)>> = BTreeMap::new();
    for (at, (value, before)) in &copies.dwords {
        let holds = |dump: &&Dump| dump.0 < *before && dump.1 <= *at && *at + 4 <= dump.1 + dump.2;
        let (section, address, _) =
            dumps.iter().rev().find(holds).context("what calls the command buffer is not in the capture")?;
        changes.entry(*section).or_default().push(((at - address) as usize, *value));
    }
    let mut out = Vec::new();
    let budget = limits.work.budget(a4emu_gpu::budget::BASE);
    for (number, section) in capture.sections(&budget, shared)?.enumerate() {
        let mut section = section.context("a damaged capture is not written again")?;
        for copy in copies.buffers.iter().filter(|copy| copy.section == number) {
            let bytes: Vec<u8> = copy.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let [low, high] = halves(copy.address);
            let record = [low, bytes.len() as u32, high].map(u32::to_le_bytes).concat();
            put(&mut out, SectionId::GPUADDR, &record);
            put(&mut out, SectionId::BUFFER_CONTENTS, &bytes);
        }
        let has_high = section.payload.len() >= 12;
        let called = copies.submits.get(&number).map(|(address, dwords)| {
            let [low, high] = halves(*address);
            let high = (has_high || high != 0).then_some((8, high));
            [(0, low), (4, *dwords)].into_iter().chain(high)
        });
        let all = changes.get(&number).into_iter().flatten().copied().chain(called.into_iter().flatten());
        for (at, value) in all {
            let word = section.payload.get_mut(at..at + 4).context("a section is too short")?;
            word.copy_from_slice(&value.to_le_bytes());
        }
        put_section(&mut out, &section);
    }
    Ok(out)
}

fn put_section(out: &mut Vec<u8>, section: &Section) {
    put(out, section.id, &section.payload);
}

fn put(out: &mut Vec<u8>, id: SectionId, payload: &[u8]) {
    out.extend_from_slice(&id.to_bits().to_le_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(payload);
}

/// An observer that follows which command buffers run.
struct Calls<'a>(&'a RefCell<Found>);

impl Observer for Calls<'_> {
    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        let found = &mut *self.0.borrow_mut();
        if found.first_submit.0 != gpu.group() {
            found.first_submit = (gpu.group(), found.section);
        }
        let caller = Some(Caller::Submit(found.section));
        found.open = vec![Open { address: address.get(), dwords, caller, groups: (false, None) }];
        Flow::Continue
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let Packet::Command { opcode, payload, .. } = *packet else { return };
        let generation = gpu.chip.generation();
        let found = &mut *self.0.borrow_mut();
        let depth = gpu.at.depth as usize;
        if let Some(open) = found.open.get_mut(depth) {
            let groups = &gpu.cp.groups;
            open.groups = (groups.iter().any(Option::is_some), groups[GROUPS - 1]);
        }
        let Outline::Call(call) = (generation.outline)(opcode, payload) else { return };
        let address = call.address.get();
        let [low, high] = halves(address);
        let written = if is_wide(generation) { &[low, high][..] } else { &[low] };
        let index = payload.windows(written.len()).position(|words| words == written).unwrap_or_default();
        let at = (gpu.at.address + 4 * (1 + index as u64)).get();
        let size = payload.get(index + written.len()).copied().unwrap_or_default();
        let caller = Some(Caller::Packet { at, size });
        // A chain takes the place of its caller.
        found.open.truncate(if is_chain(generation, opcode) { depth } else { depth + 1 });
        found.open.push(Open { address, dwords: call.dwords, caller, groups: (false, None) });
    }
}

/// Whether the opcode of a call is a jump.
fn is_chain(generation: &Generation, opcode: u8) -> bool {
    generation.packets.row(opcode).is_some_and(|row| row.name == "CP_INDIRECT_BUFFER_CHAIN")
}

/// An engine that runs no draws, and notes the packets around those that are edited.
struct Placing<'a> {
    edits: &'a [Edit],
    found: &'a RefCell<Found>,
    skip: Skip,
}

impl Engine for Placing<'_> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let edits = self.edits.iter().filter(|edit| edit.runs.has(gpu, call));
        let changes: Vec<&Change> = edits.flat_map(|edit| &edit.changes).collect();
        if !changes.is_empty() {
            let around = around(gpu, &changes);
            let found = &mut *self.found.borrow_mut();
            if let Err(error) = around.and_then(|around| found.place(gpu, around)) {
                found.error.get_or_insert(error);
                return Flow::Stop;
            }
        }
        self.skip.run(gpu, call)
    }
}

impl Found {
    fn new(generation: &'static Generation) -> Self {
        let (section, open, buffers, error) = Default::default();
        Self { generation, section, first_submit: (u32::MAX, 0), open, buffers, error }
    }

    /// Notes the packets around the draw that runs.
    fn place(&mut self, gpu: &mut Gpu, around: Around) -> anyhow::Result<()> {
        let (group, packet, depth) = (gpu.group(), gpu.at.address, gpu.at.depth as usize);
        let open = self.open.get(depth).copied().context("the draw is in no command buffer")?;
        let start = Address::new(open.address);
        let offset =
            packet.get().checked_sub(start.get()).context("the draw is in no command buffer")? as usize / 4;
        let around = match open.groups {
            (true, last) if self.generation.framing == Framing::Types4And7 => {
                around.behind(&last.map_or(Ok(Vec::new()), |last| packets_of(gpu, last))?)?
            }
            _ => around,
        };
        let buffer = self.buffers.entry((group, open.address, open.dwords)).or_default();
        if buffer.words.is_empty() {
            let words = gpu.sync().memory().read_dwords(start, open.dwords as usize);
            buffer.words = words.context("the command buffer of the draw is not whole in the capture")?;
            buffer.section = self.first_submit.1;
        }
        ensure!(
            !is_skipped(self.generation, &buffer.words, offset),
            "a packet that skips others stands before the edited draw"
        );
        buffer.callers.extend(open.caller);
        match buffer.draws.get(&offset) {
            Some(known) if *known != around => {
                bail!(
                    "the state that is edited differs from run to run of the draw: it has no one value to return to"
                )
            }
            _ => {
                buffer.draws.insert(offset, around);
            }
        }
        Ok(())
    }
}

/// The packets of a group of state that run in the pass of the draw.
fn packets_of(gpu: &mut Gpu, group: Group) -> anyhow::Result<Vec<u32>> {
    if !group.passes.meet(gpu.cp.passes) {
        return Ok(Vec::new());
    }
    let words = gpu.sync().memory().read_dwords(group.address, group.dwords as usize);
    words.context("the last group of state of the draw is not whole in the capture")
}

/// Whether a packet skips or repeats a number of dwords that reaches behind `offset`.
fn is_skipped(generation: &Generation, words: &[u32], offset: usize) -> bool {
    let mut packets = Packets::new(generation.framing, words);
    while packets.offset() < offset {
        let Some(Ok(packet)) = packets.next() else { return false };
        let Packet::Command { opcode, payload, .. } = packet else { continue };
        let covered = match generation.framing {
            Framing::Types0To3 => covered_a4xx(opcode, payload),
            Framing::Types4And7 => covered_a6xx(opcode, payload),
        };
        if covered.is_some_and(|dwords| packets.offset() + dwords as usize > offset) {
            return true;
        }
    }
    false
}

/// The number of dwords behind the packet whose execution depends on it.
fn covered_a4xx(opcode: u8, payload: &[u32]) -> Option<u32> {
    match Pm4::parse(opcode, payload) {
        Pm4::CondExec(packet) => Some(packet.DWORDS),
        Pm4::CondRegExec(packet) => packet.range().map(|range| match range {
            CondExecRange::Predicate { dwords } | CondExecRange::Registers { dwords, .. } => dwords,
        }),
        _ => None,
    }
}

/// As [`covered_a4xx`], for an A6xx.
fn covered_a6xx(opcode: u8, payload: &[u32]) -> Option<u32> {
    use a6xx::pm4::{CondExecRange, Pm4};
    match Pm4::parse(opcode, payload) {
        Pm4::CondExec(packet) => Some(packet.DWORDS),
        Pm4::CondRegExec(packet) => packet.range().map(|range| match range {
            CondExecRange::Predicate { dwords, .. }
            | CondExecRange::Registers { dwords, .. }
            | CondExecRange::Pass { dwords, .. } => dwords,
        }),
        Pm4::StartBin(packet) => Some(packet.BODY_DWORDS),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::asm::pack::{type3, type7};

    use super::*;

    #[test]
    fn new_buffers_lie_where_no_other_is() {
        let mut taken = vec![(0x3000, 0x5000), (0x1000, 0x2800)];
        let end = 1 << 32;
        assert_eq!(room(&mut taken, 0x100, end), Some(0x5000), "0x2800 is no page, 0x3000 is taken");
        assert_eq!(room(&mut taken, 0x100, end), Some(0x6000));
        assert_eq!(room(&mut vec![(0, 1 << 32)], 4, end), None);
        assert_eq!(room(&mut vec![(0, 1 << 32)], 4, 1 << 48), Some(1 << 32));
        assert_eq!(room(&mut vec![(0, u64::MAX)], 4, 1 << 48), None);
        assert_eq!(room(&mut vec![(0xffff_f000, 1 << 32)], 4, end), Some(0x1000));
    }

    #[test]
    fn packets_stand_around_the_draw() {
        let words = vec![0, type3(0x38, 2), 1, 2, 9];
        let around = Around { before: vec![7], after: vec![8], ..Around::default() };
        let buffer = Buffer { words, draws: BTreeMap::from([(1, around)]), ..Buffer::default() };
        let laid = with_edits(&buffer, Framing::Types0To3).unwrap();
        assert_eq!((laid.words, laid.runs), (vec![0, 7, type3(0x38, 2), 1, 2, 8, 9], 7));
    }

    #[test]
    fn groups_of_state_stand_behind_the_buffer() {
        let draw = type7(0x38, 2);
        let edit = Around { before: vec![1, 2], after: vec![3], ..Around::default() };
        let around = edit.clone().behind(&[]).unwrap();
        assert_eq!((around.before.len(), around.after.len(), &around.group[..]), (4, 5, &[1, 2][..]));
        let draws = BTreeMap::from([(0, around)]);
        let buffer = Buffer { words: vec![draw, 8, 9], draws, ..Buffer::default() };
        let mut laid = with_edits(&buffer, Framing::Types4And7).unwrap();
        laid.place(0x5_0000_1000);
        assert_eq!((laid.words.len(), laid.runs), (14, 12));
        assert_eq!(laid.words[2..7], [0x1000 + 4 * 12, 5, draw, 8, 9]);
        assert_eq!(edit.behind(&[7, 8]).unwrap().group, [7, 8, 1, 2]);
    }
}
