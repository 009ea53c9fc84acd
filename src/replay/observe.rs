//! What `replay` watches: the range to run, the list of draws, the state file.

use std::io::{self, Write};

use crate::cp::{Call, Flow, Observer};
use crate::golden::{Record, RecordText, Sink, call_text, header};
use crate::gpu::{Chip, Gpu};
use crate::options::{Shared, Span};

/// The part of a capture that somebody asked for. Everything before it runs, since state
/// carries over; the replay ends behind it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// These submits.
    pub submits: Span,
    /// And of them these draws.
    pub draws: Span,
    /// Stop before this draw.
    pub stop: u64,
}

impl Window {
    /// From the shared options and `--stop`.
    pub fn new(shared: &Shared, stop: Option<u32>) -> Self {
        Self {
            submits: shared.submit.unwrap_or(Span::ALL),
            draws: shared.draw.unwrap_or(Span::ALL),
            stop: stop.map_or(u64::MAX, u64::from),
        }
    }

    /// Whether draw `number` of `submit` is inside.
    pub fn contains(&self, submit: u32, number: u32) -> bool {
        self.submits.contains(submit.into()) && self.draws.contains(number.into())
    }
}

impl Observer for Window {
    fn call(&mut self, _: &mut Gpu, call: &Call) -> Flow {
        let end = self.stop.min(self.draws.end);
        if u64::from(call.number()) >= end { Flow::Stop } else { Flow::Continue }
    }

    fn submit(&mut self, gpu: &mut Gpu, _: u32, _: u32) -> Flow {
        if u64::from(gpu.at.submit) >= self.submits.end { Flow::Stop } else { Flow::Continue }
    }
}

/// `--list-draws`: a line for each draw and dispatch.
pub struct Listing<W> {
    out: W,
    window: Window,
    error: Option<io::Error>,
}

impl<W: Write> Listing<W> {
    /// Into `out`, of what is in `window`.
    pub fn new(out: W, window: Window) -> Self {
        Self { out, window, error: None }
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn finish(mut self) -> io::Result<()> {
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }
}

impl<W: Write> Observer for Listing<W> {
    fn call(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let (number, submit) = (call.number(), gpu.at.submit);
        if self.window.contains(submit, number) {
            self.error = writeln!(self.out, "draw {number} submit {submit} {}", call_text(gpu, call)).err();
        }
        if self.error.is_some() { Flow::Stop } else { Flow::Continue }
    }
}

/// `--state`: records as text.
pub struct StateFile<W> {
    out: W,
    window: Window,
    begun: bool,
    error: Option<io::Error>,
}

impl<W: Write> StateFile<W> {
    /// Into `out`, of what is in `window`.
    pub fn new(out: W, window: Window) -> Self {
        Self { out, window, begun: false, error: None }
    }

    /// Where everything was written to.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn finish(self) -> io::Result<W> {
        self.error.map_or(Ok(self.out), Err)
    }

    fn write(&mut self, chip: Chip, record: &Record) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.out.write_all(header(chip).as_bytes())?;
        }
        write!(self.out, "{}", RecordText(record))
    }
}

impl<W: Write> Sink for StateFile<W> {
    fn record(&mut self, chip: Chip, record: Record) {
        if self.error.is_none() && (record.is_end() || self.window.contains(record.submit, record.number)) {
            self.error = self.write(chip, &record).err();
        }
    }
}
