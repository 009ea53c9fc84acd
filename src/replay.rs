//! `a4emu replay`: runs a capture and renders.

mod account;
mod compiled;
mod dispatches;
mod edit;
mod files;
mod inferred;
mod noted;
mod observe;
mod output;
mod timeline;
mod timing;

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::flags::{self, Flags};
use a4emu_decoder::adreno::capture::Ahead;
use anyhow::ensure;
use serde::Serialize;

use crate::named::{self, GsDispatch};
use a4emu_gpu::cp::{Engine, Observer, Renderer, Skip, Tee};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::fidelity::Fidelity;
use a4emu_gpu::picture::Alpha;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::decode::Output;
use a4emu_inspect::edit::{Edit, Editing};
use a4emu_inspect::golden::Recorder;
use a4emu_inspect::selection::{Draws, Selection, Window};
use a4emu_inspect::trace::{Detail, Trace};
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads, open_capture};
use a4emu_support::out_file::{OutFile, one_stdout};
use a4emu_support::progress::bar;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form};
use account::Account;
use edit::Edited;
use files::Files;
use noted::Noted;
use observe::{AtEnd, Listing, StateFile, Submits};
use timeline::{Clock, Timed, Timeline};

/// Heading of the options that write files.
const FILES: &str = "Files";

/// Heading of the options that print.
const PRINTED: &str = "Lists and figures";

/// Arguments of `replay`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Write the last rendered colour surface as PNG (- for stdout)
    ///
    /// The picture is RGBA, in the order of the rows in memory.
    #[arg(long, value_name = "FILE", help_heading = FILES, value_parser = flags::png())]
    pub png: Option<PathBuf>,
    /// Run a draw with another register value, constant or shader; repeatable
    ///
    /// f5:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS sets a register or a field of it. The register may be a pattern, and
    /// the value an enumerator, a number or a float. f5:fs.c4.x=1.0 sets a constant of a stage: a float, an integer
    /// (1) or its bits (0x3f800000). f5:fs=FILE runs the program whose assembly text is in FILE. Other draws find
    /// all of it unchanged. Says how many pixels of the last rendered surface differ.
    #[arg(long, value_name = "DRAW:WHAT=VALUE", help_heading = flags::RUN,
        conflicts_with_all = ["repeat", "timeline", "state", "trace", "list_draws", "stop", "submit", "draw"])]
    pub edit: Vec<edit::Wanted>,
    /// With --edit, write a picture that is white where the edits change a pixel
    #[arg(long, value_name = "FILE", requires = "edit", help_heading = FILES, value_parser = flags::png())]
    pub difference: Option<PathBuf>,
    /// With --edit, write a capture with the edits in it; gzipped if the name ends in .gz
    ///
    /// Packets around the draw set what is edited, and set it back. They are in a copy of the draw's command buffer.
    #[arg(long, value_name = "FILE", requires = "edit", help_heading = FILES)]
    pub save: Option<PathBuf>,
    /// Write opaque pictures: alpha is 1 everywhere
    #[arg(long, help_heading = FILES)]
    pub opaque: bool,
    /// Write every surface rendered, and summary.json
    #[arg(long, value_name = "DIR", help_heading = FILES)]
    pub out: Option<PathBuf>,
    /// Write register state per draw, the golden format (- for stdout)
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    pub state: Option<PathBuf>,
    /// Run the last frame N times more; print its times as JSON
    ///
    /// The frame is the submits of the last kernel call that drew.
    #[arg(long = "loop", value_name = "N", help_heading = PRINTED)]
    pub repeat: Option<std::num::NonZeroU32>,
    /// Print one JSON object of counts and times
    #[arg(long, help_heading = PRINTED)]
    pub stats: bool,
    /// List the guesses about the chip that the run uses
    ///
    /// Guesses are what the emulator does though no source says that the chip does it (docs/guesses.md). The
    /// list says how far the results of each reach. With --stats it is a part of its object.
    #[arg(long, help_heading = PRINTED)]
    pub fidelity: bool,
    /// Count the packets, registers, enumerators and operations that the run uses
    ///
    /// The counts are added to those in the file, which is made if there is none (- for stdout).
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    pub coverage: Option<PathBuf>,
    /// Write when submits, passes and draws ran, what threads did and what they waited for, for Perfetto
    ///
    /// The file has trace events, which https://ui.perfetto.dev shows; - for stdout.
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    pub timeline: Option<PathBuf>,
    /// Write the machine code of each compiled shader, its instructions beside it
    #[arg(long, value_name = "DIR", help_heading = FILES)]
    pub dump_jit: Option<PathBuf>,
    /// Say on stderr what was drawn, with what and how long it took
    ///
    /// Without other outputs this is said anyway.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// List packets as they execute, with the state change that each made
    #[arg(long, help_heading = PRINTED)]
    pub trace: bool,
    /// How invocations of geometry shaders are assigned to the lanes of a warp; the output is the same
    #[arg(long, value_name = "MODE", value_parser = named::gs_dispatch(), default_value = "auto",
        help_heading = flags::RUN)]
    pub gs_dispatch: GsDispatch,
    /// List draws and dispatches with their pass
    #[arg(long, help_heading = PRINTED)]
    pub list_draws: bool,
    /// Stop before this draw (`f3` or `3`)
    ///
    /// `f3` stops before the first run of a frame draw. With --state, the whole state there is written.
    #[arg(long, value_name = "DRAW", value_parser = Draws::one, help_heading = flags::SELECTION)]
    pub stop: Option<Draws>,
    /// Puts out only these; the run ends behind them
    #[command(flatten)]
    pub selection: Flags<Selection>,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

impl Args {
    /// How alpha is written in pictures.
    fn alpha(&self) -> Alpha {
        if self.opaque { Alpha::Opaque } else { Alpha::Kept }
    }

    /// Whether draws run. Lists, traces and state need only the command processor. A shader could change
    /// registers only through memory, and drivers use that only for indirect draw parameters.
    fn renders(&self) -> bool {
        let pictures = self.png.is_some() || self.out.is_some() || self.stats || self.repeat.is_some();
        let pictures = pictures || self.fidelity || self.dump_jit.is_some() || !self.edit.is_empty();
        let times = self.timeline.is_some() || self.verbose;
        pictures || times || !self.has_hooks()
    }

    /// When draws run: in order if an observer looks at the chip between draws.
    fn schedule(&self) -> Schedule {
        let looks = self.fidelity || self.coverage.is_some();
        if looks || self.has_hooks() { Schedule::InOrder } else { Schedule::Deferred }
    }

    /// Whether an output is requested for which draws need not run.
    fn has_hooks(&self) -> bool {
        self.state.is_some() || self.trace || self.list_draws || self.stop.is_some()
    }

    /// The options that write output, with the file that each names; no file means stdout.
    fn outputs(&self) -> Vec<(&'static str, Option<&Path>)> {
        let line = |name, given: bool| given.then_some((name, None));
        let files = [
            ("--png", &self.png),
            ("--out", &self.out),
            ("--state", &self.state),
            ("--timeline", &self.timeline),
            ("--coverage", &self.coverage),
            ("--difference", &self.difference),
            ("--save", &self.save),
            ("--dump-jit", &self.dump_jit),
        ];
        let lines = [
            ("--loop", self.repeat.is_some()),
            ("--stats", self.stats),
            ("--fidelity", self.fidelity && !self.stats),
            ("--trace", self.trace),
            ("--list-draws", self.list_draws),
        ];
        let files = files.into_iter().filter_map(|(name, path)| Some((name, Some(path.as_deref()?))));
        files.chain(lines.into_iter().filter_map(|(name, given)| line(name, given))).collect()
    }

    /// Whether the account of the run is printed: if requested, or if there is no other output.
    fn gives_account(&self, shared: &Shared) -> bool {
        self.verbose || (self.outputs().is_empty() && self.stop.is_none() && !shared.quiet)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    one_stdout(&args.outputs())?;
    for (name, folder) in [("--out", &args.out), ("--dump-jit", &args.dump_jit)] {
        ensure!(folder.as_deref() != Some(Path::new("-")), "{name} names a folder, which stdout is not");
    }
    let runs = if args.edit.is_empty() { 1 } else { edit::RUNS };
    let mut playback = args.limits.playback_of_many(&args.capture, runs);
    match args.gs_dispatch {
        GsDispatch::One(setting) => playback.gpu.pipeline.gs_dispatch = setting,
        GsDispatch::Compare => {
            ensure!(args.outputs().is_empty(), "--gs-dispatch compare prints a table and nothing else");
            return args.threads.run(|| dispatches::compare(args, shared));
        }
    }
    playback.gpu.pipeline.schedule = args.limits.schedule(args.schedule());
    let mut noted = Noted::new(args, &mut playback.gpu);
    let done = args.threads.run(|| {
        let edited = Edited::new(args, shared)?;
        let sections = match &edited {
            Some(edited) => edited.capture.sections(&playback.gpu.budget, shared)?,
            None => open_capture(&args.capture, &playback.gpu.budget, shared)?,
        };
        let mut files = Files::begin(args, shared);
        let start = Instant::now();
        let edits = edited.as_ref().map_or(&[][..], |edited| &edited.edits);
        let submits = observed(args, (sections, edits), &mut playback, &mut noted, shared)?;
        let time = start.elapsed();
        let mut pictures = pictures(args, &mut files, &mut playback, shared);
        if let Some(edited) = &edited {
            let path = args.difference.as_deref();
            pictures = pictures.and(edited.compare(&mut playback.gpu, path, shared));
            pictures = pictures.and(edited.save(args, shared));
        }
        if args.gives_account(shared) {
            let (capture, gpu, submits) = (&args.capture, &playback.gpu, submits.count());
            terminal::say_lines(format_args!("a4emu: {}", Account { capture, gpu, submits, time }));
        }
        let noted = noted.put_out(args, &playback.gpu, files.coverage);
        anyhow::Ok(pictures.worse(noted).and(figures(args, &mut playback, &submits, shared)))
    });
    // Problems of the capture count in the status, also if an output failed.
    let (status, result) = match done {
        Ok(status) => (status, Ok(())),
        Err(error) => (Status::Fine, Err(error)),
    };
    Ok(status.worse(shared.tell_with(&args.capture.display().to_string(), &playback.gpu.report, result)))
}

/// Writes pictures and summary. If one cannot be written, the others still are.
fn pictures(args: &Args, files: &mut Files<'_>, playback: &mut Playback, shared: &Shared) -> Status {
    let inputs = &shared.inputs;
    let mut status = files.status;
    if let Some(out) = files.png.take() {
        status = status.and(output::write_last(&mut playback.gpu, out, args.alpha()));
    }
    if let Some(directory) = files.dump_jit {
        status = status.and(compiled::write(&playback.gpu.pipeline.programs, directory, inputs));
    }
    if let Some(directory) = files.out {
        status = status.and(output::write_all(&mut playback.gpu, directory, args.alpha(), inputs));
    }
    status
}

/// Prints counts and times.
fn figures(args: &Args, playback: &mut Playback, submits: &Submits, shared: &Shared) -> anyhow::Result<()> {
    if args.stats {
        let guesses = playback.gpu.fidelity.as_ref().map(Fidelity::lines);
        put_object(&playback.gpu.pipeline.report(guesses))?;
    }
    if let Some(runs) = args.repeat {
        let bar = bar(runs.get().into(), shared);
        playback.gpu.pipeline.schedule = args.limits.schedule(Schedule::Deferred);
        let times = timing::repeat(&mut playback.gpu, submits, runs.get(), &bar);
        put_object(&times)?;
    }
    Ok(())
}

/// Replays with the engine and the observers that the arguments select.
fn observed(
    args: &Args,
    (sections, edits): (Ahead, &[Edit]),
    playback: &mut Playback,
    noted: &mut Noted,
    shared: &Shared,
) -> anyhow::Result<Submits> {
    let selection = *args.selection;
    let mut window = Window::new(selection, args.stop);
    let mut submits = Submits::default();
    let mut trace = args.trace.then(|| Trace::new(Output::stdout(), Detail::Changes, selection));
    let mut listing = args.list_draws.then(|| Listing::new(terminal::lines(), selection));
    let mut state = state_file(args, shared)?;
    let timeline = timeline(args, shared)?;
    let mut clock = timeline.as_ref().map(Clock);
    let mut timed = timeline.as_ref().map(Timed);
    let mut at_end = None;
    let mut tee = Tee(vec![&mut window, &mut submits]);
    tee.0.extend(noted.observers());
    tee.0.extend(trace.as_mut().map(|trace| trace as &mut dyn Observer));
    tee.0.extend(listing.as_mut().map(|listing| listing as &mut dyn Observer));
    tee.0.extend(clock.as_mut().map(|clock| clock as &mut dyn Observer));
    match (&mut state, args.stop) {
        (Some(state), Some(_)) => tee.0.push(at_end.insert(AtEnd(state))),
        (Some(state), None) => tee.0.push(state),
        (None, _) => {}
    }
    let (mut renderer, mut skip) = (Renderer, Skip::default());
    let mut editing = Editing { edits, inner: Renderer };
    let engine: &mut dyn Engine = match &mut timed {
        Some(timed) => timed,
        None if !edits.is_empty() => &mut editing,
        None if args.renders() => &mut renderer,
        None => &mut skip,
    };
    playback.run(sections, engine, &mut tee);
    if let Some(trace) = trace {
        trace.finish()?;
    }
    if let Some(listing) = listing {
        listing.finish()?;
    }
    if let Some(state) = state {
        state.end(&playback.gpu).finish()?.finish()?;
    }
    if let Some(timeline) = timeline {
        let (out, left_out) = timeline.into_inner().finish()?;
        out.finish()?;
        if left_out > 0 {
            shared
                .warn(format!("--timeline leaves out {left_out} activities of threads: there were too many"));
        }
    }
    window.finish(&playback.gpu)?;
    Ok(submits)
}

/// Creates the file of `--state`.
fn state_file(args: &Args, shared: &Shared) -> anyhow::Result<Option<Recorder<StateFile<OutFile>>>> {
    let Some(path) = &args.state else { return Ok(None) };
    let out = OutFile::create(path, &shared.inputs)?;
    Ok(Some(Recorder::new(StateFile::new(out, *args.selection))))
}

/// Creates the file of `--timeline`.
fn timeline(args: &Args, shared: &Shared) -> anyhow::Result<Option<RefCell<Timeline<OutFile>>>> {
    let Some(path) = &args.timeline else { return Ok(None) };
    let out = OutFile::create(path, &shared.inputs)?;
    Ok(Some(RefCell::new(Timeline::new(out))))
}

/// Prints one line of JSON on stdout.
fn put_object(object: &impl Serialize) -> anyhow::Result<()> {
    let mut out = terminal::stdout(Form::Json);
    writeln!(out, "{}", serde_json::to_string(object)?)?;
    Ok(out.flush()?)
}
