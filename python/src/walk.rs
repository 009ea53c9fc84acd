//! Iterators over a capture. The command processor runs in a separate thread and skips draws.

use a4emu_decoder::adreno::address::Address;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::SyncSender;

use a4emu_decoder::adreno::packet;
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::fault::Report;
use a4emu_gpu::settled::Running;
use a4emu_inspect::decode;
use a4emu_inspect::selection::{Selection, Window};
use pyo3::prelude::*;

use crate::items::{Item, Met, Packet, Submit};
use crate::source::{Source, shared};
use crate::work::Work;
use crate::{error, json};

/// The report of a run, and whether the selection existed and the output could be written.
type End = anyhow::Result<(Report, anyhow::Result<()>)>;

/// The kind of items to iterate over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Submits,
    Draws,
    Packets,
}

/// Submits, draws or packets, in order of execution.
///
/// What is wrong with the capture is raised behind the last of them: whatever could be read comes first.
#[pyclass(module = "a4emu")]
pub struct Walk(Work<Item, End>);

impl Walk {
    /// An iterator over the `wanted` items of `source` in `selection`.
    pub fn new(source: &Source, wanted: Wanted, selection: Selection) -> PyResult<Self> {
        let (limits, interrupt) = source.run();
        let (capture, name) = (source.capture.clone(), source.name());
        let work = move |sender| {
            let mut playback = limits.playback_of(Path::new(&name), decode::BASE);
            let sections = capture.sections(&playback.gpu.budget, &shared())?;
            let mut walker = Walker {
                wanted,
                selection,
                window: Window::new(selection, None),
                sender,
                process: String::new(),
            };
            playback.run(sections, &mut Skip::default(), &mut walker);
            let found = walker.window.finish(&playback.gpu).map_err(anyhow::Error::from);
            Ok((playback.gpu.machine.report, found))
        };
        Work::start(interrupt, source.threads, work).map(Self)
    }
}

/// Raises an exception for the worst trouble, after all items are taken.
fn ended(py: Python<'_>, end: Option<End>) -> PyResult<()> {
    let Some(end) = end else { return Ok(()) };
    let (report, found) = end.map_err(|error| error::of(py, &error))?;
    error::worst(py, &report, None)?;
    found.map_err(|error| error::of(py, &error))
}

#[pymethods]
impl Walk {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.0.next(py)? {
            Some(item) => item.into_py(py).map(Some),
            None => ended(py, self.0.finish(py)?).map(|()| None),
        }
    }
}

/// An observer that sends the wanted items.
struct Walker {
    wanted: Wanted,
    selection: Selection,
    window: Window,
    sender: SyncSender<Item>,
    process: String,
}

impl Walker {
    fn send(&self, item: Item) -> Flow {
        if self.sender.send(item).is_ok() { Flow::Continue } else { Flow::Stop }
    }
}

impl Observer for Walker {
    fn process(&mut self, command: &str) {
        command.clone_into(&mut self.process);
    }

    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        if self.window.submit(gpu, address, dwords) == Flow::Stop {
            return Flow::Stop;
        }
        match self.wanted == Wanted::Submits && self.selection.has_submit(gpu.at.submit) {
            true => self.send(Item::Submit(Submit::new(gpu, address, dwords, &self.process))),
            false => Flow::Continue,
        }
    }

    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        self.window.submitted(gpu)
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &packet::Packet<'_>) {
        let at = gpu.at;
        if self.wanted == Wanted::Packets && self.selection.contains(at.submit, at.draws, at.frame_draw) {
            // If the receiver is gone, the next draw or submit ends the run.
            let _ = self.send(Item::Packet(Packet::new(gpu, packet)));
        }
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if self.window.call(gpu, call) == Flow::Stop {
            return Flow::Stop;
        }
        match self.wanted == Wanted::Draws && self.selection.has(call) {
            true => self.send(Item::Draw(Box::new(Met::new(gpu, call)))),
            false => Flow::Continue,
        }
    }
}

/// The objects of `a4emu decode --format jsonl` (docs/schema.md), as dictionaries.
#[pyclass(module = "a4emu")]
pub struct Objects {
    work: Work<Vec<u8>, End>,
    /// The received text, and the offset up to which it was returned.
    text: Vec<u8>,
    at: usize,
}

/// A writer that sends the bytes that are written.
struct Pipe(SyncSender<Vec<u8>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Objects {
    /// The output of `decode` for `source`, within its limits.
    pub fn new(source: &Source, options: decode::Options) -> PyResult<Self> {
        let (limits, interrupt) = source.run();
        let (capture, name) = (source.capture.clone(), source.name());
        let options = decode::Options { limits, ..options };
        let work = move |sender| {
            let sections = capture.sections(&options.limits.work.budget(0), &shared())?;
            let out = decode::Output::new(Box::new(Pipe(sender)));
            decode::play(sections, &name, &options, out)
        };
        let work = Work::start(interrupt, source.threads, work)?;
        Ok(Self { work, text: Vec::new(), at: 0 })
    }

    /// The next complete line of the received text.
    fn line(&mut self) -> Option<&str> {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n')?;
        let start = self.at;
        self.at += length + 1;
        std::str::from_utf8(&self.text[start..start + length]).ok()
    }
}

#[pymethods]
impl Objects {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            if let Some(line) = self.line() {
                return json::parse(py, line).map(Some);
            }
            let Some(more) = self.work.next(py)? else {
                return ended(py, self.work.finish(py)?).map(|()| None);
            };
            self.text.drain(..self.at);
            self.at = 0;
            self.text.extend(more);
        }
    }
}
