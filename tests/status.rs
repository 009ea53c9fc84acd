//! The exit status of the command: 0 success or no difference, 1 difference, 2 wrong use, 3 damaged input, 4
//! not supported or cut off. If several apply, the worst wins.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use a4emu_decoder::adreno::capture::{Body, Section, Sections};
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// A command line, its expected status, and text that stderr contains (empty: any text).
type Row = (&'static str, i32, &'static str);

/// A shader that costs work for each line of stdin.
const SHADER: &str = "#vertexShader\n#input r0.xyz\n#output r12.xyzw\niadd r4.xy r0 100\nmov r12 r4\n";
/// A source for an empty capture.
const SOURCE: &str = "gpu_id 420\nbuffer b { RB_MODE_CONTROL { WIDTH = 32 } }\nsubmit b\n";

/// The folder in which the commands of a table run.
struct Folder(TempDir);

impl Folder {
    /// Makes a folder with all inputs.
    fn new() -> Self {
        let folder = Self(TempDir::new().unwrap());
        let fine = unpacked(&root().join("captures/triangle.rd.gz"));
        let noise: Vec<u8> =
            (0..1u32 << 14).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes()).collect();
        let files = [
            ("fine.rd", fine.clone()),
            ("cut.rd", fine[..fine.len() - 5].to_vec()),
            // All sections run, then the file ends inside a header.
            ("tail.rd", [&fine[..], &[1, 0, 0]].concat()),
            ("stream.rd", [&fine[..], &submit(0x9000, 8)].concat()),
            ("orphan.rd", [&section(12, &[1; 16]), &fine[..]].concat()),
            ("many.rd", [&warnings(), &fine[..]].concat()),
            ("many-tail.rd", [&warnings(), &fine[..], &[1, 0, 0]].concat()),
            ("other.rd", [&section(13, &530u32.to_le_bytes()), &fine[..]].concat()),
            ("hang.devcore", b"---\nkernel: 5.8.0\nmodule: msm\nrevision: 530 (5.3.0.2)\n".to_vec()),
            ("away.rd", without_target(&fine)),
            ("empty.rd", Vec::new()),
            ("text.rd", b"#include <stdio.h>\nint main(void) { return 0; }\n".to_vec()),
            ("odd.bin", vec![1, 2, 3]),
            ("t.a4", SOURCE.into()),
            ("long.a4", SOURCE.replace("{ RB", "{ repeat 9999 { RB").replace(" }\nsub", " } }\nsub").into()),
            ("bad.a4", "gpu_id\n".into()),
            ("s.pico", SHADER.into()),
            ("stdin", "10 20 30\n40 50 60\n".into()),
            ("fine.rd.gz", packed(&fine)),
            // The end of the noise after the capture is missing.
            ("cut.rd.gz", packed(&[&fine[..], &section(99, &noise)].concat())),
        ];
        for (name, bytes) in files {
            let whole = bytes.len() - if name == "cut.rd.gz" { 100 } else { 0 };
            fs::write(folder.0.path().join(name), &bytes[..whole]).unwrap();
        }
        folder.fixtures();
        folder.copy("captures/pico/triangle.toml", "scene.toml");
        for shader in fs::read_dir(root().join("captures/pico")).unwrap() {
            let path = shader.unwrap().path();
            fs::copy(&path, folder.0.path().join(path.file_name().unwrap())).unwrap();
        }
        folder
    }

    /// Makes folders of one fixture each: one matches its golden files, one differs, one has a cut capture.
    fn fixtures(&self) {
        for (folder, capture, more) in
            [("same", "fine.rd", ""), ("differs", "fine.rd", "more\n"), ("damaged", "tail.rd", "")]
        {
            let case = self.0.path().join(folder).join("case");
            fs::create_dir_all(&case).unwrap();
            fs::copy(self.0.path().join(capture), self.0.path().join(folder).join("capture.rd")).unwrap();
            fs::write(case.join("case.toml"), "capture = \"../capture.rd\"\n").unwrap();
            self.copy("fixtures/triangle/state.txt", &format!("{folder}/case/state.txt"));
            let packets = fs::read_to_string(root().join("fixtures/triangle/packets.txt")).unwrap();
            fs::write(case.join("packets.txt"), packets + more).unwrap();
        }
        let broken = self.0.path().join("broken/case");
        fs::create_dir_all(&broken).unwrap();
        fs::write(broken.join("case.toml"), "capture = \"../nowhere.rd\"\n").unwrap();
        self.copy("fixtures/triangle/state.txt", "triangle.txt");
        self.copy("fixtures/blend/state.txt", "blend.txt");
    }

    fn copy(&self, from: &str, to: &str) {
        fs::copy(root().join(from), self.0.path().join(to)).unwrap();
    }

    /// The status of a command, and its stderr.
    fn run(&self, command: &str, stdout: Stdio) -> (i32, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        child.args(command.split(' ')).current_dir(self.0.path()).stdout(stdout);
        let output = child.stdin(File::open(self.0.path().join("stdin")).unwrap()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), stderr)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(payload.len() as u32).to_le_bytes(), payload].concat()
}

/// More different reports than are kept, all of them warnings.
fn warnings() -> Vec<u8> {
    (0..1200).flat_map(|bytes| section(12, &vec![0; bytes])).collect()
}

/// A submit of an address that no buffer holds.
fn submit(address: u32, dwords: u32) -> Vec<u8> {
    section(6, &[address.to_le_bytes(), dwords.to_le_bytes()].concat())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn sections(capture: &Path) -> Vec<Section> {
    Sections::new(File::open(capture).unwrap()).unwrap().map(Result::unwrap).collect()
}

fn joined(sections: &[Section]) -> Vec<u8> {
    sections.iter().flat_map(|each| section(each.id.to_bits(), &each.payload)).collect()
}

fn unpacked(capture: &Path) -> Vec<u8> {
    joined(&sections(capture))
}

/// The capture without the buffer that receives its last picture.
fn without_target(capture: &[u8]) -> Vec<u8> {
    let mut playback = Playback::default();
    playback.run(Sections::new(capture).unwrap(), &mut Renderer, &mut Silent);
    let target = playback.gpu.pipeline.surfaces.last_color().unwrap().address;
    let base = playback.gpu.settle().memory().buffer_at(target).unwrap().0.get();
    let is_target =
        |section: &Section| matches!(section.body(), Ok(Body::GpuAddr(record)) if record.address == base);
    let mut all: Vec<Section> = Sections::new(capture).unwrap().map(Result::unwrap).collect();
    let before = all.len();
    all.retain(|section| !is_target(section));
    assert!(all.len() < before, "it was there");
    joined(&all)
}

/// Runs every row. Fails with all rows whose result is wrong.
fn check(rows: &[Row], stdout: impl Fn() -> Stdio) {
    let folder = Folder::new();
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|&(command, status, says)| {
            let (got, stderr) = folder.run(command, stdout());
            let right = got == status && stderr.contains(says);
            (!right).then(|| format!("{command}: {got}, and {status} with {says:?} is right\n{stderr}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn success_exits_with_0_and_differences_with_1() {
    let rows = [
        ("info fine.rd", 0, ""),
        ("decode fine.rd fine.rd.gz", 0, ""),
        ("replay fine.rd.gz --png p.png --out o --stats", 0, ""),
        ("disasm fine.rd -o t2.a4", 0, ""),
        ("disasm fine.rd.gz --submit 0 -o t3.a4", 0, ""),
        ("asm t.a4 -o t.rd", 0, ""),
        ("diff fine.rd fine.rd.gz", 0, ""),
        ("diff fine.rd triangle.txt", 0, ""),
        ("check --fixtures same", 0, ""),
        ("pico asm s.pico", 0, ""),
        ("pico run s.pico", 0, ""),
        ("pico draw scene.toml --png s.png", 0, ""),
        ("pico report scene.toml -o s.html", 0, ""),
        ("diff triangle.txt blend.txt", 1, ""),
        ("diff fine.rd blend.txt", 1, ""),
        ("check --fixtures differs", 1, ""),
        ("check --fixtures differs --json", 1, ""),
    ];
    check(&rows, Stdio::null);
}

#[test]
fn wrong_use_is_2() {
    let rows = [
        ("replay --frob fine.rd", 2, "--frob"),
        ("frob", 2, "frob"),
        ("info nowhere.rd", 2, "cannot open nowhere.rd"),
        ("decode nowhere.rd", 2, "cannot open nowhere.rd"),
        ("replay nowhere.rd", 2, "cannot open nowhere.rd"),
        ("disasm nowhere.rd", 2, "cannot read nowhere.rd"),
        ("diff fine.rd nowhere.rd", 2, "cannot open nowhere.rd"),
        ("asm nowhere.a4 -o o.rd", 2, "nowhere.a4"),
        ("check --fixtures nowhere", 2, "cannot read nowhere"),
        ("check --fixtures broken", 2, ""),
        ("pico run nowhere.pico", 2, "cannot open nowhere.pico"),
        ("asm bad.a4 -o o.rd", 2, "expected a value"),
        ("asm t.a4 -o t.a4", 2, "it is an input of this command"),
        ("disasm fine.rd -o fine.rd", 2, "it is an input of this command"),
        ("replay fine.rd --state fine.rd", 2, "it is an input of this command"),
        ("replay fine.rd --png fine.rd", 2, "it is an input of this command"),
        ("replay fine.rd --png nowhere/p.png", 2, "cannot write nowhere"),
        ("replay fine.rd --png p.png --stop 0 --list-draws", 2, "no colour surface was rendered"),
        ("replay away.rd --png away.png", 2, "in no buffer of the capture"),
        ("replay fine.rd --draw 7..3", 2, "is empty"),
        ("replay fine.rd --draw 77", 2, "no draw 77"),
        ("replay fine.rd --stop 77", 2, "no draw 77"),
        ("decode fine.rd --submit 9", 2, "no submit 9"),
        ("disasm fine.rd --submit 9", 2, "no submit 9"),
        ("disasm fine.rd --draw 77", 2, "no draw 77"),
        ("diff fine.rd fine.rd --draw 77", 2, "no draw 77"),
        ("replay fine.rd --max-work 1.5M", 2, "is no number"),
    ];
    check(&rows, Stdio::null);
}

#[test]
fn damage_is_3() {
    let header = "capture ends inside a section header";
    let gzip = "compressed data is damaged";
    let none = "in no buffer of the capture";
    let rows = [
        ("info cut.rd", 3, "capture ends inside"),
        ("info tail.rd", 3, header),
        ("info cut.rd.gz", 3, gzip),
        ("info stream.rd", 3, none),
        ("info empty.rd", 3, "not a capture"),
        ("info text.rd", 3, "not a capture"),
        ("decode cut.rd.gz", 3, gzip),
        ("decode tail.rd --format jsonl", 3, header),
        ("decode stream.rd", 3, none),
        ("decode -q cut.rd.gz", 3, gzip),
        ("replay cut.rd.gz", 3, gzip),
        ("replay stream.rd", 3, none),
        ("replay tail.rd --png p.png", 3, header),
        ("replay cut.rd.gz --png p.png", 3, gzip),
        ("replay cut.rd.gz --out o", 3, gzip),
        ("replay tail.rd --state t.txt", 3, header),
        ("replay tail.rd --loop 1", 3, header),
        ("disasm cut.rd -o t.a4", 3, "are no section"),
        ("disasm -q tail.rd -o t.a4", 3, "are no section"),
        ("disasm -q cut.rd.gz -o t.a4", 3, gzip),
        ("disasm empty.rd", 3, "not a capture"),
        ("disasm text.rd -o t.a4", 3, "are no section"),
        ("diff cut.rd fine.rd", 3, "capture ends inside"),
        ("diff fine.rd.gz cut.rd.gz", 3, gzip),
        ("check --fixtures damaged", 3, ""),
        ("pico exec odd.bin", 3, "odd.bin"),
    ];
    check(&rows, Stdio::null);
}

/// Every command that takes a capture: it skips the commands of other GPU generations and refuses a kernel
/// dump.
#[test]
fn captures_of_other_generations_and_dumps_are_refused() {
    let commands = [
        "info IT",
        "decode IT",
        "decode IT --format summary",
        "decode IT --draw f0",
        "replay IT",
        "replay IT --draw f0",
        "replay IT --png no.png",
        "replay IT --loop 2",
        "show IT",
        "show IT --draw f0",
        "pixel IT 1,1",
        "report IT -o page.html",
        "diff IT fine.rd",
        "diff fine.rd IT",
        "debug IT --draw f0 --stage fs",
        "validate IT",
        "disasm IT -o it.a4",
        "disasm IT --draw 0 -o it.a4",
    ];
    let inputs = [
        (
            "other.rd",
            "other.rd: recorded on an Adreno 530 (GPU_ID 530): a4emu reads captures of the Adreno A4xx and A6xx",
        ),
        (
            "hang.devcore",
            "hang.devcore: recorded on an Adreno 530 (chip id 0x05030002): a4emu reads captures of the Adreno A4xx and A6xx; Mesa's crashdec",
        ),
    ];
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for (command, (input, says)) in commands.iter().flat_map(|command| inputs.map(|input| (command, input))) {
        let command = command.replace("IT", input);
        let (status, stderr) = folder.run(&command, Stdio::null());
        if status != 4 || !stderr.contains(says) {
            wrong.push(format!("{command}: {status}\n{stderr}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    check(
        &[(
            "info other.rd --force",
            4,
            "a capture of an Adreno 530 (GPU_ID 530) as one of an A4xx (--force) is not supported yet",
        )],
        Stdio::null,
    );
}

#[test]
fn runs_that_are_cut_off_exit_with_4() {
    let (work, memory, time) = ("--max-work", "--max-memory", "--time-limit");
    let rows = [
        ("info fine.rd --max-work 1", 4, work),
        ("info fine.rd --max-memory 1", 4, memory),
        ("info fine.rd --time-limit 0", 4, time),
        ("decode fine.rd --max-work 1", 4, work),
        ("decode fine.rd --max-memory 1", 4, memory),
        ("decode fine.rd --time-limit 0", 4, time),
        ("replay fine.rd --max-work 1", 4, work),
        ("replay fine.rd --max-work 1M", 4, work),
        ("replay fine.rd --max-memory 1", 4, memory),
        ("replay fine.rd --time-limit 0", 4, time),
        ("replay fine.rd --max-work 1 --out o", 4, work),
        ("diff fine.rd fine.rd --max-work 1", 4, work),
        ("diff fine.rd fine.rd --max-memory 1", 4, memory),
        ("diff fine.rd fine.rd --time-limit 0", 4, time),
        ("disasm fine.rd --max-memory 100 -o t.a4", 4, memory),
        ("disasm fine.rd --max-work 9K -o t.a4", 4, work),
        ("disasm fine.rd --time-limit 0 -o t.a4", 4, time),
        ("check --fixtures same --max-work 1", 4, ""),
        ("check --fixtures same --max-memory 1", 4, ""),
        ("check --fixtures same --time-limit 0", 4, ""),
        ("disasm fine.rd --submit 0 --max-work 1", 4, work),
        ("disasm fine.rd --submit 0 --time-limit 0", 4, time),
        ("asm long.a4 -o o.rd --max-work 1", 4, "too much work"),
        ("pico run s.pico --max-work 1", 4, work),
        ("pico run s.pico --time-limit 0", 4, time),
        ("pico draw scene.toml --png s.png --max-work 1", 4, work),
        ("pico draw scene.toml --png s.png --time-limit 0", 4, time),
        // The vertices need less than this budget.
        ("pico draw scene.toml --png s.png --max-work 4K", 4, work),
        ("pico report scene.toml -o s.html --max-work 4K", 4, work),
    ];
    check(&rows, Stdio::null);
}

/// The time limit also ends a draw whose warps take minutes, with any budget.
#[test]
fn a_time_limit_is_kept_within_a_draw() {
    let source = fs::read_to_string(root().join("captures/triangle-by-hand.a4")).unwrap();
    let first = "    bary.f r0.z, 0, r0.x\n";
    let count = "    mov.u32u32 r1.z, 0\n    mov.u32u32 r1.w, 1000000\ncount:\n    add.u r1.z, r1.z, 1\n    \
                 cmps.u.lt p0.x, r1.z, r1.w\n    br p0.x, #count\n";
    let folder = Folder::new();
    folder.copy("captures/setup.a4i", "setup.a4i");
    fs::write(folder.0.path().join("minutes.a4"), source.replace(first, &format!("{count}{first}"))).unwrap();
    assert_eq!(folder.run("asm minutes.a4 -o minutes.rd", Stdio::null()).0, 0);
    for jit in ["on", "off"] {
        let start = Instant::now();
        let command = format!("replay minutes.rd --max-work 1000000G --time-limit 1 --threads 1 --jit {jit}");
        let (status, stderr) = folder.run(&command, Stdio::null());
        assert!(status == 4 && stderr.contains("--time-limit is over"), "{status}: {stderr}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

/// Opening a pipe without a writer blocks, and reading an open pipe blocks. The time limit ends both.
#[cfg(unix)]
#[test]
fn a_time_limit_ends_a_command_that_waits() {
    let waits = |command: &str, is_held: bool| {
        let folder = Folder::new();
        let pipe = folder.0.path().join("pipe.rd");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // A file that is open for reading and writing counts as a writer, which here never writes.
        let _held = is_held.then(|| File::options().read(true).write(true).open(&pipe).unwrap());
        let start = Instant::now();
        let (status, stderr) = folder.run(&format!("{command} --time-limit 1"), Stdio::null());
        assert!(status == 4 && stderr.contains("--time-limit is over"), "{command}: {status}: {stderr}");
        // Without the limit the longest waits for a minute, the others for ever.
        assert!(start.elapsed() < Duration::from_secs(30), "{command}: {:?}", start.elapsed());
    };
    let commands = ["info pipe.rd", "pixel pipe.rd 1,1", "diff pipe.rd fine.rd", "disasm pipe.rd -o t.a4"];
    std::thread::scope(|threads| {
        for command in commands {
            threads.spawn(|| waits(command, false));
            threads.spawn(|| waits(command, true));
        }
        threads.spawn(|| waits("reduce fine.rd -o r.rd --while sleep\t60;{}", false));
    });
}

#[test]
fn of_several_the_worst_counts() {
    let rows = [
        ("decode tail.rd fine.rd", 3, ""),
        ("decode fine.rd tail.rd", 3, ""),
        ("decode nowhere.rd tail.rd fine.rd", 3, "cannot open"),
        ("decode tail.rd nowhere.rd", 3, "cannot open"),
        ("decode other.rd tail.rd nowhere.rd", 4, "cannot open"),
        ("diff tail.rd nowhere.rd", 3, "cannot open"),
        ("diff tail.rd blend.txt", 3, ""),
        ("diff tail.rd fine.rd --draw 77", 3, "no draw 77"),
        ("decode tail.rd --draw 77", 3, "no draw 77"),
        ("replay cut.rd --png p.png", 3, "no colour surface was rendered"),
        ("replay tail.rd --png nowhere/p.png", 3, "cannot write nowhere"),
        ("replay tail.rd --draw 77", 3, "no draw 77"),
        ("replay tail.rd --max-work 1", 4, "--max-work"),
        ("disasm cut.rd.gz --draw 77", 3, "no draw 77"),
        ("disasm cut.rd.gz -o nowhere/t.a4", 3, "cannot write nowhere"),
        ("disasm cut.rd -o nowhere/t.a4", 2, "cannot write nowhere"),
    ];
    check(&rows, Stdio::null);
}

/// A warning about the recorded program gives 0, and with `--strict` 3.
#[test]
fn warnings_are_0_and_strictly_3() {
    let orphan = "belong to no address";
    let rows = [
        ("info orphan.rd", 0, orphan),
        ("decode orphan.rd", 0, orphan),
        ("replay orphan.rd", 0, orphan),
        ("info many.rd", 0, "200 more reports are left out"),
        ("info many.rd --strict", 3, "200 more reports are left out"),
        ("info many-tail.rd", 3, "capture ends inside a section header"),
        ("info orphan.rd --strict", 3, orphan),
        ("decode orphan.rd --strict", 3, orphan),
        ("replay orphan.rd --strict", 3, orphan),
        ("replay orphan.rd --strict -q", 3, ""),
        ("diff orphan.rd orphan.rd --strict", 3, orphan),
        ("replay fine.rd --strict", 0, ""),
        ("replay away.rd --out o", 0, "are not in the capture (render target)"),
        ("replay away.rd --out o --strict", 3, "are not in the capture (render target)"),
        ("decode other.rd --strict", 4, "recorded on an Adreno 530"),
    ];
    check(&rows, Stdio::null);
}

#[test]
fn a_closed_stdout_hides_nothing() {
    let rows = [
        ("info fine.rd", 0, ""),
        ("decode fine.rd", 0, ""),
        ("decode fine.rd --format jsonl", 0, ""),
        ("disasm fine.rd", 0, ""),
        ("replay fine.rd --state -", 0, ""),
        ("replay fine.rd --stats", 0, ""),
        ("check --fixtures same", 0, ""),
        ("check --fixtures differs", 1, ""),
        ("check --fixtures differs --json", 1, ""),
        ("diff triangle.txt blend.txt", 1, ""),
        ("info cut.rd", 3, "capture ends inside"),
        ("decode cut.rd", 3, "capture ends inside"),
        ("decode cut.rd.gz --format jsonl", 3, "compressed data is damaged"),
        ("replay tail.rd --state -", 3, "capture ends inside"),
        ("replay tail.rd --trace", 3, "capture ends inside"),
        ("replay tail.rd --list-draws", 3, "capture ends inside"),
        ("replay tail.rd --png -", 3, "capture ends inside"),
        ("disasm cut.rd", 3, "are no section"),
        ("disasm cut.rd.gz", 3, "compressed data is damaged"),
        ("check --fixtures damaged", 3, ""),
        ("pico exec odd.bin", 3, ""),
        ("pico run s.pico --max-work 1", 4, "--max-work"),
        ("replay fine.rd --max-work 1 --state -", 4, "--max-work"),
    ];
    check(&rows, closed);
    assert_eq!(Folder::new().run("info fine.rd", closed()), (0, String::new()), "nobody's fault");
}

/// A fixture that a limit cut off has a difference for it, and is not blessed.
#[test]
fn a_fixture_that_was_cut_off_says_so() {
    let folder = Folder::new();
    let check = |more: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        child
            .args(["check", "--fixtures", "same", "--max-work", "1"])
            .args(more)
            .current_dir(folder.0.path());
        let output = child.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let golden = || fs::read_to_string(folder.0.path().join("same/case/packets.txt")).unwrap();
    let before = golden();
    let (status, said) = check(&["--json"]);
    assert!(status == Some(4) && said.contains("--max-work allows more"), "{said}");
    let (status, said) = check(&["--bless"]);
    assert!(status == Some(1) && said.contains("nothing written"), "{said}");
    assert_eq!(golden(), before);
}

/// An output that cannot be written is reported by its writer.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_2() {
    let full = || File::options().write(true).open("/dev/full").unwrap().into();
    let rows = [
        ("info fine.rd", 2, "No space left"),
        ("decode fine.rd", 2, "No space left"),
        ("decode fine.rd --format jsonl", 2, "No space left"),
        ("disasm fine.rd", 2, "No space left"),
        ("replay fine.rd --state -", 2, "No space left"),
        ("check --fixtures same", 2, "No space left"),
        ("replay fine.rd --stats", 2, "No space left"),
        ("replay fine.rd --loop 1", 2, "No space left"),
        ("replay fine.rd --fidelity", 2, "No space left"),
        ("replay fine.rd --list-draws", 2, "No space left"),
        ("show fine.rd", 2, "No space left"),
        ("show fine.rd --draw f0", 2, "No space left"),
        ("pixel fine.rd 1,1", 2, "No space left"),
        ("diff triangle.txt blend.txt", 2, "No space left"),
        ("explain RB_MODE_CONTROL", 2, "No space left"),
        ("pico asm s.pico", 2, "No space left"),
        ("pico run s.pico", 2, "No space left"),
        ("debug fine.rd --draw f0 --stage vs", 2, "No space left"),
        ("serve fine.rd", 2, "No space left"),
        ("corpus play fine.rd", 2, "No space left"),
        ("completions bash", 2, "No space left"),
        ("man", 2, "No space left"),
        ("--help", 2, "No space left"),
        ("--version", 2, "No space left"),
    ];
    check(&rows, full);
    const BISECT: &str =
        concat!("bisect ", env!("CARGO_BIN_EXE_a4emu"), " ", env!("CARGO_BIN_EXE_a4emu"), " fine.rd");
    check(&[(BISECT, 2, "No space left")], full);
}

/// A stdout that is closed from the start cannot be written.
#[test]
#[cfg(target_os = "linux")]
fn a_stdout_that_is_closed_from_the_start_is_2() {
    let folder = Folder::new();
    for command in
        ["info fine.rd", "show fine.rd", "replay fine.rd --stats", "replay fine.rd --png -", "--help"]
    {
        let line = format!("exec {} {command} >&-", env!("CARGO_BIN_EXE_a4emu"));
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.0.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("stdout is closed"), "{command}: {said}");
    }
}

/// A stderr that is closed, full or a pipe without a reader does not change the exit status.
#[test]
#[cfg(target_os = "linux")]
fn a_stderr_that_cannot_be_written_changes_nothing() {
    let folder = Folder::new();
    let rows = [
        ("info cut.rd", 3),
        ("info orphan.rd", 0),
        ("info other.rd", 4),
        ("replay fine.rd", 0),
        ("replay nowhere.rd", 2),
        ("asm bad.a4 -o o.rd", 2),
        ("debug fine.rd --draw f0 --stage vs", 0),
        ("--frob", 2),
    ];
    for (command, status) in rows {
        let full: Stdio = File::options().write(true).open("/dev/full").unwrap().into();
        for stderr in [full, closed()] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"));
            child.args(command.split(' ')).current_dir(folder.0.path()).stderr(stderr).stdout(Stdio::null());
            child.stdin(Stdio::null());
            assert_eq!(child.status().unwrap().code(), Some(status), "{command}");
        }
        let line = format!("exec {} {command} 2>&-", env!("CARGO_BIN_EXE_a4emu"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.0.path()).stdout(Stdio::null()).stdin(Stdio::null());
        assert_eq!(shell.status().unwrap().code(), Some(status), "{command} 2>&-");
    }
    // stdout and stderr in one closed pipe, without other errors.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    child.args(["info", "orphan.rd"]).current_dir(folder.0.path());
    child.stderr(writer.try_clone().unwrap()).stdout(writer);
    assert_eq!(child.status().unwrap().code(), Some(0));
}

/// Names and texts from inputs are printed with their control characters escaped.
#[test]
#[cfg(unix)]
fn a_terminal_is_told_nothing_by_an_input() {
    let folder = Folder::new();
    let evil = "e\x1b[2J\x07\nv\u{9b}31m\u{202e}il";
    let mut sections = sections(&folder.0.path().join("fine.rd"));
    for section in sections.iter_mut().filter(|section| matches!(section.body(), Ok(Body::Cmd(_)))) {
        section.payload = format!("{evil}/7: fence=1\0").into_bytes();
    }
    let fine = joined(&sections);
    assert!(fine.windows(evil.len()).any(|bytes| bytes == evil.as_bytes()), "a process has the name");
    let files = [
        ("process.rd", fine),
        (&format!("{evil}.rd"), b"no capture".to_vec()),
        ("bad.toml", format!("[[suppress]]\nrule = \"{evil}").into_bytes()),
        ("bad2.a4", format!("gpu_id 420 {evil}\n").into_bytes()),
        ("list", b"e\x1b[2J.rd\n".to_vec()),
    ];
    files.iter().for_each(|(name, bytes)| fs::write(folder.0.path().join(name), bytes).unwrap());
    let name = format!("{evil}.rd");
    let rows: [&[&str]; 13] = [
        &["info", "process.rd"],
        &["decode", "process.rd"],
        &["decode", "process.rd", "--color", "always"],
        &["show", "process.rd"],
        &["info", &name],
        &["replay", &name],
        &["diff", "fine.rd", &name],
        &["validate", "fine.rd", "--suppress", "bad.toml"],
        &["pico", "draw", "bad.toml", "--png", "x.png"],
        &["asm", "bad2.a4", "-o", "x.rd"],
        &["corpus", "run", "list", "-o", "run"],
        &["corpus", "reduce", "run"],
        &[&name],
    ];
    for row in rows {
        let output = Command::new(env!("CARGO_BIN_EXE_a4emu"))
            .args(row)
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap().replace("\x1b[0m", "");
        let colours = ["\x1b[1m", "\x1b[33m", "\x1b[36m", "\x1b[90m", "\x1b[1m\x1b[33m"];
        let text = colours.iter().fold(text, |text, colour| text.replace(colour, ""));
        let heard = text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}');
        assert_eq!(heard, None, "{row:?}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with('v')), "{row:?}: {text}");
    }
}

/// A pipe without a reader.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// If one output cannot be written, the others are.
#[test]
fn the_rest_is_still_written() {
    let folder = Folder::new();
    let (status, said) = folder.run("replay fine.rd --png nowhere/p.png --out o", Stdio::null());
    assert_eq!(status, 2, "{said}");
    assert!(folder.0.path().join("o/summary.json").is_file(), "{said}");
    let (status, said) = folder.run("replay away.rd --out away", Stdio::null());
    let summary = fs::read_to_string(folder.0.path().join("away/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let last = summary["surfaces"].as_array().unwrap().last().unwrap();
    assert_eq!((status, &last["png"]), (0, &serde_json::Value::Null), "{said}");
    assert!(summary["unsupported"].as_array().unwrap().is_empty(), "{summary}");
}
