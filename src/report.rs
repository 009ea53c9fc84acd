//! `a4emu report`: makes a page that shows a capture.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::flags::Flags;
use a4emu_inspect::describe::Capture;
use a4emu_inspect::limits::Limits;
use a4emu_inspect::options::{Shared, Threads};
use a4emu_inspect::out_file::OutFile;
use a4emu_inspect::report::{html, of_capture};
use a4emu_inspect::status::{Status, WithErrors};

/// Arguments of `report`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// The page to write (- for stdout)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    shared.inputs.add(&args.capture);
    let mut out = OutFile::create(&args.output, &shared.inputs)?;
    let (mut frame, told) =
        args.threads.run(|| of_capture(&Capture::new(&args.capture, shared)?, &args.limits, shared))?;
    let written = html::with_data(&mut frame).and_then(|page| {
        out.write_all(page.as_bytes()).with_context(|| format!("cannot write {}", args.output.display()))?;
        out.finish()
    });
    Ok(told.and(written))
}
