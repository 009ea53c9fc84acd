//! Replay: memory, command processor, golden state, check and diff.

mod bad_input;
#[path = "../bounded/mod.rs"]
mod bounded;
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
#[path = "../geometry/scene.rs"]
mod scene;
#[path = "../../decoder/tests/seed/mod.rs"]
mod seed;
mod shaders;
mod stream;
mod waiting;
mod walk;
