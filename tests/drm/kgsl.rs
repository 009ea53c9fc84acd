//! The KGSL device, with a client that makes its calls as tinygrad does: the library does not see it map memory.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::{Duration, Instant};

use a4emu_decoder::adreno::capture::{Body, Sections};

use crate::client::{Mapping, fork, ioctl, ioctl_nowhere};
use crate::launcher::launched;
use crate::{INSIDE, with_limits, with_variables};

/// `_IOWR(0x09, number, size)`.
const fn both(number: u64, size: u64) -> u64 {
    3 << 30 | size << 16 | 0x09 << 8 | number
}

// From msm_kgsl.h, with the sizes of the C structures as numbers.
const GETPROPERTY: u64 = both(0x02, 24);
const WAITTIMESTAMP: u64 = both(0x07, 12);
const DRAWCTXT_CREATE: u64 = both(0x13, 8);
const DRAWCTXT_DESTROY: u64 = both(0x14, 4);
const MAP_USER_MEM: u64 = both(0x15, 48);
const READTIMESTAMP: u64 = both(0x16, 12);
const SHAREDMEM_FREE: u64 = both(0x21, 8);
const SETPROPERTY: u64 = both(0x32, 24);
const TIMESTAMP_EVENT: u64 = both(0x33, 32);
const GPUMEM_ALLOC_ID: u64 = both(0x34, 48);
const GPUMEM_FREE_ID: u64 = both(0x35, 8);
const SYNCSOURCE_CREATE: u64 = both(0x40, 16);
const GPUOBJ_ALLOC: u64 = both(0x45, 48);
const GPUOBJ_FREE: u64 = both(0x46, 32);
const GPUOBJ_INFO: u64 = both(0x47, 48);
const GPUOBJ_IMPORT: u64 = both(0x48, 32);
const GPU_COMMAND: u64 = both(0x4a, 64);

/// `KGSL_MEMFLAGS_USE_CPU_MAP`.
const USE_CPU_MAP: u64 = 1 << 28;
/// `KGSL_CONTEXT_PREAMBLE | KGSL_CONTEXT_NO_GMEM_ALLOC`.
const CONTEXT: u32 = 0x12;
const GPU: [(&str, &str); 1] = [("A4EMU_GPU", "630")];
const MINUTE: Duration = Duration::from_secs(60);

fn open() -> File {
    OpenOptions::new().read(true).write(true).open("/dev/kgsl-3d0").expect("the device opens")
}

/// Runs `body` with the device of an Adreno 630.
fn with_kgsl(test: &str, body: impl FnOnce()) {
    with_variables(&format!("kgsl::{test}"), &GPU, body);
}

fn alloc(fd: &File, size: u64, flags: u64) -> Result<u32, i32> {
    let mut ask = [size, flags, 0, 0, 0, 0];
    ioctl(fd, GPUOBJ_ALLOC, &mut ask).map(|()| ask[4] as u32)
}

fn free(fd: &File, id: u32) -> Result<(), i32> {
    ioctl(fd, GPUOBJ_FREE, &mut [0, 0, u64::from(id), 0])
}

/// The GPU address of an object, or 0.
fn address(fd: &File, id: u32) -> Result<u64, i32> {
    let mut ask = [0, 0, 0, 0, 0, u64::from(id)];
    ioctl(fd, GPUOBJ_INFO, &mut ask).map(|()| ask[0])
}

fn context(fd: &File, flags: u32) -> Result<u32, i32> {
    let mut ask = [flags, 0];
    ioctl(fd, DRAWCTXT_CREATE, &mut ask).map(|()| ask[1])
}

/// Submits the command buffers `list`: address and size in bytes. Returns the time stamp.
fn submit(fd: &File, context: u32, list: &[(u64, u64)]) -> Result<u32, i32> {
    let rows: Vec<[u64; 4]> = list.iter().map(|(address, size)| [0, *address, *size, 1]).collect();
    let lengths = (rows.len() as u64) << 32 | 32;
    let mut ask = [0, rows.as_ptr() as u64, lengths, 0, 0, 0, 0, u64::from(context)];
    ioctl(fd, GPU_COMMAND, &mut ask).map(|()| (ask[7] >> 32) as u32)
}

fn wait(fd: &File, context: u32, timestamp: u32, milliseconds: u32) -> Result<(), i32> {
    ioctl(fd, WAITTIMESTAMP, &mut [context, timestamp, milliseconds])
}

/// The header of a packet of type 7.
fn packet(opcode: u32, dwords: u32) -> u32 {
    let odd = |value: u32| (value.count_ones() + 1) & 1;
    7 << 28 | odd(opcode) << 23 | opcode << 16 | odd(dwords) << 15 | dwords
}

/// CP_MEM_WRITE of `value`.
fn store(address: u64, value: u32) -> [u32; 4] {
    [packet(0x3d, 3), address as u32, (address >> 32) as u32, value]
}

/// An object that the program has mapped, which is its GPU address.
struct Object {
    id: u32,
    map: Mapping,
}

impl Object {
    fn new(fd: &File, bytes: usize) -> Self {
        let id = alloc(fd, bytes as u64, USE_CPU_MAP).expect("room");
        Self { id, map: Mapping::unseen(fd, bytes, u64::from(id) * 4096).expect("maps") }
    }

    fn address(&self) -> u64 {
        self.map.address() as u64
    }
}

/// Lets the GPU store `value` at `address`, and waits for that.
fn round_trip(fd: &File, context: u32, commands: &Object, address: u64, value: u32) {
    commands.map.put(0, &store(address, value));
    let timestamp = submit(fd, context, &[(commands.address(), 16)]).unwrap();
    wait(fd, context, timestamp, 10_000).unwrap();
}

#[test]
fn commands_run_where_the_program_has_mapped_them() {
    with_kgsl("commands_run_where_the_program_has_mapped_them", || {
        let fd = open();
        let (commands, target) = (Object::new(&fd, 16 << 20), Object::new(&fd, 4096));
        let context = context(&fd, CONTEXT).unwrap();
        round_trip(&fd, context, &commands, target.address() + 64, 0x1234_5678);
        assert_eq!(target.map.get(16), 0x1234_5678);
        assert_eq!(address(&fd, target.id), Ok(target.address()));
        // Several command buffers run in order.
        commands.map.put(0, &store(target.address(), 1));
        commands.map.put(4, &store(target.address(), 2));
        let list = [(commands.address() + 16, 16), (commands.address(), 16), (commands.address() + 16, 16)];
        let timestamp = submit(&fd, context, &list).unwrap();
        assert_eq!(timestamp, 2);
        wait(&fd, context, timestamp, 0).unwrap();
        assert_eq!(target.map.get(0), 2);
        let mut read = [context, 2, 0];
        ioctl(&fd, READTIMESTAMP, &mut read).unwrap();
        assert_eq!(read[2], 2);
    });
}

#[test]
fn an_object_moves_with_its_mapping() {
    with_kgsl("an_object_moves_with_its_mapping", || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        let Object { id, map } = Object::new(&fd, 8192);
        round_trip(&fd, context, &commands, map.address() as u64, 7);
        let before = map.address() as u64;
        drop(map);
        // Nothing is there now: the store has no effect, and nothing crashes.
        round_trip(&fd, context, &commands, before, 8);
        let map = Mapping::unseen(&fd, 8192, u64::from(id) * 4096).unwrap();
        assert_eq!(map.get(0), 7);
        round_trip(&fd, context, &commands, map.address() as u64, 9);
        let second = Mapping::unseen(&fd, 8192, u64::from(id) * 4096).unwrap();
        round_trip(&fd, context, &commands, second.address() as u64, 10);
        assert_eq!(second.get(0), 9, "only the first mapping is an address of the GPU");
        drop(map);
        round_trip(&fd, context, &commands, second.address() as u64 + 4096, 11);
        assert_eq!(second.get(1024), 11);
    });
}

#[test]
fn the_device_chooses_addresses_too() {
    with_kgsl("the_device_chooses_addresses_too", || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        let mut ask = [0u64, 5000, 0, 0, 0, 0];
        ioctl(&fd, GPUMEM_ALLOC_ID, &mut ask).unwrap();
        let (id, size, gpu) = (ask[0] as u32, ask[2], ask[3]);
        assert_eq!((size, address(&fd, id)), (8192, Ok(gpu)));
        assert!(gpu >= 1 << 32);
        round_trip(&fd, context, &commands, gpu + 4096, 3);
        let map = Mapping::new(&fd, 8192, u64::from(id) * 4096).unwrap();
        assert_eq!((map.get(1024), address(&fd, id)), (3, Ok(gpu)));
        drop(map);
        ioctl(&fd, GPUMEM_FREE_ID, &mut [u64::from(id)]).unwrap();
        assert_eq!(ioctl(&fd, GPUMEM_FREE_ID, &mut [u64::from(id)]), Err(libc::EINVAL));
        round_trip(&fd, context, &commands, gpu, 4);
        // A second open has other addresses in the same address space.
        let other = open();
        let mut ask = [0u64, 4096, 0, 0, 0, 0];
        ioctl(&other, GPUMEM_ALLOC_ID, &mut ask).unwrap();
        round_trip(&fd, context, &commands, ask[3], 5);
        let map = Mapping::unseen(&other, 4096, u64::from(ask[0] as u32) * 4096).unwrap();
        assert_eq!(map.get(0), 5);
        assert_eq!(ioctl(&other, SHAREDMEM_FREE, &mut [ask[3] + 5]), Ok(()));
        assert_eq!(ioctl(&other, SHAREDMEM_FREE, &mut [ask[3]]), Err(libc::EINVAL));
    });
}

#[test]
fn freed_memory_comes_back_as_zeros_when_it_is_unmapped() {
    with_kgsl("freed_memory_comes_back_as_zeros_when_it_is_unmapped", || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        let first = Object::new(&fd, 4096);
        round_trip(&fd, context, &commands, first.address(), 6);
        free(&fd, first.id).unwrap();
        assert_eq!(free(&fd, first.id), Err(libc::EINVAL));
        round_trip(&fd, context, &commands, first.address() + 4, 7);
        assert_eq!([first.map.get(0), first.map.get(1)], [6, 7], "its mapping keeps it");
        assert_ne!(Object::new(&fd, 4096).id, first.id);
        let id = first.id;
        drop(first);
        round_trip(&fd, context, &commands, commands.address() + 64, 8);
        let again = Object::new(&fd, 4096);
        assert_eq!((again.id, again.map.get(0), again.map.get(1)), (id, 0, 0));
        round_trip(&fd, context, &commands, again.address(), 9);
        assert_eq!(again.map.get(0), 9);
    });
}

/// A program that allocates and frees for ever, without a submit, must not fill memory.
#[test]
fn freed_memory_is_not_kept() {
    with_kgsl("freed_memory_is_not_kept", || {
        let fd = open();
        for round in 0..500 {
            let object = Object::new(&fd, 16 << 20);
            object.map.put(round, &[1; 64]);
            assert!(object.map.populate());
            free(&fd, object.id).unwrap();
        }
        let shared = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = shared.lines().find_map(|line| line.strip_prefix("RssShmem:")).unwrap();
        let kilobytes: u64 = line.trim_end_matches("kB").trim().parse().unwrap();
        assert!(kilobytes < 256 << 10, "{kilobytes} kB");
        // 64 GiB are the most, and nothing of that is taken before it is written.
        assert_eq!(alloc(&fd, 64 << 30, USE_CPU_MAP), Err(libc::ENOMEM));
        alloc(&fd, 63 << 30, USE_CPU_MAP).unwrap();
        assert_eq!(alloc(&fd, 2 << 30, USE_CPU_MAP), Err(libc::ENOMEM));
    });
}

#[test]
fn little_address_space_is_enough() {
    with_limits("kgsl::little_address_space_is_enough", MINUTE, &GPU, || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        round_trip(&fd, context, &commands, commands.address() + 64, 3);
        assert_eq!(commands.map.get(16), 3);
        assert_eq!(alloc(&fd, 8 << 30, USE_CPU_MAP), Err(libc::ENOMEM));
    });
}

#[test]
fn bad_calls_fail_like_the_kernels() {
    with_kgsl("bad_calls_fail_like_the_kernels", || {
        let fd = open();
        let commands = Object::new(&fd, 4096);
        let good = context(&fd, CONTEXT).unwrap();
        let at = commands.address();
        commands.map.put(0, &[packet(0x10, 1), 0]);
        for (size, flags) in [(0, 0), (1 << 60, 0), (u64::MAX, 0), (1, 8), (1, 1 << 32)] {
            let expect = match (size, flags) {
                (0, _) => libc::EINVAL,
                (1, _) => libc::EOPNOTSUPP,
                _ => libc::ENOMEM,
            };
            assert_eq!(alloc(&fd, size, flags), Err(expect), "{size:#x} {flags:#x}");
        }
        assert_eq!([free(&fd, 0), free(&fd, 77)], [Err(libc::EINVAL); 2]);
        assert_eq!([context(&fd, 0), context(&fd, 2)], [Err(libc::EINVAL); 2]);
        assert_eq!(context(&fd, CONTEXT | 0x2_0000), Err(libc::EOPNOTSUPP));
        let bad = [
            vec![],
            vec![(at, 0)],
            vec![(at + 2, 8)],
            vec![(at, 1 << 23)],
            vec![(1 << 48, 8)],
            vec![(u64::MAX - 3, 8)],
            vec![(at, 8); 2001],
        ];
        for list in bad {
            assert_eq!(submit(&fd, good, &list), Err(libc::EINVAL), "{} buffers", list.len());
        }
        assert_eq!(submit(&fd, good + 1, &[(at, 8)]), Err(libc::EINVAL));
        // Commands where no object is are a fault of the GPU.
        for nowhere in [0x5000_0000, 0x7fff_ffff_f000] {
            let timestamp = submit(&fd, good, &[(nowhere, 8), (at, 8)]).unwrap();
            wait(&fd, good, timestamp, 10_000).unwrap();
        }
        let next = submit(&fd, good, &[(at, 8)]).unwrap();
        assert_eq!(next, 3, "what failed took no time stamp");
        assert_eq!([wait(&fd, good, next + 1, 1), wait(&fd, 9, 0, 1)], [Err(libc::EINVAL); 2]);
        let bytes = [GPUOBJ_ALLOC, GPU_COMMAND, DRAWCTXT_CREATE, GETPROPERTY, WAITTIMESTAMP];
        assert_eq!(bytes.map(|request| ioctl_nowhere(&fd, request)), [Some(libc::EFAULT); 5]);
        let mut list = [0, 8, 1 << 32 | 32, 0, 0, 0, 0, u64::from(good)];
        assert_eq!(ioctl(&fd, GPU_COMMAND, &mut list), Err(libc::EFAULT));
        let mut stride = [0, at, 1 << 32, 0, 0, 0, 0, u64::from(good)];
        assert_eq!(ioctl(&fd, GPU_COMMAND, &mut stride), Err(libc::EINVAL));
        let mut point = [0, 0, 0, 0, 0, at, 1 << 32 | 24, u64::from(good)];
        commands.map.put(0, &[0, 0, 0, 0, 7, 0]);
        assert_eq!(ioctl(&fd, GPU_COMMAND, &mut point), Err(libc::EINVAL), "a sync point of no kind");
        assert_eq!(ioctl(&fd, MAP_USER_MEM, &mut [0u64, 0, 4096, 0, at, 2]), Err(libc::EFAULT));
        assert_eq!(ioctl(&fd, GPUOBJ_IMPORT, &mut [at, 8, 0, 2]), Err(libc::EFAULT));
        assert_eq!(ioctl(&fd, SYNCSOURCE_CREATE, &mut [0u32; 4]), Err(libc::EINVAL));
        assert_eq!(ioctl(&fd, both(0x5f, 8), &mut [0u64]), Err(libc::ENOTTY));
        assert_eq!(ioctl(&fd, 0xc040_6400, &mut [0u64; 8]), Err(libc::ENOTTY), "DRM's version");
        assert_eq!(ioctl(&fd, DRAWCTXT_DESTROY, &mut [good + 1]), Err(libc::EINVAL));
        let contexts: Vec<_> = std::iter::repeat_with(|| context(&fd, CONTEXT)).take(200).collect();
        assert_eq!((contexts[198].is_ok(), contexts[199]), (true, Err(libc::ENOSPC)));
    });
}

#[test]
fn properties_are_those_of_the_chip() {
    with_kgsl("properties_are_those_of_the_chip", || {
        let fd = open();
        let property = |kind: u64, value: &mut [u32]| {
            let size = 4 * value.len() as u64;
            ioctl(&fd, GETPROPERTY, &mut [kind, value.as_mut_ptr() as u64, size])
        };
        let mut info = [0; 10];
        property(1, &mut info).unwrap();
        assert_eq!((info[1], info[6], info[8]), (0x0603_0001, 630, 1 << 20));
        assert_eq!(property(1, &mut [0; 9]), Err(libc::EINVAL));
        assert_eq!(property(0x777, &mut [0]), Err(libc::ENODEV));
        // What turnip asks: tile memory, banks, compression.
        let (mut gmem, mut banks, mut ubwc) = ([0; 2], [0], [0]);
        property(0x13, &mut gmem).unwrap();
        property(0x17, &mut banks).unwrap();
        property(0x1b, &mut ubwc).unwrap();
        assert_eq!((gmem, banks, ubwc), ([0x10_0000, 0], [15], [2]));
        let context = context(&fd, CONTEXT).unwrap();
        let level = 1u32;
        let mut constraint = [u64::from(context) << 32 | 1, &raw const level as u64, 4];
        let set = |constraint: &mut [u64; 3]| {
            ioctl(&fd, SETPROPERTY, &mut [0x12, constraint.as_mut_ptr() as u64, 24])
        };
        assert_eq!(set(&mut constraint), Ok(()));
        constraint[0] += 1 << 32;
        assert_eq!(set(&mut constraint), Err(libc::EINVAL), "of no context");
        assert_eq!(
            ioctl(&fd, SETPROPERTY, &mut [0x12, constraint.as_mut_ptr() as u64, 23]),
            Err(libc::EINVAL)
        );
        let mut reset = [context];
        property(9, &mut reset).unwrap();
        assert_eq!(reset, [0]);
    });
}

#[test]
fn a_fence_of_a_time_stamp_has_signalled() {
    with_kgsl("a_fence_of_a_time_stamp_has_signalled", || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        commands.map.put(0, &store(commands.address() + 64, 5));
        let timestamp = submit(&fd, context, &[(commands.address(), 16)]).unwrap();
        let mut fence = -1i32;
        let mut event = [
            u64::from(timestamp) << 32 | 2,
            u64::from(context),
            &raw mut fence as u64,
            size_of::<i32>() as u64,
        ];
        ioctl(&fd, TIMESTAMP_EVENT, &mut event).unwrap();
        assert_eq!(commands.map.get(16), 5);
        let fence = crate::client::file(fence);
        let point = [u64::from(std::os::fd::AsRawFd::as_raw_fd(&fence) as u32), 0];
        let points = [point.as_ptr() as u64, 4, 1];
        let rows = [0, commands.address(), 16, 1u64];
        let lengths = 1 << 32 | 32;
        let mut ask = [
            0,
            rows.as_ptr() as u64,
            lengths,
            0,
            0,
            points.as_ptr() as u64,
            1 << 32 | 24,
            u64::from(context),
        ];
        assert_eq!(ioctl(&fd, GPU_COMMAND, &mut ask), Ok(()), "a submit that waits for it");
        event[0] += 9 << 32;
        assert_eq!(ioctl(&fd, TIMESTAMP_EVENT, &mut event), Err(libc::EINVAL));
        event[2] = 8;
        event[0] -= 9 << 32;
        assert_eq!(ioctl(&fd, TIMESTAMP_EVENT, &mut event), Err(libc::EFAULT));
    });
}

/// Commands that do not end make their context invalid, and no other.
#[test]
fn an_endless_context_is_lost() {
    let variables = [GPU[0], ("A4EMU_MAX_WORK", "1000000")];
    with_limits("kgsl::an_endless_context_is_lost", MINUTE, &variables, || {
        let fd = open();
        let commands = Object::new(&fd, 1 << 20);
        let [bad, good] = [(); 2].map(|()| context(&fd, CONTEXT).unwrap());
        let levels = [0u64, 1, 2].map(|level| commands.address() + level * 65536);
        for level in 0..2 {
            let call = [packet(0x3f, 3), levels[level + 1] as u32, (levels[level + 1] >> 32) as u32, 12_000];
            commands.map.put(level * 16384, &call.repeat(3000));
        }
        commands.map.put(2 * 16384, &[packet(0x10, 1), 0].repeat(6000));
        let timestamp = submit(&fd, bad, &[(levels[0], 48_000)]).unwrap();
        assert_eq!(wait(&fd, bad, timestamp, 30_000), Err(libc::EDEADLK));
        assert_eq!(submit(&fd, bad, &[(levels[2], 8)]), Err(libc::EDEADLK));
        let mut reset = [bad];
        let mut ask = [9, reset.as_mut_ptr() as u64, 4];
        ioctl(&fd, GETPROPERTY, &mut ask).unwrap();
        assert_eq!(reset, [1], "guilty");
        let timestamp = submit(&fd, good, &[(levels[2], 8)]).unwrap();
        wait(&fd, good, timestamp, 10_000).unwrap();
    });
}

/// The emulator has its own mapping, so that it does not miss what the program unmaps or closes meanwhile.
#[test]
fn nothing_is_missing_that_goes_meanwhile() {
    with_kgsl("nothing_is_missing_that_goes_meanwhile", || {
        for _ in 0..50 {
            let fd = open();
            let context = context(&fd, CONTEXT).unwrap();
            let commands = Object::new(&fd, 1 << 20);
            let target = Object::new(&fd, 1 << 20);
            let stores: Vec<u32> =
                (0..60_000).flat_map(|word| store(target.address() + word * 4, 1)).collect();
            commands.map.put(0, &stores);
            submit(&fd, context, &[(commands.address(), stores.len() as u64 * 4)]).unwrap();
            free(&fd, commands.id).unwrap();
            drop((commands, target, fd));
        }
    });
}

#[test]
fn a_child_has_the_objects_and_opens_its_own_device() {
    with_kgsl("a_child_has_the_objects_and_opens_its_own_device", || {
        let fd = open();
        let (commands, first) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        round_trip(&fd, first, &commands, commands.address() + 64, 1);
        let child = || {
            round_trip(&fd, first, &commands, commands.address() + 64, 2);
            assert_eq!(alloc(&fd, 4096, USE_CPU_MAP), Err(libc::ENOMEM));
            let own = open();
            let (commands, context) = (Object::new(&own, 4096), context(&own, CONTEXT).unwrap());
            round_trip(&own, context, &commands, commands.address() + 64, 3);
            assert_eq!(commands.map.get(16), 3);
            free(&fd, 1).map_or(5, |()| 6)
        };
        assert_eq!(fork(child), 5);
        assert_eq!(commands.map.get(16), 2, "shared memory");
        let more = Object::new(&fd, 4096);
        round_trip(&fd, first, &commands, more.address(), 4);
        assert_eq!(more.map.get(0), 4);
    });
}

#[test]
fn the_node_looks_like_a_device() {
    with_kgsl("the_node_looks_like_a_device", || {
        let fd = open();
        for found in [std::fs::metadata("/dev/kgsl-3d0").unwrap(), fd.metadata().unwrap()] {
            assert!(found.file_type().is_char_device() && found.rdev() != 0 && found.len() == 0);
        }
        let timer = std::fs::read_to_string("/sys/class/kgsl/kgsl-3d0/idle_timer").unwrap();
        assert_eq!(timer, "4294967276\n");
        // The library refuses what the kernel refuses where it sees the call.
        let id = alloc(&fd, 8192, USE_CPU_MAP).unwrap();
        let map = |bytes, page: u32| Mapping::new(&fd, bytes, u64::from(page) * 4096).map(|_| ());
        assert_eq!(
            [map(8192, id), map(4096, id), map(4096, 1)],
            [Ok(()), Err(libc::ERANGE), Err(libc::EINVAL)]
        );
    });
}

#[test]
fn an_older_chip_has_none() {
    with_variables("kgsl::an_older_chip_has_none", &[("A4EMU_GPU", "430")], || {
        assert!(!std::path::Path::new("/dev/kgsl-3d0").exists());
        assert!(!std::path::Path::new("/sys/class/kgsl").exists());
        assert!(std::path::Path::new("/dev/dri/renderD128").exists());
    });
}

/// The client of the next test.
#[test]
fn recorded_program() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let fd = open();
    let (commands, target) = (Object::new(&fd, 4096), Object::new(&fd, 8192));
    let context = context(&fd, CONTEXT).unwrap();
    for value in [1, 2] {
        round_trip(&fd, context, &commands, target.address() + 4096, value);
    }
    println!("at {:x} {:x}", commands.address(), target.address());
}

#[test]
fn a_recording_has_all_objects_at_their_addresses() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("kgsl.rd");
    let options = ["--gpu", "630", "--record", record.to_str().unwrap()];
    let output = launched(&options, "kgsl::recorded_program").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("2 submits"), "{text}{told}");
    let line = text.lines().find_map(|line| line.split_once("at ")).expect("addresses").1;
    let [commands, target] =
        line.split(' ').map(|at| u64::from_str_radix(at, 16).unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("{line}")
    };
    let (mut contents, mut announced, mut submits) = (Vec::new(), 0, 0);
    for section in Sections::new(File::open(&record).unwrap()).unwrap() {
        match section.unwrap().body().unwrap() {
            Body::GpuAddr(record) => announced = record.address,
            Body::BufferContents(bytes) => contents.push((submits, announced, bytes.to_vec())),
            Body::CmdstreamAddr(record) => {
                assert_eq!(record.address, commands);
                submits += 1;
            }
            _ => {}
        }
    }
    assert_eq!(submits, 2);
    let of = |submit, at| {
        let found = contents.iter().find(|(group, address, _)| (*group, *address) == (submit, at));
        found.map(|(_, _, bytes)| bytes)
    };
    let first: Vec<u8> = store(target + 4096, 1).iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(of(0, commands).map(|bytes| (bytes.len(), &bytes[..16])), Some((4096, &first[..])));
    assert_eq!(of(0, target), Some(&vec![0; 8192]), "before the store");
    assert_eq!(of(1, commands).map(Vec::len), Some(64), "the line that has changed");
    assert_eq!(contents.len(), 3, "the GPU's own store is not recorded");
}

/// What a look at the mappings costs, with as many as a large program has.
#[test]
fn many_mappings_do_not_slow_down_a_submit() {
    with_kgsl("many_mappings_do_not_slow_down_a_submit", || {
        let fd = open();
        let (commands, context) = (Object::new(&fd, 4096), context(&fd, CONTEXT).unwrap());
        let time = || {
            let start = Instant::now();
            (0..200).for_each(|round| round_trip(&fd, context, &commands, commands.address() + 64, round));
            start.elapsed() / 200
        };
        let few = time();
        let objects: Vec<_> = (0..2000).map(|_| Object::new(&fd, 4096)).collect();
        let many = time();
        println!("{few:?} with one object, {many:?} with {}", objects.len());
        assert!(many < Duration::from_millis(20), "{many:?}");
    });
}

/// CP_WAIT_REG_MEM until the dword at `address` is at least `value`.
fn wait_for(address: u64, value: u32) -> [u32; 7] {
    let memory_at_least = 5 | 1 << 4;
    [packet(0x3c, 6), memory_at_least, address as u32, (address >> 32) as u32, value, !0, 32]
}

/// Submits a wait for the program and a store, and ends the wait. tinygrad starts graphs in this way.
fn end_a_wait() {
    let fd = open();
    let (commands, target) = (Object::new(&fd, 4096), Object::new(&fd, 4096));
    let context = context(&fd, CONTEXT).unwrap();
    for value in 1..4 {
        commands.map.put(0, &store(target.address() + 128, value));
        commands.map.put(4, &wait_for(target.address(), value));
        commands.map.put(11, &store(target.address() + 64, value));
        let timestamp = submit(&fd, context, &[(commands.address(), 60)]).unwrap();
        let start = Instant::now();
        while target.map.get(32) != value {
            assert!(start.elapsed() < MINUTE, "what comes before the wait has run");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(target.map.get(16), value - 1, "the GPU waits");
        target.map.put(0, &[value]);
        wait(&fd, context, timestamp, 10_000).unwrap();
        assert_eq!(target.map.get(16), value);
    }
}

#[test]
fn the_gpu_waits_for_the_program() {
    with_kgsl("the_gpu_waits_for_the_program", end_a_wait);
}

/// Where each call waits for its submit, it returns when the GPU waits for the program.
#[test]
fn the_gpu_waits_for_a_program_that_waits_for_each_submit() {
    let variables = [GPU[0], ("A4EMU_STRICT", "1")];
    with_variables("kgsl::the_gpu_waits_for_a_program_that_waits_for_each_submit", &variables, end_a_wait);
}
