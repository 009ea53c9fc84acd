//! Streams of an A6xx through the commands that do not draw.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::asm::{Bounds, FileError, Files, Image, assemble, disassemble};
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use pretty_assertions::assert_eq;
use tempfile::TempDir;

use crate::captures::root;
use crate::other_chips::{Ended, run};

/// Most steps of the assembler for a capture of some megabytes.
const STEPS: u64 = 1 << 32;

/// A source names no other files here.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.to_owned()
    }

    fn text(&mut self, name: &str) -> Result<String, FileError> {
        Err(FileError(name.to_owned()))
    }

    fn image(&mut self, name: &str) -> Result<Image, FileError> {
        Err(FileError(name.to_owned()))
    }
}

/// The captures of `../shared/a6xx` of an A630, if they are there.
pub fn recorded() -> Vec<PathBuf> {
    let shared = std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let files = fs::read_dir(shared.join("a6xx")).into_iter().flatten().flatten().map(|file| file.path());
    let mut files: Vec<_> =
        files.filter(|path| path.to_str().is_some_and(|it| it.contains("a630"))).collect();
    files.sort();
    if files.is_empty() {
        eprintln!("\n*** SKIPPED: no captures of an A630 in {} ***\n", shared.join("a6xx").display());
    }
    files
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Assembles `source` to a file in `folder`.
fn made(folder: &Path, source: &str) -> PathBuf {
    let capture = assemble("it.a4", source, &mut NoFiles, Bounds::default()).unwrap();
    let path = folder.join("it.rd");
    fs::write(&path, capture).unwrap();
    path
}

/// The capture of `captures/a6xx-stream.a4`, made in `folder`.
fn stream(folder: &Path) -> PathBuf {
    made(folder, &fs::read_to_string(root().join("captures/a6xx-stream.a4")).unwrap())
}

fn decoded(command: &str, capture: &Path) -> Ended {
    let folder = TempDir::new().unwrap();
    run(command, capture, folder.path())
}

#[test]
fn a_source_gives_the_bytes_of_its_capture() {
    for path in recorded() {
        let capture = unpacked(&path);
        let source = disassemble(&capture).text;
        let bounds = Bounds::of_steps(STEPS);
        let again = assemble("it.a4", &source, &mut NoFiles, bounds).map_err(|error| error.to_string());
        assert!(again.as_deref() == Ok(&capture[..]), "{}", path.display());
        assert!(source.contains("CP_EVENT_WRITE"), "{}", path.display());
    }
}

#[test]
fn recorded_streams_are_read_to_their_end() {
    for path in recorded() {
        let ended = decoded("info IT", &path);
        assert!(ended.code == Some(0) && ended.stdout.starts_with("gpu              630\n"), "{ended}");
        let ended = decoded("decode IT --format summary", &path);
        assert!(ended.code == Some(0) && !ended.stdout.contains("error:"), "{ended}");
    }
}

#[test]
fn draws_and_blits_are_said_not_to_be_rendered() {
    let folder = TempDir::new().unwrap();
    let ended = decoded("replay IT", &stream(folder.path()));
    assert_eq!(ended.code, Some(4), "{ended}");
    for what in ["draws", "blits"] {
        let says = format!("{what} of an Adreno 630 are not rendered yet");
        assert!(ended.stderr.contains(&says), "{ended}");
    }
}

/// Four billion bins end at the budget. A table of bins that is missing ends them at once.
#[test]
fn a_loop_over_bins_is_paid() {
    let folder = TempDir::new().unwrap();
    for (prefix, status, says) in [
        ("PREFIX_DWORDS = 0", 4, "--max-work allows more"),
        ("PREFIX_ADDR = main, PREFIX_DWORDS = 0", 4, "--max-work allows more"),
        ("PREFIX_DWORDS = 1", 3, "command buffer of 1 dwords at 0x00000000 is in no buffer"),
        ("PREFIX_ADDR = 0x500000000, PREFIX_DWORDS = 4", 3, "of 4 dwords at 0x500000000 is in no buffer"),
    ] {
        let source = format!(
            "gpu_id 630\nbuffer main {{ CP_START_BIN(BIN_COUNT = 0xffffffff, {prefix}, BODY_DWORDS = 2)\n \
             PC_POWER_CNTL = 1\n CP_END_BIN }}\nsubmit main\n"
        );
        let ended = decoded("replay IT --max-work 20000000", &made(folder.path(), &source));
        assert!(ended.code == Some(status) && ended.stderr.contains(says), "{prefix}: {ended}");
    }
}

/// The first packet of the body stands at another place for each of these, so that a mistake shows.
#[test]
fn groups_run_in_their_pass_alone() {
    let query = |value: &str| format!("decode IT --query {value}");
    let folder = TempDir::new().unwrap();
    let stream = stream(folder.path());
    let [red, green, blue] = ["RB_BLEND_RED_F32", "RB_BLEND_GREEN_F32", "RB_BLEND_BLUE_F32"]
        .map(|register| decoded(&query(register), &stream).stdout);
    assert!(blue.contains("0.75") && !red.contains("0.25") && !green.contains("0.5"), "{red}{green}{blue}");
}

/// What the draws and dispatches of a capture find.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// For each: RB_BLEND_BLUE_F32, RB_MRT[0].BASE, VFD_INDEX_OFFSET, and c0.x of the compute stage.
    calls: Vec<(u32, u64, u32, u32)>,
}

impl Observer for Found {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if matches!(call, Call::Blit(_)) {
            return Flow::Continue;
        }
        let read = |name: &str| gpu.regs.read(REGISTERS.by_name(name).unwrap());
        let base = Address::wide(read("RB_MRT[0].BASE_LO"), read("RB_MRT[0].BASE_HI")).get();
        let constant = gpu.loaded.stage(Stage::CS).constants[0][0];
        self.calls.push((read("RB_BLEND_BLUE_F32"), base, read("VFD_INDEX_OFFSET"), constant));
        Flow::Continue
    }
}

fn found(capture: &[u8]) -> Found {
    let mut found = Found::default();
    Playback::default().run(Sections::new(capture).unwrap(), &mut Skip::default(), &mut found);
    found
}

/// The source of the stream.
fn source() -> String {
    fs::read_to_string(root().join("captures/a6xx-stream.a4")).unwrap()
}

/// What a command says of the stream.
fn of_stream(command: &str) -> Ended {
    let folder = TempDir::new().unwrap();
    run(command, &stream(folder.path()), folder.path())
}

/// The first draw has groups of state, which run behind packets before it; its edit is a group that runs last. The
/// second draw and the dispatch have none.
#[test]
fn an_edit_is_saved_as_packets_of_the_generation() {
    let folder = TempDir::new().unwrap();
    let edits = "--edit f0:RB_BLEND_BLUE_F32=0x3e800000 --edit f0:RB_MRT[0].BASE=0x100010040 \
                 --edit f1:REG_A6XX_VFD_INDEX_OFFSET=9 --edit f2:cs.c0.x=7";
    let ended =
        run(&format!("replay IT {edits} --save FOLDER/edited.rd"), &stream(folder.path()), folder.path());
    let says = "blits of an Adreno 630 are not rendered yet";
    assert!(ended.code == Some(4) && ended.stderr.contains(says), "{ended}");
    let source = source();
    let original = found(&assemble("it.a4", &source, &mut NoFiles, Bounds::default()).unwrap()).calls;
    let (blue, base, half) = (0x3f40_0000, 0x1_0001_0000_u64, 0x3f00_0000);
    assert_eq!(original, [(blue, base, 0, 0), (blue, base, 7, half), (blue, base, 7, half)]);
    let edited = fs::read(folder.path().join("edited.rd")).unwrap();
    let expected = [(0x3e80_0000, base + 0x40, 0, 0), (blue, base, 9, half), (blue, base, 7, 7)];
    assert_eq!(found(&edited).calls, expected);
    let text = disassemble(&edited).text;
    for part in [
        "RB_BLEND_BLUE_F32 = 0.25\n",
        "RB_MRT[0].BASE_LO = 0x10040\n",
        "VFD_INDEX_OFFSET = 0x9\n",
        "GROUP_ID = 31",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let again = assemble("it.a4", &text, &mut NoFiles, Bounds::default()).unwrap();
    assert!(again == edited, "the text is of all packets");
}

/// Where the stream has all groups, the edit stands behind the packets of the last one.
#[test]
fn an_edit_runs_behind_the_last_group() {
    let folder = TempDir::new().unwrap();
    let source = source();
    let last = source.replace("SYSMEM | GROUP_ID = 2 }", "SYSMEM | GROUP_ID = 31 }");
    assert_ne!(last, source);
    let capture = made(folder.path(), &last);
    let edits = "--edit f0:RB_BLEND_RED_F32=0x3e800000";
    let ended = run(&format!("replay IT {edits} --save FOLDER/edited.rd"), &capture, folder.path());
    assert_eq!(ended.code, Some(4), "{ended}");
    let edited = fs::read(folder.path().join("edited.rd")).unwrap();
    assert_eq!(found(&edited), found(&fs::read(&capture).unwrap()), "blue is set as before");
    let text = disassemble(&edited).text;
    assert!(text.contains("RB_BLEND_BLUE_F32 = 0.75\n    RB_BLEND_RED_F32 = 0.25\n"), "{text}");
}

/// Programs of an A6xx are in memory: the capture gets another one, and packets that name it and the old one again.
#[test]
fn an_edited_program_is_saved_behind_the_command_buffer() {
    let folder = TempDir::new().unwrap();
    let program = folder.path().join("new.ir3");
    fs::write(&program, "(nop1) add.f r0.x, r0.y, r0.z\nend\n").unwrap();
    let edit = format!("--edit f2:cs={} --save FOLDER/edited.rd", program.display());
    let ended = run(&format!("replay IT {edit}"), &stream(folder.path()), folder.path());
    assert_eq!(ended.code, Some(4), "{ended}");
    let of = |capture: &Path| {
        let ended = run("decode IT --shaders", capture, folder.path());
        assert_eq!(ended.code, Some(0), "{ended}");
        ended.stdout
    };
    let [original, edited] =
        [stream(folder.path()), folder.path().join("edited.rd")].map(|capture| of(&capture));
    let lines = |text: &str, part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(
        [&original, &edited].map(|text| lines(text, "(nop1) add.f r0.x, r0.y, r0.z")),
        [0, 1],
        "{edited}"
    );
    for register in ["a9bc SP_CS_INSTRLEN", "a9b4 SP_CS_OBJ_START_LO", "a9b3 SP_CS_OBJ_FIRST_EXEC_OFFSET"] {
        let more = lines(&edited, register) - lines(&original, register);
        assert_eq!(more, 2, "{register} is set and set back: {edited}");
    }
}

#[test]
fn an_edit_inside_of_repeated_dwords_is_not_saved() {
    let folder = TempDir::new().unwrap();
    let draw = "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX }, \
                NUM_INSTANCES = 1, NUM_INDICES = 3)";
    for before in [
        "CP_START_BIN(BIN_COUNT = 1, PREFIX_DWORDS = 0, BODY_DWORDS = 4)",
        "CP_COND_REG_EXEC({ MODE = RENDER_MODE | SYSMEM | GMEM | BINNING }, { 4 })",
    ] {
        let end = if before.contains("BIN_COUNT") { "CP_END_BIN" } else { "" };
        let source = format!("gpu_id 630\nbuffer main {{ {before}\n {draw}\n {end} }}\nsubmit main\n");
        let capture = made(folder.path(), &source);
        let ended =
            run("replay IT --edit f0:VFD_INDEX_OFFSET=1 --save FOLDER/edited.rd", &capture, folder.path());
        let says = "a packet that skips others stands before the edited draw";
        assert!(ended.code == Some(4) && ended.stderr.contains(says), "{before}: {ended}");
        assert!(!folder.path().join("edited.rd").exists());
    }
}

/// Names are those of the chip of the capture, which is known after the arguments.
#[test]
fn an_edit_has_the_names_of_the_chip() {
    let folder = TempDir::new().unwrap();
    let [cube, stream] = [crate::captures::own("cube"), stream(folder.path())];
    for (capture, edit, code, says) in [
        (
            stream.clone(),
            "f0:RB_DEPTH_CONTROL.ZFUNC=1",
            2,
            "of a capture of an A6xx: `RB_DEPTH_CONTROL.ZFUNC` is no register",
        ),
        (
            cube.clone(),
            "f0:RB_DEPTH_CNTL.ZFUNC=1",
            2,
            "of a capture of an A4xx: `RB_DEPTH_CNTL.ZFUNC` is no register",
        ),
        (
            cube,
            "f0:RB_DEPTH_CNTRL=1",
            2,
            "invalid value 'f0:RB_DEPTH_CNTRL=1' for '--edit <DRAW:WHAT=VALUE>'",
        ),
        (stream.clone(), "f0:fs=Cargo.toml", 2, "Cargo.toml:1:1: "),
    ] {
        let ended = decoded(&format!("replay IT --edit {edit}"), &capture);
        assert!(ended.code == Some(code) && ended.stderr.contains(says), "{edit}: {ended}");
    }
}

#[test]
fn memory_is_found_by_registers_of_64_bits() {
    for name in ["VFD_FETCH[0].BASE", "VFD_FETCH[0].BASE_LO", "REG_A6XX_VFD_FETCH_BASE(0)"] {
        let ended = of_stream(&format!("memory IT {name} --as floats"));
        assert!(ended.code == Some(4) && ended.stdout.contains("16 bytes at"), "{ended}");
        assert!(ended.stdout.contains("1.0") && ended.stdout.contains("4.0"), "{ended}");
        // What draws and blits would have changed is not known.
        assert!(ended.stderr.contains("blits of an Adreno 630 are not rendered yet"), "{ended}");
    }
    let ended = of_stream("memory IT RB_DEPTH_INFO");
    assert!(ended.code == Some(2) && ended.stderr.contains("`RB_DEPTH_INFO` names no memory"), "{ended}");
}

#[test]
fn an_address_is_explained_by_registers_of_64_bits() {
    let ended = of_stream("explain 0x100010048 --capture IT");
    assert!(ended.stdout.contains("buffer    0x100010000 + 0x48, 256 bytes"), "{ended}");
    assert!(
        ended.stdout.contains("register  RB_MRT[0].BASE = 0x100010000, + 0x48; written 1 times"),
        "{ended}"
    );
    let ended = of_stream("explain 0x10001000000000000 --capture IT");
    assert!(ended.code == Some(2) && ended.stderr.contains("is no address of 49 bits"), "{ended}");
}

#[test]
fn nothing_is_served_of_what_cannot_be_drawn() {
    let ended = of_stream("serve IT");
    assert!(ended.code == Some(4) && ended.stdout.is_empty(), "{ended}");
    assert!(ended.stderr.contains("draws of an A6xx are not rendered yet, so nothing is served"), "{ended}");
}

/// Commands whose engine is their own say that blits are left out, too.
#[test]
fn each_command_that_draws_says_what_is_left_out() {
    let folder = TempDir::new().unwrap();
    let source = "gpu_id 630\nbuffer main { CP_EVENT_WRITE({ EVENT = BLIT }) }\nsubmit main\n";
    let capture = made(folder.path(), source);
    for command in [
        "replay IT",
        "report IT -o FOLDER/page.html",
        "memory IT 0x1000+4",
        "replay IT --timeline FOLDER/t.json",
    ] {
        let ended = run(command, &capture, folder.path());
        let says = "blits of an Adreno 630 are not rendered yet";
        assert!(ended.code == Some(4) && ended.stderr.contains(says), "{command}: {ended}");
    }
}

/// The golden of the stream says which register has another value.
#[test]
fn a_golden_holds_the_registers_of_a_stream() {
    let folder = TempDir::new().unwrap();
    let [fixtures, captures] = ["fixtures/a6xx-stream", "captures"].map(|name| folder.path().join(name));
    fs::create_dir_all(&fixtures).unwrap();
    fs::create_dir_all(&captures).unwrap();
    for file in ["case.toml", "state.txt", "packets.txt"] {
        fs::copy(root().join("fixtures/a6xx-stream").join(file), fixtures.join(file)).unwrap();
    }
    let source = source();
    let edited = |from: &str, to: &str| {
        assert_eq!(source.matches(from).count(), 1, "{from}");
        fs::write(captures.join("a6xx-stream.a4"), source.replace(from, to)).unwrap();
        run("check --fixtures FOLDER/fixtures", &stream(folder.path()), folder.path())
    };
    let same = edited("RB_MRT[0].BASE = stored", "RB_MRT[0].BASE = stored");
    assert!(same.code == Some(0) && same.stdout.contains("a6xx-stream: same"), "{same}");
    for (from, to, says) in [
        ("VFD_INDEX_OFFSET = 7", "VFD_INDEX_OFFSET = 6", "VFD_INDEX_OFFSET"),
        ("RB_MRT[0].BASE = stored", "RB_MRT[0].BASE = stored + (1 << 40)", "RB_MRT[0].BASE_HI"),
        ("RB_BLEND_BLUE_F32 = 0.75", "RB_BLEND_BLUE_F32 = 0.5", "RB_BLEND_BLUE_F32"),
        ("DIRTY | SYSMEM | GROUP_ID = 2", "DIRTY | GMEM | GROUP_ID = 2", "RB_BLEND_BLUE_F32"),
    ] {
        let ended = edited(from, to);
        assert!(ended.code == Some(1) && ended.stdout.contains(says), "{to}: {ended}");
    }
}

/// What is not rendered is not supported, and no fault of the program.
#[test]
fn results_do_not_call_equal_what_no_build_renders() {
    let folder = TempDir::new().unwrap();
    let source = source();
    let capture = made(folder.path(), &source);
    let says = "draws of an Adreno 630 are not rendered yet";
    let ended = run("corpus run IT -o FOLDER/results", &capture, folder.path());
    let row = fs::read_to_string(folder.path().join("results/results.jsonl")).unwrap();
    let unsupported = row.split("\"unsupported\":").nth(1).unwrap();
    assert!(ended.code == Some(4) && unsupported.contains(says), "{row}");
    assert!(row.contains("\"faults\":[]"), "{row}");
    let build = env!("CARGO_BIN_EXE_a4emu");
    let ended = run(&format!("bisect {build} {build} IT"), &capture, folder.path());
    assert!(ended.code == Some(4) && ended.stderr.contains(says), "{ended}");
    let ended = run("replay IT --out FOLDER/pictures", &capture, folder.path());
    let summary = fs::read_to_string(folder.path().join("pictures/summary.json")).unwrap();
    let unsupported = summary.split("\"unsupported\":").nth(1).unwrap();
    assert!(ended.code == Some(4) && unsupported.contains(says), "{summary}");
}

/// A stream with programs, and a descriptor that one of them reads.
fn sampling(folder: &Path) -> PathBuf {
    let source = fs::read_to_string(root().join("src/rules/a6xx/draw.a4")).unwrap();
    let source = source.replace("SP_FS_OBJ_START = program", "SP_FS_OBJ_START = sampling").replace(
        "buffer descriptors @ 0x100050000 { zero 0x1000 }",
        "buffer descriptors @ 0x100050000 { TEX_CONST_0 { FMT = FMT6_9_9_9_E5_FLOAT } zero 0xffc }",
    );
    made(folder, &source)
}

#[test]
fn coverage_counts_registers_programs_and_descriptors() {
    let folder = TempDir::new().unwrap();
    let capture = sampling(folder.path());
    run("replay IT --coverage FOLDER/used.json", &capture, folder.path());
    let used = fs::read_to_string(folder.path().join("used.json")).unwrap();
    let used: serde_json::Value = serde_json::from_str(&used).unwrap();
    let count = |kind: &str, name: &str| used[kind][name].as_u64();
    assert_eq!(count("ops", "FS isaml"), Some(1), "{}", used["ops"]);
    assert_eq!(
        count("enumerators", "TEX_CONST_0.FMT=FMT6_9_9_9_E5_FLOAT"),
        Some(3),
        "two draws, and a blit before which it is set"
    );
    assert_eq!(count("enumerators", "RB_DEPTH_BUFFER_INFO.DEPTH_FORMAT=DEPTH6_32"), Some(1));
    let counts = [("RB_MRT[].BASE_LO", Some(1)), ("RB_STENCIL_INFO", Some(0)), ("RB_DEPTH_CONTROL", None)];
    counts.into_iter().for_each(|(name, expected)| assert_eq!(count("registers", name), expected, "{name}"));
    run("corpus run IT --coverage -o FOLDER/run", &capture, folder.path());
    let ended = run("corpus coverage FOLDER/run --unused", &capture, folder.path());
    assert_eq!(ended.code, Some(0), "{ended}");
    for line in ["  CP_DRAW_INDX_OFFSET  2 in 1\n", "  FS isaml  1 in 1\n", "  CP_EXEC_CS  0 in 0\n"] {
        assert!(ended.stdout.contains(line), "{line}: {ended}");
    }
    assert!(!ended.stdout.contains("CP_LOAD_STATE4"), "tables of the A4xx are not asked for: {ended}");
}

#[test]
fn a_report_says_which_pictures_are_missing() {
    let folder = TempDir::new().unwrap();
    let ended = run("report IT -o FOLDER/page.html", &sampling(folder.path()), folder.path());
    assert_eq!(ended.code, Some(4), "{ended}");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    let mut data = String::new();
    for packed in page.split("type=\"application/octet-stream\">").skip(1) {
        // Extras are lines with a key.
        for line in packed.split_once("</script>").unwrap().0.lines() {
            let packed = STANDARD.decode(line.rsplit(' ').next().unwrap()).unwrap();
            DeflateDecoder::new(&packed[..]).read_to_string(&mut data).unwrap();
        }
    }
    for part in ["pictures are missing: ", "RB_DEPTH_CNTL", "isaml", "FMT6_9_9_9_E5_FLOAT"] {
        assert!(data.contains(part), "{part}: {data}");
    }
}

/// OPCODE selects what follows DRAW_COUNT, and what follows has names.
#[test]
fn dwords_of_indirect_draws_have_names() {
    let folder = TempDir::new().unwrap();
    let listed = |rest: &str| {
        let source = format!(
            "gpu_id 630\nbuffer main {{ CP_DRAW_INDIRECT_MULTI({{ PRIM_TYPE = DI_PT_TRILIST }}, {rest}) }}\nsubmit main\n"
        );
        decoded("decode IT", &made(folder.path(), &source)).stdout
    };
    let text = listed(
        "{ OPCODE = INDIRECT_OP_INDEXED }, DRAW_COUNT = 1, INDEX = 0x100020000, MAX_INDICES = 6, \
         INDIRECT = 0x300040000, STRIDE = 20",
    );
    let named = "{ INDEX_LO = 0x20000 } { INDEX_HI = 0x1 } { MAX_INDICES = 6 } { INDIRECT_LO = 0x40000 } { INDIRECT_HI = 0x3 }";
    assert!(text.contains(named) && text.contains("{ STRIDE = 20 }"), "{text}");
}

#[test]
fn blits_and_targets_are_users_of_memory() {
    let folder = TempDir::new().unwrap();
    let ended = run("memory IT 0x100030000 --who", &sampling(folder.path()), folder.path());
    assert_eq!(ended.code, Some(4), "{ended}");
    for part in ["target 0 (not rendered)", "RB_BLIT_DST"] {
        assert!(ended.stdout.contains(part), "{part}: {ended}");
    }
    let copy = "gpu_id 630\nbuffer from @ 0x100010000 { zero 0x1000 }\nbuffer to @ 0x100020000 { zero 0x1000 }\n\
                buffer main { SP_PS_2D_SRC = from  SP_PS_2D_SRC_PITCH { PITCH = 64 }  SP_PS_2D_SRC_SIZE { HEIGHT = 4 }\n\
                RB_2D_DST = to  RB_2D_DST_PITCH { VALUE = 128 }  GRAS_2D_DST_BR { Y = 3 }\n\
                CP_BLIT({ OP = BLIT_OP_COPY }) }\nsubmit main\n";
    let capture = made(folder.path(), copy);
    for (address, part, bytes) in [("0x100010000", "SP_PS_2D_SRC", 256), ("0x100020000", "RB_2D_DST", 512)] {
        let ended = run(&format!("memory IT {address} --who --json"), &capture, folder.path());
        assert!(
            ended.stdout.contains(part) && ended.stdout.contains(&bytes.to_string()),
            "{address}: {ended}"
        );
    }
}

/// A copy, a fill, and in each of two tiles a load, a clear and a store.
pub const BLITS: &str = "gpu_id 630
    buffer from @ 0x100010000 { zero 0x1000 }
    buffer to @ 0x100020000 { zero 0x1000 }
    buffer tile @ 0x100030000 {
        RB_BLIT_INFO { TYPE = BLIT_EVENT_LOAD }
        CP_EVENT_WRITE({ EVENT = BLIT })
        RB_BLIT_INFO { TYPE = BLIT_EVENT_CLEAR }
        CP_EVENT_WRITE({ EVENT = BLIT })
        RB_BLIT_INFO { TYPE = BLIT_EVENT_STORE_AND_CLEAR }
        CP_EVENT_WRITE({ EVENT = BLIT })
    }
    buffer main {
        SP_PS_2D_SRC = from  SP_PS_2D_SRC_PITCH { PITCH = 64 }  SP_PS_2D_SRC_SIZE { WIDTH = 16 | HEIGHT = 8 }
        SP_PS_2D_SRC_INFO { COLOR_FORMAT = FMT6_8_8_8_8_UNORM | TILE_MODE = TILE6_3 | FLAGS | COLOR_SWAP = WXYZ }
        GRAS_2D_SRC_TL_X { VALUE = 2 }  GRAS_2D_SRC_BR_X { VALUE = 5 }
        GRAS_2D_SRC_TL_Y { VALUE = 1 }  GRAS_2D_SRC_BR_Y { VALUE = 3 }
        RB_2D_DST = to  RB_2D_DST_PITCH { VALUE = 128 }  GRAS_2D_DST_BR { X = 3 | Y = 2 }
        RB_2D_DST_INFO { COLOR_FORMAT = FMT6_32_FLOAT }
        CP_BLIT({ OP = BLIT_OP_COPY })
        RB_2D_BLIT_CNTL { SOLID_COLOR }
        RB_2D_SRC_SOLID_C0 = 7
        CP_BLIT({ OP = BLIT_OP_FILL })
        CP_SET_MARKER({ MODE = RM6_BIN_RENDER_START })
        RB_BLIT_DST = to
        RB_BLIT_DST_PITCH { VALUE = 192 }
        RB_BLIT_DST_INFO { COLOR_FORMAT = FMT6_5_6_5_UNORM }
        RB_BLIT_BASE_GMEM { VALUE = 0x8000 }
        RB_BLIT_SCISSOR_BR { X = 31 | Y = 15 }
        CP_INDIRECT_BUFFER(IB_BASE = tile, { 12 })
        CP_INDIRECT_BUFFER(IB_BASE = tile, { 12 })
    }
    submit main";

#[test]
fn blits_are_rows_with_their_surfaces() {
    let folder = TempDir::new().unwrap();
    let capture = made(folder.path(), BLITS);
    let ended = run("show IT --json", &capture, folder.path());
    let frame: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let of = |row: &serde_json::Value| {
        let text = |key: &str| row[key].as_str().unwrap_or("none").to_owned();
        format!("{} {} {} {} {}", text("kind"), text("name"), text("does"), text("pass"), row["runs"])
    };
    let rows: Vec<String> = frame["rows"].as_array().unwrap().iter().map(of).collect();
    let expected = [
        "blit CP_BLIT copy none 1",
        "blit CP_BLIT fill none 1",
        "blit BLIT load gmem 2",
        "blit BLIT clear gmem 2",
        "blit BLIT store_and_clear gmem 2",
    ];
    assert_eq!(rows, expected);
    assert_eq!(ended.code, Some(4), "{ended}");
    let lines = |draw: &str| run(&format!("show IT --draw {draw}"), &capture, folder.path()).stdout;
    let copy = [
        "draw         0 f0 submit 0 blit CP_BLIT copy\n",
        "source       2,1 4x3 of 8_8_8_8_UNORM WXYZ in 0x100010000 pitch 64, TILE6_3 with UBWC (SP_PS_2D_SRC)\n",
        "destination  0,0 4x3 of 32_FLOAT WZYX in 0x100020000 pitch 128, TILE6_LINEAR (RB_2D_DST)\n",
    ];
    let fill =
        ["color        0x00000007 0x00000000 0x00000000 0x00000000\n", "destination  0,0 4x3 of 32_FLOAT"];
    let memory = "0,0 32x16 of 5_6_5_UNORM WZYX in 0x100020000 pitch 192, TILE6_LINEAR (RB_BLIT_DST)\n";
    let tile = "0,0 32x16 of 5_6_5_UNORM WZYX in tile memory 0x8000 (RB_BLIT_BASE_GMEM)\n";
    let [load, clear, store] = [
        vec![format!("source       {memory}"), format!("destination  {tile}")],
        vec![format!("destination  {tile}")],
        vec![format!("source       {tile}"), format!("destination  {memory}")],
    ];
    for part in copy {
        assert!(lines("f0").contains(part), "{part}{}", lines("f0"));
    }
    for part in fill {
        assert!(lines("f1").contains(part) && !lines("f1").contains("source"), "{part}{}", lines("f1"));
    }
    for (draw, parts) in [("f2", load), ("f3", clear), ("f4", store)] {
        for part in parts {
            assert!(lines(draw).contains(&part), "{part}{}", lines(draw));
        }
    }
    assert!(!lines("f3").contains("source"), "{}", lines("f3"));
    assert!(lines("f0").contains("changed      not known: it is not rendered\n"), "{}", lines("f0"));
    let ended = run("debug IT --draw f0 --stage cs", &capture, folder.path());
    assert!(ended.stderr.contains("is a blit (CP_BLIT), which runs no shader"), "{ended}");
    let listed = run("decode IT", &capture, folder.path()).stdout;
    assert!(listed.contains("draw 0 f0: blit; ") && listed.contains("draw 7 f4: blit, gmem; "), "{listed}");
}
