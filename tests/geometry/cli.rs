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

/// The runs of all primitives are those that the costs of the draw count. Only the last run of an invocation kills;
/// without a kill it ends at the limit.
#[test]
fn runs_of_a_primitive_end_with_a_kill_or_at_the_limit() {
    let mut ends = [0; 3];
    for name in ["gs-passthrough", "gs-cull", "gs-emit-vertex", "gs-many", "gs-instanced"] {
        let capture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("runs-{name}.rd"));
        std::fs::write(&capture, Scene::named(name).capture()).unwrap();
        let show = |primitive: u64, more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
            command.arg("show").arg(&capture).args(["--draw", "f1", "--runs-of", &primitive.to_string()]);
            command.args(more).output().unwrap()
        };
        let answer = |primitive| -> serde_json::Value {
            let all: serde_json::Value =
                serde_json::from_slice(&show(primitive, &["--json"]).stdout).unwrap();
            all["geometry_runs"].clone()
        };
        let primitives = answer(0)["primitives"].as_u64().unwrap();
        let mut counts = [0; 2];
        for primitive in 0..primitives {
            let answer = answer(primitive);
            let runs = answer["runs"].as_array().unwrap();
            counts[0] += runs.len();
            counts[1] += runs.iter().filter(|run| run["made"].is_object()).count();
            for (index, run) in runs.iter().enumerate() {
                let next = runs.get(index + 1).filter(|next| next["invocation"] == run["invocation"]);
                let full = run["vertex"].as_u64().unwrap() + 1 == answer["max_vertices"];
                let (kills, makes) = (run["kills"] == true, run["made"].is_object());
                assert_eq!(next.is_none(), kills || full, "{name}: {run}");
                assert!(makes || kills, "{name}: {run}");
                ends[0] += usize::from(kills && makes);
                ends[1] += usize::from(kills && !makes);
                ends[2] += usize::from(full && !kills);
            }
        }
        let costs = &stats(name, &[])["geometry"][0];
        assert_eq!((&costs["runs"], &costs["vertices"]), (&counts[0].into(), &counts[1].into()), "{name}");
        let text = String::from_utf8(show(0, &[]).stdout).unwrap();
        assert!(text.contains("  runs ") && text.contains(" for primitive 0 of "), "{text}");
        assert_eq!(show(primitives, &[]).status.code(), Some(2));
    }
    assert!(ends.iter().all(|count| *count > 0), "{ends:?}");
    let none = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .args(["show", "captures/cube.rd.gz", "--draw", "f1", "--runs-of", "0"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&none.stderr).contains("no geometry shader"), "{none:?}");
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
        "lane 5: primitive 0, vertex 1, invocation 1 at 0",
    ] {
        assert!(said.contains(lane), "{said}");
    }
}
