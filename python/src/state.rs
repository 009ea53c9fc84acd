//! Registers as a draw finds them, by name and field.

use std::sync::Arc;

use a4emu_decoder::bits::value::{FieldValue, Value, fields};
use a4emu_decoder::generation::Generation;
use a4emu_gpu::ambient;
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::register_names::{Asked, find};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{BoundObject, IntoPyObjectExt};

/// The registers that anybody has written, with their values: a read-only mapping of names.
///
/// `state['RB_DEPTH_CONTROL']` is the register's value, an int of 32 bits; `state['RB_DEPTH_CONTROL.ZFUNC']` that of a
/// field: the enumerator's name, a bool, an int, a float, or 'r0.x' where it names a shader's register. Names are the
/// database's in any case, or offsets ('0x2101', '2101'). KeyError: there is no such register (the message has names
/// that come near), or nobody has written it.
#[pyclass(frozen, mapping, module = "a4emu")]
pub struct State {
    written: Arc<[(u32, u32)]>,
    generation: &'static Generation,
}

impl State {
    /// The registers of `gpu` that have been written.
    pub fn of(gpu: &Gpu) -> Self {
        Self { written: gpu.regs.iter().collect(), generation: gpu.chip.generation() }
    }

    fn written(&self, offset: u32) -> Option<u32> {
        let at = self.written.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
        Some(self.written[at].1)
    }

    /// The single register or field that `name` refers to.
    fn asked(&self, name: &str) -> PyResult<Asked> {
        let found = find(self.generation, name).map_err(|error| PyKeyError::new_err(error.to_string()))?;
        match found[..] {
            [asked] if !asked.by_pattern => Ok(asked),
            _ => Err(PyKeyError::new_err(format!("`{name}` is a pattern: ask query() for it"))),
        }
    }

    fn value(&self, py: Python<'_>, asked: &Asked) -> PyResult<Option<Py<PyAny>>> {
        let Some(word) = self.written(asked.offset) else { return Ok(None) };
        match asked.field {
            None => word.into_py_any(py).map(Some),
            Some(_) => fields(asked.fields(), word).next().map(|field| scalar(py, &field)).transpose(),
        }
    }
}

/// The full name of the register or field.
fn name(asked: &Asked) -> String {
    let register = asked.register();
    asked.field.map_or_else(|| register.to_string(), |field| format!("{register}.{}", field.name))
}

/// The value of a field as a Python object.
pub fn scalar(py: Python<'_>, field: &FieldValue) -> PyResult<Py<PyAny>> {
    let _control = ambient::hold();
    Ok(match field.value() {
        Value::Bool(value) => value.into_pyobject(py)?.into_bound().into_any().unbind(),
        Value::Uint(value) | Value::Hex(value) => value.into_py_any(py)?,
        Value::Int(value) => value.into_py_any(py)?,
        Value::Fixed(value) => value.into_py_any(py)?,
        Value::Float(value, _) => value.into_py_any(py)?,
        Value::RegId(_) | Value::HalfRegId(_) => field.to_string().into_py_any(py)?,
        Value::Name(name) => name.into_py_any(py)?,
    })
}

#[pymethods]
impl State {
    fn __len__(&self) -> usize {
        self.written.len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.asked(name).is_ok_and(|asked| self.written(asked.offset).is_some())
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let value = self.value(py, &self.asked(name)?)?;
        value.ok_or_else(|| PyKeyError::new_err(format!("nobody has written {name}")))
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.keys().into_pyobject(py)?.call_method0("__iter__").map(Bound::unbind)
    }

    /// Names of the registers, by offset.
    fn keys(&self) -> Vec<String> {
        self.written.iter().map(|(offset, _)| self.generation.registers.name(*offset).to_string()).collect()
    }

    /// Their values, in the order of keys().
    fn values(&self) -> Vec<u32> {
        self.written.iter().map(|(_, word)| *word).collect()
    }

    /// Both.
    fn items(&self) -> Vec<(String, u32)> {
        self.keys().into_iter().zip(self.values()).collect()
    }

    /// The value, or `default` where nobody has written the register.
    #[pyo3(signature = (name, default = None))]
    fn get(&self, py: Python<'_>, name: &str, default: Option<Py<PyAny>>) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.value(py, &self.asked(name)?)?.or(default))
    }

    /// All fields of a register, by name.
    fn fields<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let asked = self.asked(name)?;
        let word = self.written(asked.offset);
        let word = word.ok_or_else(|| PyKeyError::new_err(format!("nobody has written {name}")))?;
        let all = PyDict::new(py);
        for field in fields(asked.fields(), word) {
            all.set_item(field.row.name, scalar(py, &field)?)?;
        }
        Ok(all)
    }

    /// The registers and fields that a pattern fits (`*` any text, `?` any character), with their values, by name.
    fn query<'py>(&self, py: Python<'py>, pattern: &str) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for asked in find(self.generation, pattern).map_err(|error| PyKeyError::new_err(error.to_string()))? {
            if let Some(value) = self.value(py, &asked)? {
                all.set_item(name(&asked), value)?;
            }
        }
        Ok(all)
    }

    fn __repr__(&self) -> String {
        format!("<a4emu.State of {} registers>", self.written.len())
    }
}
