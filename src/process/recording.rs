//! A capture that is being recorded: written next to its target, and renamed when it is complete.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::owner::parent;

/// Maximum number of recording processes of one run. Each has its own file.
const MAX_FILES: u32 = 1000;

/// The recording of one process so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The file that is being written.
    pub partial: PathBuf,
    /// Length of its complete submits in bytes.
    pub bytes: u64,
    /// The requested target path.
    asked: PathBuf,
    /// Number of the process within the run, from 1.
    number: u32,
}

impl Recording {
    /// Makes a new file next to `asked`. `run` is the start of the names of a run's files, unique for each run.
    /// Each process of a run gets its own number.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn create(asked: &Path, run: &str) -> io::Result<(Self, fs::File)> {
        for number in 1..=MAX_FILES {
            let partial = asked.with_file_name(format!("{run}.{number}.part"));
            // The launcher may cut the file while a process that outlives the run still writes.
            match OpenOptions::new().append(true).create_new(true).open(&partial) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((Self { partial, bytes: 0, asked: asked.into(), number }, made?)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The target path. The first process has the requested path, others get a number: `out.rd.gz`,
    /// `out.2.rd.gz`, ...
    pub fn place(&self) -> PathBuf {
        numbered(&self.asked, self.number)
    }

    /// Moves the file to its target path, also over an older file.
    ///
    /// # Errors
    /// The call fails on errors of the file system; the partial file then still exists.
    pub fn finish(&self) -> io::Result<PathBuf> {
        self.cut_unfinished()?;
        let place = self.place();
        fs::rename(&self.partial, &place).map(|()| place)
    }

    /// Moves the file to the first free numbered path from its own on. Older recordings may belong to this
    /// run, so none is overwritten.
    ///
    /// # Errors
    /// The call fails on errors of the file system; the partial file then still exists.
    pub fn finish_beside_others(&self) -> io::Result<PathBuf> {
        self.cut_unfinished()?;
        for number in self.number..=MAX_FILES {
            let place = numbered(&self.asked, number);
            match fs::hard_link(&self.partial, &place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                linked => return linked.and_then(|()| fs::remove_file(&self.partial)).map(|()| place),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the file a name that stays, since it could not be finished: the target path with `.part` after it,
    /// if that is free. Returns the path.
    pub fn keep(&self) -> PathBuf {
        let mut name = self.place().into_os_string();
        name.push(".part");
        let place = PathBuf::from(name);
        match fs::hard_link(&self.partial, &place).and_then(|()| fs::remove_file(&self.partial)) {
            Ok(()) => place,
            Err(_) => self.partial.clone(),
        }
    }

    /// Removes an incomplete submit from the end, which stays if the process died while writing.
    fn cut_unfinished(&self) -> io::Result<()> {
        let len = fs::metadata(&self.partial)?.len();
        if len < self.bytes {
            return Err(io::Error::other(format!("it has {len} bytes of {}", self.bytes)));
        }
        if len > self.bytes {
            OpenOptions::new().write(true).open(&self.partial)?.set_len(self.bytes)?;
        }
        Ok(())
    }
}

/// Removes the files next to `asked` that processes of `run` have begun and nobody has finished.
pub fn discard(asked: &Path, run: &str) {
    let start = format!("{run}.");
    for entry in fs::read_dir(parent(asked)).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&start) {
            // If that fails, the next run in the folder tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return path.into();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, endings) = name.split_once('.').unwrap_or((&name, "rd"));
    path.with_file_name(format!("{stem}.{number}.{endings}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn an_older_recording_stays_until_the_new_one_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("keep.rd.gz");
        fs::write(&asked, "older").unwrap();
        let (mut recording, mut file) = Recording::create(&asked, "x").unwrap();
        file.write_all(b"newer, and the beginning of").unwrap();
        recording.bytes = 5;
        assert_eq!(fs::read(&asked).unwrap(), b"older");
        assert_eq!(recording.finish().unwrap(), asked);
        assert_eq!(fs::read(&asked).unwrap(), b"newer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_second_process_gets_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("out.rd.gz");
        let both = [(); 2].map(|()| Recording::create(&asked, "x").unwrap().0);
        assert_eq!(both.each_ref().map(Recording::place), [asked, folder.path().join("out.2.rd.gz")]);
    }

    #[test]
    fn a_file_that_lost_bytes_takes_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("out.rd");
        let (mut recording, _) = Recording::create(&asked, "x").unwrap();
        recording.bytes = 5;
        assert_eq!(recording.finish().unwrap_err().to_string(), "it has 0 bytes of 5");
        assert_eq!(recording.keep(), folder.path().join("out.rd.part"));
        fs::rename(folder.path().join("out.rd.part"), &recording.partial).unwrap();
        discard(&asked, "y");
        assert!(recording.partial.exists() && !asked.exists());
        discard(&asked, "x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_cut_and_written_on_has_no_hole() {
        let folder = tempfile::tempdir().unwrap();
        let (mut recording, mut file) = Recording::create(&folder.path().join("out.rd"), "x").unwrap();
        file.write_all(b"one two").unwrap();
        recording.bytes = 4;
        let place = recording.finish().unwrap();
        file.write_all(b"three").unwrap();
        assert_eq!(fs::read(place).unwrap(), b"one three");
    }

    #[test]
    fn without_a_launcher_nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("out.rd");
        fs::write(&asked, "older").unwrap();
        let (recording, _) = Recording::create(&asked, "7").unwrap();
        assert_eq!(recording.finish_beside_others().unwrap(), folder.path().join("out.2.rd"));
        assert_eq!(fs::read(&asked).unwrap(), b"older");
    }
}
