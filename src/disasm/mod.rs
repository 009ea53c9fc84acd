//! `a4emu disasm`: command stream to text that `asm` turns back into the same
//! bytes, or with `--submit` or `--draw` into a smaller capture that replays to
//! the same draw.

mod cut;
mod prelude;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use a4emu_decoder::asm::{Rest, disassemble_into};
use anyhow::Context;
use flate2::bufread::MultiGzDecoder;

use crate::limits::Limits;
use crate::options::Shared;
use crate::out_file::{Inputs, OutFile};
use crate::selection::Selection;
use crate::status::{Failure, Status};

pub use cut::cut;

/// Bytes of an unpacked capture that are taken unless `--max-memory` says otherwise.
const MAX_CAPTURE: u64 = 1 << 29;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Arguments of `disasm`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// The source to write (default, and -: stdout)
    #[arg(short, long, value_name = "SOURCE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
    /// Keeps only these submits, and draws up to the last of these
    #[command(flatten)]
    pub selection: Selection,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
}

/// Runs the subcommand.
///
/// # Errors
/// I/O, or that the capture is damaged and nothing of it could be read.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let name = args.capture.display().to_string();
    let unpacked = unpacked(&args.capture, args.limits.max_memory.unwrap_or(MAX_CAPTURE), shared);
    let (capture, status) = unpacked.with_context(|| format!("cannot read {name}"))?;
    let capture = match args.selection {
        Selection { submit: None, draw: None } => Ok(capture),
        selection => cut(&capture, selection, &args.limits),
    };
    // What is wrong with the capture counts, whatever becomes of the rest.
    let written = capture.map_err(anyhow::Error::from).and_then(|capture| write(args, &capture, shared));
    Ok(match written {
        Ok(written) => status.worse(written),
        Err(error) => status.and(Err(error)),
    })
}

/// Writes the source of `capture`.
fn write(args: &Args, capture: &[u8], shared: &Shared) -> anyhow::Result<Status> {
    let mut out = OutFile::create(&args.output, &Inputs::of(&args.capture))?;
    let named = writeln!(out, "// {}{}", args.capture.display(), kept(args.selection));
    let (rest, written) = disassemble_into(capture, &mut out);
    let done = named.and(written).context("cannot write the source").and_then(|()| out.finish());
    Ok(tell(rest, shared).and(done))
}

/// Says what of the capture the source leaves out.
fn tell(rest: Rest, shared: &Shared) -> Status {
    let mut status = Status::Fine;
    if rest.damaged > 0 {
        eprintln!("a4emu: the last {} bytes are no section", rest.damaged);
        status = status.worse(Status::Damaged);
    }
    if rest.cut > 0 {
        shared.warn(format_args!("cut off: too many sections; the last {} bytes are left out", rest.cut));
        status = status.worse(Status::Unsupported);
    }
    status
}

/// What of the capture is kept, for the first line.
fn kept(Selection { submit, draw }: Selection) -> String {
    let submits = submit.map_or(String::new(), |submits| format!(", submits {submits}"));
    submits + &draw.map_or(String::new(), |draws| format!(", to the last of draws {draws}"))
}

/// The unpacked bytes, as many as are taken; of a damaged gzip stream those before the damage.
fn unpacked(path: &Path, limit: u64, shared: &Shared) -> anyhow::Result<(Vec<u8>, Status)> {
    let mut packed: Box<dyn BufRead> = match path == Path::new("-") {
        true => Box::new(BufReader::new(io::stdin())),
        false => Box::new(BufReader::new(File::open(path)?)),
    };
    let start = packed.fill_buf()?;
    if start.is_empty() {
        return Err(Failure { status: Status::Damaged, message: "empty file, not a capture".into() }.into());
    }
    let is_packed = start.starts_with(&GZIP);
    let mut bytes = Vec::new();
    let mut status = Status::Fine;
    let read = match is_packed {
        true => MultiGzDecoder::new(packed).take(limit.saturating_add(1)).read_to_end(&mut bytes),
        false => packed.take(limit.saturating_add(1)).read_to_end(&mut bytes),
    };
    match read {
        Ok(_) => {}
        Err(error) if is_packed => {
            eprintln!("a4emu: compressed data is damaged: {error}");
            status = Status::Damaged;
        }
        Err(error) => return Err(error.into()),
    }
    if bytes.len() as u64 > limit {
        bytes.truncate(limit as usize);
        shared.warn(format_args!(
            "cut off: only the first {limit} bytes of the capture are taken (--max-memory)"
        ));
        status = Status::Unsupported;
    }
    Ok((bytes, status))
}
