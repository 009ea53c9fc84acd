//! `a4emu report`: the data of the page agrees with the output of the other commands.

mod captures;
mod picture;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use captures::{all_shared, own, root, shared};
use flate2::read::DeflateDecoder;
use libtest_mimic::{Arguments, Failed, Trial};
use picture::Picture;
use serde_json::Value;
use tempfile::TempDir;

/// Number of pixels per capture whose reasons are compared with the output of `pixel`.
const PIXELS: usize = 100;

fn a4emu() -> Command {
    Command::new(env!("CARGO_BIN_EXE_a4emu"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// The page of a capture.
fn page(capture: &Path) -> String {
    let done = a4emu().args(["report", text(capture), "-o", "-", "-q"]).assert().success();
    String::from_utf8(done.get_output().stdout.clone()).expect("a page")
}

/// The JSON of the elements of a page that begin with `<script ATTRIBUTE`.
fn parts(page: &str, attribute: &str) -> Vec<Value> {
    let start = format!("<script {attribute} type=\"application/octet-stream\">");
    let elements = page.split(&start).skip(1);
    let unpacked = elements.map(|rest| {
        let (data, _) = rest.split_once("</script>").expect("an end");
        let packed = STANDARD.decode(data).expect("base64");
        let mut json = Vec::new();
        DeflateDecoder::new(&packed[..]).read_to_end(&mut json).expect("a stream");
        serde_json::from_slice(&json).expect("JSON")
    });
    unpacked.collect()
}

/// The data in a page: what all draws have, and in each draw what its blocks hold.
fn frame(page: &str) -> Value {
    let mut frame = parts(page, "id=\"data\"").pop().expect("data");
    for kind in ["texts", "pictures"] {
        let blocks = parts(page, &format!("class=\"{kind}\""));
        let all: Vec<Value> = blocks.iter().flat_map(list).cloned().collect();
        let draws = frame["draws"].as_array_mut().expect("draws");
        assert_eq!(all.len(), draws.len(), "{kind}");
        for (draw, part) in draws.iter_mut().zip(all) {
            let Value::Object(part) = part else { panic!("{part}") };
            draw.as_object_mut().expect("a draw").extend(part);
        }
    }
    frame
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

/// The picture of a patch.
fn patched(patch: &Value) -> Picture {
    let png = STANDARD.decode(patch["png"].as_str().expect("a PNG")).expect("base64");
    let picture = Picture::decode(&png);
    assert_eq!(picture.size, ["w", "h"].map(|side| number(&patch[side])));
    picture
}

/// Copies `other` into `picture` at (x, y); both have four bytes per pixel.
fn put(picture: &mut Picture, other: &Picture, [x, y]: [usize; 2]) {
    let width = 4 * other.size[0];
    for (row, bytes) in other.bytes.chunks_exact(width).enumerate() {
        let at = 4 * ((y + row) * picture.size[0] + x);
        picture.bytes[at..at + width].copy_from_slice(bytes);
    }
}

/// The final contents of canvas `index`: all patches in order.
fn composed(frame: &Value, index: usize) -> Picture {
    let size = ["width", "height"].map(|side| number(&frame["canvases"][index][side]));
    let mut picture = Picture { size, pixel_bytes: 4, bytes: vec![0; 4 * size[0] * size[1]] };
    let draws = list(&frame["draws"]).iter().filter(|draw| draw["canvas"] == index);
    for patch in
        list(&frame["canvases"][index]["patches"]).iter().chain(draws.flat_map(|draw| list(&draw["patches"])))
    {
        put(&mut picture, &patched(patch), ["x", "y"].map(|at| number(&patch[at])));
    }
    picture
}

/// The last colour canvas ends with the picture of `replay --png`.
fn check_picture(capture: &Path) -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let png = folder.path().join("frame.png");
    a4emu().args(["replay", text(capture), "--png", text(&png), "-q"]).assert().success();
    let replayed = Picture::read(&png);
    let frame = frame(&page(capture));
    assert_eq!(frame["left_out"], "");
    let is_color = |index: &usize| {
        frame["canvases"][*index]["name"].as_str().is_some_and(|name| name.starts_with("color"))
    };
    let mut canvases =
        list(&frame["draws"]).iter().filter_map(|draw| Some(draw["canvas"].as_u64()? as usize));
    let last = canvases.rfind(is_color).ok_or("no canvas")?;
    let shown = composed(&frame, last);
    if shown.size != replayed.size {
        return Err(format!("{:?} pixels are not {:?}", shown.size, replayed.size).into());
    }
    let both = shown.bytes.chunks_exact(4).zip(replayed.bytes.chunks_exact(4));
    match both.enumerate().find(|(_, (shown, replayed))| shown != replayed) {
        None => Ok(()),
        Some((index, both)) => {
            Err(format!("{both:?} at {},{}", index % shown.size[0], index / shown.size[0]).into())
        }
    }
}

/// The bits that stand for verdicts of `pixel`.
fn bits_of(verdicts: &[&str]) -> u8 {
    let of = |verdict: &&str| match *verdict {
        "scissored" | "culled" | "failed" | "copied" => 0,
        "depth" | "stencil" => 1 | 2,
        "killed" | "alpha" => 1 | 4,
        "written" | "masked" => 1 | 8,
        other => panic!("{other}"),
    };
    let all: Vec<u8> = verdicts.iter().map(of).filter(|bits| *bits != 0).collect();
    let overdrawn = if all.len() > 1 { 16 } else { 0 };
    all.into_iter().fold(overdrawn, |all, bits| all | bits)
}

/// The reasons that a draw has for a pixel.
fn noted(draw: &Value, [x, y]: [usize; 2]) -> u8 {
    let at = |patch: &Value| {
        let [left, top, width, height] = ["x", "y", "w", "h"].map(|key| number(&patch[key]));
        let (x, y) = (x.checked_sub(left)?, y.checked_sub(top)?);
        (x < width && y < height).then(|| patched(patch).bytes[y * width + x])
    };
    list(&draw["reasons"]).iter().filter_map(at).fold(0, |all, bits| all | bits)
}

/// For many pixels: the bits of each draw equal the verdicts of `pixel` on its primitives.
fn check_reasons(capture: &Path) -> Result<(), Failed> {
    let frame = frame(&page(capture));
    let last = list(&frame["draws"]).iter().rev().find_map(|draw| draw["canvas"].as_u64());
    let canvas = &frame["canvases"][last.ok_or("no canvas")? as usize];
    let [width, height] = ["width", "height"].map(|side| number(&canvas[side]));
    let positions: Vec<[usize; 2]> =
        (0..PIXELS).map(|n| [(n * 7919 + 13) % width, (n * 104_729 + 5) % height]).collect();
    let asked: Vec<String> = positions.iter().map(|[x, y]| format!("{x},{y}")).collect();
    let done = a4emu().args(["pixel", text(capture), "--json", "-q"]).args(&asked).assert().success();
    let stdout = String::from_utf8(done.get_output().stdout.clone())?;
    let mut compared = 0;
    for (at, line) in positions.into_iter().zip(stdout.lines()) {
        let answer: Value = serde_json::from_str(line)?;
        let events = list(&answer["events"]);
        let drawn = events.iter().filter(|event| event["verdict"] != "copied");
        let draws: BTreeSet<usize> = drawn.map(|event| number(&event["frame_draw"])).collect();
        // The page has culled and scissored primitives, which `bits_of` leaves out.
        for id in draws {
            let mine = events.iter().filter(|event| event["frame_draw"] == id);
            let verdicts: Vec<&str> = mine.filter_map(|event| event["verdict"].as_str()).collect();
            let is_it = |draw: &&Value| {
                draw["id"] == id || list(&draw["row"]["more_frame_draws"]).contains(&id.into())
            };
            let draw = list(&frame["draws"]).iter().find(is_it).ok_or("no such draw")?;
            let (noted, said) = (noted(draw, at), bits_of(&verdicts));
            if noted & !(64 | 128) != said {
                return Err(format!("{at:?} f{id}: {noted:#b}, but {verdicts:?}").into());
            }
            compared += 1;
        }
    }
    if compared < PIXELS { Err(format!("{compared} draws at {PIXELS} pixels").into()) } else { Ok(()) }
}

/// The fragment shaders' cost in the page, by pixel and by instruction, adds up to the cost of the draws.
fn check_costs(capture: &Path) -> Result<(), Failed> {
    let frame = frame(&page(capture));
    for draw in list(&frame["draws"]) {
        let cost = &draw["row"]["cost"]["instructions"];
        for (used, counts) in list(&draw["shader_use"]).iter().zip(list(&draw["counts"])) {
            let ran: u64 = list(&counts[0]).iter().filter_map(Value::as_u64).sum();
            let stage = used["stage"].as_str().ok_or("no stage")?;
            assert_eq!(ran, cost[stage].as_u64().unwrap_or(0), "{} {stage}", draw["id"]);
            assert_eq!(list(&counts[0]).len(), list(&counts[1]).len());
        }
        assert_eq!(list(&draw["shader_use"]).len(), list(&draw["counts"]).len());
        let spent = list(&draw["cost_map"]).iter().flat_map(|patch| patched(patch).bytes);
        let bytes: Vec<u8> = spent.collect();
        let spent: u64 = bytes.as_chunks().0.iter().map(|pixel| u64::from(u32::from_le_bytes(*pixel))).sum();
        assert_eq!(spent, 32 * cost["FS"].as_u64().unwrap_or(0), "{}", draw["id"]);
    }
    Ok(())
}

/// The data has all keys that the page's script uses.
fn check_fields() -> Result<(), Failed> {
    let frame = frame(&page(&root().join("captures/many.rd.gz")));
    let keys = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<BTreeSet<_>>());
    let want = |names: &str| Some(names.split(' ').map(str::to_owned).collect::<BTreeSet<_>>());
    assert_eq!(
        keys(&frame),
        want(
            "title process gpu version notes left_out missing stood stood_at block first findings canvases draws shaders textures registers words"
        )
    );
    assert_eq!(frame["title"], "many.rd.gz");
    let draws = list(&frame["draws"]);
    assert_eq!(
        keys(&draws[1]),
        want(
            "id row state changed canvas over copies patches reasons cost_map shader_use counts texture_use mesh packets written"
        )
    );
    let show = a4emu().args(["show", "captures/many.rd.gz", "--json", "-q"]).current_dir(root()).assert();
    let shown: Value = serde_json::from_slice(&show.get_output().stdout)?;
    let rows: Vec<&Value> = draws.iter().map(|draw| &draw["row"]).collect();
    assert_eq!(rows.len(), list(&shown["rows"]).len());
    assert!(
        rows.iter().zip(list(&shown["rows"])).all(|(row, shown)| *row == shown),
        "rows are those of show"
    );
    let draw = &draws[1];
    let arguments = ["show", "captures/many.rd.gz", "--draw", "f1", "--json", "-q"];
    let show = a4emu().args(arguments).current_dir(root()).assert();
    let shown: Value = serde_json::from_slice(&show.get_output().stdout)?;
    let state = draw["state"].as_object().ok_or("no state")?;
    assert!(state.iter().all(|(key, value)| shown[key] == *value), "state is that of show");
    for used in list(&draw["shader_use"]) {
        assert!(frame["shaders"][used["hash"].as_str().ok_or("no hash")?]["text"].is_array(), "{used}");
    }
    let packets = list(&draw["packets"]);
    let says = |what: &str| packets.iter().any(|line| line.as_str().is_some_and(|line| line.contains(what)));
    assert!(says("CP_DRAW_INDX_OFFSET"), "{packets:?}");
    assert_eq!(frame["registers"]["RB_DEPTH_CONTROL"]["offset"], "0x2101");
    let mesh = &draw["mesh"];
    let length = |key: &str| STANDARD.decode(mesh[key].as_str().unwrap_or("")).map_or(0, |bytes| bytes.len());
    assert!(length("indices") > 0 && length("indices") % 12 == 0, "{mesh}");
    assert_eq!(length("out") % 16, 0);
    assert!(draws[2..].iter().any(|draw| !list(&draw["changed"]).is_empty()));
    Ok(())
}

/// By default no draw loses data, also where there are thousands.
fn check_all_is_there(capture: &Path) -> Result<(), Failed> {
    let frame = frame(&page(capture));
    let draws = list(&frame["draws"]);
    assert_eq!((frame["left_out"].as_str(), draws.len()), (Some(""), 2507));
    // Its file has no programs and no vertices: the page says so.
    let missing = frame["missing"].as_str().ok_or("no text")?;
    assert!(missing.starts_with("8 ranges of 629112 bytes are not in the capture"), "{missing}");
    let is_whole = |draw: &Value| draw["state"].is_object() && !list(&draw["packets"]).is_empty();
    match draws.iter().find(|draw| !is_whole(draw)) {
        Some(draw) => Err(format!("f{} has lost its state", draw["id"]).into()),
        None => Ok(()),
    }
}

/// The size of a page without its extras, which go first where there is less room.
fn without_extras(page: &str) -> usize {
    let extras = page.split("<script id=\"extras\"").nth(1).and_then(|rest| rest.find("</script>"));
    let bytes = extras.unwrap_or_default();
    assert!(bytes > 1000, "{bytes} bytes of extras");
    page.len() - bytes
}

/// `--max-size` holds: data is left out from the front, that of the shown submit last. The page and stderr say it.
fn check_max_size() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let out = folder.path().join("frame.html");
    let capture = own("fbo");
    let whole = page(&capture);
    for (size, loses_all) in [(without_extras(&whole) - 1000, false), (whole.len() / 8, true)] {
        let size_text = size.to_string();
        let arguments = ["report", text(&capture), "-o", text(&out), "--max-size", &size_text];
        let done = a4emu().args(arguments).assert().success();
        let stderr = String::from_utf8(done.get_output().stderr.clone())?;
        let page = fs::read_to_string(&out)?;
        let frame = frame(&page);
        let said = frame["left_out"].as_str().ok_or("no text")?;
        assert!(said.contains("state, packets and mesh") && stderr.contains(said), "{stderr}");
        assert_eq!(said.contains("more cannot be left out"), loses_all, "{said}");
        assert!(loses_all || page.len() <= size, "{} bytes", page.len());
        let draws = list(&frame["draws"]);
        let has_state: Vec<bool> = draws.iter().map(|draw| draw["state"].is_object()).collect();
        let shown = &draws[number(&frame["first"])]["row"]["submit"];
        assert!(!has_state[0], "the first draws lose data first");
        let keeps = |(draw, has): (&Value, &bool)| draw["row"]["submit"] != *shown || *has != loses_all;
        assert!(draws.iter().zip(&has_state).all(keeps), "{shown} {has_state:?}");
        assert!(draws.iter().all(|draw| draw["row"]["submit"] != *shown || draw["canvas"].is_u64()));
    }
    Ok(())
}

/// Draws with more stages than the vertex shader have meshes, and the factors of their patches.
fn check_tessellation() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let capture = folder.path().join("tess.rd");
    let source = root().join("captures/geometry/tess-quad-odd.a4");
    let include = root().join("captures");
    let arguments = ["asm", text(&source), "-o", text(&capture), "--include", text(&include)];
    a4emu().args(arguments).assert().success();
    let frame = frame(&page(&capture));
    let draw = &frame["draws"][1];
    let length =
        |key: &str| STANDARD.decode(draw["mesh"][key].as_str().unwrap_or("")).map_or(0, |it| it.len());
    assert_eq!((&draw["mesh"]["size"], &draw["mesh"]["in_size"]), (&3.into(), &1.into()));
    assert_eq!((length("indices"), length("in"), length("in_indices")), (12 * 68, 12 * 4, 4 * 4));
    let tessellation = &draw["state"]["tessellation"];
    assert_eq!(tessellation["domain"], "quads");
    assert_eq!(list(&tessellation["factors"][0]["outer"]).len(), 4);
    let shown = a4emu().args(["show", text(&capture), "--draw", "f1", "-q"]).assert().success();
    let shown = String::from_utf8(shown.get_output().stdout.clone())?;
    assert!(shown.contains("quads, spacing fractional odd, makes triangles cw"), "{shown}");
    assert!(shown.contains("patch 0: outer 5.5 3.1 7.9 1, inner 6.3 3.3"), "{shown}");
    Ok(())
}

/// Of a submit, the first draws lose data first.
fn check_front() -> Result<(), Failed> {
    let size = (without_extras(&page(&own("many"))) - 1000).to_string();
    let (capture, arguments) = (own("many"), ["report", "-o", "-", "-q", "--max-size", &size]);
    let done = a4emu().args(arguments).arg(&capture).assert().success();
    let frame = frame(&String::from_utf8(done.get_output().stdout.clone())?);
    let has_state: Vec<bool> = list(&frame["draws"]).iter().map(|draw| draw["state"].is_object()).collect();
    let lost = has_state.iter().filter(|has| !**has).count();
    assert!((1..has_state.len() / 2).contains(&lost), "{lost}");
    assert!(has_state[..lost].iter().all(|has| !has), "the first {lost}");
    Ok(())
}

/// The page opens on a draw of the picture that `replay --png` writes, and it is the last one.
fn check_first(capture: &Path) -> Result<(), Failed> {
    let frame = frame(&page(capture));
    let pixel = a4emu().args(["pixel", text(capture), "0,0", "--json", "-q"]).assert().success();
    let pixel: Value = serde_json::from_slice(&pixel.get_output().stdout)?;
    let (draws, first) = (list(&frame["draws"]), number(&frame["first"]));
    let canvas = number(&draws[first]["canvas"]);
    assert_eq!(frame["canvases"][canvas]["address"], pixel["surface"]["address"]);
    let is_later = |draw: &&Value| draw["canvas"] == canvas && draw["row"]["pass"] != "resolve";
    assert_eq!(draws[first + 1..].iter().filter(is_later).count(), 0);
    assert_ne!(draws[first]["row"]["pass"], "resolve");
    Ok(())
}

/// The name of a program that contains a script tag is shown as text.
fn check_hostile_name() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let (source, capture) = (folder.path().join("evil.a4"), folder.path().join("evil.rd"));
    let of = fs::read_to_string(root().join("captures/triangle-by-hand.a4"))?;
    let evil = of.replace("triangle-by-hand/1", "<script>alert(1)</script>/1");
    assert_ne!(of, evil);
    fs::write(&source, evil)?;
    fs::copy(root().join("captures/setup.a4i"), folder.path().join("setup.a4i"))?;
    a4emu().args(["asm", text(&source), "-o", text(&capture)]).assert().success();
    let page = page(&capture);
    assert!(!page.contains("alert(1)"), "it is nowhere but in the data");
    assert_eq!(frame(&page)["process"], "<script>alert(1)</script>/1: fence=1");
    Ok(())
}

/// The page is written to each allowed place. A broken capture has a page too.
fn check_files() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let (whole, cut) = (root().join("captures/triangle.rd.gz"), folder.path().join("cut.rd"));
    let refused = a4emu().args(["report", text(&whole), "-o", text(&whole)]).assert().code(2);
    let stderr = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(stderr.contains("it is an input"), "{stderr}");
    let none = folder.path().join("none.html");
    a4emu().args(["report", text(&cut), "-o", text(&none)]).assert().code(2);
    assert!(!none.exists());
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&fs::read(&whole)?[..]).read_to_end(&mut bytes)?;
    fs::write(&cut, &bytes[..bytes.len() - 100])?;
    a4emu().args(["report", text(&cut), "-o", text(&none), "-q"]).assert().code(3);
    assert!(frame(&fs::read_to_string(none)?)["draws"].is_array());
    Ok(())
}

/// The page does not depend on the number of threads.
fn check_threads() -> Result<(), Failed> {
    let of = |threads: &str| {
        let capture = root().join("captures/depth.rd.gz");
        let done = a4emu().args(["report", text(&capture), "-o", "-", "-q", "--threads", threads]).assert();
        done.success().get_output().stdout.clone()
    };
    assert!(of("1") == of("3"), "the pages differ");
    Ok(())
}

/// The page has the findings of `validate`, and each draw has its own.
fn check_findings() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let (source, capture) = (folder.path().join("broken.a4"), folder.path().join("broken.rd"));
    fs::write(&source, half_a_target().replacen("(0.0)\n", "(0.0)\n    mul.f r0.z, r0.z, c0.x\n", 1))?;
    let include = ["--include", text(root())];
    a4emu().args(["asm", text(&source), "-o", text(&capture)]).args(include).assert().success();
    let said = a4emu().args(["validate", "--json", text(&capture)]).assert().code(1);
    let said = String::from_utf8(said.get_output().stdout.clone())?;
    let expected: Vec<Value> = said.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let frame = frame(&page(&capture));
    assert_eq!(list(&frame["findings"]), expected);
    assert_eq!(frame["findings"][0]["rule"], "D1");
    assert_eq!(list(&frame["draws"][0]["row"]["findings"]).first(), Some(&Value::from(0)));
    Ok(())
}

/// A draw to the left half of a target that was filled with a value.
fn half_a_target() -> String {
    let held = "ff204060 ".repeat(32 * 32);
    format!(
        r#"include "{}/captures/setup.a4i"
gpu_id 420
buffer target size 4096 {{ words {held}
}}
buffer corners {{ f32 -1.0, 1.0, 1.0, -1.0 }}
buffer vs size 128 {{ shader {{
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
}} }}
buffer fs size 128 {{ shader {{
    (rpt3)mov.f32f32 r0.x, (r)c0.x
    end
}} }}
buffer main {{
    use frame(target, 32, 32)
    GRAS_SC_WINDOW_SCISSOR_BR {{ X = 15 | Y = 31 }}
    use program(vs, fs, r0.x, r0.x)
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    load FS.constants {{ f32 0.75, 0.5, 0.5, 1.0 }}
    use draw(DI_PT_RECTLIST, 2)
}}
submit main
"#,
        root().display()
    )
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("fields", check_fields),
        Trial::test("a_name_that_is_a_script_is_text", check_hostile_name),
        Trial::test("files", check_files),
        Trial::test("findings", check_findings),
        Trial::test("max_size", check_max_size),
        Trial::test("the front is left out", check_front),
        Trial::test("tessellation", check_tessellation),
        Trial::test("threads", check_threads),
    ];
    trials.push(Trial::test("reasons of every verdict", || {
        let folder = TempDir::new()?;
        let (source, capture) = (root().join("captures/verdicts.a4"), folder.path().join("verdicts.rd"));
        a4emu().args(["asm", text(&source), "-o", text(&capture)]).assert().success();
        check_reasons(&capture)
    }));
    trials.push(Trial::test("picture with what was there before", || {
        let folder = TempDir::new()?;
        let (source, capture) = (folder.path().join("half.a4"), folder.path().join("half.rd"));
        fs::write(&source, half_a_target())?;
        let include = ["--include", text(root())];
        a4emu().args(["asm", text(&source), "-o", text(&capture)]).args(include).assert().success();
        check_picture(&capture)
    }));
    let chosen = [
        "games/etr",
        "games/neverball",
        "glmark2/shadow",
        "glmark2/desktop-blur",
        "scenes/mipmap",
        "variants/cube-1600x900",
        "variants/cube-sysmem",
    ];
    let pictures = ["attribs", "blend", "clip", "cube", "depth", "fbo", "many", "points", "stencil", "torus"];
    let pictures: Vec<PathBuf> = pictures.map(own).into_iter().chain(chosen.map(shared)).collect();
    let mut add = |kind: &str, capture: PathBuf, check: fn(&Path) -> Result<(), Failed>| {
        let there = capture.exists();
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        let name = format!("{kind} {}", capture.file_name().unwrap_or_default().display());
        trials.push(Trial::test(name, move || check(&capture)).with_ignored_flag(!there && !is_ci));
    };
    pictures.iter().for_each(|capture| add("picture", capture.clone(), check_picture));
    for capture in [own("depth"), own("stencil"), own("many"), shared("scenes/scissor")] {
        add("reasons", capture, check_reasons);
    }
    add("all is there", shared("hardware/glxgears-a420"), check_all_is_there);
    for capture in [own("many"), own("fbo"), shared("scenes/shadow")] {
        add("first", capture, check_first);
    }
    for capture in [own("depth"), own("cube"), own("many"), shared("glmark2/shadow")] {
        add("costs", capture, check_costs);
    }
    // All other captures take minutes: `cargo test --test report -- --ignored every`.
    let others = if arguments.ignored || arguments.include_ignored { all_shared() } else { Vec::new() };
    for capture in others.into_iter().filter(|it| !pictures.contains(it)) {
        let name = format!("every picture {}", capture.display());
        trials.push(Trial::test(name, move || check_picture(&capture)).with_ignored_flag(true));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
