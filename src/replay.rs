//! `a4emu replay`: run a capture; render.

mod after;
mod observe;
mod output;
mod stepping;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use a4emu_decoder::capture::Ahead;

use crate::cp::{Engine, Observer, Renderer, Skip, Tee};
use crate::decode::Output;
use crate::draw::gs::dispatch::Setting;
use crate::golden::Recorder;
use crate::limits::Limits;
use crate::options::{Shared, Threads, open_capture};
use crate::out_file::{Inputs, OutFile};
use crate::picture::Alpha;
use crate::playback::Playback;
use crate::selection::{Draws, Selection, Window};
use crate::status::Status;
use crate::trace::{Detail, Trace};
use observe::{AtEnd, Listing, StateFile, Submits};
use stepping::Stepping;

/// Arguments of `replay`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Write the last colour surface rendered as RGBA PNG, in memory row order (- for stdout)
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
    /// With --png, write what this draw renders to as it is after it (`3`: in its own tile; `f3`: all tiles
    /// joined), without waiting for a resolve
    #[arg(long, value_name = "DRAW", value_parser = Draws::one, requires = "png",
        conflicts_with_all = ["out", "state", "repeat", "stats", "trace", "list_draws", "stop", "debug", "submit", "draw"])]
    pub after: Option<Draws>,
    /// Pictures without holes: alpha is 1 everywhere
    #[arg(long)]
    pub opaque: bool,
    /// Write every surface rendered, and summary.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write register state per draw, the golden format (- for stdout)
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Run N times; print one line of JSON with times
    #[arg(long = "loop", value_name = "N")]
    pub repeat: Option<std::num::NonZeroU32>,
    /// Print one JSON object of counts and times
    #[arg(long)]
    pub stats: bool,
    /// Write packets as they execute, with the state change that each made, to stdout
    #[arg(long)]
    pub trace: bool,
    /// How geometry shaders are laid on the lanes of a warp; never visible in a result
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub gs_dispatch: Setting,
    /// List draws and dispatches with their pass on stdout
    #[arg(long)]
    pub list_draws: bool,
    /// Stop before this draw (`3`, or `f3` for the first run of a frame draw); with --state, write
    /// the whole state there
    #[arg(long, value_name = "DRAW", value_parser = Draws::one)]
    pub stop: Option<Draws>,
    /// Under the stepper
    #[command(flatten)]
    pub debug: stepping::Choice,
    /// Puts out only these; the run ends behind them
    #[command(flatten)]
    pub selection: Selection,
    /// Threads that render
    #[command(flatten)]
    pub threads: Threads,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
}

impl Args {
    /// What becomes of alpha in pictures.
    fn alpha(&self) -> Alpha {
        if self.opaque { Alpha::Opaque } else { Alpha::Kept }
    }

    /// Whether draws run. Lists, traces and state alone need only the command processor:
    /// what shaders write reaches registers through memory at most, which no driver does
    /// but for indirect draw parameters.
    fn renders(&self) -> bool {
        let pictures = self.png.is_some() || self.out.is_some() || self.stats || self.repeat.is_some();
        let hooks = self.state.is_some() || self.trace || self.list_draws || self.stop.is_some();
        pictures || !hooks || self.debug.debug.is_some()
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, or that the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    if let (Some(draw), Some(png)) = (args.after, &args.png) {
        return args.threads.run(|| after::write(args, draw, png, shared));
    }
    let mut playback = args.limits.playback(&args.capture);
    playback.gpu.pipeline.gs_dispatch = args.gs_dispatch;
    let done = args.threads.run(|| {
        let sections = open_capture(&args.capture, shared)?;
        let submits = observed(args, sections, &mut playback)?;
        let pictures = pictures(args, &mut playback);
        anyhow::Ok(pictures.and(figures(args, &mut playback, &submits)))
    });
    // What is wrong with the capture counts, whatever became of the rest.
    let told = playback.gpu.report.tell(&args.capture.display().to_string(), shared);
    Ok(match done {
        Ok(status) => status.worse(told),
        Err(error) => told.and(Err(error)),
    })
}

/// Pictures and summary: one that cannot be written leaves the others alone.
fn pictures(args: &Args, playback: &mut Playback) -> Status {
    let inputs = Inputs::of(&args.capture);
    let mut status = Status::Fine;
    if let Some(path) = &args.png {
        status = status.and(output::write_last(&mut playback.gpu, path, args.alpha(), &inputs));
    }
    if let Some(directory) = &args.out {
        status = status.and(output::write_all(&mut playback.gpu, directory, args.alpha(), &inputs));
    }
    status
}

/// Counts and times.
fn figures(args: &Args, playback: &mut Playback, submits: &Submits) -> anyhow::Result<()> {
    if args.stats {
        writeln!(stdout(), "{}", serde_json::to_string(&playback.gpu.pipeline.report())?)?;
    }
    if let Some(runs) = args.repeat {
        let times = output::repeat(&mut playback.gpu, &submits.last_that_drew(), runs.get());
        writeln!(stdout(), "{}", serde_json::to_string(&times)?)?;
    }
    Ok(())
}

/// Replays with the engine and the observers that the arguments ask for.
fn observed(args: &Args, sections: Ahead, playback: &mut Playback) -> anyhow::Result<Submits> {
    let selection = args.selection;
    let mut window = Window::new(selection, args.stop);
    let mut submits = Submits::default();
    let mut trace = args.trace.then(|| Trace::new(Output::stdout(), Detail::Changes, selection));
    let mut listing = args.list_draws.then(|| Listing::new(stdout(), selection));
    let mut state = match &args.state {
        Some(path) => {
            let out = OutFile::create(path, &Inputs::of(&args.capture))?;
            Some(Recorder::new(StateFile::new(out, selection)))
        }
        None => None,
    };
    let mut stepping = Stepping::new(&args.debug, selection)?;
    let mut at_end = None;
    let mut tee = Tee(vec![&mut window, &mut submits]);
    tee.0.extend(trace.as_mut().map(|trace| trace as &mut dyn Observer));
    tee.0.extend(listing.as_mut().map(|listing| listing as &mut dyn Observer));
    match (&mut state, args.stop) {
        (Some(state), Some(_)) => tee.0.push(at_end.insert(AtEnd(state))),
        (Some(state), None) => tee.0.push(state),
        (None, _) => {}
    }
    let (mut renderer, mut skip) = (Renderer, Skip::default());
    let engine: &mut dyn Engine = match &mut stepping {
        Some(stepping) => stepping,
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
    window.finish(&playback.gpu)?;
    stepping.map_or(Ok(()), Stepping::finish)?;
    Ok(submits)
}

fn stdout() -> BufWriter<io::Stdout> {
    BufWriter::with_capacity(1 << 16, io::stdout())
}
