//! Cuts a capture down to some submits, up to a draw.
//!
//! The capture runs twice: once to find the place of each draw, and once up to the first submit that is
//! kept. There the registers, the loaded state and the memory become a command buffer and buffer contents of
//! the new capture. Draws after the last selected one become CP_NOP. Resolves are kept, so that rendered
//! tiles still reach memory. GMEM is not kept: no driver relies on it from submit to submit.

use a4emu_decoder::adreno::address::Address;
use std::collections::BTreeMap;
use std::path::Path;

use a4emu_decoder::adreno::capture::{AddressRecord, Body, OfProcess, Section, SectionId, Sections};
use a4emu_decoder::asm::pack;

use super::prelude;
use crate::selection::{Selection, Span, of_process};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::PAGE;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::{Running, Synced};
use a4emu_support::limits::Limits;
use a4emu_support::status::{Failure, Status, not_refused};

/// A draw or dispatch of the capture.
struct Met {
    number: u32,
    frame_draw: u32,
    submit: u32,
    address: Address,
    pass: Option<Pass>,
}

/// An observer that records all draws, and the first and last of the submits that run.
#[derive(Default)]
struct Survey {
    met: Vec<Met>,
    /// The selected submits.
    span: Option<Span>,
    /// The submits of `span` that ran.
    ran: Option<Span>,
}

impl Observer for Survey {
    fn submit(&mut self, gpu: &mut Running<'_>, _: Address, _: u32) -> Flow {
        let number = u64::from(gpu.at.submit);
        if self.span.is_none_or(|span| span.contains(number)) {
            let start = self.ran.map_or(number, |ran| ran.start);
            self.ran = Some(Span { start, end: number + 1 });
        }
        Flow::Continue
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        // A list that grows is copied to one of twice its size.
        if !gpu.budget.keep(2 * size_of::<Met>() as u64) {
            return Flow::Stop;
        }
        self.met.push(Met {
            number: call.number(),
            frame_draw: call.frame_draw(),
            submit: call.submit(),
            address: gpu.at.address,
            pass: call.pass(),
        });
        Flow::Continue
    }
}

/// An engine that runs only draws whose result later submits may read. Draws of the last submit do not run.
struct UpTo {
    /// Number of the last submit.
    last: u64,
}

impl Engine for UpTo {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        match u64::from(call.submit()) < self.last {
            true => Renderer.run(gpu, call),
            false => Flow::Continue,
        }
    }
}

/// Makes the new capture, uncompressed.
///
/// # Errors
/// The call fails if `capture` is no capture, or has no such submit or draw. It also fails if the run
/// exceeds `limits`: a partial cut would not hold the selected draws.
pub fn cut(capture: &[u8], range: Selection, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let mut survey = Survey { span: range.submit, ..Survey::default() };
    let mut playback = limits.playback(Path::new(""));
    playback.run(sections(capture)?, &mut Skip::default(), &mut survey);
    unless_cut_off(&playback)?;
    if playback.gpu.budget.is_full() {
        let message =
            format!("it has more than the {} draws that there is room for (--max-memory)", survey.met.len());
        return Err(Failure { status: Status::Unsupported, message });
    }
    let submits = u64::from(playback.gpu.at.submit);
    // Submits of other processes at the ends of the range are not kept.
    let span = if limits.process.is_some() { survey.ran.or(range.submit) } else { range.submit };
    let range = match survey.ran {
        None if limits.process.is_some() => Selection { submit: Some(Span { start: 0, end: 0 }), ..range },
        _ => Selection { submit: span, ..range },
    };
    let kept = kept(&survey.met, range, submits).map_err(|failure| of_process(failure, &playback.gpu))?;
    let groups = groups(capture)?;
    let silent = silent(&survey.met, &groups, range);
    let mut scissors = Scissors::new(kept, groups, silent);
    let mut playback = limits.playback(Path::new(""));
    let mut engine = UpTo { last: kept.end - 1 };
    let mut process = limits.process.clone().map(OfProcess::new);
    for section in sections(capture)?.map_while(Result::ok) {
        if process.as_mut().is_some_and(|process| !process.takes(&section)) {
            // The playback counts submits, and does not run these.
            playback.section(&section, &mut engine, &mut scissors);
            continue;
        }
        let flow = scissors.section(&section, |scissors| {
            playback.section(&section, &mut engine, scissors);
            u64::from(playback.gpu.at.submit)
        });
        if flow == Flow::Stop {
            break;
        }
    }
    unless_cut_off(&playback)?;
    Ok(scissors.out)
}

fn unless_cut_off(playback: &Playback) -> Result<(), Failure> {
    not_refused(&playback.gpu.report)?;
    match playback.gpu.report.troubles.first_cut() {
        Some(message) => Err(Failure { status: Status::Unsupported, message }),
        None => Ok(()),
    }
}

fn usage(message: String) -> Failure {
    Failure { status: Status::Usage, message }
}

fn sections(capture: &[u8]) -> Result<Sections<&[u8]>, Failure> {
    Sections::new(capture).map_err(|error| usage(error.to_string()))
}

/// The submits that are kept.
fn kept(met: &[Met], range: Selection, submits: u64) -> Result<Span, Failure> {
    let span = range.submit.unwrap_or(Span::ALL);
    let Some(draws) = range.draw else {
        let end = span.end.min(submits);
        let some = span.start < end;
        return some
            .then_some(Span { end, ..span })
            .ok_or_else(|| usage(format!("the capture has no submit {span}; it has {submits}")));
    };
    let holds = |met: &&Met| range.contains(met.submit, met.number, met.frame_draw);
    let of = |met: &Met| u64::from(met.submit);
    let (first, last) = (met.iter().find(holds).map(of), met.iter().rev().find(holds).map(of));
    match (first, last) {
        (Some(start), Some(last)) => Ok(Span { start, end: last + 1 }),
        _ => {
            let draw = format!("the capture has no draw {draws} there");
            Err(usage(format!("{draw}; it has {} in {submits} submits", met.len())))
        }
    }
}

/// The group of buffers of each submit.
fn groups(capture: &[u8]) -> Result<Vec<usize>, Failure> {
    let (mut groups, mut group, mut executed) = (Vec::new(), 0, false);
    for section in sections(capture)?.map_while(Result::ok) {
        match section.id {
            SectionId::GPUADDR => group += usize::from(std::mem::take(&mut executed)),
            SectionId::CMDSTREAM_ADDR => {
                executed = true;
                groups.push(group);
            }
            _ => {}
        }
    }
    Ok(groups)
}

/// The draw packets that are removed, by group: those that first run after the last selected draw.
fn silent(met: &[Met], groups: &[usize], range: Selection) -> BTreeMap<usize, Vec<Address>> {
    let is_past = |met: &Met| range.draw.is_some_and(|draws| draws.is_past(met.number, met.frame_draw));
    let mut first: BTreeMap<(usize, Address), &Met> = BTreeMap::new();
    for met in met.iter().filter(|met| matches!(met.pass, Some(Pass::Gmem | Pass::Bypass) | None)) {
        let group = groups.get(met.submit as usize).copied().unwrap_or_default();
        first.entry((group, met.address)).or_insert(met);
    }
    let mut silent: BTreeMap<usize, Vec<Address>> = BTreeMap::new();
    for ((group, address), _) in first.into_iter().filter(|(_, met)| is_past(met)) {
        silent.entry(group).or_default().push(address);
    }
    silent
}

/// Writes the new capture while the old one plays.
struct Scissors {
    kept: Span,
    /// The group of each submit.
    groups: Vec<usize>,
    /// Addresses of removed draw packets, by group.
    silent: BTreeMap<usize, Vec<Address>>,
    out: Vec<u8>,
    /// Buffers of the group, as announced.
    buffers: Vec<AddressRecord>,
    /// Other sections since the last submit.
    others: Vec<Section>,
    /// Whether the new capture has the group's buffers.
    dumped: bool,
    executed: bool,
    /// Whether the new capture has the registers and state.
    restored: bool,
}

impl Scissors {
    fn new(kept: Span, groups: Vec<usize>, silent: BTreeMap<usize, Vec<Address>>) -> Self {
        Self {
            kept,
            groups,
            silent,
            out: Vec::new(),
            buffers: Vec::new(),
            others: Vec::new(),
            dumped: false,
            executed: true,
            restored: false,
        }
    }

    /// Processes a section. `play` plays it and returns the number of submits so far.
    fn section(&mut self, section: &Section, play: impl FnOnce(&mut Self) -> u64) -> Flow {
        match section.body() {
            Ok(Body::GpuId(_) | Body::ChipId(_) | Body::ExactContents) => {
                self.put(section.id, &section.payload)
            }
            Ok(Body::GpuAddr(record)) => {
                if std::mem::take(&mut self.executed) {
                    self.buffers.clear();
                    self.dumped = false;
                }
                self.buffers.push(record);
            }
            Ok(Body::BufferContents(_)) => {}
            Ok(Body::CmdstreamAddr(record)) => {
                self.executed = true;
                let submits = play(self);
                return self.submitted(record, submits);
            }
            _ => self.others.push(section.clone()),
        }
        play(self);
        Flow::Continue
    }

    /// Writes the submit after the buffers that the observer has written.
    fn submitted(&mut self, record: AddressRecord, submits: u64) -> Flow {
        if submits.checked_sub(1).is_some_and(|number| self.kept.contains(number)) {
            self.record(SectionId::CMDSTREAM_ADDR, record.address, record.length);
        }
        self.others.clear();
        match submits < self.kept.end {
            true => Flow::Continue,
            false => Flow::Stop,
        }
    }

    fn put(&mut self, id: SectionId, payload: &[u8]) {
        self.out.extend_from_slice(&id.to_bits().to_le_bytes());
        self.out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        self.out.extend_from_slice(payload);
    }

    fn record(&mut self, id: SectionId, address: u64, length: u32) {
        let payload = [address as u32, length, (address >> 32) as u32].map(u32::to_le_bytes);
        self.put(id, payload.as_flattened());
    }

    fn dump(&mut self, address: u64, length: u32, contents: Option<&[u8]>) {
        self.record(SectionId::GPUADDR, address, length);
        if let Some(contents) = contents {
            self.put(SectionId::BUFFER_CONTENTS, contents);
        }
    }

    /// Writes the current bytes of the group's buffers. Before the first kept submit, buffers of earlier
    /// groups are written too.
    fn buffers(&mut self, gpu: Synced<'_>) {
        let mut ranges: Vec<(u64, u32)> = Vec::new();
        for record in &self.buffers {
            let reached = gpu.chip.generation().reaches(Address::new(record.address));
            let range = reached.then_some((record.address, record.length));
            // Parts of a buffer come after it.
            ranges.extend(range.filter(|range| !ranges.iter().any(|whole| contains(*whole, *range))));
        }
        if !self.restored {
            let apart =
                |&(base, length): &(u64, u32)| !ranges.iter().any(|range| overlap(*range, (base, length)));
            let buffers = gpu.memory().buffers().map(|(base, length)| (base.get(), length));
            let earlier: Vec<(u64, u32)> = buffers.filter(apart).collect();
            ranges.extend(earlier);
        }
        for (address, length) in ranges {
            let contents = self.contents(gpu, address, length);
            self.dump(address, length, contents.as_deref());
        }
    }

    /// The bytes at `address`, with removed draws replaced; none if the capture holds no bytes there.
    fn contents(&self, gpu: Synced<'_>, address: u64, length: u32) -> Option<Vec<u8>> {
        let length = length.min(gpu.memory().room(Address::new(address))) as usize;
        let mut bytes = vec![0; length];
        let known = gpu.memory().read(Address::new(address), &mut bytes);
        if !known && bytes.iter().all(|&byte| byte == 0) {
            return None;
        }
        let group = self.groups.get(gpu.at.submit as usize);
        for &packet in group.and_then(|group| self.silent.get(group)).into_iter().flatten() {
            let at = packet.get().wrapping_sub(address) as usize;
            if let Some(header) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
                let framing = gpu.chip.generation().framing;
                *header = pack::silenced(framing, u32::from_le_bytes(*header)).to_le_bytes();
            }
        }
        Some(bytes)
    }

    /// Writes a command buffer that restores the registers and the loaded state.
    fn restore(&mut self, gpu: Synced<'_>) {
        let words = prelude::commands(&gpu);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let (Some(address), false) = (free_address(gpu, bytes.len() as u32), bytes.is_empty()) {
            self.dump(address, bytes.len() as u32, Some(&bytes));
            self.record(SectionId::CMDSTREAM_ADDR, address, words.len() as u32);
        }
    }
}

fn overlap(a: (u64, u32), b: (u64, u32)) -> bool {
    a.0 < end(b) && b.0 < end(a)
}

fn contains(whole: (u64, u32), part: (u64, u32)) -> bool {
    whole.0 <= part.0 && end(part) <= end(whole)
}

/// One past the last byte of a range: base and length.
fn end((base, length): (u64, u32)) -> u64 {
    base.saturating_add(length.into())
}

/// The first free pages between the buffers.
fn free_address(gpu: Synced<'_>, bytes: u32) -> Option<u64> {
    let mut candidate = u64::from(PAGE);
    for (base, length) in gpu.memory().buffers() {
        let buffer = (base.get(), length);
        if overlap((candidate, bytes), buffer) {
            candidate = end(buffer).checked_next_multiple_of(PAGE.into())?;
        }
    }
    let last = Address::new(candidate) + u64::from(bytes);
    gpu.chip.generation().reaches(last).then_some(candidate)
}

impl Observer for Scissors {
    fn submit(&mut self, gpu: &mut Running<'_>, _: Address, _: u32) -> Flow {
        if !self.kept.contains(gpu.at.submit.into()) {
            return Flow::Continue;
        }
        for section in std::mem::take(&mut self.others) {
            self.put(section.id, &section.payload);
        }
        if !std::mem::replace(&mut self.dumped, true) {
            self.buffers(gpu.sync());
        }
        if !std::mem::replace(&mut self.restored, true) {
            self.restore(gpu.sync());
        }
        Flow::Continue
    }
}
