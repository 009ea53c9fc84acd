//! Inputs that once broke a4emu, with the commands that they broke. Each command on an input in
//! `../shared/hostile` must end within its limits of time and memory, report the error, and still write the
//! rest of its output.
//!
//! Each run is a child process with 2 GB of address space, a limit of CPU time (20 seconds, for questions
//! about a frame 10, and more without optimisation), and at most 1 GB of memory in use. Its time and memory
//! are printed.

#[path = "bounded/command.rs"]
mod command;
#[path = "bounded/matrix.rs"]
mod matrix;
#[path = "bounded/prices.rs"]
mod prices;

use std::path::{Path, PathBuf};
use std::time::Duration;

use command::a4emu;
use command::limits::{limited, promptly, spending_limited};
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

/// The paths for the placeholders in commands.
type Places<'a> = [(&'a str, &'a Path); 3];

/// Limit for a run with `--time-limit 1` on a busy machine.
const PROMPTLY: Duration = Duration::from_secs(5);

/// An input and its command. A word in braces stands for a folder: of the inputs, of the attacks, of outputs,
/// of this project's captures, or the parent of the inputs' folder.
struct Row {
    command: &'static str,
    /// Commands for stdin.
    input: &'static str,
    /// The expected exit status.
    status: i32,
    /// Text that stderr must contain.
    says: &'static str,
    /// Checks the outputs.
    left: fn(&Path) -> Result<(), Failed>,
    cost: Cost,
}

/// What a command takes, and so what a build without optimisation lets it take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// Some seconds at most.
    Seconds,
    /// The whole budget. A build without optimisation gives it a small part.
    Budget,
    /// Gigabytes are read. A build without optimisation cuts that off. There, other rows guard the command: `info` of the
    /// same input, and the command itself with `15-zeros-1GB`.
    Gigabytes,
}

impl Cost {
    /// The options of a command in this build.
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Budget if cfg!(debug_assertions) => &["--max-work", "256M"],
            Self::Gigabytes if cfg!(debug_assertions) => &["--max-work", "128M"],
            _ => &[],
        }
    }
}

const fn row(command: &'static str, status: i32, says: &'static str) -> Row {
    Row { command, input: "", status, says, left: |_| Ok(()), cost: Cost::Seconds }
}

const fn spending(command: &'static str, status: i32, says: &'static str) -> Row {
    Row { cost: Cost::Budget, ..row(command, status, says) }
}

const fn reading(command: &'static str, status: i32, says: &'static str) -> Row {
    match Cost::Gigabytes.options() {
        [] => row(command, status, says),
        _ => Row { cost: Cost::Gigabytes, ..row(command, 4, "--max-work") },
    }
}

/// Debugger commands that step to both ends.
const SESSION: &str = "p\ns 100\nwatch r0.x\nc\nrc\nwatch r0.x\nc\nrc\nc\nk\nr\nbs 1000\nc\nbs\nl\nq\n";

/// Commands that answer a question about a frame, and must be fast.
const QUESTIONS: [&str; 6] = ["show", "pixel", "diff", "debug", "report", "explain"];

impl Row {
    const fn typing(self, input: &'static str) -> Self {
        Self { input, ..self }
    }

    fn is_question(&self) -> bool {
        QUESTIONS.iter().any(|name| self.command.starts_with(name))
    }

    const fn leaving(self, left: fn(&Path) -> Result<(), Failed>) -> Self {
        Self { left, ..self }
    }
}

// Where the budget ends a run, one command of each way to spend it (executing, reading) spends all of it, which takes up
// to twenty seconds without optimisation. The others have a small part of it.
const ROWS: &[Row] = &[
    row("replay {in}/00-cs-zero-groups-hang.rd", 0, ""),
    row("replay {in}/01-misses-oom.rd", 4, "cut off"),
    spending("replay {in}/01b-misses-oom-fast.rd", 4, "cut off"),
    spending("replay --stats {in}/02-vs-store-nolimit-2e17.rd", 4, "cut off"),
    spending("replay --stats {in}/02-vs-store-nolimit-2e24.rd", 4, "cut off"),
    spending("replay --stats {in}/03-fs-bands.rd", 4, "cut off"),
    spending("replay --stats {in}/03-fs-bands-16383.rd", 4, "cut off"),
    row("pixel {in}/03-fs-bands.rd 1,1 --max-work 256M", 4, "cut off"),
    row("pixel {in}/14-fuzz-hang.rd 1,1", 0, ""),
    row("pixel {in}/16-zero-size-target.rd 1,1", 2, "outside of the 0x0 surface"),
    row("replay {in}/04-png-16383.rd --png {out}/04.png", 0, "in no buffer")
        .leaving(|out| picture_has(out, "04.png", [16380, 1])),
    row("show {in}/00-cs-zero-groups-hang.rd", 0, ""),
    row("show {in}/01-misses-oom.rd --max-work 256M", 4, "cut off"),
    row("show {in}/02-vs-store-nolimit-2e17.rd --draw f0 --json --max-work 256M", 4, "cut off"),
    spending("show {in}/02-vs-store-nolimit-2e24.rd --draw f0 --mesh {out}/02.ply", 4, "no vertices")
        .leaving(nothing),
    row("show {in}/03-fs-bands-16383.rd --json --max-work 256M", 4, "cut off"),
    row("show {in}/04-png-16383.rd --draw f0 --after {out}/show04.png", 0, "not in the capture")
        .leaving(|out| picture_has(out, "show04.png", [16380, 1])),
    spending("show {in}/07-decode-fanout.rd.gz", 4, "--max-work"),
    row("show {in}/14-fuzz-hang.rd --draw f0 --after {out}/show14.png", 0, "")
        .leaving(|out| picture_is_below(out, "show14.png", 1 << 24)),
    row("show {in}/15-zeros-1GB.rd.gz", 0, ""),
    row("show {in}/16-zero-size-target.rd --draw f0", 0, ""),
    row("replay {in}/14-fuzz-hang.rd --png {out}/14.png", 0, "")
        .leaving(|out| picture_is_below(out, "14.png", 1 << 24)),
    row("asm {in}/05-asm-stack-overflow.a4 -o {out}/05.rd", 2, "05-asm-stack-overflow.a4:65:1")
        .leaving(nothing),
    row(
        "asm {in}/05b-asm-stack-overflow-blocks.a4 -o {out}/05b.rd",
        2,
        "05b-asm-stack-overflow-blocks.a4:65:6",
    )
    .leaving(nothing),
    row("check --fixtures {in}/05c-fixture-stack", 2, ""),
    row("asm {in}/06-asm-zero-repeat.a4 -o {out}/06.rd", 2, "06-asm-zero-repeat.a4:4:2").leaving(nothing),
    row("asm {in}/06b-asm-expr.a4 -o {out}/06b.rd", 4, "too much work").leaving(nothing),
    row("info {in}/07-decode-fanout.rd.gz", 4, "--max-work"),
    spending("decode {in}/07-decode-fanout.rd.gz", 4, "--max-work"),
    row("info {in}/08-gzbomb-4GB.rd.gz", 0, ""),
    reading("replay {in}/08-gzbomb-4GB.rd.gz", 0, ""),
    row("disasm {in}/08-gzbomb-4GB.rd.gz -o {out}/08.a4", 4, "only the first 536870912 bytes"),
    row("info {in}/09-disasm-bomb.rd.gz", 0, "belong to no address"),
    reading("replay {in}/09-disasm-bomb.rd.gz", 0, "belong to no address"),
    spending("disasm {in}/09-disasm-bomb.rd.gz -o {out}/09.a4", 4, "--max-work"),
    // The state file of the input has an older format. tests/files.rs tests the picture.
    row("check --include {beside} --fixtures {in}/10-fixture-png", 2, ""),
    spending("pico draw {in}/12-pico-full.toml --png {out}/12.png", 4, "--max-work")
        .leaving(|out| picture_has(out, "12.png", [4096, 4096])),
    spending("replay {in}/13-cs-empty-2e24.rd", 4, "cut off"),
    row("replay {in}/13b-cs-local-clear.rd", 0, ""),
    row("info {in}/15-zeros-1GB.rd.gz", 0, ""),
    row("replay {in}/15-zeros-1GB.rd.gz", 0, ""),
    spending("disasm {in}/15-zeros-1GB.rd.gz -o {out}/15.a4", 4, "--max-work"),
    row("replay {in}/16-zero-size-target.rd --out {out}/16", 4, "picture of 0x0 pixels")
        .leaving(the_rest_of_the_surfaces),
    row("diff {in}/00-cs-zero-groups-hang.rd {in}/00-cs-zero-groups-hang.rd", 0, ""),
    row("diff {in}/00-cs-zero-groups-hang.rd {own}/triangle.rd.gz", 1, ""),
    row("diff --images {out}/01 {in}/01-misses-oom.rd {in}/01-misses-oom.rd", 0, ""),
    row(
        "diff --images {out}/02 {in}/02-vs-store-nolimit-2e17.rd {in}/02-vs-store-nolimit-2e17.rd --max-work 256M",
        4,
        "cut off",
    ),
    row("diff --images {out}/03 {in}/03-fs-bands.rd {in}/03-fs-bands.rd --max-work 256M", 4, "cut off"),
    spending("diff {in}/07-decode-fanout.rd.gz {in}/07-decode-fanout.rd.gz", 4, "--max-work"),
    spending("diff {in}/07-decode-fanout.rd.gz {own}/triangle.rd.gz", 4, "--max-work"),
    reading("diff {in}/08-gzbomb-4GB.rd.gz {in}/08-gzbomb-4GB.rd.gz", 0, ""),
    reading("diff {in}/09-disasm-bomb.rd.gz {in}/09-disasm-bomb.rd.gz", 0, "belong to no address"),
    row("diff {in}/15-zeros-1GB.rd.gz {in}/15-zeros-1GB.rd.gz", 0, ""),
    row("diff {in}/16-zero-size-target.rd {in}/14-fuzz-hang.rd", 1, ""),
    row("diff {in}/17-announce-quadratic.rd.gz {in}/17-announce-quadratic.rd.gz", 0, ""),
    row("debug {in}/00-cs-zero-groups-hang.rd --draw f0 --stage cs", 2, "groups of 1x1x1"),
    row("debug {in}/01-misses-oom.rd --draw f0 --stage cs", 0, "").typing(SESSION),
    row("debug {in}/02-vs-store-nolimit-2e17.rd --draw f0 --stage vs", 0, "").typing(SESSION),
    row("debug {in}/02-vs-store-nolimit-2e17.rd --draw f0 --stage fs --max-work 256M", 4, "cut off"),
    row("debug {in}/02-vs-store-nolimit-2e24.rd --draw f0 --stage vs", 4, "would be held"),
    row("debug {in}/03-fs-bands-16383.rd --draw f0 --stage fs --warp 100000000", 2, "make 8388608 warps"),
    row("debug {in}/04-png-16383.rd --draw f0 --stage fs", 0, "").typing(SESSION),
    spending("debug {in}/07-decode-fanout.rd.gz --draw f0 --stage vs", 4, "--max-work"),
    reading("debug {in}/08-gzbomb-4GB.rd.gz --draw f0 --stage vs", 2, "no draw f0"),
    reading("debug {in}/09-disasm-bomb.rd.gz --draw f0 --stage fs", 2, "no draw f0"),
    row("debug {in}/13b-cs-local-clear.rd --draw f0", 0, "").typing(SESSION),
    row("debug {in}/14-fuzz-hang.rd --draw f0 --stage fs", 0, "").typing(SESSION),
    row("debug {in}/15-zeros-1GB.rd.gz --draw f0 --stage cs", 2, "no draw f0"),
    row("debug {in}/16-zero-size-target.rd --draw f0 --stage fs", 0, "").typing(SESSION),
    spending("pixel {in}/07-decode-fanout.rd.gz 1,1", 4, "--max-work"),
    reading("pixel {in}/08-gzbomb-4GB.rd.gz 1,1", 2, "no colour surface"),
    row("pixel {in}/15-zeros-1GB.rd.gz 1,1", 2, "no colour surface"),
    spending("show {in}/07-decode-fanout.rd.gz --draw f0 --json", 4, "--max-work"),
    row("show {in}/15-zeros-1GB.rd.gz --draw f0", 2, "no draw f0"),
    row("report {in}/02-vs-store-nolimit-2e17.rd -o {out}/02.html --max-work 256M", 4, "cut off"),
    row("report {in}/03-fs-bands.rd -o {out}/03.html --max-work 256M", 4, "cut off"),
    row("report {in}/04-png-16383.rd -o {out}/04.html", 0, ""),
    row("report {in}/07-decode-fanout.rd.gz -o {out}/07.html --max-work 256M", 4, "--max-work"),
    reading("report {in}/08-gzbomb-4GB.rd.gz -o {out}/08.html", 0, ""),
    row("report {in}/14-fuzz-hang.rd -o {out}/14.html", 0, ""),
    row("report {in}/15-zeros-1GB.rd.gz -o {out}/15.html", 0, ""),
    row("report {in}/16-zero-size-target.rd -o {out}/16.html", 0, ""),
    row("validate {in}/00-cs-zero-groups-hang.rd", 1, ""),
    row("validate {in}/01b-misses-oom-fast.rd --max-work 256M", 4, "cut off"),
    row("validate --no-render {in}/02-vs-store-nolimit-2e17.rd", 1, ""),
    spending("validate {in}/02-vs-store-nolimit-2e24.rd", 4, "cut off"),
    row("validate --no-render {in}/03-fs-bands-16383.rd", 1, ""),
    row("validate {in}/03-fs-bands.rd --max-work 256M", 4, "cut off"),
    row("validate {in}/04-png-16383.rd", 1, "in no buffer"),
    row("validate {in}/07-decode-fanout.rd.gz --max-work 256M", 4, "--max-work"),
    reading("validate {in}/08-gzbomb-4GB.rd.gz", 0, ""),
    reading("validate {in}/09-disasm-bomb.rd.gz", 0, "belong to no address"),
    row("validate {in}/14-fuzz-hang.rd", 1, ""),
    row("validate {in}/15-zeros-1GB.rd.gz", 0, ""),
    row("validate {in}/16-zero-size-target.rd", 1, ""),
    row("validate {in}/17-announce-quadratic.rd.gz", 0, ""),
    row("explain ir3 ffffffff ffffffff", 0, ""),
    spending("info /dev/zero", 4, "next: bytes of the capture"),
    row("info /dev/zero --time-limit 1", 4, "--time-limit is over"),
    row("decode /dev/zero --max-work 4000G --time-limit 1", 4, "--time-limit is over"),
    row("disasm /dev/zero --time-limit 1 -o {out}/zero.a4", 4, "are left out"),
    row("show {attack}/short-sections-391kB.rd.gz --time-limit 1", 4, "--time-limit is over"),
    row("info {attack}/short-sections-391kB.rd.gz --max-work 1", 4, "next: sections of the capture"),
    row("info --max-work 1000 {attack2}/spaces-2GB.devcore.gz", 4, "next: bytes of the capture"),
    row("disasm --max-work 1000 {attack2}/spaces-2GB.devcore.gz -o {out}/spaces.a4", 4, "--max-work"),
    row("show --max-work 1M {attack2}/spaces-2GB.devcore.gz", 4, "--max-work"),
    row("info {attack2}/space-determinism.devcore", 3, "white space stands inside the contents"),
    row("replay {own}/triangle.rd.gz --loop 4294967295 --time-limit 1", 4, "--time-limit is over"),
    row("replay {own}/triangle.rd.gz --coverage /dev/zero", 4, "has more than"),
    row("corpus run {own}/pico --shard 1/4294967296 -o {out}/run", 2, ""),
    row("report {attack}/report-60k-draws-2GB.rd.gz -o {out}/60k.html", 4, "--max-memory"),
    row("report {attack}/report-60k-draws-2GB.rd.gz -o {out}/60k.html --max-memory 32M", 4, "--max-memory"),
    row("show {attack}/report-60k-draws-2GB.rd.gz --max-memory 32M", 4, "more draws"),
    row("show {attack}/many-programs-1200x4000.rd.gz", 4, "more findings"),
    row("validate {attack}/many-programs-1200x4000.rd.gz", 4, "more findings"),
    row("info {in}/17-announce-quadratic.rd.gz", 0, ""),
    row("replay {in}/17-announce-quadratic.rd.gz", 0, ""),
];

fn main() {
    let arguments = Arguments::from_args();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from);
    let there = shared.join("hostile").is_dir();
    let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let rows = ROWS.iter().map(|row| {
        let shared = shared.clone();
        let name = match there {
            true => row.command.to_owned(),
            false => format!("{} (no {})", row.command, shared.display()),
        };
        Trial::test(name, move || check(row, &shared)).with_ignored_flag(!there && !is_ci)
    });
    let matrix = matrix::trials(&shared);
    libtest_mimic::run(&arguments, rows.chain(matrix).chain(prices::trials()).collect()).exit();
}

fn check(row: &Row, shared: &Path) -> Result<(), Failed> {
    let out = TempDir::new()?;
    let place = |argument: &str| {
        argument
            .replace("{in}", &shared.join("hostile").display().to_string())
            .replace("{attack2}", &shared.join("cases/attack2").display().to_string())
            .replace("{attack}", &shared.join("cases/attack").display().to_string())
            .replace("{beside}", &shared.display().to_string())
            .replace("{own}", concat!(env!("CARGO_MANIFEST_DIR"), "/captures"))
            .replace("{out}", &out.path().display().to_string())
    };
    let limited = match row.cost {
        Cost::Budget => spending_limited(),
        _ if row.is_question() => promptly(),
        _ => limited(),
    };
    let arguments = row.command.split(' ').chain(row.cost.options().iter().copied());
    let ended = a4emu(limited, arguments.map(place), row.input)?;
    println!("{ended}: {}", row.command);
    // A busy machine takes longer by the clock, but no more processor time.
    if row.command.contains("--time-limit") && ended.wall.min(ended.cpu) > PROMPTLY {
        return Err(format!("it goes on behind its limit: {ended}").into());
    }
    let said = ended.stderr.lines().take(12).collect::<Vec<_>>().join("\n");
    if ended.code()? != row.status {
        return Err(format!("{ended}, and {} is right:\n{said}", row.status).into());
    }
    if !ended.stderr.contains(row.says) {
        return Err(format!("stderr does not say {:?}:\n{said}", row.says).into());
    }
    (row.left)(out.path())
}

fn nothing(out: &Path) -> Result<(), Failed> {
    match std::fs::read_dir(out)?.next() {
        None => Ok(()),
        Some(entry) => Err(format!("{} was left", entry?.path().display()).into()),
    }
}

fn size(out: &Path, name: &str) -> Result<[u32; 2], Failed> {
    let file = std::io::BufReader::new(std::fs::File::open(out.join(name))?);
    let reader = png::Decoder::new(file).read_info()?;
    Ok([reader.info().width, reader.info().height])
}

fn picture_has(out: &Path, name: &str, wanted: [u32; 2]) -> Result<(), Failed> {
    match size(out, name)? {
        size if size == wanted => Ok(()),
        size => Err(format!("{size:?} pixels, and {wanted:?} are right").into()),
    }
}

fn picture_is_below(out: &Path, name: &str, pixels: u64) -> Result<(), Failed> {
    match size(out, name)?.map(u64::from) {
        [width, height] if width * height < pixels => Ok(()),
        size => Err(format!("{size:?} pixels").into()),
    }
}

/// The surface without pixels is reported. The others and the summary are written.
fn the_rest_of_the_surfaces(out: &Path) -> Result<(), Failed> {
    let folder = out.join("16");
    let summary: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("summary.json"))?)?;
    let surfaces = summary["surfaces"].as_array().ok_or("no surfaces")?;
    let pictures = surfaces.iter().filter_map(|surface| surface["png"].as_str());
    let (there, gone): (Vec<_>, Vec<_>) = pictures.partition(|png| folder.join(png).is_file());
    match (there.len() + 1 == surfaces.len(), gone.is_empty()) {
        (true, true) => Ok(()),
        _ => Err(format!("{} of {} pictures, without {gone:?}", there.len(), surfaces.len()).into()),
    }
}
