//! `a4emu info`: prints the content of a capture, and the memory that its commands read but that it does not
//! hold.

use a4emu_decoder::adreno::address::Address;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use crate::flags::Flags;
use a4emu_decoder::adreno::capture::{AddressRecord, Hang, IbPlace, NamedChip, process_of};
use a4emu_decoder::adreno::packet::Packet;

use a4emu_gpu::cp::observer::Announced;
use a4emu_gpu::cp::{Call, Flow, HangSearch, Observer, Renderer};
use a4emu_gpu::fault::{Missing, Place};
use a4emu_gpu::fidelity::Fidelity;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_inspect::decode::comm;
use a4emu_inspect::describe::packet_name;
use a4emu_inspect::selection::Span;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads, open_capture};
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form, Shown};

/// Arguments of `info`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Cost of keeping and printing a buffer or a process, in bytes (a rough value).
const BUFFER: u64 = 64;

/// Most ranges of submits that are listed for a process.
const MOST_RANGES: usize = 32;

/// The counts of a run.
#[derive(Default)]
struct Info {
    gpu: Option<String>,
    /// The process of the next submits: name and id.
    process: String,
    /// The submits of each process.
    processes: BTreeMap<String, Numbers>,
    /// Draws by pass, and dispatches as `compute`.
    draws: BTreeMap<&'static str, u64>,
    /// Draws and dispatches, each counted once for all its tiles.
    frame_draws: u64,
    packets: u64,
    register_writes: u64,
    /// Dwords executed, with repeats.
    dwords: u64,
    /// What a kernel dump says, in lines of `key: value`.
    devcore: Option<String>,
    /// Where the GPU of a kernel dump stood.
    hang: Option<Stood>,
    /// Number of announced buffers, with repeats.
    announced: u64,
    /// Distinct buffers, by address and length: the most bytes that one submit has of each.
    buffers: BTreeMap<(Address, u32), u32>,
    /// The last buffer, of which parts may follow, with the bytes so far.
    open: Option<Announced>,
}

/// Numbers in ascending order, as ranges.
#[derive(Default)]
struct Numbers(Vec<Span>);

impl Numbers {
    /// Whether `next` continues the last range.
    fn goes_on(&self, next: u64) -> bool {
        self.0.last().is_some_and(|last| last.end == next)
    }

    fn add(&mut self, next: u64) {
        match self.0.last_mut().filter(|last| last.end == next) {
            Some(last) => last.end += 1,
            None => self.0.push(Span { start: next, end: next + 1 }),
        }
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|span| span.end - span.start).sum()
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.0.iter().take(MOST_RANGES).map(Span::to_string).collect();
        f.write_str(&shown.join(", "))?;
        match self.0.len().saturating_sub(MOST_RANGES) {
            0 => Ok(()),
            more => write!(f, " and {more} more ranges"),
        }
    }
}

impl Info {
    /// Counts submit `number` of the process.
    fn submitted(&mut self, gpu: &Gpu, number: u32) {
        let number = number.into();
        let is_kept = self.processes.get(&self.process).is_some_and(|numbers| numbers.goes_on(number));
        if is_kept || gpu.budget.keep(BUFFER + self.process.len() as u64) {
            self.processes.entry(self.process.clone()).or_default().add(number);
        }
    }

    fn hold(&mut self, gpu: &Gpu, buffer: Announced) {
        let key = (buffer.address, buffer.bytes);
        if let Some(captured) = self.buffers.get_mut(&key) {
            *captured = buffer.captured.max(*captured);
        } else if gpu.budget.keep(BUFFER) {
            self.buffers.insert(key, buffer.captured);
        }
    }
}

/// `whole` with the bytes of `part`, if that is contents of a part of it.
fn with_part(whole: Announced, part: Announced) -> Option<Announced> {
    let offset = part.address.get().checked_sub(whole.address.get())?;
    let is_part = part.captured > 0 && offset + u64::from(part.bytes) <= whole.bytes.into();
    let captured = whole.captured.saturating_add(part.captured).min(whole.bytes);
    is_part.then_some(Announced { captured, ..whole })
}

impl Observer for Info {
    fn chip(&mut self, gpu: &mut Running<'_>) {
        self.gpu = gpu.named.map(NamedChip::short);
    }

    fn devcore(&mut self, text: &str) {
        *self.devcore.get_or_insert_default() += text;
    }

    fn hang(&mut self, gpu: &mut Running<'_>) {
        let is_read = gpu.named.is_none_or(NamedChip::is_a4xx);
        self.hang = gpu.hang.map(|search| Stood { search, is_read, packet: None });
    }

    fn process(&mut self, command: &str) {
        process_of(command).clone_into(&mut self.process);
    }

    fn buffer(&mut self, gpu: &mut Running<'_>, buffer: Announced) {
        let whole = self.open.and_then(|whole| with_part(whole, buffer));
        self.announced += u64::from(whole.is_none());
        let buffer = whole.unwrap_or(buffer);
        self.open = Some(buffer);
        self.hold(gpu, buffer);
    }

    fn submit(&mut self, gpu: &mut Running<'_>, _: Address, _: u32) -> Flow {
        self.submitted(gpu, gpu.at.submit);
        Flow::Continue
    }

    fn passed_over(&mut self, gpu: &mut Running<'_>, _: AddressRecord) {
        self.submitted(gpu, gpu.at.submit);
    }

    fn reads_container(&self) -> bool {
        true
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        if gpu.hang.as_ref().is_some_and(HangSearch::is_here)
            && let Some(stood) = &mut self.hang
        {
            stood.packet = Some((gpu.at, packet_name(gpu.chip.generation(), packet)));
        }
        self.packets += u64::from(matches!(packet, Packet::Command { .. }));
        let header = 1;
        self.dwords += header
            + match packet {
                Packet::Registers { values, .. } | Packet::TwoRegisters { values, .. } => values.len(),
                Packet::Filler => 0,
                Packet::Command { payload, .. } => payload.len(),
            } as u64;
    }

    fn register(&mut self, _: &mut Running<'_>, _: u32, _: Option<u32>) {
        self.register_writes += 1;
    }

    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        *self.draws.entry(call.pass_name()).or_default() += 1;
        self.frame_draws = self.frame_draws.max(u64::from(call.frame_draw()) + 1);
        Flow::Continue
    }
}

/// Where the GPU of a kernel dump stood.
struct Stood {
    search: HangSearch,
    /// Whether the packets of the dump are read.
    is_read: bool,
    /// The packet, with its place, once it has been met.
    packet: Option<(Place, String)>,
}

impl Stood {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Hang { last_fence, retired_fence, rptr, wptr, rbbm_status, ib1, ib2, .. } = self.search.hang;
        writeln!(out, "fences           {retired_fence} has ended, {last_fence} is the last")?;
        writeln!(
            out,
            "ring             CP_RB_RPTR {rptr}, CP_RB_WPTR {wptr}, RBBM_STATUS {rbbm_status:#010x}"
        )?;
        for (name, IbPlace { base, left }) in
            [("ib1", ib1), ("ib2", ib2)].into_iter().filter(|ib| ib.1.base != 0)
        {
            writeln!(out, "{name}              base {base:#010x}, {left} dwords left")?;
        }
        match &self.packet {
            _ if !self.is_read => Ok(()),
            Some((at, name)) => writeln!(out, "stood at         {name}, {at}"),
            None => writeln!(out, "stood at         no packet that the dump holds"),
        }
    }
}

/// Counts with their names: `glxgears 244, X 1`.
struct Counts<'a, K>(&'a BTreeMap<K, u64>);

impl<K: fmt::Display> fmt::Display for Counts<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u64 = self.0.values().sum();
        write!(f, "{total}")?;
        for (i, (name, count)) in self.0.iter().enumerate() {
            write!(f, "{}{} {count}", if i == 0 { " (" } else { ", " }, Shown(name))?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

impl Info {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let bytes: u64 = self.buffers.keys().map(|(_, bytes)| u64::from(*bytes)).sum();
        let captured: u64 = self.buffers.values().map(|captured| u64::from(*captured)).sum();
        match &self.gpu {
            Some(gpu) => writeln!(out, "gpu              {gpu}")?,
            None => writeln!(out, "gpu              not said")?,
        }
        if let Some(text) = &self.devcore {
            writeln!(out, "kernel dump")?;
            text.lines().try_for_each(|line| writeln!(out, "  {}", Shown(line)))?;
        }
        self.hang.iter().try_for_each(|stood| stood.write(out))?;
        let mut submits: BTreeMap<&str, u64> = BTreeMap::new();
        for (process, numbers) in &self.processes {
            *submits.entry(comm(process)).or_default() += numbers.count();
        }
        writeln!(out, "submits          {}", Counts(&submits))?;
        for (process, numbers) in self.processes.iter().filter(|(process, _)| !process.is_empty()) {
            writeln!(out, "  {:14} {numbers}", Shown(process).to_string())?;
        }
        writeln!(out, "draws            {}", Counts(&self.draws))?;
        writeln!(out, "frame draws      {}", self.frame_draws)?;
        writeln!(out, "packets          {}", self.packets)?;
        writeln!(out, "register writes  {}", self.register_writes)?;
        writeln!(out, "dwords executed  {}", self.dwords)?;
        writeln!(
            out,
            "buffers          {}, {} of them different ({bytes} bytes, {captured} captured)",
            self.announced,
            self.buffers.len()
        )?;
        for ((address, bytes), captured) in &self.buffers {
            writeln!(out, "  {address:08x}  {bytes:9} bytes, {captured:9} captured")?;
        }
        Ok(())
    }
}

impl Info {
    fn put_out(&self, missing: &Missing, fidelity: Option<&Fidelity>) -> io::Result<()> {
        let mut out = terminal::stdout(Form::Lines);
        self.write(&mut out)?;
        write_missing(&mut out, missing)?;
        let guesses: Vec<_> = fidelity.map(Fidelity::ids).into_iter().flatten().collect();
        let separator = if guesses.is_empty() { "" } else { " used: " };
        writeln!(out, "guesses          {}{separator}{}", guesses.len(), guesses.join(", "))?;
        out.flush()
    }
}

/// Writes the memory that the commands read and that the capture does not hold.
fn write_missing(out: &mut impl Write, missing: &Missing) -> io::Result<()> {
    writeln!(out, "missing          {} ranges read but not captured", missing.iter().count())?;
    for miss in missing.iter() {
        writeln!(out, "  {:08x}  {:9} bytes, {}", miss.address, miss.len, miss.client)?;
    }
    Ok(())
}

/// Prints the content of the capture.
///
/// # Errors
/// The call fails on wrong use, or if the output cannot be written.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut info = Info::default();
    // Rendering reads vertices, textures and targets. Without it the list of missing memory would be short.
    let mut playback = args.limits.playback(&args.capture);
    playback.gpu.watch_guesses();
    args.threads.run(|| -> anyhow::Result<()> {
        let sections = open_capture(&args.capture, &playback.gpu.budget, shared)?;
        playback.run(sections, &mut Renderer, &mut info);
        Ok(())
    })?;
    let report = &mut playback.gpu.machine.report;
    // Nothing that `info` lists depends on what draws put out, so draws that are not rendered are no trouble.
    report.troubles.forget_not_rendered();
    let status = shared.status_of(report);
    // Missing memory is printed on stdout as a result, so it is removed from the warnings.
    let missing = std::mem::take(&mut report.missing);
    let put_out = info.put_out(&missing, playback.gpu.machine.fidelity.as_ref());
    let told = shared.tell(&args.capture.display().to_string(), report);
    Ok(status.worse(told).and(put_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_buffer_are_no_buffers_of_their_own() {
        let of = |address, bytes, captured| Announced { address: Address::new(address), bytes, captured };
        let whole = of(0x1000, 0x3000, 0);
        let one = with_part(whole, of(0x1040, 0x40, 0x40)).unwrap();
        assert_eq!(one, of(0x1000, 0x3000, 0x40));
        assert_eq!(with_part(one, of(0x3000, 0x1000, 0x1000)), Some(of(0x1000, 0x3000, 0x1040)));
        for other in
            [of(0x4000, 0x40, 0x40), of(0xfc0, 0x80, 0x80), of(0x3fc0, 0x80, 0x80), of(0x2000, 0x40, 0)]
        {
            assert_eq!(with_part(one, other), None, "{other:?}");
        }
    }
}
