//! Options of all commands, and how captures are opened.

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use a4emu_decoder::adreno::capture::Ahead;
use a4emu_decoder::error::CaptureError;
use anyhow::Context;

use crate::out_file::Inputs;
use crate::progress::{Shows, Watched};
use crate::status::{Failure, Status, Warnings, WithErrors, not_refused};
use crate::terminal;
use a4emu_gpu::ambient::{self, Members};
use a4emu_gpu::budget::{Budget, Ends};
use a4emu_gpu::fault::{Miss, Missing, Report, Severity, Trouble};

/// Options of all commands: how messages are printed, and which files the command uses.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Prints only errors to stderr.
    pub quiet: bool,
    /// Makes warnings count: the exit status is 3 (damaged) or 4 (not supported).
    pub strict: bool,
    /// Where reports go instead of stderr.
    pub sink: Option<DiagnosticSink>,
    /// The files that the command reads and writes.
    pub inputs: Inputs,
}

/// A sink that keeps the report of each run, with the name of its input, for a program that uses the
/// library.
#[derive(Clone, Debug, Default)]
pub struct DiagnosticSink(Arc<Mutex<Vec<(String, Report)>>>);

impl DiagnosticSink {
    /// Keeps a report.
    pub fn collect(&self, name: &str, report: Report) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), report));
    }

    /// Takes the kept reports, in order.
    pub fn take(&self) -> Vec<(String, Report)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    fn warnings(&self) -> Warnings {
        if self.strict { Warnings::Count } else { Warnings::Pass }
    }

    /// The exit status of a run with this report.
    pub fn status_of(&self, report: &Report) -> Status {
        Status::of_run(report, self.warnings())
    }

    /// Prints a warning on stderr, unless `quiet` is set.
    pub fn warn(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            terminal::say(format_args!("warning: {message}"));
        }
    }

    /// Reports `trouble` that stops a command, on stderr or into the sink. Returns the status it stands for.
    pub fn say(&self, trouble: Trouble) -> Status {
        let status = Status::of(trouble.severity(), self.warnings());
        match &self.sink {
            None => terminal::say(trouble),
            Some(sink) => {
                sink.collect("", Report::of(trouble));
            }
        }
        status
    }

    /// Reports the troubles of a run, with the `name` of its input, on stderr or into the sink. Returns
    /// their status.
    pub fn tell(&self, name: &str, report: &Report) -> Status {
        if let Some(sink) = &self.sink {
            sink.collect(name, report.clone());
            return self.status_of(report);
        }
        for (trouble, at, count) in report.troubles.iter() {
            let times = if *count == 1 { String::new() } else { format!(" ({count} times)") };
            match (trouble.severity(), trouble) {
                (_, Trouble::Refused(_) | Trouble::NoProcess(_)) => {
                    terminal::say(format_args!("{name}: {trouble}"))
                }
                (Severity::Warning, _) => self.warn(format_args!("{name}: {at}: {trouble}{times}")),
                (_, Trouble::Io(_) | Trouble::Container(_) | Trouble::NoCapture(_)) => {
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
        self.tell_missing(name, &report.missing);
        self.status_of(report)
    }

    /// Reports the memory that a run read and that the capture does not hold: in one line.
    fn tell_missing(&self, name: &str, missing: &Missing) {
        if let Some(text) = summary_of(missing) {
            self.warn(format_args!("{name}: {text}"));
        }
    }

    /// Reports the troubles of a run as [`Shared::tell`] does, then the error in `result`. If the input was
    /// refused, the error follows from that and is left out.
    pub fn tell_with(&self, name: &str, report: &Report, result: anyhow::Result<()>) -> Status {
        let told = self.tell(name, report);
        if report.is_refused() { told } else { told.and(result) }
    }

    /// Whether progress is shown on stderr.
    pub fn shows(&self) -> Shows {
        if !self.quiet && io::stderr().is_terminal() { Shows::Yes } else { Shows::No }
    }
}

/// The memory that a run read and that the capture does not hold, in one line. `None` if it holds all.
pub fn summary_of(missing: &Missing) -> Option<String> {
    let all: Vec<Miss> = missing.iter().collect();
    match all[..] {
        [] => None,
        [miss] => Some(Trouble::Missing(miss).to_string()),
        _ => {
            let bytes: u64 = all.iter().map(|miss| u64::from(miss.len)).sum();
            let mut clients: Vec<String> = all.iter().map(|miss| miss.client.to_string()).collect();
            clients.dedup();
            let (count, clients) = (all.len(), clients.join(", "));
            Some(format!(
                "{count} ranges of {bytes} bytes are not in the capture ({clients}); `a4emu info` lists them"
            ))
        }
    }
}

/// Fails with a message that names the input, if it was refused.
///
/// # Errors
/// The input called `name` was refused.
pub fn accepted(name: &Path, report: &Report) -> Result<(), Failure> {
    not_refused(report).map_err(|Failure { status, message }| {
        let message = format!("{}: {message}", name.display());
        Failure { status, message }
    })
}

/// The number of worker threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads {
    /// Worker threads; `None` means one per core.
    pub threads: Option<u16>,
}

impl Threads {
    /// Runs `work` with the set number of worker threads. 0 means one per core; the most is
    /// [`ambient::MOST_THREADS`].
    pub fn run<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        let threads = self.threads.filter(|threads| *threads > 0).map(usize::from);
        match ambient::pool(threads, Members::Own) {
            Ok(pool) => pool.install(work),
            // This thread is in a pool already.
            Err(_) => ambient::with_rust_float_control(work),
        }
    }
}

/// The sections of the capture at `path`; `-` is stdin. Reading stops when `budget` ends the run.
///
/// # Errors
/// The call fails if the file cannot be opened or read.
pub fn open_capture(path: &Path, budget: &Budget, shared: &Shared) -> anyhow::Result<Ahead> {
    let reader = shared.inputs.open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let bytes = fs::metadata(path).map_or(0, |metadata| metadata.len());
    let reader = match bytes > 0 && shared.shows() == Shows::Yes {
        true => Box::new(Watched::new(reader, bytes)),
        false => reader,
    };
    sections(reader, budget).with_context(|| path.display().to_string())
}

/// The sections that `reader` reads. Reading stops when `budget` ends the run.
///
/// # Errors
/// The call fails if the first bytes cannot be read.
pub fn sections(reader: impl Read + Send + 'static, budget: &Budget) -> Result<Ahead, CaptureError> {
    let ends = budget.ends();
    Ahead::new(reader, move || ends.as_ref().is_some_and(Ends::are_reached))
}
