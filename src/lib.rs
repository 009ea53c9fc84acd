//! The commands of a4emu.
//!
//! What they put out is made by [`a4emu_inspect`]; the chip is in [`a4emu_gpu`]. A program that wants to do what a command
//! does uses these: modules that are hidden here belong to the command `a4emu` and are no public interface.

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
