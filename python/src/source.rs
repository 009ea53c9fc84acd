//! The arguments that describe a capture, and how it is played.

use std::path::PathBuf;
use std::sync::Arc;

use a4emu_decoder::error::CaptureError;
use a4emu_gpu::budget::{Budget, Interrupt};
use a4emu_gpu::gpu::Model;
use a4emu_inspect::describe;
use a4emu_inspect::selection::{Draws, Selection};
use a4emu_shader::Jit;
use a4emu_support::limits::Limits;
use a4emu_support::options::{DiagnosticSink, Shared, Threads};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::{error, work};

/// Name of a source that has no name of its own.
const UNNAMED: &str = "<bytes>";

/// Bytes of memory that each byte of a capture adds to the limit, as for a file.
const HELD_PER_BYTE: u64 = 16;

/// Options for a run without output to stderr.
pub fn shared() -> Shared {
    collecting(&DiagnosticSink::default())
}

/// Options for a run that collects its reports in `sink`.
pub fn collecting(sink: &DiagnosticSink) -> Shared {
    Shared { quiet: true, sink: Some(sink.clone()), ..Shared::default() }
}

/// A capture and the limits of its runs.
#[derive(Clone)]
pub struct Source {
    pub capture: describe::Capture,
    pub limits: Limits,
    pub threads: Threads,
}

impl Source {
    /// The limits of one run, and the interrupt that ends it.
    pub fn run(&self) -> (Limits, Interrupt) {
        let interrupt = Interrupt::default();
        let mut limits = self.limits.clone();
        limits.work.interrupt = Some(interrupt.clone());
        (limits, interrupt)
    }

    /// Runs `work` on the capture in a separate thread, and returns its result.
    pub fn ask<R: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&describe::Capture, Limits) -> anyhow::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let ((limits, interrupt), capture) = (self.run(), self.capture.clone());
        let made = work::wait(py, interrupt, self.threads, move || work(&capture, limits))?;
        made.map_err(|error| error::of(py, &error))
    }

    /// Name of the capture in messages.
    pub fn name(&self) -> String {
        self.capture.name().display().to_string()
    }
}

/// The options for playing a capture, as Python passes them.
pub struct Played<'a> {
    pub max_work: Option<u64>,
    pub max_memory: Option<u64>,
    pub time_limit: Option<u32>,
    pub model: &'a str,
    pub jit: &'a str,
    pub threads: Option<u16>,
    pub process: Option<&'a str>,
}

impl Played<'_> {
    fn limits(&self, py: Python<'_>) -> PyResult<Limits> {
        Ok(Limits {
            work: a4emu_support::limits::WorkLimits {
                max_work: self.max_work,
                time_limit: self.time_limit,
                deadline: None,
                interrupt: None,
            },
            max_memory: self.max_memory,
            model: named(py, "model", self.model, &Model::ALL, Model::name)?,
            jit: named(py, "jit", self.jit, &Jit::ALL, Jit::name)?,
            process: self
                .process
                .map(|text| text.parse().map_err(|why: String| error::usage(py, why)))
                .transpose()?,
            ..Limits::default()
        })
    }

    /// Opens the capture `given`: a path, bytes, or a file that is open for reading bytes.
    pub fn open(&self, given: &Bound<'_, PyAny>) -> PyResult<Source> {
        let py = given.py();
        let mut limits = self.limits(py)?;
        let capture = match bytes_of(given)? {
            Some((name, bytes)) => {
                let more = (bytes.len() as u64).saturating_mul(HELD_PER_BYTE);
                limits.max_memory = Some(limits.memory(more));
                describe::Capture::of_bytes(&name, bytes)
            }
            None => {
                let path: PathBuf = given.extract()?;
                describe::Capture::new(&path, &shared()).map_err(|error| error::of(py, &error))?
            }
        };
        let threads = Threads { threads: self.threads };
        // A file that is no capture is refused here, not at its first use.
        py.detach(|| begins(&capture)).map_err(|error| error::of(py, &error))?;
        Ok(Source { capture, limits, threads })
    }
}

/// Checks that the capture starts with a valid section.
fn begins(capture: &describe::Capture) -> anyhow::Result<()> {
    match capture.sections(&Budget::default(), &shared())?.next() {
        Some(Err(error @ (CaptureError::Empty | CaptureError::NotACapture { .. }))) => Err(error.into()),
        // If the damage is elsewhere, the sections before and after it can be read.
        _ => Ok(()),
    }
}

/// The bytes that `given` is or reads, and their name; `None` if it is a path.
pub fn bytes_of(given: &Bound<'_, PyAny>) -> PyResult<Option<(PathBuf, Arc<[u8]>)>> {
    if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
        return Ok(None);
    }
    let (name, bytes) = match given.hasattr("read")? {
        true => {
            let name = given.getattr("name").and_then(|name| name.extract::<String>());
            (name.unwrap_or_else(|_| UNNAMED.into()), given.call_method0("read")?)
        }
        false => (UNNAMED.into(), given.clone()),
    };
    let bytes = match bytes.cast_into::<PyBytes>() {
        Ok(bytes) => bytes,
        // bytearray, memoryview, mmap: accepted like by bytes(), but numbers and lists of numbers are not.
        Err(other) => {
            let other = other.into_inner();
            let is_buffer = other.py().import("builtins")?.call_method1("memoryview", (&other,)).is_ok();
            if !is_buffer {
                let kind = other.get_type().name()?;
                let message = format!("a capture is a path, bytes or a binary file, not {kind}");
                return Err(pyo3::exceptions::PyTypeError::new_err(message));
            }
            other.py().get_type::<PyBytes>().call1((&other,))?.cast_into()?
        }
    };
    Ok(Some((PathBuf::from(name), bytes.as_bytes().into())))
}

/// The element of `all` with the name `text`.
pub fn named<T: Copy>(
    py: Python<'_>,
    option: &str,
    text: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> PyResult<T> {
    all.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
        let all: Vec<String> = all.iter().map(|value| format!("'{}'", name(*value))).collect();
        error::usage(py, format!("{option} is one of {}, not '{text}'", all.join(", ")))
    })
}

/// A range as a number, or as text in the form of the command line.
#[derive(FromPyObject)]
pub enum Range {
    Number(u32),
    Text(String),
}

impl Range {
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    /// The single draw that the range selects.
    pub fn draw(&self, py: Python<'_>) -> PyResult<Draws> {
        Draws::one(&self.text()).map_err(|message| error::usage(py, message))
    }
}

/// The part of the capture that `submit` and `draw` select.
pub fn selection(py: Python<'_>, submit: Option<Range>, draw: Option<Range>) -> PyResult<Selection> {
    let wrong = |message| error::usage(py, message);
    let submit = submit.map(|range| range.text().parse()).transpose().map_err(wrong)?;
    let draw = draw.map(|range| range.text().parse()).transpose().map_err(wrong)?;
    Ok(Selection { submit, draw })
}
