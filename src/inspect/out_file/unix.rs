//! Files on Unix: device and inode, permission bits.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// Permissions of a new file, before the umask.
pub const NEW_FILE: u32 = 0o666;

/// Which file it is, whatever name leads there: device and inode.
pub type Identity = (u64, u64);

/// The file at `path`.
pub fn identity(_: &Path, metadata: &Metadata) -> Option<Identity> {
    Some((metadata.dev(), metadata.ino()))
}

/// The file that stdin reads.
pub fn stdin() -> Option<Metadata> {
    let descriptor = io::stdin().as_fd().try_clone_to_owned().ok()?;
    File::from(descriptor).metadata().ok()
}

/// Whether what was read of it once does not come again.
pub fn runs_dry(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_socket() || kind.is_char_device()
}

/// Reads of `file` from byte `at` on, wherever others are in it.
pub fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(buffer, at)
}

/// Whether the file is this user's.
pub fn is_own(metadata: &Metadata) -> bool {
    // The owner of this process's own entry.
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == metadata.uid())
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
