//! `a4emu debug`: sessions on draws and dispatches of captures.

use std::path::PathBuf;

use assert_cmd::Command;

/// stdout, stderr and exit status of a session.
pub(crate) fn session(capture: &str, arguments: &[&str], commands: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["debug", capture]).args(arguments);
    let output = command.write_stdin(commands).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// A capture assembled from a source in captures/geometry.
fn assembled(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.rd");
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(["asm", "--include", "captures", "-o"]).arg(&out);
    command.arg(format!("captures/geometry/{name}.a4")).assert().success();
    (folder, out)
}

/// The four values on an output line for a register.
fn register(line: &str) -> [f32; 4] {
    let words: Vec<&str> = line.split_whitespace().collect();
    std::array::from_fn(|i| f32::from_bits(u32::from_str_radix(words[1 + 2 * i], 16).unwrap()))
}

/// The pixel of the golden frame.
fn golden_pixel(x: usize, y: usize) -> [u8; 4] {
    let frame = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/triangle/frame.png");
    let file = std::io::BufReader::new(std::fs::File::open(frame).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let at = y * info.line_size + 4 * x;
    std::array::from_fn(|c| bytes[at + c])
}

#[test]
fn a_fragment_ends_with_the_colour_of_its_pixel() {
    for (draw, pixel, [x, y]) in [("1", "100,100", [100, 100]), ("f1", "131,90", [131, 90])] {
        let arguments = ["--draw", draw, "--stage", "FS", "--pixel", pixel];
        let (out, err, status) = session("captures/triangle.rd.gz", &arguments, "c\nr r0\nr r1\n");
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with("   0  bary.f r0.z, 0, r0.x   [lanes 0x"), "{out}");
        assert_eq!(lines[1], "ended");
        let (r0, r1) = (register(lines[2]), register(lines[3]));
        let color = [r0[2], r0[3], r1[0], r1[1]].map(|c| (c * 255.0).round() as u8);
        assert_eq!(color, golden_pixel(x, y), "{out}");
        assert_eq!(status, Some(0));
        assert!(err.contains(&format!("pixel {pixel}")), "{err}");
    }
}

#[test]
fn vertices_begin_with_their_attributes() {
    let arguments = ["--draw", "1", "--stage", "vs", "--vertex", "1"];
    let (out, _, status) = session("captures/triangle.rd.gz", &arguments, "r r0\nl 2\nr r0\nq\n");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "   0  mov.u32u32 r0.z, 0   [lanes 0x00000007]");
    assert_eq!(register(lines[1])[..2], [0.8, -0.7], "vertex 1, as in captures/scenes.c");
    assert_eq!(register(lines[3])[..2], [0.0, 0.9], "vertex 2");
    assert_eq!(status, Some(0));
}

#[test]
fn invalid_session_targets_are_refused() {
    let wrong: [&[&str]; 14] = [
        &["--stage", "fs"],
        &["--draw", "1"],
        &["--stage", "fs", "--draw", "99"],
        &["--stage", "fs", "--draw", "0..2"],
        &["--stage", "fs", "--draw", "1", "--pixel", "0,0"],
        &["--stage", "fs", "--draw", "f1", "--pixel", "9999,0"],
        &["--stage", "fs", "--draw", "1", "--pixel", "100,100", "--primitive", "7"],
        &["--stage", "fs", "--draw", "1", "--warp", "100000"],
        &["--stage", "fs", "--draw", "1", "--vertex", "1"],
        &["--stage", "vs", "--draw", "1", "--warp", "1"],
        &["--stage", "vs", "--draw", "1", "--vertex", "3"],
        &["--stage", "vs", "--draw", "1", "--pixel", "1,1"],
        &["--stage", "gs", "--draw", "1"],
        &["--stage", "cs", "--draw", "1"],
    ];
    for arguments in wrong {
        let (out, err, status) = session("captures/triangle.rd.gz", arguments, "");
        assert_eq!((out.as_str(), status), ("", Some(2)), "{arguments:?}: {err}");
        assert!(err.contains("a4emu: ") || err.starts_with("error: "), "{arguments:?}: {err}");
    }
}

/// If several primitives cover a pixel, all are listed, and each can be selected.
#[test]
fn the_primitive_of_a_pixel_can_be_chosen() {
    let at = |more: &[&str]| {
        let mut arguments = vec!["--draw", "1", "--stage", "fs", "--pixel", "128,40"];
        arguments.extend(more);
        session("captures/torus.rd.gz", &arguments, "")
    };
    let (_, err, status) = at(&["--primitive", "0"]);
    let listed = err.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let covering: Vec<&str> = listed.split(", ").collect();
    assert!(covering.len() > 1 && status == Some(2), "{err}");
    let (_, last, _) = at(&[]);
    assert!(last.contains(&format!("primitive {} of", covering[covering.len() - 1])), "{last}");
    let (_, first, status) = at(&["--primitive", covering[0]]);
    assert!(first.contains(&format!("primitive {} of", covering[0])) && status == Some(0), "{first}");
}

/// `pixel` and `debug` number primitives in one way: by their order in the draw, also if some are culled or
/// clipped into several.
#[test]
fn primitives_have_the_numbers_that_pixel_gives_them() {
    let places = [("cube", "128,128"), ("torus", "128,40"), ("clip", "128,128"), ("clip", "200,60")];
    let mut culled = 0;
    for (name, pixel) in places {
        let capture = format!("captures/{name}.rd.gz");
        let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["pixel", &capture, pixel, "--json"]);
        let answer: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let of_draw = answer["events"].as_array().unwrap().iter().filter(|event| event["draw"] == 1);
        let (gone, seen): (Vec<_>, Vec<_>) = of_draw.partition(|event| event["verdict"] == "culled");
        culled += gone.len();
        let numbers: Vec<u64> = seen.iter().map(|event| event["primitive"].as_u64().unwrap()).collect();
        let at = ["--draw", "1", "--stage", "fs", "--pixel", pixel];
        let (_, err, status) = session(&capture, &[&at[..], &["--primitive", "999999"]].concat(), "");
        assert!(err.contains(&format!("these do: {numbers:?}\n")), "{name} {pixel}: {numbers:?}: {err}");
        assert_eq!(status, Some(2));
        for number in numbers {
            let number = number.to_string();
            let (_, err, status) = session(&capture, &[&at[..], &["--primitive", &number]].concat(), "");
            assert!(err.starts_with(&format!("primitive {number}")) && status == Some(0), "{name}: {err}");
        }
    }
    assert!(culled > 0);
}

#[test]
fn a_texture_that_is_sampled_is_shown_with_what_came_back() {
    let arguments = ["--draw", "2", "--stage", "fs", "--pixel", "60,60"];
    let (out, _, _) = session("captures/mipmap.rd.gz", &arguments, &"s\n".repeat(40));
    let shown = out.lines().find(|line| line.contains("texture 0, sampler 0 at (")).expect(&out);
    assert!(shown.contains(") -> (") && shown.matches(", ").count() >= 4, "{shown}");
}

/// Every stage can be stepped to its end. Stepping back and forth gives equal outputs.
#[test]
fn all_stages_can_be_stepped_through() {
    let (_folder, capture) = assembled("tess-gs");
    let capture = capture.to_string_lossy();
    let places: [&[&str]; 6] = [
        &["vs", "--vertex", "1"],
        &["hs", "--invocation", "0,1"],
        &["ds", "--vertex", "2"],
        &["gs", "--invocation", "0,0,1"],
        &["gs", "--warp", "0"],
        &["fs", "--warp", "3"],
    ];
    for place in places {
        let arguments = [&["--draw", "1", "--stage"], place].concat();
        let (out, err, status) = session(&capture, &arguments, "c\nr\nbs 5\nrc\ns 2\nbs\nc\nr\n");
        assert_eq!(status, Some(0), "{place:?}: {err}");
        let parts: Vec<&str> = out.split("ended\n").collect();
        assert_eq!(parts.len(), 3, "{place:?}: {out}");
        assert!(parts[1].starts_with(parts[2]) && !parts[2].is_empty(), "{place:?}: {out}");
    }
}

#[test]
fn an_invocation_of_a_dispatch_is_found_by_its_id() {
    let ids = |id: &str| {
        let arguments = ["--draw", "0", "--stage", "cs", "--invocation", id];
        let (out, err, status) = session("captures/compute.rd.gz", &arguments, "i\nc\n");
        assert!(status == Some(0) && out.ends_with("ended\n"), "{out}{err}");
        out.lines().filter(|line| line.starts_with('r')).map(str::to_owned).collect::<Vec<_>>()
    };
    let (first, other) = (ids("8,8,0"), ids("11,13,0"));
    assert!(first != other && first.len() == other.len(), "local ids are inputs: {first:?} {other:?}");
    let arguments = ["--draw", "0", "--stage", "cs", "--invocation", "64,0,0"];
    assert_eq!(session("captures/compute.rd.gz", &arguments, "").2, Some(2));
}

/// `x` shows what `memory` shows, and question marks where the capture holds nothing.
#[test]
fn memory_is_shown_as_the_warp_finds_it() {
    let capture = "captures/cube.rd.gz";
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args([
        "memory",
        capture,
        "VFD_FETCH[0]+16",
        "--draw",
        "f1",
        "--before",
        "--as",
        "words",
        "--json",
    ]);
    let found: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    let address = format!("{:#010x}", found["address"].as_u64().unwrap());
    let words: Vec<&str> =
        found["rows"][0]["values"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let line = format!("{address}  {}", words.join(" "));
    let arguments = ["--draw", "f1", "--stage", "vs", "--vertex", "0"];
    let commands = format!("x {address} 16\nmem {address} 4\nx 0x10 6\nx r99.x\nx {address} many\n");
    let (out, _, status) = session(capture, &arguments, &commands);
    let lines: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(lines[..2], [&*line, &line[..line.len() - 27]], "{out}");
    assert_eq!(lines[2], "0x00000010  ???????? ????");
    assert!(lines[3].contains("is no address") && lines[4].contains("no number of bytes"), "{out}");
    assert_eq!(status, Some(0));
}

/// The memory that a dispatch has stored to is shown as stored, from the step on that did it.
#[test]
fn a_store_shows_in_memory() {
    let arguments = ["--draw", "0", "--stage", "cs", "--invocation", "0,0,0"];
    let (out, _, _) = session("captures/compute.rd.gz", &arguments, &"s\n".repeat(400));
    let store = out
        .lines()
        .find(|line| line.contains(" <- ") && line.contains("g[0x"))
        .unwrap_or_else(|| panic!("{out}"));
    let address = store.split("g[").nth(1).unwrap().split(']').next().unwrap();
    let word = store.rsplit('[').next().unwrap().split([' ', ']']).next().unwrap();
    let commands = format!("x {address} 4\nc\nx {address} 4\n");
    let (out, _, _) = session("captures/compute.rd.gz", &arguments, &commands);
    let shown: Vec<&str> = out.lines().filter(|line| line.starts_with("0x")).collect();
    assert!(shown.len() == 2 && shown[0] != shown[1] && shown[1].ends_with(word), "{word}: {shown:?}");
}
