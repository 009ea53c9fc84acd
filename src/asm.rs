//! `a4emu asm`: text to command stream.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `asm`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Assembly source
    pub source: std::path::PathBuf,
    /// The capture to write; gzip if its name ends in .gz
    #[arg(short, long, value_name = "CAPTURE")]
    pub output: std::path::PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("asm").into())
}
