//! `a4emu report`: makes a page that shows a capture.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::flags::{Flags, amount};
use a4emu_inspect::describe::Capture;
use a4emu_inspect::report::{html, of_capture};
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::out_file::OutFile;
use a4emu_support::status::{Status, WithErrors};

/// Arguments of `report`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// The page to write (- for stdout)
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Leave out data of the first draws, until the page has at most this many bytes
    #[arg(long, value_name = "BYTES", value_parser = amount, default_value = "50M")]
    pub max_size: u64,
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
    args.threads.run(|| {
        let (mut frame, told) = of_capture(&Capture::new(&args.capture, shared)?, &args.limits, shared)?;
        let page = html::with_data(&mut frame, args.max_size);
        if !frame.left_out.is_empty() {
            shared.warn(format_args!("{}: {}", args.output.display(), frame.left_out));
        }
        let written = page.and_then(|page| {
            out.write_all(page.as_bytes())
                .with_context(|| format!("cannot write {}", args.output.display()))?;
            out.finish()
        });
        Ok(told.and(written))
    })
}
