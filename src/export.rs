//! `a4emu export`: writes captures as tables for SQL. A separate program makes them, `a4emu-export`
//! (`export/`), so that a4emu itself builds without Parquet.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use crate::companion::Companion;
use crate::flags::Flags;
use crate::shard::Sharding;
use a4emu_support::limits::Limits;
use a4emu_support::options::Threads;
use a4emu_support::status::Status;

/// File name of the program.
const EXPORT: &str = if cfg!(windows) { "a4emu-export.exe" } else { "a4emu-export" };

/// The program that makes the tables.
const PROGRAM: Companion = Companion { file: EXPORT, package: "a4emu-export", variable: "A4EMU_EXPORT" };

/// Arguments of `export`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, and folders, of which all captures in and below them count
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<PathBuf>,
    /// Folder of the tables; captures that it already has are skipped
    #[arg(long, value_name = "DIR")]
    pub parquet: PathBuf,
    /// Write captures again that the folder already has
    #[arg(long)]
    pub replace: bool,
    /// Render too, and add a table `written` of what commands store to memory apart from their targets
    #[arg(long)]
    pub written: bool,
    /// Which part of the captures
    #[command(flatten)]
    pub sharding: Sharding,
    /// Threads, each of which takes a capture at a time
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of each capture
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Starts the program with the arguments of this process.
///
/// # Errors
/// The call fails if the program does not exist or cannot be started.
pub fn start() -> anyhow::Result<Status> {
    let program = PROGRAM.find()?;
    let mut command = Command::new(&program);
    command.args(std::env::args_os().skip(1));
    let status = command.status().with_context(|| format!("cannot start {}", program.display()))?;
    // A program that a signal ended has no code.
    Ok(Status::from_code(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}
