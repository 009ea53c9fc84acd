//! The assembler with files, pictures of hand-written frames, and cut captures.

use a4emu_decoder::adreno::address::Address;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer, Silent, Skip};
use a4emu_gpu::gpu::{CodeSource, STAGES};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_support::folders::Folders;
use pretty_assertions::assert_eq;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).current_dir(root()).output().unwrap()
}

/// Assembles a source with the files of its own folder.
fn own(source: &Path) -> anyhow::Result<Vec<u8>> {
    capture_of(source, &mut Disk::new(Folders::around(source, &[])))
}

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut bytes).unwrap();
    bytes
}

/// The bytes of a capture. Scenes are in the project, others in the shared folder, if it exists.
fn shared(name: &str) -> Option<Vec<u8>> {
    if let Some(scene) = name.strip_prefix("scenes/") {
        return Some(unpacked(&root().join("captures").join(scene)));
    }
    let folder = std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let path = folder.join("captures").join(name);
    match path.exists() {
        true => Some(unpacked(&path)),
        false => {
            eprintln!("\n*** SKIPPED: no {}: cutting it was NOT tested ***\n", path.display());
            None
        }
    }
}

fn play(capture: &[u8], engine: &mut dyn Engine, observer: &mut dyn Observer) -> Playback {
    let mut playback = Playback::default();
    playback.run(Sections::new(capture).unwrap(), engine, observer);
    playback
}

/// The state that draw `number` uses.
struct At {
    number: u32,
    seen: Option<Seen>,
}

#[derive(Debug, PartialEq)]
struct Seen {
    registers: Vec<(u32, u32)>,
    constants: Vec<Vec<[u32; 4]>>,
    textures: Vec<Vec<[u32; 8]>>,
    code: Vec<Option<Vec<u64>>>,
    memory: Vec<(u32, Vec<u8>)>,
}

impl Observer for At {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if call.number() != self.number {
            return Flow::Continue;
        }
        let memory = gpu.sync().memory();
        let memory = memory.buffers().map(|(base, length)| {
            let mut bytes = vec![0; length as usize];
            let _ = memory.read(base, &mut bytes);
            (base.narrow().expect("an address of an A4xx"), bytes)
        });
        let memory = memory.collect();
        let stages = || STAGES.iter().map(|stage| gpu.loaded.stage(*stage));
        self.seen = Some(Seen {
            registers: gpu.regs.iter().collect(),
            constants: stages().map(|stage| stage.constants.clone()).collect(),
            textures: stages().map(|stage| stage.textures.clone()).collect(),
            code: stages()
                .map(|stage| (stage.source == CodeSource::Store).then(|| stage.code.clone()))
                .collect(),
            memory,
        });
        Flow::Stop
    }
}

fn seen(capture: &[u8], number: u32) -> Seen {
    let mut at = At { number, seen: None };
    play(capture, &mut Renderer, &mut at);
    at.seen.unwrap_or_else(|| panic!("no draw {number}"))
}

/// Number of draws before each submit.
#[derive(Default)]
struct Submits(Vec<u32>, u32);

impl Observer for Submits {
    fn submit(&mut self, _: &mut Running<'_>, _: Address, _: u32) -> Flow {
        self.0.push(self.1);
        Flow::Continue
    }
    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        self.1 = call.number() + 1;
        Flow::Continue
    }
}

/// `capture`, cut by `disasm` to `selection`, and assembled again.
fn cut(capture: &[u8], selection: [&str; 2]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.rd");
    fs::write(&whole, capture).unwrap();
    let disasm = [&["disasm", whole.to_str().unwrap()][..], &selection].concat();
    let Output { status, stdout, stderr } = a4emu(&disasm);
    if status.code() == Some(2) {
        return None;
    }
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let source = String::from_utf8(stdout).unwrap();
    Some(assemble("cut", &source, &mut Disk::default(), Bounds::default()).unwrap())
}

/// Cuts `name` at the draw `within` draws after the start of `submit`, through text, and compares the draw's
/// state. Buffers and registers that only the cut has hold the commands that restore the state.
fn check_cut(name: &str, submit: usize, within: u32) {
    let Some(capture) = shared(name) else { return };
    let mut submits = Submits::default();
    play(&capture, &mut Skip::default(), &mut submits);
    let number = submits.0[submit] + within;
    // The cut starts with the submit that contains the draw.
    let first = submits.0.iter().rev().find(|first| **first <= number).copied().unwrap_or(0);
    let smaller = cut(&capture, ["--draw", &number.to_string()]).unwrap();
    let (before, mut after) = (seen(&capture, number), seen(&smaller, number - first));
    let silenced = |base: u32| before.memory.iter().find(|(other, _)| *other == base);
    after.memory.retain(|(base, _)| silenced(*base).is_some());
    let differing = before.memory.iter().zip(&after.memory).filter(|(a, b)| a != b);
    // Only command buffers may differ, because draws were removed from them.
    for ((base, old), (_, new)) in differing {
        let changed = old.as_chunks::<4>().0.iter().zip(new.as_chunks::<4>().0).filter(|(a, b)| a != b);
        for (old, new) in changed {
            assert_eq!((old[1] & 0x7f != 0, new[1]), (true, 0x10), "{name}: buffer {base:#x}");
        }
    }
    assert_eq!(before.registers, after.registers, "{name}");
    assert!(before.constants == after.constants, "{name}: constants");
    assert!(before.textures == after.textures, "{name}: textures");
    assert!(before.code == after.code, "{name}: code");
    let bases = |seen: &Seen| seen.memory.iter().map(|(base, _)| *base).collect::<Vec<_>>();
    assert_eq!(bases(&before), bases(&after), "{name}");
}

#[test]
fn a_cut_capture_shows_the_draw_what_the_whole_one_does() {
    check_cut("scenes/cube.rd.gz", 0, 1);
    check_cut("scenes/fbo.rd.gz", 0, 3);
    check_cut("scenes/xfb.rd.gz", 0, 1);
    check_cut("variants/cube-1600x900-nobin.rd.gz", 0, 7);
    check_cut("piglit/mesa_shader_integer_functions@execution@built-in-functions@fs-findMSB.rd.gz", 7, 1);
}

#[test]
fn draws_behind_the_cut_are_gone() {
    let Some(capture) = shared("scenes/many.rd.gz") else { return };
    let mut submits = Submits::default();
    play(&cut(&capture, ["--draw", "5"]).unwrap(), &mut Skip::default(), &mut submits);
    assert_eq!(submits.1, 6 + 2, "draws 0 to 5 and two resolves");
    assert_eq!(cut(&capture, ["--draw", "9999"]), None);
    assert_eq!(cut(&capture, ["--submit", "4"]), None);
}

#[test]
fn the_triangle_by_hand_renders() {
    let capture = own(&root().join("captures/triangle-by-hand.a4")).unwrap();
    let mut playback = play(&capture, &mut Renderer, &mut Silent);
    let report = &playback.gpu.report;
    assert!(report.missing.is_empty(), "memory is missing");
    assert_eq!(report.troubles.total(), 0, "{report:?}");
    let mut pixel = |x: u32, y: u32| {
        let mut rgba = [0; 4];
        assert!(playback.gpu.settle().memory().read(0x1000_0000 + (y * 256 + x) * 4, &mut rgba));
        rgba
    };
    for corner in [(0, 0), (255, 0), (0, 255), (255, 255)] {
        assert_eq!(pixel(corner.0, corner.1), [51, 51, 64, 255]);
    }
    // Row 0 is the top of the screen; the red corner is at the lower left.
    let near = |rgba: [u8; 4], wanted: [u8; 3]| rgba.iter().zip(wanted).all(|(&a, b)| a.abs_diff(b) <= 12);
    assert!(near(pixel(30, 226), [248, 4, 4]), "{:?}", pixel(30, 226));
    assert!(near(pixel(225, 226), [4, 248, 4]), "{:?}", pixel(225, 226));
    assert!(near(pixel(128, 30), [4, 4, 248]), "{:?}", pixel(128, 30));
    assert!(near(pixel(128, 162), [85, 85, 85]), "{:?}", pixel(128, 162));
}

#[test]
fn a_broken_source_shows_its_line_and_exits_with_2() {
    let source = scratch("broken.a4");
    fs::write(&source, "gpu_id 420\nbuffer b {\n    RB_MODE_CONTROL { WIDTH = 3 }\n}\n").unwrap();
    let output = a4emu(&["asm", source.to_str().unwrap(), "-o", scratch("broken.rd").to_str().unwrap()]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("broken.a4:3:31"), "{stderr}");
    assert!(stderr.contains("RB_MODE_CONTROL { WIDTH = 3 }"), "{stderr}");
    assert!(stderr.contains("`3` is not a multiple of 32"), "{stderr}");
}

#[test]
fn the_command_goes_round() {
    let (text, packed, again) = (scratch("round.a4"), scratch("round.rd.gz"), scratch("round2.a4"));
    let path = |path: &PathBuf| path.to_str().unwrap().to_owned();
    assert!(a4emu(&["disasm", "captures/triangle.rd.gz", "-o", &path(&text)]).status.success());
    assert!(a4emu(&["asm", &path(&text), "-o", &path(&packed)]).status.success());
    assert_eq!(unpacked(&packed), unpacked(&root().join("captures/triangle.rd.gz")));
    assert!(a4emu(&["disasm", &path(&packed), "-o", &path(&again)]).status.success());
    let body = |file: &PathBuf| fs::read_to_string(file).unwrap().split_once('\n').unwrap().1.to_owned();
    assert_eq!(body(&text), body(&again));
}

#[test]
fn includes_that_go_round_in_circles_are_told() {
    let (one, other) = (scratch("one.a4"), scratch("other.a4"));
    fs::write(&one, "include \"other.a4\"").unwrap();
    fs::write(&other, "\ninclude \"./one.a4\"").unwrap();
    let error = own(&one).unwrap_err().to_string();
    assert!(error.ends_with("other.a4:2:1: `./one.a4` includes itself"), "{error}");
}

/// A cut from an incomplete run would have other draws. Both runs of a cut must end before their limits.
#[test]
fn a_cut_that_is_not_allowed_to_run_to_its_end_is_refused() {
    let path = root().join("captures/mipmap.rd.gz");
    let capture = unpacked(&path);
    let mut listing = Playback::default();
    listing.run(Sections::new(&capture[..]).unwrap(), &mut Skip::default(), &mut Silent);
    let listed = listing.gpu.budget.spent();
    for (selection, units) in [(["--draw", "4"], listed / 2), (["--submit", "1"], listed / 2)] {
        let (path, units) = (path.display().to_string(), units.to_string());
        let disasm = [&["disasm", &path, "--max-work", &units][..], &selection].concat();
        let Output { status, stderr, .. } = a4emu(&disasm);
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(4), "{said}");
        assert!(!said.contains("are left out"), "no run of it, but what is written was cut: {said}");
    }
}
