//! The Python module `a4emu`. It uses only the public interface of the library: each function converts its
//! arguments, makes one call, and converts the result. `python/README.md` has examples.
//!
//! - [`source`](mod@source): arguments that describe a capture;  [`capture`]: the class with its methods
//! - [`work`]: threads without the interpreter's lock, and ctrl-C
//! - [`walk`], [`items`], [`state`]: submits, draws and packets, and the registers at a draw
//! - [`look`]: one draw with all that it runs with
//! - [`replay`], [`surface`], [`arrays`]: a run that renders, as arrays of numpy
//! - [`error`]: exceptions;  [`json`]: the JSON of the command line as dictionaries

#![deny(unsafe_code)]

mod arrays;
mod capture;
mod error;
mod items;
mod json;
mod look;
mod replay;
mod source;
mod state;
mod surface;
mod text;
mod walk;
mod work;

use pyo3::prelude::*;

/// What `a4emu` re-exports.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::capture::Capture;
    #[pymodule_export]
    use crate::error::{AssemblyError, DamagedError, Error, UnsupportedError, UsageError};
    #[pymodule_export]
    use crate::items::{Draw, Packet, Submit};
    #[pymodule_export]
    use crate::look::Shown;
    #[pymodule_export]
    use crate::replay::{Frame, Replay};
    #[pymodule_export]
    use crate::state::State;
    #[pymodule_export]
    use crate::surface::Surface;
    #[pymodule_export]
    use crate::text::{assemble, diff, open};
    #[pymodule_export]
    use crate::walk::{Objects, Walk};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
