//! `a4emu validate`: finds errors that an in-order emulator tolerates and an A4xx does not, by the rules of
//! docs/hardware/hazards.md.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::flags::Flags;
use a4emu_gpu::cp::{Engine, Renderer, Skip};
use a4emu_gpu::fault::Report;
use a4emu_rules::suppress::{MAX_FILE, Suppressions};
use a4emu_rules::{Choice, Form, Verdict, Watch, tell};
use a4emu_support::folders::{read_text, read_toml};
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads, open_capture};
use a4emu_support::out_file::Inputs;
use a4emu_support::status::Status;
use a4emu_support::terminal;

/// Arguments of `validate`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(required = true, value_name = "CAPTURE")]
    pub captures: Vec<PathBuf>,
    /// One JSON object a line (docs/schema.md)
    #[arg(long)]
    pub json: bool,
    /// Skip draws. This is quicker; memory that they would write is as in the capture
    #[arg(long)]
    pub no_render: bool,
    /// Which findings to report
    #[command(flatten)]
    pub choice: Flags<Choice>,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if a capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let chosen = args.choice.read(|path| suppressions(path, &shared.inputs))?;
    let args = &Args { limits: Flags(args.limits.begun()), ..args.clone() };
    let several = args.captures.len() > 1;
    let mut out = terminal::stdout(if args.json { terminal::Form::Json } else { terminal::Form::Lines });
    let mut status = Status::Fine;
    for capture in &args.captures {
        let name = capture.display().to_string();
        let file = several.then_some(name.as_str());
        let (watch, report) = validate(args, capture, shared)?;
        let form = if args.json { Form::Json } else { Form::Text };
        let told = tell(watch.findings.iter(), &chosen, file, form, &mut out);
        status = status.worse(shared.tell(&name, &report)).worse(status_of_verdict(told?));
    }
    out.flush()?;
    Ok(status)
}

/// Reads the suppression file at `path`, which becomes one of `inputs`.
///
/// # Errors
/// The call fails if the file cannot be read, names an unknown rule, or gives no reason.
pub fn suppressions(path: &Path, inputs: &Inputs) -> anyhow::Result<Suppressions> {
    let name = path.display();
    let file = inputs.open(path).with_context(|| format!("cannot open {name}"))?;
    let text = read_text(file, MAX_FILE).with_context(|| format!("cannot read {name}"))?;
    let read = read_toml(&text).and_then(Suppressions::checked);
    read.with_context(|| name.to_string())
}

/// The exit status of a verdict.
pub fn status_of_verdict(verdict: Verdict) -> Status {
    match verdict {
        Verdict::Keeps => Status::Fine,
        Verdict::Breaks => Status::Differs,
    }
}

fn validate(args: &Args, capture: &Path, shared: &Shared) -> anyhow::Result<(Watch, Report)> {
    let mut playback = args.limits.playback(capture);
    let mut watch = Watch::of_run(&mut playback.gpu);
    args.threads.run(|| -> anyhow::Result<()> {
        let (mut renderer, mut skip) = (Renderer, Skip::default());
        let engine: &mut dyn Engine = if args.no_render { &mut skip } else { &mut renderer };
        let sections = open_capture(capture, &playback.gpu.budget, shared)?;
        playback.run(sections, engine, &mut watch);
        Ok(())
    })?;
    watch.finish(&mut playback.gpu);
    Ok((watch, playback.gpu.machine.report))
}
