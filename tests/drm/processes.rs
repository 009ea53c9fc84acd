//! The device with several opens, threads and processes.

use std::fs;
use std::thread;

use crate::client::*;
use crate::{library, only, with_device};

/// Submits a CP_MEM_WRITE of `value` to byte 64 of the packet's own buffer, and reads the value back.
pub fn round_trip(node: &fs::File, buffer: &Buffer, value: u32) {
    buffer.map.put(0, &[0xc001_3d00, buffer.address + 64, value]);
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
    Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(node).unwrap();
    assert_eq!(buffer.map.get(16), value);
}

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Resident memory in kilobytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

#[test]
fn a_thousand_contexts_leave_nothing() {
    with_device("processes::a_thousand_contexts_leave_nothing", || {
        let context = |number| {
            let node = open();
            let buffer = Buffer::new(&node, 1 << 20);
            round_trip(&node, &buffer, number);
            (buffer.address, node.try_clone().unwrap())
        };
        let (address, _) = context(0);
        let before = (open_files(), resident());
        for number in 1..=1000 {
            let (again, clone) = context(number);
            assert_eq!(again, address, "the buffer of the context before is gone");
            drop(clone);
        }
        assert_eq!(open_files(), before.0);
        let grown = resident().saturating_sub(before.1);
        assert!(grown < 8 << 10, "{grown} kB more");
    });
}

#[test]
fn four_threads_with_a_context_each() {
    with_device("processes::four_threads_with_a_context_each", || {
        thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    let node = open();
                    let buffer = Buffer::new(&node, 4096);
                    for round in 0..500 {
                        round_trip(&node, &buffer, number << 16 | round);
                        let short = Buffer::new(&node, 4096 << (round % 4));
                        round_trip(&node, &short, round);
                        gem_close(&node, short.handle).unwrap();
                    }
                });
            }
        });
    });
}

#[test]
fn closing_while_another_thread_submits() {
    with_device("processes::closing_while_another_thread_submits", || {
        for _ in 0..50 {
            let node = open();
            let buffer = Buffer::new(&node, 4096);
            let clone = node.try_clone().unwrap();
            let (handle, map) = (buffer.handle, buffer.map);
            map.put(0, &[0xc001_3d00, buffer.address + 64, 1]);
            let submitting = thread::spawn(move || {
                let cmds = [Cmd { kind: 1, size: 12, ..Cmd::default() }];
                for _ in 0..20 {
                    let mut bos = [Bo { flags: READ_WRITE, handle, presumed: 0 }];
                    // The handle may already be closed.
                    let _ = Submit::new(&mut bos, &cmds).go(&clone);
                }
            });
            gem_close(&node, handle).unwrap();
            drop(node);
            submitting.join().unwrap();
            assert!(map.get(16) <= 1);
        }
        assert_eq!(Buffer::new(&open(), 4096).map.get(16), 0);
    });
}

#[test]
fn two_processes_at_once() {
    let threads = "processes::four_threads_with_a_context_each";
    if std::env::var_os(crate::INSIDE).is_none() {
        let start = || only(threads).env("LD_PRELOAD", library()).spawn().unwrap();
        let mut both = [start(), start()];
        assert!(both.iter_mut().all(|process| process.wait().unwrap().success()));
    }
}

#[test]
fn a_forked_child_has_the_device_too() {
    with_device("processes::a_forked_child_has_the_device_too", || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        round_trip(&node, &buffer, 1);
        let status = fork(|| {
            // New buffers of the child do not overlap those of the parent.
            let mine = Buffer::new(&node, 4096);
            round_trip(&node, &mine, 2);
            let fresh = open();
            round_trip(&fresh, &Buffer::new(&fresh, 4096), 3);
            // The earlier buffer is shared.
            round_trip(&node, &buffer, 4);
            42
        });
        assert_eq!((status, buffer.map.get(16)), (42, 4));
        let next = Buffer::new(&node, 4096);
        assert_eq!(next.map.get(16), 0, "what the child allocated is the child's");
        round_trip(&node, &next, 5);
    });
}

#[test]
fn descriptors_are_known_by_any_number() {
    with_device("processes::descriptors_are_known_by_any_number", || {
        use std::os::fd::AsRawFd;
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let clone = node.try_clone().unwrap();
        let path = format!("/proc/self/fd/{}", node.as_raw_fd());
        assert!(fs::metadata(&path).is_ok());
        drop(node);
        round_trip(&clone, &buffer, 8);
    });
}

/// The process id, which is the main thread's id, is used by system calls that copy memory and name files.
#[test]
fn the_device_outlives_the_main_thread() {
    with_device("processes::the_device_outlives_the_main_thread", || {
        let status = fork(|| {
            let node = open();
            thread::spawn(move || {
                let main = format!("/proc/self/task/{}/stat", std::process::id());
                while !fs::read_to_string(&main).unwrap().contains(") Z ") {
                    thread::yield_now();
                }
                let buffer = Buffer::new(&node, 4096);
                round_trip(&node, &buffer, 1);
                let mut export = [u64::from(buffer.handle), 0];
                let shared = ioctl(&node, PRIME_HANDLE_TO_FD, &mut export);
                std::process::exit(if shared.is_ok() { 42 } else { 1 });
            });
            end_main_thread();
            unreachable!()
        });
        assert_eq!(status, 42);
    });
}
