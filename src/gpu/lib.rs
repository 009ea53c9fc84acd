//! The A4xx in software: the effect of a command stream on registers and memory, and its draws.
//!
//! [`playback`] plays a capture into a [`Gpu`](gpu::Gpu), which owns registers ([`regfile`]), memory
//! ([`memory`]) and tile memory ([`settled`]). The command processor ([`cp`]) executes packets. [`draw`] is the pipeline,
//! by hardware block. This crate knows no command lines, files or terminals.

#![deny(unsafe_code)]

pub mod ambient;
pub mod budget;
pub mod cp;
pub mod draw;
pub mod fault;
pub mod fidelity;
pub mod gpu;
pub mod machine;
pub mod memory;
pub mod pass;
pub mod picture;
pub mod playback;
pub mod regfile;
pub mod settled;
pub mod span;
pub mod work_trace;

pub mod memo;
mod parallel;
mod pool;
