//! Process functions that only Linux has.

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, kill_process_group, prlimit, set_parent_process_death_signal,
};
use signal_hook::consts::{SIGINT, SIGKILL, SIGTERM};

/// Peak memory of this process in bytes.
pub fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Makes this process end when its parent ends, for whatever reason.
pub fn end_with_parent() {
    // If the call fails, this process may outlive a killed parent until its own limits end it.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Makes `command` start in its own process group, so that its children can be killed with it.
pub fn in_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Kills `child` and all processes that it has started.
///
/// # Errors
/// The call fails if the system refuses.
pub fn end(child: &Child) -> io::Result<()> {
    Ok(kill_process_group(Pid::from_child(child), Signal::KILL)?)
}

/// Limits the memory of `child` to this number of bytes. Larger allocations fail.
///
/// # Errors
/// The call fails if the system refuses.
pub fn limit_memory(child: &Child, bytes: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match prlimit(Some(Pid::from_child(child)), Resource::Data, limit) {
        // The process has already ended.
        Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The signal that ended a process, and whether the system may have sent it because memory ran out.
pub fn signal(status: ExitStatus) -> Option<(String, bool)> {
    let signal = status.signal()?;
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("unknown");
    Some((format!("signal {signal} ({name})"), signal == SIGKILL))
}

/// A flag that ctrl-C and SIGTERM set. A second signal ends the process at once.
///
/// # Errors
/// The call fails if the system refuses.
pub fn interrupts() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}
