//! `a4emu info`: what a capture holds, and what its commands read that it does not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;

use a4emu_decoder::capture::SectionId;
use a4emu_decoder::packet::Packet;

use crate::cp::Pass;
use crate::decode::{Tracker, Work};
use crate::fault::Missing;
use crate::options::{Shared, open_capture};
use crate::output::Renderer;
use crate::playback::Playback;
use crate::status::Status;
use crate::walk::{At, Buffers, Problem, Seen, Submit, Visitor, Walker};

/// Arguments of `info`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
}

/// What a walk counts.
#[derive(Default)]
struct Info {
    gpu: Option<u32>,
    /// Submits by process.
    processes: BTreeMap<String, u64>,
    draws: BTreeMap<Pass, u64>,
    dispatches: u64,
    packets: u64,
    register_writes: u64,
    /// Dwords executed, repeats included.
    dwords: u64,
    /// Buffers announced, however often.
    announced: u64,
    /// Distinct buffers: address, bytes and captured bytes.
    buffers: BTreeSet<(u64, u64, u64)>,
    tracker: Tracker,
    problems: Vec<(At, String)>,
    status: Status,
}

impl Visitor for Info {
    fn gpu(&mut self, id: u32) -> io::Result<()> {
        self.gpu = Some(id);
        Ok(())
    }

    fn submit(&mut self, submit: &Submit, buffers: &Buffers) -> io::Result<ControlFlow<()>> {
        *self.processes.entry(submit.comm().to_owned()).or_default() += 1;
        self.buffers.extend(buffers.extents().map(|extent| (extent.address, extent.bytes, extent.captured)));
        Ok(ControlFlow::Continue(()))
    }

    fn packet(&mut self, _: &At, seen: &Seen<'_>) -> io::Result<()> {
        self.packets += u64::from(matches!(seen.packet, Packet::Type3 { .. }));
        self.register_writes += seen.packet.writes().count() as u64;
        self.dwords += seen.dwords.len() as u64;
        self.tracker.packet(seen);
        match seen.body.and_then(|body| Work::of(&body, seen.buffers)) {
            Some(Work::Draw { .. }) => *self.draws.entry(self.tracker.pass()).or_default() += 1,
            Some(Work::Dispatch { .. }) => self.dispatches += 1,
            None => return Ok(()),
        }
        self.tracker.next_draw();
        Ok(())
    }

    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()> {
        self.status = self.status.worse(problem.status().unwrap_or_default());
        self.problems.push((*at, problem.to_string()));
        Ok(())
    }
}

/// Counts with their names, largest concern first: `glxgears 244, X 1`.
struct Counts<'a, K>(&'a BTreeMap<K, u64>);

impl<K: fmt::Display> fmt::Display for Counts<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u64 = self.0.values().sum();
        write!(f, "{total}")?;
        for (i, (name, count)) in self.0.iter().enumerate() {
            write!(f, "{}{name} {count}", if i == 0 { " (" } else { ", " })?;
        }
        f.write_str(if self.0.is_empty() { "" } else { ")" })
    }
}

impl Info {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (bytes, captured) = self
            .buffers
            .iter()
            .fold((0, 0), |(bytes, captured), buffer| (bytes + buffer.1, captured + buffer.2));
        match self.gpu {
            Some(gpu) => writeln!(out, "gpu              {gpu}")?,
            None => writeln!(out, "gpu              not said")?,
        }
        writeln!(out, "submits          {}", Counts(&self.processes))?;
        writeln!(out, "draws            {}", Counts(&self.draws))?;
        writeln!(out, "dispatches       {}", self.dispatches)?;
        writeln!(out, "packets          {}", self.packets)?;
        writeln!(out, "register writes  {}", self.register_writes)?;
        writeln!(out, "dwords executed  {}", self.dwords)?;
        writeln!(
            out,
            "buffers          {}, {} of them different ({bytes} bytes, {captured} captured)",
            self.announced,
            self.buffers.len()
        )?;
        for (address, bytes, captured) in &self.buffers {
            writeln!(out, "  {address:08x}  {bytes:9} bytes, {captured:9} captured")?;
        }
        Ok(())
    }
}

/// What the commands read and the capture does not hold.
fn write_missing(out: &mut impl Write, missing: &Missing) -> io::Result<()> {
    writeln!(out, "missing          {} ranges read but not captured", missing.iter().count())?;
    for miss in missing.iter() {
        writeln!(out, "  {:08x}  {:9} bytes, {}", miss.address, miss.len, miss.client)?;
    }
    Ok(())
}

/// Prints what the capture holds.
///
/// # Errors
/// Wrong use, or output that cannot be written.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut info = Info::default();
    let mut walker = Walker::default();
    // Rendering is what reads vertices, textures and targets: without it the list of
    // missing memory would be short.
    let (mut playback, mut renderer) = (Playback::default(), Renderer::default());
    for section in open_capture(&args.capture, shared)? {
        if let Ok(section) = &section {
            info.announced += u64::from(section.id == SectionId::GPUADDR);
            playback.section(section, &mut renderer);
        }
        let _ = walker.section(section, &mut info)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    info.write(&mut out)?;
    write_missing(&mut out, &playback.gpu.report.missing)?;
    out.flush()?;
    for (at, problem) in &info.problems {
        eprintln!(
            "a4emu: {}: submit {}, at {:#010x}: {problem}",
            args.capture.display(),
            at.submit,
            at.address
        );
    }
    Ok(info.status)
}
