//! Copies from and to the program's memory, at addresses that it wrote into an argument.
//!
//! The kernel answers a bad pointer with `EFAULT`, so we let it do the copy: reading and
//! writing "another" process that is ourselves checks every page. Where a sandbox forbids
//! that call we copy directly, and a bad pointer is the program's crash.

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

/// A piece of the program's memory.
fn theirs(address: u64, len: usize) -> libc::iovec {
    libc::iovec { iov_base: address as usize as *mut _, iov_len: len }
}

/// Lets the kernel move `len` bytes, which are as many as there are in the pieces `theirs`; `None` where it may not.
fn transfer(by: Transfer, ours: *mut u8, len: usize, theirs: &[libc::iovec]) -> Option<Result<(), Errno>> {
    let local = libc::iovec { iov_base: ours.cast(), iov_len: len };
    let (pieces, count) = (theirs.as_ptr(), theirs.len() as libc::c_ulong);
    // SAFETY: both vectors live through the call; `ours` is a slice's `len` bytes, writable
    // if `by` writes to it; the kernel checks `theirs`.
    let moved = unsafe { by(libc::getpid(), &local, 1, pieces, count, 0) };
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
    let theirs = [theirs(address, out.len())];
    transfer(libc::process_vm_readv, out.as_mut_ptr(), out.len(), &theirs).unwrap_or_else(|| {
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
    let theirs = [theirs(address, bytes.len())];
    transfer(libc::process_vm_writev, bytes.as_ptr().cast_mut(), bytes.len(), &theirs).unwrap_or_else(|| {
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

/// Pieces that the kernel takes in one call (`UIO_MAXIOV`).
const PIECES: usize = 1024;

/// Writes each value to its address, the first ones first. A table has hundreds of them, and a call of the kernel for each
/// takes as long as all the rest of a submit.
///
/// # Errors
/// `EFAULT` if one of them cannot be written; those before it are.
pub fn write_each<T: Pod>(values: &[(u64, T)]) -> Result<(), Errno> {
    for values in values.chunks(PIECES) {
        let pieces: Vec<libc::iovec> = values.iter().map(|(at, _)| theirs(*at, size_of::<T>())).collect();
        let ours: Vec<T> = values.iter().map(|(_, value)| *value).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&ours);
        match transfer(libc::process_vm_writev, bytes.as_ptr().cast_mut(), bytes.len(), &pieces) {
            Some(done) => done?,
            None => values.iter().try_for_each(|(at, value)| write_bytes(*at, bytemuck::bytes_of(value)))?,
        }
    }
    Ok(())
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
        assert_eq!(write_bytes(address, &[6, 0, 0, 0]), Ok(()));
        assert_eq!(value, 6);
        assert_eq!(read_array::<u32>(8, 1, 1), Err(Errno::FAULT));
        assert_eq!(write_bytes(0, &[1]), Err(Errno::FAULT));
        assert_eq!(read_array::<u32>(address, 2, 1), Err(Errno::INVAL));
    }

    #[test]
    fn each_value_goes_to_its_address() {
        for count in [0, 1, PIECES, PIECES + 1, 3 * PIECES + 7] {
            let mut table = vec![7u64; 3 * count];
            let at = |row: usize| table.as_ptr() as u64 + 8 * (3 * row + 1) as u64;
            let values: Vec<(u64, u64)> = (0..count).map(|row| (at(row), 100 + row as u64)).collect();
            assert_eq!(write_each(&values), Ok(()), "{count}");
            let table = std::hint::black_box(&mut table);
            for (row, [before, value, behind]) in table.as_chunks().0.iter().enumerate() {
                assert_eq!([*before, *value, *behind], [7, 100 + row as u64, 7], "{row} of {count}");
            }
        }
    }

    #[test]
    fn what_comes_behind_a_bad_pointer_is_not_written() {
        let mut numbers = [0u32; 2];
        let [first, last] = [0, 1].map(|n| &raw mut numbers[n] as u64);
        assert_eq!(write_each(&[(first, 1u32), (8, 2), (last, 3)]), Err(Errno::FAULT));
        assert_eq!(*std::hint::black_box(&mut numbers), [1, 0]);
    }
}
