//! A capture that is being recorded: written next to its target, and renamed when it is complete.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
    /// Makes a new file next to `asked`. `run` is unique for each run, and each process of a run gets its
    /// own number.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn create(asked: &Path, run: &str) -> io::Result<(Self, fs::File)> {
        let name = asked.file_name().unwrap_or_default().to_string_lossy();
        for number in 1..=MAX_FILES {
            let partial = asked.with_file_name(format!(".{name}.{run}.{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&partial) {
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

    /// Removes an incomplete submit from the end, which stays if the process died while writing.
    fn cut_unfinished(&self) -> io::Result<()> {
        if fs::metadata(&self.partial)?.len() > self.bytes {
            OpenOptions::new().write(true).open(&self.partial)?.set_len(self.bytes)?;
        }
        Ok(())
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
    fn without_a_launcher_nothing_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let asked = folder.path().join("out.rd");
        fs::write(&asked, "older").unwrap();
        let (recording, _) = Recording::create(&asked, "7").unwrap();
        assert_eq!(recording.finish_beside_others().unwrap(), folder.path().join("out.2.rd"));
        assert_eq!(fs::read(&asked).unwrap(), b"older");
    }
}
