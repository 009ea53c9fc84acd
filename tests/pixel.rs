//! `a4emu pixel`: the history of a pixel ends with the colour in the frame, and every verdict has a draw that
//! shows it.

mod captures;
mod picture;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use captures::{own, root, shared};
use libtest_mimic::{Arguments, Failed, Trial};
use picture::Picture;
use serde_json::Value;
use tempfile::TempDir;

/// Number of pixels tested in each capture.
const PIXELS: usize = 200;

fn a4emu() -> Command {
    Command::new(env!("CARGO_BIN_EXE_a4emu"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// The objects that `pixel` prints for `arguments`.
fn histories(capture: &Path, arguments: &[String]) -> Vec<Value> {
    let done = a4emu().args(["pixel", text(capture), "--json", "-q"]).args(arguments).assert();
    let out = String::from_utf8(done.get_output().stdout.clone()).expect("text");
    out.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// The picture of `replay --png` for a capture.
fn replayed(capture: &Path) -> Picture {
    let folder = TempDir::new().expect("a folder");
    let png = folder.path().join("frame.png");
    a4emu().args(["replay", text(capture), "--png", text(&png), "-q"]).assert().success();
    Picture::read(&png)
}

/// A colour of a history as bytes of a picture.
fn shown(color: &Value) -> [u8; 4] {
    let byte = |component: &Value| match component.as_u64() {
        Some(integer) => integer.min(255) as u8,
        None => (component.as_f64().unwrap_or(0.0).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8,
    };
    std::array::from_fn(|c| byte(&color[c]))
}

/// Pseudo-random positions, equal in each run.
fn positions([width, height]: [u32; 2]) -> Vec<[u32; 2]> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |end: u32| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as u32 % end
    };
    (0..PIXELS).map(|_| [below(width), below(height)]).collect()
}

/// For many pixels of `capture`: the last colour of the history and the reported value equal the frame's, and
/// each event starts with the result of the one before.
fn check_frame(capture: &Path) -> Result<(), Failed> {
    let picture = replayed(capture);
    let at = positions(picture.size.map(|side| side as u32));
    let arguments: Vec<String> = at.iter().map(|[x, y]| format!("{x},{y}")).collect();
    let histories = histories(capture, &arguments);
    if histories.len() != PIXELS {
        return Err(format!("{} histories of {PIXELS} pixels", histories.len()).into());
    }
    for (at, history) in at.into_iter().zip(histories) {
        let events = history["events"].as_array().expect("a list");
        let drawn: Vec<&Value> =
            events.iter().filter(|event| event["after"].get("color").is_some()).collect();
        for pair in drawn.windows(2) {
            let (left, found) = (&pair[0]["after"]["color"], &pair[1]["before"]["color"]);
            if left != found && pair[0]["pass"] == pair[1]["pass"] {
                return Err(format!("{at:?}: {left} became {found} between {pair:?}").into());
            }
        }
        let last = drawn.last().map(|event| shown(&event["after"]["color"]));
        let frame: [u8; 4] = picture.pixel(at.map(|side| side as usize)).try_into()?;
        let value = shown(&history["value"]);
        if value != frame || last.is_some_and(|last| last != frame) || last.is_none() {
            return Err(format!("{at:?}: the frame has {frame:?}, {value:?} is said, left {last:?}").into());
        }
    }
    Ok(())
}

/// Every verdict on a primitive occurs.
fn check_verdicts() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let capture = folder.path().join("verdicts.rd");
    let source = root().join("captures/verdicts.a4");
    a4emu().args(["asm", text(&source), "-o", text(&capture)]).assert().success();
    let history = &histories(&capture, &["10,10".into()])[0];
    let events = history["events"].as_array().expect("a list");
    let verdicts: Vec<&str> = events.iter().map(|event| event["verdict"].as_str().unwrap_or("")).collect();
    let want = ["written", "scissored", "culled", "killed", "alpha", "stencil", "depth", "masked", "written"];
    assert_eq!(verdicts, want);
    let draws: Vec<u64> = events.iter().filter_map(|event| event["draw"].as_u64()).collect();
    assert_eq!(draws, (0..9).collect::<Vec<u64>>());
    assert_eq!(events[3]["why"]["instruction"], 4);
    let why = |n: usize| {
        let Value::Object(why) = &events[n]["why"] else { panic!("{}", events[n]) };
        (why["func"].clone(), why["value"].as_f64(), why["against"].as_f64())
    };
    assert_eq!(why(4), ("GREATER".into(), Some(0.25), Some(0.501_960_8)));
    assert_eq!(why(5), ("EQUAL".into(), Some(6.0), Some(5.0)));
    assert_eq!((why(6).0, why(6).1), ("LESS".into(), Some(0.75)));
    let stencil =
        |n: usize| (events[n]["before"]["stencil"].as_u64(), events[n]["after"]["stencil"].as_u64());
    assert_eq!(
        [stencil(0), stencil(5), stencil(6)],
        [(Some(0), Some(5)), (Some(5), Some(4)), (Some(4), Some(4))]
    );
    let same = events[1..8].iter().all(|event| event["before"].get("color") == event["after"].get("color"));
    assert!(same, "only what is written changes a colour");
    assert_eq!(shown(&history["value"]), [192, 128, 191, 128]);
    // Inside of the scissor, the primitive is written.
    assert_eq!(histories(&capture, &["2,2".into()])[0]["events"][1]["verdict"], "written");
    Ok(())
}

/// Assembles `source` in `folder`.
fn assembled(folder: &TempDir, name: &str, source: &str) -> PathBuf {
    let (text_file, capture) = (folder.path().join(name).with_extension("a4"), folder.path().join(name));
    let include = root().join("captures");
    fs::write(&text_file, source.replace("CAPTURES", text(&include))).expect("a source");
    a4emu()
        .args(["asm", "--include", text(&include), text(&text_file), "-o", text(&capture)])
        .assert()
        .success();
    capture
}

/// A draw to a target, a compute shader that then stores to pixel 3,0, and a packet that writes pixel 5,0.
const STORES: &str = r#"include "CAPTURES/setup.a4i"
gpu_id 420
buffer target @ 0x1010000 { words 11111111 22222222 33333333 44444444 55555555 66666666
    zero 1000 }
buffer corners @ 0x1030000 { f32 -1.0, 1.0, 1.0, -1.0 }
buffer vs @ 0x1040000 size 128 { shader {
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
} }
buffer fs @ 0x1050000 size 128 { shader {
    (rpt3)mov.f32f32 r0.x, (r)c0.x
    end
} }
buffer cs @ 0x1060000 size 256 { shader {
    mov.u32u32 r1.x, 0x101000c
    mov.u32u32 r1.y, 0xff804020
    (rpt5)nop
    stg.u32 g[r1.x], r1.y, 1
    end
} }
buffer main @ 0x1070000 {
    use frame(target, 16, 16)
    GRAS_SC_WINDOW_SCISSOR_TL { X = 2 | Y = 0 }
    use program(vs, fs, r0.x, r0.x)
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    load FS.constants { f32 1.0, 1.0, 1.0, 1.0 }
    use draw(DI_PT_RECTLIST, 2)
    SP_CS_CTRL_REG0 { THREADMODE = MULTI | FULLREGFOOTPRINT = 4 | THREADSIZE = TWO_QUADS }
    SP_CS_LENGTH_REG = groups(cs)
    SP_CS_OBJ_START = cs
    HLSQ_CS_CONTROL_REG { ENABLED | INSTRLENGTH = groups(cs) }
    HLSQ_CL_NDRANGE_0 { KERNELDIM = 3 | LOCALSIZEX = 0 | LOCALSIZEY = 0 | LOCALSIZEZ = 0 }
    HLSQ_CL_CONTROL_0 { LOCALIDREGID = r0.x }
    load CS.shader from cs
    CP_EXEC_CS(0, NGROUPS_X = 1, NGROUPS_Y = 1, NGROUPS_Z = 1)
    CP_MEM_WRITE(target + 20, 0xff0000ff)
}
submit main
"#;

/// The writer of a pixel is named: a draw, a dispatch or a packet.
fn check_writers() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let capture = assembled(&folder, "stores.rd", STORES);
    let at: Vec<String> = ["1,0", "2,0", "3,0", "5,0", "2,1"].map(String::from).into();
    let histories = histories(&capture, &at);
    let writers: Vec<&Value> = histories.iter().map(|history| &history["writer"]).collect();
    let writer = |kind: &str, draw: Option<u32>| match draw {
        Some(draw) => serde_json::json!({"kind": kind, "submit": 0, "draw": draw}),
        None => serde_json::json!({"kind": kind, "submit": 0}),
    };
    let want = [
        writer("contents", None),
        writer("draw", Some(0)),
        writer("store", Some(1)),
        writer("packet", None),
        writer("draw", Some(0)),
    ];
    assert_eq!(writers, want.iter().collect::<Vec<_>>());
    let events = histories[2]["events"].as_array().expect("a list");
    let verdicts: Vec<&str> = events.iter().map(|event| event["verdict"].as_str().unwrap_or("")).collect();
    assert_eq!(verdicts, ["written", "stored"]);
    let of = |side: &str| shown(&events[1][side]["color"]);
    assert_eq!((of("before"), of("after")), ([255; 4], [0x20, 0x40, 0x80, 0xff]));
    assert_eq!((&events[1]["draw"], &events[1]["pass"]), (&1.into(), &"compute".into()));
    let out = a4emu().args(["pixel", text(&capture), "1,0", "3,0", "5,0"]).assert().success();
    let out = String::from_utf8(out.get_output().stdout.clone())?;
    for says in [
        "written by the capture's contents, submit 0\n",
        "compute  stored    colour (1.0000 1.0000 1.0000 1.0000) -> (0.1255 0.2510 0.5020 1.0000)\n",
        "written by a store of draw 1 of submit 0\n",
        "written by a packet of submit 0: not what the last of these left\n",
    ] {
        assert!(out.contains(says), "{says}: {out}");
    }
    Ok(())
}

/// Two overlapping triangles whose shaders store. Each fragment's colour is a number from the stored data.
const STORING: &str = r#"include "CAPTURES/setup.a4i"
gpu_id 420
const SIZE = 32
buffer target @ 0x1010000 { zero SIZE * SIZE * 4 }
buffer store @ 0x30000000 { zero 4096 }
buffer corners @ 0x1030000 { f32 -1.0, 1.0, 0.9, 1.0, -1.0, -0.8, 0.7, 0.9, -0.9, 0.3, 0.9, -0.9 }
buffer vs @ 0x1040000 size 256 { shader {
VERTEX
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
} }
buffer fs @ 0x1050000 size 512 { shader {
FRAGMENT
    // The number in r3.x as a colour.
    (sy)and.b r3.y, r3.x, 255
    shr.b r3.z, r3.x, 8
    (rpt3)nop
    cov.u32f32 r3.y, r3.y
    cov.u32f32 r3.z, r3.z
    (rpt3)nop
    mul.f r0.x, r3.y, c0.x
    mul.f r0.y, r3.z, c0.x
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    (rpt5)nop
    end
} }
buffer main @ 0x1070000 {
    use frame(target, SIZE, SIZE)
    use program(vs, fs, r0.x, r0.x)
    HLSQ_CONTROL_1_REG { VSTHREADSIZE = TWO_QUADS | VSSUPERTHREADENABLE | COORDREGID = r1.x | ZWCOORDREGID = r63.x }
    use attribute(0, corners, 48, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    load FS.constants { f32 0.003921569, 0.0, 0.0, 0.0 }
    load SSBO.descriptors { SSBO_0_0 { BASE = store } SSBO_0_1 { PITCH = 64 } SSBO_0_2 { 0 } SSBO_0_3 { CPP = 4 } }
    load SSBO.sizes { SSBO_1_0 { CPP = 4 | FMT = RB4_R32_UINT | WIDTH = 16 } SSBO_1_1 { HEIGHT = 16 | DEPTH = 1 } }
    use draw(DI_PT_TRILIST, 6)
}
submit main
"#;

/// Gives each fragment, or vertex, the next number.
const NEXT: &str = r"    mov.u32u32 r2.y, 1
    mov.u32u32 r2.z, 0
    mov.u32u32 r2.w, 0x30000000
    (rpt5)nop
    atomic.s.add.untyped.4d.u32.1.g r3.x, g[0], r2.y, r2.z, r2.w";

/// Has the address of one of 16 dwords, which many pixels share, in r2.w, and its place in r1.xy.
const PLACE: &str = r"    shr.b r1.x, r1.x, 4
    shr.b r1.y, r1.y, 4
    (rpt5)nop
    and.b r1.x, r1.x, 3
    and.b r1.y, r1.y, 3
    (rpt5)nop
    shl.b r1.z, r1.y, 6
    shl.b r1.w, r1.x, 2
    (rpt5)nop
    add.u r1.z, r1.z, r1.w
    mov.u32u32 r2.x, 0x30000000
    (rpt5)nop
    add.u r2.w, r2.x, r1.z
    (rpt5)nop";

/// Name, vertex shader and fragment shader of each kind of [`STORING`].
const KINDS: [(&str, &str, &str); 7] = [
    ("counter", r"", r"NEXT"),
    (
        "killed",
        r"",
        r"NEXT
    (sy)and.b r4.x, r3.x, 1
    (rpt5)nop
    cmps.s.eq p0.x, r4.x, 1
    (rpt5)nop
    kill p0.x",
    ),
    (
        "pointer",
        r"",
        r"PLACE
    ldg.u32 r3.x, g[r2.w], 1
    (sy)add.u r3.x, r3.x, 7
    (rpt5)nop
    stg.u32 g[r2.w], r3.x, 1
    (rpt5)nop
    ldg.u32 r3.x, g[r2.w], 1",
    ),
    (
        "buffer",
        r"",
        r"PLACE
    mov.u32u32 r2.z, 0
    (rpt5)nop
    ldgb.untyped.4d.u32.1 r3.x, g[0], r2.w, r2.z
    (sy)add.u r3.x, r3.x, 5
    (rpt5)nop
    stgb.untyped.4d.u32.1 g[0], r3.x, r2.z, r2.w",
    ),
    (
        "image",
        r"",
        r"PLACE
    ldgb.typed.2d.u32.1 r3.x, g[0], r2.w, r1.x
    (sy)add.u r3.x, r3.x, 3
    (rpt5)nop
    stib.typed.2d.u32.1 g[0], r3.x, r1.x, r2.w
    (rpt5)nop
    ldgb.typed.2d.u32.1 r3.x, g[0], r2.w, r1.x",
    ),
    (
        "private",
        r"",
        r"    mov.u32u32 r2.x, 8
    mov.u32u32 r2.y, 77
    (rpt5)nop
    stp.u32 p[r2.x], r2.y, 1
    (rpt5)nop
    ldp.u32 r3.x, p[r2.x], 1
    (sy)add.u r3.x, r3.x, 1
    (rpt5)nop",
    ),
    (
        "vertices",
        r"    mov.u32u32 r2.x, 0x30000000
    mov.u32u32 r2.y, 1
    mov.u32u32 r2.z, 0
    (rpt5)nop
    atomic.s.add.untyped.4d.u32.1.g r3.x, g[0], r2.y, r2.z, r2.x",
        r"    mov.u32u32 r2.x, 0x30000000
    (rpt5)nop
    ldg.u32 r3.x, g[r2.x], 1",
    ),
];

/// Inspecting pixels of a draw that stores shows the colours of the frame. A debugger session on their
/// fragments shows them too.
fn check_stores((name, vertex, fragment): (&str, &str, &str)) -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let parts = [("VERTEX", vertex), ("FRAGMENT", fragment), ("NEXT", NEXT), ("PLACE", PLACE)];
    let source = parts.iter().fold(STORING.to_owned(), |source, (part, text)| source.replace(part, text));
    let capture = assembled(&folder, "storing.rd", &source);
    let picture = replayed(&capture);
    let at: Vec<[usize; 2]> = (0..32).flat_map(|y| (0..32).map(move |x| [x, y])).collect();
    let arguments: Vec<String> = at.iter().map(|[x, y]| format!("{x},{y}")).collect();
    let (mut colours, mut twice) = (std::collections::BTreeSet::new(), 0);
    for (at, history) in at.iter().zip(histories(&capture, &arguments)) {
        let events = history["events"].as_array().expect("a list");
        let left = events.last().map_or([0; 4], |event| shown(&event["after"]["color"]));
        let frame: [u8; 4] = picture.pixel(*at).try_into()?;
        assert_eq!((left, shown(&history["value"])), (frame, frame), "{name} {at:?}: {history}");
        twice += usize::from(events.len() == 2);
        if let Some(last) = events.last().filter(|event| event["verdict"] == "written") {
            colours.insert(frame);
            if (at[0] + 3 * at[1]) % 32 != 0 {
                continue;
            }
            assert_eq!(stepped(&capture, *at), shown(&last["output"]), "{name} {at:?}");
        }
    }
    assert!(twice > 20, "{twice} pixels with two fragments");
    let alike = matches!(name, "private" | "vertices");
    assert!(alike || colours.len() > 20, "{} colours", colours.len());
    let (mesh, after) = (folder.path().join("mesh.ply"), folder.path().join("after.png"));
    let show = ["show", text(&capture), "--draw", "0", "--mesh", text(&mesh), "--after", text(&after), "-q"];
    a4emu().args(show).assert().success();
    assert_eq!(Picture::read(&after), picture, "{name}: what is shown of vertices changes nothing");
    Ok(())
}

/// The colour at the end of a debugger session on the last fragment of a pixel.
fn stepped(capture: &Path, [x, y]: [usize; 2]) -> [u8; 4] {
    let at = format!("{x},{y}");
    let arguments = ["debug", text(capture), "--draw", "0", "--stage", "fs", "--pixel", &at, "-q"];
    let done = a4emu().args(arguments).write_stdin("c\nr r0\n").assert().success();
    let out = String::from_utf8(done.get_output().stdout.clone()).expect("text");
    let words: Vec<&str> = out.lines().last().expect("a register").split_whitespace().collect();
    let float = |c: usize| f32::from_bits(u32::from_str_radix(words[1 + 2 * c], 16).expect("bits"));
    std::array::from_fn(|c| (float(c).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8)
}

/// A shader that uses barycentrics in part of its colour could be mistaken for one with a constant colour.
fn check_barycentrics() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    let clear = "(rpt3)mov.f32f32 r0.x, (r)c0.x";
    for shader in
        ["(rpt2)mov.f32f32 r0.y, (r)c0.x", "mul.f r0.y, r0.x, c0.x\n(rpt5)nop\nmov.f32f32 r0.x, c0.x"]
    {
        let capture = assembled(&folder, "inputs.rd", &STORES.replace(clear, shader));
        let picture = replayed(&capture);
        let mut frames = std::collections::BTreeSet::new();
        let at = [[4, 4], [9, 4], [12, 13]];
        for (at, history) in at.iter().zip(histories(&capture, &at.map(|[x, y]| format!("{x},{y}")))) {
            let frame: [u8; 4] = picture.pixel(*at).try_into()?;
            assert_eq!(shown(&history["events"][0]["after"]["color"]), frame, "{shader}: {at:?}");
            frames.insert(frame);
        }
        assert_eq!(frames.len(), 3, "{shader}: {frames:?}");
    }
    Ok(())
}

/// Invalid questions, and a capture on stdin.
fn check_questions() -> Result<(), Failed> {
    let capture = own("triangle");
    let refused = |arguments: &[&str], says: &str| {
        let done = a4emu().arg("pixel").args(arguments).assert().code(2);
        let stderr = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
    };
    refused(&[text(&capture), "256,0"], "outside of the 256x256 surface");
    refused(&[text(&capture), "1,2", "--surface", "0x10"], "no surface at 0x10 was rendered; there are 0x");
    refused(&[text(&capture), "1;2"], "is not X,Y");
    refused(&[text(&capture)], "<X,Y>");
    let ask = |from: &str, stdin: Vec<u8>| {
        a4emu()
            .args(["pixel", from, "128,128"])
            .write_stdin(stdin)
            .assert()
            .success()
            .get_output()
            .stdout
            .clone()
    };
    let piped = ask("-", fs::read(&capture)?);
    assert_eq!(piped, ask(text(&capture), Vec::new()));
    assert!(String::from_utf8(piped)?.contains("written   primitive 0"));
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("every_verdict_has_a_draw", check_verdicts),
        Trial::test("what_has_no_answer_is_refused", check_questions),
        Trial::test("barycentrics_are_no_constants", check_barycentrics),
        Trial::test("whoever_wrote_a_pixel_is_named", check_writers),
    ];
    trials.extend(
        KINDS.map(|kind| Trial::test(format!("a_shader_that_stores_{}", kind.0), move || check_stores(kind))),
    );
    let own =
        ["attribs", "blend", "clip", "cube", "depth", "fbo", "instanced", "many", "mrt", "points"].map(own);
    let theirs = [
        "scenes/scissor",
        "scenes/stencil",
        "scenes/shadow",
        "scenes/mipmap",
        "scenes/wrap",
        "scenes/torus",
        "scenes/lines",
        "glmark2/build-720p",
        "glmark2/shadow",
        "glmark2/ideas",
        "glmark2/desktop-blur",
        "glmark2/jellyfish",
        "games/neverball",
        "games/etr",
    ];
    let theirs = theirs.map(shared);
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    for capture in own.into_iter().chain(theirs) {
        let there = capture.exists();
        let name = capture.file_name().map_or_else(String::new, |name| name.display().to_string());
        let name = if there { name } else { format!("{name} (no {})", capture.display()) };
        trials.push(Trial::test(name, move || check_frame(&capture)).with_ignored_flag(!there && !is_ci));
    }
    libtest_mimic::run(&arguments, trials).exit();
}
