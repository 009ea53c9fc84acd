//! Replay: memory, command processor, golden state, check and diff.

mod bad_input;
mod captures;
mod cli;
mod control;
mod draws;
mod golden;
mod memory;
mod packets;
mod stepping;
mod stream;
mod walk;
