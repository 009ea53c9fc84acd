//! Copies from and to the program's memory, at addresses that it wrote into an argument.
//!
//! The kernel answers a bad pointer with `EFAULT`, so we let it do the copy: reading and
//! writing "another" process that is ourselves checks every page. The thread that calls stands for the
//! process: the process's own number names the main thread, which has no memory when it has ended. Where
//! a sandbox forbids that call we copy directly, and a bad pointer is the program's crash.

use bytemuck::Pod;
use rustix::io::Errno;

/// A direction of `process_vm_*`.
type Transfer = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// Lets the kernel move `len` bytes; `None` where it may not.
fn transfer(by: Transfer, ours: *mut u8, theirs: u64, len: usize) -> Option<Result<(), Errno>> {
    let local = libc::iovec { iov_base: ours.cast(), iov_len: len };
    let remote = libc::iovec { iov_base: theirs as usize as *mut _, iov_len: len };
    // SAFETY: both vectors live through the call; `ours` is a slice's `len` bytes, writable
    // if `by` writes to it; the kernel checks `theirs`.
    let moved = unsafe { by(libc::gettid(), &local, 1, &remote, 1, 0) };
    if moved == len as isize {
        return Some(Ok(()));
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS) if moved < 0 => None,
        _ => Some(Err(Errno::FAULT)),
    }
}

/// Fills `out` from the program's `address`.
///
/// # Errors
/// `EFAULT` if some of it cannot be read.
pub fn read_bytes(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    if out.is_empty() {
        return Ok(());
    }
    transfer(libc::process_vm_readv, out.as_mut_ptr(), address, out.len()).unwrap_or_else(|| {
        // SAFETY: the program promised, by the ioctl's contract, that this much is there.
        unsafe { std::ptr::copy(address as usize as *const u8, out.as_mut_ptr(), out.len()) };
        Ok(())
    })
}

/// Writes `bytes` to the program's `address`.
///
/// # Errors
/// `EFAULT` if some of it cannot be written.
pub fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    transfer(libc::process_vm_writev, bytes.as_ptr().cast_mut(), address, bytes.len()).unwrap_or_else(|| {
        // SAFETY: the program promised, by the ioctl's contract, that this much is there.
        unsafe { std::ptr::copy(bytes.as_ptr(), address as usize as *mut u8, bytes.len()) };
        Ok(())
    })
}

/// Values of an array that are read at a time.
const PIECE: usize = 1024;

/// Reads `count` values of `T`, at most `limit`. Takes memory for what could be read only,
/// whatever the count.
///
/// # Errors
/// `EFAULT`; `EINVAL` above the limit.
pub fn read_array<T: Pod>(address: u64, count: u32, limit: u32) -> Result<Vec<T>, Errno> {
    if count > limit {
        return Err(Errno::INVAL);
    }
    let (count, mut values) = (count as usize, Vec::new());
    while values.len() < count {
        let read = values.len();
        values.resize((read + PIECE).min(count), T::zeroed());
        let from = address.wrapping_add((read * size_of::<T>()) as u64);
        read_bytes(from, bytemuck::cast_slice_mut(&mut values[read..]))?;
    }
    Ok(values)
}

/// Writes one value.
///
/// # Errors
/// `EFAULT`.
pub fn write<T: Pod>(address: u64, value: &T) -> Result<(), Errno> {
    write_bytes(address, bytemuck::bytes_of(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_several_pieces_are_whole() {
        let all: Vec<u32> = (0..PIECE as u32 * 2 + 5).collect();
        assert_eq!(read_array(all.as_ptr() as u64, all.len() as u32, u32::MAX).as_ref(), Ok(&all));
    }

    #[test]
    fn a_bad_pointer_is_efault() {
        let mut value = 5u32;
        let address = &raw mut value as u64;
        assert_eq!(read_array::<u32>(address, 1, 1), Ok(vec![5]));
        assert_eq!(write(address, &6u32), Ok(()));
        assert_eq!(value, 6);
        assert_eq!(read_array::<u32>(8, 1, 1), Err(Errno::FAULT));
        assert_eq!(write(0, &1u32), Err(Errno::FAULT));
        assert_eq!(read_array::<u32>(address, 2, 1), Err(Errno::INVAL));
    }
}
