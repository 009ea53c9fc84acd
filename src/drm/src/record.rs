//! The recorder: submits as they came, as a capture that `replay` takes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use a4emu::gpu::Chip;
use a4emu::selection::Span;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::param::chip_id;
use crate::settings::Settings;

/// Section numbers; see the capture-format page.
mod section {
    pub const CMD: u32 = 2;
    pub const GPUADDR: u32 = 3;
    pub const CMDSTREAM_ADDR: u32 = 6;
    pub const BUFFER_CONTENTS: u32 = 12;
    pub const GPU_ID: u32 = 13;
    pub const CHIP_ID: u32 = 14;
}

/// How many processes of one run can record: each has a file of its own.
const MAX_FILES: u32 = 1000;

/// One submit, as it is before it runs.
pub struct Group<'a> {
    /// Its fence.
    pub fence: u32,
    /// Buffers: address and contents.
    pub buffers: Vec<(u32, &'a [u8])>,
    /// Command buffers: address and dwords.
    pub commands: Vec<(u32, u32)>,
}

/// Writes one capture.
pub struct Recorder {
    path: PathBuf,
    range: Span,
    chip: Chip,
    out: Option<(PathBuf, File)>,
    /// Name and number of the process, for the text of each group.
    process: String,
}

impl Recorder {
    /// The recorder that `settings` ask for. The file is made when there is something to put in.
    pub fn new(settings: &Settings) -> Option<Self> {
        Some(Self {
            path: settings.record.clone()?,
            range: settings.record_range,
            chip: settings.chip,
            out: None,
            process: process(),
        })
    }

    /// Where the capture is, if there is one already.
    pub fn path(&self) -> Option<String> {
        self.out.as_ref().map(|(path, _)| path.display().to_string())
    }

    /// Whether submit `number` is wanted.
    pub fn wants(&self, number: u64) -> bool {
        self.range.contains(number)
    }

    /// Adds a submit. Each is compressed on its own, so that what is in the file is whole
    /// whenever the process ends.
    ///
    /// # Errors
    /// Those of the file.
    pub fn add(&mut self, group: &Group<'_>) -> io::Result<()> {
        let mut bytes = Vec::new();
        if self.out.is_none() {
            self.out = Some(create(&self.path)?);
            put(&mut bytes, section::GPU_ID, &[&self.chip.id.to_le_bytes()]);
            put(&mut bytes, section::CHIP_ID, &[&u64::from(chip_id(self.chip)).to_le_bytes()]);
        }
        put_group(&mut bytes, &self.process, group);
        let Some((_, out)) = &mut self.out else { return Ok(()) };
        if self.path.extension().is_some_and(|extension| extension == "gz") {
            let mut member = GzEncoder::new(out, Compression::fast());
            member.write_all(&bytes)?;
            member.finish().map(|_| ())
        } else {
            out.write_all(&bytes)
        }
    }
}

fn put(out: &mut Vec<u8>, section: u32, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    out.extend(section.to_le_bytes());
    out.extend((len as u32).to_le_bytes());
    parts.iter().for_each(|part| out.extend_from_slice(part));
}

fn put_group(out: &mut Vec<u8>, process: &str, group: &Group<'_>) {
    let mut text = format!("{process}: fence={}\0", group.fence).into_bytes();
    text.resize(text.len().next_multiple_of(4), 0);
    put(out, section::CMD, &[&text]);
    let address = |out: &mut Vec<u8>, section, address: u32, len: u32| {
        put(out, section, &[&address.to_le_bytes(), &len.to_le_bytes(), &[0; 4]]);
    };
    for (start, contents) in &group.buffers {
        address(out, section::GPUADDR, *start, contents.len() as u32);
        put(out, section::BUFFER_CONTENTS, &[contents]);
    }
    for (start, dwords) in &group.commands {
        address(out, section::CMDSTREAM_ADDR, *start, *dwords);
    }
}

/// A new file at `path`; if another process of this run was first, one beside it:
/// `out.rd.gz`, `out.2.rd.gz`, ...
fn create(path: &Path) -> io::Result<(PathBuf, File)> {
    let new = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
    let mut place = path.to_path_buf();
    for number in 2..=MAX_FILES {
        match new(&place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => place = numbered(path, number),
            made => return made.map(|file| (place, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Name and number of this process, as the kernel puts them into captures.
pub fn process() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").unwrap_or_default();
    format!("{}/{}", name.trim_end(), std::process::id())
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, endings) = name.split_once('.').unwrap_or((&name, "rd"));
    path.with_file_name(format!("{stem}.{number}.{endings}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_what_the_format_says() {
        let group = Group { fence: 7, buffers: vec![(0x1000, &[1, 2, 3, 4])], commands: vec![(0x1000, 1)] };
        let mut bytes = Vec::new();
        put_group(&mut bytes, "x/1", &group);
        let words =
            |bytes: &[u8]| -> Vec<u32> { bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect() };
        assert_eq!(words(&bytes)[..2], [2, 16]);
        assert_eq!(&bytes[8..24], b"x/1: fence=7\0\0\0\0");
        let rest = &bytes[24..];
        assert_eq!(words(rest)[..5], [3, 12, 0x1000, 4, 0]);
        assert_eq!(&rest[20..32], [12, 0, 0, 0, 4, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(words(&rest[32..]), [6, 12, 0x1000, 1, 0]);
    }

    #[test]
    fn the_second_process_gets_a_file_of_its_own() {
        assert_eq!(numbered(Path::new("/a/out.rd.gz"), 2), Path::new("/a/out.2.rd.gz"));
    }
}
