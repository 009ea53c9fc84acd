//! Shows what a run of the emulated A4xx does.
//!
//! The chip itself is in other crates. [`a4emu_decoder`] decodes bits, and [`a4emu_shader`] runs shaders.
//! [`a4emu_gpu`] has registers, memory, the command processor and the blocks that draw. This crate observes
//! a run and writes text, tables and files about it. The command line (`a4emu`) and the Python module use it.
//!
//! A capture is a [`describe::Capture`] (a file, or bytes). [`a4emu_support::limits::Limits`] bounds a run, and another
//! thread may end it ([`a4emu_gpu::budget::Interrupt`]).
//!
//! - [`decode`] prints packets as text or JSON;
//! - [`describe`] describes the state of a draw, and [`describe::Rows`] is the table of commands with their
//!   cost;
//! - [`pixel::ask`] returns the history of pixels;
//! - [`memory::ask`] returns bytes of memory at a draw, and what uses them;
//! - [`diff::compare`] finds the differences between two captures;
//! - [`a4emu_rules::Watch`] finds errors that a real chip does not tolerate;
//! - [`edit`] runs draws with other registers;
//! - [`asm`] and [`disasm`] are the text form of captures;
//! - [`golden`] is the text of register state that fixtures are compared with;
//! - [`report`] is a page that shows a capture.
//!
//! `python/` wraps these modules. Examples: `examples/render_frame.rs` renders a frame,
//! `examples/depth_test_off.rs` looks at registers before each draw.

#![deny(unsafe_code)]
pub mod asm;
pub mod coverage;
pub mod decode;
pub mod describe;
pub mod diff;
pub mod disasm;
pub mod edit;
pub mod explain;
pub mod golden;
pub mod memory;
pub mod pixel;
pub mod register_names;
pub mod report;
pub mod selection;
pub mod subjects;
pub mod trace;
