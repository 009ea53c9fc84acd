//! Endless submits, and what the program can do in the meantime.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::*;
use crate::processes::round_trip;
use crate::share::export;
use crate::{library, only, with_limits};

const MINUTE: Duration = Duration::from_secs(60);
/// Budgets for work that takes a moment, and for work that takes seconds.
const MOMENT: (&str, &str) = ("A4EMU_MAX_WORK", "10000000");
const SECONDS: (&str, &str) = ("A4EMU_MAX_WORK", "4000000000");

/// A budget for work that does not end while a test runs.
const HOURS: (&str, &str) = ("A4EMU_MAX_WORK", "1000000000000000");

/// The word of the buffer that endless work sets first.
const BEGUN: usize = 5 * 1024;

/// Submits nested calls and waits: 300 times 300 times 300 calls, each of a packet without an effect.
fn endless(node: &File) -> Result<Submit, i32> {
    posted_endless(node).inspect(|submit| submit.wait(node, i64::MAX).unwrap())
}

/// Submits [`endless`] work without waiting.
fn posted_endless(node: &File) -> Result<Submit, i32> {
    posted_with(node, |_, _| ())
}

/// Submits endless work with a `change`, without waiting.
fn posted_with(node: &File, change: impl FnOnce(&Buffer, &mut Submit)) -> Result<Submit, i32> {
    let buffer = Buffer::new(node, 64 << 20);
    for level in 0..3 {
        let call = [0xc001_3f00, buffer.address + (level + 1) * 4096, 900];
        buffer.map.put(level as usize * 1024, &call.repeat(300));
    }
    buffer.map.put(3 * 1024, &[0x8000_0000; 900]);
    buffer.map.put(4 * 1024, &[0xc001_3d00, buffer.address + 4 * BEGUN as u32, 1]);
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
    let cmds = [
        Cmd { kind: 1, offset: 4 * 4096, size: 12, ..Cmd::default() },
        Cmd { kind: 1, size: 3600, ..Cmd::default() },
    ];
    let mut submit = Submit::new(&mut bos, &cmds);
    change(&buffer, &mut submit);
    let posted = submit.post(node);
    gem_close(node, buffer.handle).unwrap();
    posted
}

/// `MSM_PARAM_FAULTS`.
fn hangs(node: &File) -> u64 {
    let mut get = [9u64 << 32 | u64::from(PIPE_3D0), 0, 0];
    ioctl(node, GET_PARAM, &mut get).unwrap();
    get[1]
}

/// `MSM_SUBMITQUEUE_PARAM_FAULTS` of queue 0.
fn queue_hangs(node: &File) -> u32 {
    let mut faults = 77u32;
    let mut query = [&raw mut faults as u64, 0, 4];
    ioctl(node, SUBMITQUEUE_QUERY, &mut query).unwrap();
    faults
}

#[test]
fn a_hang_is_counted_and_the_next_submit_runs() {
    with_limits("hangs::a_hang_is_counted_and_the_next_submit_runs", MINUTE, &[MOMENT], || {
        let node = open();
        for count in 1..=2 {
            let fence = endless(&node).unwrap().fence;
            assert_eq!(ioctl(&node, WAIT_FENCE, &mut [u64::from(fence), 0, 0, 0]), Ok(()), "signalled");
            assert_eq!((hangs(&node), queue_hangs(&node)), (count, count as u32));
            round_trip(&node, &Buffer::new(&node, 4096), 1);
            assert_eq!(hangs(&node), count, "what ends is no hang");
        }
    });
}

#[test]
fn strict_makes_a_hang_fail() {
    let variables = [MOMENT, ("A4EMU_STRICT", "1")];
    with_limits("hangs::strict_makes_a_hang_fail", MINUTE, &variables, || {
        let node = open();
        assert_eq!(endless(&node).err(), Some(libc::EIO));
        round_trip(&node, &Buffer::new(&node, 4096), 1);
    });
}

#[test]
fn a_hang_ends_by_itself() {
    with_limits("hangs::a_hang_ends_by_itself", 3 * MINUTE, &[], || {
        let node = open();
        endless(&node).unwrap();
        assert_eq!(hangs(&node), 1);
    });
}

/// Runs `body` while a submit runs that another thread waits for. With the budget [`HOURS`], it runs until the
/// process ends.
fn meanwhile(body: impl FnOnce(&File)) {
    let node = open();
    let mut seen = None;
    let map =
        |buffer: &Buffer| Mapping::new(&node, 1 << 16, gem_info(&node, buffer.handle, 0).unwrap()).unwrap();
    let posted = posted_with(&node, |buffer, _| seen = Some(map(buffer))).unwrap();
    let seen = seen.unwrap();
    while seen.get(BEGUN) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    let waiting = node.try_clone().unwrap();
    let waits = thread::spawn(move || posted.wait(&waiting, i64::MAX));
    body(&node);
    assert!(!waits.is_finished(), "it is not the middle");
}

/// The status of `child`, which ends soon. It would end by itself in hours.
fn ended(mut child: Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > MINUTE {
            child.kill().unwrap();
            panic!("it goes on: {:?}", child.wait());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Budget for work that takes some tenths of a second.
const TENTHS: (&str, &str) = ("A4EMU_MAX_WORK", "400000000");

#[test]
fn a_submit_is_not_waited_for_but_its_fence_and_its_buffers_are() {
    let test = "hangs::a_submit_is_not_waited_for_but_its_fence_and_its_buffers_are";
    with_limits(test, MINUTE, &[SECONDS], || {
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        let hung = posted_endless(&node).unwrap();
        buffer.map.put(0, &[0xc001_3d00, buffer.address + 64, 5]);
        let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
        Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).post(&node).unwrap();
        let prep = |op: u32, until: i64| {
            ioctl(&node, GEM_CPU_PREP, &mut [u64::from(op) << 32 | u64::from(buffer.handle), until as u64, 0])
        };
        let (read, at_once) = (1, 4);
        assert_eq!(hung.wait(&node, 0), Err(libc::ETIMEDOUT));
        assert_eq!([prep(read | at_once, 0), prep(read, 0)], [Err(libc::EBUSY); 2]);
        assert_eq!((buffer.map.get(16), hangs(&node)), (0, 0), "it has not run");
        assert_eq!(prep(read, i64::MAX), Ok(()));
        assert_eq!((buffer.map.get(16), hangs(&node), hung.wait(&node, 0)), (5, 1, Ok(())));
    });
}

#[test]
fn two_submits_are_unfinished_at_most() {
    with_limits("hangs::two_submits_are_unfinished_at_most", MINUTE, &[TENTHS], || {
        let node = open();
        let mut posted: Vec<Submit> = Vec::new();
        for _ in 0..6 {
            posted.push(posted_endless(&node).unwrap());
            let running = posted.iter().filter(|submit| submit.wait(&node, 0).is_err()).count();
            assert!(running <= 2, "{running}");
        }
        assert!(posted[5].wait(&node, 0).is_err(), "and the last is not waited for");
        posted[5].wait(&node, i64::MAX).unwrap();
        assert_eq!(hangs(&node), 6);
    });
}

/// Whether a submit with `change` has run when its ioctl returns.
fn is_awaited(node: &File, change: impl FnOnce(&Buffer, &mut Submit)) -> bool {
    posted_with(node, change).unwrap().wait(node, 0).is_ok()
}

#[test]
fn submits_with_fences_or_exported_buffers_are_waited_for() {
    with_limits("hangs::submits_with_fences_or_exported_buffers_are_waited_for", MINUTE, &[TENTHS], || {
        let node = open();
        assert!(!is_awaited(&node, |_, _| ()));
        assert!(is_awaited(&node, |_, submit| submit.flags |= FENCE_FD_OUT), "a fence descriptor");
        assert!(is_awaited(&node, |buffer, _| drop(export(&node, buffer.handle))), "an exported buffer");
        assert!(!is_awaited(&node, |_, _| ()));
    });
}

#[test]
fn recorded_submits_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture.rd");
    let variables = [TENTHS, ("A4EMU_RECORD", path.to_str().unwrap())];
    with_limits("hangs::recorded_submits_are_waited_for", MINUTE, &variables, || {
        assert!(is_awaited(&open(), |_, _| ()));
    });
}

/// A client that calls `exit` after a submit that takes a moment.
#[test]
fn exit_behind_it() {
    if std::env::var_os(crate::INSIDE).is_some() {
        posted_endless(&open()).unwrap();
        exit();
    }
}

#[test]
fn queued_submits_finish_before_the_process_exits() {
    let mut command = only("hangs::exit_behind_it");
    // At exit the device waits for two seconds at most. A busy machine takes longer for more work.
    let output = command.env("LD_PRELOAD", library()).env(MOMENT.0, MOMENT.1).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.contains(": 1 submit"), "{}: {text}", output.status);
}

#[test]
fn forks_do_not_wait_for_it() {
    with_limits("hangs::forks_do_not_wait_for_it", MINUTE, &[HOURS], || {
        meanwhile(|node| {
            let status = fork(|| {
                round_trip(node, &Buffer::new(node, 4096), 1);
                42
            });
            assert_eq!(status, 42, "the child has a GPU of its own");
            assert_eq!(hangs(node), 0, "and ours is still at it");
        });
    });
}

#[test]
fn buffers_and_files_go_in_the_middle_of_it() {
    with_limits("hangs::buffers_and_files_go_in_the_middle_of_it", MINUTE, &[HOURS], || {
        meanwhile(|node| {
            let buffers: Vec<Buffer> = (0..100).map(|_| Buffer::new(node, 1 << 16)).collect();
            buffers.iter().for_each(|buffer| gem_close(node, buffer.handle).unwrap());
            drop((buffers, open()));
            assert_eq!(hangs(node), 0);
        });
    });
}

/// A client that calls `exit` during a submit.
#[test]
fn exit_in_the_middle() {
    if std::env::var_os(crate::INSIDE).is_some() {
        meanwhile(|_| exit());
    }
}

/// A client that says so when it is in the middle of a submit, and stays there.
#[test]
fn in_the_middle() {
    if std::env::var_os(crate::INSIDE).is_some() {
        meanwhile(|_| {
            println!("in the middle");
            loop {
                thread::park();
            }
        });
    }
}

/// A command that runs the client `test` with the device and the budget [`HOURS`].
fn for_hours(test: &str) -> Command {
    let mut command = only(test);
    command.env("LD_PRELOAD", library()).env(HOURS.0, HOURS.1);
    command
}

#[test]
fn exit_does_not_wait_for_it() {
    let status = ended(for_hours("hangs::exit_in_the_middle").spawn().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn an_interrupt_ends_the_program_in_the_middle_of_it() {
    let mut command = for_hours("hangs::in_the_middle");
    let mut child = end_by_signals(command.stdout(Stdio::piped())).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("in the middle")));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(ended(child).signal(), Some(libc::SIGINT));
}
