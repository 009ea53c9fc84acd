//! `a4emu disasm`: command stream to text that `asm` turns back into the same
//! bytes, or with `--submit` or `--draw` into a smaller capture that replays to
//! the same draw.

mod cut;
mod prelude;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use a4emu_decoder::asm::disassemble;
use anyhow::Context;
use flate2::read::MultiGzDecoder;

use crate::options::Shared;
use crate::selection::Selection;
use crate::status::{Failure, Status};

pub use cut::cut;

/// Bytes of an unpacked capture that are taken; `asm` makes no larger ones.
const MAX_CAPTURE: u64 = 1 << 30;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Arguments of `disasm`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
    /// The source to write (default: stdout)
    #[arg(short, long, value_name = "SOURCE")]
    pub output: Option<std::path::PathBuf>,
    /// Keeps only these submits, and draws up to the last of these
    #[command(flatten)]
    pub selection: Selection,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that the capture is damaged and nothing of it could be read.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let name = args.capture.display().to_string();
    let (capture, mut status) =
        unpacked(&args.capture, shared).with_context(|| format!("cannot read {name}"))?;
    let source = match args.selection {
        Selection { submit: None, draw: None } => disassemble(&capture),
        selection => disassemble(&cut(&capture, selection).map_err(usage)?),
    };
    if source.damaged > 0 {
        shared.warn(format_args!("the last {} bytes are no section", source.damaged));
        status = status.worse(Status::Damaged);
    }
    let text = format!("// {name}{}\n{}", kept(args.selection), source.text);
    match args.output.as_deref() {
        None => std::io::stdout().write_all(text.as_bytes()).context("cannot write to stdout")?,
        Some(path) => fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?,
    }
    Ok(status)
}

/// What of the capture is kept, for the first line.
fn kept(Selection { submit, draw }: Selection) -> String {
    let submits = submit.map_or(String::new(), |submits| format!(", submits {submits}"));
    submits + &draw.map_or(String::new(), |draws| format!(", to the last of draws {draws}"))
}

fn usage(message: String) -> Failure {
    Failure { status: Status::Usage, message }
}

/// The unpacked bytes; of a damaged gzip stream those before the damage.
fn unpacked(path: &Path, shared: &Shared) -> anyhow::Result<(Vec<u8>, Status)> {
    let mut packed = Vec::new();
    match path == Path::new("-") {
        true => std::io::stdin().take(MAX_CAPTURE).read_to_end(&mut packed)?,
        false => File::open(path)?.take(MAX_CAPTURE).read_to_end(&mut packed)?,
    };
    anyhow::ensure!(!packed.is_empty(), "empty file, not a capture");
    if !packed.starts_with(&GZIP) {
        return Ok((packed, Status::Fine));
    }
    let mut bytes = Vec::new();
    match MultiGzDecoder::new(packed.as_slice()).take(MAX_CAPTURE).read_to_end(&mut bytes) {
        Ok(_) => Ok((bytes, Status::Fine)),
        Err(error) => {
            shared.warn(format_args!("compressed data is damaged: {error}"));
            Ok((bytes, Status::Damaged))
        }
    }
}
