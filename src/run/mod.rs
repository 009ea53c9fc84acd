//! `a4emu run`: runs any OpenGL program on the real driver, with a4emu as the GPU.
//!
//! The device is a library that is preloaded into the program (`src/drm/`). This module finds it, passes its
//! options through the environment, and prints its reports at the end.

mod advice;
mod arrived;
mod descendants;
pub mod driver;
mod ends;
mod frames;
mod program;
mod window;

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::Context;
use clap::builder::PossibleValuesParser;

use crate::companion::Companion;
use crate::flags::Flags;
use crate::flags::amount;
use crate::named;
use crate::validate::{status_of_verdict, suppressions};
use a4emu_gpu::gpu::{CHIPS, Chip, Model};
use a4emu_inspect::selection::Span;
use a4emu_process::summary::Summary;
use a4emu_process::{folder, ledger, owner, recording};
use a4emu_rules::{Choice, ChosenRules, Form, tell};
use a4emu_shader::Jit;
use a4emu_support::folders::parent;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::out_file::{Inputs, OutFile, one_stdout};
use a4emu_support::status::{Failure, Status, WithErrors};
use a4emu_support::terminal;
use arrived::Arrived;
use driver::Mesa;
use ends::{Event, Run};
use frames::{Received, Taker};
use program::Program;

/// The library of the device.
const LIBRARY: Companion =
    Companion { file: "liba4emu_drm.so", package: "a4emu-drm", variable: "A4EMU_LIBRARY" };

/// The chips that the device can be.
fn chips() -> PossibleValuesParser {
    CHIPS.iter().filter(|row| row.in_mesa).map(|row| row.name).collect::<Vec<_>>().into()
}

/// Arguments of `run`.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_group("Choice", |choice| choice.requires("validate")))]
pub struct Args {
    /// The chip to be
    #[arg(long, default_value = "420", value_parser = chips())]
    pub gpu: String,
    /// The behaviour where a real board differs from the OpenGL specification
    #[arg(long, value_name = "MODEL", value_parser = named::model(), default_value = "board")]
    pub model: Model,
    /// Which shaders to compile to machine code. The output is the same
    #[arg(long, value_name = "WHICH", value_parser = named::jit(), default_value = "auto")]
    pub jit: Jit,
    /// Write what was submitted as a capture (of the second process: CAPTURE with a number)
    #[arg(long, value_name = "CAPTURE")]
    pub record: Option<PathBuf>,
    /// Record only these submits, counted from 0 in each process
    #[arg(long, value_name = "RANGE", requires = "record")]
    pub record_range: Option<Span>,
    /// Show the program's windows on the X server, through VirtualGL
    #[arg(long)]
    pub window: bool,
    /// Write each frame that the program presents to this folder, as PNG; - is Y4M video on stdout
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// Frames that are written; more are counted only
    #[arg(long, value_name = "N", requires = "frames", default_value_t = 10_000)]
    pub max_frames: u64,
    /// Take a submit that does more work than this, in the units of `replay`, for hung (default: 16G)
    #[arg(long, value_name = "UNITS", value_parser = amount)]
    pub max_work: Option<u64>,
    /// Report at exit, on stderr, mistakes that break on real hardware, as `validate` does; exit with 1 if one makes garbage or a hang
    #[arg(long)]
    pub validate: bool,
    /// What of that is said
    #[command(flatten)]
    pub choice: Flags<Choice>,
    /// Also write that to this file, a JSON object a line (docs/schema.md)
    #[arg(long, value_name = "FILE", requires = "validate")]
    pub findings: Option<PathBuf>,
    /// Print counts and times at exit, a JSON object for each process
    #[arg(long)]
    pub stats: bool,
    /// The Mesa to run it on, by its prefix; by default the one of scripts/mesa, else the system's
    #[arg(long, value_name = "PREFIX")]
    pub mesa: Option<PathBuf>,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

/// Runs the subcommand. If the program fails, this process exits with the program's status.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let outputs = [("--frames", args.frames.as_deref()), ("--findings", args.findings.as_deref())];
    one_stdout(&outputs.into_iter().filter(|(_, path)| path.is_some()).collect::<Vec<_>>())?;
    let chosen = args.choice.read(|path| suppressions(path, &shared.inputs))?;
    let library = LIBRARY.find()?;
    let mesa = Mesa::find(args.mesa.as_deref(), &env::current_exe()?.canonicalize()?, &variable);
    // A program may drive the KGSL device itself.
    let mesa = if needs_mesa(args) { mesa } else { mesa.or_in_place() };
    if let Mesa::Missing(why) = &mesa {
        shared.warn(why);
    }
    let program = Program::find(&args.program[0]);
    if let Some(why) = &program.refuses {
        shared.warn(why);
    }
    let inputs = &shared.inputs;
    protect(args, &program, &library, inputs);
    let folder = folder::make().and_then(|folder| ledger::make(folder.path()).map(|()| folder));
    let folder = folder.context("cannot make a folder for the run").map_err(as_failure)?;
    let preload = preload(program.before.as_deref(), &library);
    let name = run_name(folder.path());
    let mut command = command(args, shared, inputs, folder.path())?;
    command.env("A4EMU_RUN", &name);
    command.env("LD_PRELOAD", preload).envs(mesa.environment(&variable));
    let (run, events) = Run::new();
    let frames = args.frames.as_ref().map(|to| {
        let told = events.clone();
        // The send fails if the run is over.
        let tell = move |all| _ = told.send(Event::Frames(all));
        Taker::start(folder.path(), to, args.max_frames, inputs.clone(), tell)
    });
    let frames = frames.transpose()?;
    let outcome = run
        .end(&mut command, events, frames.as_ref().map(|frames| || frames.finish()))
        .with_context(|| format!("cannot run {}", args.program[0].to_string_lossy()))?;
    let mut arrived = Arrived::read(folder.path());
    arrived.finish_recordings(inputs);
    if let Some(record) = &args.record {
        recording::discard(record, &name);
    }
    // If the driver is missing, the user has been told why already.
    if !arrived.any && program.refuses.is_none() && !matches!(mesa, Mesa::Missing(_)) {
        shared.warn(unopened(folder.path()));
    }
    put_out(args, shared, &arrived.summaries);
    let found = if args.validate {
        put_out_findings(args, inputs, &chosen, &arrived.summaries)?
    } else {
        Status::Fine
    };
    if let Some(Received { frames, text }) = outcome.frames.map(written).transpose()? {
        arrived.expect_frames(frames);
        if !shared.quiet {
            terminal::say(text);
        }
    }
    drop(folder);
    let status = status_of(arrived);
    match code(outcome.status) {
        _ if status != Status::Fine => Ok(status),
        0 => Ok(found),
        code => std::process::exit(code),
    }
}

/// Whether only Mesa can drive the device: the KGSL device is there for chips from the A6xx on.
fn needs_mesa(args: &Args) -> bool {
    let row = CHIPS.iter().find(|row| row.name == args.gpu);
    args.mesa.is_some() || row.is_none_or(|row| Chip { id: row.id }.generation().number < 6)
}

/// Says what did not arrive. Returns the status of the run, without that of its program.
fn status_of(arrived: Arrived) -> Status {
    let missing = arrived.missing.into_iter().map(|message| Failure { status: Status::Usage, message });
    let status = missing.fold(Status::Fine, |status, failure| status.and(Err(failure)));
    if terminal::has_lost_text() { status.worse(Status::Usage) } else { status }
}

/// Start of the names of the recordings of the run in `folder`, until they are complete.
fn run_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{}{}", owner::prefix(), name.rsplit('.').next().unwrap_or_default())
}

/// `error` as a failure with its text. A pipe that is closed is an error too.
fn as_failure(error: anyhow::Error) -> Failure {
    Failure { status: Status::Usage, message: format!("{error:#}") }
}

/// The summary of the frames. If frames could not be written, the run was ended. That is an error, also if
/// only the reader closed the pipe.
fn written(frames: anyhow::Result<Received>) -> Result<Received, Failure> {
    frames.context("cannot write frames, the run was ended").map_err(as_failure)
}

/// Adds the files of the run to `inputs`, so that they are not overwritten: the program with its arguments,
/// and the library.
fn protect(args: &Args, program: &Program, library: &Path, inputs: &Inputs) {
    inputs.add(library);
    let values = args.program.iter().flat_map(|argument| {
        // An argument such as `--scene=FILE` may name a file.
        let value = argument.to_str().and_then(|text| text.split_once('=')).map(|(_, value)| value.as_ref());
        [Some(argument.as_os_str()), value]
    });
    values.flatten().filter(|value| *value != "-").for_each(|value| inputs.add(Path::new(value)));
    program.path.iter().for_each(|path| inputs.add(path));
}

/// The reason why there are no reports.
fn unopened(folder: &Path) -> &'static str {
    if folder.join("tree").exists() {
        "the program never opened the device: it looked for a GPU, and did not take this one"
    } else {
        "the program never opened the device, and never looked for a GPU; the library is not in statically linked, 32-bit \
         and set-user-id programs"
    }
}

/// A variable of this process's environment, if it is not empty.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn command(args: &Args, shared: &Shared, inputs: &Inputs, folder: &Path) -> anyhow::Result<Command> {
    let wrapped = args.window.then(|| window::wrapped(&args.program)).transpose()?;
    let program = wrapped.as_ref().unwrap_or(&args.program);
    let mut command = Command::new(&program[0]);
    command.args(&program[1..]);
    if args.window {
        command.envs(window::environment());
    }
    command.env("A4EMU_FOLDER", folder).env("A4EMU_GPU", &args.gpu);
    command.env("A4EMU_MODEL", args.model.name());
    command.env("A4EMU_JIT", args.jit.name());
    if shared.strict {
        command.env("A4EMU_STRICT", "1");
    }
    if args.validate {
        command.env("A4EMU_VALIDATE", "1").envs(choice(&args.choice)?);
    }
    if let Some(path) = &args.findings {
        may_write(path, inputs)?;
    }
    if let Some(threads) = args.threads.threads {
        command.env("A4EMU_THREADS", threads.to_string());
    }
    if let Some(units) = args.max_work {
        command.env("A4EMU_MAX_WORK", units.to_string());
    }
    if let Some(record) = &args.record {
        let record = std::path::absolute(record)?;
        owner::tidy(parent(&record));
        may_write(&record, inputs)?;
        command.env("A4EMU_RECORD", record);
    }
    if args.frames.as_deref() == Some(Path::new("-")) {
        // Stdout is used for the video.
        command.stdout(io::stderr());
    }
    if let Some(range) = args.record_range {
        command.env("A4EMU_RECORD_RANGE", format!("{}..{}", range.start, range.end));
    }
    Ok(command)
}

/// Variables for the device about the findings that count: it keeps only these, and suppressed ones last.
fn choice(choice: &Choice) -> anyhow::Result<Vec<(&'static str, OsString)>> {
    let path = choice.suppress.as_ref().map(std::path::absolute).transpose()?;
    let rules = [("A4EMU_RULE", choice.rule.join(",")), ("A4EMU_NO_RULE", choice.no_rule.join(","))];
    let rules = rules.map(|(name, value)| (name, value.into()));
    Ok(rules.into_iter().chain(path.map(|path| ("A4EMU_SUPPRESS", path.into()))).collect())
}

/// Checks that a file can be written at `path`, before the program runs.
fn may_write(path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    OutFile::create(path, inputs).map(drop)
}

/// The value of `LD_PRELOAD`: the library first, after those that must come before all. Later libraries then
/// see the device that it makes.
fn preload(before: Option<&str>, library: &Path) -> OsString {
    let mut list = OsString::from(before.map(|before| format!("{before}:")).unwrap_or_default());
    list.push(library);
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

fn put_out(args: &Args, shared: &Shared, summaries: &[Summary]) {
    for summary in summaries {
        if args.stats {
            terminal::say_plainly(serde_json::to_string(summary).unwrap_or_default());
        } else if !shared.quiet {
            terminal::say_lines(summary);
        }
    }
}

/// Writes the findings of all processes. The status tells whether there is an error of severity E.
fn put_out_findings(
    args: &Args,
    inputs: &Inputs,
    chosen: &ChosenRules,
    summaries: &[Summary],
) -> anyhow::Result<Status> {
    let found = tell_findings(args, inputs, chosen, summaries);
    // Only the reader of stdout may close its pipe.
    let is_stdout = args.findings.as_deref() == Some(Path::new("-"));
    if is_stdout { found } else { found.map_err(|error| as_failure(error).into()) }
}

fn tell_findings(
    args: &Args,
    inputs: &Inputs,
    chosen: &ChosenRules,
    summaries: &[Summary],
) -> anyhow::Result<Status> {
    let mut file = args.findings.as_ref().map(|path| OutFile::create(path, inputs)).transpose()?;
    let mut status = Status::Fine;
    for Summary { process, findings, .. } in summaries {
        let who = (summaries.len() > 1).then_some(process.as_str());
        let told = tell(findings, chosen, who, Form::Text, &mut terminal::stderr())?;
        status = status.worse(status_of_verdict(told));
        if let Some(file) = &mut file {
            tell(findings, chosen, who, Form::Json, file)?;
        }
    }
    file.map(OutFile::finish).transpose()?;
    Ok(status)
}

/// The status as a shell shows it: 128 plus the number of a signal. A program that did not end counts as
/// ended by SIGTERM.
fn code(status: Option<ExitStatus>) -> i32 {
    let signal = |status: ExitStatus| status.signal().map(|signal| 128 + signal);
    status.map_or(Some(128 + 15), |status| status.code().or_else(|| signal(status))).unwrap_or(1)
}
