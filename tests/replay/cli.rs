//! The commands check, diff and replay, as users and scripts run them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pretty_assertions::assert_eq;

use super::walk::unpacked;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).current_dir(root()).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// An empty folder for one test.
fn scratch(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Makes the fixture `name` with the capture `bytes` in folder `cases`.
fn fixture(cases: &Path, name: &str, bytes: &[u8], extra: &str) {
    let dir = cases.join(name);
    fs::create_dir_all(&dir).unwrap();
    for file in ["state.txt", "packets.txt"] {
        fs::copy(root().join("fixtures").join(name).join(file), dir.join(file)).unwrap();
    }
    fs::write(dir.join("capture.rd"), bytes).unwrap();
    fs::write(dir.join("case.toml"), format!("capture = \"capture.rd\"\n{extra}")).unwrap();
}

fn triangle() -> Vec<u8> {
    unpacked(&root().join("captures/triangle.rd.gz"))
}

/// The triangle with one changed register: at draw 1 the colour mask of target 0 lacks blue and alpha.
fn one_value_changed() -> Vec<u8> {
    let mut bytes = triangle();
    let write: Vec<u8> = [0x20a4u32, 0x0f00_0c00].iter().flat_map(|word| word.to_le_bytes()).collect();
    let places: Vec<usize> = (0..bytes.len() - 8)
        .step_by(4)
        .filter(|at| bytes[*at + 4..*at + 8] == write[4..] && is_write(&bytes[*at..]))
        .collect();
    let at = places[1];
    bytes[at + 4..at + 8].copy_from_slice(&0x0300_0c00u32.to_le_bytes());
    bytes
}

/// Whether the bytes are a type-0 header for RB_MRT[0].CONTROL.
fn is_write(bytes: &[u8]) -> bool {
    let header = u32::from_le_bytes(bytes[..4].try_into().unwrap());
    header & 0x7fff == 0x20a4 && header >> 30 == 0
}

#[test]
fn check_names_the_draw_register_and_field_of_one_changed_value() {
    let cases = scratch("one-value");
    fixture(&cases, "triangle", &one_value_changed(), "");
    let output = a4emu(&["check", "--fixtures", cases.to_str().unwrap()]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let expected = "triangle: differs\n  \
        draw 1 f1 submit 0: RB_MRT[0].CONTROL.COMPONENT_ENABLE: 0xf -> 0x3\n  packets.txt line ";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.ends_with("1 cases, 1 failed\n"), "{text}");
}

#[test]
fn diff_names_the_same_on_captures_and_state_files() {
    let dir = scratch("diff");
    let (a, b) = (dir.join("a.rd"), dir.join("b.rd"));
    fs::write(&a, triangle()).unwrap();
    fs::write(&b, one_value_changed()).unwrap();
    let [a, b] = [a, b].map(|path| path.to_str().unwrap().to_owned());
    let output = a4emu(&["diff", &a, &b]);
    let expected = "f1 (gmem TRILIST 3): RB_MRT[0].CONTROL.COMPONENT_ENABLE: 0xf -> 0x3\n";
    assert_eq!((stdout(&output).as_str(), output.status.code()), (expected, Some(1)));
    let expected = "first: draw 1 f1 submit 0: RB_MRT[0].CONTROL.COMPONENT_ENABLE: 0xf -> 0x3\n";
    let state = format!("{b}.txt");
    assert_eq!(a4emu(&["replay", &b, "--state", &state]).status.code(), Some(0));
    let output = a4emu(&["diff", "fixtures/triangle/state.txt", &state]);
    assert_eq!((stdout(&output).as_str(), output.status.code()), (expected, Some(1)));
    let same = a4emu(&["diff", &b, &state]);
    assert_eq!((stdout(&same).as_str(), same.status.code()), ("", Some(0)));
    assert_eq!(a4emu(&["diff", &a, "/nonexistent"]).status.code(), Some(2));
}

#[test]
fn known_failures_fail_when_they_pass() {
    let cases = scratch("known");
    let known = "known_failure = \"the mask is wrong\"\n";
    fixture(&cases, "triangle", &one_value_changed(), known);
    let output = a4emu(&["check", "--fixtures", cases.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with("triangle: known failure\n"), "{}", stdout(&output));
    fixture(&cases, "triangle", &triangle(), known);
    let output = a4emu(&["check", "--fixtures", cases.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).starts_with("triangle: unexpected pass\n"), "{}", stdout(&output));
}

#[test]
fn bless_rewrites_and_says_what_changed() {
    let cases = scratch("bless");
    fixture(&cases, "triangle", &one_value_changed(), "");
    let arguments = ["check", "--fixtures", cases.to_str().unwrap(), "--bless"];
    let first = stdout(&a4emu(&arguments));
    assert!(first.contains("RB_MRT[0].CONTROL.COMPONENT_ENABLE: 0xf -> 0x3"), "{first}");
    assert_eq!(stdout(&a4emu(&arguments)), "triangle: unchanged\n");
    assert_eq!(a4emu(&arguments[..3]).status.code(), Some(0));
}

#[test]
fn bless_refuses_what_is_not_the_same_twice() {
    use a4emu::check::{Actual, agree};
    let actual = |state: &str| Actual {
        state: state.to_owned(),
        packets: String::new(),
        memory: None,
        frame: None,
        status: a4emu_support::status::Status::Fine,
        cut: None,
    };
    assert!(agree(&actual("a\nb"), &actual("a\nb")).is_ok());
    let refused = agree(&actual("a\nb"), &actual("a\nc")).unwrap_err().to_string();
    assert_eq!(refused, "two runs disagree, nothing written: state.txt line 2: b -> c");
}

#[test]
fn json_and_junit_report_every_case() {
    let cases = scratch("reports");
    fixture(&cases, "triangle", &one_value_changed(), "");
    fixture(&cases, "blend", &unpacked(&root().join("captures/blend.rd.gz")), "");
    let junit = cases.join("report.xml");
    let (dir, xml) = (cases.to_str().unwrap(), junit.to_str().unwrap());
    let output = a4emu(&["check", "--fixtures", dir, "--json", "--junit", xml]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((json["failed"].as_u64(), json["cases"][0]["name"].as_str()), (Some(1), Some("blend")));
    assert_eq!(json["cases"][0]["result"], "same");
    let difference = &json["cases"][1]["differences"][0];
    assert_eq!((difference["draw"].as_u64(), difference["new"].as_str()), (Some(1), Some("0x3")));
    let xml = fs::read_to_string(junit).unwrap();
    assert!(
        xml.contains(r#"<testsuite name="a4emu check" tests="2" skipped="0" errors="0" failures="1">"#),
        "{xml}"
    );
    assert!(xml.contains("0xf -&gt; 0x3"), "{xml}");
}

#[test]
fn shards_are_disjoint_and_together_all() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let text = stdout(&a4emu(&[&["check"], arguments].concat()));
        text.lines().filter_map(|line| line.strip_suffix(": same")).map(str::to_owned).collect()
    };
    let all = names(&[]);
    assert!(all.len() >= 15);
    let mut parts: Vec<String> = (0..4).flat_map(|part| names(&["--shard", &format!("{part}/4")])).collect();
    parts.sort();
    assert_eq!(parts, all);
    assert_eq!(a4emu(&["check", "--shard", "4/4"]).status.code(), Some(2));
    assert_eq!(a4emu(&["check", "no-such-case"]).status.code(), Some(2));
}

#[test]
fn any_number_of_threads_and_any_run_give_the_same_bytes() {
    let outputs: Vec<Vec<u8>> = ["1", "2", "5", "5"]
        .iter()
        .map(|threads| {
            let check = a4emu(&["check", "--json", "--threads", threads]);
            let state = a4emu(&["replay", "captures/fbo.rd.gz", "--state", "-", "--threads", threads]);
            assert_eq!((check.status.code(), state.status.code()), (Some(0), Some(0)));
            [check.stdout, state.stdout].concat()
        })
        .collect();
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The counts of `--stats` belong to the capture: they do not depend on threads or machines.
#[test]
fn stats_count_the_work_of_a_capture() {
    let keys = ["draws", "vertices", "primitives", "warps", "instructions", "pixels"];
    for (capture, counts) in [
        ("triangle", [4, 9, 2, 2743, 13701, 87148]),
        ("compute", [5, 10, 3, 4244, 87174, 131_072]),
        ("instanced", [4, 606, 301, 3607, 20417, 104_940]),
        ("stencil", [5, 14, 5, 4271, 60031, 96964]),
        ("many", [603, 2406, 1171, 8793, 43953, 229_531]),
    ] {
        for threads in ["1", "5"] {
            let path = format!("captures/{capture}.rd.gz");
            let output = a4emu(&["replay", &path, "--stats", "--jit", "off", "--threads", threads]);
            let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(keys.map(|key| stats[key].as_u64()), counts.map(Some), "{capture}, {threads} threads");
            assert_eq!(stats["emulated"]["compiled"], 0, "{capture}");
        }
    }
}

#[test]
fn draws_are_listed_with_their_pass() {
    let output = a4emu(&["replay", "captures/triangle.rd.gz", "--list-draws"]);
    let expected = "draw 0 f0 submit 0 gmem RECTLIST count 2 instances 1 auto\n\
        draw 1 f1 submit 0 gmem TRILIST count 3 instances 1 auto\n\
        draw 2 f2 submit 0 resolve RECTLIST count 2 instances 1 auto\n\
        draw 3 f3 submit 0 resolve RECTLIST count 2 instances 1 auto\n";
    assert_eq!(stdout(&output), expected);
    let some = a4emu(&["replay", "captures/triangle.rd.gz", "--list-draws", "--draw", "1..3"]);
    assert_eq!(stdout(&some).lines().collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>()[1..3]);
}

/// Two processes take turns; each has a submit of the same draws.
#[test]
fn submits_of_one_process_are_selected() {
    let path = scratch("of-a-process").join("two.a4");
    let source = fs::read_to_string(root().join("captures/triangle-by-hand.a4")).unwrap();
    let both = "submit main\ncmd \"other/2: fence=2\\0\"\nsubmit main";
    fs::write(&path, source.replace("submit main", both)).unwrap();
    let rd = path.with_extension("rd");
    let [path, rd] = [&path, &rd].map(|path| path.to_str().unwrap());
    let made = a4emu(&["asm", path, "-o", rd, "--include", "captures"]);
    assert!(made.status.success(), "{made:?}");
    let lines = |command: &[&str]| stdout(&a4emu(command)).lines().count();
    for command in [&["replay", rd, "--list-draws"][..], &["show", rd], &["decode", rd], &["validate", rd]] {
        let own = lines(&[command, &["--process", "triangle-by-hand"]].concat());
        let (by_pid, all) = (lines(&[command, &["--process", "1"]].concat()), lines(command));
        assert_eq!(own, by_pid, "{command:?}");
        // `show` has one row for both runs of a packet, and `validate` finds nothing.
        assert!(own < all || ["show", "validate"].contains(&command[0]), "{command:?}: {own} of {all}");
        let nobody = a4emu(&[command, &["--process", "nobody"]].concat());
        assert!(!nobody.status.success(), "{command:?}");
    }
}

/// The state at the stop equals the accumulated records up to it.
#[test]
fn stop_dumps_the_whole_state_before_a_draw() {
    let text = stdout(&a4emu(&["replay", "captures/triangle.rd.gz", "--state", "-", "--stop", "2"]));
    let stopped = a4emu_inspect::golden::parse(&text).unwrap();
    let all = fs::read_to_string(root().join("fixtures/triangle/state.txt")).unwrap();
    let all = a4emu_inspect::golden::parse(&all).unwrap();
    let sum: std::collections::BTreeMap<u32, u32> =
        all.records[..3].iter().flat_map(|record| record.registers.iter().copied()).collect();
    assert_eq!(stopped.records.len(), 1);
    assert_eq!(stopped.records[0].registers, sum.into_iter().collect::<Vec<_>>());
    assert_eq!(stopped.records[0].hash, all.records[2].hash);
}

#[test]
fn a_trace_shows_packets_and_what_they_changed() {
    let text = stdout(&a4emu(&["replay", "captures/triangle.rd.gz", "--trace"]));
    assert!(text.starts_with("submit 0 fff66000 dwords 342\nfff66000  write RBBM_PERFCTR_CTL 00000001\n"));
    assert!(text.contains("\n    RB_MODE_CONTROL 0x0 -> "), "{text}");
    assert!(text.contains("\n  draw 1 f1 gmem TRILIST count 3 instances 1 auto\n"));
}

/// stdout, stderr and exit status.
fn outcome(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = a4emu(arguments);
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    (stdout(&output), stderr, output.status.code())
}

const TRIANGLE: &str = "captures/triangle.rd.gz";

#[test]
fn a_selection_ends_the_run_and_is_all_that_is_shown() {
    let dir = scratch("selection");
    let out = dir.join("out");
    assert_eq!(outcome(&["replay", TRIANGLE, "--out", out.to_str().unwrap(), "--draw", "..2"]).2, Some(0));
    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["draws"], 2);
    let (state, ..) = outcome(&["replay", TRIANGLE, "--state", "-", "--stop", "2"]);
    assert!(state.contains("\ndraw 2 f2 submit 0 end\n"), "{state}");
    for draw in ["1", "f1"] {
        let (trace, ..) = outcome(&["replay", TRIANGLE, "--trace", "--draw", draw]);
        let draws: Vec<&str> = trace.lines().filter(|line| line.starts_with("  draw")).collect();
        assert_eq!(draws, ["  draw 1 f1 gmem TRILIST count 3 instances 1 auto"]);
        assert!(trace.starts_with("submit 0 fff66000 dwords 342\n"), "{trace}");
        let (text, ..) = outcome(&["decode", TRIANGLE, "--draw", draw]);
        assert_eq!(text.matches("\ndraw ").count(), 1, "{text}");
        assert!(text.contains("\ndraw 1 f1: TRILIST, 3 x 1, gmem; "), "{text}");
        let (list, ..) = outcome(&["replay", TRIANGLE, "--list-draws", "--draw", draw]);
        assert_eq!(list, "draw 1 f1 submit 0 gmem TRILIST count 3 instances 1 auto\n");
    }
}

#[test]
fn a_selection_of_nothing_is_an_error() {
    let none = "a4emu: the capture has no draw 77; it has 4\n";
    let selections: [&[&str]; 6] = [
        &["decode", TRIANGLE, "--format", "jsonl"],
        &["decode", TRIANGLE, "--query", "RB_MODE_CONTROL"],
        &["replay", TRIANGLE, "--list-draws"],
        &["replay", TRIANGLE, "--state", "-"],
        &["replay", TRIANGLE],
        &["diff", TRIANGLE, TRIANGLE],
    ];
    for command in selections {
        let (_, said, status) = outcome(&[command, &["--draw", "77"]].concat());
        assert_eq!((said.as_str(), status), (none, Some(2)), "{command:?}");
        let (_, said, status) = outcome(&[command, &["--draw", "f77"]].concat());
        assert_eq!((said.contains("no draw f77"), status), (true, Some(2)), "{command:?}: {said}");
        let (_, said, status) = outcome(&[command, &["--submit", "9"]].concat());
        assert_eq!((said.contains("no submit 9; it has 1"), status), (true, Some(2)), "{command:?}: {said}");
    }
    let (_, said, status) = outcome(&["replay", TRIANGLE, "--stop", "77", "--state", "-"]);
    assert_eq!((said.as_str(), status), (none, Some(2)));
    let (_, said, status) = outcome(&["disasm", TRIANGLE, "--draw", "77"]);
    assert_eq!((said.contains("no draw 77"), status), (true, Some(2)), "{said}");
}

#[test]
fn options_are_taken_only_where_they_mean_something() {
    for command in [["info", TRIANGLE], ["asm", TRIANGLE], ["check", "triangle"]] {
        assert_eq!(outcome(&[&command[..], &["--draw", "1"]].concat()).2, Some(2), "{command:?}");
    }
    assert_eq!(outcome(&["decode", TRIANGLE, "--threads", "2"]).2, Some(2));
}

/// Damage in a capture affects the exit status of every command, whatever else fails.
#[test]
fn damage_is_never_hidden_by_a_later_failure() {
    let dir = scratch("damage");
    let damaged = dir.join("damaged.rd");
    let whole = triangle();
    fs::write(&damaged, &whole[..whole.len() - 5]).unwrap();
    let path = damaged.to_str().unwrap();
    let png = dir.join("frame.png");
    let (_, said, status) = outcome(&["replay", path, "--png", png.to_str().unwrap()]);
    assert_eq!(status, Some(3), "{said}");
    assert!(
        said.contains("capture ends inside") && said.contains("no colour surface was rendered"),
        "{said}"
    );
    for command in ["info", "decode"] {
        assert_eq!(outcome(&[command, path]).2, Some(3), "{command}");
    }
    assert_eq!(outcome(&["replay", path, "--state", "-"]).2, Some(3));
    assert_eq!(outcome(&["diff", path, path]).2, Some(3));
    let mut closed = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    closed.args(["decode", path]).current_dir(root()).stdout(std::process::Stdio::piped());
    let mut closed = closed.stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(closed.stdout.take());
    assert_eq!(closed.wait().unwrap().code(), Some(3), "stdout was a closed pipe");
}

/// Edits of several registers, with the number of changed pixels and a picture of them.
#[test]
fn a_draw_runs_with_edited_registers() {
    let dir = scratch("edited");
    let [difference, edited, original] = ["difference.png", "edited.png", "original.png"]
        .map(|name| dir.join(name).to_str().unwrap().to_owned());
    let cube = "captures/cube.rd.gz";
    let edits =
        ["--edit", "f1:GRAS_SU_MODE_CONTROL.CULL_BACK=0", "--edit", "f1:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS"];
    let (_, said, status) =
        outcome(&[&["replay", cube, "--png", &edited, "--difference", &difference], &edits[..]].concat());
    assert_eq!(status, Some(0), "{said}");
    outcome(&["replay", cube, "--png", &original]);
    let pixels = |path: &str| image(path).chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (before, after) = (pixels(&original), pixels(&edited));
    let changed = before.iter().zip(&after).map(|(before, after)| before != after);
    let changed: Vec<bool> = changed.collect();
    let count = changed.iter().filter(|changed| **changed).count();
    assert!(count > 0 && said.contains(&format!("{count} of 65536 pixels differ")), "{said}");
    assert!(image(&difference).iter().map(|white| *white == 255).eq(changed));
    for (wrong, message) in [
        ("f1", "is not DRAW:REGISTER.FIELD=VALUE"),
        ("f1:fs", "is not REGISTER.FIELD=VALUE, fs.c4.x=VALUE or fs=SHADER"),
        ("f1:fs.c512.x=1.0", "`c512.x` is no constant"),
        ("f1:fs.c4.x=one", "`one` is no constant"),
        ("f1:fs=nowhere.ir3", "cannot open nowhere.ir3"),
        ("f1:RB_DEPTH_CONTROL.ZFUNC=FUNC_SOMETIMES", "FUNC_SOMETIMES"),
        ("f99:RB_DEPTH_CONTROL.ZFUNC=1", "has no draw f99"),
    ] {
        let (_, said, status) = outcome(&["replay", cube, "--edit", wrong]);
        assert!(status == Some(2) && said.contains(message), "{status:?} {said}");
    }
}

/// A constant and a program are edited. The draws after the edited one find the old state, and the reference model
/// renders the same.
#[test]
fn a_draw_runs_with_edited_constants_and_shaders() {
    let dir = scratch("edited-shader");
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (png, shader) = (path("edited.png"), path("white.ir3"));
    let pixels = |edits: &[&str]| {
        let edits: Vec<&str> = edits.iter().flat_map(|edit| ["--edit", edit]).collect();
        let render = |more: &[&str]| {
            let line = [&["replay", "captures/triangle.rd.gz", "--png", &png], &edits[..], more].concat();
            let (_, said, status) = outcome(&line);
            assert_eq!(status, Some(0), "{said}");
            image(&png).chunks(4).map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let pixels = render(&[]);
        assert!(pixels == render(&["--reference"]), "{edits:?}");
        pixels
    };
    // The fragment shader of f1 writes r0.z .. r1.y.
    let all = |register: &str| format!("mov.u32u32 {register}, 0x3f800000\n");
    fs::write(&shader, ["r0.z", "r0.w", "r1.x", "r1.y"].map(all).concat() + "end\n").unwrap();
    let plain = pixels(&[]);
    // f0 is the clear: its colour is the constant c0.
    let background = plain[0].clone();
    let triangle = |pixel: &Vec<u8>| *pixel != background;
    let cleared = pixels(&["f0:fs.c0.x=1.0", "f0:fs.c0.yzw=0.0,0x0,1.0"]);
    for (plain, cleared) in plain.iter().zip(&cleared) {
        let expected = if triangle(plain) { plain.clone() } else { vec![255, 0, 0, 255] };
        assert_eq!(*cleared, expected);
    }
    let white = pixels(&[&format!("f1:fs={shader}")]);
    for (plain, white) in plain.iter().zip(&white) {
        assert_eq!(*white, if triangle(plain) { vec![255; 4] } else { background.clone() });
    }
    // The later edit of the same draw wins.
    let short = path("short.ir3");
    fs::write(&short, "end").unwrap();
    assert_eq!(pixels(&[&format!("f1:fs={short}"), &format!("f1:fs={shader}")]), white);
    fs::write(&shader, "end\nmov.u32u32 r0.z,\n").unwrap();
    let (_, said, status) =
        outcome(&["replay", "captures/triangle.rd.gz", "--edit", &format!("f1:fs={shader}")]);
    assert!(status == Some(2) && said.contains("white.ir3:2:"), "{status:?} {said}");
    let line = ["replay", "captures/triangle.rd.gz", "--png", &short, "--edit", &format!("f1:fs={short}")];
    let (_, said, status) = outcome(&line);
    assert!(status == Some(2) && fs::read(&short).unwrap() == b"end", "{status:?} {said}");
}

/// The bytes of the pixels of a PNG.
fn image(path: &str) -> Vec<u8> {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    pixels
}

/// A kernel has no frame: its results are memory.
#[test]
fn check_holds_memory() {
    let cases = scratch("memory");
    let case = cases.join("reduce");
    fs::create_dir_all(&case).unwrap();
    let capture = case.join("reduce.rd");
    let assembled = a4emu(&["asm", "captures/kernels/reduce.a4", "-o", capture.to_str().unwrap()]);
    assert_eq!(assembled.status.code(), Some(0));
    let check = |ranges: &str, options: &[&str]| {
        let manifest = format!("capture = \"reduce.rd\"\nmemory = [{ranges}]\n");
        fs::write(case.join("case.toml"), manifest).unwrap();
        let output = a4emu(&[&["check", "--fixtures", cases.to_str().unwrap()], options].concat());
        (output.status.code(), stdout(&output) + &String::from_utf8_lossy(&output.stderr))
    };
    let ranges = "\"0x500010000+24\", \"0x7000000000..0x7000000004\"";
    check(ranges, &["--bless"]);
    let golden = "0x500010000+24\n  500010000: 000007e0 000017e0 000027e0 000037e0\n  500010010: 000047e0 000057e0\n\
                  0x7000000000+4\n  7000000000: missing\n";
    assert_eq!(fs::read_to_string(case.join("memory.txt")).unwrap(), golden);
    assert!(!case.join("frame.png").exists());
    assert_eq!(check(ranges, &[]).0, Some(0));
    fs::write(case.join("memory.txt"), golden.replace("000057e0", "000057e1")).unwrap();
    let (status, text) = check(ranges, &[]);
    let line = "memory.txt line 3: 500010010: 000047e0 000057e1 -> 500010010: 000047e0 000057e0";
    assert!(status == Some(1) && text.contains(line), "{text}");
    for (wrong, why) in [
        ("\"0x500010000+6\"", "is no range of dwords"),
        ("\"0x500010000\"", "is no range of dwords"),
        ("\"0x500010000+2M\"", "more than 1048576 bytes"),
    ] {
        let (status, text) = check(wrong, &[]);
        assert!(status == Some(2) && text.contains(why), "{text}");
    }
}
