//! Tests of `a4emu run`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::gpu::Model;
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;
use a4emu_support::status::{Status, Warnings};

use crate::captures::{replayed, same_as_replay};
use crate::client::*;
use crate::{INSIDE, library};

/// Runs a test of this program under `a4emu run` with `options`.
fn run(options: &[&str], test: &str) -> Output {
    launched(options, test).output().unwrap()
}

/// The command that [`run`] starts.
pub fn launched(options: &[&str], test: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.arg("run").args(options).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env("A4EMU_LIBRARY", library()).env(INSIDE, "1").env_remove("LD_LIBRARY_PATH");
    command.env("LIBGL_DRIVERS_PATH", "/nonexistent");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The client of the tests: two submits, the first with a fault.
#[test]
fn program() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let node = open();
    let buffer = Buffer::new(&node, 4096);
    for (address, value) in [(0x0200_0000, 1), (buffer.address + 64, 2)] {
        buffer.map.put(0, &[0xc001_3d00, address, value]);
        let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
        Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(&node).unwrap();
    }
    assert_eq!(buffer.map.get(16), 2);
}

/// Variable with the model for [`drawing_program`].
const MODEL: &str = "A4EMU_TEST_MODEL";

/// A capture whose picture depends on the model; it is submitted unchanged.
const DEPENDS: &str = "primitives";

/// A client that compares its results with `replay`.
#[test]
fn drawing_program() {
    if let Ok(model) = std::env::var(MODEL) {
        same_as_replay(DEPENDS, Model::named(&model).expect("a model"));
    }
}

#[test]
fn the_model_reaches_the_device() {
    let bytes = [Model::Board, Model::StrictGl].map(|model| {
        let gpu = replayed(DEPENDS, model).gpu.end();
        Picture::of(gpu.pipeline.surfaces.last_color().unwrap(), gpu.memory()).unwrap().pixels()
    });
    assert!(bytes[0] != bytes[1], "the picture is the same");
    for (options, model) in [(&[][..], Model::Board), (&["--model", "strict-gl"], Model::StrictGl)] {
        let mut command = launched(options, "launcher::drawing_program");
        let output = command.env(MODEL, model.name()).output().unwrap();
        assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// A client that fails.
#[test]
fn failing_program() {
    assert!(std::env::var_os(INSIDE).is_none(), "on purpose");
}

#[test]
fn a_summary_and_a_hint_come_out() {
    let output = run(&[], "launcher::program");
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(": 2 submits, 0 draws"), "{text}");
    assert_eq!(text.matches("in no buffer (1 times").count(), 1, "{text}");
    let hints: Vec<&str> = text.lines().filter(|line| line.contains("LIBGL_DRIVERS_PATH")).collect();
    assert_eq!(hints.len(), 1, "{text}");
}

#[test]
fn the_status_is_the_programs() {
    let output = run(&["--gpu", "430"], "launcher::failing_program");
    assert_eq!(output.status.code(), Some(101), "{}", stderr(&output));
}

#[test]
fn a_missing_driver_is_the_only_warning() {
    let text = stderr(&run(&[], "launcher::failing_program"));
    assert!(text.contains("no Mesa with freedreno found"), "{text}");
    assert_eq!(text.matches("a4emu: warning").count(), 1, "{text}");
}

#[test]
fn a_program_that_does_not_open_the_device_is_named_if_there_is_a_driver() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("msm_dri.so"), "").unwrap();
    let mut command = launched(&[], "launcher::failing_program");
    let text = stderr(&command.env("LIBGL_DRIVERS_PATH", folder.path()).output().unwrap());
    assert!(text.contains("warning: the program never opened the device"), "{text}");
    assert_eq!(text.matches("a4emu: warning").count(), 1, "{text}");
}

#[test]
fn strict_and_stats() {
    let output = run(&["--strict", "--stats"], "launcher::program");
    assert_eq!(output.status.code(), Some(101), "{}", stderr(&output));
    let line = stderr(&output).lines().find(|line| line.starts_with('{')).expect("an object").to_owned();
    let stats: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&stats["submits"], &stats["faults"][0]["count"]), (&1.into(), &1.into()));
}

/// A client that writes a register which the kernel protects.
#[test]
fn breaking_rules() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let node = open();
    let buffer = Buffer::new(&node, 4096);
    buffer.map.put(0, &[0x0cc0, 1]);
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
    Submit::new(&mut bos, &[Cmd { kind: 1, size: 8, ..Cmd::default() }]).go(&node).unwrap();
}

#[test]
fn rule_violations_go_to_stderr_and_the_findings_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("found.jsonl");
    let output = run(&["--validate", "--findings", file.to_str().unwrap()], "launcher::breaking_rules");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("\nC20 E: RB_GMEM_BASE_ADDR is protected: CP fault\n"),
        "{}",
        stderr(&output)
    );
    let found: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!((&found["rule"], &found["severity"]), (&"C20".into(), &"E".into()));

    let without = run(&[], "launcher::breaking_rules");
    assert!(without.status.success() && !stderr(&without).contains("C20"), "{}", stderr(&without));
    let quiet = run(&["--validate", "--quiet"], "launcher::breaking_rules");
    assert_eq!(quiet.status.code(), Some(1));
    assert!(stderr(&quiet).contains("C20 E"), "{}", stderr(&quiet));
    let without = run(&["--validate", "--no-rule", "c"], "launcher::breaking_rules");
    assert!(without.status.success() && !stderr(&without).contains("C20"), "{}", stderr(&without));
    let other = run(&["--validate", "--rule", "D1"], "launcher::breaking_rules");
    assert!(other.status.success(), "{}", stderr(&other));
    let known = folder.path().join("known.toml");
    std::fs::write(&known, "[[suppress]]\nrule = \"C20\"\nreason = \"on purpose\"\n").unwrap();
    let suppressed = run(&["--validate", "--suppress", known.to_str().unwrap()], "launcher::breaking_rules");
    assert!(suppressed.status.success() && stderr(&suppressed).contains("suppressed: on purpose"));
    assert_eq!(run(&["--validate", "--rule", "D77"], "launcher::program").status.code(), Some(2));
    assert_eq!(run(&["--rule", "D1"], "launcher::program").status.code(), Some(2), "--rule alone");
    let good = run(&["--validate", "--findings", file.to_str().unwrap()], "launcher::program");
    assert!(good.status.success(), "{}", stderr(&good));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    let missing = run(&["--findings", file.to_str().unwrap()], "launcher::program");
    assert_eq!(missing.status.code(), Some(2), "--findings alone is wrong use");
}

/// A client that reads an address without a buffer.
#[test]
fn reading_outside() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let node = open();
    let buffer = Buffer::new(&node, 4096);
    // CP_MEM_TO_REG of a scratch register, from an address without a buffer.
    buffer.map.put(0, &[0xc001_4200, 0x0578, 0x0200_0000]);
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 }];
    Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(&node).unwrap();
}

#[test]
fn strict_fails_reads_outside_of_all_buffers() {
    let output = run(&[], "launcher::reading_outside");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("read outside of all buffers"), "{}", stderr(&output));
    let output = run(&["--strict"], "launcher::reading_outside");
    assert_eq!(output.status.code(), Some(101), "{}", stderr(&output));
}

#[test]
fn a_launcher_that_is_told_to_end_ends_the_program_and_cleans_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.args(["run", "--", "sh", "-c", "touch \"$TMPDIR/started\"; exec sleep 60"]);
    command.env("A4EMU_LIBRARY", library()).env("TMPDIR", folder.path()).env_remove("XDG_RUNTIME_DIR");
    let mut launcher = end_by_signals(&mut command).spawn().unwrap();
    let started = folder.path().join("started");
    while !started.exists() {
        assert!(launcher.try_wait().unwrap().is_none(), "it ended before the program began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Command::new("kill").args(["-TERM", &launcher.id().to_string()]).status().unwrap();
    assert_eq!(launcher.wait().unwrap().code(), Some(128 + 15));
    std::fs::remove_file(started).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
}

/// A client that ends without `exit`.
#[test]
fn leaving_program() {
    if let Some(how) = std::env::var_os("A4EMU_TEST_LEAVE") {
        program();
        leave(how.to_str().unwrap());
    }
}

/// Runs [`leaving_program`].
fn run_leaving(how: &str, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.arg("run").args(options).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", "launcher::leaving_program", "--nocapture", "--test-threads=1"]);
    command.env("A4EMU_LIBRARY", library()).env(INSIDE, "1").env("A4EMU_TEST_LEAVE", how);
    command.output().unwrap()
}

#[test]
fn the_summary_is_right_however_the_program_leaves() {
    for (how, code) in [("_exit", 0), ("quick_exit", 0), ("a signal", 128 + 9)] {
        let output = run_leaving(how, &[]);
        assert_eq!(output.status.code(), Some(code), "{how}: {}", stderr(&output));
        assert!(stderr(&output).contains(": 2 submits, 0 draws"), "{how}: {}", stderr(&output));
        assert!(stderr(&output).contains("in no buffer (1 times"), "{how}: {}", stderr(&output));
    }
}

#[test]
fn a_recording_survives_the_death_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("keep.rd.gz");
    std::fs::write(&capture, "an older one").unwrap();
    run_leaving("a signal", &["--record", capture.to_str().unwrap()]);
    assert_eq!(replay(&capture).gpu.at.submit, 2);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn a_program_that_cannot_start_leaves_the_older_recording_alone() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("keep.rd.gz");
    std::fs::write(&capture, "an older one").unwrap();
    for program in [&["./nosuchprogram"][..], &["true"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        command.args(["run", "--record"]).arg(&capture).arg("--").args(program);
        command.env("A4EMU_LIBRARY", library()).output().unwrap();
        assert_eq!(std::fs::read(&capture).unwrap(), b"an older one");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn ls_finds_nothing_wrong_with_the_device() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.args(["run", "-q", "--", "ls", "-la", "/dev/dri"]).env("A4EMU_LIBRARY", library());
    let output = command.output().unwrap();
    assert_eq!(stderr(&output), "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let node = text.lines().find(|line| line.ends_with("renderD128")).expect("it is listed");
    assert!(node.starts_with("crw-rw-rw-") && node.contains("226, 128"), "{text}");
}

/// Starts a launcher with `folder` for its files, and waits until its program runs.
fn launcher_of_a_sleeper(folder: &Path) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.args(["run", "--", "sh", "-c", "touch \"$XDG_RUNTIME_DIR/started\"; exec sleep 20"]);
    command.env("A4EMU_LIBRARY", library()).env("XDG_RUNTIME_DIR", folder);
    let launcher = end_by_signals(&mut command).spawn().unwrap();
    while !folder.join("started").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::fs::remove_file(folder.join("started")).unwrap();
    launcher
}

#[test]
fn the_files_of_a_killed_launcher_go_with_the_next_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect::<Vec<_>>();
    let mut killed = launcher_of_a_sleeper(folder.path());
    let left = files();
    assert_eq!((left.len(), left[0].metadata().unwrap().permissions().mode() & 0o777), (1, 0o700));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut next = launcher_of_a_sleeper(folder.path());
    let now = files();
    assert!(now.len() == 1 && now[0].path() != left[0].path(), "{now:?}");
    Command::new("kill").args(["-TERM", &next.id().to_string()]).status().unwrap();
    next.wait().unwrap();
    assert_eq!(files().len(), 0);
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("a4emu-{}-{name}", std::process::id()))
}

fn replay(capture: &Path) -> Playback {
    let sections = Sections::new(std::fs::File::open(capture).unwrap()).unwrap();
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    playback
}

#[test]
fn recorded_captures_can_be_replayed() {
    let capture = scratch("record.rd.gz");
    let output = run(&["--record", capture.to_str().unwrap()], "launcher::program");
    assert!(output.status.success(), "{}", stderr(&output));
    let mut playback = replay(&capture);
    let base = 0xffff_f000;
    assert_eq!((playback.gpu.at.submit, playback.gpu.settle().memory().read_u32(base + 64)), (2, Some(2)));
    assert_eq!(Status::of_run(&playback.gpu.report, Warnings::Pass), Status::Fine);
    std::fs::remove_file(&capture).unwrap();
}

#[test]
fn only_a_range_is_recorded() {
    let capture = scratch("range.rd");
    let output = run(&["--record", capture.to_str().unwrap(), "--record-range", "1"], "launcher::program");
    assert!(output.status.success(), "{}", stderr(&output));
    let playback = replay(&capture);
    assert_eq!(playback.gpu.at.submit, 1);
    assert!(playback.gpu.report.faults().next().is_none(), "the fault was in submit 0");
    std::fs::remove_file(&capture).unwrap();
}
