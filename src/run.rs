//! `a4emu run`: any OpenGL program on the real driver, with a4emu as the GPU.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `run`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The chip to be
    #[arg(long, default_value = "420", value_parser = ["405", "420", "430"])]
    pub gpu: String,
    /// Write what was submitted as a capture
    #[arg(long, value_name = "CAPTURE")]
    pub record: Option<std::path::PathBuf>,
    /// Record only these submits
    #[arg(long, value_name = "RANGE")]
    pub record_range: Option<crate::options::Span>,
    /// Print counts and times at exit
    #[arg(long)]
    pub stats: bool,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub program: Vec<std::ffi::OsString>,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("run").into())
}
