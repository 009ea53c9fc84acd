//! `replay --coverage`: runs add their counts to a file, and no count is lost.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn replay(capture: &str, file: &Path) -> Command {
    let mut command = Command::cargo_bin("a4emu").unwrap();
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(capture);
    command.arg("replay").arg(capture).arg("--coverage").arg(file);
    command
}

fn counts(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn covered(folder: &Path, captures: &[&str]) -> Value {
    let file: PathBuf = folder.join("coverage.json");
    captures.iter().for_each(|capture| drop(replay(capture, &file).assert().success()));
    counts(&file)
}

#[test]
fn runs_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let once = covered(folder.path(), &["cube.rd.gz"]);
    let pointer = "/packets/CP_DRAW_INDX_OFFSET";
    let draws = once.pointer(pointer).and_then(Value::as_u64).unwrap();
    assert!(draws > 0);
    assert_eq!(once["packets"]["CP_RUN_OPENCL"], 0, "no run met it, and the file says so");
    assert!(once["enumerators"]["RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS"].as_u64().unwrap() > 0);
    assert!(once["registers"]["RB_MRT[].CONTROL"].as_u64().unwrap() > 0);
    assert!(once["ops"].as_object().unwrap().keys().any(|op| op.starts_with("FS bary.f")), "{}", once["ops"]);
    assert!(once["states"]["draws gmem DI_PT_TRILIST"].as_u64().unwrap() > 0, "{}", once["states"]);
    let twice = covered(folder.path(), &["cube.rd.gz"]);
    assert_eq!(twice.pointer(pointer).and_then(Value::as_u64), Some(2 * draws));
    let more = covered(folder.path(), &["compute.rd.gz"]);
    assert!(more["states"]["dispatches"].as_u64().unwrap() > 0);
    assert!(more.pointer(pointer).and_then(Value::as_u64) >= Some(2 * draws));
}

#[test]
fn a_file_of_something_else_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["{\"packets\":{}}", "not JSON", ""] {
        let file = folder.path().join("other");
        fs::write(&file, text).unwrap();
        replay("cube.rd.gz", &file).assert().code(2);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

/// Concurrent runs lose no counts of each other.
#[test]
fn runs_at_once_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let pointer = "/packets/CP_DRAW_INDX_OFFSET";
    let draws = |file: &Path| counts(file).pointer(pointer).and_then(Value::as_u64).unwrap();
    let [one, many] = ["one", "many"].map(|name| folder.path().join(name));
    replay("triangle.rd.gz", &one).assert().success();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            (0..6)
                .for_each(|_| drop(scope.spawn(|| drop(replay("triangle.rd.gz", &many).assert().success()))));
        });
    }
    assert_eq!(draws(&many), 18 * draws(&one));
}
