//! The `a4emu` command.
fn main() {}
