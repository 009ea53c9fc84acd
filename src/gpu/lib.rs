//! The A4xx in software: what a command stream does to registers and memory, and what is drawn.
//!
//! A capture is played by [`playback`] into a [`Gpu`](gpu::Gpu), which owns registers ([`regfile`]), memory ([`memory`]) and
//! tile memory. The command processor ([`cp`]) executes packets; [`draw`] is the pipeline, by hardware block. Nothing here
//! knows of command lines, files or terminals.

#![deny(unsafe_code)]

pub mod ambient;
pub mod budget;
pub mod cp;
pub mod draw;
pub mod fault;
pub mod fidelity;
pub mod gpu;
pub mod memory;
pub mod pass;
pub mod picture;
pub mod playback;
pub mod regfile;
pub mod status;

pub mod memo;
mod parallel;
mod spare;
