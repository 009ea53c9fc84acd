//! `a4emu diff`: compares captures with copies that went through `disasm` and `asm` with one change, and with
//! other recordings of the scene.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn a4emu() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// stdout, stderr and exit status.
fn diff(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = a4emu().arg("diff").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// A folder with copies of captures.
struct Copies(tempfile::TempDir);

impl Copies {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Assembles `source` into a capture.
    fn assembled(&self, name: &str, source: &str) -> String {
        let (text, out) = (self.path(name).with_extension("a4"), self.path(name));
        fs::write(&text, source).unwrap();
        a4emu().args(["asm", "--include", "captures"]).arg(&text).arg("-o").arg(&out).assert().success();
        out.to_string_lossy().into_owned()
    }

    /// A copy of `capture` with its text changed by `edit`.
    fn with(&self, capture: &str, edit: impl FnOnce(&str) -> String) -> String {
        let (source, out) = (self.path("source.a4"), self.path("copy.rd"));
        a4emu().args(["disasm", capture, "-o"]).arg(&source).assert().success();
        let text = fs::read_to_string(&source).unwrap();
        let edited = edit(&text);
        assert_ne!(text, edited, "the edit changes something");
        fs::write(&source, edited).unwrap();
        a4emu().arg("asm").arg(&source).arg("-o").arg(&out).assert().success();
        out.to_string_lossy().into_owned()
    }
}

/// A frame of two draws. The first draws to the left half of a small texture that was filled with `rest`. The
/// second samples the middle of its right half.
fn half_a_texture(rest: u32) -> String {
    let words = format!("{rest:x} ").repeat(32 * 32);
    format!(
        r#"include "{}/captures/setup.a4i"
gpu_id 420
buffer texture @ 0x1010000 size 4096 {{ words {words}
}}
buffer target @ 0x1020000 size 1024
buffer corners @ 0x1030000 {{ f32 -1.0, 1.0, 1.0, -1.0 }}
buffer vs @ 0x1040000 size 128 {{ shader {{
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
}} }}
buffer fs @ 0x1050000 size 128 {{ shader {{
    (rpt3)mov.f32f32 r0.x, (r)c0.x
    end
}} }}
buffer fs_texture @ 0x1060000 size 128 {{ shader {{
    mov.f32f32 r1.x, c0.x
    mov.f32f32 r1.y, c0.y
    (rpt5)nop
    sam (f32)(xyzw)r0.x, r1.x, s#0, t#0
    (sy)nop
    end
}} }}
buffer main @ 0x1070000 {{
    use frame(texture, 32, 32)
    GRAS_SC_WINDOW_SCISSOR_BR {{ X = 15 | Y = 31 }}
    use program(vs, fs, r0.x, r0.x)
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    load FS.constants {{ f32 0.75, 0.5, 0.5, 1.0 }}
    use draw(DI_PT_RECTLIST, 2)
    use frame(target, 16, 16)
    use program(vs, fs_texture, r0.x, r0.x)
    load FS.samplers {{ TEX_SAMP_0 {{ 0 }} TEX_SAMP_1 {{ 0 }} }}
    load FS.textures {{
        TEX_CONST_0 {{ SWIZ_Y = A4XX_TEX_Y | SWIZ_Z = A4XX_TEX_Z | SWIZ_W = A4XX_TEX_W | FMT = TFMT4_8_8_8_8_UNORM | TYPE = A4XX_TEX_2D }}
        TEX_CONST_1 {{ HEIGHT = 32 | WIDTH = 32 }}
        TEX_CONST_2 {{ PITCHALIGN = 2 | PITCH = 128 }}
        TEX_CONST_3 {{ 0 }}
        TEX_CONST_4 {{ BASE = texture }}
        TEX_CONST_5 0
        TEX_CONST_6 0
        TEX_CONST_7 0
    }}
    use draw(DI_PT_RECTLIST, 2)
}}
submit main
"#,
        env!("CARGO_MANIFEST_DIR")
    )
}

const CUBE: &str = "captures/cube.rd.gz";

/// Replaces the first `old` after `after` with `new`.
fn behind(text: &str, after: &str, old: &str, new: &str) -> String {
    let start = text.find(after).unwrap_or_else(|| panic!("no {after}"));
    let (before, rest) = text.split_at(start);
    assert!(rest.contains(old), "no {old} behind {after}");
    before.to_owned() + &rest.replacen(old, new, 1)
}

/// The output lines of `diff` for the cube and a copy in which `old` became `new`.
fn changed(after: &str, old: &str, new: &str) -> Vec<String> {
    let copies = Copies::new();
    let copy = copies.with(CUBE, |text| behind(text, after, old, new));
    let (out, err, status) = diff(&[CUBE, &copy]);
    assert_eq!(status, Some(1), "{out}{err}");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn a_changed_vertex_is_named() {
    let lines = changed("buffer b_fff5f000", "f32 1.0, 1.0, -1.0, 1.0,", "f32 1.0, 1.5, -1.0, 1.0,");
    let expected =
        "f1 (gmem TRILIST 36): vertex input 0 vertex 1: (1.0, 1.0, -1.0, 1.0) -> (1.0, 1.5, -1.0, 1.0)";
    assert_eq!(lines, [expected]);
}

#[test]
fn a_changed_index_is_named() {
    let lines = changed("buffer b_fff5e000", "words 10000 20002", "words 10000 20003");
    assert_eq!(lines, ["f1 (gmem TRILIST 36): index 2: 2 -> 3"]);
}

#[test]
fn a_changed_texel_is_named() {
    let lines = changed("buffer b_fff60000", "80002800", "80002864");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("f1 (gmem TRILIST 36): FS texture 0 level 0 texel 0,0: ("), "{lines:?}");
}

/// Neither the draws nor the data that they fetch from the captures differ, only the texel that the first
/// draw leaves alone.
#[test]
fn a_texel_that_was_there_before_the_rest_was_rendered_is_named() {
    let copies = Copies::new();
    let [a, b] = [("a.rd", 0xff20_4060), ("b.rd", 0xff20_4061)]
        .map(|(name, rest)| copies.assembled(name, &half_a_texture(rest)));
    let (out, err, status) = diff(&[&a, &b]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(status, Some(1), "{out}{err}");
    assert!(
        lines[0].starts_with("f1 (bypass RECTLIST 2): FS texture 0 level 0 texel 16,0: (0.37"),
        "{out}{err}"
    );
    assert_eq!(lines.len(), 17, "of 512 texels 16 are told, and a count: {out}");
    assert!(lines[16].contains("and 496 more of it"), "{out}");
    assert_eq!(diff(&[&a, &a]), (String::new(), String::new(), Some(0)));
}

/// If the draw that made the texture differs, that draw is reported, not each texel that depends on it.
#[test]
fn differences_caused_by_another_are_not_reported() {
    let copies = Copies::new();
    let source = half_a_texture(0xff20_4060);
    let a = copies.assembled("a.rd", &source);
    let b = copies.assembled("b.rd", &source.replace("f32 0.75,", "f32 0.25,"));
    let (out, _, status) = diff(&[&a, &b]);
    assert!(out.starts_with("f0 (bypass RECTLIST 2): FS c0.x: 0.75 "), "{out}");
    assert_eq!((out.lines().count(), status), (1, Some(1)), "{out}");
}

/// Both runs of a comparison have an equal budget, so both captures are cut off at one place.
#[test]
fn captures_cut_off_at_one_place_do_not_differ() {
    for work in ["3K", "20K", "60K", "200K", "1M"] {
        let (out, err, status) = diff(&["--max-work", work, "captures/fbo.rd.gz", "captures/fbo.rd.gz"]);
        assert_eq!(out, "", "{work}");
        assert!(status == Some(4) && err.contains("--max-work"), "{work}: {err}");
    }
}

#[test]
fn a_capture_on_stdin_compares_under_its_name() {
    let mut command = a4emu();
    let capture = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(CUBE)).unwrap();
    let same = command.args(["diff", "-", CUBE]).write_stdin(capture).assert().code(0);
    assert!(same.get_output().stdout.is_empty());
    let broken = a4emu().args(["diff", "-", CUBE]).write_stdin("no capture at all").assert().code(3);
    let said = String::from_utf8_lossy(&broken.get_output().stderr).into_owned();
    assert!(said.starts_with("a4emu: -: ") && !said.contains("/tmp"), "{said}");
}

#[test]
fn a_changed_constant_is_named() {
    let lines = changed("load VS.constants {", "f32 1.5260079,", "f32 7.25,");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("f1 (gmem TRILIST 36): VS c0.x: 1.5260079 (0x3fc3"), "{lines:?}");
    assert!(lines[0].ends_with(") -> 7.25 (0x40e80000)"), "{lines:?}");
}

#[test]
fn a_changed_instruction_is_named() {
    let lines = changed("shader_fff5d000", "max.f r0.w, r0.w, (0.0)", "min.f r0.w, r0.w, (0.0)");
    let expected =
        "f1 (gmem TRILIST 36): VS instruction 8: max.f r0.w, r0.w, (0.0) -> min.f r0.w, r0.w, (0.0)";
    assert_eq!(lines, [expected]);
}

/// A selected dispatch is compared by what it stores too; the whole captures are not.
#[test]
fn what_a_selected_dispatch_stores_is_compared() {
    const COMPUTE: &str = "captures/compute.rd.gz";
    let copies = Copies::new();
    let copy = copies.with(COMPUTE, |text| text.replacen("add.u r2.x, r2.x, r1.z", "add.u r2.x, r2.x, 1", 1));
    let (out, err, status) = diff(&[COMPUTE, &copy, "--draw", "f0"]);
    assert_eq!(status, Some(1), "{out}{err}");
    let stored: Vec<&str> = out.lines().filter(|line| line.contains("stored to CS buffer ")).collect();
    let is_value = |line: &&str| line.contains(" +0x") && line.contains(" -> ");
    assert!(stored.iter().any(is_value), "{out}");
    assert!(!diff(&[COMPUTE, &copy]).0.contains("stored to"));
    let (out, err, status) = diff(&[COMPUTE, COMPUTE, "--draw", "f0"]);
    assert_eq!((out.as_str(), status), ("", Some(0)), "{err}");
    // The result of a query is stored by a packet behind the draw.
    let (out, ..) = diff(&["captures/occlusion.rd.gz:f1", "captures/occlusion.rd.gz:f2"]);
    assert!(out.contains("stored to RB_SAMPLE_COUNT_CONTROL.ADDR by CP_EVENT_WRITE +0x0: "), "{out}");
}

#[test]
fn a_changed_register_field_is_named() {
    let lines = changed("", "ZFUNC = FUNC_LESS", "ZFUNC = FUNC_GREATER");
    assert_eq!(lines, ["f1 (gmem TRILIST 36): RB_DEPTH_CONTROL.ZFUNC: FUNC_LESS -> FUNC_GREATER"]);
}

/// A copy in which every buffer has another address, and all pointers to it too.
fn moved(text: &str) -> String {
    let starts = text.lines().filter_map(|line| line.strip_prefix("buffer ")?.split(' ').nth(2));
    let starts: Vec<u32> =
        starts.map(|start| u32::from_str_radix(start.trim_start_matches("0x"), 16).unwrap()).collect();
    let is_address = |value: u32| {
        value != u32::MAX
            && starts.iter().any(|start| (*start..start.saturating_add(0x8000)).contains(&value))
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0xff") {
        let digits = rest[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - at - 2);
        let number = &rest[at + 2..at + 2 + digits];
        let value = u32::from_str_radix(number, 16).unwrap_or(0);
        out += &rest[..at];
        match digits == 8 && is_address(value) {
            true => out += &format!("{:#x}", value - 0x0100_0000),
            false => out += &rest[at..at + 2 + digits],
        }
        rest = &rest[at + 2 + digits..];
    }
    out + rest
}

#[test]
fn buffers_that_lie_elsewhere_are_the_same() {
    for capture in [CUBE, "captures/ubo.rd.gz", "captures/many.rd.gz"] {
        let copies = Copies::new();
        let copy = copies.with(capture, moved);
        let (out, err, status) = diff(&[capture, &copy]);
        assert_eq!((out.as_str(), status), ("", Some(0)), "{capture}: {err}");
        let (out, _, status) = diff(&["--addresses", capture, &copy]);
        assert!(out.contains("SP_VS_OBJ_START: 0xf") && status == Some(1), "{capture}: {out}");
    }
}

#[test]
fn a_capture_is_the_same_as_itself() {
    let (out, _, status) = diff(&[CUBE, CUBE]);
    assert_eq!((out.as_str(), status), ("", Some(0)));
    let (out, _, status) = diff(&["--json", CUBE, CUBE]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (value["same"].as_bool(), value["differences"].as_array().map(Vec::len)),
        (Some(true), Some(0))
    );
    assert_eq!(status, Some(0));
}

#[test]
fn draws_that_one_has_more_of_are_found_and_the_others_still_compare() {
    let (out, _, status) = diff(&["captures/cube.rd.gz", "captures/many.rd.gz"]);
    assert_eq!(status, Some(1));
    assert!(out.lines().any(|line| line.contains(" of B: draw: none -> gmem ")), "{out}");
}

#[test]
fn a_selection_of_nothing_is_no_comparison() {
    let cases: [(&[&str], &str); 4] = [
        (&["--draw", "77", CUBE, CUBE], "no draw 77"),
        (&["--submit", "7", CUBE, CUBE], "no submit 7"),
        (&["captures/cube.rd.gz:77", CUBE], "no draw 77"),
        (&["captures/cube.rd.gz:f1", "captures/nothing.rd"], "nothing.rd"),
    ];
    for (arguments, message) in cases {
        let (out, err, status) = diff(arguments);
        assert_eq!((out.as_str(), status), ("", Some(2)), "{arguments:?}");
        assert!(err.contains(message), "{arguments:?}: {err}");
    }
}

#[test]
fn two_draws_of_one_capture_compare() {
    let (out, _, status) = diff(&["captures/cube.rd.gz:0", "captures/cube.rd.gz:1"]);
    assert_eq!(status, Some(1));
    assert!(out.starts_with("f0 ~ f1 ("), "{out}");
    assert!(out.contains("RB_DEPTH_CONTROL.ZFUNC: FUNC_ALWAYS -> FUNC_LESS"), "{out}");
    let (out, _, status) = diff(&["captures/cube.rd.gz:1", "captures/cube.rd.gz:f1"]);
    assert_eq!((out.as_str(), status), ("", Some(0)));
}

#[test]
fn the_first_difference_comes_with_its_packet() {
    let copies = Copies::new();
    let copy = copies.with(CUBE, |text| behind(text, "", "ZFUNC = FUNC_LESS", "ZFUNC = FUNC_GREATER"));
    let (out, _, status) = diff(&["--first", CUBE, &copy]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), status), (3, Some(1)), "{out}");
    assert!(lines[1].starts_with("first packet of A: the write of RB_DEPTH_CONTROL at 0x"), "{out}");
    assert!(lines[2].starts_with("first packet of B: the write of RB_DEPTH_CONTROL at 0x"), "{out}");
}

#[test]
fn closed_pipes_do_not_change_the_exit_status() {
    let script =
        "\"$0\" diff captures/cube.rd.gz captures/torus.rd.gz | head -1 >/dev/null; exit ${PIPESTATUS[0]}";
    let mut shell = Command::new("bash");
    shell.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-c", script, env!("CARGO_BIN_EXE_a4emu")]);
    shell.assert().code(1);
}

#[test]
fn pictures_of_a_difference_are_measured_and_written() {
    let copies = Copies::new();
    let copy = copies.with(CUBE, |text| behind(text, "buffer b_fff60000", "80002800", "80002864"));
    let folder = copies.path("pictures");
    let folder = folder.to_string_lossy();
    let (out, _, status) = diff(&["--images", &folder, CUBE, &copy]);
    assert_eq!(status, Some(1));
    let line = out.lines().find(|line| line.starts_with("f1: target 0: ")).expect(&out);
    assert!(line.contains(" pixels differ, PSNR ") && line.contains(" dB, largest difference 0."), "{out}");
    let file = line.rsplit(", ").next().unwrap();
    assert!(fs::read(file).unwrap().starts_with(b"\x89PNG"), "{out}");
    for name in ["  in ", "  first pixel ", "  worst pixel "] {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
    }
    // The command explains the pixel that is named.
    let command = out.lines().find_map(|line| line.strip_prefix("  a4emu ")).expect(&out);
    let worst = out.lines().find_map(|line| line.strip_prefix("  worst pixel ")).expect(&out);
    assert!(command.contains(&format!(" {} ", worst.split(':').next().unwrap())), "{out}");
    a4emu().args(command.split(' ')).assert().success();
    let (out, _, status) = diff(&["--images", &folder, CUBE, CUBE]);
    assert!(out.lines().all(|line| line.ends_with("same picture")) && !out.is_empty(), "{out}");
    assert_eq!(status, Some(0));
}

/// A capture in the shared folder beside the tree, if it exists.
fn shared(name: &str) -> Option<String> {
    let root = std::env::var("A4EMU_SHARED").unwrap_or_else(|_| "../shared".into());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(root).join("captures").join(name);
    let there = path.exists();
    if !there {
        eprintln!("SKIPPED: {} is not there", path.display());
    }
    there.then(|| path.to_string_lossy().into_owned())
}

/// A scene that is drawn with other passes has no differences but the passes.
#[test]
fn nothing_differs_but_the_passes() {
    let pairs = [
        (Some("captures/cube.rd.gz".to_owned()), shared("variants/cube-sysmem.rd.gz")),
        (shared("variants/cube-1600x900.rd.gz"), shared("variants/cube-1600x900-nobin.rd.gz")),
    ];
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (a, b) else { continue };
        let (out, err, status) = diff(&[&a, &b]);
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with("passes: "), "{a} {b}: {out}{err}");
        assert_eq!(status, Some(1));
    }
}

#[test]
fn state_files_still_compare_and_broken_ones_take_a_line() {
    let copies = Copies::new();
    let (one, other) = (copies.path("a.state"), copies.path("b.state"));
    for (capture, out) in [(CUBE, &one), ("captures/torus.rd.gz", &other)] {
        a4emu().args(["replay", "-q", capture, "--state"]).arg(out).assert().success();
    }
    let (one, other) = (one.to_string_lossy(), other.to_string_lossy());
    assert_eq!(diff(&[&one, &one]).2, Some(0));
    assert_eq!(diff(&[&one, CUBE]).2, Some(0), "a capture has the state that it replays to");
    let (out, _, status) = diff(&[&one, &other]);
    assert!(out.starts_with("first: draw ") && status == Some(1), "{out}");
    assert_eq!(diff(&["--json", &one, &other]).2, Some(2), "what is for captures is refused");
    let broken = copies.path("broken.state");
    fs::write(&broken, format!("a4emu state 2 gpu 420\n{}\n", "x\u{1b}".repeat(5000))).unwrap();
    let (_, err, status) = diff(&[&broken.to_string_lossy(), &one]);
    assert!(err.lines().count() == 1 && err.len() < 400 && !err.contains('\u{1b}'), "{err}");
    assert_eq!(status, Some(2));
}
