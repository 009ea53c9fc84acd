//! Between the walk and the output: what the options leave out, and how it went.

use std::io;
use std::ops::ControlFlow;

use super::sink::Sink;
use super::tracker::Tracker;
use super::work::Work;
use crate::options::{Shared, Span};
use crate::status::Status;
use crate::walk::{At, Buffers, Problem, Seen, Submit, Visitor};

/// Whether command buffers that run once per tile are shown each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Each time.
    Show,
    /// The first time in a submit.
    Hide,
}

/// Draws of one pass have been left out before: one walk over one capture.
pub struct Session<'a> {
    sink: Box<dyn Sink + 'a>,
    shared: &'a Shared,
    name: String,
    repeats: Repeats,
    tracker: Tracker,
    status: Status,
}

impl<'a> Session<'a> {
    /// A session for the capture called `name`.
    pub fn new(sink: Box<dyn Sink + 'a>, shared: &'a Shared, name: String, repeats: Repeats) -> Self {
        Self { sink, shared, name, repeats, tracker: Tracker::default(), status: Status::Fine }
    }

    /// Puts out what is buffered; the worst status met.
    ///
    /// # Errors
    /// When output cannot be written.
    pub fn finish(self) -> io::Result<Status> {
        self.sink.finish()?;
        Ok(self.status)
    }

    fn submits(&self) -> Span {
        self.shared.submit.unwrap_or(Span::ALL)
    }

    fn draws(&self) -> Span {
        self.shared.draw.unwrap_or(Span::ALL)
    }

    fn shows(&self, at: &At) -> bool {
        self.submits().contains(at.submit)
            && self.draws().contains(at.draw)
            && !(at.repeated && self.repeats == Repeats::Hide)
    }
}

impl Visitor for Session<'_> {
    fn gpu(&mut self, id: u32) -> io::Result<()> {
        self.sink.gpu(id)
    }

    fn submit(&mut self, submit: &Submit, _: &Buffers) -> io::Result<ControlFlow<()>> {
        if submit.index >= self.submits().end {
            return Ok(ControlFlow::Break(()));
        }
        if self.submits().contains(submit.index) {
            self.sink.submit(submit)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn packet(&mut self, at: &At, seen: &Seen<'_>) -> io::Result<()> {
        self.tracker.packet(seen);
        let shown = self.shows(at);
        if shown {
            self.sink.packet(at, seen, &self.tracker)?;
        }
        let Some(work) = seen.body.and_then(|body| Work::of(&body, seen.buffers)) else { return Ok(()) };
        if shown {
            self.sink.work(at, &work, &self.tracker)?;
        }
        self.tracker.next_draw();
        Ok(())
    }

    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()> {
        let Some(status) = problem.status() else {
            self.shared.warn(format_args!("{}: {problem}", self.name));
            self.status = self.status.worse(self.shared.warning(Status::Damaged));
            return Ok(());
        };
        self.status = self.status.worse(status);
        match problem {
            Problem::Capture(_) => eprintln!("a4emu: {}: {problem}", self.name),
            _ => eprintln!("a4emu: {}: submit {}, at {:#010x}: {problem}", self.name, at.submit, at.address),
        }
        self.sink.problem(at, problem)
    }
}
