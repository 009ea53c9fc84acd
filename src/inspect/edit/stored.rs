//! Makes a capture of an edit: packets around the draw set what is edited, and set it back.
//!
//! The command buffer that holds the draw's packet is copied to a place where the capture has no buffer, with these
//! packets in it. What called the buffer calls the copy. All other bytes stay as they are.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use a4emu_decoder::a4xx::enums::StateSrc;
use a4emu_decoder::a4xx::load_state::{state_kind, unit_dwords};
use a4emu_decoder::a4xx::pm4::{
    CP_INDIRECT_BUFFER_1, CP_LOAD_STATE4_0, CP_LOAD_STATE4_1, CondExecRange, Pm4,
};
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::{Body, Section, SectionId};
use a4emu_decoder::adreno::load_state::{Stage, StateKind};
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::asm::pack::{type0, type3};
use a4emu_decoder::bits::FieldRow;
use anyhow::{Context, bail, ensure};

use super::{Change, Edit, LENGTH_UNIT, What};
use crate::describe::Capture;
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::machine::CodeSource;
use a4emu_gpu::settled::Running;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, accepted};

/// The opcode of CP_LOAD_STATE4.
const LOAD_STATE4: u8 = 0x30;

/// Alignment of new buffers, in bytes.
const PAGE: u64 = 4096;

/// What calls a command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Caller {
    /// The section with this number, a submit.
    Submit(usize),
    /// A packet: the address of the dword that has the buffer's address, and the dword behind it, which has its length.
    Packet { at: u32, size: u32 },
}

/// A command buffer that is running.
#[derive(Clone, Copy, Debug)]
struct Open {
    address: u32,
    dwords: u32,
    caller: Option<Caller>,
}

/// Packets around a draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Around {
    before: Vec<u32>,
    after: Vec<u32>,
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
type BufferKey = (u32, u32, u32);

/// What is found in a run.
#[derive(Default)]
struct Found {
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
    let found = RefCell::new(Found { first_submit: (u32::MAX, 0), ..Found::default() });
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
    let Found { buffers, error, .. } = found.into_inner();
    error.map_or(Ok(()), Err)?;
    let copies = copies(buffers, taken)?;
    write(capture, &copies, &dumps, limits, shared)
}

/// A command buffer with its edits, at its new place.
struct Copied {
    address: u32,
    words: Vec<u32>,
    section: usize,
}

/// New buffers, and the dwords that change elsewhere.
#[derive(Default)]
struct Copies {
    buffers: Vec<Copied>,
    /// Dwords in memory, each with the section of the first submit that reads it.
    dwords: BTreeMap<u32, (u32, usize)>,
    /// Address and length of submits, by number of the section.
    submits: BTreeMap<usize, [u32; 2]>,
}

/// Finds places for the buffers, and changes their callers.
fn copies(buffers: BTreeMap<BufferKey, Buffer>, mut taken: Vec<(u64, u64)>) -> anyhow::Result<Copies> {
    let mut all = Copies::default();
    let mut olds = Vec::new();
    for ((_, old, _), buffer) in buffers {
        let words = with_edits(&buffer)?;
        let address = room(&mut taken, 4 * words.len() as u64)
            .context("there is no room for another command buffer")?;
        for caller in &buffer.callers {
            let called = [address, words.len() as u32];
            match caller {
                Caller::Submit(section) => {
                    all.submits.insert(*section, called);
                }
                Caller::Packet { at, size } => {
                    let length = CP_INDIRECT_BUFFER_1::FIELDS[0].insert(*size, called[1]);
                    ensure!(
                        length & 0xf_ffff == called[1],
                        "the command buffer is too long for a packet that calls it"
                    );
                    all.dwords.insert(*at, (called[0], buffer.section));
                    all.dwords.insert(at.wrapping_add(4), (length, buffer.section));
                }
            }
        }
        olds.push((old, buffer.draws.clone()));
        all.buffers.push(Copied { address, words, section: buffer.section });
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

/// The dwords of a buffer with the packets around its draws.
fn with_edits(buffer: &Buffer) -> anyhow::Result<Vec<u32>> {
    let mut words = Vec::with_capacity(buffer.words.len());
    let mut at = 0;
    for (draw, around) in &buffer.draws {
        let header = buffer.words.get(*draw).context("the command buffer does not hold the draw's packet")?;
        let end = (draw + 2 + (header >> 16 & 0x3fff) as usize).min(buffer.words.len());
        words.extend_from_slice(&buffer.words[at..*draw]);
        words.extend_from_slice(&around.before);
        words.extend_from_slice(&buffer.words[*draw..end]);
        words.extend_from_slice(&around.after);
        at = end;
    }
    words.extend_from_slice(&buffer.words[at..]);
    Ok(words)
}

/// A place for `bytes` that no buffer has, which is taken then.
fn room(taken: &mut Vec<(u64, u64)>, bytes: u64) -> Option<u32> {
    taken.sort_unstable();
    let mut at = PAGE;
    for (start, end) in taken.iter() {
        if *start >= at + bytes {
            break;
        }
        at = at.max(end.next_multiple_of(PAGE));
    }
    let address = u32::try_from(at).ok().filter(|_| at + bytes <= 1 << 32)?;
    taken.push((at, at + bytes));
    Some(address)
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
        let start = u64::from(*at);
        let holds = |dump: &&Dump| dump.0 < *before && dump.1 <= start && start + 4 <= dump.1 + dump.2;
        let (section, address, _) =
            dumps.iter().rev().find(holds).context("what calls the command buffer is not in the capture")?;
        changes.entry(*section).or_default().push(((start - address) as usize, *value));
    }
    let mut out = Vec::new();
    let budget = limits.work.budget(a4emu_gpu::budget::BASE);
    for (number, section) in capture.sections(&budget, shared)?.enumerate() {
        let mut section = section.context("a damaged capture is not written again")?;
        for copy in copies.buffers.iter().filter(|copy| copy.section == number) {
            let bytes: Vec<u8> = copy.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let record = [copy.address, bytes.len() as u32, 0].map(u32::to_le_bytes).concat();
            put(&mut out, SectionId::GPUADDR, &record);
            put(&mut out, SectionId::BUFFER_CONTENTS, &bytes);
        }
        let called = copies.submits.get(&number).map(|called| [(0, called[0]), (4, called[1])]);
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
        found.open = address.narrow().map(|address| Open { address, dwords, caller }).into_iter().collect();
        Flow::Continue
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let Packet::Command { opcode, payload, .. } = *packet else { return };
        let Some(call) = Pm4::parse(opcode, payload).call() else { return };
        let found = &mut *self.0.borrow_mut();
        found.open.truncate(gpu.at.depth as usize + 1);
        let address = call.address.narrow().unwrap_or_default();
        let index = payload.iter().position(|word| *word == address).unwrap_or_default();
        let word = (gpu.at.address + 4 * (1 + index as u64)).narrow();
        let size = payload.get(index + 1).copied().unwrap_or_default();
        found.open.push(Open {
            address,
            dwords: call.dwords,
            caller: word.map(|at| Caller::Packet { at, size }),
        });
    }
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
    /// Notes the packets around the draw that runs.
    fn place(&mut self, gpu: &mut Gpu, around: Around) -> anyhow::Result<()> {
        let (group, packet, depth) = (gpu.group(), gpu.at.address, gpu.at.depth as usize);
        let open = self.open.get(depth).copied().context("the draw is in no command buffer")?;
        let start = Address::from(open.address);
        let offset =
            packet.get().checked_sub(start.get()).context("the draw is in no command buffer")? as usize / 4;
        let buffer = self.buffers.entry((group, open.address, open.dwords)).or_default();
        if buffer.words.is_empty() {
            let words = gpu.sync().memory().read_dwords(start, open.dwords as usize);
            buffer.words = words.context("the command buffer of the draw is not whole in the capture")?;
            buffer.section = self.first_submit.1;
        }
        ensure!(
            !is_skipped(&buffer.words, offset),
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

/// Whether a packet skips a number of dwords that reaches behind `offset`.
fn is_skipped(words: &[u32], offset: usize) -> bool {
    let framing = a4emu_decoder::a4xx::A4XX.framing;
    let mut packets = a4emu_decoder::adreno::packet::Packets::new(framing, words);
    while packets.offset() < offset {
        let Some(Ok(packet)) = packets.next() else { return false };
        let Packet::Command { opcode, payload, .. } = packet else { continue };
        let skipped = match Pm4::parse(opcode, payload) {
            Pm4::CondExec(packet) => packet.DWORDS,
            Pm4::CondRegExec(packet) => match packet.range() {
                Some(CondExecRange::Predicate { dwords } | CondExecRange::Registers { dwords, .. }) => dwords,
                None => continue,
            },
            _ => continue,
        };
        if packets.offset() + skipped as usize > offset {
            return true;
        }
    }
    false
}

/// The packets that make `changes`, and those that take them back.
fn around(gpu: &mut Gpu, changes: &[&Change]) -> anyhow::Result<Around> {
    let mut all = Around::default();
    let mut undo = Vec::new();
    let mut done = Ok(());
    for change in changes {
        match packets(&change.0, gpu) {
            Ok([before, after]) => {
                all.before.extend(before);
                all.after.splice(..0, after);
                undo.push(change.apply(gpu));
            }
            Err(error) => done = Err(error),
        }
    }
    undo.into_iter().rev().for_each(|undo| undo(gpu));
    done.map(|()| all)
}

/// The packets of a change, and those that take it back.
fn packets(what: &What, gpu: &Gpu) -> anyhow::Result<[Vec<u32>; 2]> {
    let register = |offset: u32, value: u32| vec![type0(offset, 1), value];
    Ok(match what {
        What::Register { offset, field, value } => {
            let old = gpu.regs.read(*offset);
            [field.map_or(*value, |field| field.insert(old, *value)), old]
                .map(|value| register(*offset, value))
        }
        What::Constants { stage, first, values } => {
            let held = gpu.loaded.stage(*stage).constants[first / 4];
            let mut new = held;
            new[first % 4..][..values.len()].copy_from_slice(values);
            let load = |values: &[u32]| load_state(StateKind::Constants(*stage), (first / 4) as u32, values);
            [load(&new)?, load(&held)?]
        }
        What::Program { stage, words } => {
            let named = |name: &str| REGISTERS.by_name(&format!("SP_{}_{name}", stage.name()));
            let [length, start] = ["LENGTH_REG", "OBJ_START"].map(named);
            let length = length.context("the stage has no register of its length")?;
            let held = gpu.loaded.stage(*stage);
            let code: Vec<u32> = held.code[..words.len() / 2]
                .iter()
                .flat_map(|word| [*word as u32, (*word >> 32) as u32])
                .collect();
            let new = register(length, (words.len() / 2 / LENGTH_UNIT) as u32);
            let old = register(length, gpu.regs.read(length));
            let mut after = [load_program(*stage, &code)?, old].concat();
            if held.source == CodeSource::Memory {
                // The write of its address makes the chip take the program from memory again.
                let start = start.context("the stage has no register of its program's address")?;
                after.extend(register(start, gpu.regs.read(start)));
            }
            [[load_program(*stage, words)?, new].concat(), after]
        }
    })
}

fn load_program(stage: Stage, words: &[u32]) -> anyhow::Result<Vec<u32>> {
    load_state(StateKind::Instructions(stage), 0, words)
}

/// A CP_LOAD_STATE4 with `values` in it, for whole units from unit `first` on.
fn load_state(kind: StateKind, first: u32, values: &[u32]) -> anyhow::Result<Vec<u32>> {
    let field = |fields: &'static [FieldRow], name: &str| {
        fields
            .iter()
            .find(|field| field.name == name)
            .with_context(|| format!("CP_LOAD_STATE4 has no {name}"))
    };
    let place = |name: &str| field(CP_LOAD_STATE4_0::FIELDS, name);
    let (block, types) = (place("STATE_BLOCK")?, field(CP_LOAD_STATE4_1::FIELDS, "STATE_TYPE")?);
    let all = (0..16).flat_map(|number| (0..4).map(move |ty| (block.insert(0, number), types.insert(0, ty))));
    let is_it = |(block, ty): &(u32, u32)| {
        state_kind(CP_LOAD_STATE4_0(*block).STATE_BLOCK(), CP_LOAD_STATE4_1(*ty).STATE_TYPE()) == kind
    };
    let (block, ty) = all.into_iter().find(is_it).context("no packet loads this state")?;
    let units = values.len() as u32 / unit_dwords(kind);
    let head = place("NUM_UNIT")?.insert(place("DST_OFF")?.insert(block, first), units);
    debug_assert_eq!(CP_LOAD_STATE4_0(head).STATE_SRC(), StateSrc::SS4_DIRECT);
    Ok([&[type3(LOAD_STATE4, 2 + values.len() as u32), head, ty], values].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_buffers_lie_where_no_other_is() {
        let mut taken = vec![(0x3000, 0x5000), (0x1000, 0x2800)];
        assert_eq!(room(&mut taken, 0x100), Some(0x5000), "0x2800 is no page, 0x3000 is taken");
        assert_eq!(room(&mut taken, 0x100), Some(0x6000));
        assert_eq!(room(&mut vec![(0, 1 << 32)], 4), None);
        assert_eq!(room(&mut vec![(0xffff_f000, 1 << 32)], 4), Some(0x1000));
    }

    #[test]
    fn packets_stand_around_the_draw() {
        let words = vec![0, type3(0x38, 2), 1, 2, 9];
        let around = Around { before: vec![7], after: vec![8] };
        let buffer = Buffer { words, draws: BTreeMap::from([(1, around)]), ..Buffer::default() };
        assert_eq!(with_edits(&buffer).unwrap(), [0, 7, type3(0x38, 2), 1, 2, 8, 9]);
    }

    #[test]
    fn state_is_loaded_by_its_packet() {
        let words = load_state(StateKind::Constants(Stage::FS), 4, &[1, 2, 3, 4]).unwrap();
        let mut packets =
            a4emu_decoder::adreno::packet::Packets::new(a4emu_decoder::a4xx::A4XX.framing, &words);
        let Some(Ok(Packet::Command { opcode, payload, .. })) = packets.next() else { panic!("no packet") };
        let Pm4::LoadState4(load) = Pm4::parse(opcode, payload) else { panic!("another packet") };
        assert_eq!((load.kind(), load.dst.DST_OFF(), load.dwords()), (StateKind::Constants(Stage::FS), 4, 4));
        assert!(packets.next().is_none());
    }
}
