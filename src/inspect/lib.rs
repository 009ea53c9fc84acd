//! What a run of the emulated A4xx shows.
//!
//! The chip itself is in other crates: [`a4emu_decoder`] knows what bits mean, [`a4emu_shader`] runs shaders, [`a4emu_gpu`]
//! has registers, memory, the command processor and the blocks that draw. Here is what observes a run and puts it into
//! words, tables and files. The command line (`a4emu`), the Python module and the device are built on it.
//!
//! A capture is a [`describe::Capture`] (a file, or bytes). A run has its bounds from [`limits::Limits`], and another thread
//! may end it ([`a4emu_gpu::budget::Interrupt`]).
//!
//! - [`decode`] puts packets out as text or JSON;
//! - [`describe`] says what a draw runs with, and [`describe::Rows`] is the table of commands with their cost;
//! - [`pixel::ask`] has the history of pixels;
//! - [`diff::compare`] says what changed between two captures;
//! - [`validate::Watch`] finds what the chip would not forgive;
//! - [`edit`] runs draws with other registers;
//! - [`asm`] and [`disasm`] are the text form of captures;
//! - [`golden`] is the text of register state that fixtures are compared with;
//! - [`report`] is a page that shows a capture.
//!
//! `python/` is these and nothing else. Examples: `examples/render_frame.rs` renders a frame, `examples/depth_test_off.rs`
//! looks at registers before each draw.

#![deny(unsafe_code)]
pub mod asm;
pub mod coverage;
pub mod decode;
pub mod describe;
pub mod diff;
pub mod disasm;
pub mod edit;
pub mod explain;
pub mod folders;
pub mod golden;
pub mod limits;
pub mod options;
pub mod out_file;
pub mod pixel;
pub mod progress;
pub mod register_names;
pub mod report;
#[cfg(target_os = "linux")]
pub mod run_files;
pub mod selection;
pub mod status;
pub mod terminal;
pub mod trace;
pub mod validate;
