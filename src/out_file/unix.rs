//! Files on Unix: device and inode, permission bits.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Permissions of a new file, before the umask.
const NEW_FILE: u32 = 0o666;

/// Which file it is, whatever name leads there: device and inode.
pub type Identity = (u64, u64);

/// The file at `path`; `None` if it is none that can be written over.
pub fn file(_: &Path, metadata: &Metadata) -> Option<Identity> {
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

/// The file that stdin reads.
pub fn stdin() -> Option<Identity> {
    let descriptor = io::stdin().as_fd().try_clone_to_owned().ok()?;
    file(Path::new("-"), &File::from(descriptor).metadata().ok()?)
}

/// Who may read and write a file.
pub struct Mode(Permissions);

impl Mode {
    /// That of the file that `metadata` is of.
    pub fn of(metadata: &Metadata) -> Self {
        Self(Permissions::from_mode(metadata.mode() & 0o777))
    }

    /// Gives it to `file`.
    pub fn give(self, file: &File) -> io::Result<()> {
        file.set_permissions(self.0)
    }
}

/// A temporary file that becomes an ordinary one.
pub fn new_file<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    builder.permissions(Permissions::from_mode(NEW_FILE))
}
