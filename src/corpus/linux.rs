//! What of processes only Linux has.

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

/// Bytes of memory that this process has held at most.
pub fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Ends this process with the one that started it, whatever ends that.
pub fn end_with_parent() {
    // Without it a process outlives a parent that was killed, until its own limits end it.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Has `command` begin a group of its own, so that what it starts ends with it.
pub fn in_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Ends `child` and all that it has started.
///
/// # Errors
/// The system refuses.
pub fn end(child: &Child) -> io::Result<()> {
    Ok(kill_process_group(Pid::from_child(child), Signal::KILL)?)
}

/// Gives `child` so many bytes of memory of its own; what asks for more gets none.
///
/// # Errors
/// The system refuses.
pub fn limit_memory(child: &Child, bytes: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    match prlimit(Some(Pid::from_child(child)), Resource::Data, limit) {
        // It has come to its end.
        Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The signal that ended a process, and whether somebody else may have sent it for want of memory.
pub fn signal(status: ExitStatus) -> Option<(String, bool)> {
    let signal = status.signal()?;
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("unknown");
    Some((format!("signal {signal} ({name})"), signal == SIGKILL))
}

/// A flag that ctrl-C and SIGTERM set; the second of either ends the process at once.
///
/// # Errors
/// The system refuses.
pub fn interrupts() -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(flag)
}
