//! One mutant through the commands, each in a child with limits.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use wait4::Wait4;

/// Processor time of one command.
const CPU_SECONDS: u32 = 20;
/// Real time of one command, where it waits instead of working.
const WALL_SECONDS: u32 = 300;
/// Address space of one command; threads' stacks and arenas count, used or not.
const SPACE_KIB: u32 = 4 << 20;
/// Memory that one command may really hold.
const PEAK_BYTES: u64 = 1 << 30;

/// Runs all commands on `capture`.
///
/// # Errors
/// The command line that went wrong, and how.
pub fn run(number: u64, capture: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("mutant.rd");
    fs::write(&path, capture).map_err(|error| error.to_string())?;
    all(folder.path(), &path).map_err(|message| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant-{number}.rd"));
        let _ = fs::copy(&path, &kept);
        format!("mutant {number}, {}: {message}", kept.display())
    })
}

fn all(folder: &Path, capture: &Path) -> Result<(), String> {
    let capture = capture.display().to_string();
    for arguments in [&["info"][..], &["decode"], &["decode", "--format", "jsonl", "--shaders"], &["disasm"]]
    {
        command(&[arguments, &[&capture]].concat())?;
    }
    command(&["diff", &capture, &capture])?;
    let mut first = None;
    for threads in ["1", "2", "5"] {
        let out = folder.join(threads);
        let status =
            command(&["replay", &capture, "--threads", threads, "--out", &out.display().to_string()])?;
        let result = (status, files(&out));
        if *first.get_or_insert_with(|| result.clone()) != result {
            return Err(format!("replay with {threads} threads writes something else than with 1"));
        }
    }
    Ok(())
}

/// What a folder holds; nothing if it is not there.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let file = |entry: fs::DirEntry| {
        (entry.file_name().display().to_string(), fs::read(entry.path()).unwrap_or_default())
    };
    entries.map(file).collect()
}

/// Runs a4emu; its exit status.
fn command(arguments: &[&str]) -> Result<i32, String> {
    let limits = format!("ulimit -v {SPACE_KIB}; ulimit -t {CPU_SECONDS}; ulimit -c 0; exec \"$@\"");
    let mut child = Command::new("timeout");
    child.args(["-s", "KILL", &WALL_SECONDS.to_string(), "sh", "-c", &limits, "sh"]);
    child.arg(env!("CARGO_BIN_EXE_a4emu")).args(arguments).arg("-q").stdin(Stdio::null());
    child.stdout(Stdio::null()).stderr(Stdio::null());
    let child = child.spawn().map_err(|error| error.to_string())?;
    let used = child.wait4().map_err(|error| error.to_string())?;
    let told = |what: String| Err(format!("a4emu {}: {what}", arguments.join(" ")));
    match used.status.code() {
        _ if used.rusage.maxrss > PEAK_BYTES => told(format!("{} MB of memory", used.rusage.maxrss >> 20)),
        Some(status @ 0..=4) => Ok(status),
        status => told(format!("status {status:?} after {:?}", used.rusage.utime)),
    }
}
