//! `a4emu asm`: text to command stream. The language is that of [`a4emu_decoder::asm`]; this module opens
//! the files.

mod files;
mod report;

use std::io::{self, Write};
use std::path::Path;

use a4emu_decoder::asm::{Bounds, Files, assemble};
use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

use a4emu_support::folders::read_text;
use a4emu_support::out_file::{Inputs, OutFile};

pub use files::Disk;
use files::MAX_SOURCE;
pub use report::snippet;

/// Assembles the source at `path` with the files of `disk`; `-` is stdin.
///
/// # Errors
/// The call fails with a [`Diagnostic`](a4emu_decoder::asm::Diagnostic) if the source is wrong, or on I/O
/// errors.
pub fn capture_of(path: &Path, disk: &mut Disk) -> anyhow::Result<Vec<u8>> {
    assembled(path, disk, Bounds::default())
}

/// Assembles the source at `path` with the files of `disk`, within `bounds`; `-` is stdin.
///
/// # Errors
/// The call fails with a [`Diagnostic`](a4emu_decoder::asm::Diagnostic) if the source is wrong, or on I/O
/// errors.
pub fn assembled(path: &Path, disk: &mut Disk, bounds: Bounds) -> anyhow::Result<Vec<u8>> {
    let given = path.display().to_string();
    let name = if path == Path::new("-") { given } else { disk.resolve("", &given) };
    let file = disk.inputs.open(path).map_err(anyhow::Error::from);
    let text = file.and_then(|file| read_text(file, MAX_SOURCE));
    let text = text.with_context(|| format!("cannot read {name}"))?;
    assemble(&name, &text, disk, bounds).map_err(|diagnostic| (*diagnostic).into())
}

/// Writes a capture, gzipped if its name ends in `.gz`; `-` is stdout.
///
/// # Errors
/// The call fails on I/O errors, or if `path` is one of `inputs`.
pub fn write_capture(path: &Path, capture: &[u8], inputs: &Inputs) -> anyhow::Result<()> {
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let mut out = OutFile::create(path, inputs)?;
    let written = if packed { gzip(capture, &mut out) } else { out.write_all(capture) };
    written.with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}

/// Compresses the capture. The header has no name and no time, so the bytes are reproducible.
fn gzip(capture: &[u8], out: &mut OutFile) -> io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::best());
    encoder.write_all(capture)?;
    encoder.finish().map(drop)
}
