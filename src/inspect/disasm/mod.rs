//! `a4emu disasm`: turns a command stream into text. `asm` turns it back into the same bytes. With
//! `--submit` or `--draw`, the text is a smaller capture that replays to the same draw.

mod cut;
mod prelude;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use a4emu_decoder::adreno::capture::{
    Body, Foreign, Gunzip, NamedChip, OfProcess, ProcessPattern, Section, SectionId, Sections, is_devcore,
};
use a4emu_decoder::asm::{Rest, disassemble_into};
use a4emu_decoder::error::CaptureError;
use anyhow::{Context, ensure};

use crate::limits::Limits;
use crate::options::{Shared, accepted};
use crate::out_file::OutFile;
use crate::selection::Selection;
use crate::status::{Failure, Status, WithErrors};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::fault::{Report, Trouble};
use a4emu_gpu::gpu::{self, Kind};

pub use cut::cut;

/// Least work budget. A piece of the capture is read twice, and some hundreds of bytes are kept of it.
const BASE: u64 = 1 << 32;
/// Work budget per byte of the capture: the cost of reading it twice.
const UNITS_PER_BYTE: u64 = 2 * Work::Dword.price() / 4;
/// Bytes of a section's header: its id and its size.
const HEADER: usize = 8;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Options of `disasm`.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The capture; `-` is stdin.
    pub capture: &'a Path,
    /// The source to write; `-` is stdout.
    pub output: &'a Path,
    /// The submits to keep, and the draws up to which they are kept.
    pub selection: Selection,
    /// Limits of the run.
    pub limits: &'a Limits,
}

/// Writes the source of a capture.
///
/// # Errors
/// The call fails on I/O errors, or if the capture is damaged from its start.
pub fn run(options: Options<'_>, shared: &Shared) -> anyhow::Result<Status> {
    let name = options.capture.display().to_string();
    let unpacked = unpacked(options.capture, options.limits, shared);
    let (capture, status) = unpacked.with_context(|| format!("cannot read {name}"))?;
    let capture = match options.selection {
        Selection { submit: None, draw: None } => of_process(capture, options.limits),
        selection => {
            let mut budget = budget_of(&capture, options.limits);
            let refusal = refusal(Sections::new(&capture[..])?, options.limits.foreign(), &mut budget);
            refusal.map_or(Ok(()), |trouble| accepted(options.capture, &Report::of(trouble)))?;
            cut(&capture, selection, options.limits)
        }
    };
    // Problems of the capture count in the status, also if the source cannot be written.
    let written = capture.map_err(anyhow::Error::from).and_then(|capture| write(options, &capture, shared));
    Ok(match written {
        Ok(written) => status.worse(written),
        Err(error) => status.and(Err(error)),
    })
}

/// The complete source of the capture at `path`.
///
/// # Errors
/// The call fails if the capture cannot be read, is damaged, or is larger than the limits allow.
pub fn source(path: &Path, limits: &Limits, shared: &Shared) -> anyhow::Result<String> {
    let unpacked = unpacked(path, limits, shared);
    let (capture, status) = unpacked.with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(status == Status::Fine, "{} cannot be read to its end", path.display());
    let capture = of_process(capture, limits)?;
    let mut budget = budget_of(&capture, limits);
    let source = source_within(&capture, &mut |bytes| may_look(&mut budget, bytes));
    if let Some(message) = budget.refusal() {
        let message = format!("{}: {message}", path.display());
        return Err(Failure { status: Status::Unsupported, message }.into());
    }
    source.with_context(|| path.display().to_string())
}

/// The complete source of a capture.
///
/// # Errors
/// The call fails if the capture is damaged.
pub fn source_of(capture: &[u8]) -> anyhow::Result<String> {
    source_within(capture, &mut |_| true)
}

/// The source of a capture. `may` decides whether a piece of this many bytes is read.
fn source_within(capture: &[u8], may: &mut dyn FnMut(usize) -> bool) -> anyhow::Result<String> {
    let mut source = Vec::new();
    let (rest, written) = disassemble_into(capture, &mut source, Foreign::PassOver, may);
    written?;
    ensure!(rest.damaged == 0, "the last {} bytes are no section", rest.damaged);
    Ok(String::from_utf8(source)?)
}

/// The work budget for the source of `capture`.
fn budget_of(capture: &[u8], limits: &Limits) -> Budget {
    limits.work.budget(BASE + UNITS_PER_BYTE * capture.len() as u64)
}

/// Writes the source of `capture`.
fn write(options: Options<'_>, capture: &[u8], shared: &Shared) -> anyhow::Result<Status> {
    let mut out = OutFile::create(options.output, &shared.inputs)?;
    let process = options.limits.process.as_ref();
    let named = writeln!(out, "// {}{}", options.capture.display(), kept(options.selection, process));
    let mut budget = budget_of(capture, options.limits);
    let foreign = options.limits.foreign();
    let mut may = |bytes| may_look(&mut budget, bytes);
    let (rest, written) = disassemble_into(capture, &mut out, foreign, &mut may);
    let done = named.and(written).context("cannot write the source").and_then(|()| out.finish());
    let refused = match refusal(Sections::new(capture)?, foreign, &mut budget) {
        None => Status::Fine,
        Some(trouble) => shared.tell(&options.capture.display().to_string(), &Report::of(trouble)),
    };
    Ok(tell(rest, &budget, shared).worse(refused).and(done))
}

/// The refusal of a capture that is not of an A4xx, as far as its sections before the first submit show it.
pub fn refusal(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    foreign: Foreign,
    budget: &mut Budget,
) -> Option<Trouble> {
    let (mut file, mut read) = (Kind::default(), 0);
    for section in sections.into_iter().map_while(Result::ok) {
        let end = section.offset + section.payload.len() as u64;
        let bytes = end.saturating_sub(std::mem::replace(&mut read, end));
        if !budget.take(Work::Section, 1) || !budget.take(Work::Unpacked16, bytes.div_ceil(16)) {
            return None;
        }
        let body = section.body();
        if let Some(name) = body.as_ref().ok().and_then(NamedChip::of) {
            return gpu::refusal(name, file, foreign);
        }
        match body {
            Ok(Body::CmdstreamAddr(_)) => return None,
            Ok(Body::Devcore(_)) => file = Kind::Devcore,
            _ => {}
        }
    }
    None
}

/// Charges the work of reading a piece of `bytes`. Returns whether the budget covers it.
fn may_look(budget: &mut Budget, bytes: usize) -> bool {
    budget.take(Work::Buffer, 1) && budget.take(Work::Dword, bytes as u64 / 4)
}

/// Reports which part of the capture the source leaves out.
fn tell(rest: Rest, budget: &Budget, shared: &Shared) -> Status {
    let mut status = Status::Fine;
    if rest.damaged > 0 {
        let what = format!("the last {} bytes are no section", rest.damaged);
        status = status.worse(shared.say(Trouble::damaged(what)));
    }
    if let Some(refusal) = budget.refusal() {
        let what = format!("{refusal}; the last {} bytes are left out", rest.cut);
        status = status.worse(shared.say(Trouble::Cut(what)));
    }
    status
}

/// A description of the selection, for the first line.
fn kept(Selection { submit, draw }: Selection, process: Option<&ProcessPattern>) -> String {
    let process = process.map_or(String::new(), |process| format!(", process {process}"));
    let submits = submit.map_or(String::new(), |submits| format!(", submits {submits}"));
    process + &submits + &draw.map_or(String::new(), |draws| format!(", to the last of draws {draws}"))
}

/// The unpacked bytes within the limits. From a damaged gzip stream, the bytes before the damage.
fn unpacked(path: &Path, limits: &Limits, shared: &Shared) -> anyhow::Result<(Vec<u8>, Status)> {
    let budget = limits.work.budget(BASE);
    unpack(BufReader::new(shared.inputs.open(path)?), limits.memory(0), budget, shared)
}

/// The sections of `capture` that are of the process of `limits`: all without one. Bytes that are no section are
/// kept, so that the source's reader reports them.
fn of_process(capture: Vec<u8>, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let Some(process) = &limits.process else { return Ok(capture) };
    let mut process = OfProcess::new(process.clone());
    let (mut kept, mut end) = (Vec::new(), 0);
    let sections = Sections::new(&capture[..])
        .map_err(|error| Failure { status: Status::Damaged, message: error.to_string() })?;
    let held = |section: &Section| section.id != SectionId::NONE;
    for section in sections.map_while(Result::ok).filter(held) {
        let start = std::mem::replace(&mut end, section.offset as usize + HEADER + section.payload.len());
        if process.takes(&section) {
            kept.extend_from_slice(&capture[start.min(capture.len())..end.min(capture.len())]);
        }
    }
    kept.extend_from_slice(&capture[end.min(capture.len())..]);
    process.unmet().map_or(Ok(kept), |message| Err(Failure { status: Status::Usage, message }))
}

/// A reader that ends with the budget.
struct Paid<R> {
    reader: R,
    budget: Budget,
}

impl<R: Read> Read for Paid<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if !self.budget.take(Work::Unpacked16, 0) {
            return Ok(0);
        }
        let count = self.reader.read(to)?;
        self.budget.charge_later(Work::Unpacked16, count.div_ceil(16) as u64);
        Ok(count)
    }
}

/// The unpacked bytes of `packed`, at most `limit`. Reading stops where `budget` ends. From a damaged gzip
/// stream, the bytes before the damage are returned, with the status for damage.
///
/// # Errors
/// The call fails if there are no bytes, or if they cannot be read.
pub fn unpack(
    mut packed: impl BufRead,
    limit: u64,
    budget: Budget,
    shared: &Shared,
) -> anyhow::Result<(Vec<u8>, Status)> {
    let start = packed.fill_buf()?;
    if start.is_empty() {
        return Err(Failure { status: Status::Damaged, message: "empty file, not a capture".into() }.into());
    }
    let is_packed = start.starts_with(&GZIP);
    let mut bytes = Vec::new();
    let mut status = Status::Fine;
    let reader: &mut dyn Read = match is_packed {
        true => &mut Gunzip::new(packed),
        false => &mut packed,
    };
    let mut paid = Paid { reader, budget };
    let read = Read::by_ref(&mut paid).take(limit.saturating_add(1)).read_to_end(&mut bytes);
    match read {
        Ok(_) => {}
        Err(error) if is_packed => {
            status = shared.say(Trouble::damaged(format!("compressed data is damaged: {error}")));
        }
        Err(error) => return Err(error.into()),
    }
    let mut budget = paid.budget;
    if let Some(refusal) = budget.take_cut_notice() {
        let what = format!("only the first {} bytes of the capture are taken: {refusal}", bytes.len());
        status = status.worse(shared.say(Trouble::Cut(what)));
    }
    if bytes.len() as u64 > limit {
        bytes.truncate(limit as usize);
        let what = format!("only the first {limit} bytes of the capture are taken (--max-memory)");
        status = status.worse(shared.say(Trouble::Cut(what)));
    }
    if is_devcore(&bytes) {
        let (sections, read) = of_devcore(&bytes, limit, budget, shared)?;
        (bytes, status) = (sections, status.worse(read));
    }
    Ok((bytes, status))
}

/// The bytes of the sections that a kernel dump becomes, at most `limit`, and the status of its errors.
fn of_devcore(
    dump: &[u8],
    limit: u64,
    mut budget: Budget,
    shared: &Shared,
) -> anyhow::Result<(Vec<u8>, Status)> {
    let (mut bytes, mut status) = (Vec::new(), Status::Fine);
    let (mut sections, mut read) = (Sections::new(dump)?, 0);
    while let Some(section) = sections.next() {
        let more = sections.offset() - std::mem::replace(&mut read, sections.offset());
        if !budget.take(Work::Unpacked16, more.div_ceil(16)) {
            break;
        }
        let Section { id, payload, .. } = match section {
            Ok(section) if section.id == SectionId::NONE => continue,
            Ok(section) => section,
            Err(error) => {
                status = status.worse(shared.say(error.into()));
                continue;
            }
        };
        if (bytes.len() + payload.len()) as u64 > limit {
            let what = "only the first buffers of the dump are taken (--max-memory)".to_owned();
            status = status.worse(shared.say(Trouble::Cut(what)));
            break;
        }
        for part in [&id.to_bits().to_le_bytes()[..], &(payload.len() as u32).to_le_bytes(), &payload] {
            bytes.extend_from_slice(part);
        }
    }
    if let Some(refusal) = budget.take_cut_notice() {
        let what = format!("only the first buffers of the dump are taken: {refusal}");
        status = status.worse(shared.say(Trouble::Cut(what)));
    }
    Ok((bytes, status))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// Counts the bytes that are read.
    struct Counted<'a, R>(R, &'a Cell<u64>);

    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let count = self.0.read(to)?;
            self.1.set(self.1.get() + count as u64);
            Ok(count)
        }
    }

    /// The number of bytes returned for `input`, the number read for that, and the status.
    fn taken(input: impl Read, limit: u64) -> (usize, u64, Status) {
        let read = Cell::new(0);
        let input = BufReader::with_capacity(1 << 10, Counted(input, &read));
        let (bytes, status) =
            unpack(input, limit, Budget::default(), &Shared { quiet: true, ..Shared::default() }).unwrap();
        (bytes.len(), read.get(), status)
    }

    #[test]
    fn a_piece_costs_itself_and_its_dwords() {
        let cost = Work::Buffer.price() + 10 * Work::Dword.price();
        let mut budget = Budget::new(2 * cost - 1);
        assert!(may_look(&mut budget, 40));
        assert_eq!(budget.spent(), cost);
        assert!(!may_look(&mut budget, 40));
        // The default has room for two million pieces, and for their bytes.
        assert!(BASE / Work::Buffer.price() / 2 >= 1 << 20 && UNITS_PER_BYTE * 4 == 2 * Work::Dword.price());
    }

    #[test]
    fn no_more_is_unpacked_than_is_taken() {
        let long = || io::repeat(7).take(1 << 22);
        let mut packed = GzEncoder::new(Vec::new(), Compression::none());
        io::copy(&mut long(), &mut packed).unwrap();
        let packed = packed.finish().unwrap();
        for (bytes, read, status) in [taken(long(), 5000), taken(&packed[..], 5000)] {
            assert_eq!((bytes, status), (5000, Status::Unsupported));
            assert!(read < 1 << 20, "{read} of four million bytes");
        }
        assert_eq!(taken(long(), 1 << 22), (1 << 22, 1 << 22, Status::Fine));
    }
}
