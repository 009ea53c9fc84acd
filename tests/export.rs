//! `a4emu export` starts the program `a4emu-export` beside it. Here a script replaces it; export/tests test
//! the program.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder that contains only a4emu.
fn alone() -> TempDir {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_a4emu"), folder.path().join("a4emu")).unwrap();
    folder
}

fn export(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("a4emu"));
    command.args(["--quiet", "export", "a b.rd", "--parquet", "tables"]);
    command
}

/// All checks are in one test: a script that another thread's new process holds open for writing cannot be
/// started.
#[test]
fn the_program_is_started_or_named() {
    says_what_makes_the_program_if_it_is_not_there();
    gives_arguments_and_exit_status_on();
}

fn says_what_makes_the_program_if_it_is_not_there() {
    let folder = alone();
    let output = export(folder.path()).assert().code(2).get_output().clone();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("a4emu-export is neither beside "), "{words}");
    assert!(words.contains("`cargo build --release -p a4emu-export` makes it"), "{words}");
}

fn gives_arguments_and_exit_status_on() {
    let folder = alone();
    let program = folder.path().join("a4emu-export");
    fs::write(&program, "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = export(folder.path()).assert().code(3).get_output().clone();
    assert_eq!(output.stdout, b"<--quiet><export><a b.rd><--parquet><tables>");
    // Wrong arguments are reported by `a4emu` itself, which then starts no program.
    let output =
        Command::new(folder.path().join("a4emu")).arg("export").assert().code(2).get_output().clone();
    assert!(output.stdout.is_empty());
}
