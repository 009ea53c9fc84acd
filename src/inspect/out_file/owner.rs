//! Names of temporary files, which hold machine, container and process.

use std::fs;
use std::process;

use xxhash_rust::xxh3::xxh3_64;

/// Start of all names.
const NAME: &str = ".a4emu-";

/// Start of the names of this process's temporary files.
pub fn prefix() -> String {
    prefix_of(process::id())
}

/// Start of the names of temporary files of process `pid`.
pub fn prefix_of(pid: u32) -> String {
    format!("{NAME}{:08x}-{pid}-", place())
}

/// Whether `name` belongs to a dead process of this machine and container.
pub fn is_dead(name: &str) -> bool {
    let parts = name.strip_prefix(NAME).and_then(|rest| rest.split_once('-'));
    let pid = parts.filter(|(here, _)| *here == format!("{:08x}", place()));
    let pid = pid.and_then(|(_, rest)| rest.split_once('-')?.0.parse().ok());
    pid.is_some_and(|pid| !is_alive(pid))
}

/// A number for this machine and container. Process ids in names with another number mean other processes.
fn place() -> u32 {
    let said = |path: &str| fs::read(path).unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default().into_os_string();
    let namespace = namespace.into_encoded_bytes();
    xxh3_64(&[said("/etc/machine-id"), said("/proc/sys/kernel/hostname"), namespace].concat()) as u32
}

/// Whether a process with this id exists.
#[cfg(target_os = "linux")]
pub fn is_alive(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A signal that is not permitted means that the process exists.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Whether a process with this id exists. This is unknown here, so it counts as alive.
#[cfg(not(target_os = "linux"))]
pub fn is_alive(_: u32) -> bool {
    true
}
