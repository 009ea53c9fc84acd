//! Whose a temporary file is: its name says machine, container and process.

use std::fs;
use std::process;

use xxhash_rust::xxh3::xxh3_64;

/// What all names begin with.
const NAME: &str = ".a4emu-";

/// What the names of this process's temporary files begin with.
pub fn prefix() -> String {
    prefix_of(process::id())
}

/// The same of process `pid`.
pub fn prefix_of(pid: u32) -> String {
    format!("{NAME}{:08x}-{pid}-", place())
}

/// Whether `name` is that of a file of a process of this place which is dead.
pub fn is_dead(name: &str) -> bool {
    let parts = name.strip_prefix(NAME).and_then(|rest| rest.split_once('-'));
    let pid = parts.filter(|(here, _)| *here == format!("{:08x}", place()));
    let pid = pid.and_then(|(_, rest)| rest.split_once('-')?.0.parse().ok());
    pid.is_some_and(|pid| !is_alive(pid))
}

/// Which processes the numbers in names are about: those of another machine, which may share the folder, or of another
/// container are not ours.
fn place() -> u32 {
    let said = |path: &str| fs::read(path).unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default().into_os_string();
    let namespace = namespace.into_encoded_bytes();
    xxh3_64(&[said("/etc/machine-id"), said("/proc/sys/kernel/hostname"), namespace].concat()) as u32
}

/// Whether there is a process of that number.
#[cfg(target_os = "linux")]
pub fn is_alive(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // Not being allowed to signal it means that it is there.
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// Whether there is a process of that number: not known here, so it counts as alive.
#[cfg(not(target_os = "linux"))]
pub fn is_alive(_: u32) -> bool {
    true
}
