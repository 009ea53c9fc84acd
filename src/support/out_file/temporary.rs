//! A file that is being written. It gets its name when it is complete.
//!
//! On Linux it has no name until then (O_TMPFILE), so that nothing stays behind if the process is killed. If
//! the file system has no such files, and for the moment in which a file replaces another, it has a name
//! with the process id ([`owner`]). The next process that writes in the folder removes files of dead
//! processes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use super::system;
use a4emu_process::owner;

/// A temporary file.
pub enum Temporary {
    /// A file with a temporary name.
    Named(NamedTempFile),
    /// A file without a name.
    #[cfg(target_os = "linux")]
    Unnamed(File),
}

impl Temporary {
    /// Makes a new file in `folder`.
    pub fn new_in(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        match unnamed::open(folder) {
            Ok(file) => return Ok(Self::Unnamed(file)),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                return Err(error);
            }
            Err(_) => {}
        }
        Self::named(folder)
    }

    fn named(folder: &Path) -> io::Result<Self> {
        let prefix = owner::prefix();
        let mut builder = tempfile::Builder::new();
        system::new_file(builder.prefix(&prefix)).tempfile_in(folder).map(Self::Named)
    }

    /// Whether the file stays behind if the process is killed.
    pub fn has_name(&self) -> bool {
        matches!(self, Self::Named(_))
    }

    /// The open file.
    pub fn as_file(&self) -> &File {
        match self {
            Self::Named(file) => file.as_file(),
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => file,
        }
    }

    /// Moves the file to `target`, replacing an existing file.
    pub fn persist(self, target: &Path) -> io::Result<()> {
        match self {
            Self::Named(file) => file.persist(target).map(drop).map_err(|error| error.error),
            #[cfg(target_os = "linux")]
            Self::Unnamed(file) => unnamed::persist(&file, target),
        }
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{self, File, OpenOptions};
    use std::io::{self, ErrorKind};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    use super::system;
    use a4emu_process::owner;

    /// Number of temporary names to try.
    const TRIES: u32 = 16;

    /// Opens a file in `folder` without a name.
    pub fn open(folder: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).mode(system::NEW_FILE).custom_flags(OFlags::TMPFILE.bits() as i32);
        let file = options.open(folder)?;
        // The name is made through /proc, so that has to exist.
        fs::metadata(source(&file)).map_err(|_| ErrorKind::Unsupported)?;
        Ok(file)
    }

    fn source(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }

    fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, source(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    /// Gives the file the name `target`. To replace an existing file atomically, it first needs a temporary
    /// name.
    pub fn persist(file: &File, target: &Path) -> io::Result<()> {
        match link(file, target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            done => return done,
        }
        let prefix = owner::prefix();
        for try_ in 0..TRIES {
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let beside = target.with_file_name(format!("{prefix}{:016x}", u64::from_ne_bytes(random)));
            match link(file, &beside) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists && try_ + 1 < TRIES => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    return fs::rename(&beside, target).inspect_err(|_| {
                        let _gone = fs::remove_file(&beside);
                    });
                }
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).collect()
    }

    /// Tests both kinds of files, for a new target and an existing one.
    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        for make in [Temporary::new_in, Temporary::named] {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("file");
            for text in ["one", "another"] {
                let mut file = make(folder.path()).unwrap();
                file.write_all(text.as_bytes()).unwrap();
                file.persist(&target).unwrap();
                assert_eq!(fs::read_to_string(&target).unwrap(), text);
            }
            make(folder.path()).unwrap().write_all(b"half").unwrap();
            assert_eq!(names(folder.path()), ["file"]);
        }
    }
}
