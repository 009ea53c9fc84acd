//! File functions for Unix: device and inode, permission bits.

use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Permissions of a new file, before the umask.
pub const NEW_FILE: u32 = 0o666;

/// Identifies a file whatever its name: device and inode.
pub type Identity = (u64, u64);

/// The identity of the file with `metadata`.
pub fn identity(_: &Path, metadata: &Metadata) -> Option<Identity> {
    Some((metadata.dev(), metadata.ino()))
}

/// The metadata of stdin.
pub fn stdin() -> Option<Metadata> {
    let descriptor = io::stdin().as_fd().try_clone_to_owned().ok()?;
    File::from(descriptor).metadata().ok()
}

/// Whether bytes that were read once cannot be read again.
pub fn runs_dry(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_socket() || kind.is_char_device()
}

/// Reads `file` from byte `at` on, independent of other readers' positions.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(buffer, at)
}

/// The permissions of a file.
pub struct Mode(Permissions);

impl Mode {
    /// The permissions in `metadata`.
    pub fn of(metadata: &Metadata) -> Self {
        Self(Permissions::from_mode(metadata.mode() & 0o777))
    }

    /// Sets these permissions on `file`.
    pub fn give(self, file: &File) -> io::Result<()> {
        file.set_permissions(self.0)
    }
}

/// Prepares a temporary file that later becomes an ordinary one.
pub fn new_file<'a, 'b>(builder: &'a mut tempfile::Builder<'b, 'b>) -> &'a mut tempfile::Builder<'b, 'b> {
    builder.permissions(Permissions::from_mode(NEW_FILE))
}
