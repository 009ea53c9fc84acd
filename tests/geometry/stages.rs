//! `show --mesh-of`: what each stage takes and makes, as tables.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::scene::{Scene, all};

/// A table: names, and rows of texts.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn column(&self, name: &str) -> usize {
        self.names.iter().position(|it| it == name).unwrap_or_else(|| panic!("no {name} in {:?}", self.names))
    }

    fn number(&self, row: usize, name: &str) -> usize {
        self.rows[row][self.column(name)].parse().unwrap()
    }

    /// All values from `position.x` on.
    fn vertex(&self, row: usize) -> &[String] {
        &self.rows[row][self.column("position.x")..]
    }

    fn floats<const N: usize>(&self, row: usize, first: &str) -> [f32; N] {
        let first = self.column(first);
        std::array::from_fn(|at| self.rows[row][first + at].parse().unwrap())
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }
}

fn written(name: &str, scene: &Scene) -> PathBuf {
    let capture = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stages-{name}.rd"));
    std::fs::write(&capture, scene.capture()).unwrap();
    capture
}

fn show(capture: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.arg("show").arg(capture).args(["--draw", "f1", "-q"]).args(arguments).output().unwrap()
}

/// The table of a part, if the draw has it.
fn table(capture: &Path, part: &str) -> Option<Table> {
    let done = show(capture, &["--mesh", "-", "--mesh-of", part]);
    let text = String::from_utf8(done.stdout).unwrap();
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(said.contains(&format!("the draw has no `{part}`")), "{said}");
        return None;
    }
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == names.len()), "{text}");
    Some(Table { names, rows })
}

/// What a stage takes is what the stage before made, in all scenes; what the last one makes reaches the rasteriser.
#[test]
fn each_stage_takes_what_the_one_before_made() {
    let mut seen = [0; 3];
    for name in all() {
        let capture = written(&name, &Scene::named(&name));
        let of = |part: &str| table(&capture, part);
        let (Some(vertices), patches, points) = (of("vs"), of("hs-inputs"), of("ds")) else {
            panic!("{name} has no further stage");
        };
        let fetched = of("inputs").unwrap();
        for row in 0..fetched.rows.len() {
            let name = "index";
            let same =
                (0..vertices.rows.len()).any(|it| vertices.number(it, name) == fetched.number(row, name));
            assert!(same, "{name}: row {row}");
        }
        let check = |taker: &Table, maker: &Table, number: &str| {
            assert!(!taker.rows.is_empty(), "{name}");
            for row in 0..taker.rows.len() {
                assert_eq!(taker.vertex(row), maker.vertex(taker.number(row, number)), "{name}: row {row}");
            }
        };
        if let Some(patches) = &patches {
            check(patches, &vertices, "vs_vertex");
            let (factors, points) = (of("factors").unwrap(), points.as_ref().unwrap());
            let made = |patch: usize| {
                (0..points.rows.len()).filter(move |row| points.number(*row, "patch") == patch)
            };
            for row in 0..factors.rows.len() {
                assert_eq!(factors.number(row, "points"), made(row).count(), "{name}: patch {row}");
            }
            assert_eq!(patches.rows.len() % factors.rows.len(), 0, "{name}");
            seen[0] += 1;
        }
        if let Some(primitives) = &of("gs-inputs") {
            match &points {
                Some(points) => check(primitives, points, "ds_vertex"),
                None => check(primitives, &vertices, "vs_vertex"),
            }
            seen[1] += 1;
            seen[2] += usize::from(points.is_some());
        }
        let last = if of("gs").is_some() { "gs" } else { "ds" };
        let obj = |part: &str| -> String {
            let path = capture.with_extension(format!("{part}.obj"));
            assert!(show(&capture, &["--mesh", path.to_str().unwrap(), "--mesh-of", part]).status.success());
            std::fs::read_to_string(path).unwrap()
        };
        assert_eq!(obj(last), obj("outputs"), "{name}");
        assert!(
            obj(last).contains("\nf ") || obj(last).contains("\nl ") || obj(last).contains("\np "),
            "{name}"
        );
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// The vertices of a geometry shader are those of its runs, by primitive, invocation and vertex.
#[test]
fn vertices_of_a_geometry_shader_are_those_of_its_runs() {
    let mut cuts = 0;
    for name in all() {
        let capture = written(&format!("runs-{name}"), &Scene::named(&name));
        let Some(vertices) = table(&capture, "gs") else { continue };
        let mut row = 0;
        for primitive in 0.. {
            let done = show(&capture, &["--json", "--runs-of", &primitive.to_string()]);
            if !done.status.success() {
                break;
            }
            let answer: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
            for run in answer["geometry_runs"]["runs"].as_array().unwrap() {
                let made = &run["made"];
                if made.is_null() {
                    continue;
                }
                let number = |name: &str| vertices.number(row, name);
                let got = [number("primitive"), number("invocation"), number("emitted"), number("cut")];
                let of = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
                let cut = usize::from(made["cut"] == true);
                assert_eq!(
                    got,
                    [primitive, of(&run["invocation"]), of(&run["vertex"]), cut],
                    "{name}: row {row}"
                );
                let floats = |value: &serde_json::Value| -> Vec<f32> {
                    value.as_array().unwrap().iter().map(|it| it.as_f64().unwrap() as f32).collect()
                };
                assert_eq!(
                    vertices.floats::<4>(row, "position.x").to_vec(),
                    floats(&made["position"]),
                    "{name}"
                );
                let varyings = &vertices.vertex(row)[5..];
                let varyings: Vec<f32> = varyings.iter().map(|it| it.parse().unwrap()).collect();
                assert_eq!(varyings, floats(&made["varyings"]), "{name}: row {row}");
                (row, cuts) = (row + 1, cuts + cut);
            }
        }
        assert_eq!(row, vertices.rows.len(), "{name}");
    }
    assert!(cuts > 0);
}

/// The hull shader of `tess-gs` stores each control point, and the factors; its domain shader interpolates them by the
/// coordinates; its geometry shader makes each triangle a quarter smaller.
#[test]
fn the_tables_of_a_draw_with_all_stages_hold_what_its_programs_compute() {
    let capture = written("all", &Scene::named("tess-gs"));
    let [patch, stores, factors, points, corners, made] =
        ["hs-inputs", "hs", "factors", "ds", "gs-inputs", "gs"].map(|part| table(&capture, part).unwrap());
    // Three invocations store a point of 16 bytes each; the first also a record of 20 bytes.
    let place =
        |row: usize| u32::from_str_radix(&stores.rows[row][stores.column("address")][2..], 16).unwrap();
    let invocations: Vec<_> = (0..stores.rows.len()).map(|row| stores.number(row, "invocation")).collect();
    assert_eq!(invocations, [0, 0, 0, 1, 2]);
    for (row, point) in [(0, 0), (3, 1), (4, 2)] {
        assert_eq!(stores.floats::<4>(row, "x"), patch.floats::<4>(point, "position.x"));
        assert_eq!(place(row), place(0) + 16 * point as u32);
    }
    assert_eq!(
        (stores.number(1, "words"), stores.floats::<1>(1, "x")),
        (1, [0.0]),
        "the number of the primitive"
    );
    assert!(["y", "z", "w"].iter().all(|name| stores.rows[1][stores.column(name)].is_empty()));
    assert_eq!((place(2), stores.number(2, "words")), (place(1) + 4, 4));
    assert_eq!(stores.floats::<4>(2, "x"), factors.floats::<4>(0, "outer0"));
    let near = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5);
    let of_patch: [[f32; 4]; 3] = std::array::from_fn(|point| patch.floats(point, "position.x"));
    for row in 0..points.rows.len() {
        let [u, v] = points.floats::<2>(row, "u");
        let expected = std::array::from_fn(|at| {
            u * of_patch[0][at] + v * of_patch[1][at] + (1.0 - u - v) * of_patch[2][at]
        });
        assert!(near(points.floats(row, "position.x"), expected), "point {row}");
    }
    assert_eq!(made.rows.len(), corners.rows.len());
    for row in 0..made.rows.len() {
        let first = row - row % 3;
        let all: [[f32; 4]; 3] = std::array::from_fn(|at| corners.floats(first + at, "position.x"));
        let own = all[row % 3];
        let expected =
            std::array::from_fn(|at| (all[0][at] + all[1][at] + all[2][at]) / 12.0 + 0.75 * own[at]);
        assert!(near(made.floats(row, "position.x"), expected), "vertex {row}");
        assert_eq!(made.number(row, "primitive"), corners.number(row, "primitive"));
        assert!(corners.has("primitive_id") && made.number(row, "emitted") == corners.number(row, "corner"));
    }
}

/// The tables do not depend on the number of threads.
#[test]
fn the_tables_are_the_same_on_any_number_of_threads() {
    for name in ["tess-gs", "gs-many", "tess-grow", "gs-instanced"] {
        let capture = written(&format!("threads-{name}"), &Scene::named(name));
        for part in ["vs", "hs-inputs", "hs", "factors", "ds", "gs-inputs", "gs"] {
            let with =
                |threads: &str| show(&capture, &["--mesh", "-", "--mesh-of", part, "--threads", threads]);
            let (one, three) = (with("1"), with("3"));
            assert_eq!((one.stdout, one.status), (three.stdout, three.status), "{name} {part}");
        }
    }
}

/// A part without positions is no file of a mesh, and a plain draw has no parts.
#[test]
fn what_has_no_positions_is_no_file_of_a_mesh() {
    let capture = written("files", &Scene::named("tess-gs"));
    for part in ["hs", "factors"] {
        let path = capture.with_extension("refused.obj");
        let done = show(&capture, &["--mesh", path.to_str().unwrap(), "--mesh-of", part]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(&format!("`{part}` has no positions")), "{said}");
        assert!(!path.exists());
    }
    let plain = show(Path::new("captures/cube.rd.gz"), &["--mesh", "-", "--mesh-of", "ds"]);
    let said = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert!(!plain.status.success() && said.contains("the draw has no `ds`"), "{said}");
}

/// Tables without room are left out, and that is said. The vertices at both ends are still there.
#[test]
fn tables_that_are_too_large_are_left_out() {
    let scene = Scene::named("gs-passthrough")
        .with("buffer vertices {", "buffer vertices size 2400000 {")
        .with("input(vs_colour, paint, vertices, 3)", "input(vs_colour, paint, vertices, 240000)")
        .with("draw(DI_PT_TRILIST, 3)", "draw(DI_PT_TRILIST, 240000)");
    let capture = written("large", &scene);
    let done = show(&capture, &["--mesh", "-", "--mesh-of", "gs"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        said.contains("the tables of the stages are left out: they have ") && done.stdout.is_empty(),
        "{said}"
    );
    assert_eq!(done.status.code(), Some(4), "{said}");
    let ends = show(&capture, &["--mesh", "-", "--mesh-of", "outputs"]);
    assert!(ends.status.success() && ends.stdout.iter().filter(|byte| **byte == b'\n').count() == 240_001);
}
