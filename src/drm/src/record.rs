//! Records submits as a capture for `replay`.
//!
//! A buffer stands in the file with all its bytes when a submit first uses it, and from then on with what has
//! changed since (`crate::replica`). What the GPU has written is not in the file: a replay computes it.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use a4emu_gpu::gpu::Chip;
use a4emu_gpu::memory::Memory;
use a4emu_gpu::span::Span;
use a4emu_process::owner;
use a4emu_process::owner::parent;
use a4emu_process::recording::Recording;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::param::chip_id;
use crate::replica::{Replica, Runs, Wanted};
use crate::settings::Settings;

/// Section numbers (docs/hardware/capture-format.md, sections 2 and 2.2).
mod section {
    pub const CMD: u32 = 2;
    pub const GPUADDR: u32 = 3;
    pub const CMDSTREAM_ADDR: u32 = 6;
    pub const BUFFER_CONTENTS: u32 = 12;
    pub const GPU_ID: u32 = 13;
    pub const CHIP_ID: u32 = 14;
    pub const EXACT_CONTENTS: u32 = 0xa400_0004;
}

/// One submit, in its state before it runs.
pub struct Group<'a> {
    /// Number of its fence.
    pub fence: u32,
    /// Buffers: address, contents, and what is to be written of them.
    pub buffers: Vec<(u64, &'a [u8], Wanted)>,
    /// Command buffers: address and length in dwords.
    pub commands: Vec<(u64, u32)>,
}

/// Writes one capture.
pub struct Recorder {
    path: PathBuf,
    range: Span,
    chip: Chip,
    /// Start of the names of this run's files.
    run: String,
    out: Option<(Recording, File)>,
    replica: Replica,
    /// Name and id of the process, for the text of each group.
    process: String,
}

impl Recorder {
    /// Makes the recorder of `chip` that `settings` request. The file is made at the first submit.
    pub fn new(chip: Chip, settings: &Settings) -> Option<Self> {
        let path = settings.record.clone()?;
        let run = settings.run.clone().unwrap_or_else(|| {
            // There is no launcher, so the file belongs to this process.
            owner::tidy(parent(&path));
            owner::prefix()
        });
        Some(Self {
            path,
            range: settings.record_range,
            chip,
            run,
            out: None,
            replica: Replica::default(),
            process: process(),
        })
    }

    /// Whether submit `number` is recorded.
    pub fn wants(&self, number: u64) -> bool {
        self.range.contains(number)
    }

    /// Adds a submit. Returns the state of the recording. Each submit is compressed separately, so the file
    /// is complete whenever the process ends.
    ///
    /// # Errors
    /// The call fails if the file cannot be written.
    pub fn add(&mut self, group: &Group<'_>) -> io::Result<Recording> {
        let mut bytes = Vec::new();
        if self.out.is_none() {
            self.out = Some(Recording::create(&self.path, &self.run)?);
            put(&mut bytes, section::GPU_ID, &[&self.chip.id.to_le_bytes()]);
            put(&mut bytes, section::CHIP_ID, &[&u64::from(chip_id(self.chip)).to_le_bytes()]);
            put(&mut bytes, section::EXACT_CONTENTS, &[]);
        }
        put_group(&mut bytes, &self.process, group, &mut self.replica);
        let Some((recording, out)) = &mut self.out else { return Err(io::ErrorKind::NotFound.into()) };
        if self.path.extension().is_some_and(|extension| extension == "gz") {
            let mut member = GzEncoder::new(Vec::new(), Compression::default());
            member.write_all(&bytes)?;
            bytes = member.finish()?;
        }
        out.write_all(&bytes)?;
        recording.bytes += bytes.len() as u64;
        Ok(recording.clone())
    }

    /// Adds what the GPU has written in the last added submit: the ranges `written` of `memory`.
    pub fn ran(&mut self, memory: &Memory, written: &[(u64, u64)]) {
        self.replica.ran(memory, written);
    }
}

fn put(out: &mut Vec<u8>, section: u32, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    out.extend(section.to_le_bytes());
    out.extend((len as u32).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

fn put_group(out: &mut Vec<u8>, process: &str, group: &Group<'_>, replica: &mut Replica) {
    let mut text = format!("{process}: fence={}\0", group.fence).into_bytes();
    text.resize(text.len().next_multiple_of(4), 0);
    put(out, section::CMD, &[&text]);
    let address = |out: &mut Vec<u8>, section, address: u64, len: u32| {
        let [low, high] = [address as u32, (address >> 32) as u32].map(u32::to_le_bytes);
        put(out, section, &[&low, &len.to_le_bytes(), &high]);
    };
    for (start, contents, wanted) in &group.buffers {
        let runs: Runs = replica.update(*start, contents, *wanted);
        // The record of the whole buffer says that the submit uses it, and has the bytes itself if all are there.
        if runs.first().is_none_or(|(_, run)| run.len() < contents.len()) {
            address(out, section::GPUADDR, *start, contents.len() as u32);
        }
        for (start, run) in &runs {
            address(out, section::GPUADDR, *start, run.len() as u32);
            put(out, section::BUFFER_CONTENTS, &[run]);
        }
    }
    for (start, dwords) in &group.commands {
        address(out, section::CMDSTREAM_ADDR, *start, *dwords);
    }
}

/// Name and id of this process, in the kernel's form for captures.
pub fn process() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    format!("{}/{}", name.trim_end(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_what_the_format_says() {
        let buffers = vec![(0x1000, &[1, 2, 3, 4][..], Wanted::Changes)];
        let group = Group { fence: 7, buffers, commands: vec![(0x1000, 1)] };
        let (mut bytes, mut replica) = (Vec::new(), Replica::default());
        put_group(&mut bytes, "x/1", &group, &mut replica);
        let words =
            |bytes: &[u8]| -> Vec<u32> { bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect() };
        assert_eq!(words(&bytes)[..2], [2, 16]);
        assert_eq!(&bytes[8..24], b"x/1: fence=7\0\0\0\0");
        let rest = &bytes[24..];
        assert_eq!(words(rest)[..5], [3, 12, 0x1000, 4, 0]);
        assert_eq!(&rest[20..32], [12, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(words(&rest[32..]), [6, 12, 0x1000, 1, 0]);
        bytes.clear();
        put_group(&mut bytes, "x/1", &group, &mut replica);
        let unchanged = [3, 12, 0x1000, 4, 0, 6, 12, 0x1000, 1, 0];
        assert_eq!(words(&bytes[24..]), unchanged, "the buffer is still named");
    }
}
