//! `a4emu asm`: text to command stream.

use std::path::PathBuf;

use a4emu_decoder::asm::{Diagnostic, Reason};

use crate::flags::Flags;
use crate::validate::{status_of_verdict, suppressions};
use a4emu_gpu::budget::Budget;
use a4emu_inspect::asm::{Disk, assembled, snippet, write_capture};
use a4emu_rules::{Choice, Form, found_in, tell};
use a4emu_support::folders::Folders;
use a4emu_support::limits::{OPTIONS, StepLimit};
use a4emu_support::options::Shared;
use a4emu_support::status::Status;
use a4emu_support::terminal::{self, Block};

/// Arguments of `asm`.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_group("Choice", |choice| choice.requires("validate")))]
pub struct Args {
    /// Assembly source, or - for stdin
    pub source: PathBuf,
    /// The capture to write (- for stdout); gzip if its name ends in .gz
    #[arg(short, long, value_name = "CAPTURE")]
    pub output: PathBuf,
    /// A folder in which includes and pictures are looked for if they are not beside the source (repeatable)
    #[arg(long, value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Check the result as `validate` does, and print the findings on stderr
    #[arg(long)]
    pub validate: bool,
    /// What of that is said
    #[command(flatten)]
    pub choice: Flags<Choice>,
    /// Bounds of the run
    #[command(flatten)]
    pub limit: Flags<StepLimit>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if the source is wrong, or on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let chosen = args.choice.read(|path| suppressions(path, &shared.inputs))?;
    let mut disk = Disk::noting(Folders::around(&args.source, &args.include), shared.inputs.clone());
    let assembled = assembled(&args.source, &mut disk, args.limit.bounds());
    let capture = assembled.map_err(|error| match error.downcast() {
        Ok(diagnostic) => refusal(&diagnostic),
        Err(error) => error,
    })?;
    write_capture(&args.output, &capture, &disk.inputs)?;
    if !args.validate {
        return Ok(Status::Fine);
    }
    let (watch, report) = found_in(&capture, Budget::default().naming(OPTIONS));
    let told = tell(watch.findings(), &chosen, None, Form::Text, &mut terminal::stderr())?;
    Ok(status_of_verdict(told).worse(shared.tell(&args.source.display().to_string(), &report)))
}

/// The error with its line. Too much work is a limit of a4emu, so its status is not that of wrong use.
fn refusal(diagnostic: &Diagnostic) -> anyhow::Error {
    let status = match diagnostic.reason {
        Reason::Source => Status::Usage,
        Reason::Work => Status::Unsupported,
    };
    Block { status, text: snippet(diagnostic) }.into()
}
