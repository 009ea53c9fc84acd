//! The `a4emu` command: arguments in, one call, exit status out.

use clap::{Parser, Subcommand};

use crate::options::Shared;
#[cfg(target_os = "linux")]
use crate::run;
use crate::status::Status;
use crate::{asm, check, decode, diff, disasm, info, pico, pixel, replay, report, serve, show};

/// An Adreno A4xx in software: decode, replay and diff command streams.
#[derive(Parser)]
#[command(name = "a4emu", version, about, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Subcommand)]
enum Command {
    /// Gpu, submits, draws, buffers, memory read but not captured
    Info(info::Args),
    /// Annotate the command stream, run nothing
    Decode(decode::Args),
    /// Run a capture; render
    Replay(replay::Args),
    /// Why pixels have their colours: every primitive that covered them, and what became of it
    Pixel(pixel::Args),
    /// The commands of a frame, or one draw with all that it runs with, reads and changes
    Show(show::Args),
    /// A page that shows a capture: pictures, state, pixel history; one file without any network
    Report(report::Args),
    /// The same page for a browser on this machine, which can ask for more
    Serve(serve::Args),
    /// First difference in state between two captures or two state files
    Diff(diff::Args),
    /// Replay every fixture and compare with its golden files
    Check(check::Args),
    /// Text to command stream
    Asm(asm::Args),
    /// Command stream to text that `asm` turns back into the same bytes
    Disasm(disasm::Args),
    /// The PicoGpu front end
    Pico(pico::Args),
    /// Any OpenGL program on the real driver, with a4emu as the GPU
    #[cfg(target_os = "linux")]
    Run(run::Args),
}

fn dispatch(cli: &Cli) -> anyhow::Result<Status> {
    match &cli.command {
        Command::Info(args) => info::run(args, &cli.shared),
        Command::Decode(args) => decode::run(args, &cli.shared),
        Command::Replay(args) => replay::run(args, &cli.shared),
        Command::Pixel(args) => pixel::run(args, &cli.shared),
        Command::Show(args) => show::run(args, &cli.shared),
        Command::Report(args) => report::run(args, &cli.shared),
        Command::Serve(args) => serve::run(args, &cli.shared),
        Command::Diff(args) => diff::run(args, &cli.shared),
        Command::Check(args) => check::run(args, &cli.shared),
        Command::Asm(args) => asm::run(args, &cli.shared),
        Command::Disasm(args) => disasm::run(args, &cli.shared),
        Command::Pico(args) => pico::run(args, &cli.shared),
        #[cfg(target_os = "linux")]
        Command::Run(args) => run::run(args, &cli.shared),
    }
}

/// Does what the arguments of the process ask for.
pub fn main() -> Status {
    match dispatch(&Cli::parse()) {
        Ok(status) => status,
        Err(error) => Status::Fine.and(Err(error)),
    }
}
