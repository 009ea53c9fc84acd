//! The file in which a process of a run leaves its [`Summary`]. It is valid at every moment: the launcher
//! reads it when the process has ended, also if it was killed.
//!
//! The file begins with the place of the valid summary. A new one is written beside that, and then the place
//! changes.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::summary::Summary;

/// Extension of report files.
const EXTENSION: &str = "report";
/// Bytes of the place: offset and length of the valid summary, as 64-bit words.
const HEADER: u64 = 16;

/// Writes the report file of this process.
#[derive(Debug)]
pub struct Writer {
    file: File,
    /// Bytes of the valid summary.
    valid: Range<u64>,
}

impl Writer {
    /// Makes the file of the process with this `row` of the ledger, in `folder`.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn new(folder: &Path, row: usize) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(path(folder, row))?;
        // The launcher has to read the file, whatever the umask of the program is.
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(Self { file, valid: HEADER..HEADER })
    }

    /// Replaces the summary.
    ///
    /// # Errors
    /// The call fails on errors of the file system; the summary before then stays valid.
    pub fn put(&mut self, summary: &Summary) -> io::Result<()> {
        let json = serde_json::to_vec(summary)?;
        let len = json.len() as u64;
        let start = if HEADER + len <= self.valid.start { HEADER } else { self.valid.end };
        self.file.write_all_at(&json, start)?;
        self.file.write_all_at([start, len].map(u64::to_le_bytes).as_flattened(), 0)?;
        self.valid = start..start + len;
        Ok(())
    }
}

fn path(folder: &Path, row: usize) -> PathBuf {
    folder.join(format!("{row:05}.{EXTENSION}"))
}

/// The summary of the process with this `row` of the ledger.
///
/// # Errors
/// The call fails if the process has left none.
pub fn read(folder: &Path, row: usize) -> io::Result<Summary> {
    let file = File::open(path(folder, row))?;
    let mut words = [[0; 8]; 2];
    file.read_exact_at(words.as_flattened_mut(), 0)?;
    let [start, len] = words.map(u64::from_le_bytes);
    if len > file.metadata()?.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut json = vec![0; len as usize];
    file.read_exact_at(&mut json, start)?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_summary_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(folder.path(), 1).unwrap();
        assert!(read(folder.path(), 1).is_err(), "nothing was put yet");
        for submits in 1..=3 {
            writer.put(&Summary { submits, ..Summary::default() }).unwrap();
            assert_eq!(read(folder.path(), 1).unwrap().submits, submits);
        }
        // The process is killed while it writes the next summary.
        let beside = if writer.valid.start == HEADER { writer.valid.end } else { HEADER };
        writer.file.write_all_at(b"{", beside).unwrap();
        assert_eq!(read(folder.path(), 1).unwrap().submits, 3);
        assert!(read(folder.path(), 2).is_err(), "another process");
    }

    #[test]
    fn summaries_of_any_size_fit_and_the_file_does_not_grow_with_their_number() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::new(folder.path(), 1).unwrap();
        for letters in (0..3000).chain([3 << 20, 0]).chain((0..3000).rev()) {
            let summary = Summary { process: "x".repeat(letters), ..Summary::default() };
            writer.put(&summary).unwrap();
            assert_eq!(read(folder.path(), 1).unwrap(), summary);
            if letters == 2999 {
                let len = writer.file.metadata().unwrap().len();
                assert!(!(4 * 3500..=3 << 20).contains(&len), "{len} bytes");
            }
        }
    }
}
