//! Functions that assemble, open and compare captures.

use std::path::PathBuf;

use a4emu_decoder::asm::{self, Bounds, Files};
use a4emu_inspect::asm::Disk;
use a4emu_inspect::diff::{self as comparison};
use a4emu_support::folders::Folders;
use a4emu_support::options::DiagnosticSink;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::capture::Capture;
use crate::source::{Played, Range, collecting};
use crate::{error, json, work};

/// Opens a capture (.rd, .rd.gz): a path, bytes, or a binary file, which is read to its end.
///
/// Args:
///     max_work: units that a run may spend, of about 16 bytes moved or 1/16 of a warp's instruction.
///     max_memory: bytes of the chip's memory that a run keeps at a time.
///     time_limit: seconds of a run.
///     model: 'board' or 'strict-gl', where the two differ.
///     jit: which shaders are compiled, 'auto', 'on' or 'off'; the same bytes come out.
///     threads: that render (default: one per core); the same bytes come out.
///     process: only its submits run: 'glxgears', 'glxgears/23375', '23375' or a pattern.
///
/// Raises OSError where it cannot be read, DamagedError where it is no capture.
#[pyfunction]
#[pyo3(signature = (source, *, max_work = None, max_memory = None, time_limit = None, model = "board", jit = "auto",
    threads = None, process = None))]
#[allow(clippy::too_many_arguments)] // Keywords.
pub fn open(
    source: &Bound<'_, PyAny>,
    max_work: Option<u64>,
    max_memory: Option<u64>,
    time_limit: Option<u32>,
    model: &str,
    jit: &str,
    threads: Option<u16>,
    process: Option<&str>,
) -> PyResult<Capture> {
    Played { max_work, max_memory, time_limit, model, jit, threads, process }.open(source).map(Capture)
}

/// The capture that `source`, the text of an assembly (captures/triangle-by-hand.a4), says, as bytes.
///
/// Args:
///     path: what the source is called; files that it includes are in the folder of that.
///     include: further folders whose files it may include.
///
/// Raises AssemblyError with file, line and column.
#[pyfunction]
#[pyo3(signature = (source, *, path = None, include = Vec::new()))]
pub fn assemble<'py>(
    py: Python<'py>,
    source: String,
    path: Option<PathBuf>,
    include: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyBytes>> {
    let assembled = py.detach(|| {
        let (folders, name) = match &path {
            Some(path) => (Folders::around(path, &include), path.display().to_string()),
            None => (Folders::new(&include), "<string>".to_owned()),
        };
        let mut disk = Disk::new(folders);
        let name = if path.is_some() { disk.resolve("", &name) } else { name };
        asm::assemble(&name, &source, &mut disk, Bounds::default())
    });
    let capture = assembled.map_err(|diagnostic| error::of(py, &anyhow::Error::new(*diagnostic)))?;
    Ok(PyBytes::new(py, &capture))
}

/// What changed from capture `a` to `b`: the object of `a4emu diff --json` (docs/schema.md), with same and differences.
///
/// Args:
///     tiles: each run of a draw for itself.
///     addresses: a buffer that moved is a difference.
///     first: only the first draw that differs, with the packets that made it so.
///     draw_a, draw_b: compare these two draws.
///
/// Raises DamagedError or UnsupportedError, whose result is the object, where not all could be compared.
#[pyfunction]
#[pyo3(signature = (a, b, *, tiles = false, addresses = false, first = false, draw_a = None, draw_b = None))]
#[allow(clippy::too_many_arguments)] // Keywords.
pub fn diff(
    py: Python<'_>,
    a: &Bound<'_, Capture>,
    b: &Bound<'_, Capture>,
    tiles: bool,
    addresses: bool,
    first: bool,
    draw_a: Option<Range>,
    draw_b: Option<Range>,
) -> PyResult<Py<PyAny>> {
    let sources = [a, b].map(|capture| capture.get().0.clone());
    let draws = [draw_a.map(|it| it.draw(py)).transpose()?, draw_b.map(|it| it.draw(py)).transpose()?];
    let (limits, interrupt) = sources[0].run();
    let threads = sources[0].threads;
    let sink = DiagnosticSink::default();
    let shared = collecting(&sink);
    let (text, compared) = work::wait(py, interrupt, threads, move || {
        let options = comparison::Options {
            tiles,
            addresses,
            first,
            json: true,
            limits,
            ..comparison::Options::default()
        };
        let mut text = Vec::new();
        let captures = sources.map(|source| source.capture);
        let (_, compared) = comparison::compare(captures, draws, &mut text, &options, &shared);
        (text, compared)
    })?;
    if let Err(error) = compared {
        error::worst_collected(py, &sink, None)?;
        return Err(error::of(py, &error));
    }
    let result = json::parse(py, &String::from_utf8_lossy(&text))?;
    error::worst_collected(py, &sink, Some(result.clone_ref(py)))?;
    Ok(result)
}
