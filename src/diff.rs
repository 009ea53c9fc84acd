//! `a4emu diff`: first difference in state between two captures or two state files.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `diff`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Capture or state file
    pub a: std::path::PathBuf,
    /// Capture or state file
    pub b: std::path::PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("diff").into())
}
