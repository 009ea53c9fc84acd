//! The commands of a4emu.
//!
//! [`a4emu_inspect`] makes their output; the chip is in [`a4emu_gpu`]. A program that needs what a command
//! does uses these two crates. The hidden modules here belong to the command `a4emu` and are no public
//! interface.

#![deny(unsafe_code)]

mod asm;
mod bisect;
mod companion;
mod decode;
mod diff;
mod disasm;
mod explain;
mod flags;
mod info;
mod memory;
mod named;
mod pixel;
mod reduce;
mod replay;
mod report;
mod serve;
mod show;
mod validate;

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
pub mod pico;
#[doc(hidden)]
#[cfg(target_os = "linux")]
pub mod run;
#[doc(hidden)]
pub mod shard;
