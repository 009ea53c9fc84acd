//! File functions for systems without inodes: a file is identified by its full path.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::windows::fs::FileExt;
use std::path::{Path, PathBuf};

/// Identifies a file, links followed.
pub type Identity = PathBuf;

/// The identity of the file at `path`.
pub fn identity(path: &Path, _: &Metadata) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

/// The metadata of stdin, which is unknown here.
pub fn stdin() -> Option<Metadata> {
    None
}

/// Whether bytes that were read once cannot be read again.
pub fn runs_dry(metadata: &Metadata) -> bool {
    !metadata.is_file()
}

/// Reads `file` from byte `at` on, independent of other readers' positions.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buffer, at)
}

/// The permissions of a file, which the folder sets here.
pub struct Mode;

impl Mode {
    /// The permissions of any file.
    pub fn of(_: &Metadata) -> Self {
        Self
    }

    /// Sets no permissions.
    pub fn give(self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Prepares a temporary file that later becomes an ordinary one.
pub fn new_file<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    builder
}
