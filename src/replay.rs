//! `a4emu replay`: run a capture; render.

mod observe;
mod stepping;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::cp::{Observer, Tee};
use crate::draw::gs::dispatch::Setting;
use crate::fault::{Fault, Miss};
use crate::golden::Recorder;
use crate::options::{Shared, open_capture};
use crate::out_file::{Inputs, OutFile};
use crate::output::{self, Renderer};
use crate::playback::Playback;
use crate::status::Status;
use crate::trace::{Detail, Trace};
pub use observe::Window;
use observe::{Listing, StateFile};
use stepping::Stepping;

/// Arguments of `replay`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Write the last colour surface rendered as RGBA PNG, in memory row order (- for stdout)
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
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
    /// Stop before this draw; with --state, write the whole state there
    #[arg(long, value_name = "DRAW")]
    pub stop: Option<u32>,
    /// Under the stepper
    #[command(flatten)]
    pub debug: stepping::Choice,
}

impl Args {
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
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut playback = Playback::default();
    playback.gpu.pipeline.gs_dispatch = args.gs_dispatch;
    let mut renderer = Renderer::default();
    in_threads(shared, || {
        observed(args, shared, &mut playback, &mut renderer)?;
        put_out(args, &mut playback, &renderer)
    })?;
    Ok(tell(&playback, shared))
}

/// Runs `work` with as many worker threads as asked for.
fn in_threads<R: Send>(shared: &Shared, work: impl FnOnce() -> R + Send) -> R {
    let threads = shared.threads.map_or(0, usize::from);
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// Pictures, summary, times.
fn put_out(args: &Args, playback: &mut Playback, renderer: &Renderer) -> anyhow::Result<()> {
    let inputs = Inputs::of(&args.capture);
    if let Some(path) = &args.png {
        output::write_last(&mut playback.gpu, path, &inputs)?;
    }
    if let Some(directory) = &args.out {
        output::write_all(&mut playback.gpu, directory, &inputs)?;
    }
    if args.stats {
        writeln!(stdout(), "{}", serde_json::to_string(&playback.gpu.pipeline.report())?)?;
    }
    if let Some(runs) = args.repeat {
        let times = output::repeat(&mut playback.gpu, &renderer.last_that_drew(), runs.get());
        writeln!(stdout(), "{}", serde_json::to_string(&times)?)?;
    }
    Ok(())
}

/// Replays with the observers that the arguments ask for.
fn observed(
    args: &Args,
    shared: &Shared,
    playback: &mut Playback,
    renderer: &mut Renderer,
) -> anyhow::Result<()> {
    let window = Window::new(shared, args.stop);
    let mut ends = window;
    let mut trace = args.trace.then(|| Trace::new(stdout(), Detail::Changes));
    let mut listing = args.list_draws.then(|| Listing::new(stdout(), window));
    let mut state = match &args.state {
        Some(path) => {
            let out = OutFile::create(path, &Inputs::of(&args.capture))?;
            Some(Recorder::new(StateFile::new(out, window)))
        }
        None => None,
    };
    let mut stepping = Stepping::new(&args.debug, shared)?;
    let mut tee = Tee(vec![&mut ends]);
    tee.0.extend(stepping.as_mut().map(|stepping| stepping as &mut dyn Observer));
    tee.0.extend(trace.as_mut().map(|trace| trace as &mut dyn Observer));
    tee.0.extend(listing.as_mut().map(|listing| listing as &mut dyn Observer));
    tee.0.extend(state.as_mut().filter(|_| args.stop.is_none()).map(|state| state as &mut dyn Observer));
    if args.renders() {
        tee.0.push(renderer);
    }
    playback.run(open_capture(&args.capture, shared)?, &mut tee);
    if let Some(trace) = trace {
        trace.finish()?.flush()?;
    }
    if let Some(listing) = listing {
        listing.finish()?;
    }
    if let Some(stepping) = stepping {
        stepping.finish()?;
    }
    state.map_or(Ok(()), |state| state.end(&mut playback.gpu).finish()?.finish())
}

fn stdout() -> BufWriter<io::Stdout> {
    BufWriter::with_capacity(1 << 16, io::stdout())
}

/// Puts on stderr what went wrong, and says how bad it is.
pub fn tell(playback: &Playback, shared: &Shared) -> Status {
    let report = &playback.gpu.report;
    for error in &playback.damage {
        shared.warn(error);
    }
    playback.warnings.iter().for_each(|warning| shared.warn(warning));
    for (fault, at, count) in report.faults.iter() {
        shared.warn(format_args!("{at}: {fault}{}", times(*count)));
    }
    for (what, at, count) in report.unsupported.iter() {
        shared.warn(format_args!("{at}: {what}{}", times(*count)));
    }
    for (what, at, count) in report.cuts.iter() {
        shared.warn(format_args!("{at}: {what}{}", times(*count)));
    }
    for miss in report.missing.iter() {
        let Miss { client, address, len } = miss;
        shared.warn(format_args!("{len} bytes at {address:#010x} are not in the capture ({client})"));
    }
    status(playback, shared)
}

fn times(count: u64) -> String {
    if count == 1 { String::new() } else { format!(" ({count} times)") }
}

/// Damage of the container or the command stream is 3; what we cannot do is 4. Faults of
/// the program that was recorded, and memory that was not, are its own affair.
pub fn status(playback: &Playback, shared: &Shared) -> Status {
    let report = &playback.gpu.report;
    let damaged = |fault: &Fault| {
        matches!(fault, Fault::Stream(_) | Fault::NoBuffer { .. } | Fault::Runaway(_) | Fault::NoRegister(_))
    };
    let stream = report.faults.iter().any(|(fault, ..)| damaged(fault));
    let warned = !report.faults.is_empty() || !report.missing.is_empty() || !playback.warnings.is_empty();
    let mut status = Status::Fine;
    if stream || !playback.damage.is_empty() {
        status = status.worse(Status::Damaged);
    }
    if !report.unsupported.is_empty() || !report.cuts.is_empty() {
        status = status.worse(Status::Unsupported);
    }
    if warned { status.worse(shared.warning(Status::Damaged)) } else { status }
}
