//! Captures of other generations: every command that reads commands ends with status 4, at once, and with one
//! line that names the file and the chip. The container can be read.

use std::fmt;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use wait4::Wait4;

use crate::bounded::limits::limited;
use crate::captures::root;

/// The result of a command.
pub struct Ended {
    pub code: Option<i32>,
    /// The texts on stdout and stderr.
    pub stdout: String,
    pub stderr: String,
    /// Processor time.
    pub cpu: Duration,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr, cpu } = self;
        write!(f, "{code:?}, {cpu:?}\n{stderr}\n{stdout}")
    }
}

/// The captures of Mesa's `.gitlab-ci/traces`, with the chip that each names.
const RECORDED: [(&str, &str); 3] = [
    ("a201.rd.gz", "an Adreno 201 (GPU_ID 201)"),
    ("compute-a540.rd.gz", "an Adreno 540 (GPU_ID 540)"),
    ("es2gears-a320.rd.gz", "an Adreno 330 (GPU_ID 330)"),
];

/// The kernel dumps of Mesa's tests of crashdec, which are of an A6xx, with the chip and the draws of each. Blits
/// count as draws.
const DUMPS: [(&str, &str, u32); 3] = [
    ("crash.devcore", "630", 0),
    ("crash_prefetch.devcore", "618", 534),
    ("prefetch-test.devcore", "618", 4326),
];

/// Commands that read commands of the capture `IT`. `FINE` is a capture of an A4xx, `FOLDER` is empty.
const COMMANDS: [&str; 20] = [
    "info IT",
    "decode IT",
    "decode IT --format jsonl",
    "decode IT --format summary",
    "decode IT --query RB_*",
    "decode IT --draw f0",
    "replay IT",
    "replay IT --stats",
    "replay IT --draw f0",
    "show IT --draw f0 --after FOLDER/after.png",
    "show IT",
    "show IT --draw f0",
    "pixel IT 1,1",
    "report IT -o FOLDER/page.html",
    "serve IT",
    "diff IT FINE",
    "diff FINE IT",
    "debug IT --draw f0 --stage fs",
    "validate IT",
    "disasm IT --draw f0 -o FOLDER/it.a4",
];

/// Most CPU time of a command, also on a busy machine and without optimisation.
const AT_ONCE: Duration = Duration::from_millis(1000);

/// The folder of the recorded captures, if it is there.
fn recorded() -> Option<PathBuf> {
    let beside = root().join("../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from);
    let folder = shared.join("cases/other-chips");
    if !folder.is_dir() {
        eprintln!("SKIPPED: captures of other chips: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(payload.len() as u32).to_le_bytes(), payload].concat()
}

/// A capture of a triangle that begins with a section that names a chip.
fn named(id: u32, payload: &[u8]) -> Vec<u8> {
    let packed = fs::read(crate::captures::own("triangle")).unwrap();
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
    [section(id, payload), unpacked].concat()
}

/// Captures of chips that no recorded one is of, written to `folder`, and their chips.
fn made(folder: &Path) -> Vec<(PathBuf, String)> {
    let chip_id = |id: u64| named(14, &id.to_le_bytes());
    let rows = [
        (named(13, &530u32.to_le_bytes()), "an Adreno 530 (GPU_ID 530)"),
        (chip_id(0x0503_0002), "an Adreno 530 (chip id 0x05030002)"),
        (chip_id(0x0703_0001), "an Adreno 730 (chip id 0x07030001)"),
        (chip_id(0x4305_0a01), "an Adreno 740 (chip id 0x43050a01)"),
        (chip_id(0xffff_4305_0c01), "an Adreno X1-85 (chip id 0xffff43050c01)"),
        (chip_id(0x4405_0001), "an Adreno 830 (chip id 0x44050001)"),
        (chip_id(0x9900_0000), "an unknown chip (chip id 0x99000000)"),
    ];
    let write = |(at, (bytes, name)): (usize, (Vec<u8>, &str))| {
        let path = folder.join(format!("made{at}.rd"));
        fs::write(&path, bytes).unwrap();
        (path, name.to_owned())
    };
    rows.into_iter().enumerate().map(write).collect()
}

/// Runs a command of the table.
pub fn run(command: &str, capture: &Path, folder: &Path) -> Ended {
    let fine = crate::captures::own("triangle");
    let place = |word: &str| match word {
        "IT" => capture.display().to_string(),
        "FINE" => fine.display().to_string(),
        _ => word.replace("FOLDER", &folder.display().to_string()),
    };
    let mut files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
    let [stdout, stderr] = files.each_ref().map(|file| Stdio::from(file.try_clone().unwrap()));
    let mut child = limited();
    child.arg(env!("CARGO_BIN_EXE_a4emu")).args(command.split(' ').map(place));
    let used = child.stdin(Stdio::null()).stdout(stdout).stderr(stderr).spawn().unwrap().wait4().unwrap();
    let [stdout, stderr] = files.each_mut().map(|file| {
        let mut text = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    Ended { code: used.status.code(), stdout, stderr, cpu: used.rusage.utime + used.rusage.stime }
}

/// Checks all commands on captures. Fails with all that are wrong.
fn check(captures: &[(PathBuf, String)], reader: &str) {
    let mut wrong = Vec::new();
    for (path, chip) in captures {
        let says = format!(
            "a4emu: {}: recorded on {chip}: a4emu reads captures of the Adreno A4xx and A6xx; Mesa's \
             {reader} reads this file; --force reads it as an A4xx\n",
            path.display()
        );
        for command in COMMANDS {
            let folder = TempDir::new().unwrap();
            let ended = run(command, path, folder.path());
            let left = fs::read_dir(folder.path()).unwrap().count();
            if ended.code != Some(4) || ended.stderr != says || ended.cpu > AT_ONCE || left != 0 {
                wrong.push(format!("{command} of {chip}: {left} files, {ended}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_captures_of_other_chips_are_refused() {
    let Some(folder) = recorded() else { return };
    check(&RECORDED.map(|(name, chip)| (folder.join(name), chip.to_owned())), "cffdump");
}

#[test]
fn kernel_dumps_of_other_chips_are_refused() {
    let Some(folder) = recorded() else { return };
    let out = TempDir::new().unwrap();
    let dumps = DUMPS.map(|(name, ..)| {
        let dump = fs::read_to_string(folder.join("../devcore").join(name)).unwrap();
        let revised = |line: &str| match line.starts_with("revision: ") {
            true => "revision: 730 (7.3.0.1)\n".to_owned(),
            false => line.to_owned(),
        };
        let path = out.path().join(name);
        fs::write(&path, dump.split_inclusive('\n').map(revised).collect::<String>()).unwrap();
        (path, "an Adreno 730 (chip id 0x07030001)".to_owned())
    });
    check(&dumps, "crashdec");
    let info = run("info IT", &dumps[0].0, &folder);
    assert!(info.stdout.contains("buffers          2, ") && !info.stdout.contains("stood at"), "{info}");
}

#[test]
fn kernel_dumps_of_an_a6xx_are_read() {
    let Some(folder) = recorded() else { return };
    for (name, gpu, draws) in DUMPS {
        let info = run("info IT", &folder.join("../devcore").join(name), &folder);
        let text = &info.stdout;
        assert!(text.starts_with(&format!("gpu              {gpu}\nkernel dump\n")), "{info}");
        assert!(text.contains(&format!("\ndraws            {draws}")) && info.cpu < AT_ONCE, "{info}");
    }
}

#[test]
fn made_captures_of_other_chips_are_refused() {
    let folder = TempDir::new().unwrap();
    check(&made(folder.path()), "cffdump");
}

#[test]
fn the_container_of_other_chips_is_read() {
    let Some(folder) = recorded() else { return };
    let out = TempDir::new().unwrap();
    let gears = folder.join("es2gears-a320.rd.gz");
    let ended = run("info IT", &gears, out.path());
    assert!(ended.cpu < Duration::from_millis(300), "{ended}");
    let text = ended.stdout;
    for line in ["gpu              330\n", "submits          64 (es2gears 64)\n", "draws            0\n"] {
        assert!(text.contains(line), "{line}{text}");
    }
    assert!(text.contains("buffers          128, "), "{text}");
    let summary = run("decode IT --format summary", &gears, out.path()).stdout;
    assert_eq!(summary.matches("submit ").count(), 64, "{summary}");
    let ended = run("disasm IT -o -", &gears, out.path());
    assert_eq!(ended.code, Some(4), "{ended}");
    let source = ended.stdout;
    assert!(source.contains("gpu_id 330") && !source.contains("CP_"), "only data");
    assert_eq!(source.matches("\nsubmit ").count(), 64);
}

/// `check` and `corpus` have their own reports. `bisect` would find two builds to be the same.
#[test]
fn reports_of_several_captures_name_the_chip() {
    let folder = TempDir::new().unwrap();
    let (capture, chip) = &made(folder.path())[3];
    let case = folder.path().join("fixtures/case");
    fs::create_dir_all(&case).unwrap();
    fs::copy(capture, folder.path().join("it.rd")).unwrap();
    fs::write(case.join("case.toml"), "capture = \"../../it.rd\"\n").unwrap();
    let ended = run("check --fixtures FOLDER/fixtures case", capture, folder.path());
    assert!(ended.code == Some(4) && ended.stdout.contains(chip), "{ended}");
    let ended = run("corpus run IT -o FOLDER/rows", capture, folder.path());
    let rows = fs::read_dir(folder.path().join("rows")).unwrap().flatten();
    let rows: String = rows.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    assert!(ended.code == Some(4) && rows.contains(chip), "{ended}\n{rows}");
    let build = env!("CARGO_BIN_EXE_a4emu");
    let ended = run(&format!("bisect {build} {build} IT"), capture, folder.path());
    assert!(ended.code == Some(4) && ended.stderr.contains(chip), "{ended}");
}

#[test]
fn with_force_they_are_read_as_an_a4xx() {
    let folder = TempDir::new().unwrap();
    for (capture, chip) in &made(folder.path()) {
        let ended = run("decode --force IT", capture, folder.path());
        let says = format!("to read a capture of {chip} as one of an A4xx (--force) is not supported yet");
        assert!(ended.code == Some(4) && ended.stderr.contains(&says), "{ended}");
        assert!(ended.stdout.contains("RB_RENDER_CONTROL"), "{ended}");
    }
}

#[test]
fn all_a4xx_are_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("it.rd");
    let rows = [(0x0400_0500u64, "405"), (0x0401_0800, "418"), (0x0402_0000, "420"), (0x0403_0002, "430")];
    for (chip_id, name) in rows {
        fs::write(&path, named(14, &chip_id.to_le_bytes())).unwrap();
        let ended = run("info IT", &path, folder.path());
        let says = format!("gpu              {name}\n");
        assert!(ended.code == Some(0) && ended.stdout.starts_with(&says), "{ended}");
    }
    // 0 stands for "unknown": the next name counts.
    fs::write(&path, [section(13, &[0; 4]), named(14, &0x0401_0800u64.to_le_bytes())].concat()).unwrap();
    assert!(run("info IT", &path, folder.path()).stdout.starts_with("gpu              418\n"));
}
