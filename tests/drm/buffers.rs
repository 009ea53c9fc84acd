//! Buffers: creation, memory, errors.

use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::*;
use crate::with_device;

#[test]
fn a_buffer_has_an_address_and_zeroed_memory() {
    with_device("buffers::a_buffer_has_an_address_and_zeroed_memory", || {
        let node = open();
        let (one, two) = (Buffer::new(&node, 4096), Buffer::new(&node, 8192));
        assert!(one.address != 0 && one.address.is_multiple_of(4096));
        assert!(
            two.address + 8192 <= one.address
                || one.address.checked_add(4096).is_some_and(|e| e <= two.address)
        );
        assert_eq!((one.map.get(0), two.map.get(2047)), (0, 0));
        one.map.put(0, &[7]);
        let again = Mapping::new(&node, 4096, gem_info(&node, one.handle, 0).unwrap()).unwrap();
        assert_eq!(again.get(0), 7, "both mappings show the same memory");
    });
}

/// Whether a new buffer of `bytes` gets memory within some seconds without being touched.
fn is_provided(node: &File, bytes: usize) -> bool {
    let buffer = Buffer::new(node, bytes);
    let (pages, end) = (bytes / 4096, Instant::now() + Duration::from_secs(20));
    while buffer.map.resident() < pages && Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
    buffer.map.resident() == pages && (0..bytes / 4).step_by(1024).all(|word| buffer.map.get(word) == 0)
}

#[test]
fn new_buffers_get_memory_before_they_are_touched() {
    with_device("buffers::new_buffers_get_memory_before_they_are_touched", || {
        if !Mapping::anonymous(4096).populate() || thread::available_parallelism().unwrap().get() == 1 {
            return eprintln!("SKIPPED: it takes two cores and Linux 5.14");
        }
        let node = open();
        let (small, huge) = (Buffer::new(&node, 4096), Buffer::new(&node, 17 << 20));
        assert!(is_provided(&node, 1 << 20) && is_provided(&node, 16 << 20));
        assert_eq!([small.map.resident(), huge.map.resident()], [0, 0]);
        assert_eq!(fork(|| i32::from(is_provided(&node, 1 << 20))), 1, "a child has a thread of its own");
        // Buffers that are closed at once get little or no memory.
        let gone: Vec<Buffer> = (0..8).map(|_| Buffer::new(&node, 16 << 20)).collect();
        let last = gone[7].address;
        gone.iter().for_each(|buffer| gem_close(&node, buffer.handle).unwrap());
        drop(gone);
        assert!(is_provided(&node, 1 << 20));
        let again: Vec<Buffer> = (0..8).map(|_| Buffer::new(&node, 17 << 20)).collect();
        assert!(again.iter().any(|buffer| (buffer.address..buffer.address + (17 << 20)).contains(&last)));
        let pages: usize = again.iter().map(|buffer| buffer.map.resident()).sum();
        assert!(pages < 8 << 8, "{pages} pages");
    });
}

#[test]
fn memory_outlives_its_handle_while_mapped() {
    with_device("buffers::memory_outlives_its_handle_while_mapped", || {
        let node = open();
        let old = Buffer::new(&node, 4096);
        old.map.put(0, &[1, 2, 3]);
        gem_close(&node, old.handle).unwrap();
        let new = Buffer::new(&node, 4096);
        new.map.put(0, &[9]);
        assert_eq!([old.map.get(0), new.map.get(1)], [1, 0], "two buffers, two memories");
        drop(old.map);
        let third = Buffer::new(&node, 4096);
        assert_eq!((third.address, third.map.get(2)), (old.address, 0), "the place is free again, and empty");
    });
}

#[test]
fn bad_arguments() {
    with_device("buffers::bad_arguments", || {
        let node = open();
        assert_eq!(gem_new(&node, 0), Err(libc::EINVAL));
        assert_eq!(ioctl(&node, GEM_NEW, &mut [4096, 0u64]), Err(libc::EINVAL), "no cache mode");
        assert_eq!(ioctl(&node, GEM_NEW, &mut [4096, 0x80000u64]), Err(libc::EINVAL), "not coherent");
        assert_eq!([gem_info(&node, 99, 0), gem_info(&node, 0, 1)], [Err(libc::ENOENT); 2]);
        assert_eq!(gem_close(&node, 99), Err(libc::EINVAL));
        assert_eq!(ioctl(&node, GEM_CPU_PREP, &mut [99u32, 1, 0, 0, 0, 0]), Err(libc::ENOENT));
        assert_eq!(ioctl(&node, GEM_MADVISE, &mut [99u32, 0, 0]), Err(libc::ENOENT));
        let one = Buffer::new(&node, 4096);
        assert_eq!(gem_info(&node, one.handle, 77), Err(libc::EINVAL));
        assert_eq!(gem_info(&node, one.handle, 4), Err(libc::EOPNOTSUPP), "addresses are not ours to choose");
        assert_eq!(ioctl(&node, GEM_CPU_PREP, &mut [one.handle, 0x80, 0, 0, 0, 0]), Err(libc::EINVAL));
        assert_eq!(ioctl(&node, GEM_MADVISE, &mut [one.handle, 2, 0]), Err(libc::EINVAL));
        let offset = gem_info(&node, one.handle, 0).unwrap();
        assert_eq!(Mapping::new(&node, 8192, offset).err(), Some(libc::EINVAL), "longer than the buffer");
        assert_eq!(Mapping::new(&node, 4096, 0).err(), Some(libc::EINVAL), "where no buffer is");
    });
}

/// What the kernel has had since Linux 6.8 and 6.17: flags, metadata, and buffers that are not shared.
#[test]
fn buffers_have_flags_and_metadata() {
    with_device("buffers::buffers_have_flags_and_metadata", || {
        let [flags, set, get] = [5, 6, 7];
        let node = open();
        let ask = |handle: u32, what: u32, address: u64, len: u64| {
            let mut info = [u64::from(what) << 32 | u64::from(handle), address, len];
            ioctl(&node, GEM_INFO, &mut info).map(|()| (info[1], info[2] as u32))
        };
        let mut new = [4096, 0x0002_0004u64];
        ioctl(&node, GEM_NEW, &mut new).expect("a buffer that is not shared");
        let private = (new[1] >> 32) as u32;
        assert_eq!(ask(private, flags, 0, 0), Ok((0x0002_0004, 0)));
        assert_eq!(ask(private, flags, 0, 1), Err(libc::EINVAL));
        assert_eq!(ioctl(&node, PRIME_HANDLE_TO_FD, &mut [private, 0, 0]), Err(libc::EPERM));
        let bytes = *b"modifier";
        let at = |bytes: &[u8]| bytes.as_ptr().addr() as u64;
        assert_eq!(ask(private, get, 0, 0), Ok((0, 0)), "none yet");
        assert!(ask(private, set, at(&bytes), 8).is_ok());
        assert_eq!(ask(private, get, 0, 0), Ok((0, 8)));
        let found = [0u8; 16];
        assert_eq!(ask(private, get, at(&found), 7), Err(525), "there is no room");
        assert_eq!(ask(private, get, at(&found), 16).map(|(_, len)| len), Ok(8));
        assert_eq!(std::hint::black_box(&found)[..8], bytes);
        assert_eq!(ask(private, set, at(&[0; 129]), 129), Err(libc::EOVERFLOW));
        assert_eq!(ioctl(&node, GEM_CPU_PREP, &mut [private, 1 | 8, 0, 0, 0, 0]), Ok(()), "boosted");
    });
}

#[test]
fn four_gigabytes_are_too_much() {
    with_device("buffers::four_gigabytes_are_too_much", || {
        let node = open();
        assert_eq!(gem_new(&node, 1 << 32), Err(libc::ENOMEM));
        assert_eq!(gem_new(&node, u64::MAX), Err(libc::ENOMEM));
        let fill = || (0..100).map_while(|_| gem_new(&node, 64 << 20).ok()).collect::<Vec<_>>();
        let handles = fill();
        assert!(handles.len() >= 60 && handles.len() < 64, "{} of 64 MiB", handles.len());
        assert_eq!(gem_new(&node, 64 << 20), Err(libc::ENOMEM));
        handles.iter().for_each(|handle| gem_close(&node, *handle).unwrap());
        assert_eq!(fill().len(), handles.len(), "all of it came back");
    });
}

#[test]
fn prime_within_the_process() {
    with_device("buffers::prime_within_the_process", || {
        let (node, other) = (open(), open());
        let one = Buffer::new(&node, 8192);
        let mut prime = [one.handle, (libc::O_CLOEXEC | libc::O_RDWR) as u32, 0];
        ioctl(&node, PRIME_HANDLE_TO_FD, &mut prime).unwrap();
        let exported = file(prime[2] as i32);
        assert_eq!(exported.metadata().unwrap().len(), 8192, "size by seeking, as importers do");
        Mapping::new(&exported, 8192, 0).unwrap().put(1, &[5]);
        let import = |node: &File| {
            let mut prime = [0u32, 0, prime[2]];
            ioctl(node, PRIME_FD_TO_HANDLE, &mut prime).map(|()| prime[0])
        };
        assert_eq!(import(&node), Ok(one.handle), "known to this file already");
        let handle = import(&other).unwrap();
        assert_eq!(gem_info(&other, handle, 1), Ok(u64::from(one.address)));
        gem_close(&node, one.handle).unwrap();
        drop((node, exported));
        let map = Mapping::new(&other, 8192, gem_info(&other, handle, 0).unwrap()).unwrap();
        assert_eq!(map.get(1), 5);
        let null = File::open("/dev/null").unwrap();
        use std::os::fd::AsRawFd;
        let mut foreign = [0, 0, null.as_raw_fd() as u32];
        assert_eq!(ioctl(&other, PRIME_FD_TO_HANDLE, &mut foreign), Err(libc::EINVAL));
    });
}

#[test]
fn names_and_advice() {
    with_device("buffers::names_and_advice", || {
        let node = open();
        let one = Buffer::new(&node, 4096);
        let name = *b"vertices";
        let mut set = [2u64 << 32 | u64::from(one.handle), name.as_ptr() as u64, 8];
        ioctl(&node, GEM_INFO, &mut set).unwrap();
        let mut read = [0u8; 8];
        let mut get = [3u64 << 32 | u64::from(one.handle), read.as_mut_ptr() as u64, 8];
        ioctl(&node, GEM_INFO, &mut get).unwrap();
        assert_eq!((read, get[2]), (name, 8));
        for advice in [1, 0] {
            let mut advise = [one.handle, advice, 0];
            ioctl(&node, GEM_MADVISE, &mut advise).unwrap();
            assert_eq!(advise[2], 1, "retained");
        }
    });
}
