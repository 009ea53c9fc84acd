//! `a4emu run`: any OpenGL program on the real driver, with a4emu as the GPU.
//!
//! The device itself is a library that the program is started with (`src/drm/`); here it is
//! found, told what to do through the environment, and its reports are put out at the end.

pub mod driver;
mod signals;
pub mod summary;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::Context;

use crate::options::{Shared, Threads};
use crate::selection::Span;
use crate::status::{Failure, Status};
use summary::Summary;

/// File name of the device.
const LIBRARY: &str = "liba4emu_drm.so";

/// Arguments of `run`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The chip to be
    #[arg(long, default_value = "420", value_parser = ["405", "420", "430"])]
    pub gpu: String,
    /// Write what was submitted as a capture (of the second process: CAPTURE with a number)
    #[arg(long, value_name = "CAPTURE")]
    pub record: Option<PathBuf>,
    /// Record only these submits, counted from 0 in each process
    #[arg(long, value_name = "RANGE", requires = "record")]
    pub record_range: Option<Span>,
    /// Print counts and times at exit, a JSON object for each process
    #[arg(long)]
    pub stats: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Threads,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

/// Runs the subcommand. If the program fails, ends this process with the program's status.
///
/// # Errors
/// Wrong use, or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let library = library()?;
    if let Some(missing) = driver::missing() {
        shared.warn(missing);
    }
    let folder = Folder::new()?;
    let status = signals::status(&mut command(args, shared, &library, &folder.0)?)
        .with_context(|| format!("cannot run {}", args.program[0].to_string_lossy()))?;
    put_out(args, shared, &folder.summaries());
    drop(folder);
    match code(status) {
        0 => Ok(Status::Fine),
        code => std::process::exit(code),
    }
}

/// The library: named by `A4EMU_LIBRARY`, or beside this program.
fn library() -> anyhow::Result<PathBuf> {
    let program = env::current_exe()?.canonicalize()?;
    let beside = program.parent().unwrap_or(Path::new("."));
    let places =
        [beside.to_path_buf(), beside.join("deps"), beside.join("../lib")].map(|folder| folder.join(LIBRARY));
    let named = env::var_os("A4EMU_LIBRARY").map(PathBuf::from);
    let found = named.into_iter().chain(places).find(|place| place.exists());
    found.and_then(|place| place.canonicalize().ok()).ok_or_else(|| {
        let message =
            format!("{LIBRARY} is not beside {}: build it with `cargo build --release`", program.display());
        Failure { status: Status::Usage, message }.into()
    })
}

fn command(args: &Args, shared: &Shared, library: &Path, folder: &Path) -> anyhow::Result<Command> {
    let mut command = Command::new(&args.program[0]);
    command.args(&args.program[1..]);
    command.env("LD_PRELOAD", preload(library)).env("A4EMU_FOLDER", folder).env("A4EMU_GPU", &args.gpu);
    if shared.strict {
        command.env("A4EMU_STRICT", "1");
    }
    if let Some(threads) = args.threads.threads {
        command.env("RAYON_NUM_THREADS", threads.to_string());
    }
    if let Some(record) = &args.record {
        fs::write(record, []).with_context(|| format!("cannot write {}", record.display()))?;
        fs::remove_file(record)?;
        command.env("A4EMU_RECORD", std::path::absolute(record)?);
    }
    if let Some(range) = args.record_range {
        command.env("A4EMU_RECORD_RANGE", format!("{}..{}", range.start, range.end));
    }
    Ok(command)
}

/// Ours first: others then see a device where we make one.
fn preload(library: &Path) -> OsString {
    let mut list = library.as_os_str().to_owned();
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

fn put_out(args: &Args, shared: &Shared, summaries: &[Summary]) {
    if summaries.is_empty() {
        shared.warn("the program never opened the device");
    }
    for summary in summaries {
        if args.stats {
            eprintln!("{}", serde_json::to_string(summary).unwrap_or_default());
        } else if !shared.quiet {
            eprintln!("{summary}");
        }
    }
}

/// A status as a shell has it: signals are 128 and their number.
fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// The folder for device files and reports, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let folder = env::temp_dir().join(format!("a4emu-run.{}", std::process::id()));
        // One that is there is from a process of this number that was killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }

    /// What the processes reported, in order of their numbers.
    fn summaries(&self) -> Vec<Summary> {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut paths: Vec<_> = files.map(|file| file.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        let read = |path: &PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
        paths.iter().filter_map(read).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
