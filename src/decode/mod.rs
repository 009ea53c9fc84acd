//! `a4emu decode`: annotate the command stream, run nothing.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `decode`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<std::path::PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Only the value of this register (name or offset) per draw; repeatable
    #[arg(long, value_name = "REG")]
    pub query: Vec<String>,
    /// Which draws a query shows
    #[arg(long, value_enum, default_value = "all")]
    pub query_mode: QueryMode,
    /// Show a command buffer that runs once per tile the first time only
    #[arg(long)]
    pub once: bool,
    /// Disassemble shaders where they are loaded (text: on by default)
    #[arg(long)]
    pub shaders: bool,
}

/// Output of `decode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line, in execution order.
    Jsonl,
    /// What changed from draw to draw.
    Summary,
}

/// Which draws `--query` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum QueryMode {
    /// Every draw.
    All,
    /// Draws before which the register was written.
    Written,
    /// Draws before which its value changed.
    Delta,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("decode").into())
}
