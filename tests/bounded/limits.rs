//! Limits for a child process.

use std::process::Command;

/// Limit of CPU seconds; larger for a build without optimisation.
const SECONDS: u32 = if cfg!(debug_assertions) { 80 } else { 20 };
/// Wall-clock limit in seconds, for runs that hang. It is large because the machine may be busy.
const PATIENCE: u32 = 600;
/// Limit of address space in KiB. Threads' stacks and arenas count, used or not.
const SPACE_KIB: u32 = 2_000_000;

/// A shell command that sets the limits and then runs its first argument.
pub fn limited() -> Command {
    limited_by(SPACE_KIB, SECONDS)
}

/// [`limited`] with half the time, for interactive questions.
#[allow(dead_code, reason = "not every test asks")]
pub fn promptly() -> Command {
    limited_by(SPACE_KIB, SECONDS / 2)
}

/// [`limited`] for a command that spends its budget, of which a build without optimisation gives it a sixteenth. The
/// slowest takes 4 seconds on a quiet machine, and has five times as long.
#[allow(dead_code, reason = "not every test spends it")]
pub fn spending_limited() -> Command {
    limited_by(SPACE_KIB, if cfg!(debug_assertions) { SECONDS / 4 } else { SECONDS })
}

/// [`limited`] with `space` KiB of address space.
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
