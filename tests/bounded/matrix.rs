//! Runs all commands that take a capture on all oversized inputs. With default options, each must end within
//! 20 CPU seconds, 1 GB of memory and 1 GB of output.
//!
//! An optimised build runs all of them (`cargo test --release --test hostile matrix`), others a part, with a part
//! of the budget.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use super::command::limits::limited;
use super::command::{a4emu_into, text_of};
use super::{Cost, Places, SESSION};

/// Largest output of a command, in bytes.
const MAX_OUTPUT: u64 = 1 << 30;

/// A build without optimisation runs one in so many.
const FRACTION: usize = if cfg!(debug_assertions) { 40 } else { 1 };

/// The command lines: `{capture}` is the input, `{out}` a folder for outputs, `{list}` a file with the
/// input's path.
const COMMANDS: &[&str] = &[
    "info {capture}",
    "decode {capture}",
    "decode --format jsonl --shaders {capture}",
    "decode --format summary --once {capture}",
    "decode --query * {capture}",
    "decode --query * --query-mode delta --format jsonl {capture}",
    "decode --draw f0..f2 --shaders --dump-shaders {out}/shaders {capture}",
    "replay {capture}",
    "replay --stats --png {out}/a.png {capture}",
    "replay --out {out}/all {capture}",
    "replay --state {out}/a.state {capture}",
    "replay --timeline {out}/a.json {capture}",
    "replay --coverage {out}/a.json {capture}",
    "replay --dump-jit {out}/jit {capture}",
    "replay --trace {capture}",
    "replay --list-draws {capture}",
    "replay --fidelity {capture}",
    "replay --loop 1 {capture}",
    "replay --edit f0:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS --difference {out}/a.png {capture}",
    "replay --edit f0:fs.c0.x=1.0 --png {out}/a.png --save {out}/a.rd {capture}",
    "replay --gs-dispatch compare {capture}",
    "show {capture}",
    "show --json {capture}",
    "show --overlay overdraw={out}/a.png --overlay cost={out}/b.png {capture}",
    "show --draw f0 --json --registers --textures {out}/t --mesh {out}/a.csv {capture}",
    "show --draw f0 --before {out}/a.png --after {out}/b.png --overlay depth={out}/c.png {capture}",
    "show --draw f0 --runs-of 0 {capture}",
    "pixel {capture} 1,1",
    "memory {capture} RB_MRT[0].BASE --draw f0 --who",
    "memory {capture} 0x10000000..0x10001000 --out {out}/a.bin",
    "report {capture} -o {out}/a.html",
    "diff {capture} {capture}",
    "diff --images {out}/d {capture} {capture}",
    "debug {capture} --draw f0 --stage vs",
    "debug {capture} --draw f0 --stage fs",
    "validate {capture}",
    "validate --no-render --json {capture}",
    "reduce {capture} -o {out}/a.rd --while-faults unheard-of --attempts 3",
    "disasm {capture} -o {out}/a.a4",
    "disasm --submit 0 {capture} -o {out}/a.a4",
    "corpus run {list} -o {out}/run --coverage --validate",
];

/// Subcommands without an untrusted capture, or that are not run here, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("serve", "it ends when it is told to: its runs are those of report and show"),
    ("check", "fixtures name captures, which are replayed"),
    ("export", "another program, `a4emu-export`, which observes what decode does"),
    ("bisect", "its runs are those of replay, in processes of two builds"),
    ("asm", "takes a source, whose steps are counted"),
    ("explain", "takes words"),
    ("pico", "takes scenes and programs of PicoGpu"),
    ("run", "runs a program"),
    ("completions", "takes nothing"),
    ("man", "takes nothing"),
    ("help", "takes nothing"),
];

/// Options that take a file which the command reads; the other file options name outputs.
const READ: &[&str] = &["--suppress", "--include"];

/// The tests of all commands on all inputs in `shared`, and of the list of commands.
pub fn trials(shared: &Path) -> Vec<Trial> {
    let inputs = inputs(shared);
    let cells = COMMANDS.iter().flat_map(|command| inputs.iter().map(move |input| (*command, input.clone())));
    let chosen = cells.enumerate().filter(|(index, _)| index % FRACTION == 0);
    let trial = |(_, (command, input)): (usize, (&'static str, PathBuf))| {
        let name = input.file_name().unwrap_or(input.as_os_str()).display().to_string();
        Trial::test(format!("matrix: {}", command.replace("{capture}", &name)), move || run(command, &input))
    };
    let complete = Trial::test("matrix: no command is forgotten", is_complete);
    chosen.map(trial).chain([complete]).collect()
}

/// Captures and sources of captures in the folders of attacks, and an endless file.
fn inputs(shared: &Path) -> Vec<PathBuf> {
    let folders = [shared.join("hostile"), shared.join("cases/attack")];
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let is_input = |path: &PathBuf| {
        let name = path.to_string_lossy().into_owned();
        let is_attack = path.parent().is_some_and(|folder| folder.ends_with("attack"));
        name.ends_with(".rd") || name.ends_with(".rd.gz") || is_attack && name.ends_with(".a4")
    };
    let files: BTreeSet<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_input).collect();
    files.into_iter().chain([PathBuf::from("/dev/zero")]).collect()
}

/// The capture at `input`, or the one assembled from it.
fn capture(input: &Path, folder: &Path) -> Result<PathBuf, Failed> {
    if input.extension().is_none_or(|extension| extension != "a4") {
        return Ok(input.to_owned());
    }
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/captures/setup.a4i");
    let (source, made) = (folder.join("input.a4"), folder.join("input.rd"));
    std::fs::copy(own, folder.join("setup.a4i"))?;
    std::fs::write(&source, std::fs::read(input)?)?;
    let arguments = [Path::new("asm"), &source, Path::new("-o"), &made];
    let ended = a4emu_into(limited(), arguments, "", Stdio::null())?;
    match ended.code()? {
        0 => Ok(made),
        _ => Err(ended.stderr.into()),
    }
}

fn run(command: &str, input: &Path) -> Result<(), Failed> {
    let (out, beside) = (TempDir::new()?, TempDir::new()?);
    let capture = capture(input, beside.path())?;
    let list = beside.path().join("list");
    std::fs::write(&list, format!("{}\n", capture.display()))?;
    let place = |argument: &str| {
        let places: Places<'_> = [("{capture}", &capture), ("{out}", out.path()), ("{list}", &list)];
        places
            .iter()
            .fold(argument.to_owned(), |text, (name, path)| text.replace(name, &path.to_string_lossy()))
    };
    let stdout = std::fs::File::create(out.path().join("stdout"))?;
    let typed = if command.starts_with("debug") { SESSION } else { "" };
    let arguments = command.split(' ').chain(Cost::Budget.options().iter().copied());
    let ended = a4emu_into(limited(), arguments.map(place), typed, stdout.into())?;
    let bytes = bytes_in(out.path())?;
    println!("{ended}, {} MB put out: {command} {}", bytes >> 20, input.display());
    ended.code()?;
    if bytes > MAX_OUTPUT {
        return Err(format!("{bytes} bytes were put out").into());
    }
    Ok(())
}

/// Total size of all files below `folder`, in bytes.
fn bytes_in(folder: &Path) -> Result<u64, Failed> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        bytes += match entry.file_type()?.is_dir() {
            true => bytes_in(&entry.path())?,
            false => entry.metadata()?.len(),
        };
    }
    Ok(bytes)
}

/// Each subcommand is in the matrix or in the list of exceptions. For those in the matrix, each option that
/// writes a file is used.
fn is_complete() -> Result<(), Failed> {
    let help = said(&["--help"])?;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Descriptions continue on lines that are indented further.
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let subcommands: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if subcommands.len() < 20 {
        return Err(format!("only {subcommands:?} are listed").into());
    }
    for name in subcommands {
        let rows: Vec<&str> =
            COMMANDS.iter().copied().filter(|row| row.split(' ').next() == Some(name)).collect();
        match (rows.is_empty(), NOT_RUN.iter().any(|(known, _)| *known == name)) {
            (true, false) => return Err(format!("{name} is neither in the matrix nor left out").into()),
            (false, true) => return Err(format!("{name} is left out, and in the matrix").into()),
            _ => {}
        }
        let help = if rows.is_empty() { String::new() } else { said(&[name, "-h"])? };
        for option in help.lines().filter_map(written) {
            let is_run = rows.iter().any(|row| row.split(' ').any(|word| word == option));
            if !is_run && !READ.contains(&option) && option != "--parquet" {
                return Err(format!("{name} {option} is not in the matrix").into());
            }
        }
    }
    Ok(())
}

/// The option on a line of help, if it names a file or folder.
fn written(line: &str) -> Option<&str> {
    let names_file = ["<FILE>", "<DIR>", "<KIND=FILE>"].iter().any(|value| line.contains(value));
    let option = line.split([' ', ',']).find(|word| word.starts_with("--"))?;
    (names_file && option != "--output").then_some(option)
}

fn said(arguments: &[&str]) -> Result<String, Failed> {
    let said = Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).output()?;
    Ok(text_of(&said.stdout))
}
