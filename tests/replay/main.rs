//! Replay: memory, command processor, golden state, check and diff.

mod bad_input;
mod captures;
mod cli;
mod control;
mod draws;
mod golden;
mod memory;
mod packets;
mod parts;
mod queue;
#[allow(dead_code)]
mod shaders;
mod stage_cache;
mod stream;
mod walk;
