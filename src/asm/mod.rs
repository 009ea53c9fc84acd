//! `a4emu asm`: text to command stream. The language is that of
//! [`a4emu_decoder::asm`]; here are the files around it.

mod files;
mod report;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use a4emu_decoder::asm::{Bounds, Diagnostic, Files, Reason, assemble};
use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::folders::{Folders, read_text};
use crate::limits::StepLimit;
use crate::options::Shared;
use crate::out_file::{Inputs, OutFile};
use crate::status::Status;
use crate::terminal::{self, Block};
use crate::validate;

pub use files::Disk;
use files::MAX_SOURCE;
pub use report::snippet;

/// Arguments of `asm`.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_group("Choice", |choice| choice.requires("validate")))]
pub struct Args {
    /// Assembly source, or - for stdin
    pub source: PathBuf,
    /// The capture to write (- for stdout); gzip if its name ends in .gz
    #[arg(short, long, value_name = "CAPTURE")]
    pub output: PathBuf,
    /// A folder, beside that of the source, whose files it may include (repeatable)
    #[arg(long, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Say on stderr what of it an A4xx would not forgive, as `validate` does
    #[arg(long)]
    pub validate: bool,
    /// What of that is said
    #[command(flatten)]
    pub choice: validate::Choice,
    /// Bounds of the run
    #[command(flatten)]
    pub limit: StepLimit,
}

/// Runs the subcommand.
///
/// # Errors
/// What is wrong with the source, or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let chosen = args.choice.read(&shared.inputs)?;
    let mut disk = Disk::noting(Folders::around(&args.source, &args.include), shared.inputs.clone());
    let assembled = assembled(&args.source, &mut disk, args.limit.bounds());
    let capture = assembled.map_err(|error| match error.downcast() {
        Ok(diagnostic) => refusal(&diagnostic, shared),
        Err(error) => error,
    })?;
    write_capture(&args.output, &capture, &disk.inputs)?;
    if !args.validate {
        return Ok(Status::Fine);
    }
    let (watch, report) = validate::found_in(&capture);
    let told =
        validate::tell(watch.findings(), &chosen, None, validate::Form::Text, &mut terminal::stderr())?;
    Ok(told.worse(shared.tell(&args.source.display().to_string(), &report)))
}

/// The error with its line; too much work is a limit of ours, not wrong use.
fn refusal(diagnostic: &Diagnostic, shared: &Shared) -> anyhow::Error {
    let status = match diagnostic.reason {
        Reason::Source => Status::Usage,
        Reason::Work => Status::Unsupported,
    };
    Block { status, text: snippet(diagnostic, shared.color) }.into()
}

/// Assembles the source at `path` with the files of `disk`; `-` is stdin.
///
/// # Errors
/// A [`Diagnostic`], or I/O.
pub fn capture_of(path: &Path, disk: &mut Disk) -> anyhow::Result<Vec<u8>> {
    assembled(path, disk, Bounds::default())
}

fn assembled(path: &Path, disk: &mut Disk, bounds: Bounds) -> anyhow::Result<Vec<u8>> {
    let given = path.display().to_string();
    let name = if path == Path::new("-") { given } else { disk.resolve("", &given) };
    let file = disk.inputs.open(path).map_err(anyhow::Error::from);
    let text = file.and_then(|file| read_text(file, MAX_SOURCE));
    let text = text.with_context(|| format!("cannot read {name}"))?;
    assemble(&name, &text, disk, bounds).map_err(|diagnostic| (*diagnostic).into())
}

/// Writes a capture, packed if its name ends in `.gz`; `-` is stdout.
///
/// # Errors
/// I/O, or `path` is one of `inputs`.
pub fn write_capture(path: &Path, capture: &[u8], inputs: &Inputs) -> anyhow::Result<()> {
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let mut out = OutFile::create(path, inputs)?;
    let written = if packed { gzip(capture, &mut out) } else { out.write_all(capture) };
    written.with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}

/// No name and no time in the header: the same bytes always.
fn gzip(capture: &[u8], out: &mut OutFile) -> io::Result<()> {
    let mut encoder = GzEncoder::new(out, Compression::best());
    encoder.write_all(capture)?;
    encoder.finish().map(drop)
}
