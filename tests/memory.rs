//! `memory`: bytes at a draw, as the machine has them; what changed; what uses them.

use std::fs;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use serde_json::Value;

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;

fn capture(name: &str) -> String {
    crate::captures::own(name).to_str().unwrap().to_owned()
}

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = a4emu(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(arguments)).unwrap()
}

fn memory(name: &str, rest: &[&str]) -> Value {
    json(&[&["memory", &capture(name), "--json"][..], rest].concat())
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} of {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// The bytes of a range at the end of the capture, from the library.
fn at_the_end(name: &str, start: u64, bytes: usize) -> Vec<u8> {
    let mut playback = Playback::default();
    let file = fs::File::open(capture(name)).unwrap();
    playback.run(Sections::new(file).unwrap(), &mut Renderer, &mut Silent);
    let mut held = vec![0; bytes];
    assert!(playback.gpu.sync().memory().read(Address::new(start), &mut held));
    held
}

/// The vertices that `VFD_FETCH[0]` shows are those of `show --mesh`, by their index.
#[test]
fn a_vertex_buffer_is_shown_in_its_layout() {
    let path = capture("cube");
    let found = memory("cube", &["VFD_FETCH[0]+768", "--draw", "f1"]);
    let shown = json(&["show", &path, "--draw", "f1", "--json"]);
    let input = &shown["vertex_inputs"][0];
    assert_eq!(found["address"], input["address"]);
    assert_eq!(found["form"], input["format"]);
    let rows = list(&found, "rows");
    assert_eq!(rows.len() as u64, 768 / number(input, "stride"));
    let mesh = printed(&["show", &path, "--draw", "f1", "--mesh", "-"]);
    let mut lines = mesh.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let [index, x] = ["index", "in0.x"].map(column);
    let mut count = 0;
    for line in lines {
        let row = &rows[line[index].parse::<usize>().unwrap()];
        let values: Vec<f32> =
            list(row, "values").iter().map(|it| it.as_str().unwrap().parse().unwrap()).collect();
        let wanted: Vec<f32> = line[x..x + 3].iter().map(|it| it.parse().unwrap()).collect();
        assert_eq!(values, wanted);
        assert_eq!(row["element"].as_str(), Some(line[index]));
        count += 1;
    }
    assert_eq!(count, 36);
}

/// What a dispatch stored is what `memory --changed` finds, and it was not there before.
#[test]
fn changes_of_a_dispatch_are_those_that_show_names() {
    let path = capture("compute");
    let shown = json(&["show", &path, "--draw", "f0", "--json"]);
    let written = list(&shown, "written");
    assert!(written.iter().filter(|it| it["by"].is_null()).count() > 1);
    // The packets behind the dispatch store later.
    for it in written.iter().filter(|it| it["by"].is_null()) {
        let place = format!("{:#x}+{}", number(it, "address"), number(it, "bytes"));
        let after = memory("compute", &[&place, "--draw", "f0", "--changed", "f0"]);
        assert_eq!(number(&after, "changed"), number(it, "changed"), "{place}");
        assert!(
            list(&after, "rows").iter().all(|row| row["before"].is_array() && row["before"] != row["values"])
        );
        let before = memory("compute", &[&place, "--draw", "f0", "--before", "--changed", "f0"]);
        assert_eq!((number(&before, "changed"), list(&before, "rows").len()), (0, 0), "{place}");
        let word = &list(it, "words")[0];
        let one = memory("compute", &[&format!("{:#x}+4", number(word, "address")), "--draw", "f0"]);
        assert_eq!(one["rows"][0]["values"][0], format!("{:08x}", number(word, "after")));
        let users = memory("compute", &[&place, "--who"]);
        let is_it = |user: &&Value| user["access"] == "written" && user["by"] == it["what"];
        let user = list(&users, "users").iter().find(is_it).unwrap_or_else(|| panic!("{users}"));
        assert_eq!(user["frame_draw"], 0);
    }
}

/// Each use is named by the descriptor, and holds for what `show` says.
#[test]
fn users_are_named_by_slot_and_register() {
    let path = capture("cubemap");
    let draws = json(&["show", &path, "--json"]);
    let has_texture = |row: &&Value| !list(row, "textures").is_empty() && row["pass"] == "gmem";
    let draw = format!("f{}", number(list(&draws, "rows").iter().find(has_texture).unwrap(), "frame_draw"));
    let texture = memory("cubemap", &["texture FS 0+16", "--draw", &draw, "--who"]);
    let by: Vec<&str> = list(&texture, "users").iter().map(|user| user["by"].as_str().unwrap()).collect();
    assert!(by.contains(&"FS texture 0") && by.contains(&"the capture"), "{by:?}");
    for (place, wanted) in [
        ("indices", "indices"),
        ("vertex 0+4", "vertex input 0"),
        ("program FS+8", "CP_LOAD_STATE4 (FS program)"),
        ("RB_COPY_DEST_BASE", "resolve of target 0"),
    ] {
        let arguments = [place, "--draw", "f1", "--who"];
        let arguments = if place.starts_with("RB") { &arguments[..1] } else { &arguments[..3] };
        let users = memory("cube", &[arguments, &["--who"]].concat());
        let uses: Vec<&str> = list(&users, "users").iter().map(|user| user["by"].as_str().unwrap()).collect();
        assert!(uses.contains(&wanted), "{place}: {uses:?}");
    }
    let commands = json(&["show", &capture("cube"), "--draw", "f1", "--json"]);
    let packet = format!("{:#x}+4", number(&commands, "packet"));
    let users = memory("cube", &[&packet, "--who"]);
    assert!(
        list(&users, "users").iter().any(|user| user["by"] == "the command processor (packets)"),
        "{users}"
    );
    let nobody = memory("cube", &["0x10+16", "--who"]);
    assert_eq!(list(&nobody, "users").len(), 0);
}

#[test]
fn missing_memory_is_missing_and_not_zero() {
    let path = capture("cube");
    let info = json(&["show", &path, "--draw", "f1", "--json"]);
    let address = number(&info["shaders"][0], "address");
    let start = format!("{:#x}+16", address - 8);
    let found = memory("cube", &[&start]);
    let missing = list(&found, "missing");
    // The buffer of the program begins at its address, and the one before it ends there or not.
    let is_held =
        memory("cube", &[&format!("{:#x}+8", address - 8)])["missing"].as_array().unwrap().is_empty();
    assert_eq!(missing.is_empty(), is_held);
    let nowhere = memory("cube", &["0x1000+64"]);
    assert_eq!(
        (number(&nowhere["missing"][0], "address"), number(&nowhere["missing"][0], "bytes")),
        (0x1000, 64)
    );
    assert_eq!(list(&nowhere, "rows").len(), 0);
    let text = printed(&["memory", &path, "0x1000+64"]);
    assert!(text.contains("64 bytes are missing"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bytes");
    let refused = a4emu(&["memory", &path, "0x1000+64", "--out", out.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("64 of the 64 bytes are not in the capture"));
    assert!(!out.exists());
}

#[test]
fn a_file_has_the_bytes_and_is_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.rd.gz");
    fs::copy(capture("cube"), &path).unwrap();
    let (path, out) = (path.to_str().unwrap(), folder.path().join("bytes"));
    let found = json(&["memory", path, "RB_COPY_DEST_BASE", "--json"]);
    let (start, bytes) = (number(&found, "address"), number(&found, "bytes") as usize);
    printed(&["memory", path, "RB_COPY_DEST_BASE", "--out", out.to_str().unwrap()]);
    let expected = at_the_end("cube", start, bytes);
    assert!(fs::read(&out).unwrap() == expected && expected.iter().any(|byte| *byte != 0));
    let refused = a4emu(&["memory", path, "RB_COPY_DEST_BASE", "--out", path]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(fs::read(path).unwrap() == fs::read(capture("cube")).unwrap());
}

#[test]
fn wrong_questions_say_what_to_write() {
    let path = capture("cube");
    for (arguments, says) in [
        (&["texture FS 0"][..], "say which with --draw"),
        (&["texture FS 9", "--draw", "f1"], "draw f1 has no FS texture 9"),
        (&["target 0", "--draw", "f1"], "in tile memory"),
        (&["nothing"], "names no memory"),
        (&["0x1000", "--as", "nothing"], "is none of words"),
        (&["0x1000", "--as", "vertex 0"], "say which with --draw"),
        (&["0x1000", "--draw", "f99"], "no draw f99"),
        (&["0x1000", "--draw", "f0", "--changed", "f3"], "behind the draw"),
        (&["0x1000+1000M"], "more than the"),
    ] {
        let output = a4emu(&[&["memory", &path][..], arguments].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.contains(says), "{arguments:?}: {stderr}");
    }
}
