//! Submits: execution, fences, errors.

use std::fs::File;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::client::*;
use crate::{INSIDE, with_device, with_variables};

/// CP_MEM_WRITE of `value` to `address`: opcode 0x3d, two payload dwords.
fn mem_write(address: u32, value: u32) -> [u32; 3] {
    [0xc000_0000 | 1 << 16 | 0x3d << 8, address, value]
}

/// Submits the first `words` dwords of `buffer`.
fn submit(fd: &File, buffer: &Buffer, words: usize) -> Result<Submit, i32> {
    let mut bos = [bo(buffer)];
    Submit::new(&mut bos, &[Cmd { kind: 1, size: words as u32 * 4, ..Cmd::default() }]).go(fd)
}

fn bo(buffer: &Buffer) -> Bo {
    Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }
}

fn wait(fd: &File, fence: u32, queue: u32) -> Result<(), i32> {
    // Fence, padding, seconds, nanoseconds, queue. The time is in the past, so the call does not wait.
    ioctl(fd, WAIT_FENCE, &mut [u64::from(fence), 0, 0, u64::from(queue)])
}

#[test]
fn a_submit_runs_before_its_fence() {
    with_device("submits::a_submit_runs_before_its_fence", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        for (fence, value) in [(1, 0xcafe), (2, 0xbeef)] {
            buffer.map.put(0, &mem_write(buffer.address + 64, value));
            assert_eq!(submit(&node, &buffer, 3).unwrap().fence, fence);
            assert_eq!((wait(&node, fence, 0), buffer.map.get(16)), (Ok(()), value));
        }
        assert_eq!(ioctl(&node, GEM_CPU_PREP, &mut [buffer.handle, 4 | 2, 0, 0, 0, 0]), Ok(()), "idle");
        assert_eq!([wait(&node, 3, 0), wait(&node, 1, 5)], [Err(libc::EINVAL), Err(libc::ENOENT)]);
    });
}

/// A recording has a value that the program sets back to what it was before the GPU wrote it.
#[test]
fn recordings_have_values_that_are_set_back() {
    const MARK: u32 = 0xfeed;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.rd");
    let variables = [("A4EMU_RECORD", path.to_str().unwrap())];
    with_variables("submits::recordings_have_values_that_are_set_back", &variables, || {
        let node = open();
        let [stream, target] = [0; 2].map(|_| Buffer::new(&node, 4096));
        let mut bos = [bo(&stream), bo(&target)];
        for (index, written) in [(0, 2), (2, 3)] {
            target.map.put(0, &[1, MARK]);
            stream.map.put(0, &mem_write(target.address + index * 4, written));
            Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(&node).unwrap();
        }
    });
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let mut playback = Playback::default();
    let sections = Sections::new(File::open(path).unwrap()).unwrap();
    playback.run(sections, &mut Renderer, &mut Silent);
    let memory = playback.gpu.settle().memory();
    let words = memory.buffers().map(|(base, _)| [0, 4, 8].map(|at| memory.read_u32(base + at)));
    let target = words.into_iter().find(|words| words[1] == Some(MARK)).expect("the target");
    assert_eq!(target, [Some(1), Some(MARK), Some(3)]);
}

/// Time queries in a stream and queries of the driver use one clock.
#[test]
fn ticks_go_on() {
    with_device("submits::ticks_go_on", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let (timestamp, counter, two_as_64_bits) = (5, 0x9c, 2 << 18 | 1 << 30);
        let asked = || {
            let mut param = [0x10 | timestamp << 32, 0, 0];
            ioctl(&node, GET_PARAM, &mut param).unwrap();
            param[1]
        };
        let counted = || {
            buffer.map.put(0, &[0xc001_3e00, counter | two_as_64_bits, buffer.address + 64]);
            submit(&node, &buffer, 3).unwrap();
            u64::from(buffer.map.get(17)) << 32 | u64::from(buffer.map.get(16))
        };
        let ticks = [asked(), counted(), asked(), counted(), asked()];
        assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
    });
}

#[test]
fn relocations_become_addresses() {
    with_device("submits::relocations_become_addresses", || {
        let node = open();
        let (stream, target) = (Buffer::new(&node, 4096), Buffer::new(&node, 4096));
        stream.map.put(0, &mem_write(0, 77));
        let relocs = [Reloc { offset: 4, index: 1, target_offset: 0x80, ..Reloc::default() }];
        let mut bos = [bo(&stream), bo(&target)];
        let cmd = Cmd { kind: 1, size: 12, relocs_len: 1, relocs: relocs.as_ptr() as u64, ..Cmd::default() };
        Submit::new(&mut bos, &[cmd]).go(&node).unwrap();
        assert_eq!((target.map.get(0x20), stream.map.get(1)), (77, target.address + 0x80));
        assert_eq!(bos[1].presumed, u64::from(target.address), "told where it is");
        // If the presumed addresses are right, the packet is not patched.
        stream.map.put(1, &[target.address + 4]);
        Submit::new(&mut bos, &[cmd]).go(&node).unwrap();
        assert_eq!(target.map.get(1), 77);
    });
}

#[test]
fn addresses_that_were_not_presumed_are_told() {
    with_device("submits::addresses_that_were_not_presumed_are_told", || {
        let node = open();
        let buffers = [0; 3].map(|_| Buffer::new(&node, 4096));
        buffers[0].map.put(0, &mem_write(buffers[0].address + 64, 1));
        let told = |presumed: [u64; 3], read_only: bool| {
            let table = Mapping::anonymous(4096);
            let rows = [0, 1, 2].map(|n| [READ_WRITE, buffers[n].handle, presumed[n] as u32, 0]);
            table.put(0, rows.as_flattened());
            assert!(!read_only || table.protect());
            let cmds = [Cmd { kind: 1, size: 12, ..Cmd::default() }];
            let submit = Submit { bos: table.address() as u64, bos_len: 3, ..Submit::new(&mut [], &cmds) };
            let done = submit.go(&node).map(|_| ());
            (done, std::array::from_fn::<u32, 12, _>(|word| table.get(word)))
        };
        let addresses = buffers.each_ref().map(|buffer| u64::from(buffer.address));
        let rows = [0, 1, 2].map(|n| [READ_WRITE, buffers[n].handle, buffers[n].address, 0]);
        let rows: [u32; 12] = *rows.as_flattened().first_chunk().unwrap();
        for presumed in [[0; 3], addresses, [0, addresses[1], 4096]] {
            assert_eq!(told(presumed, false), (Ok(()), rows), "{presumed:?}");
        }
        assert_eq!(told(addresses, true), (Ok(()), rows), "there is nothing to tell");
        assert_eq!(told([0; 3], true).0, Err(libc::EFAULT));
    });
}

#[test]
fn tables_that_make_no_sense() {
    with_device("submits::tables_that_make_no_sense", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let good = Cmd { kind: 1, size: 8, ..Cmd::default() };
        let with = |cmd: Cmd| Submit::new(&mut [bo(&buffer)], &[cmd]).go(&node).err();
        assert_eq!(with(good), None);
        let bad = [
            Cmd { size: 0, ..good },
            Cmd { size: 6, ..good },
            Cmd { size: 4100, ..good },
            Cmd { offset: 4096, ..good },
            Cmd { offset: u32::MAX - 3, ..good },
            Cmd { index: 1, ..good },
            Cmd { kind: 4, ..good },
        ];
        assert_eq!(bad.map(with), [Some(libc::EINVAL); 7]);
        assert_eq!(with(Cmd { relocs_len: 1, relocs: 8, ..good }), Some(libc::EFAULT));
        let reloc = |relocs: &[Reloc]| {
            with(Cmd { relocs_len: relocs.len() as u32, relocs: relocs.as_ptr() as u64, ..good })
        };
        let at = |offset| Reloc { offset, ..Reloc::default() };
        assert_eq!(reloc(&[at(4096)]), Some(libc::EINVAL), "out of range");
        assert_eq!(reloc(&[at(6)]), Some(libc::EINVAL), "not a word");
        assert_eq!(reloc(&[at(8), at(4)]), Some(libc::EINVAL), "not in order");
        assert_eq!(reloc(&[Reloc { index: 3, ..at(4) }]), Some(libc::EINVAL), "no such buffer");
    });
}

#[test]
fn bad_buffers_queues_and_flags() {
    with_device("submits::bad_buffers_queues_and_flags", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let cmds = [Cmd { kind: 1, size: 8, ..Cmd::default() }];
        let with =
            |bos: &mut [Bo], flags, queue| Submit { flags, queue, ..Submit::new(bos, &cmds) }.go(&node).err();
        let good = bo(&buffer);
        assert_eq!(with(&mut [Bo { handle: 99, ..good }], PIPE_3D0, 0), Some(libc::EINVAL));
        assert_eq!(with(&mut [Bo { flags: 0, ..good }], PIPE_3D0, 0), Some(libc::EINVAL));
        assert_eq!(with(&mut [good, good], PIPE_3D0, 0), Some(libc::EINVAL), "twice");
        assert_eq!(with(&mut [good], 1, 0), Some(libc::EINVAL), "the 2D pipe");
        assert_eq!(with(&mut [good], PIPE_3D0 | 0x0010_0000, 0), Some(libc::EINVAL));
        assert_eq!(with(&mut [good], PIPE_3D0, 7), Some(libc::ENOENT));
        let mut queue = [0u32, 1, 0];
        ioctl(&node, SUBMITQUEUE_NEW, &mut queue).unwrap();
        assert_eq!(with(&mut [good], PIPE_3D0, queue[2]), None);
        ioctl(&node, SUBMITQUEUE_CLOSE, &mut [queue[2]]).unwrap();
        assert_eq!(with(&mut [good], PIPE_3D0, queue[2]), Some(libc::ENOENT));
        assert_eq!(ioctl(&node, SUBMITQUEUE_NEW, &mut [0u32, 9, 0]), Err(libc::EINVAL), "no such priority");
        assert_eq!(ioctl(&node, SUBMITQUEUE_CLOSE, &mut [0u32]), Err(libc::ENOENT), "the default one stays");
        ioctl(&node, GEM_MADVISE, &mut [buffer.handle, 1, 0]).unwrap();
        assert_eq!(with(&mut [good], PIPE_3D0, 0), Some(libc::EBUSY), "given up");
    });
}

/// A store to an address without a buffer, then one to `buffer`.
fn astray(node: &File, buffer: &Buffer) -> Result<Submit, i32> {
    buffer.map.put(0, &mem_write(0x0200_0000, 1));
    buffer.map.put(3, &mem_write(buffer.address + 64, 5));
    submit(node, buffer, 6)
}

#[test]
fn outside_of_all_buffers_is_a_fault_that_the_rest_survives() {
    with_device("submits::outside_of_all_buffers_is_a_fault_that_the_rest_survives", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        assert!(astray(&node, &buffer).is_ok());
        assert_eq!(buffer.map.get(16), 5);
    });
}

#[test]
fn strict_makes_a_fault_fail_the_submit() {
    with_variables("submits::strict_makes_a_fault_fail_the_submit", &[("A4EMU_STRICT", "1")], || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        assert_eq!(astray(&node, &buffer).err(), Some(libc::EIO));
    });
}

/// What `epoll` says of a descriptor at once, if it takes it.
fn epolled(fd: &File) -> rustix::io::Result<EventFlags> {
    let poll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&poll, fd, EventData::new_u64(0), EventFlags::IN)?;
    let mut events = Vec::with_capacity(1);
    epoll::wait(&poll, spare_capacity(&mut events), Some(&Timespec::default()))?;
    Ok(events.first().map_or(EventFlags::empty(), |event| event.flags))
}

#[test]
fn fences_as_descriptors_and_sync_objects() {
    with_device("submits::fences_as_descriptors_and_sync_objects", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let mut create = [0u32, 0];
        ioctl(&node, SYNCOBJ_CREATE, &mut create).unwrap();
        let handle = create[0];
        let waited = |flags: u64| {
            // Handles, time, count and flags, first signalled.
            ioctl(&node, SYNCOBJ_WAIT, &mut [&raw const handle as u64, 0, flags << 32 | 1, 0])
        };
        assert_eq!([waited(0), waited(2)], [Err(libc::EINVAL), Err(libc::ETIME)], "nothing in it yet");
        let out = [u64::from(handle), 0];
        let cmds = [Cmd { kind: 1, size: 8, ..Cmd::default() }];
        let mut bos = [bo(&buffer)];
        let submit = Submit {
            flags: PIPE_3D0 | FENCE_FD_OUT | SYNCOBJ_OUT,
            out_syncobjs: out.as_ptr() as u64,
            out_len: 1,
            stride: 16,
            ..Submit::new(&mut bos, &cmds)
        };
        let fence = file(submit.go(&node).unwrap().fence_fd);
        assert_eq!(epolled(&fence), Ok(EventFlags::IN), "a compositor waits for fences with epoll");
        assert_eq!([waited(0), waited(3)], [Ok(()); 2]);
        // Fences merge only with fences: SYNC_IOC_MERGE.
        let merge = 3 << 30 | 48 << 16 | 0x3e << 8 | 3;
        use std::os::fd::AsRawFd;
        let mut argument = [0u32; 12];
        argument[8] = fence.as_raw_fd() as u32;
        assert_eq!(ioctl(&fence, merge, &mut argument), Ok(()));
        drop(file(argument[9] as i32));
        argument[8] = node.as_raw_fd() as u32;
        assert_eq!(ioctl(&fence, merge, &mut argument), Err(libc::ENOENT));
        let mut array = [&raw const handle as u64, 1];
        ioctl(&node, SYNCOBJ_RESET, &mut array).unwrap();
        assert_eq!(waited(0), Err(libc::EINVAL));
        assert_eq!(
            ioctl(&node, SYNCOBJ_HANDLE_TO_FD, &mut [handle, 1, 0, 0]),
            Err(libc::EINVAL),
            "no fence in it"
        );
        ioctl(&node, SYNCOBJ_SIGNAL, &mut array).unwrap();
        assert_eq!(waited(1), Ok(()));
    });
}
