//! The options that all commands have, and how captures are opened.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use a4emu_decoder::capture::Ahead;
use a4emu_decoder::error::CaptureError;
use anyhow::Context;

use crate::out_file::Inputs;
use crate::progress::Watched;
use crate::status::Status;
use crate::terminal;
use a4emu_gpu::ambient::{self, Members};
use a4emu_gpu::budget::{Budget, Ends};
use a4emu_gpu::fault::{Place, Report, Severity, Trouble};

/// What all commands have: how they put out messages, and which files they use.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Nothing is put on stderr but errors.
    pub quiet: bool,
    /// When stdout is coloured.
    pub color: When,
    /// Warnings count: the status is 3 (damaged) or 4 (not supported).
    pub strict: bool,
    /// Where reports go, in place of stderr.
    pub ear: Option<DiagnosticSink>,
    /// The files that the command reads and writes.
    pub inputs: Inputs,
}

/// Keeps what goes wrong for the program that uses the library: the report of each run, with the name of its input.
#[derive(Clone, Debug, Default)]
pub struct DiagnosticSink(Arc<Mutex<Vec<(String, Report)>>>);

impl DiagnosticSink {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
            terminal::say(format_args!("warning: {message}"));
        }
    }

    /// Says what keeps a command from doing all of it, on stderr, unless somebody hears it; and how bad it is.
    pub fn say(&self, trouble: Trouble) -> Status {
        let status = trouble.severity().status(self.strict);
        match &self.ear {
            None => terminal::say(trouble),
            Some(ear) => {
                let mut report = Report::default();
                report.troubles.note(trouble, Place::default());
                ear.hear("", report);
            }
        }
        status
    }

    /// Puts what went wrong in a run on stderr, after the `name` of the input, unless somebody hears it, and says how bad
    /// it is.
    pub fn tell(&self, name: &str, report: &Report) -> Status {
        if let Some(ear) = &self.ear {
            ear.hear(name, report.clone());
            return report.status(self.strict);
        }
        for (trouble, at, count) in report.troubles.iter() {
            let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
            match (trouble.severity(), trouble) {
                (Severity::Warning, _) => self.warn(format_args!("{name}: {at}: {trouble}{times}")),
                (_, Trouble::Io(_) | Trouble::Container(_)) => {
                    terminal::say(format_args!("{name}: {trouble}{times}"));
                }
                _ => terminal::say(format_args!("{name}: {at}: {trouble}{times}")),
            }
        }
        if report.troubles.dropped() > 0 {
            let more = report.troubles.dropped();
            self.warn(format_args!(
                "{name}: {more} more reports are left out: there are too many different ones"
            ));
        }
        for miss in report.missing.iter() {
            self.warn(format_args!("{name}: {}", Trouble::Missing(miss)));
        }
        report.status(self.strict)
    }

    /// Whether a bar on stderr would be seen, and would not run through the listing.
    fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal() && !io::stdout().is_terminal()
    }
}

/// How many threads work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    /// Worker threads; `None` is one per core.
    pub threads: Option<u16>,
}

impl Threads {
    /// Runs `work` with as many worker threads as asked for: one per core for 0, and no more than [`ambient::MOST_THREADS`].
    pub fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        let threads = self.threads.filter(|threads| *threads > 0).map(usize::from);
        match ambient::pool(threads, Members::Own) {
            Ok(pool) => pool.install(work),
            // This thread works in a pool already.
            Err(_) => ambient::steady(work),
        }
    }
}

/// The sections of the capture at `path`, as far as they come before `budget` ends the run from outside; `-` is stdin.
///
/// # Errors
/// When it cannot be opened or read.
pub fn open_capture(path: &Path, budget: &Budget, shared: &Shared) -> anyhow::Result<Ahead> {
    let reader = shared.inputs.open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let reader = match bytes > 0 && shared.shows_progress() {
        true => Box::new(Watched::new(reader, bytes)),
        false => reader,
    };
    sections(reader, budget).with_context(|| path.display().to_string())
}

/// The sections that `reader` reads, as far as they come before `budget` ends the run from outside.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn sections(reader: impl Read + Send + 'static, budget: &Budget) -> Result<Ahead, CaptureError> {
    let ends = budget.ends();
    Ahead::new(reader, move || ends.as_ref().is_some_and(Ends::are_reached))
}
