//! Tests of the command line: explanations, completions, pages, versions, and the split between stdout and
//! stderr.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use pretty_assertions::assert_eq;
use serde_json::Value;

const CUBE: &str = "captures/cube.rd.gz";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The result of a command: exit status, stdout, stderr.
struct Left {
    status: i32,
    bytes: Vec<u8>,
    errors: String,
}

impl Left {
    fn text(&self) -> String {
        String::from_utf8(self.bytes.clone()).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Runs `a4emu` with the words of `line` in `folder`.
fn a4emu_in(folder: &Path, line: &str) -> Left {
    let mut command = Command::cargo_bin("a4emu").unwrap();
    let output = command.current_dir(folder).args(line.split_whitespace()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    Left { status: output.status.code().unwrap(), bytes: output.stdout, errors }
}

fn a4emu(line: &str) -> Left {
    a4emu_in(root(), line)
}

/// The stdout of a command that must succeed.
fn fine(line: &str) -> String {
    let left = a4emu(line);
    assert_eq!(left.status, 0, "{line}: {}", left.errors);
    left.text()
}

#[test]
fn a_register_is_explained() {
    let text = fine("explain rb_depth_control");
    assert!(text.starts_with("RB_DEPTH_CONTROL  2101 (8449)\n  in RB: render backend"), "{text}");
    assert!(text.contains("  4..6    ZFUNC ") && text.contains("1 FUNC_LESS, "), "{text}");
    // The doc comments of the tables are data too.
    assert!(fine("explain RB_MODE_CONTROL").contains("BYPASS       bits  (a guess)  Inferred: both bits"));
    let value = fine("explain 2101 0x80000016");
    assert!(value.contains("Z_TEST_ENABLE ") && value.contains("= true"), "{value}");
    assert!(value.contains("= FUNC_LESS") && value.contains("in RB"), "{value}");
    assert_eq!(fine("explain 0x20a4"), fine("explain RB_MRT[0].CONTROL"));
    assert_eq!(fine("explain RB_DEPTH_CONTROL.ZFUNC").lines().filter(|line| line.contains("..")).count(), 1);
    assert!(fine("explain 3fff").contains("nobody has named it"));
}

#[test]
fn patterns_list_and_near_misses_are_named() {
    let list = fine("explain rb_mrt[*].*");
    assert_eq!(list.lines().next().unwrap(), "20a4 RB_MRT[0].CONTROL and 7 more");
    assert_eq!(list.lines().count(), 5, "{list}");
    let left = a4emu("explain RB_DEPTH_CONTRL");
    assert_eq!((left.status, left.text().as_str()), (2, ""));
    assert!(left.errors.contains("did you mean `RB_DEPTH_CONTROL`"), "{}", left.errors);
    assert_eq!(a4emu("explain RB_DEPTH_CONTROL 1 2").status, 2);
    assert_eq!(a4emu("explain RB_DEPTH_CONTROL x").status, 2);
}

#[test]
fn a_word_of_the_glossary_is_explained() {
    let text = fine("explain gmem");
    assert!(text.starts_with("GMEM\n  Graphics memory on the chip, tile memory: "), "{text}");
    assert!(text.contains(" A tile of the picture ") && !text.contains("]("), "{text}");
    assert!(text.ends_with("\n  see  docs/hardware/textures-and-memory.md\n"), "{text}");
    assert!(fine("explain half-register").starts_with("Half register\n"));
    assert_eq!(fine("explain a430"), fine("explain A420"));
    assert!(a4emu("explain wrap").errors.contains("`Warp`"));
}

#[test]
fn instructions_of_picogpu_are_explained() {
    let text = fine("explain fadd");
    assert!(text.starts_with("fadd: instruction of PicoGpu\n  The sum of two floats"), "{text}");
    assert!(text.contains("opcode 0;") && text.contains("opcode 1;"), "{text}");
    assert!(fine("explain iinit").starts_with("init: "));
    let words = fine("explain pico 21 3c09e");
    assert!(words.contains("00000021  initregs\n") && words.contains("0003c09e  mov r2 r0\n"), "{words}");
    assert!(a4emu("explain initreg").errors.contains("`initregs`"));
}

/// An address has a buffer, the registers that name it, and the draws that use it, as `show` says.
#[test]
fn an_address_of_a_capture_is_explained() {
    let shown = a4emu("show captures/cube.rd.gz --draw f1 --json");
    let draw: Value = serde_json::from_str(&shown.text()).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let texture = &draw["shaders"][1]["textures"][0];
    let input = &draw["vertex_inputs"][0];
    let explained = |address: u64| fine(&format!("explain {address:#x} --capture captures/cube.rd.gz"));
    let text = explained(number(&texture["address"]) + 16);
    assert!(text.contains("\n  buffer    0x") && text.contains(" bytes\n"), "{text}");
    assert!(
        text.contains("use       FS texture 0 at ") && text.contains("+ 0x10; in 1 draws, first in f1"),
        "{text}"
    );
    let text = explained(number(&input["address"]) + 4);
    assert!(text.contains("register  VFD_FETCH[0].INSTR_1 = "), "{text}");
    let program = explained(number(&draw["shaders"][0]["address"]));
    assert!(program.contains("use       VS program at "), "{program}");
    assert!(explained(0x10).contains("no buffer of the capture holds it"));
    assert_eq!(a4emu("explain RB_DEPTH_CONTROL --capture captures/cube.rd.gz").status, 2);
}

#[test]
fn an_instruction_is_explained() {
    let text = fine("explain ir3 40100004 10010001");
    assert_eq!(text, fine("explain ir3 40100004_10010001"));
    assert!(text.contains("category 2: two-source ALU, add.f"), "{text}");
    assert!(
        text.contains("  32..39  DST        0x4\n") && text.contains("  16..26  SRC2       0x1\n"),
        "{text}"
    );
    for (words, word) in
        [("40100004 10010001", 0x4010_0004_1001_0001), ("20444005 3f800000", 0x2044_4005_3f80_0000_u64)]
    {
        let explained = a4emu(&format!("explain ir3 {words} --json")).json();
        let fields = explained["instructions"][0]["fields"].as_array().unwrap();
        let sum: u64 = fields.iter().map(|f| f["raw"].as_u64().unwrap() << f["lo"].as_u64().unwrap()).sum();
        assert_eq!(sum, word, "the fields are the word");
    }
    assert!(fine("explain ir3 ffffffff ffffffff").contains("is not known to a4emu"));
    let word = "42380c01_00040001";
    assert!(
        fine(&format!("explain ir3 {word}"))
            .starts_with("42380c01_00040001  (sat)add.s r0.y, (r)r0.y, (r)r1.x\n")
    );
    for gpu in [540, 630] {
        let text = fine(&format!("explain --gpu {gpu} ir3 {word}"));
        assert!(text.starts_with("42380c01_00040001  (sat)(nop3) add.s r0.y, r0.y, r1.x\n"), "{text}");
        assert!(text.contains("NOP_LO") && text.contains("NOP_HI"), "{text}");
    }
    let listed = fine(&format!("explain --gpu 630 ir3 {word} 00000000_00000000"));
    assert_eq!(listed, "42380c01_00040001\t(sat)(nop3) add.s r0.y, r0.y, r1.x\n00000000_00000000\tnop\n");
    assert_eq!(a4emu("explain --gpu 740 ir3 0 0").status, 2);
    for forms in
        ["0xc286000b0480c001", "c286000bx_0480c001x", "0xc286000b,0x0480c001", "[c286000bx_0480c001x]"]
    {
        assert!(
            fine(&format!("explain ir3 {forms}")).starts_with("c286000b_0480c001  ldlw.u32 r2.w"),
            "{forms}"
        );
    }
    assert!(fine("explain ir3 c286000b, 0480c001").starts_with("c286000b_0480c001  ldlw.u32 r2.w"));
    assert_eq!(a4emu("explain ir3 c286000b0480c0010").status, 2, "17 digits");
    assert_eq!(a4emu("explain ir3 1").status, 2);
    assert_eq!(a4emu("explain ir3 xyz 0").status, 2);
}

#[test]
fn packets_are_explained_as_far_as_they_go() {
    let text = fine("explain pm4 c0023800 84 1 3 2101 6");
    assert!(
        text.starts_with("c0023800  CP_DRAW_INDX_OFFSET: type 3, opcode 0x38\n  The draw of A4xx."),
        "{text}"
    );
    assert!(text.contains("= DI_PT_TRILIST") && text.contains("RB_DEPTH_CONTROL  2101 (8449) = 00000006"));
    let left = a4emu("explain pm4 2101 6 c0023800 84");
    assert_eq!(left.status, 3);
    assert!(left.text().contains("RB_DEPTH_CONTROL") && left.errors.contains("dword 0x2"), "{}", left.errors);
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fine(&format!("completions {shell}"));
        assert!(script.contains("explain") && script.contains("gs-dispatch"), "{shell}");
    }
    assert_eq!(a4emu("completions tcsh").status, 2);
    assert!(fine("man").starts_with(".ie") || fine("man").contains(".TH a4emu 1"));
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(a4emu(&format!("man -o {}", folder.path().display())).status, 0);
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(page("a4emu-replay.1").contains("gs\\-dispatch") && page("a4emu-replay.1").contains("perfetto"));
    assert!(page("a4emu-pico-asm.1").contains("pico"));
}

#[test]
fn the_version_says_what_it_is_made_for() {
    let version = fine("--version");
    assert!(version.starts_with(concat!("a4emu ", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.contains(&format!("target: {}", std::env::consts::ARCH)), "{version}");
    assert!(version.contains("loops over lanes: "), "{version}");
}

#[test]
fn a_dash_is_stdout() {
    let folder = tempfile::tempdir().unwrap();
    let run = |line: &str| a4emu_in(folder.path(), line);
    let cube = root().join(CUBE).display().to_string();
    fs::write(folder.path().join("s.pico"), "#vertexShader\n#input r0.xyz\n#output r12.xyzw\nmov r12 r0\n")
        .unwrap();
    assert!(run(&format!("replay {cube} --png -")).bytes.starts_with(PNG));
    assert!(run(&format!("replay {cube} --state -")).bytes.starts_with(b"a4emu state"));
    assert!(run(&format!("replay {cube} --timeline -")).bytes.starts_with(b"{\"traceEvents\""));
    assert!(run(&format!("disasm {cube} -o -")).bytes.starts_with(b"//"));
    assert_eq!(run("pico asm s.pico -o -").bytes.len() % 4, 0);
    assert!(!run("pico asm s.pico -o -").bytes.is_empty());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["s.pico"], "no file called `-`");
    for both in ["--png - --stats", "--png - --state -", "--timeline - --list-draws", "--out -"] {
        let left = run(&format!("replay {cube} {both}"));
        assert_eq!((left.status, left.bytes.len()), (2, 0), "{both}");
    }
    let left = a4emu("check cube --json --junit -");
    assert_eq!(left.status, 2);
    assert!(left.errors.contains("--junit and --json cannot both write to stdout"), "{}", left.errors);
}

#[test]
fn a_replay_gives_an_account() {
    let left = a4emu(&format!("replay {CUBE} --threads 2"));
    let stats = a4emu(&format!("replay {CUBE} --stats"));
    assert_eq!((left.status, left.text().as_str(), stats.errors.as_str()), (0, "", ""));
    let pixels = stats.json()["pixels"].as_u64().unwrap();
    assert!(left.errors.contains(&format!("{pixels} pixels")), "{}", left.errors);
    assert!(left.errors.contains("on an A420") && left.errors.contains("with 2 threads"), "{}", left.errors);
    assert!(left.errors.contains("RB4_R8G8B8A8_UNORM") && left.errors.contains("--png"), "{}", left.errors);
    assert_eq!(a4emu(&format!("replay {CUBE} -q")).errors, "");
    let verbose = a4emu(&format!("replay {CUBE} --list-draws -v"));
    assert!(verbose.errors.contains(&format!("{pixels} pixels")), "{}", verbose.errors);
}

#[test]
fn a_loop_says_what_it_times() {
    let timed = a4emu(&format!("replay {CUBE} --loop 2")).json()["timed"].clone();
    let draws = a4emu(&format!("replay {CUBE} --stats")).json()["draws"].as_u64().unwrap();
    let listed = fine(&format!("replay {CUBE} --list-draws"));
    let last = listed.lines().last().unwrap().split(" submit ").nth(1).unwrap();
    let last: u64 = last.split(' ').next().unwrap().parse().unwrap();
    let number = |key: &str| timed[key].as_u64().unwrap();
    assert!(number("first_submit") <= last && last < number("first_submit") + number("submits"), "{timed}");
    assert!(number("submits") <= number("of") && number("draws") <= draws && number("draws") > 0, "{timed}");
}

fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(payload.len() as u32).to_le_bytes(), payload].concat()
}

fn dwords(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

/// The cube's capture, with a second submit before which the picture's memory is loaded with other bytes.
fn overwritten(folder: &Path) -> PathBuf {
    let out = folder.join("out");
    assert_eq!(a4emu(&format!("replay {CUBE} --out {}", out.display())).status, 0);
    let summary: Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    let surfaces = summary["surfaces"].as_array().unwrap().iter();
    let mut colours = surfaces.filter(|surface| surface["png"].as_str().unwrap().contains("color"));
    let surface = colours.next_back().unwrap();
    let number = |key: &str| surface[key].as_u64().unwrap() as u32;
    let bytes = number("width") * number("height") * 4;
    let source = folder.join("cube.a4").display().to_string();
    let capture = folder.join("cube.rd").display().to_string();
    fine(&format!("disasm {CUBE} -o {source}"));
    fine(&format!("asm {source} -o {capture}"));
    let more = [
        section(3, &dwords(&[number("address"), bytes, 0])),
        section(12, &vec![0x55; bytes as usize]),
        section(3, &dwords(&[0x7000_0000, 8, 0])),
        section(12, &dwords(&[0xc000_1000, 0])),
        section(6, &dwords(&[0x7000_0000, 2, 0])),
    ];
    let path = folder.join("more.rd");
    fs::write(&path, [fs::read(capture).unwrap(), more.concat()].concat()).unwrap();
    path
}

/// The memory that a submit left is shown, not the contents that the capture loads for the next one.
#[test]
fn a_submit_shows_memory_as_it_left_it() {
    let folder = tempfile::tempdir().unwrap();
    let more = overwritten(folder.path()).display().to_string();
    let submits = fine(&format!("decode {more} --format summary")).matches("\nsubmit ").count();
    let png = |line: String| a4emu(&line).bytes;
    let plain = png(format!("replay {CUBE} --png -"));
    assert!(plain.starts_with(PNG));
    assert!(png(format!("replay {more} --submit ..{} --png -", submits - 1)) == plain);
    assert!(png(format!("replay {more} --png -")) != plain, "the submit behind it is not seen");
}

/// A case with a golden frame in its manifest fails if the file is missing.
#[test]
fn a_missing_golden_frame_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let case = folder.path().join("cases/triangle");
    fs::create_dir_all(&case).unwrap();
    fs::copy(root().join("captures/triangle.rd.gz"), case.join("triangle.rd.gz")).unwrap();
    fs::write(case.join("case.toml"), "capture = \"triangle.rd.gz\"\nneeds = [\"render\"]\n").unwrap();
    let cases = folder.path().join("cases").display().to_string();
    fine(&format!("check --fixtures {cases} --bless"));
    assert_eq!(a4emu(&format!("check --fixtures {cases}")).status, 0);
    fs::remove_file(case.join("frame.png")).unwrap();
    let left = a4emu(&format!("check --fixtures {cases}"));
    assert_eq!(left.status, 2, "{}", left.text());
    assert!(left.text().contains("no golden file"), "{}", left.text());
}

/// Events of a timeline row: name, start and end.
fn row(trace: &Value, tid: u64) -> Vec<(String, f64, f64)> {
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let here = events.filter(|event| event["ph"] == "X" && event["tid"] == tid);
    here.map(|event| {
        let (start, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        (event["name"].as_str().unwrap().to_owned(), start, start + dur)
    })
    .collect()
}

#[test]
fn a_timeline_has_submits_passes_draws_and_threads() {
    let trace = a4emu(&format!("replay {CUBE} --threads 2 --timeline -")).json();
    let stats = a4emu(&format!("replay {CUBE} --stats")).json();
    let [submits, passes, draws] = [1, 2, 3].map(|tid| row(&trace, tid));
    assert_eq!(draws.len() as u64, stats["draws"].as_u64().unwrap());
    let inside = |(_, start, end): &(String, f64, f64), around: &[(String, f64, f64)]| {
        around.iter().any(|(_, first, last)| first - 1.0 <= *start && *end <= last + 1.0)
    };
    assert!(draws.iter().all(|draw| inside(draw, &submits)), "{draws:?} {submits:?}");
    assert!(!draws.is_empty() && draws.iter().all(|draw| inside(draw, &passes)));
    assert!(passes.iter().any(|(name, ..)| name == "gmem" || name == "bypass"), "{passes:?}");
    for row in [&submits, &passes, &draws] {
        assert!(row.windows(2).all(|pair| pair[0].2 <= pair[1].1 + 1.0), "they overlap: {row:?}");
    }
    let threads = [row(&trace, 10), row(&trace, 11)].concat();
    for activity in ["command processor", "vertices", "fragments"] {
        assert!(threads.iter().any(|(name, ..)| name == activity), "{activity}: {threads:?}");
    }
    // A run that ends inside of a submit still lists the submit.
    let cut = a4emu(&format!("replay {CUBE} --draw 1 --timeline -")).json();
    assert_eq!((row(&cut, 1).len(), row(&cut, 3).len()), (1, 2));
}

/// Measuring time changes no picture.
#[test]
fn a_timeline_changes_no_picture() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = folder.path().join("t.json").display().to_string();
    let timed = a4emu(&format!("replay {CUBE} --png - --timeline {timeline}")).bytes;
    assert_eq!(timed, a4emu(&format!("replay {CUBE} --png -")).bytes);
    assert!(fs::read_to_string(timeline).unwrap().ends_with("\"displayTimeUnit\":\"ms\"}\n"));
}

/// On a terminal, listings go through the pager. JSON does not, nor does what is piped.
#[cfg(target_os = "linux")]
#[test]
fn listings_on_a_terminal_go_through_the_pager() {
    use std::process::{Command, Stdio};

    if Command::new("script").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: there is no `script`, which makes a terminal");
    }
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let pixel = format!("pixel {CUBE} 128,128");
    for (line, is_paged) in [
        (format!("show {CUBE}").as_str(), true),
        (&pixel, true),
        ("explain RB_DEPTH_CONTROL", true),
        (&format!("{pixel} --json"), false),
    ] {
        let _ = fs::remove_file(&seen);
        let program = assert_cmd::cargo::cargo_bin("a4emu");
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &format!("{} {line}", program.display()), "/dev/null"]).current_dir(root());
        terminal.env("PAGER", format!("tee {}", seen.display())).env_remove("LESS").stdin(Stdio::null());
        assert!(terminal.output().unwrap().status.success(), "{line}");
        assert_eq!(seen.exists(), is_paged, "{line}");
        if is_paged {
            assert_eq!(fs::read_to_string(&seen).unwrap(), fine(&format!("{line} --color always")));
        }
    }
}
