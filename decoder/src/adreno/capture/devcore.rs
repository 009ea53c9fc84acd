//! The dump that the kernel makes after a hang (devcoredump), as sections of a capture.
//!
//! Source: msm_gpu_devcoredump_read, adreno_show and adreno_show_object of the kernel
//! (drivers/gpu/drm/msm), since Linux 4.20; docs/rd-files.md says how a dump becomes a capture. The file is
//! text: lines of the form `key: value`, and contents of memory as ascii85, in one line each. Keys that are
//! not known are skipped, with the lines below them. A line that cannot be read is an error with its number;
//! all other lines are used.
//!
//! Lines are read one at a time, and a line of ascii85 in pieces, so that memory follows what has been seen.

mod entries;
mod lines;
mod ring;
mod text;

use std::collections::VecDeque;
use std::io::BufRead;

use super::NamedChip;
use super::{Section, SectionId};
use crate::error::CaptureError;
use crate::generation::Generation;
use entries::{Bo, Part, RingEntry};
use text::{Piece, Reader};

/// First bytes of a dump.
pub(super) const MAGIC: &[u8; 8] = b"---\nkern";

/// Whether a file that begins like this, unpacked, is a kernel dump (devcoredump).
pub fn is_devcore(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Most broken lines that are reported. The reader ends at the next one.
const MAX_ERRORS: usize = 100;

/// Price of a line, in bytes: reading one takes as long as passing over so many (measured, and rounded up).
const LINE: u64 = 512;

/// After so many bytes without a section, the reader shows progress.
const PASSED: u64 = 1 << 20;

/// Most registers that are kept: as many as an A4xx has offsets.
const MAX_REGISTERS: usize = 1 << 15;

/// Most bytes of text about the dump that are kept.
const MAX_TEXT: usize = 1 << 16;

/// Keys of the header and of `fault-info` that are kept as text.
const KEPT_KEYS: [&str; 11] =
    ["kernel", "module", "time", "comm", "cmdline", "revision", "ttbr0", "iova", "dir", "type", "source"];

/// Reads a dump and makes sections of it.
#[derive(Default)]
pub(super) struct Devcore {
    reader: Reader,
    /// Items that are ready.
    ready: VecDeque<Result<Section, CaptureError>>,
    part: Part,
    /// The buffer whose lines are being read.
    bo: Option<Bo>,
    ring: RingEntry,
    /// Pairs of dword offset and value.
    registers: Vec<(u32, u32)>,
    rbbm_status: u32,
    /// The generation of the chip, if its streams can be read.
    generation: Option<&'static Generation>,
    comm: String,
    /// Lines for people that are not in a section yet.
    text: String,
    /// Bytes of text so far.
    told: usize,
    errors: usize,
    /// Bytes of all payloads so far.
    payloads: u64,
    /// The offset at which progress was last shown.
    shown: u64,
    /// Zeros that were put behind contents so far, in bytes.
    padding: usize,
    /// First address after all buffers.
    end: u64,
    is_over: bool,
}

impl Devcore {
    /// Starts behind [`MAGIC`].
    pub(super) fn new() -> Self {
        Self { reader: Reader::behind(MAGIC), ..Self::default() }
    }

    /// Bytes of the text that were read, with a price for each line, and of the payloads that were made of them.
    /// The budget charges a reader by this number.
    pub(super) fn offset(&self) -> u64 {
        self.reader.bytes() + LINE * self.reader.line() + self.payloads
    }

    /// The next section or error. `None` at the end.
    pub(super) fn next(&mut self, source: &mut dyn BufRead) -> Option<Result<Section, CaptureError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(item);
            }
            if self.is_over {
                return None;
            }
            self.step(source);
            // Lines that make no section show that reading goes on.
            if self.ready.is_empty() && self.offset() - self.shown >= PASSED {
                self.shown = self.offset();
                self.put(SectionId::NONE, Vec::new());
            }
        }
    }

    /// Reads a line, or a piece of a long one.
    fn step(&mut self, source: &mut dyn BufRead) {
        match self.reader.next(source) {
            Ok(Piece::Line(line)) => self.line(&line),
            // Shows that reading goes on.
            Ok(Piece::Passed) => self.put(SectionId::NONE, Vec::new()),
            // Unknown parts have contents of their own.
            Ok(Piece::TooLong) if self.part == Part::Other => {}
            Ok(Piece::TooLong) => self.broken("it is too long"),
            Ok(Piece::Contents { bytes, bad }) => self.contents(bytes, bad),
            Ok(Piece::End) => self.finish(),
            Err(source) => {
                self.finish();
                self.ready.push_back(Err(CaptureError::Io { offset: self.reader.bytes(), source }));
            }
        }
        if self.errors > MAX_ERRORS && !self.is_over {
            self.finish();
        }
    }

    fn put(&mut self, id: SectionId, payload: Vec<u8>) {
        let offset = self.offset();
        self.payloads += payload.len() as u64;
        self.ready.push_back(Ok(Section { offset, id, payload }));
    }

    /// Reports the line that was read last.
    fn broken(&mut self, what: &str) {
        self.errors += 1;
        let what = match self.errors > MAX_ERRORS {
            true => "too many lines are broken; the rest is left out".to_owned(),
            false => what.to_owned(),
        };
        self.ready.push_back(Err(CaptureError::Devcore { line: self.reader.line(), what }));
    }

    fn line(&mut self, line: &str) {
        if self.part == Part::Registers && line.trim_start().starts_with("- {") {
            return self.register(line);
        }
        let Ok((_, line)) = lines::line(line) else {
            // Unknown parts have lines of any form.
            if self.part != Part::Other && !line.trim().is_empty() {
                self.broken("it is no `key: value`");
            }
            return;
        };
        if line.indent == 0 {
            self.begin_part(line.key);
        }
        match (self.part, line.key) {
            (Part::Header, "revision") => self.chip(line.value),
            (Part::Header, "rbbm-status") => {
                self.rbbm_status = self.number(line.key, line.value).unwrap_or(0) as u32;
            }
            (Part::Ring, key) => self.ring_line(line.is_entry, key, line.value),
            (Part::Bos, key) => self.bo_line(line.is_entry, key, line.value),
            _ => {}
        }
        if matches!(self.part, Part::Header | Part::Fault) {
            self.tell(line.key, line.value);
        }
    }

    /// Begins what the key of a line without indentation names.
    fn begin_part(&mut self, key: &str) {
        self.end_bo();
        self.part = match key {
            "ringbuffer" => Part::Ring,
            "bos" => Part::Bos,
            "registers" => Part::Registers,
            "fault-info" => Part::Fault,
            "kernel" | "module" | "time" | "comm" | "cmdline" | "revision" | "rbbm-status" => Part::Header,
            _ => Part::Other,
        };
    }

    fn tell(&mut self, key: &str, value: &str) {
        if key == "comm" {
            value.clone_into(&mut self.comm);
        }
        let size = key.len() + value.len() + 3;
        if KEPT_KEYS.contains(&key) && !value.is_empty() && self.told + size <= MAX_TEXT {
            self.told += size;
            self.text += &format!("{key}: {value}\n");
        }
    }

    /// The value of a line as a number, or an error.
    fn number(&mut self, key: &str, value: &str) -> Option<u64> {
        let number = lines::number(value).ok().map(|(_, number)| number);
        if number.is_none() {
            self.broken(&format!("{key} is no number: `{}`", text::excerpt(value)));
        }
        number
    }

    /// The chip: the first sections, before all others.
    fn chip(&mut self, value: &str) {
        let Ok((_, (number, id))) = lines::revision(value) else {
            return self.broken(&format!("no revision of a chip: `{}`", text::excerpt(value)));
        };
        // A dump is known to be one before its chip is refused.
        let text = std::mem::take(&mut self.text).into_bytes();
        self.put(SectionId::DEVCORE, text);
        let named = NamedChip::ChipId(id);
        self.generation = Generation::of(named);
        match (number, named.generation()) {
            (number, None) if number != 0 => self.put(SectionId::GPU_ID, number.to_le_bytes().to_vec()),
            _ => self.put(SectionId::CHIP_ID, id.to_bytes().to_vec()),
        }
    }

    fn register(&mut self, line: &str) {
        match lines::register(line) {
            Ok((_, (offset, value))) if self.registers.len() < MAX_REGISTERS => {
                // The kernel prints offsets in bytes.
                self.registers.push((offset / 4, value));
            }
            Ok(_) if self.registers.len() == MAX_REGISTERS => {
                self.broken("more registers than a chip has");
                self.part = Part::Other;
            }
            Ok(_) => {}
            Err(_) => self.broken("no register: `- { offset: 0x.., value: 0x.. }` is expected"),
        }
    }
}
