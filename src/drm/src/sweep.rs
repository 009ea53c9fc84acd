//! Ending what no descriptor stands for any more.
//!
//! `close` may be called where no lock may be taken, so it only says that it was
//! ([`known::note_closed`]); the next ioctl or open of ours looks what is left.

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use crate::device::Device;
use crate::ffi::{Inode, Look};
use crate::known;

/// Ends objects that have no descriptor left, if some were closed.
pub fn if_closed(device: &Device) {
    if !known::take_closed() {
        return;
    }
    let mut state = device.state();
    // With the lock held: an object's descriptor exists before the object does.
    let Ok(open) = open_files() else { return };
    let gone: Vec<Inode> =
        state.objects.keys().filter(|inode| open.binary_search(inode).is_err()).copied().collect();
    let gone: Vec<_> = gone.iter().filter_map(|inode| state.objects.remove(inode)).collect();
    known::note_live(state.objects.len());
    drop(state);
    drop(gone);
}

/// Every file that this thread sees open, sorted.
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
