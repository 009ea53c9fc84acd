//! `a4emu debug`: steps through a warp of a draw's shader, one instruction at a time.
//!
//! - [`target`]: selects the warp and runs the capture up to it;
//! - [`session`]: steps forward and back, breakpoints, watches; [`recorder`]: makes steps back exact;
//! - [`scalar`], [`access`], [`subject`]: registers, memory and the program as text;
//! - [`terminal`], [`editor`]: the user interface in a terminal; [`dap`]: the one for editors.
mod access;
pub mod below;
pub mod dap;
mod editor;
mod recorder;
pub mod scalar;
pub mod session;
pub mod subject;
pub mod target;
mod terminal;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use anyhow::bail;

use a4emu_support::options::Shared;
use a4emu_support::status::Status;
use editor::Commands;
use session::Session;
use subject::Subject;
use terminal::Terminal;

/// Arguments of `debug`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Which warp
    #[command(flatten)]
    pub target: target::Target,
    /// Speak the Debug Adapter Protocol over stdin and stdout; what is to be debugged may come with its
    /// launch request instead
    #[arg(long)]
    pub dap: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, if the capture cannot be opened, or if it has no such warp.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    if args.dap {
        let given = args.target.clone();
        return dap::serve(|arguments, begin| {
            let target = given.with(arguments)?;
            target.reach(shared, |session, subject| begin(session, subject))
        });
    }
    match &args.target.capture {
        None => bail!("which CAPTURE?"),
        Some(path) if path == Path::new("-") => bail!("commands come from stdin, so CAPTURE cannot"),
        Some(_) => {}
    }
    args.target.reach(shared, on_terminal)
}

/// Runs the session in the terminal.
///
/// # Errors
/// The call fails on I/O errors.
pub fn on_terminal(session: Session<'_>, subject: &Subject) -> io::Result<()> {
    let commands = Commands::stdin()?;
    Terminal::new(session, subject, a4emu_support::terminal::lines()).interact(commands)
}
