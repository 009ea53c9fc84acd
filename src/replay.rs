//! `a4emu replay`: run a capture; render.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `replay`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
    /// Write the last colour surface rendered as RGBA PNG, in memory row order
    #[arg(long, value_name = "FILE")]
    pub png: Option<std::path::PathBuf>,
    /// Write every surface rendered, and summary.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,
    /// Write register state per draw, the golden format (- for stdout)
    #[arg(long, value_name = "FILE")]
    pub state: Option<std::path::PathBuf>,
    /// Run N times; print one line of JSON with times
    #[arg(long = "loop", value_name = "N")]
    pub repeat: Option<std::num::NonZeroU32>,
    /// Print one JSON object of counts and times
    #[arg(long)]
    pub stats: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("replay").into())
}
