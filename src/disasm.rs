//! `a4emu disasm`: turns a command stream into text. `asm` turns it back into the same bytes. With
//! `--submit` or `--draw`, the text is a smaller capture that replays to the same draw.

use std::path::PathBuf;

use crate::flags::Flags;
use a4emu_inspect::disasm::{self, Options};
use a4emu_inspect::selection::Selection;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

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
    pub selection: Flags<Selection>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on I/O errors, or if the capture is damaged from its start.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let Args { capture, output, selection, limits } = args;
    disasm::run(Options { capture, output, selection: **selection, limits: &limits.begun() }, shared)
}
