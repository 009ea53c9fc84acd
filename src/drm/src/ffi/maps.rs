//! Which files the process has mapped where.
//!
//! A program may call `mmap` by an address that no interposing sees, as Python's `ctypes` does for a library
//! that it opens by its path. So the kernel is asked. Since Linux 6.11 an ioctl looks up one mapping at a time
//! (`PROCMAP_QUERY` of `linux/fs.h`), and skips those that cannot be meant. Before that, the list is text.

use std::ops::Range;

use rustix::fs::{Mode, OFlags, makedev};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{Inode, last_errno};

/// The mappings of the calling thread's process. The main thread's entry is empty once it has ended.
const PATH: &str = "/proc/thread-self/maps";

/// A mapping of a file that other processes can share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Addresses in the process.
    pub at: Range<u64>,
    /// Offset of its start in the file.
    pub offset: u64,
    /// The file.
    pub inode: Inode,
}

/// `struct procmap_query`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Query {
    size: u64,
    query_flags: u64,
    query_addr: u64,
    vma_start: u64,
    vma_end: u64,
    vma_flags: u64,
    vma_page_size: u64,
    vma_offset: u64,
    inode: u64,
    dev_major: u32,
    dev_minor: u32,
    vma_name_size: u32,
    build_id_size: u32,
    vma_name_addr: u64,
    build_id_addr: u64,
}

/// `PROCMAP_QUERY_VMA_SHARED`, `PROCMAP_QUERY_COVERING_OR_NEXT_VMA` and `PROCMAP_QUERY_FILE_BACKED_VMA`.
const SHARED_FILES_FROM_HERE: u64 = 0x08 | 0x10 | 0x20;

/// `PROCMAP_QUERY`: `_IOWR('f', 17, struct procmap_query)`.
const PROCMAP_QUERY: libc::c_long = 3 << 30 | (size_of::<Query>() as libc::c_long) << 16 | 0x66 << 8 | 17;

/// The mappings of files that other processes can share, by ascending address.
///
/// # Errors
/// The call fails without `/proc`.
pub fn shared() -> Result<Vec<Mapping>, Errno> {
    let list = rustix::fs::open(PATH, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    match queried(&list) {
        Err(Errno::NOTTY | Errno::INVAL | Errno::PERM) => read(&list),
        found => found,
    }
}

fn queried(list: &OwnedFd) -> Result<Vec<Mapping>, Errno> {
    let mut found = Vec::new();
    let mut from = 0;
    loop {
        let size = size_of::<Query>() as u64;
        let mut query =
            Query { size, query_flags: SHARED_FILES_FROM_HERE, query_addr: from, ..Query::default() };
        // Not through libc: the function of that name is a hook here.
        // SAFETY: the kernel reads and writes the structure, whose size is in the number.
        let status =
            unsafe { libc::syscall(libc::SYS_ioctl, list.as_raw_fd(), PROCMAP_QUERY, &raw mut query) };
        match status {
            0 if query.vma_end > from => {
                let inode = Inode { device: makedev(query.dev_major, query.dev_minor), number: query.inode };
                found.push(Mapping { at: query.vma_start..query.vma_end, offset: query.vma_offset, inode });
                from = query.vma_end;
            }
            0 => return Ok(found),
            _ => match last_errno() {
                Errno::NOENT => return Ok(found),
                errno => return Err(errno),
            },
        }
    }
}

/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;

fn read(list: &OwnedFd) -> Result<Vec<Mapping>, Errno> {
    let (mut text, mut len) = (Vec::new(), 0);
    loop {
        text.resize(len + PIECE, 0);
        match rustix::io::read(list, &mut text[len..])? {
            0 => break,
            more => len += more,
        }
    }
    let lines = text[..len].split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| parsed(std::str::from_utf8(line).ok()?)).collect())
}

/// One line of `proc_pid_maps(5)`, if it is a shared mapping of a file.
fn parsed(line: &str) -> Option<Mapping> {
    let mut fields = line.split_ascii_whitespace();
    let (at, access, offset, device) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let number = fields.next()?.parse().ok().filter(|number| *number != 0)?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let pair = |(first, second): (&str, &str)| Some((hex(first)?, hex(second)?));
    let (start, end) = pair(at.split_once('-')?)?;
    let (major, minor) = pair(device.split_once(':')?)?;
    let inode = Inode { device: makedev(major as u32, minor as u32), number };
    access.ends_with('s').then_some(Mapping { at: start..end, offset: hex(offset)?, inode })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustix::fs::MemfdFlags;

    use super::*;
    use crate::ffi::pages::Window;

    #[test]
    fn both_ways_find_a_mapping_of_a_file() {
        let fd = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&fd, 3 << 12).unwrap();
        let window = Arc::new(Window::new(&fd, 3 << 12).unwrap());
        let inode = Inode::of_owned(&fd).unwrap();
        let expect = Mapping { at: window.range(), offset: 0, inode };
        let list = rustix::fs::open(PATH, OFlags::RDONLY, Mode::empty()).unwrap();
        for found in [shared().unwrap(), read(&list).unwrap()] {
            let found: Vec<_> = found.into_iter().filter(|mapping| mapping.inode == inode).collect();
            assert_eq!(found, std::slice::from_ref(&expect));
        }
        let at = window.range();
        drop(window);
        assert!(shared().unwrap().iter().all(|mapping| mapping.at != at));
    }

    #[test]
    fn lines_of_other_mappings_are_no_files() {
        let line = |access| format!("7f00-8f00 {access} 00002000 00:01 77 /memfd:x (deleted)");
        let inode = Inode { device: makedev(0, 1), number: 77 };
        let expect = Mapping { at: 0x7f00..0x8f00, offset: 0x2000, inode };
        assert_eq!(parsed(&line("rw-s")), Some(expect));
        assert_eq!(parsed(&line("rw-p")), None);
        assert_eq!([parsed("7f00-8f00 rw-s 0 00:00 0"), parsed("7f00 rw-s"), parsed("")], [None, None, None]);
    }
}
