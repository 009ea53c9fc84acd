//! `--gs-dispatch` and `--stats`.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::scene::Scene;

fn replay(name: &str, arguments: &[&str]) -> Output {
    let capture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.rd"));
    std::fs::write(&capture, Scene::named(name).capture()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_a4emu")).arg("replay").arg(capture).args(arguments).output().unwrap()
}

fn stats(name: &str, arguments: &[&str]) -> serde_json::Value {
    let output = replay(name, &[arguments, &["--stats"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn stats_show_mode_reason_runs_warps_and_occupancy() {
    let auto = &stats("gs-many", &[])["geometry"][0];
    assert_eq!((&auto["mode"], &auto["why"]), (&"dual-object".into(), &"fits".into()));
    assert_eq!((&auto["runs"], &auto["vertices"], &auto["spills"]), (&320.into(), &320.into(), &0.into()));
    let single = &stats("gs-many", &["--gs-dispatch", "single"])["geometry"][0];
    assert_eq!((&single["mode"], &single["why"]), (&"single".into(), &"asked".into()));
    let occupancy =
        |row: &serde_json::Value| row["occupancy"].as_f64().unwrap() * row["warps"].as_f64().unwrap();
    assert_eq!(occupancy(auto), 10.0, "320 runs fill ten warps of 32");
    assert_eq!(occupancy(single), 10.0);
    let tessellated = &stats("tess-culled", &[])["tessellation"];
    assert_eq!((&tessellated["patches"], &tessellated["culled"]), (&2.into(), &1.into()));
}

#[test]
fn a_mode_that_does_not_exist_is_refused() {
    let output = replay("gs-cull", &["--gs-dispatch", "triple"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("auto, single, dual-instanced, dual-object"), "{said}");
}

/// The debugger says what each lane of a geometry shader runs for.
#[test]
fn lanes_have_a_primitive_a_vertex_and_an_invocation() {
    let capture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lanes-gs-instanced.rd");
    std::fs::write(&capture, Scene::named("gs-instanced").capture()).unwrap();
    let said = assert_cmd::Command::cargo_bin("a4emu")
        .unwrap()
        .arg("debug")
        .arg(&capture)
        .args(["--draw", "f1", "--stage", "gs", "-q"])
        .write_stdin("l\nq\n")
        .output()
        .unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    for lane in [
        "lane 0: primitive 0, vertex 0, invocation 0 at 0",
        "lane 17: primitive 0, vertex 1, invocation 1 at 0",
    ] {
        assert!(said.contains(lane), "{said}");
    }
}
