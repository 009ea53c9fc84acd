//! Converts errors to exceptions with a kind, an offset in the capture, and the exit status of the command
//! line.

use a4emu_decoder::asm::{Diagnostic, Reason};
use a4emu_decoder::error::CaptureError;
use a4emu_gpu::fault::{Place, Report, Trouble};
use a4emu_support::options::DiagnosticSink;
use a4emu_support::status::{Failure, Status, Warnings, status_of};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    a4emu,
    Error,
    PyException,
    "Something that a4emu cannot do.

    Attributes:
        kind: the class of the error: 'io', 'container', 'fault', 'unsupported', 'cut', 'usage', 'source', 'internal'.
        offset: byte of the unpacked capture (of a source: of its text) that it is about, or None.
        status: exit status that the a4emu command has for it: 2 usage or I/O, 3 damaged, 4 not supported or cut off.
        result: the result in spite of the error, such as the Replay of a run with faults, or None."
);
create_exception!(
    a4emu,
    UsageError,
    Error,
    "An argument names something that does not exist, or is wrong (status 2)."
);
create_exception!(
    a4emu,
    DamagedError,
    Error,
    "The capture is damaged: container or command stream (status 3)."
);
create_exception!(
    a4emu,
    UnsupportedError,
    Error,
    "Something is not supported, or a limit cut the run off; the rest was done (status 4)."
);
create_exception!(
    a4emu,
    AssemblyError,
    Error,
    "A source is wrong.

    Attributes:
        file, line, column: where, both counted from 1; offset is the byte in the text of the file."
);

/// The attributes of an exception besides its message.
struct What {
    kind: &'static str,
    offset: Option<u64>,
    status: Status,
}

fn error(py: Python<'_>, message: String, what: What) -> PyErr {
    let error = match what.status {
        Status::Unsupported => UnsupportedError::new_err(message),
        Status::Damaged => DamagedError::new_err(message),
        Status::Usage => UsageError::new_err(message),
        Status::Fine | Status::Differs => Error::new_err(message),
    };
    attributed(py, error, &what)
}

fn attributed(py: Python<'_>, error: PyErr, what: &What) -> PyErr {
    let value = error.value(py);
    let set = value
        .setattr("kind", what.kind)
        .and_then(|()| value.setattr("offset", what.offset))
        .and_then(|()| value.setattr("status", what.status as u8))
        .and_then(|()| value.setattr("result", py.None()));
    set.err().unwrap_or(error)
}

/// The exception for an error of the library.
pub fn of(py: Python<'_>, error_: &anyhow::Error) -> PyErr {
    if let Some(diagnostic) = error_.downcast_ref::<Diagnostic>() {
        return of_source(py, diagnostic);
    }
    let message = format!("{error_:#}");
    if let Some(damage) = error_.chain().find_map(|cause| cause.downcast_ref::<CaptureError>()) {
        let (kind, status) = match damage {
            CaptureError::Io { .. } => ("io", Status::Usage),
            _ => ("container", Status::Damaged),
        };
        return error(py, message, What { kind, offset: damage.offset(), status });
    }
    if let Some(io) = error_.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>()) {
        // Raises the exception that Python's open() would: FileNotFoundError and similar ones.
        return match io.raw_os_error() {
            Some(code) => pyo3::exceptions::PyOSError::new_err((code, message)),
            None => error(py, message, What { kind: "io", offset: None, status: Status::Usage }),
        };
    }
    let status = status_of(error_);
    let is_failure = error_.chain().any(|cause| cause.is::<Failure>());
    let kind = match status {
        Status::Damaged => "container",
        Status::Unsupported if is_failure => "cut",
        _ => "usage",
    };
    error(py, message, What { kind, offset: None, status })
}

fn of_source(py: Python<'_>, diagnostic: &Diagnostic) -> PyErr {
    let (line, column) = diagnostic.position();
    let (kind, status) = match diagnostic.reason {
        Reason::Source => ("source", Status::Usage),
        Reason::Work => ("cut", Status::Unsupported),
    };
    let offset = Some(diagnostic.range.start as u64);
    let error =
        attributed(py, AssemblyError::new_err(diagnostic.to_string()), &What { kind, offset, status });
    let value = error.value(py);
    let set = value
        .setattr("file", &diagnostic.file)
        .and_then(|()| value.setattr("line", line))
        .and_then(|()| value.setattr("column", column));
    set.err().unwrap_or(error)
}

/// The exception for wrong use.
pub fn usage(py: Python<'_>, message: impl Into<String>) -> PyErr {
    error(py, message.into(), What { kind: "usage", offset: None, status: Status::Usage })
}

/// Raises an exception for the worst report in `sink`, as [`worst`] does. The message begins with the name of
/// the input.
pub fn worst_collected(py: Python<'_>, sink: &DiagnosticSink, result: Option<Py<PyAny>>) -> PyResult<()> {
    let told = sink.take();
    let bad = told.iter().filter_map(|(name, report)| Some((name, report.worst()?)));
    let worst = bad.reduce(|worst, it| if it.1.0.severity() > worst.1.0.severity() { it } else { worst });
    match worst {
        None => Ok(()),
        Some((name, worst)) => Err(of_trouble(py, name, worst, result)?),
    }
}

/// The exception for a panic of the library, which is a bug of a4emu.
pub fn internal(py: Python<'_>, message: &str) -> PyErr {
    let message = format!("a4emu failed: {message} (please report this)");
    attributed(py, Error::new_err(message), &What { kind: "internal", offset: None, status: Status::Usage })
}

/// Raises an exception for the worst trouble in `report`, if the command line would exit with a status other
/// than 0. `result` is what was computed in spite of it.
pub fn worst(py: Python<'_>, report: &Report, result: Option<Py<PyAny>>) -> PyResult<()> {
    match report.worst() {
        None => Ok(()),
        Some(worst) => Err(of_trouble(py, "", worst, result)?),
    }
}

/// The exception for a trouble with the input called `name`; `name` may be empty.
fn of_trouble(
    py: Python<'_>,
    name: &str,
    (trouble, at, _): &(Trouble, Place, u64),
    result: Option<Py<PyAny>>,
) -> PyResult<PyErr> {
    let place = match trouble {
        Trouble::Io(_) | Trouble::Container(_) | Trouble::NoCapture(_) => None,
        _ if *at == Place::default() => None,
        _ => Some(at.to_string()),
    };
    let name = Some(name.to_owned()).filter(|name| !name.is_empty());
    let parts = [name, place, Some(trouble.to_string())];
    let message = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
    let status = Status::of(trouble.severity(), Warnings::Pass);
    let error = error(py, message, What { kind: trouble.kind(), offset: trouble.offset(), status });
    error.value(py).setattr("result", result)?;
    Ok(error)
}
