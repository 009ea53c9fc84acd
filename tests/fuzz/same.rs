//! Compares `replay --out` of one mutant in several ways: equal bytes for any number of threads, compiled or
//! not, and with any observer.
//!
//! If a run is cut off, `--fidelity` may be cut off at another place, because counting guesses takes steps of
//! its own. So may be a run whose output takes as much work as the run may.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{fmt, fs};

use crate::command::limits::limited;

/// Variable that makes this program act as a4emu.
const AS_COMMAND: &str = "A4EMU_FUZZ_AS_COMMAND";

/// Whether this program was started as a4emu. A machine for fuzzing then needs only one program.
pub fn is_command() -> bool {
    std::env::var_os(AS_COMMAND).is_some()
}

/// Budget of a run; enough for most mutants.
const WORK: &str = "512M";

/// The options of each replay. `FILE` stands for the name of a file that does not exist.
const WAYS: [&[&str]; 9] = [
    &["--threads", "1", "--jit", "off"],
    &["--threads", "2", "--jit", "on"],
    &["--threads", "2", "--jit", "avx2"],
    &["--threads", "5"],
    &["--threads", "2", "--state", "FILE"],
    &["--threads", "5", "--timeline", "FILE", "--stats"],
    &["--threads", "2", "--coverage", "FILE", "--fidelity"],
    &["--threads", "1", "--list-draws"],
    &["--threads", "2", "--loop", "2", "--verbose"],
];

/// Counts of the mutants' results.
#[derive(Default)]
pub struct Tally {
    fine: AtomicU64,
    cut: AtomicU64,
    surfaces: AtomicU64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [fine, cut, surfaces] = [&self.fine, &self.cut, &self.surfaces].map(|count| count.load(Relaxed));
        write!(f, "{fine} fine, {cut} not supported or cut off, {surfaces} surfaces")
    }
}

/// Replays `capture` in all ways.
///
/// # Errors
/// The options whose output differs from the first, and the difference.
pub fn run(capture: &[u8], tally: &Tally) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("mutant.rd");
    fs::write(&path, capture).map_err(|error| error.to_string())?;
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    for (number, way) in WAYS.iter().enumerate() {
        let out = folder.path().join(format!("out-{number}"));
        let status = replay(&path, &out, way, &folder.path().join(format!("file-{number}")))?;
        let written = files(&out);
        let Some(first) = &first else {
            tally.fine.fetch_add(u64::from(status == 0), Relaxed);
            tally.cut.fetch_add(u64::from(status == 4), Relaxed);
            tally.surfaces.fetch_add(written.len().saturating_sub(1) as u64, Relaxed);
            first = Some(written);
            continue;
        };
        if way.contains(&"--fidelity") && is_cut(first) || is_cut_for(&written, "output may take no more") {
            continue;
        }
        let differs = |name: &&String| first.get(*name) != written.get(*name);
        if let Some(name) = first.keys().chain(written.keys()).find(differs) {
            let (way, other) = (way.join(" "), WAYS[0].join(" "));
            return Err(format!("replay {way} writes another {name} than with {other}"));
        }
    }
    kernels_store_the_same(&path, folder.path())
}

/// The memory that the sources of `captures/kernels` store to.
const DATA: &str = "0x500010000+0x1000";

/// Compares the memory that a kernel stores to, for any number of threads, compiled or not. Other captures have no buffer there,
/// which the first run tells: what is mapped comes from the capture.
fn kernels_store_the_same(capture: &Path, folder: &Path) -> Result<(), String> {
    let mut first = None;
    for [threads, jit] in [["1", "off"], ["1", "on"], ["2", "on"], ["5", "auto"]] {
        let out = folder.join(format!("memory-{threads}-{jit}"));
        let mut command = command("memory", capture)?;
        command.arg(DATA).arg("--out").arg(&out).args(["--threads", threads, "--jit", jit]);
        run_to_end(command, "memory")?;
        let stored = fs::read(&out).ok();
        if *first.get_or_insert_with(|| stored.clone()) != stored {
            return Err(format!("memory --threads {threads} --jit {jit} differs from --threads 1 --jit off"));
        }
        if stored.is_none() {
            break;
        }
    }
    Ok(())
}

/// Whether the run with these output files was cut off.
fn is_cut(written: &BTreeMap<String, Vec<u8>>) -> bool {
    is_cut_for(written, "")
}

/// Whether it was cut off for a reason that begins so.
fn is_cut_for(written: &BTreeMap<String, Vec<u8>>, reason: &str) -> bool {
    let summary = written.get("summary.json").map(|bytes| String::from_utf8_lossy(bytes));
    summary.is_some_and(|summary| summary.contains(&format!("cut off: {reason}")))
}

/// Runs `replay` with its output in `out`. Returns the exit status.
fn replay(capture: &Path, out: &Path, way: &[&str], file: &Path) -> Result<i32, String> {
    let mut command = command("replay", capture)?;
    command.arg("--out").arg(out);
    way.iter().for_each(|argument| {
        match *argument {
            "FILE" => command.arg(file),
            argument => command.arg(argument),
        };
    });
    run_to_end(command, &format!("replay {}", way.join(" ")))
}

/// A command of a4emu on a capture, with a work limit.
fn command(name: &str, capture: &Path) -> Result<Command, String> {
    let itself = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = limited();
    command.arg(itself).env(AS_COMMAND, "").arg(name).arg(capture).args(["--max-work", WORK]);
    Ok(command)
}

/// Runs a command, which `named` names in messages. Returns the exit status.
fn run_to_end(mut command: Command, named: &str) -> Result<i32, String> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(code @ 0..=4) => Ok(code),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: Vec<&str> = said.lines().take(12).collect();
            Err(format!("{named}: {}\n{}", output.status, said.join("\n")))
        }
    }
}

/// The files of a folder; empty if it does not exist.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let file = |entry: fs::DirEntry| {
        (entry.file_name().display().to_string(), fs::read(entry.path()).unwrap_or_default())
    };
    entries.map(file).collect()
}
