//! Copies from and to the program's memory, at addresses in ioctl arguments.
//!
//! The kernel answers a bad pointer with `EFAULT`, so the kernel does the copy here too: a copy from or to
//! "another" process that is this process checks every page. The calling thread's id is passed as the
//! process id, since the main thread has no memory after it has ended. If a sandbox forbids the call, the
//! memory is copied directly, and a bad pointer crashes the program.

use bytemuck::Pod;
use rustix::io::Errno;

/// The type of `process_vm_readv` and `process_vm_writev`.
type Transfer = unsafe extern "C" fn(
    libc::pid_t,
    *const libc::iovec,
    libc::c_ulong,
    *const libc::iovec,
    libc::c_ulong,
    libc::c_ulong,
) -> libc::ssize_t;

/// Copies `len` bytes with the kernel; `None` if that is forbidden.
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

/// Reads `out` from the program's `address`.
///
/// # Errors
/// The call fails with `EFAULT` if some of it cannot be read.
pub fn read_bytes(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    if out.is_empty() {
        return Ok(());
    }
    transfer(libc::process_vm_readv, out.as_mut_ptr(), address, out.len()).unwrap_or_else(|| {
        // SAFETY: by the ioctl's contract, the program provides this many bytes.
        unsafe { std::ptr::copy(address as usize as *const u8, out.as_mut_ptr(), out.len()) };
        Ok(())
    })
}

/// Writes `bytes` to the program's `address`.
///
/// # Errors
/// The call fails with `EFAULT` if some of it cannot be written.
pub fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    if bytes.is_empty() {
        return Ok(());
    }
    transfer(libc::process_vm_writev, bytes.as_ptr().cast_mut(), address, bytes.len()).unwrap_or_else(|| {
        // SAFETY: by the ioctl's contract, the program provides this many bytes.
        unsafe { std::ptr::copy(bytes.as_ptr(), address as usize as *mut u8, bytes.len()) };
        Ok(())
    })
}

/// Number of values of an array that are read at a time.
const PIECE: usize = 1024;

/// Reads `count` values of `T`, at most `limit`. Memory is only allocated for values that could be read.
///
/// # Errors
/// The call fails with `EFAULT`, or with `EINVAL` if `count` is above the limit.
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
/// The call fails with `EFAULT`.
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
