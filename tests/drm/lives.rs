//! Programs begin, go on and end with the device as they do without it.
//!
//! A small C program (`lives.c`) ends in each of many ways. What it prints and its status are compared with
//! those of the same program, in the same run of the test, without a4emu.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::client::end_by_signals;
use crate::library;

/// Time in which each program has to end, on a busy machine. Alone, the slowest takes a second.
const LIMIT: Duration = Duration::from_secs(30);

/// Ways to end of one process.
const WAYS: [&str; 39] = [
    "return",
    "exit",
    "_exit",
    "quick_exit",
    "abort",
    "segv",
    "kill",
    "term",
    "int",
    "handler",
    "alarm",
    "raw",
    "raw_group",
    "raw_last",
    "raw_then_exit",
    "raw_then_return",
    "raw_then_exec",
    "pthread_exit",
    "pthread_exit_later",
    "pthread_exit_exits",
    "pthread_exit_raw",
    "pthread_exit_aborts",
    "pthread_exit_joined",
    "thread_exits",
    "exec",
    "thread_execs",
    "stop",
    "vfork",
    "spawn",
    "strict_raw",
    "strict_exit",
    "strict_killed",
    "strict_thread",
    "strict_last",
    "filter_exit",
    "filter_raw",
    "filter_killed",
    "filter_call",
    "filter_thread",
];

/// Ways to end of a forked child.
const CHILD_WAYS: [&str; 12] = [
    "return",
    "_exit",
    "abort",
    "kill",
    "raw",
    "raw_last",
    "raw_then_return",
    "pthread_exit",
    "pthread_exit_later",
    "exec",
    "strict_exit",
    "filter_killed",
];

/// What a process does first.
const USES: [&str; 3] = ["none", "open", "submit"];

/// The result of a program.
#[derive(Debug, PartialEq, Eq)]
struct End {
    /// As a shell shows it; none if it did not end in time.
    status: Option<i32>,
    stdout: String,
}

/// Compiles the program.
fn program(folder: &Path) -> PathBuf {
    let program = folder.join("lives");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drm/lives.c");
    // Whatever linked this test is there as `cc`.
    let done = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(done.expect("cc").success());
    program
}

/// Runs `command` to its end, and until its last process has closed stdout.
fn end(command: &mut Command) -> (End, String) {
    let mut child =
        end_by_signals(command.stdout(Stdio::piped()).stderr(Stdio::piped())).spawn().expect("starts");
    let read = |mut from: Box<dyn Read + Send>| {
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut text = Vec::new();
            from.read_to_end(&mut text).expect("reads");
            let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
        });
        receiver
    };
    let stdout = read(Box::new(child.stdout.take().expect("a pipe")));
    let stderr = read(Box::new(child.stderr.take().expect("a pipe")));
    let start = Instant::now();
    let status = loop {
        match child.try_wait().expect("waits") {
            None if start.elapsed() < LIMIT => thread::sleep(Duration::from_millis(2)),
            status => break status,
        }
    };
    let left = LIMIT.saturating_sub(start.elapsed());
    let text = |from: mpsc::Receiver<String>| from.recv_timeout(left).unwrap_or_else(|_| "not ended".into());
    let result = (End { status: status.map(code), stdout: text(stdout) }, text(stderr));
    // Ends the program as well, if it is a launcher. Nothing is left to end otherwise.
    if status.is_none() {
        let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        thread::sleep(Duration::from_secs(1));
        let _ = child.kill();
        let _ = child.wait();
    }
    result
}

/// The status as a shell shows it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// `a4emu run` of `program`.
fn launched(program: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    // Work in flight takes less than a second until it is cut off.
    command.args(["run", "--max-work", "50M", "--stats"]).args(options).arg("--").arg(program);
    command.env("A4EMU_LIBRARY", library()).env("LIBGL_DRIVERS_PATH", "/nonexistent");
    command
}

/// Whether `stderr` has the counts of a process.
fn has_summary(stderr: &str) -> bool {
    stderr.lines().any(|line| line.starts_with('{') && line.contains("\"pid\""))
}

#[test]
fn a_process_ends_as_without_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path());
    let wrong = |way: &&str| {
        let (way, mut wrong) = (*way, Vec::new());
        let (alone, _) = end(Command::new(&program).args(["none", "none", way]));
        assert!(alone.status.is_some() && alone.stdout.starts_with("began\n"), "{way}: {alone:?}");
        for how in USES {
            let (run, stderr) = end(launched(&program, &[]).args([how, "none", way]));
            if run != alone || has_summary(&stderr) != (how != "none") {
                wrong.push(format!("{way}, run with {how}: {run:?} instead of {alone:?}\n{stderr}"));
            }
        }
        // Without the launcher, as one of Mesa's shims. A filter may end the process where the device's files
        // are removed.
        let mut shim = Command::new(&program);
        let (run, stderr) = end(shim.args(["open", "none", way]).env("LD_PRELOAD", library()));
        if run != alone && !way.starts_with("filter_") {
            wrong.push(format!("{way}, preloaded: {run:?} instead of {alone:?}\n{stderr}"));
        }
        wrong
    };
    let wrong: Vec<String> = WAYS.par_iter().flat_map_iter(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn children_and_daemons_end_as_without_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path());
    let mut wrong = Vec::new();
    for fork in ["fork", "thread_fork", "daemon"] {
        for way in CHILD_WAYS {
            let (alone, _) = end(Command::new(&program).args(["none", "none", fork, way]));
            assert!(alone.status.is_some() && alone.stdout.starts_with("began\n"), "{fork} {way}: {alone:?}");
            // The device of a daemon ends with the run, so it does not use one of its own.
            let uses = [("none", "open"), ("open", "none"), ("submit", "submit")];
            for (own, child) in uses.into_iter().filter(|(_, child)| fork != "daemon" || *child == "none") {
                let (run, stderr) = end(launched(&program, &[]).args([own, child, fork, way]));
                if run != alone || !has_summary(&stderr) {
                    wrong.push(format!(
                        "{fork} {way}, {own} and {child}: {run:?} instead of {alone:?}\n{stderr}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recordings_arrive_however_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path());
    for way in WAYS {
        let capture = folder.path().join(format!("{way}.rd"));
        let (run, stderr) =
            end(launched(&program, &["--record", capture.to_str().unwrap()]).args(["submit", "none", way]));
        assert!(run.status.is_some() && has_summary(&stderr), "{way}: {run:?}\n{stderr}");
        // The submit is cut off again.
        let mut info = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        let info = info.args(["info", "--max-work", "1M"]).arg(&capture).output().unwrap();
        let text = String::from_utf8_lossy(&info.stdout);
        assert!(
            info.status.code() == Some(4) && text.contains("submits          1 "),
            "{way}: {info:?}\n{stderr}"
        );
    }
}
