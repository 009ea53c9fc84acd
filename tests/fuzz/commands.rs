//! Runs the commands on one mutant, each in a child process with limits.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{fmt, fs};

use crate::command::limits::limited;
use crate::command::{Ended, a4emu};

/// The largest time and memory of any command.
#[derive(Default)]
pub struct Worst {
    milliseconds: AtomicU64,
    bytes: AtomicU64,
}

impl Worst {
    fn see(&self, ended: &Ended) {
        self.milliseconds.fetch_max(ended.cpu.as_millis() as u64, Relaxed);
        self.bytes.fetch_max(ended.peak, Relaxed);
    }
}

impl fmt::Display for Worst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.milliseconds.load(Relaxed) as f64 / 1e3;
        write!(f, "at most {seconds:.1} CPU s and {} MB", self.bytes.load(Relaxed) >> 20)
    }
}

/// Runs all commands on `capture`.
///
/// # Errors
/// The command line that failed, and the reason.
pub fn run(capture: &[u8], worst: &Worst) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("mutant.rd");
    fs::write(&path, capture).map_err(|error| error.to_string())?;
    all(folder.path(), &path, worst)
}

fn all(folder: &Path, capture: &Path, worst: &Worst) -> Result<(), String> {
    let capture = capture.display().to_string();
    let listings = [
        &["info"][..],
        &["decode"],
        &["decode", "--format", "jsonl", "--shaders"],
        &["disasm"],
        &["show"],
        &["validate"],
    ];
    for arguments in listings {
        command(&[arguments, &[&capture]].concat(), worst)?;
    }
    command(&["diff", &capture, &capture], worst)?;
    for good in ["triangle", "compute"] {
        let good = format!("{}/captures/{good}.rd.gz", env!("CARGO_MANIFEST_DIR"));
        command(&["diff", "--first", &capture, &good], worst)?;
    }
    command(&["diff", "--images", &folder.join("images").display().to_string(), &capture, &capture], worst)?;
    command(&["pixel", &capture, "0,0", "10,10", "--json"], worst)?;
    command(&["report", &capture, "-o", &folder.join("page.html").display().to_string()], worst)?;
    for stage in ["vs", "hs", "ds", "gs", "fs", "cs"] {
        told(&["debug", &capture, "--draw", "f1", "--stage", stage], SESSION, worst)?;
    }
    let [textures, mesh, before, after] = ["textures", "mesh.ply", "before.png", "after.png"]
        .map(|name| folder.join(name).display().to_string());
    let outputs = ["--textures", &textures, "--mesh", &mesh, "--before", &before, "--after", &after];
    command(&[&["show", &capture, "--draw", "f1", "--json"][..], &outputs].concat(), worst)?;
    Ok(())
}

/// Debugger commands that step to both ends.
const SESSION: &str = "p\ns 20\nwatch r0.x\nc\nrc\nc\nk\nr\nbs 30\nl\nq\n";

/// Runs a4emu. Returns its exit status.
fn command(arguments: &[&str], worst: &Worst) -> Result<i32, String> {
    told(arguments, "", worst)
}

/// Runs a4emu with `input` on stdin. Returns its exit status.
fn told(arguments: &[&str], input: &str, worst: &Worst) -> Result<i32, String> {
    let told = |what: String| format!("a4emu {}: {what}", arguments.join(" "));
    let ended = a4emu(limited(), arguments.iter().chain(&["-q"]), input);
    let ended = ended.map_err(|error| told(error.to_string()))?;
    worst.see(&ended);
    ended.code().map_err(told)
}
