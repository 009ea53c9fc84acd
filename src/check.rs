//! `a4emu check`: replay every fixture and compare with its golden files.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `check`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Names of fixtures (default: all)
    pub cases: Vec<String>,
    /// Rewrite the golden files
    #[arg(long)]
    pub bless: bool,
    /// Report as JSON
    #[arg(long)]
    pub json: bool,
    /// Only the I-th of N parts of the cases, counted from 0
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Report in JUnit form
    #[arg(long, value_name = "FILE")]
    pub junit: Option<std::path::PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("check").into())
}
