//! `a4emu-export`: its folder, its rows, and the ten questions of docs/tables.md. DuckDB and an independent
//! walk must give equal answers.

mod answers;
mod duckdb;
mod folder;
#[path = "../../../tests/pip/mod.rs"]
mod pip;
mod rows;
mod walk;

use std::fs;
use std::path::{Path, PathBuf};

use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_support::folders::Folders;
use assert_cmd::Command;
use libtest_mimic::{Arguments, Trial};

/// The root folder of the tree.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// `a4emu export` in `folder`, without variables of an engine.
fn export(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu-export"));
    command.current_dir(folder).arg("export").args(args);
    for variable in ["CI_NODE_INDEX", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
        command.env_remove(variable);
    }
    command
}

/// Assembles a tessellated frame, `captures/geometry/NAME.a4`, to `path`.
fn tessellated(name: &str, path: &Path) {
    let source = root().join(format!("captures/geometry/{name}.a4"));
    let folders = Folders::around(&source, &[root().join("captures")]);
    fs::write(path, capture_of(&source, &mut Disk::new(folders)).unwrap()).unwrap();
}

/// The captures in and below `folder`.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let inputs = a4emu_support::out_file::Inputs::default();
    let entries = a4emu::corpus::captures(folder, None, &inputs);
    entries.map_or(Vec::new(), |all| all.into_iter().map(|entry| entry.path).collect())
}

/// A test that fails by panicking.
fn trial((name, test): (&str, fn())) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

fn main() {
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let questions = match pip::installed(&duckdb::PACKAGES) {
        Ok(library) => Trial::test("ten questions", move || answers::compare(&library)),
        // Under CI the test fails instead, because ignored tests are easily missed there.
        Err(why) if ci => Trial::test("ten questions", move || Err(why.into())),
        Err(why) => {
            Trial::test(format!("ten questions (no DuckDB: {why})"), || Ok(())).with_ignored_flag(true)
        }
    };
    let mut trials = folder::trials();
    trials.extend(rows::trials());
    trials.push(questions);
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
