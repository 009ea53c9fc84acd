//! `a4emu diff`: prints the differences between two captures, or between two state files.

use std::path::PathBuf;

use crate::flags::Flags;
use a4emu_inspect::diff::{self, Options};
use a4emu_inspect::selection::Selection;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;
use a4emu_support::terminal::{self, Form};

/// Arguments of `diff`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Capture or state file; `A:5` and `B:f9` compare two draws
    pub a: PathBuf,
    /// Capture or state file
    pub b: PathBuf,
    /// Each run of a draw for itself, with the registers of the tile
    #[arg(long)]
    pub tiles: bool,
    /// Addresses count: a buffer that moved is a difference
    #[arg(long)]
    pub addresses: bool,
    /// Stop at the first draw that differs, and name the packet that made the difference
    #[arg(long)]
    pub first: bool,
    /// One JSON object instead of lines
    #[arg(long)]
    pub json: bool,
    /// Render too: compare the targets after each draw that differs and after the last, and write pictures of the
    /// difference here
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,
    /// Compares only these
    #[command(flatten)]
    pub selection: Flags<Selection>,
    /// Bounds of the runs
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let Args { a, b, tiles, addresses, first, json, images, selection, limits } = args.clone();
    let (selection, limits) = (*selection, limits.0);
    let options = Options { tiles, addresses, first, json, images, selection, limits };
    diff::run_to(
        &mut terminal::stdout(if json { Form::Json } else { Form::Lines }),
        [&a, &b],
        &options,
        shared,
    )
}
