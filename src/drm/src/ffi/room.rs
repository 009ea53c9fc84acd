//! Whether the process has room for the device, found before anything of the library allocates: an allocation
//! that fails ends the process.

use std::ptr;

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

/// Memory that the device needs at least for its threads and tables, in bytes.
const ROOM: usize = 64 << 20;

/// Checks that there is room. If the program locks what it maps (`mlockall`), the allocator commits only what it
/// uses from then on.
///
/// # Errors
/// The call fails with `ENOMEM`, and with `EPERM` if the process may not lock that much.
pub fn check() -> Result<(), Errno> {
    let (prot, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
    // SAFETY: the system chooses free addresses.
    let probe = unsafe { rustix::mm::mmap_anonymous(ptr::null_mut(), ROOM, prot, flags) };
    let probe = probe.map_err(of_lock)?;
    let mut page = 0;
    // SAFETY: a page of the mapping, and a byte for it.
    let is_filled = unsafe { libc::mincore(probe, 1, &mut page) } == 0 && page & 1 != 0;
    // SAFETY: nobody else knows the mapping.
    unsafe { rustix::mm::munmap(probe, ROOM)? };
    if is_filled {
        commit_what_is_used();
    }
    Ok(())
}

/// The error of a mapping: `EPERM` if the process may not lock it.
pub fn of_lock(errno: Errno) -> Errno {
    if errno == Errno::AGAIN { Errno::PERM } else { errno }
}

/// Otherwise the allocator commits 1 GiB at once, which costs nothing if it is not locked.
fn commit_what_is_used() {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    {
        unsafe extern "C" {
            fn mi_option_set(option: libc::c_int, value: libc::c_long);
        }
        /// `mi_option_arena_eager_commit`.
        const EAGER_COMMIT: libc::c_int = 4;
        // SAFETY: sets a value of the allocator, which it reads when it reserves memory.
        unsafe { mi_option_set(EAGER_COMMIT, 0) };
    }
}
