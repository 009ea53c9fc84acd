//! The environment of a program or command must not affect results (`src/gpu/ambient.rs` has the list).

use std::fs;
use std::process::Command;

use a4emu_gpu::gpu::Model;
use a4emu_support::options::Threads;

use crate::captures::same_as_replay;
use crate::client::*;
use crate::{INSIDE, with_variables};

/// A capture whose picture depends on the rounding of numbers.
const CAPTURE: &str = "torus";

/// Variable with the floating-point mode that the client sets.
const FLOATS: &str = "A4EMU_TEST_FLOATS";

/// Variables that libraries and runtimes read.
const VARIABLES: [(&str, &str); 9] = [
    ("RAYON_NUM_THREADS", "3000"),
    ("RAYON_RS_NUM_CPUS", "3000"),
    ("RUST_MIN_STACK", "16384"),
    ("RUST_BACKTRACE", "full"),
    ("LANG", "de_DE.UTF-8"),
    ("LC_ALL", "tr_TR.UTF-8"),
    ("TZ", "Pacific/Kiritimati"),
    ("TERM", "dumb"),
    ("COLUMNS", "7"),
];

/// Number of threads of this process.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("threads").count()
}

/// Draws in a process with unusual settings, and compares with a replay without them.
fn draws_as_replay(floats: &str) {
    let room = tempfile::tempdir().expect("a folder");
    std::env::set_current_dir(room.path()).expect("there is one");
    drop(room);
    let descriptors: Vec<fs::File> = (0..100).map(|_| fs::File::open("/dev/null").expect("opens")).collect();
    surround();
    let node = with_floats(floats, open);
    assert!(threads() < 1100, "{} threads", threads());
    drop((node, descriptors));
    Threads { threads: Some(2) }.run(|| same_as_replay(CAPTURE, Model::Board));
}

#[test]
fn nothing_around_a_program_reaches_its_picture() {
    let test = "ambient::nothing_around_a_program_reaches_its_picture";
    if std::env::var_os(INSIDE).is_some() {
        return draws_as_replay(&std::env::var(FLOATS).expect("it is said"));
    }
    for floats in ODD_FLOATS {
        with_variables(test, &[&VARIABLES[..], &[(FLOATS, floats)]].concat(), || ());
    }
}

/// The exit status and stdout of a command, with `prefix` in front of it and `variables` set.
fn put_out(prefix: &str, variables: &[(&str, &str)], arguments: &[&str]) -> (Option<i32>, Vec<u8>) {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{prefix} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_a4emu")])
        .args(arguments);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).envs(variables.iter().copied()).output();
    let output = output.expect("runs");
    (output.status.code(), output.stdout)
}

/// Every command that runs draws. 3,000 threads would not fit into the limit of address space.
#[test]
fn nothing_around_the_command_line_reaches_what_it_puts_out() {
    let capture = "captures/cube.rd.gz";
    for arguments in [
        &["replay", capture, "--png", "-"][..],
        &["info", capture],
        &["show", capture],
        &["decode", capture],
        &["disasm", capture],
        &["validate", capture],
        &["pixel", capture, "100,100"],
        &["diff", capture, "captures/torus.rd.gz"],
        &["debug", capture, "--draw", "f1", "--stage", "fs", "--pixel", "128,128"],
        &["pico", "draw", "captures/pico/triangle.toml", "--png", "-"],
    ] {
        let plain = put_out("", &[], arguments);
        assert!(plain.0.is_some_and(|status| status < 2), "{arguments:?}: {:?}", plain.0);
        let odd =
            put_out("umask 777; ulimit -s 200; ulimit -v 4000000; ulimit -n 20;", &VARIABLES, arguments);
        assert!(plain == odd, "{arguments:?}: {:?}", odd.0);
    }
}
