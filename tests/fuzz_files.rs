//! Fuzz targets for the executing side: dwords for the command processor, and the files that commands read
//! beside captures. No input causes a panic, the work stays within the budget, and a file's contents are read
//! back unchanged.
//!
//! An input decides how a valid file is changed ([`Choices`]), or is used as it is. `cargo test` runs each
//! target on random input and prints its seed on failure. It also runs the inputs kept under `__fuzz__`.
//! `scripts/fuzz` gives the targets more time.

#[path = "fuzz/bytes.rs"]
mod bytes;
#[path = "fuzz/choices.rs"]
mod choices;

use std::fs::{self, File};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use a4emu::check::{self, Case};
use a4emu::debug::session::Session;
use a4emu::debug::target::Target;
use a4emu::pico;
use a4emu_decoder::a4xx::pm4::PACKETS;
use a4emu_decoder::asm::{Bounds, assemble, pack};
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Cp, Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_inspect::describe::Capture;
use a4emu_inspect::diff;
use a4emu_inspect::golden::{self, Frame, Tolerance};
use a4emu_inspect::report::{self, html};
use a4emu_support::folders::Folders;
use a4emu_support::limits::{Limits, WorkLimits};
use a4emu_support::options::Shared;
use a4emu_support::out_file::Inputs;
use a4emu_support::status::Status;
use bolero::check;
use choices::Choices;
use clap::Parser;
use rayon::ThreadPoolBuilder;
use tempfile::TempDir;

/// Time for each target under `cargo test`.
const TIME: Duration = Duration::from_secs(2);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The input as it is, or `good` with some bytes changed; the input decides.
fn changed(good: &[u8], input: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(input);
    if choices.below(4) == 0 {
        return input.to_vec();
    }
    let mut bytes = good.to_vec();
    for _ in 0..1 + choices.below(4) {
        let (from, to) = (choices.below(bytes.len()), choices.below(bytes.len()));
        let end = (from + choices.below(40)).min(bytes.len());
        match choices.below(4) {
            0 => drop(bytes.drain(from..end)),
            1 => {
                let part = bytes[from..end].to_vec();
                drop(bytes.splice(to..to, part));
            }
            2 => drop(bytes.splice(from..from, choices.word().to_string().into_bytes())),
            _ => {
                let new = choices.near(bytes.get(from).copied().unwrap_or(0).into()) as u8;
                bytes.splice(from..end.min(from + 1), [new]);
            }
        }
    }
    bytes
}

/// A folder with one file, which is rewritten for each input.
struct Place {
    folder: TempDir,
    path: PathBuf,
}

impl Place {
    fn of(name: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let path = folder.path().join(name);
        Self { folder, path }
    }

    fn write(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).expect("a temporary file");
    }
}

/// A state file is read and written back unchanged, or the error names the line.
#[test]
fn state_files() {
    let good = fs::read_to_string(root().join("fixtures/triangle/state.txt")).expect("a golden file");
    assert_eq!(golden::parse(&good).map(|state| state.to_string()).as_ref(), Ok(&good));
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let bytes = changed(good.as_bytes(), input);
        let text = String::from_utf8_lossy(&bytes);
        match golden::parse(&text) {
            Ok(state) => assert_eq!(golden::parse(&state.to_string()).as_ref(), Ok(&state)),
            Err(golden::ParseError::BadLine { number, text: line }) => {
                assert_eq!(text.lines().nth(number - 1), Some(line.as_str()));
            }
            Err(golden::ParseError::NotAState) => {}
        }
    });
}

/// A manifest gives a case, or an error with its position.
#[test]
fn manifests() {
    const GOOD: &str = "capture = \"../../captures/triangle.rd.gz\"\nsubmit = \"1..3\"\ndraw = \"f2\"\n\
                        needs = [\"replay\", \"render\"]\nknown_failure = \"why\"\n\
                        [frame]\nchannel = 2\npixels = 10\n";
    let place = Place::of("case.toml");
    let dir = place.folder.path();
    let folders = check::reach(dir, &[]);
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        place.write(&changed(GOOD.as_bytes(), input));
        match Case::read(dir, &folders, &Inputs::default()) {
            Ok(case) => drop(case.open().err().map(|error| format!("{error:#}"))),
            Err(error) => assert!(format!("{error:#}").contains("case.toml"), "{error:#}"),
        }
    });
}

/// A PNG chunk with its checksum, which a fuzzer cannot guess.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut sum = flate2::Crc::new();
    sum.update(kind);
    sum.update(data);
    [&(data.len() as u32).to_be_bytes(), &kind[..], data, &sum.sum().to_be_bytes()].concat()
}

/// Header of a PNG of 4x4 pixels, RGBA.
const HEADER: [u8; 13] = [0, 0, 0, 4, 0, 0, 0, 4, 8, 6, 0, 0, 0];

/// The compressed pixels of the PNG.
fn pixels() -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &[0; 68]).expect("memory can be written");
    packed.finish().expect("memory can be written")
}

fn png(header: &[u8], data: &[u8]) -> Vec<u8> {
    let (header, data) = (chunk(b"IHDR", header), chunk(b"IDAT", data));
    [&b"\x89PNG\r\n\x1a\n"[..], &header, &data, &chunk(b"IEND", &[])].concat()
}

/// A PNG with a changed header, changed data, or both.
fn picture(input: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(input);
    let mut header = HEADER;
    for _ in 0..choices.below(3) {
        let at = choices.below(header.len());
        header[at] = choices.near(header[at].into()) as u8;
    }
    match choices.below(2) {
        0 => png(&header, &pixels()),
        _ => png(&header, &changed(&pixels(), input)),
    }
}

/// A golden frame is compared or refused. A frame of another size never compares equal.
#[test]
fn golden_frames() {
    let place = Place::of("frame.png");
    let frame = Frame { width: 4, height: 4, pixels: vec![0; 64] };
    let same = |bytes: &[u8]| {
        place.write(bytes);
        let golden = File::open(&place.path).expect("it was written");
        matches!(frame.against(golden, Tolerance::default()), Ok(None))
    };
    assert!(same(&png(&HEADER, &pixels())), "unchanged it is the same");
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let bytes = picture(input);
        let is_ours = bytes[16..24] == HEADER[..8];
        assert!(!same(&bytes) || is_ours, "a frame of another size is the same");
    });
}

/// A picture in a source becomes bytes, or an error in the source.
#[test]
fn source_pictures() {
    const SOURCE: &str = "gpu_id 420\nbuffer texture @ 0x10000 {\n    png \"picture.png\"\n}\n";
    let place = Place::of("picture.png");
    let name = place.folder.path().join("source.a4").display().to_string();
    let mut disk = Disk::new(Folders::new([place.folder.path()]));
    place.write(&png(&HEADER, &pixels()));
    assemble(&name, SOURCE, &mut disk, Bounds::of_steps(1 << 20)).expect("unchanged it is good");
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        place.write(&picture(input));
        let mut disk = disk.clone();
        if let Err(error) = assemble(&name, SOURCE, &mut disk, Bounds::of_steps(1 << 20)) {
            assert!(error.range.start < SOURCE.len(), "{error:?}");
        }
    });
}

/// The commands of PicoGpu's front end.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: pico::Args,
}

/// A scene is drawn within its budget, or refused.
#[test]
fn pico_scenes() {
    let pico = root().join("captures/pico");
    let good = fs::read(pico.join("triangle.toml")).expect("a scene");
    let place = Place::of("scene.toml");
    for shader in ["passthrough.vs.pico", "color.fs.pico"] {
        fs::copy(pico.join(shader), place.folder.path().join(shader)).expect("a shader");
    }
    let picture = place.folder.path().join("out.png");
    let (scene, out) = (place.path.display().to_string(), picture.display().to_string());
    let draw = || {
        let cli = Cli::parse_from(["pico", "draw", &scene, "--png", &out, "--max-work", "1M"]);
        pico::run(&cli.args, &quiet())
    };
    place.write(&good);
    draw().expect("unchanged it is good");
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        place.write(&changed(&good, input));
        drop(draw().map_err(|error| format!("{error:#}")));
    });
}

/// Log2 of the smallest and the largest budget of an input of [`commands`].
const UNITS: [usize; 2] = [8, 22];

/// Work that may exceed the budget: warps and bands that started within their share finish.
const SLACK: u64 = 1 << 18;

/// Addresses of the input's command stream and of a buffer for its reads and writes.
const STREAM: u32 = 0x7000_0000;
const SCRATCH: u32 = 0x7100_0000;
const SCRATCH_BYTES: u32 = 1 << 16;

/// Captures whose final state is the initial state of a stream.
const BEFORE: [&str; 4] = ["triangle", "stencil", "compute", "xfb"];

/// All opcodes that have a row.
static OPCODES: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..=0x7f).filter(|opcode| PACKETS.row(*opcode).is_some()).collect());

/// A value for a register or a packet: near the old one, an address, or a small number.
fn value(choices: &mut Choices<'_>, old: u32) -> u32 {
    match choices.below(4) {
        0 => choices.near(old),
        1 => SCRATCH + choices.below(SCRATCH_BYTES as usize) as u32,
        2 => STREAM + choices.below(0x400) as u32,
        _ => choices.below(16) as u32,
    }
}

/// A random stream of packets with a draw in it.
fn stream(choices: &mut Choices<'_>, gpu: &Gpu) -> Vec<u32> {
    let mut dwords = Vec::new();
    for _ in 0..choices.below(40) {
        let count = 1 + choices.below(6) as u32;
        match choices.below(8) {
            0 => dwords.push(choices.word()),
            1 => {
                dwords.push(pack::type3(0x38, 3));
                dwords.extend([value(choices, 0x84), value(choices, 1), value(choices, 3)]);
            }
            2..5 => {
                let opcode = choices.of(&OPCODES).copied().unwrap_or_default();
                dwords.push(match choices.below(8) {
                    0 => pack::type3_predicated(opcode, count),
                    _ => pack::type3(opcode, count),
                });
                dwords.extend((0..count).map(|_| value(choices, 1)));
            }
            _ => {
                let written: Vec<u32> = gpu.regs.iter().map(|(offset, _)| offset).collect();
                let register = choices.of(&written).copied().unwrap_or_default();
                dwords.push(pack::type0(register, count));
                dwords
                    .extend((register..register + count).map(|offset| value(choices, gpu.regs.read(offset))));
            }
        }
    }
    dwords
}

/// The results of a stream: registers, memory, number of reports, and work.
type After = (Vec<(u32, u32)>, Vec<u32>, usize, u64);

/// Runs the stream that `input` describes, after the capture that it selects.
fn run(input: &[u8]) -> After {
    let mut choices = Choices::new(input);
    let path =
        root().join("captures").join(choices.of(&BEFORE).expect("there are some")).with_extension("rd.gz");
    let sections = check::open(&path, &Folders::around(&path, &[])).expect("a capture of ours");
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    let mut gpu = playback.gpu;
    let dwords: Vec<u32> = match choices.below(4) {
        0 => input.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect(),
        _ => stream(&mut choices, &gpu),
    };
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    gpu.memory_mut().announce(STREAM, bytes.len() as u32, Some(&bytes));
    gpu.memory_mut().announce(SCRATCH, SCRATCH_BYTES, Some(&vec![0; SCRATCH_BYTES as usize]));
    let units = 1 << (UNITS[0] + choices.below(1 + UNITS[1] - UNITS[0]));
    gpu.budget = Budget::fixed(units);
    Cp::new(&mut gpu, &mut Renderer, &mut Silent).submit(STREAM, dwords.len() as u32);
    assert!(gpu.budget.spent() <= units + SLACK, "{} units of {units}", gpu.budget.spent());
    let memory = gpu.settle().memory().known_dwords(SCRATCH, SCRATCH_BYTES as usize / 4);
    (gpu.regs.iter().collect(), memory, gpu.report.troubles.iter().count(), gpu.budget.spent())
}

/// Any dwords run to an end within the budget. 1 and 3 threads give equal results.
#[test]
fn commands() {
    let threads = |count| ThreadPoolBuilder::new().num_threads(count).build().expect("threads");
    // The pools only run work: a panic leaves no state in them.
    let pools = AssertUnwindSafe([threads(1), threads(3)]);
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let [one, three] = pools.each_ref().map(|pool| pool.install(|| run(input)));
        assert_eq!(one, three);
    });
}

/// Captures that are changed and then queried.
const ASKED: [&str; 5] = ["triangle", "stencil", "compute", "xfb", "fbo"];

/// The bytes of the captures.
static CAPTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let unpacked = |name: &str| {
        let file = File::open(root().join("captures").join(name).with_extension("rd.gz")).expect("a capture");
        let mut bytes = Vec::new();
        let mut reader = flate2::read::MultiGzDecoder::new(file);
        std::io::Read::read_to_end(&mut reader, &mut bytes).expect("gzip");
        bytes
    };
    ASKED.iter().map(|name| unpacked(name)).collect()
});

/// Options for a run that writes nothing to stderr.
fn quiet() -> Shared {
    Shared { quiet: true, ..Shared::default() }
}

/// Budget of a query. Most changed captures need less.
const ASKED_WORK: u64 = 1 << 26;

/// `report` makes a page of any capture, and its script can read the data.
#[test]
fn reports() {
    let place = Place::of("capture.rd");
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let mut choices = Choices::new(input);
        let good = choices.of(&CAPTURES).expect("there are some");
        place.write(&bytes::mutant(good, &mut choices));
        let work = WorkLimits { max_work: Some(ASKED_WORK), ..WorkLimits::default() };
        let limits = Limits { work, ..Limits::default() };
        let capture = Capture::new(&place.path, &quiet()).expect("a file");
        if let Ok((mut frame, _)) = report::of_capture(&capture, &limits, &quiet()) {
            let page = html::with_data(&mut frame, 50 << 20).expect("a page");
            assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
        }
    });
}

/// A capture does not differ from itself. If it differs from another one, the output has a line for it.
#[test]
fn differences() {
    let (place, other) = (Place::of("a.rd"), Place::of("b.rd"));
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let mut choices = Choices::new(input);
        let good = choices.of(&CAPTURES).expect("there are some");
        place.write(&bytes::mutant(good, &mut choices));
        other.write(good);
        let b = if choices.below(2) == 0 { &place } else { &other };
        let [a, b] = [&place, b].map(|place| place.path.as_path());
        let work = WorkLimits { max_work: Some(256 << 20), ..WorkLimits::default() };
        let limits = Limits { work, ..Limits::default() };
        let options = match choices.below(4) {
            0 => diff::Options { tiles: true, limits, ..diff::Options::default() },
            1 => diff::Options { addresses: true, limits, ..diff::Options::default() },
            2 => diff::Options { first: true, limits, ..diff::Options::default() },
            _ => diff::Options { json: true, limits, ..diff::Options::default() },
        };
        let is_json = options.json;
        let mut out = Vec::new();
        let status = diff::run_to(&mut out, [a, b], &options, &quiet());
        if a == b && !is_json {
            assert_eq!(String::from_utf8_lossy(&out), "");
        }
        assert!(a != b || !matches!(status, Ok(Status::Differs)));
        assert!(!matches!(status, Ok(Status::Fine)) || is_json || out.is_empty());
    });
}

/// The arguments of `debug`.
#[derive(Parser)]
struct Stepped {
    #[command(flatten)]
    target: Target,
}

/// A session goes to each requested step. A step that is reached again has equal registers.
#[test]
fn sessions() {
    let place = Place::of("capture.rd");
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let mut choices = Choices::new(input);
        let good = choices.of(&CAPTURES).expect("there are some");
        let bytes = if choices.below(3) == 0 { good.clone() } else { bytes::mutant(good, &mut choices) };
        place.write(&bytes);
        let (path, draw) = (place.path.display().to_string(), format!("f{}", choices.below(4)));
        let stage = choices.of(&["vs", "hs", "ds", "gs", "fs", "cs"]).expect("a stage");
        let arguments = ["debug", &path, "--draw", &draw, "--stage", stage, "--max-work", "16M"];
        let Stepped { target } = Stepped::parse_from(arguments);
        // A target without steps is reported.
        let _ = target.reach(&quiet(), |session, _| {
            walk(session, &mut choices);
            Ok(())
        });
    });
}

/// Values of all registers in all lanes.
fn registers(session: &Session<'_>) -> Vec<[u32; 32]> {
    (0..192).map(|scalar| session.warp().full(scalar).0).collect()
}

fn walk(mut session: Session<'_>, choices: &mut Choices<'_>) {
    for _ in 0..choices.below(12) {
        let count = choices.below(200) as u64;
        match choices.below(6) {
            0 => drop(session.run()),
            1 => drop(session.run_back()),
            2 => drop(session.back(count)),
            3 => drop(session.forward_in(choices.below(32))),
            4 => drop(session.back_in(choices.below(32))),
            _ => {
                let before = session.position();
                session.advance(count);
                let (there, found) = (session.position(), registers(&session));
                session.back(there - before);
                session.advance(there - before);
                if session.position() == there {
                    assert_eq!(registers(&session), found);
                }
            }
        }
        assert!(session.first_position() <= session.position());
    }
}
