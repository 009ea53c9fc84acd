//! What commands need beside the chip: options, limits, files, the terminal and the exit status.
//!
//! - [`terminal`] is the only way to stdout, and [`progress`] shows bars on stderr;
//! - [`out_file`] writes files whole or not at all, and never over an input. [`folders`] says which files an input may name;
//! - [`options::Shared`] is what all commands take, and tells the troubles of a run;
//! - [`limits::Limits`] bounds a run: it makes the chip with its budget;
//! - [`status::Status`] is the exit status, and [`status::Failure`] an error that carries one.
//!
//! The device (`src/drm`) uses none of this: what it shares with `a4emu run` is in [`a4emu_process`].

#![deny(unsafe_code)]
pub mod folders;
pub mod limits;
pub mod options;
pub mod out_file;
pub mod progress;
pub mod status;
pub mod terminal;
