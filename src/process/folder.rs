//! The folder of a run, with device files and reports.
//!
//! Only the user can open it, its name is random, and it is deleted with its owner. Folders of killed owners
//! are deleted when the next folder is made.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::getuid;
use tempfile::TempDir;

use super::ledger::{self, Word};
use crate::owner::is_alive;

/// Start of all folder names.
const NAME: &str = "a4emu";

/// Makes a new folder of this process.
///
/// # Errors
/// The call fails on errors of the file system.
pub fn make() -> io::Result<TempDir> {
    let base = base();
    remove_abandoned(&base);
    let prefix = format!("{NAME}.{}.{}.", namespace(), std::process::id());
    tempfile::Builder::new().prefix(&prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(base)
}

/// The user's runtime folder, or the folder for temporary files.
fn base() -> PathBuf {
    let own = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    own.filter(|path| path.is_absolute() && path.is_dir()).unwrap_or_else(env::temp_dir)
}

/// A number for this container. Process ids in names with another number mean other processes.
fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |metadata| metadata.ino())
}

/// Removes folders of processes that have ended, if all processes they started have ended too.
fn remove_abandoned(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let owner = name.to_str().and_then(owner);
        let own = || entry.metadata().is_ok_and(|m| m.is_dir() && m.uid() == getuid().as_raw());
        let busy = || {
            let rows = ledger::read(&path).unwrap_or_default();
            rows.iter().map(|row| row.get(Word::Pid)).any(is_alive)
        };
        if owner.is_some_and(|pid| !is_alive(pid)) && own() && !busy() {
            // Another process may remove the folder at the same time.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The process in the name of a folder, if it is a folder of a4emu in this container.
fn owner(name: &str) -> Option<u32> {
    let mut parts = name.split('.');
    let ours = parts.next()? == NAME && parts.next()?.parse() == Ok(namespace());
    ours.then(|| parts.next()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_go_and_those_of_the_living_stay() {
        let base = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let name = |pid: u32| format!("{NAME}.{}.{pid}.xyz", namespace());
        let folders = [name(dead), name(std::process::id()), format!("{NAME}.1.{dead}.xyz"), "other".into()];
        folders.iter().for_each(|name| fs::create_dir(base.path().join(name)).unwrap());
        remove_abandoned(base.path());
        assert_eq!(folders.map(|name| base.path().join(name).exists()), [false, true, true, true]);
    }
}
