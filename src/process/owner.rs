//! Temporary files. Their names hold machine, container and process, so that files of dead processes are known.

use std::fs;
use std::path::Path;
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

/// Removes files of dead processes from `folder`. Files that cannot be removed stay.
pub fn tidy(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().is_some_and(is_dead);
        if is_left && entry.metadata().is_ok_and(|metadata| is_own(&metadata)) {
            let path = entry.path();
            let _gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Whether the file belongs to this user.
#[cfg(unix)]
fn is_own(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // `/proc/self` belongs to the user of this process.
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == metadata.uid())
}

/// Whether the file belongs to this user, which is unknown here.
#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    false
}

/// The folder that `file` is in.
pub fn parent(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn only_temporary_files_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = process::Command::new("true").spawn().unwrap();
        let dead = prefix_of(child.id()) + "x";
        child.wait().unwrap();
        let living = prefix() + "x";
        let all = [dead.clone(), living, ".a4emu-other".into(), "file".into()];
        all.iter().for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        tidy(folder.path());
        let names = fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        assert!(!left.contains(&dead) && left.len() == 3, "{left:?}");
    }
}
