//! `a4emu disasm`: command stream to text that `asm` turns back into the same bytes.

use crate::options::Shared;
use crate::status::{Failure, Status};

/// Arguments of `disasm`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: std::path::PathBuf,
    /// The source to write (default: stdout)
    #[arg(short, long, value_name = "SOURCE")]
    pub output: Option<std::path::PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(_args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    Err(Failure::unimplemented("disasm").into())
}
