//! The file in which a process of a run leaves its [`Summary`]. It is valid at every moment: the launcher
//! reads it when the process has ended, also if it was killed.
//!
//! The file has two slots and, first, a byte that selects the valid one. A new summary is written to the
//! other slot, and then the byte changes.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::summary::Summary;

/// Extension of report files.
const EXTENSION: &str = "report";
/// Maximum number of programs that one process can execute in turn. Each has a file.
const MAX_PROGRAMS: u32 = 1000;
/// Size of a slot in bytes.
const ROOM: usize = 1 << 20;
/// Offsets of the slots.
const PLACES: [u64; 2] = [16, 16 + ROOM as u64];

/// Writes the report file of this process.
#[derive(Debug)]
pub struct Writer {
    file: File,
    valid: usize,
}

impl Writer {
    /// Makes a new file in `folder`.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn new(folder: &Path) -> io::Result<Self> {
        for program in 1..MAX_PROGRAMS {
            let path = folder.join(format!("{:010}.{program:03}.{EXTENSION}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    let file = made?;
                    // The launcher has to read the file, whatever the umask of the program is.
                    file.set_permissions(Permissions::from_mode(0o600))?;
                    return Ok(Self { file, valid: 0 });
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Replaces the summary.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn put(&mut self, summary: &Summary) -> io::Result<()> {
        let json = serde_json::to_vec(summary)?;
        if json.len() > ROOM - 4 {
            return Ok(());
        }
        let place = PLACES[1 - self.valid];
        let record = [&(json.len() as u32).to_le_bytes()[..], &json].concat();
        self.file.write_all_at(&record, place)?;
        self.valid = 1 - self.valid;
        self.file.write_all_at(&[self.valid as u8], 0)
    }
}

/// The summaries of all processes in `folder`, in the order of their ids.
pub fn read_all(folder: &Path) -> Vec<Summary> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    paths.sort();
    paths.iter().filter_map(|path| read(path).ok()).collect()
}

fn read(path: &Path) -> io::Result<Summary> {
    let file = File::open(path)?;
    let mut valid = [0];
    file.read_exact_at(&mut valid, 0)?;
    let place = PLACES[usize::from(valid[0] & 1)];
    let mut len = [0; 4];
    file.read_exact_at(&mut len, place)?;
    let mut json = vec![0; (u32::from_le_bytes(len) as usize).min(ROOM)];
    file.read_exact_at(&mut json, place + 4)?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_summary_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(folder.path()).unwrap();
        assert!(read_all(folder.path()).is_empty(), "nothing was put yet");
        for submits in 1..=3 {
            writer.put(&Summary { submits, ..Summary::default() }).unwrap();
            assert_eq!(read_all(folder.path())[0].submits, submits);
        }
        // The process is killed while it writes the next summary.
        writer.file.write_all_at(b"\xff\xff\xff\xff{", PLACES[1 - writer.valid]).unwrap();
        assert_eq!(read_all(folder.path())[0].submits, 3);
    }

    #[test]
    fn a_program_that_follows_another_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for submits in 1..=2 {
            Writer::new(folder.path()).unwrap().put(&Summary { submits, ..Summary::default() }).unwrap();
        }
        let submits: Vec<u64> = read_all(folder.path()).iter().map(|summary| summary.submits).collect();
        assert_eq!(submits, [1, 2]);
    }
}
