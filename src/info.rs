//! `a4emu info`: what a capture holds.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `info`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("info").into())
}
