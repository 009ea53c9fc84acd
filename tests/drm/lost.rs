//! Nothing is lost in silence on the way from the device to `a4emu run`: a write that fails is an error of the run.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::captures::Capture;
use crate::client::*;
use crate::processes::round_trip;
use crate::{INSIDE, library};

/// Variable that says what a client does.
const HOW: &str = "A4EMU_TEST_HOW";

/// The value of [`HOW`] in a client.
fn how() -> Option<String> {
    std::env::var(HOW).ok().filter(|_| std::env::var_os(INSIDE).is_some())
}

/// `a4emu run` with `options` and the client `test`, which does `how`; with the limit `files` of files, if given.
fn launched(files: Option<u32>, options: &[&str], test: &str, how: &str) -> Command {
    let limit = files.map(|files| format!("ulimit -f {files};")).unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_a4emu"), "run"]);
    command.args(options).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env("A4EMU_LIBRARY", library()).env(INSIDE, "1").env(HOW, how);
    command.env("LIBGL_DRIVERS_PATH", "/nonexistent");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Number of submits in a recording.
fn submits(recording: &Path) -> u32 {
    let sections = Sections::new(fs::File::open(recording).unwrap()).unwrap();
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    playback.gpu.at.submit
}

/// Names of the files in `folder`, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn forbid_files() {
    setrlimit(Resource::Fsize, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
}

/// A client of eight submits, of which each uses a buffer of 4 KB.
#[test]
fn eight_submits() {
    let Some(how) = how() else { return };
    if how == "no files from the start" {
        forbid_files();
    }
    let node = open();
    for number in 0..8 {
        let buffer = Buffer::new(&node, 4096);
        buffer.map.put(100, &[number; 900]);
        round_trip(&node, &buffer, number);
        if how == "no files after the first" && number == 0 {
            forbid_files();
        }
    }
}

#[test]
fn a_limit_of_files_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("l.rd");
    let options = ["--validate", "--record", capture.to_str().unwrap()];
    for (files, how, recorded, said) in [
        // The recording of one submit does not fit, and all reports do.
        (Some(7), "", None, &["8 submits", "nothing of", "was recorded: File too large"][..]),
        (Some(32), "", Some(1..8), &["8 submits", "recording stopped", "ends early: File too large"]),
        (
            None,
            "no files after the first",
            Some(1..2),
            &[": 1 submits", "the summary of", "ends after 1 submits: File too large", "ends early"],
        ),
        (None, "no files from the start", None, &["files could not be made for", "File too large"]),
        (Some(0), "", None, &["cannot make a folder for the run: File too large"]),
    ] {
        fs::write(&capture, "an older one").unwrap();
        let output = launched(files, &options, "lost::eight_submits", how).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{files:?} {how}: {text}");
        said.iter().for_each(|part| assert!(text.contains(part), "{part}: {text}"));
        match recorded {
            Some(range) => assert!(range.contains(&submits(&capture)), "{how}: {}", submits(&capture)),
            None => assert_eq!(fs::read(&capture).unwrap(), b"an older one"),
        }
        assert_eq!(names(folder.path()), ["l.rd"], "{files:?} {how}");
    }
}

#[test]
fn a_summary_that_cannot_be_said_is_an_error() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = launched(None, &[], "lost::eight_submits", "").stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

/// A client that leaves a process behind, which uses the device.
#[test]
#[expect(clippy::zombie_processes, reason = "the process outlives the run")]
fn leaving_a_process_behind() {
    let Some(how) = how() else { return };
    if how == "the process" {
        let node = open();
        round_trip(&node, &Buffer::new(&node, 4096), 1);
        fs::write(std::env::var_os("A4EMU_TEST_MARK").unwrap(), "").unwrap();
        std::thread::sleep(std::time::Duration::from_secs(3));
        assert!(fs::File::open("/dev/dri/renderD128").is_err());
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "lost::leaving_a_process_behind", "--nocapture"]).env(HOW, "the process");
    let mut left = command.spawn().unwrap();
    let mark = std::path::PathBuf::from(std::env::var_os("A4EMU_TEST_MARK").unwrap());
    while !mark.exists() {
        assert!(left.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_process_that_outlives_the_run_is_named_and_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = launched(None, &[], "lost::leaving_a_process_behind", "");
    let output = command.env("A4EMU_TEST_MARK", folder.path().join("mark")).output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("runs on, and what it does after the end of the run is not reported"), "{text}");
    assert!(
        text.contains("no device: the run of `a4emu run` that this process belongs to has ended"),
        "{text}"
    );
}

/// A client that kills its launcher and itself.
#[test]
fn killing_the_run() {
    if how().is_none() {
        return;
    }
    let node = open();
    round_trip(&node, &Buffer::new(&node, 4096), 1);
    let launcher = rustix::process::getppid().unwrap();
    rustix::process::kill_process(launcher, rustix::process::Signal::KILL).unwrap();
    leave("a signal");
}

#[test]
fn the_unfinished_recording_of_a_killed_run_goes_with_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("l.rd");
    let options = ["--record", capture.to_str().unwrap()];
    assert!(!launched(None, &options, "lost::killing_the_run", "").output().unwrap().status.success());
    let left = names(folder.path());
    assert!(left.len() == 1 && left[0].ends_with(".part"), "{left:?}");
    let output = launched(None, &options, "lost::eight_submits", "").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!((names(folder.path()), submits(&capture)), (vec!["l.rd".to_owned()], 8));
}

/// Memory that locked mappings do not fill.
#[test]
fn a_process_that_locks_its_memory_does_not_fill_the_chips_addresses() {
    crate::with_device("lost::a_process_that_locks_its_memory_does_not_fill_the_chips_addresses", || {
        if rustix::mm::mlockall(rustix::mm::MlockAllFlags::FUTURE).is_err() {
            return eprintln!("SKIPPED: this user may not lock memory");
        }
        // A user with a small limit gets the sentence of `EPERM`.
        let Ok(node) = fs::File::options().read(true).write(true).open("/dev/dri/renderD128") else { return };
        round_trip(&node, &Buffer::new(&node, 4096), 1);
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let resident: u64 = line.trim_end_matches("kB").trim().parse().unwrap();
        assert!(resident < 700 << 10, "{resident} kB");
    });
}

/// A client with little memory, which opens the device.
#[test]
fn opening_without_memory() {
    if how().is_some() {
        setrlimit(Resource::Data, Rlimit { current: Some(1 << 20), maximum: Some(1 << 20) }).unwrap();
        let opened = fs::File::options().read(true).write(true).open("/dev/dri/renderD128");
        assert!(opened.is_err(), "there is no device on this machine");
    }
}

#[test]
fn a_process_without_memory_is_told_so() {
    let output = launched(None, &[], "lost::opening_without_memory", "").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no device: the process has no memory left for it"),
        "{}",
        stderr(&output)
    );
}

/// The program that [`a_node_works_after_exec`] becomes.
#[test]
fn after_exec() {
    let Some(number) = how() else { return };
    let node = file(number.parse().unwrap());
    assert!(std::os::unix::fs::FileTypeExt::is_char_device(&node.metadata().unwrap().file_type()));
    round_trip(&node, &Buffer::new(&node, 4096), 7);
    // The kept node is a file of its own beside that of a new open.
    let other = open();
    round_trip(&other, &Buffer::new(&other, 4096), 8);
    round_trip(&node, &Buffer::new(&node, 4096), 9);
}

#[test]
fn a_node_works_after_exec() {
    use std::os::fd::AsRawFd;
    use std::os::unix::process::CommandExt;
    crate::with_device("lost::a_node_works_after_exec", || {
        let node = open();
        round_trip(&node, &Buffer::new(&node, 4096), 6);
        rustix::io::fcntl_setfd(&node, rustix::io::FdFlags::empty()).unwrap();
        let mut command = crate::only("lost::after_exec");
        panic!("{}", command.env(HOW, node.as_raw_fd().to_string()).exec());
    });
}

/// A program closes stderr and opens a file of its own, which gets the descriptor.
#[test]
fn nothing_is_written_into_a_file_that_took_the_place_of_stderr() {
    let test = "lost::nothing_is_written_into_a_file_that_took_the_place_of_stderr";
    if let Some(path) = how() {
        close(2);
        let mut user = fs::File::create(path).unwrap();
        assert_eq!(std::os::fd::AsRawFd::as_raw_fd(&user), 2);
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        // A fault, which the summary names.
        buffer.map.put(0, &[0xc001_3d00, 0x0200_0000, 1]);
        let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
        Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(&node).unwrap();
        user.write_all(b"the user's").unwrap();
        // The program's file stays descriptor 2 until the end.
        std::mem::forget(user);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("user.db");
    let output = crate::run(test, &[(HOW, path.to_str().unwrap())]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(path).unwrap(), "the user's");
}

/// A client that draws a frame, and then breaks a rule.
#[test]
fn drawing_and_breaking_a_rule() {
    if how().is_some() {
        crate::captures::run(&Capture::read("triangle"));
        let node = open();
        let buffer = Buffer::new(&node, 4096);
        buffer.map.put(0, &[0x0cc0, 1]);
        let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
        Submit::new(&mut bos, &[Cmd { kind: 1, size: 8, ..Cmd::default() }]).go(&node).unwrap();
    }
}

#[cfg(target_arch = "x86_64")]
mod each_write {
    //! Each write of the library and of `run` fails in turn.

    use rayon::prelude::*;

    use super::*;
    use crate::tracer::{Fault, Write, is_allowed, trace};

    /// All that a run leaves, without what differs from run to run.
    #[derive(Debug, PartialEq)]
    struct Left {
        submits: u32,
        findings: String,
        files: Vec<String>,
        said: Vec<bool>,
    }

    /// A run with `fault` at the write with this number, counted in all processes. Returns the status, stderr, what
    /// is left if all is there, and the writes that were made.
    fn run(fault: Option<(usize, Fault)>) -> (Option<i32>, String, Option<Left>, Vec<Write>) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let [record, found, frames, said] = ["l.rd", "found.jsonl", "frames", "said"].map(at);
        let [record, found, frames] = [&record, &found, &frames].map(|path| path.to_str().unwrap());
        let options = ["--validate", "--record", record, "--findings", found, "--frames", frames];
        let mut command = launched(None, &options, "lost::drawing_and_breaking_a_rule", "");
        command.env("XDG_RUNTIME_DIR", folder.path()).stdout(std::process::Stdio::null());
        command.stderr(fs::File::create(&said).unwrap());
        let (status, writes) = trace(&mut command, folder.path(), fault);
        let text = fs::read_to_string(&said).unwrap();
        let left = || {
            let findings = fs::read_to_string(found).ok()?;
            let submits = Path::new(record).exists().then(|| submits(Path::new(record)))?;
            let mut files = names(folder.path());
            files.extend(names(Path::new(frames)));
            let parts = [": 2 submits", "C20 E", "1 frames"];
            Some(Left { submits, findings, files, said: parts.map(|part| text.contains(part)).into() })
        };
        (status, text.clone(), left(), writes)
    }

    #[test]
    fn that_fails_is_said_and_is_status_2() {
        if !is_allowed() {
            return eprintln!("SKIPPED: this system does not allow to trace a child (ptrace)");
        }
        let (status, text, whole, writes) = run(None);
        assert_eq!(status, Some(1), "{text}");
        let whole = whole.expect("all outputs");
        assert_eq!((whole.submits, &whole.said[..]), (2, &[true; 3][..]), "{text}");
        let kinds = [Fault::Error(27), Fault::Error(28), Fault::Error(32), Fault::Error(5), Fault::Short];
        let all = std::env::var_os("A4EMU_ALL_FAULTS").is_some();
        writes.par_iter().enumerate().for_each(|(number, write)| {
            for (index, fault) in kinds.into_iter().enumerate() {
                // A reader of stderr that has gone away is no error.
                let is_reader = write.file == "said" && matches!(fault, Fault::Error(32));
                if is_reader || !all && index != number % kinds.len() {
                    continue;
                }
                let (status, text, left, _) = run(Some((number, fault)));
                let Write { call, file } = write;
                let what = format!("{number}: {call} {file}, {fault:?}: status {status:?}\n{text}");
                if std::env::var_os("A4EMU_SHOW_FAULTS").is_some() {
                    eprintln!("{what}");
                }
                if status == Some(1) {
                    // The write was repeated, or another way was found.
                    assert_eq!(left.as_ref(), Some(&whole), "{what}");
                } else {
                    let Fault::Error(error) = fault else { panic!("{what}") };
                    // Where stderr itself fails, nothing can be said.
                    let is_said = write.file == "said" || text.contains(&format!("(os error {error})"));
                    assert!(status == Some(2) && is_said, "{what}");
                }
            }
        });
    }
}
