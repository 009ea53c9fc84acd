//! Files where there are no inodes to ask for: known by their full path.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::{Path, PathBuf};

/// Which file it is, links followed.
pub type Identity = PathBuf;

/// The file at `path`.
pub fn identity(path: &Path, _: &Metadata) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

/// The file that stdin reads is not known.
pub fn stdin() -> Option<Metadata> {
    None
}

/// Whether what was read of it once does not come again.
pub fn runs_dry(metadata: &Metadata) -> bool {
    !metadata.is_file()
}

/// Reads of `file` from byte `at` on, wherever others are in it.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buffer, at)
}

/// Whose a file is, is not known.
pub fn is_own(_: &Metadata) -> bool {
    false
}

/// Permissions are left to the folder.
pub struct Mode;

impl Mode {
    /// That of any file.
    pub fn of(_: &Metadata) -> Self {
        Self
    }

    /// Nothing to do.
    pub fn give(self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// A temporary file that becomes an ordinary one.
pub fn new_file<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    builder
}
