//! The limits of a process that has to end.

use std::process::Command;

/// CPU seconds; those of a build without optimisation count less.
const SECONDS: u32 = if cfg!(debug_assertions) { 80 } else { 20 };
/// Seconds by the clock, for what waits for ever; the machine may be busy.
const PATIENCE: u32 = 600;
/// Kilobytes of address space; threads' stacks and arenas count, used or not.
const SPACE_KIB: u32 = 2_000_000;

/// Has the shell set the limits, and then become the command that is its first argument.
pub fn limited() -> Command {
    limited_by(SPACE_KIB, SECONDS)
}

/// The same with half the time: for who asks something and waits.
#[allow(dead_code, reason = "not every test asks")]
pub fn promptly() -> Command {
    limited_by(SPACE_KIB, SECONDS / 2)
}

/// The same with `space` kilobytes of address space.
#[allow(dead_code, reason = "not every test says how much")]
pub fn limited_to(space: u32) -> Command {
    limited_by(space, SECONDS)
}

fn limited_by(space: u32, seconds: u32) -> Command {
    let limits = format!("ulimit -c 0 -v {space} -t {seconds} && exec \"$0\" \"$@\"");
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", &PATIENCE.to_string(), "bash", "-c", &limits]);
    command
}
