//! Converts JSON objects of the library to Python dictionaries.

use a4emu_gpu::ambient;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use serde::Serialize;

use crate::error;

/// Serialises `value` and converts it to a Python object.
pub fn object(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyAny>> {
    let _control = ambient::hold();
    let text = serde_json::to_string(value).map_err(|error| error::internal(py, &error.to_string()))?;
    parse(py, &text)
}

/// Parses JSON `text` to a Python object.
pub fn parse(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(LOADS.import(py, "json", "loads")?.call1((text,))?.unbind())
}
