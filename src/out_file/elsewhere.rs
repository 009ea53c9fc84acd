//! Files where there are no inodes to ask for: known by their full path.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Which file it is, links followed.
pub type Identity = PathBuf;

/// The file at `path`; `None` if it is none that can be written over.
pub fn file(path: &Path, metadata: &Metadata) -> Option<Identity> {
    metadata.is_file().then(|| fs::canonicalize(path).ok()).flatten()
}

/// The file that stdin reads is not known.
pub fn stdin() -> Option<Identity> {
    None
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
