//! Ends of runs: by a signal, by a closed pipe of frames, and by errors before the start.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::captures::Capture;
use crate::client::*;
use crate::{INSIDE, library, shortest};

/// `a4emu run` with these arguments.
fn a4emu(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.arg("run").args(arguments).env("A4EMU_LIBRARY", library());
    command.env("LIBGL_DRIVERS_PATH", "/nonexistent");
    command
}

/// The arguments that make this program the client of `test`.
fn client(test: &str) -> Vec<String> {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    [&program, "--exact", test, "--nocapture", "--test-threads=1"].map(str::to_owned).into()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Number of processes with `mark` in their arguments.
fn marked(mark: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let has = |path: &Path| {
        fs::read(path.join("cmdline")).is_ok_and(|it| String::from_utf8_lossy(&it).contains(mark))
    };
    entries.filter(|entry| has(&entry.path())).count()
}

/// Runs `program` in a shell that begins with `before`, tells the run to end, and returns how long that takes.
/// `MARK` in `program` stands for decimals that no other process has.
fn time_to_end(before: &str, program: &str, number: usize) -> Duration {
    let mark = format!("7{number}{:07}", std::process::id());
    let folder = tempfile::tempdir().unwrap();
    let program = format!("touch \"$TMPDIR/started\"; {}", program.replace("MARK", &mark));
    let mut shell = Command::new("sh");
    let launcher = a4emu(&["--", "sh", "-c", &program]);
    shell
        .args(["-c", &format!("{before} exec \"$0\" \"$@\"")])
        .arg(launcher.get_program())
        .args(launcher.get_args());
    shell.env("A4EMU_LIBRARY", library()).env("TMPDIR", folder.path()).env_remove("XDG_RUNTIME_DIR");
    let mut launcher = start_with_blocked_signals(&mut shell);
    while !folder.path().join("started").exists() || marked(&mark) < 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status().unwrap();
    launcher.wait().unwrap();
    let time = start.elapsed();
    assert_eq!(marked(&mark), 0, "{program}");
    fs::remove_file(folder.path().join("started")).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{program}: something was left behind");
    time
}

/// The run may start with ignored or blocked signals, and with programs that ignore signals.
#[test]
fn a_run_that_is_told_to_end_ends_within_a_second_with_all_of_its_processes() {
    let programs = [
        "sleep MARK & sleep MARK & wait",
        "trap '' TERM; while :; do sleep 0.1MARK; done",
        "(setsid sleep MARK &) ; exec sleep MARK",
    ];
    let mut numbers = 10..;
    for before in ["", "trap '' TERM HUP;"] {
        for program in programs {
            shortest::within(Duration::from_secs(1), || {
                time_to_end(before, program, numbers.next().unwrap())
            });
        }
    }
}

/// A client that draws frames forever.
#[test]
fn drawing_for_ever() {
    if std::env::var_os(INSIDE).is_some() {
        let capture = Capture::read("triangle");
        loop {
            crate::captures::run(&capture);
        }
    }
}

/// Runs [`drawing_for_ever`] with its video on `stdout`.
fn video_to(stdout: Stdio) -> std::process::Child {
    let mut command = a4emu(&["--frames", "-", "--"]);
    command.args(client("ends::drawing_for_ever")).env(INSIDE, "1");
    end_by_signals(command.stdout(stdout).stderr(Stdio::piped())).spawn().unwrap()
}

#[test]
fn frames_that_cannot_be_put_out_end_the_run() {
    let full = video_to(File::options().write(true).open("/dev/full").unwrap().into());
    let output = full.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output)
            .contains("cannot write frames, the run was ended: cannot write to stdout: No space left"),
        "{}",
        stderr(&output)
    );
    let mut closed = video_to(Stdio::piped());
    closed.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
    let output = closed.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("cannot write frames, the run was ended: Broken pipe"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn runs_with_unread_frames_end_on_sigterm() {
    shortest::within(Duration::from_secs(1), || {
        let mut launcher = video_to(Stdio::piped());
        // The run has more data to write than the pipe holds: a frame of the triangle has 256 KiB.
        let frames = launcher.stdout.take().unwrap();
        while rustix::io::ioctl_fionread(&frames).unwrap() < 60_000 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = Instant::now();
        Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status().unwrap();
        launcher.wait().unwrap();
        start.elapsed()
    });
}

#[test]
fn no_file_of_the_program_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [program, scene, frames] = ["program", "scene.rd", "frames"].map(|name| folder.path().join(name));
    let script = "#!/bin/sh\nexit 0\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(&scene, "the user's").unwrap();
    fs::create_dir(&frames).unwrap();
    let [program, scene] = [&program, &scene].map(|path| path.to_str().unwrap());
    let option = format!("--scene={scene}");
    for (output, path, rest) in [
        ("--record", program, &[program][..]),
        ("--record", scene, &[program, scene]),
        ("--record", scene, &[program, &option]),
        ("--findings", scene, &[program, scene]),
    ] {
        let done = a4emu(&["--validate", output, path, "--"]).args(rest).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
        assert!(stderr(&done).contains("it is an input of this command"), "{}", stderr(&done));
    }
    // The program is named without a path.
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let named = a4emu(&["--record", program, "--", "program"]).env("PATH", path).output().unwrap();
    assert_eq!(named.status.code(), Some(2), "{}", stderr(&named));
    assert_eq!(
        [fs::read_to_string(program).unwrap(), fs::read_to_string(scene).unwrap()],
        [script, "the user's"]
    );
}

/// A client that tries to open the device and prints the result.
#[test]
fn opening() {
    if std::env::var_os(INSIDE).is_some() {
        println!("opens: {:?}", File::options().read(true).write(true).open("/dev/dri/renderD128").map(drop));
    }
}

#[test]
fn a_process_without_room_for_the_device_is_told_so() {
    let launcher = a4emu(&["--"]);
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "ulimit -v 3000000; exec \"$0\" \"$@\""])
        .arg(launcher.get_program())
        .args(launcher.get_args());
    shell.args(client("ends::opening")).env(INSIDE, "1").env("A4EMU_LIBRARY", library());
    let output = shell.output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("opens: Err(Os { code: 12"),
        "{}",
        stderr(&output)
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("the device cannot be opened: the process has no room"),
        "{}",
        stderr(&output)
    );
    assert!(!stderr(&output).contains("never opened"), "{}", stderr(&output));
}

/// One thread for each core, with room for only one of them.
#[test]
fn a_device_with_few_threads_draws_the_same() {
    let test = "ends::a_device_with_few_threads_draws_the_same";
    if std::env::var_os(INSIDE).is_some() {
        let capture = "cube";
        return a4emu_support::options::Threads { threads: Some(1) }
            .run(|| crate::captures::same_as_replay(capture, a4emu_gpu::gpu::Model::Board));
    }
    for threads in ["1", "2", "64"] {
        crate::with_variables(test, &[("A4EMU_THREADS", threads)], || ());
    }
}
