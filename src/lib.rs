//! The commands of a4emu, and what observes a run for them.
//!
//! The chip itself is in other crates: [`a4emu_decoder`] knows what bits mean, [`a4emu_shader`] runs shaders,
//! [`a4emu_gpu`] has registers, memory, the command processor and the blocks that draw. `docs/architecture.md` follows a
//! packet, a register write, a pixel and a shader word through them.
//!
//! # What a program may ask of a capture
//!
//! A capture is an [`inspect::Capture`] (a file, or bytes). A run has its bounds from [`limits::Limits`], and another thread
//! may end it ([`a4emu_gpu::budget::Interrupt`]).
//!
//! - [`decode`] puts packets out as text or JSON;
//! - [`inspect`] says what a draw runs with, and [`inspect::Rows`] is the table of commands with their cost;
//! - [`pixel::ask`] has the history of pixels;
//! - [`diff::compare`] says what changed between two captures;
//! - [`validate::Watch`] finds what the chip would not forgive;
//! - [`edit`] runs draws with other registers;
//! - [`asm`] and [`disasm`] are the text form of captures.
//!
//! `python/` is these and nothing else. Examples: `examples/render_frame.rs` renders a frame, `examples/depth_test_off.rs`
//! looks at registers before each draw.
//!
//! Modules that are hidden here belong to the command `a4emu` and are no public interface.

#![deny(unsafe_code)]
pub mod asm;
pub mod coverage;
pub mod decode;
pub mod diff;
pub mod disasm;
pub mod edit;
pub mod golden;
pub mod inspect;
pub mod limits;
pub mod options;
pub mod pixel;
pub mod register_names;
pub mod selection;
pub mod status;
pub mod validate;

mod bisect;
mod companion;
mod explain;
mod info;
mod named;
mod reduce;
mod replay;
mod serve;
mod show;
mod trace;

#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod corpus;
#[doc(hidden)]
pub mod debug;
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod folders;
#[doc(hidden)]
pub mod out_file;
#[doc(hidden)]
pub mod pico;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
#[cfg(target_os = "linux")]
pub mod run;
#[doc(hidden)]
pub mod shard;
#[doc(hidden)]
pub mod terminal;
