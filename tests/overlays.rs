//! `show --overlay`: each pixel of the pictures has the right value. `show` also has the right counts of
//! executed instructions.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::captures::{own, root, shared};
use crate::picture::Picture;
use pretty_assertions::assert_eq;
use serde_json::Value;
use tempfile::TempDir;

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = a4emu(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The output and picture of `show` with one overlay.
struct Shown {
    answer: Value,
    picture: Picture,
}

impl Shown {
    fn new(capture: &Path, draw: Option<&str>, kind: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("overlay.png");
        let overlay = format!("{kind}={}", text(&path));
        let draw = draw.map(|draw| ["--draw", draw]);
        let arguments = ["show", text(capture), "--json", "-q", "--overlay", &overlay];
        let answer = json(&[&arguments[..], draw.as_ref().map_or(&[][..], |draw| &draw[..])].concat());
        Self { answer, picture: Picture::read(&path) }
    }

    fn legend(&self) -> &Value {
        &self.answer["overlays"][0]
    }

    fn sum(&self) -> f64 {
        self.legend()["sum"].as_f64().unwrap()
    }

    /// The legend's colour of each pixel, if it has one.
    fn marks(&self) -> Vec<Option<&str>> {
        let colors = list(&self.legend()["colors"]);
        let of = |pixel: &[u8]| colors.iter().find(|color| color["color"] == hex(pixel));
        self.picture.pixels().map(|pixel| of(pixel)?["meaning"].as_str()).collect()
    }

    /// The number that the colour of each pixel stands for.
    fn counts(&self) -> Vec<u32> {
        let colors = list(&self.legend()["colors"]);
        let stops: Vec<(f64, [f64; 3])> = colors.iter().map(stop).collect();
        let most = stops.last().unwrap().0 as u32;
        let table: Vec<[u8; 3]> = (1..=most).map(|count| between(&stops, f64::from(count))).collect();
        let of = |pixel: &[u8]| table.iter().rposition(|color| color[..] == pixel[..3]);
        self.picture.pixels().map(|pixel| of(pixel).map_or(0, |index| index as u32 + 1)).collect()
    }
}

fn hex(pixel: &[u8]) -> String {
    format!("#{:02x}{:02x}{:02x}", pixel[0], pixel[1], pixel[2])
}

fn stop(color: &Value) -> (f64, [f64; 3]) {
    let bits = u32::from_str_radix(&color["color"].as_str().unwrap()[1..], 16).unwrap();
    let [_, red, green, blue] = bits.to_be_bytes().map(f64::from);
    (color["value"].as_f64().unwrap(), [red, green, blue])
}

/// The colour of `value` on the scale `stops`.
fn between(stops: &[(f64, [f64; 3])], value: f64) -> [u8; 3] {
    let next = stops.iter().position(|stop| stop.0 >= value).unwrap().max(1);
    let ((low, from), (high, to)) = (stops[next - 1], stops[next]);
    let share = if high > low { (value - low) / (high - low) } else { 0.0 };
    std::array::from_fn(|c| (from[c] + (to[c] - from[c]) * share).round() as u8)
}

/// Assembles `captures/NAME.a4`.
fn assembled(folder: &TempDir, name: &str) -> PathBuf {
    let source = root().join(format!("captures/{name}.a4"));
    let capture = folder.path().join("made.rd");
    let output = a4emu(&["asm", text(&source), "-o", text(&capture)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    capture
}

/// Whether the first triangle of `captures/overlays.a4` covers a pixel: right of and below 2,2, with x + y <
/// 14.5.
fn in_front([x, y]: [i32; 2]) -> bool {
    x >= 2 && y >= 2 && x + y <= 13
}

/// Whether the second triangle of `captures/overlays.a4` covers a pixel: left of 12.5, above 14, with y > x +
/// 1.5.
fn behind([x, y]: [i32; 2]) -> bool {
    x >= 2 && y <= 13 && y - x >= 2
}

/// The results of `of` for each pixel of 16x16.
fn each<T>(of: impl Fn([i32; 2]) -> T) -> Vec<T> {
    (0..16).flat_map(|y| (0..16).map(move |x| [x, y])).map(of).collect()
}

#[test]
fn each_overlay_of_a_draw_shows_what_is_known_of_its_pixels() {
    let folder = TempDir::new().unwrap();
    let capture = assembled(&folder, "overlays");
    let shown = |draw, kind| Shown::new(&capture, Some(draw), kind);

    let covered = each(|at| u32::from(in_front(at)) + u32::from(behind(at)));
    let overdraw = shown("f1", "overdraw");
    assert_eq!(overdraw.counts(), covered);
    assert_eq!(overdraw.sum(), f64::from(covered.iter().sum::<u32>()));
    assert_eq!(overdraw.legend()["most_at"], serde_json::json!([2, 4]));

    let passed = each(|at| match (in_front(at), behind(at)) {
        (true, true) => Some("both"),
        (false, false) => None,
        _ => Some("passed"),
    });
    assert_eq!(shown("f1", "depth").marks(), passed);
    let killed = each(|at| (in_front(at) || behind(at)).then_some(if at[0] < 8 { "killed" } else { "kept" }));
    assert_eq!(shown("f2", "discard").marks(), killed);

    let on_edge = |of: fn([i32; 2]) -> bool, [x, y]: [i32; 2]| {
        of([x, y]) && ![[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]].into_iter().all(of)
    };
    let edges = each(|at| (on_edge(in_front, at) || on_edge(behind, at)).then_some("edge"));
    assert_eq!(shown("f1", "wireframe").marks(), edges);

    let cost = shown("f2", "cost");
    assert_eq!(cost.counts_any(), each(|at| in_front(at) || behind(at)));
    assert_eq!(Value::from(cost.sum() as u64), cost.answer["cost"]["instructions"]["FS"]);
    assert!(cost.sum() > 0.0);
}

impl Shown {
    /// Whether each pixel has a colour of the scale. Pixels outside of it are grey.
    fn counts_any(&self) -> Vec<bool> {
        self.picture.pixels().map(|pixel| pixel[0] != pixel[1] || pixel[1] != pixel[2]).collect()
    }
}

#[test]
fn every_verdict_is_of_its_colour() {
    let folder = TempDir::new().unwrap();
    let capture = assembled(&folder, "verdicts");
    let of = |draw: &str, kind: &str| {
        let shown = Shown::new(&capture, Some(draw), kind);
        let mut marks: Vec<Option<String>> =
            shown.marks().into_iter().map(|mark| mark.map(str::to_owned)).collect();
        marks.dedup();
        marks
    };
    let all = |mark: &str| vec![Some(mark.to_owned())];
    assert_eq!(of("f0", "depth"), all("passed"));
    assert_eq!([of("f3", "discard"), of("f4", "discard")], [all("killed"), all("killed")]);
    assert_eq!(of("f3", "depth"), [None]);
    assert_eq!([of("f5", "depth"), of("f6", "depth")], [all("failed"), all("failed")]);
    assert_eq!([of("f7", "discard"), of("f8", "depth")], [all("kept"), all("passed")]);
    assert_eq!(of("f2", "wireframe"), [None], "culled");
    // The whole frame: the scissor of draw 1 leaves four columns; draw 2 is culled.
    let frame = Shown::new(&capture, None, "overdraw");
    assert_eq!(frame.counts(), each(|[x, _]| if x < 4 { 8 } else { 7 }));
    // Most draws give all pixels one colour: the chip runs their shader for each, and so it costs.
    let cost = Shown::new(&capture, None, "cost");
    assert_eq!(Value::from(cost.sum() as u64), cost.answer["cost"]["instructions"]["FS"]);
}

#[test]
fn overlays_dim_pixels_without_marks() {
    let folder = TempDir::new().unwrap();
    let capture = assembled(&folder, "overlays");
    let shown = Shown::new(&capture, Some("f1"), "wireframe");
    // Grey 128 at 30 %.
    assert_eq!(&shown.picture.bytes[..4], [38, 38, 38, 255]);
    assert_eq!(shown.picture.size, [16, 16]);
}

#[test]
fn tiles_and_memory_show_the_same() {
    let both = [
        [own("cube"), shared("variants/cube-sysmem")],
        [shared("variants/cube-1600x900"), shared("variants/cube-1600x900-nobin")],
    ];
    for [one, other] in both.iter().filter(|both| both.iter().all(|capture| capture.exists())) {
        for kind in ["overdraw", "depth", "discard", "wireframe"] {
            let [one, other] = [one, other].map(|capture| Shown::new(capture, None, kind));
            assert_eq!(one.legend(), other.legend(), "{kind}");
            assert!(one.picture == other.picture, "{kind}");
        }
    }
}

/// The last command that draws and does not copy.
fn last_drawing(rows: &[Value]) -> String {
    let last = rows.iter().rfind(|row| row["pass"] == "gmem" || row["pass"] == "bypass").unwrap();
    format!("f{}", last["frame_draw"])
}

#[test]
fn sums_are_what_the_table_counts() {
    for capture in [own("triangle"), own("depth"), own("cube"), own("many"), shared("scenes/many")] {
        if !capture.exists() {
            continue;
        }
        let cost = Shown::new(&capture, None, "cost");
        let counted = cost.answer["cost"]["instructions"]["FS"].as_f64().unwrap_or(0.0);
        assert_eq!(cost.sum(), counted, "{}", capture.display());
        let draw = last_drawing(list(&cost.answer["rows"]));
        let one = Shown::new(&capture, Some(&draw), "cost");
        assert_eq!(one.sum(), one.answer["cost"]["instructions"]["FS"].as_f64().unwrap_or(0.0), "{draw}");
    }
    // Draws of these captures have no depth test, so each covered pixel is written.
    for name in ["triangle", "blend"] {
        let overdraw = Shown::new(&own(name), None, "overdraw");
        assert_eq!(overdraw.sum(), overdraw.answer["cost"]["pixels"].as_f64().unwrap(), "{name}");
    }
}

/// For many pixels: the overdraw equals the number of primitives that became fragments in the output of
/// `pixel`.
#[test]
fn overdraw_is_what_pixel_counts() {
    for capture in [own("cube"), own("depth"), shared("variants/cube-1600x900"), shared("games/neverball")] {
        if !capture.exists() {
            continue;
        }
        let shown = Shown::new(&capture, None, "overdraw");
        let [width, height] = shown.picture.size;
        let places: Vec<[usize; 2]> =
            (0..60).map(|n| [(n * 7919 + 13) % width, (n * 104_729 + 5) % height]).collect();
        let asked: Vec<String> = places.iter().map(|[x, y]| format!("{x},{y}")).collect();
        let mut arguments = vec!["pixel", text(&capture), "--json", "-q"];
        arguments.extend(asked.iter().map(String::as_str));
        let output = a4emu(&arguments);
        let counts = shown.counts();
        for ([x, y], line) in places.iter().zip(String::from_utf8(output.stdout).unwrap().lines()) {
            let answer: Value = serde_json::from_str(line).unwrap();
            let is_fragment = |event: &&Value| {
                !["scissored", "culled", "copied"].iter().any(|verdict| event["verdict"] == *verdict)
            };
            let fragments = list(&answer["events"]).iter().filter(is_fragment).count();
            assert_eq!(counts[y * width + x], fragments as u32, "{} {x},{y}", capture.display());
        }
    }
}

#[test]
fn instructions_are_counted_one_by_one() {
    for name in ["triangle", "control", "compute", "many", "xfb", "derivative"] {
        let capture = own(name);
        let rows = json(&["show", text(&capture), "--json", "-q"]);
        let rows = list(&rows["rows"]);
        // Hundreds of draws differ in little.
        for row in rows.iter().step_by(rows.len().div_ceil(40)) {
            let draw = format!("f{}", row["frame_draw"]);
            let answer = json(&["show", text(&capture), "--draw", &draw, "--json", "-q"]);
            let counted: serde_json::Map<String, Value> = list(&answer["instruction_counts"])
                .iter()
                .map(|stage| (stage["stage"].as_str().unwrap().to_owned(), total(&stage["warps"]).into()))
                .collect();
            assert_eq!(Value::Object(counted), answer["cost"]["instructions"], "{name} {draw}");
        }
    }
}

fn total(counts: &Value) -> u64 {
    list(counts).iter().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn a_kill_of_all_lanes_leaves_the_rest_unrun() {
    let folder = TempDir::new().unwrap();
    let capture = assembled(&folder, "verdicts");
    let answer = json(&["show", text(&capture), "--draw", "f3", "--json", "-q"]);
    let counts = list(&answer["instruction_counts"]);
    let fragments = counts.iter().find(|stage| stage["stage"] == "FS").unwrap();
    // 16x16 pixels are eight warps.
    assert_eq!(fragments["warps"], serde_json::json!([8, 8, 8, 8, 8]));
    assert_eq!(fragments["lanes"], serde_json::json!([256, 256, 256, 256, 256]));
    let output = a4emu(&["show", text(&capture), "--draw", "f3", "-q"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.contains("           8        256  kill p0.x\n           0          0  end\n"), "{lines}");
}

#[test]
fn invalid_overlays_are_refused() {
    let capture = own("cube");
    let says = |arguments: &[&str], what: &str| {
        let output = a4emu(&[&["show", text(&capture)], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(what), "{stderr}");
    };
    says(&["--overlay", "depht=x.png"], "`depht` is none of wireframe, overdraw, depth, discard, cost");
    says(&["--overlay", "depth"], "it has no file: depth=FILE");
    says(&["--overlay", "depth=-", "--overlay", "cost=-"], "cannot both write to stdout");
    let folder = TempDir::new().unwrap();
    let file = format!("cost={}", text(&folder.path().join("cost.png")));
    let rows = json(&["show", text(&capture), "--json", "-q"]);
    let copy = list(&rows["rows"]).iter().find(|row| row["pass"] == "resolve").unwrap();
    let draw = format!("f{}", copy["frame_draw"]);
    says(&["--draw", &draw, "--overlay", &file], "has no fragments");
    assert!(!folder.path().join("cost.png").exists());
}
