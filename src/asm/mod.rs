//! `a4emu asm`: text to command stream. The language is that of
//! [`a4emu_decoder::asm`]; here are the files around it.

mod files;
mod report;

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use a4emu_decoder::asm::{Files, assemble};
use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::options::Shared;
use crate::status::Status;

pub use files::Disk;
pub use report::snippet;

/// Arguments of `asm`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Assembly source, or - for stdin
    pub source: std::path::PathBuf,
    /// The capture to write; gzip if its name ends in .gz
    #[arg(short, long, value_name = "CAPTURE")]
    pub output: std::path::PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// What is wrong with the source, or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let capture = capture_of(&args.source).map_err(|error| match error.downcast() {
        Ok(diagnostic) => anyhow::anyhow!(snippet(&diagnostic, shared.color)),
        Err(error) => error,
    })?;
    write_capture(&args.output, &capture)?;
    Ok(Status::Fine)
}

/// Assembles the source at `path`; `-` is stdin.
///
/// # Errors
/// A [`a4emu_decoder::asm::Diagnostic`], or I/O.
pub fn capture_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let given = path.display().to_string();
    let (name, text) = match path == Path::new("-") {
        true => {
            let mut text = String::new();
            (given, std::io::stdin().read_to_string(&mut text).map(|_| text))
        }
        false => (Disk.resolve("", &given), fs::read_to_string(path)),
    };
    let text = text.with_context(|| format!("cannot read {name}"))?;
    assemble(&name, &text, &mut Disk).map_err(|diagnostic| (*diagnostic).into())
}

/// Writes a capture, packed if its name ends in `.gz`; `-` is stdout.
///
/// # Errors
/// I/O.
pub fn write_capture(path: &Path, capture: &[u8]) -> anyhow::Result<()> {
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let context = || format!("cannot write {}", path.display());
    if path == Path::new("-") {
        return std::io::stdout().write_all(capture).with_context(context);
    }
    let bytes = if packed { &gzip(capture).with_context(context)? } else { capture };
    fs::write(path, bytes).with_context(context)
}

/// No name and no time in the header: the same bytes always.
fn gzip(capture: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(capture)?;
    encoder.finish()
}
