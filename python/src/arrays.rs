//! Makes numpy arrays.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyByteArray;

/// A new array of `bytes`, which are little-endian elements of `dtype`, row by row.
pub fn array(py: Python<'_>, bytes: &[u8], dtype: &str, shape: &[usize]) -> PyResult<Py<PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let from_buffer = FROM_BUFFER.import(py, "numpy", "frombuffer")?;
    let flat = from_buffer.call1((PyByteArray::new(py, bytes), dtype))?;
    Ok(flat.call_method1("reshape", (shape,))?.unbind())
}
