//! `show`: the facts about a draw agree with the run and with other commands.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::captures::root;
use crate::picture::Picture;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Call, Flow, Observer, Renderer};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use pretty_assertions::assert_eq;
use serde_json::Value;
use tempfile::TempDir;

fn capture(name: &str) -> String {
    crate::captures::own(name).to_str().unwrap().to_owned()
}

/// A shared capture. If it does not exist, prints a message and returns `None`.
fn shared(name: &str) -> Option<String> {
    let path = crate::captures::shared(name);
    path.exists().then(|| path.to_str().unwrap().to_owned())
}

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).output().unwrap()
}

/// The stdout of a command that must succeed.
fn printed(arguments: &[&str]) -> String {
    let output = a4emu(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

fn rows(capture: &str) -> Vec<Value> {
    json(&["show", capture, "--json"])["rows"].as_array().unwrap().clone()
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The number of pixels that differ in two pictures, and their bounding rectangle.
fn changes(before: &Picture, after: &Picture) -> (u64, [u64; 4]) {
    let width = before.size[0];
    let differing = before.pixels().zip(after.pixels()).enumerate().filter(|(_, (a, b))| a != b);
    let places: Vec<(usize, usize)> = differing.map(|(i, _)| (i % width, i / width)).collect();
    let range = |of: fn(&(usize, usize)) -> usize| {
        let least = places.iter().map(of).min().unwrap();
        (least as u64, (places.iter().map(of).max().unwrap() - least + 1) as u64)
    };
    let ((x, width), (y, height)) = (range(|place| place.0), range(|place| place.1));
    (places.len() as u64, [x, y, width, height])
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// The picture that the command writes with `option`.
    fn picture(&self, arguments: &[&str], option: &str) -> Picture {
        let path = self.path("picture.png");
        printed(&[arguments, &[option, &path]].concat());
        Picture::read(Path::new(&path))
    }

    /// Assembles `captures/geometry/NAME.a4`.
    fn assembled(&self, name: &str) -> String {
        let source = root().join(format!("captures/geometry/{name}.a4")).to_str().unwrap().to_owned();
        let capture = self.path(&format!("{name}.rd"));
        let include = root().join("captures").to_str().unwrap().to_owned();
        printed(&["asm", &source, "--include", &include, "-o", &capture]);
        capture
    }
}

/// The last frame draw that renders to tile memory.
fn last_rendering(rows: &[Value]) -> String {
    let last = rows.iter().rfind(|row| row["pass"] == "gmem" || row["pass"] == "bypass").unwrap();
    format!("f{}", number(last, "frame_draw"))
}

#[test]
fn picture_after_the_last_draw_equals_the_resolved_picture() {
    let folder = Folder::new();
    let own = ["triangle", "blend", "depth", "many", "cube", "stencil"].map(capture);
    let tiled = ["variants/cube-1600x900", "variants/cube-sysmem", "glmark2/shadow"].map(shared);
    for capture in own.into_iter().chain(tiled.into_iter().flatten()) {
        let last = last_rendering(&rows(&capture));
        let after = folder.picture(&["show", &capture, "--draw", &last], "--after");
        assert_eq!(after, folder.picture(&["replay", &capture], "--png"), "{capture}");
    }
}

/// The picture after a draw equals the one before the next draw, for draws of a pass and for runs in one
/// tile.
#[test]
fn after_a_draw_is_before_the_next() {
    let folder = Folder::new();
    let tiled = shared("variants/cube-1600x900");
    let tiles =
        tiled.iter().flat_map(|capture| [(capture.clone(), "f12", "f13"), (capture.clone(), "6", "7")]);
    let plain =
        [(capture("many"), "f338", "f339"), (capture("many"), "338", "339"), (capture("blend"), "f1", "f2")];
    for (capture, first, second) in plain.into_iter().chain(tiles) {
        for target in ["0", "depth", "stencil"] {
            let show = |draw, option| {
                folder.picture(&["show", &capture, "--draw", draw, "--target", target], option)
            };
            let (after, before) = (show(first, "--after"), show(second, "--before"));
            assert_eq!(after, before, "{capture} {first} {second} {target}");
            if target == "0" && first.starts_with('f') {
                assert!(after != show(second, "--after"), "{capture}: {second} draws nothing");
            }
        }
    }
}

#[test]
fn a_run_shows_its_own_tile_and_a_frame_draw_all_of_them() {
    let (folder, Some(capture)) = (Folder::new(), shared("variants/cube-1600x900")) else { return };
    let all = json(&["show", &capture, "--draw", "f13", "--json"]);
    assert_eq!((number(&all, "runs"), all["frame_draws"].to_string()), (9, "[3,13]".to_owned()));
    let tiles = all["tiles"].as_array().unwrap();
    let area: u64 = tiles.iter().map(|tile| number(tile, "width") * number(tile, "height")).sum();
    assert_eq!(area, 1600 * 900);
    let whole = folder.picture(&["show", &capture, "--draw", "f13"], "--after");
    let one = json(&["show", &capture, "--draw", "7", "--json"]);
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|key| number(&one["tile"], key) as usize);
    let tile = folder.picture(&["show", &capture, "--draw", "7"], "--after");
    for (i, (whole, tile)) in whole.pixels().zip(tile.pixels()).enumerate() {
        let inside = (x..x + width).contains(&(i % 1600)) && (y..y + height).contains(&(i / 1600));
        assert_eq!(tile, if inside { whole } else { &[0; 4] }, "pixel {i}");
    }
}

#[test]
fn changes_are_those_between_the_pictures() {
    let (folder, many) = (Folder::new(), capture("many"));
    let show = ["show", &many, "--draw", "f339"];
    let (before, after) = (folder.picture(&show, "--before"), folder.picture(&show, "--after"));
    let (count, bounds) = changes(&before, &after);
    let change = &json(&[&show[..], &["--json"]].concat())["changes"][0];
    assert_eq!(change["target"], "target 0");
    assert_eq!(
        (number(change, "pixels"), change["bounds"].to_string()),
        (count, serde_json::json!(bounds).to_string())
    );
    let text = printed(&show);
    let [x, y, width, height] = bounds;
    assert!(
        text.contains(&format!("changed      target 0: {count} pixels in {x},{y} {width}x{height}\n")),
        "{text}"
    );
}

#[test]
fn opaque_pictures_have_no_holes_and_the_same_colours() {
    let (folder, many) = (Folder::new(), capture("many"));
    let show = ["show", &many, "--draw", "f339"];
    let (plain, opaque) =
        (folder.picture(&show, "--after"), folder.picture(&[&show[..], &["--opaque"]].concat(), "--after"));
    assert!(plain.pixels().any(|pixel| pixel[3] != 255));
    assert!(plain.pixels().zip(opaque.pixels()).all(|(a, b)| a[..3] == b[..3] && b[3] == 255));
    let whole = folder.picture(&["replay", &many, "--opaque"], "--png");
    assert!(whole.pixels().all(|pixel| pixel[3] == 255));
}

/// The table's counts equal those of `replay --stats`, and each run is in one row.
#[test]
fn the_table_holds_all_draws_and_all_that_they_cost() {
    let folder = Folder::new();
    let geometry = ["gs-points-to-quads", "tess-gs"].map(|name| folder.assembled(name));
    let tiled = shared("variants/cube-1600x900");
    for capture in ["many", "compute", "cube", "mrt"].map(capture).into_iter().chain(geometry).chain(tiled) {
        let (frame, stats) = (json(&["show", &capture, "--json"]), json(&["replay", &capture, "--stats"]));
        let rows = frame["rows"].as_array().unwrap();
        let runs: u64 = rows.iter().map(|row| number(row, "runs")).sum();
        assert_eq!(
            (runs, number(&frame, "draws")),
            (number(&stats, "draws"), number(&stats, "draws")),
            "{capture}"
        );
        let sum = |of: &dyn Fn(&Value) -> u64| rows.iter().map(|row| of(&row["cost"])).sum::<u64>();
        let instructions =
            sum(&|cost| cost["instructions"].as_object().unwrap().values().filter_map(Value::as_u64).sum());
        assert_eq!(instructions, number(&stats, "instructions"), "{capture}");
        assert_eq!(sum(&|cost| number(cost, "pixels")), number(&stats, "pixels"), "{capture}");
        let shares: f64 = rows.iter().filter_map(|row| row["share"].as_f64()).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{capture}: {shares}");
    }
}

#[test]
fn the_text_has_a_line_for_each_command_of_a_frame() {
    let text = printed(&["show", &capture("many")]);
    assert_eq!(text.lines().filter(|line| line.contains(" gmem ")).count(), 601);
    assert_eq!(text.lines().filter(|line| line.contains(" resolve ")).count(), 2);
    assert!(text.lines().any(|line| line.starts_with("f339 ")), "{text}");
}

/// The state that a draw inherits equals the registers that `decode --query` prints.
#[test]
fn state_is_what_the_registers_hold() {
    let depth = capture("depth");
    let query = ["decode", &depth, "--format", "jsonl", "--query", "RB_DEPTH_CONTROL"];
    let mut funcs = BTreeSet::new();
    for line in printed(&query).lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let draw = number(&value, "draw").to_string();
        let shown = json(&["show", &depth, "--draw", &draw, "--registers", "--json"]);
        let registers = shown["registers"].as_array().unwrap();
        let register = registers.iter().find(|register| register["name"] == "RB_DEPTH_CONTROL");
        assert_eq!(
            register.map_or(&Value::Null, |register| &register["fields"]),
            &value["fields"],
            "draw {draw}"
        );
        if shown["pass"] == "gmem" {
            assert_eq!(shown["depth"]["func"], value["fields"]["ZFUNC"], "draw {draw}");
            let write = value["fields"]["Z_WRITE_ENABLE"].as_bool().unwrap_or(false);
            assert_eq!(shown["depth"]["write"], write, "draw {draw}");
            funcs.insert(shown["depth"]["func"].to_string());
        }
    }
    assert!(funcs.len() > 1, "{funcs:?}");
}

#[test]
fn a_draw_that_sets_nothing_shows_what_it_inherits() {
    let many = capture("many");
    let [first, later] = ["1", "5"].map(|draw| json(&["show", &many, "--draw", draw, "--json"]));
    for key in ["targets", "viewport", "depth", "raster"] {
        assert_eq!(first[key], later[key], "{key}");
        assert!(!later[key].is_null() && later[key] != serde_json::json!([]), "{key}");
    }
    let hash = |draw: &Value| {
        draw["shaders"].as_array().unwrap().iter().map(|it| it["hash"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(hash(&first), hash(&later));
    assert!(first["shaders"][0]["constants"] != later["shaders"][0]["constants"], "each has its place");
    let text = printed(&["show", &many, "--draw", "5"]);
    for word in ["\nVS ", "\nFS ", "\ninput ", "\ntarget ", "\ndepth ", "  constant   c0.", "SRC_ALPHA"] {
        assert!(text.contains(word), "{word} in {text}");
    }
}

/// Stops when a draw is reached.
struct Until(u32);

impl Observer for Until {
    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        if call.number() == self.0 { Flow::Stop } else { Flow::Continue }
    }
}

/// Textures of 8-bit components, whose pictures hold the bytes unchanged: compares each layer of the first
/// level with memory.
#[test]
fn pictures_of_textures_hold_what_is_in_memory() {
    let folder = Folder::new();
    let mut kinds = BTreeSet::new();
    for name in ["cube", "cubemap", "tex3d", "mipmap"] {
        let path = capture(name);
        let textured = |row: &&Value| row["textures"].as_array().is_some_and(|textures| !textures.is_empty());
        let row = rows(&path).iter().find(textured).expect("a draw with a texture").clone();
        let draw = number(&row, "draw");
        let directory = folder.path(name);
        let shown = json(&["show", &path, "--draw", &draw.to_string(), "--textures", &directory, "--json"]);
        let mut playback = Playback::default();
        let sections = Sections::new(File::open(&path).unwrap()).unwrap();
        playback.run(sections, &mut Renderer, &mut Until(draw as u32));
        let texture = &shown["shaders"].as_array().unwrap().last().unwrap()["textures"][0];
        assert_eq!(texture["format"], "TFMT4_8_8_8_8_UNORM", "{name}");
        let size = ["width", "height", "pitch", "layer_bytes", "address", "levels"]
            .map(|key| number(texture, key) as usize);
        let [width, height, pitch, layer_bytes, address, levels] = size;
        let kind = texture["kind"].as_str().unwrap();
        let layers = number(texture, "depth") as usize * if kind == "cube" { 6 } else { 1 };
        let files = fs::read_dir(&directory).unwrap().count();
        assert!(files >= layers.max(levels), "{name}: {files} files of {layers} layers, {levels} levels");
        kinds.insert(kind.to_owned());
        for layer in 0..layers {
            let of = if layers > 1 { format!("-layer{layer}") } else { String::new() };
            let picture = Picture::read(&Path::new(&directory).join(format!("FS0-level0{of}.png")));
            for y in 0..height {
                let mut row = vec![0; 4 * width];
                let start = address + layer * layer_bytes + y * pitch;
                assert!(playback.gpu.settle().memory().read(start as u32, &mut row));
                assert_eq!(picture.bytes[4 * width * y..][..4 * width], row, "{name} layer {layer} row {y}");
            }
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["2D", "3D", "cube"]);
}

/// `--level`, `--layer`, `--channels` and `--range` choose what `--textures` writes, and how.
#[test]
fn a_part_of_a_texture_is_chosen() {
    let folder = Folder::new();
    let written = |name: &str, options: &str| -> Vec<(String, Picture)> {
        let directory = folder.path(name);
        let path = capture("mipmap");
        let levels = |row: &Value| {
            let shown = json(&["show", &path, "--draw", &number(row, "draw").to_string(), "--json"]);
            let stages = shown["shaders"].as_array().unwrap().clone();
            stages.iter().any(|stage| stage["textures"][0]["levels"].as_u64() > Some(1))
        };
        let draw = number(rows(&path).iter().find(|row| levels(row)).expect("levels"), "draw").to_string();
        let words: Vec<&str> = options.split_whitespace().collect();
        printed(&[&["show", &path, "--draw", &draw, "--textures", &directory][..], &words].concat());
        let mut files: Vec<PathBuf> =
            fs::read_dir(&directory).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let name = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
        files.iter().map(|file| (name(file), Picture::read(file))).collect()
    };
    let (all, one) = (written("all", ""), written("one", "--level 1"));
    assert_eq!(one.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["FS0-level1.png"]);
    let whole = &all.iter().find(|(name, _)| *name == one[0].0).unwrap().1.bytes;
    assert_eq!(one[0].1.bytes, *whole);
    assert!(written("none", "--level 1 --layer 7").is_empty());
    let red = &written("red", "--level 1 --channels r")[0].1.bytes;
    let grey: Vec<u8> = whole.chunks_exact(4).flat_map(|texel| [texel[0], texel[0], texel[0], 255]).collect();
    assert_eq!(*red, grey);
    let fitted = &written("fit", "--level 0 --channels G --range fit")[0].1.bytes;
    let of = |bytes: &[u8]| -> (u8, u8) {
        let reds = || bytes.chunks_exact(4).map(|texel| texel[0]);
        (reds().min().unwrap(), reds().max().unwrap())
    };
    assert_eq!(of(fitted), (0, 255));
    let half = &written("half", "--level 1 --range 0..0.5")[0].1.bytes;
    let doubled = whole
        .iter()
        .zip(half)
        .all(|(whole, half)| (u32::from(*whole) * 2).min(255).abs_diff(u32::from(*half)) <= 1);
    assert!(doubled, "0..0.5 doubles each value");
}

/// Float formats are written as EXR too, with values that a byte cannot hold.
#[test]
fn float_textures_are_exr_too() {
    let (folder, formats) = (Folder::new(), capture("formats"));
    let is_float = |row: &&Value| row["textures"].to_string().contains("_FLOAT");
    let rows = rows(&formats);
    let Some(row) = rows.iter().find(is_float) else { panic!("no float texture in {formats}") };
    let draw = format!("f{}", number(row, "frame_draw"));
    printed(&["show", &formats, "--draw", &draw, "--textures", &folder.path("t")]);
    let files: Vec<PathBuf> =
        fs::read_dir(folder.path("t")).unwrap().map(|file| file.unwrap().path()).collect();
    let exr: Vec<&PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|it| it == "exr")).collect();
    assert!(!exr.is_empty(), "{files:?}");
    for path in exr {
        let picture = Picture::read(&path.with_extension("png"));
        let width = picture.size[0];
        let image = exr::prelude::read_first_rgba_layer_from_file(
            path,
            |size, _| vec![[0f32; 4]; size.width() * size.height()],
            move |pixels, at, (r, g, b, a): (f32, f32, f32, f32)| {
                pixels[at.y() * width + at.x()] = [r, g, b, a]
            },
        );
        let image = image.unwrap().layer_data.channel_data.pixels;
        let bytes =
            image.iter().flat_map(|texel| texel.map(|v| (v.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8));
        assert_eq!(bytes.collect::<Vec<_>>(), picture.bytes, "{}", path.display());
    }
}

fn lines_with(text: &str, start: &str) -> usize {
    text.lines().filter(|line| line.starts_with(start)).count()
}

#[test]
fn meshes_have_as_many_vertices_and_faces_as_the_draw() {
    let (folder, torus) = (Folder::new(), capture("torus"));
    let rows = rows(&torus);
    let row = rows.iter().find(|row| row["primitive"] == "TRILIST").expect("a list of triangles");
    let (draw, count) = (format!("f{}", number(row, "frame_draw")), number(row, "count") as usize);
    let mesh = |name: &str, more: &[&str]| {
        let path = folder.path(name);
        printed(&[&["show", &torus, "--draw", &draw, "--mesh", &path], more].concat());
        fs::read_to_string(path).unwrap()
    };
    let csv = mesh("m.csv", &[]);
    assert_eq!(csv.lines().count(), 1 + count);
    let columns = csv.lines().next().unwrap();
    assert!(
        columns.starts_with("vertex,index,instance,in0.x,in0.y,in0.z,") && columns.contains(",position.x,"),
        "{columns}"
    );
    let distinct: BTreeSet<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    for (side, more) in [("inputs", &[][..]), ("outputs", &["--mesh-of", "outputs"])] {
        let (obj, ply) = (mesh("m.obj", more), mesh("m.ply", more));
        assert_eq!((lines_with(&obj, "v "), lines_with(&obj, "f ")), (distinct.len(), count / 3), "{side}");
        assert_eq!((lines_with(&ply, "element vertex"), lines_with(&ply, "3 ")), (1, count / 3), "{side}");
        assert!(ply.contains(&format!("element vertex {}\n", distinct.len())), "{side}");
        let position = obj.lines().next().unwrap().trim_start_matches("v ");
        let body = ply.split_once("end_header\n").unwrap().1;
        assert!(body.starts_with(position), "{side}: {position} in {}", body.lines().next().unwrap());
    }
}

/// The mesh of a draw with a geometry shader is that shader's output.
#[test]
fn meshes_of_geometry_shaders_have_what_comes_out() {
    let folder = Folder::new();
    let capture = folder.assembled("gs-points-to-quads");
    let rows = rows(&capture);
    let has_gs = |row: &&Value| row["shaders"].to_string().contains("\"GS\"");
    let row = rows.iter().find(has_gs).expect("a draw with a geometry shader");
    let draw = format!("f{}", number(row, "frame_draw"));
    let csv = |side: &str| {
        let text = printed(&["show", &capture, "--draw", &draw, "--mesh", "-", "--mesh-of", side]);
        assert!(text.lines().next().unwrap().contains(if side == "inputs" { "index" } else { "position.x" }));
        text.lines().count() - 1
    };
    let count = number(row, "count") as usize * number(row, "instances") as usize;
    assert_eq!((csv("inputs"), csv("outputs")), (count, 4 * count));
}

#[test]
fn a_draw_that_is_not_there_is_wrong_use() {
    let (folder, many, compute) = (Folder::new(), capture("many"), capture("compute"));
    let png = folder.path("no.png");
    let refused: &[(&[&str], &str)] = &[
        (&["show", &many, "--draw", "603"], "the capture has no draw 603; it has 603"),
        (&["show", &many, "--draw", "f603"], "the capture has no draw f603; it has 603"),
        (&["show", &many, "--draw", "3..5"], "more than one draw"),
        (&["show", &compute, "--draw", "f0", "--after", &png], "draw f0 renders to nothing"),
        (&["show", &many, "--draw", "5", "--target", "3", "--after", &png], "draw 5 has no target 3"),
        (&["show", &many, "--draw", "5", "--target", "9", "--after", &png], "`9` is none of 0 to 7"),
        (&["show", &many, "--after", &png], "--draw"),
        (&["show", &compute, "--draw", "f0", "--mesh", &folder.path("m.csv")], "no vertices"),
        (&["show", &many, "--draw", "5", "--mesh", &folder.path("m.stl")], "m.stl"),
        (&["show", &many, "--draw", "5", "--after", &many], "it is an input"),
    ];
    for (arguments, says) in refused {
        let output = a4emu(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 0, "nothing is left");
}

/// A command may read stdin several times.
#[test]
fn a_capture_may_come_from_stdin() {
    let run = |arguments: &[&str]| {
        let stdin = File::open(capture("many")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).stdin(stdin).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&["show", "-", "--draw", "f5"]), printed(&["show", &capture("many"), "--draw", "f5"]));
    assert_eq!(run(&["show", "-"]), printed(&["show", &capture("many")]));
}

#[test]
fn all_is_the_same_for_any_number_of_threads() {
    for arguments in [&["--json"][..], &["--draw", "f339", "--json"]] {
        let many = capture("many");
        let with = |threads| printed(&[&["show", &many, "--threads", threads], arguments].concat());
        assert_eq!(with("1"), with("3"));
    }
}

/// All commands name a program by one hash.
#[test]
fn decode_and_show_call_shaders_by_one_hash() {
    for (name, draw) in [("cube", "f1"), ("compute", "f0"), ("torus", "f1")] {
        let capture = capture(name);
        let shown = json(&["show", &capture, "--draw", draw, "--json"]);
        let decoded = printed(&["decode", &capture, "--draw", draw]);
        let shaders = shown["shaders"].as_array().unwrap();
        assert!(!shaders.is_empty(), "{name}");
        for shader in shaders {
            let (stage, hash) = (shader["stage"].as_str().unwrap(), shader["hash"].as_str().unwrap());
            let line = decoded.lines().find(|line| line.trim_start().starts_with(&format!("{stage}: ")));
            let line = line.unwrap_or_else(|| panic!("{name} {stage}: {decoded}"));
            assert!(line.ends_with(&format!("hash {}", &hash[..8])), "{name}: {line}, {hash}");
        }
    }
}

/// What a draw or dispatch stores is shown, with what names the memory.
#[test]
fn what_shaders_stream_out_and_queries_store_is_shown() {
    let written = |name: &str, draw: &str| {
        let answer = json(&["show", &capture(name), "--draw", draw, "--json"]);
        let all = answer["written"].as_array().unwrap().clone();
        let all = all.iter().filter(|it| it["by"].is_null() == (name != "occlusion"));
        let one = |it: &Value| (it["what"].as_str().unwrap().to_owned(), number(it, "changed") > 0);
        all.map(one).collect::<Vec<_>>()
    };
    let named = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), true)).collect::<Vec<_>>();
    let mut dispatch = written("compute", "f0");
    dispatch.sort();
    assert_eq!(dispatch, named(&["CS buffer 0", "CS buffer 1"]));
    assert_eq!(written("image", "f0"), named(&["CS buffer 0"]));
    assert_eq!(written("xfb", "f0"), named(&["memory at VS c4.x"]));
    assert!(written("occlusion", "f2").contains(&("RB_SAMPLE_COUNT_CONTROL.ADDR".to_owned(), true)));
    let text = printed(&["show", &capture("compute"), "--draw", "f0"]);
    assert!(!text.contains("changed      nothing"), "{text}");
    assert!(text.contains("5 (0x5)") && !text.contains("NaN"), "{text}");
}
