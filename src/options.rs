//! The options that every subcommand shares, and how captures are opened.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use a4emu_decoder::capture::{Ahead, Sections};
use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::fault::{Place, Report, Trouble};
use crate::progress::Watched;
use crate::status::Status;

/// Shared by all subcommands.
#[derive(Args, Clone, Debug, Default)]
pub struct Shared {
    /// Nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Colour on stdout
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Warnings count: exit with 3 (damaged) or 4 (not supported)
    #[arg(long, global = true)]
    pub strict: bool,
    /// Who hears what goes wrong, in place of stderr
    #[arg(skip)]
    pub ear: Option<Ear>,
}

/// Keeps what goes wrong for the program that uses the library: the report of each run, with the name of its input.
#[derive(Clone, Debug, Default)]
pub struct Ear(Arc<Mutex<Vec<(String, Report)>>>);

impl Ear {
    /// Keeps a report.
    pub fn hear(&self, name: &str, report: Report) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), report));
    }

    /// What was heard so far, in order.
    pub fn take(&self) -> Vec<(String, Report)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` says otherwise.
    #[default]
    Auto,
    /// Also into a file or pipe.
    Always,
    /// Never.
    Never,
}

impl Shared {
    /// Puts a warning on stderr, unless told to be quiet.
    pub fn warn(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("a4emu: warning: {message}");
        }
    }

    /// Says what keeps a command from doing all of it, on stderr, unless somebody hears it; and how bad it is.
    pub fn say(&self, trouble: Trouble) -> Status {
        let status = trouble.severity().status(self.strict);
        match &self.ear {
            None => eprintln!("a4emu: {trouble}"),
            Some(ear) => {
                let mut report = Report::default();
                report.troubles.note(trouble, Place::default());
                ear.hear("", report);
            }
        }
        status
    }

    /// Whether a bar on stderr would be seen, and would not run through the listing.
    fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal() && !io::stdout().is_terminal()
    }
}

/// How many threads work.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Threads {
    /// Worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

impl Threads {
    /// Runs `work` with as many worker threads as asked for.
    pub fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        let threads = self.threads.map_or(0, usize::from);
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        }
    }
}

/// The sections of the capture at `path`; `-` is stdin.
///
/// # Errors
/// When it cannot be opened or read.
pub fn open_capture(path: &Path, shared: &Shared) -> anyhow::Result<Ahead> {
    open_capture_as(path, path, shared)
}

/// The same of what is called `name`.
///
/// # Errors
/// When it cannot be opened or read.
pub fn open_capture_as(name: &Path, path: &Path, shared: &Shared) -> anyhow::Result<Ahead> {
    let reader: Box<dyn Read + Send> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => open_file(path, shared).with_context(|| format!("cannot open {}", name.display()))?,
    };
    Ok(Ahead::new(Sections::new(reader).with_context(|| name.display().to_string())?))
}

fn open_file(path: &Path, shared: &Shared) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    match shared.shows_progress() {
        true => {
            let bytes = file.metadata()?.len();
            Ok(Box::new(Watched::new(file, bytes)))
        }
        false => Ok(Box::new(file)),
    }
}
