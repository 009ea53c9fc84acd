//! `a4emu corpus`: plays many captures, each in its own process.
//!
//! [`mod@run`] starts the processes ([`child`], which run [`worker`]) and keeps a [`row`] for each in a
//! folder ([`log`]). [`merge`], [`compare`], [`coverage`] and [`cover`] read such folders.

mod child;
mod compare;
mod cover;
mod coverage;
mod list;
mod log;
mod merge;
mod play;
mod row;
mod run;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod system;
mod worker;

use clap::Subcommand;

use a4emu_support::options::Shared;
use a4emu_support::status::Status;
pub use child::{Ended, Starter, ended_within};
pub use compare::{Kept, played as differences};
pub use list::{Entry, HASHED, captures, content};
pub use row::{DrawHash, End, Played, Surface};

/// Arguments of `corpus`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub what: What,
}

/// What can be done with a corpus.
#[derive(Subcommand, Clone, Debug)]
pub enum What {
    /// Play all captures, each in a process of its own: a crash, a hang or too much memory is a result
    Run(run::Args),
    /// Merge the runs of parts into one run
    Merge(merge::Args),
    /// What is new, gone, different, faster or slower in the second of two runs
    Compare(compare::Args),
    /// Which parts of the chip runs used, which they did not, and which guesses they rest on
    Coverage(coverage::Args),
    /// Print the names of few captures that together cover what all captures of the runs cover
    Reduce(cover::Args),
    /// Play one capture and print its result: what `run` starts
    #[command(hide = true)]
    Play(worker::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    match &args.what {
        What::Run(args) => run::run(args, shared),
        What::Merge(args) => merge::run(args, shared),
        What::Compare(args) => compare::run(args, shared),
        What::Coverage(args) => coverage::run(args, shared),
        What::Reduce(args) => cover::run(args, shared),
        What::Play(args) => {
            system::end_with_parent();
            worker::run(args, shared)
        }
    }
}
