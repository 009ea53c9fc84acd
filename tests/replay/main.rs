//! Replay: memory, command processor, golden state, check and diff.

mod bad_input;
mod captures;
mod cli;
mod control;
mod draws;
mod golden;
mod kept;
mod memory;
mod packets;
mod parts;
#[allow(dead_code)]
mod shaders;
mod stream;
mod waiting;
mod walk;
