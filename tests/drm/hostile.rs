//! Programs that close, duplicate or interrupt in unusual ways. Afterwards the device works, and no file of
//! the program has changed. Everything is done twice.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::client::*;
use crate::processes::round_trip;
use crate::with_limits;

const MINUTE: Duration = Duration::from_secs(60);

/// Checks that the device works.
fn works(node: &File) {
    round_trip(node, &Buffer::new(node, 4096), 0x600d);
}

fn twice(test: &str, body: impl Fn()) {
    with_limits(test, MINUTE, &[], || (0..2).for_each(|_| body()));
}

/// Files of the program that the device would overwrite if it took them for its own.
fn files_with_text(folder: &std::path::Path) -> Vec<(File, u64)> {
    let path = |number: u64| folder.join(format!("user{number}.dat"));
    let write = |number| {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path(number));
        let (file, at) = (file.unwrap(), 0xffff_0000 + number);
        file.set_len(1 << 32).unwrap();
        file.write_all_at(b"the user's", at).unwrap();
        (file, at)
    };
    (0..8).map(write).collect()
}

#[test]
fn closing_every_descriptor_harms_no_file() {
    twice("hostile::closing_every_descriptor_harms_no_file", || {
        let folder = tempfile::tempdir().unwrap();
        let node = open();
        let old = Buffer::new(&node, 1 << 20);
        round_trip(&node, &old, 1);
        std::mem::forget(node);
        (3..64).for_each(close);
        let files = files_with_text(folder.path());
        drop(old.map);
        works(&open());
        for (file, at) in files {
            let mut text = [0; 10];
            file.read_exact_at(&mut text, at).unwrap();
            assert_eq!(&text, b"the user's");
        }
    });
}

#[test]
fn closing_ranges_leaves_a_device_to_open_again() {
    twice("hostile::closing_ranges_leaves_a_device_to_open_again", || {
        let node = open();
        works(&node);
        std::mem::forget(node);
        close_from_3();
        works(&open());
    });
}

#[test]
fn the_program_has_no_descriptor_but_those_it_opened() {
    let test = "hostile::the_program_has_no_descriptor_but_those_it_opened";
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("out.rd.gz");
    with_limits(test, MINUTE, &[("A4EMU_RECORD", capture.to_str().unwrap())], || {
        let count = || fs::read_dir("/proc/self/fd").unwrap().count();
        let before = count();
        let node = open();
        works(&node);
        assert_eq!(count(), before + 1, "the memory, the recording and the GPU's own are out of sight");
    });
}

#[test]
fn children_of_vfork_change_nothing() {
    twice("hostile::children_of_vfork_change_nothing", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        vfork(&node, closing);
        round_trip(&node, &buffer, 1);
        vfork(&node, closing_all);
        round_trip(&node, &buffer, 2);
        assert!(Command::new("true").status().unwrap().success());
        round_trip(&node, &buffer, 3);
    });
}

/// Uses the device for two seconds while `handler` interrupts.
fn under_signals(handler: extern "C" fn(i32)) {
    let node = open();
    interrupt(&node, 2000, handler);
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let buffer = Buffer::new(&node, 4096);
        gem_close(&node, buffer.handle).unwrap();
        round_trip(&node, &Buffer::new(&node, 4096), 5);
        drop(node.try_clone().unwrap());
        drop(open());
    }
    interrupt(&node, 0, handler);
    assert!(HANDLED.swap(0, Ordering::Relaxed) > 20);
}

#[test]
fn handlers_may_close() {
    twice("hostile::handlers_may_close", || under_signals(on_signal_close));
}

#[test]
fn handlers_may_open_and_look() {
    twice("hostile::handlers_may_open_and_look", || under_signals(on_signal_open));
}

#[test]
fn handlers_may_fork() {
    twice("hostile::handlers_may_fork", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        interrupt(&node, 5000, on_signal_fork);
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            round_trip(&node, &buffer, 6);
        }
        interrupt(&node, 0, on_signal_fork);
        assert!(HANDLED.swap(0, Ordering::Relaxed) > 5);
    });
}

/// Largest address space of the process so far, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn counts_are_believed_only_as_far_as_the_memory_goes() {
    twice("hostile::counts_are_believed_only_as_far_as_the_memory_goes", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        works(&node);
        let before = peak();
        let huge = u64::from(u32::MAX);
        for request in [SYNCOBJ_RESET, SYNCOBJ_SIGNAL] {
            assert_eq!(ioctl(&node, request, &mut [0, huge]), Err(libc::EINVAL));
            assert_eq!(ioctl(&node, request, &mut [8, 60_000u64]), Err(libc::EFAULT));
        }
        for request in [SYNCOBJ_QUERY, SYNCOBJ_TIMELINE_SIGNAL] {
            assert_eq!(ioctl(&node, request, &mut [0, 0, huge]), Err(libc::EINVAL));
            assert_eq!(ioctl(&node, request, &mut [8, 0, 60_000u64]), Err(libc::EFAULT));
        }
        assert_eq!(ioctl(&node, SYNCOBJ_WAIT, &mut [0, 0, huge, 0]), Err(libc::EINVAL));
        assert_eq!(ioctl(&node, SYNCOBJ_TIMELINE_WAIT, &mut [0, 0, 0, huge, 0]), Err(libc::EINVAL));
        let good = Cmd { kind: 1, size: 8, ..Cmd::default() };
        let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
        let with = |change: fn(&mut Submit), cmd: Cmd, bos: &mut [Bo]| {
            let cmds = [cmd];
            let mut submit = Submit::new(bos, &cmds);
            change(&mut submit);
            submit.go(&node).err()
        };
        assert_eq!(with(|submit| submit.bos_len = u32::MAX, good, &mut bos), Some(libc::EINVAL));
        assert_eq!(with(|s| (s.bos, s.bos_len) = (8, 1 << 20), good, &mut bos), Some(libc::EFAULT));
        assert_eq!(with(|submit| submit.cmds_len = u32::MAX, good, &mut bos), Some(libc::EINVAL));
        assert_eq!(with(|s| (s.cmds, s.cmds_len) = (8, 1 << 20), good, &mut bos), Some(libc::EFAULT));
        let out = |s: &mut Submit| (s.flags, s.stride, s.out_len) = (PIPE_3D0 | SYNCOBJ_OUT, 16, u32::MAX);
        assert_eq!(with(out, good, &mut bos), Some(libc::EINVAL));
        let relocs = |relocs_len| Cmd { relocs: 8, relocs_len, ..good };
        assert_eq!(with(|_| {}, relocs(u32::MAX), &mut bos), Some(libc::EINVAL));
        assert_eq!(with(|_| {}, relocs(1 << 20), &mut bos), Some(libc::EFAULT));
        assert!(peak() - before < 4 << 10, "{} kB for nothing", peak() - before);
    });
}

/// A program may be built for a later kernel with larger arguments, or for an older one.
#[test]
fn arguments_may_be_of_any_size() {
    twice("hostile::arguments_may_be_of_any_size", || {
        let node = open();
        // Pipe and parameter (the chip's number), the answer, a length.
        let ask = [0x10 | 1 << 32, u64::MAX, 0];
        for size in [16, 24, 128, 129, 0x3fff] {
            let mut argument = [u64::MAX; 2048];
            argument[..3].copy_from_slice(&ask);
            assert_eq!(ioctl(&node, both(0x40, size), &mut argument), Ok(()), "{size}");
            assert_eq!(argument[..3], [ask[0], 420, 0], "{size}");
            assert!(argument[3..].iter().all(|word| *word == u64::MAX), "{size}");
        }
    });
}

#[test]
fn relocations_of_all_commands_together_are_limited() {
    twice("hostile::relocations_of_all_commands_together_are_limited", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let relocs = vec![Reloc::default(); 1 << 18];
        let (relocs_len, at) = (relocs.len() as u32, relocs.as_ptr() as u64);
        let cmd = Cmd { kind: 2, size: 8, relocs_len, relocs: at, ..Cmd::default() };
        let with = |count| {
            let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: buffer.address.into() }];
            Submit::new(&mut bos, &vec![cmd; count]).go(&node).err()
        };
        assert_eq!([with(4), with(5)], [None, Some(libc::EINVAL)]);
    });
}

#[test]
fn mappings_of_every_sort_show_the_buffer() {
    twice("hostile::mappings_of_every_sort_show_the_buffer", || {
        let node = open();
        let buffer = Buffer::new(&node, 1 << 16);
        let offset = gem_info(&node, buffer.handle, 0).unwrap();
        let mut second = Mapping::new(&node, 1 << 16, offset).unwrap();
        let reserved = Mapping::anonymous(1 << 17);
        let fixed = Mapping::fixed(&node, 1 << 16, offset, reserved.address()).unwrap();
        assert!(second.address() != buffer.map.address() && fixed.address() == reserved.address());
        std::mem::forget(reserved);
        fixed.put(0, &[1, 2, 3]);
        assert_eq!([buffer.map.get(0), second.get(1), fixed.get(2)], [1, 2, 3]);
        assert_eq!(second.resize(1 << 17), Err(libc::EFAULT), "what follows it is not its");
        second.resize(4096).unwrap();
        assert!(buffer.map.protect(), "and the GPU still writes it");
        round_trip(&node, &buffer, 4);
        assert_eq!((second.get(16), fixed.get(16)), (4, 4));
        gem_close(&node, buffer.handle).unwrap();
        drop(buffer.map);
        drop(second);
        let other = Buffer::new(&node, 1 << 16);
        assert_eq!((fixed.get(16), other.map.get(16)), (4, 0), "the last mapping keeps it");
    });
}
