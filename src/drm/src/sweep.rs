//! Ends objects whose last descriptor was closed.
//!
//! `close` may be called where no lock may be taken. So the hook only records the close
//! ([`known::note_closed`]); the next ioctl or open of the device looks which objects are left.

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::device::Device;
use crate::ffi::{Inode, Look};
use crate::known;

/// Ends objects without a descriptor, if descriptors were closed.
pub fn if_closed(device: &Device) {
    if !known::take_closed() {
        return;
    }
    let mut state = device.state();
    // The lock is held here: an object's descriptor exists before the object is added.
    let Ok(open) = open_files() else { return };
    let gone: Vec<Inode> =
        state.objects.keys().filter(|inode| open.binary_search(inode).is_err()).copied().collect();
    let gone: Vec<_> = gone.iter().filter_map(|inode| state.objects.remove(inode)).collect();
    known::note_live(state.objects.len());
    drop(state);
    drop(gone);
}

/// The files of all open descriptors of this thread, sorted.
fn open_files() -> Result<Vec<Inode>, Errno> {
    let folder = rustix::fs::open(
        "/proc/thread-self/fd",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut inodes = Vec::new();
    for entry in Dir::new(folder)? {
        let fd = entry?.file_name().to_str().ok().and_then(|name| name.parse().ok());
        inodes.extend(fd.and_then(Look::at).map(|look| look.inode));
    }
    inodes.sort_unstable();
    Ok(inodes)
}
