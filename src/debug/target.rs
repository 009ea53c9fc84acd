//! Selects the warp to debug, and runs the capture up to it.

use std::io;
use std::path::{Path, PathBuf};

use crate::flags::Flags;
use a4emu_decoder::adreno::capture::Ahead;
use a4emu_decoder::adreno::ir3::Isa;
use anyhow::{Context, anyhow, bail};
use serde::Deserialize;

use super::below::{Lane, Sample};
use super::session::Session;
use super::subject::{Subject, lane_names};
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::draw::debugged::{Launch, Looked, Place};
use a4emu_gpu::draw::fs::inspect::{WarpPixels, WhichWarp};
use a4emu_gpu::draw::pipeline::look::{inspect_dispatch, inspect_fragments, inspect_vertices};
use a4emu_gpu::draw::stop::Stop;
use a4emu_gpu::fault::Fault;
use a4emu_gpu::gpu::{Gpu, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_inspect::selection::{Draws, Numbering, Position};
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, open_capture};
use a4emu_support::status::{Failure, Status, status_of};
use a4emu_support::terminal;

/// A stage whose shader can be stepped through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageName {
    /// Vertex shader
    Vs,
    /// Hull shader
    Hs,
    /// Domain shader
    Ds,
    /// Geometry shader
    Gs,
    /// Fragment shader
    Fs,
    /// Compute shader
    Cs,
}

impl StageName {
    fn stage(self) -> Stage {
        match self {
            Self::Vs => Stage::VS,
            Self::Hs => Stage::HS,
            Self::Ds => Stage::DS,
            Self::Gs => Stage::GS,
            Self::Fs => Stage::FS,
            Self::Cs => Stage::CS,
        }
    }
}

/// Number of equal shares of the limits: one for the run up to the warp, one for the steps through it.
const SHARES: u32 = 2;

/// Parses numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[u32; N], String> {
    let parts: Result<Vec<u32>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let mut parts = parts.map_err(|_| format!("`{text}` is not {N} numbers with commas between them"))?;
    let few = parts.is_empty() || parts.len() > N;
    parts.resize(N, 0);
    parts.try_into().ok().filter(|_| !few).ok_or_else(|| format!("`{text}` has more than {N} numbers"))
}

/// The warp to debug.
#[derive(clap::Args, Clone, Debug)]
pub struct Target {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: Option<PathBuf>,
    /// The draw or dispatch: `3`, or `f3` for a frame draw, of whose runs the first that has the place is taken
    #[arg(long, value_name = "DRAW", value_parser = Draws::one, help_heading = "Place")]
    pub draw: Option<Draws>,
    /// The stage
    #[arg(long, ignore_case = true, help_heading = "Place")]
    pub stage: Option<StageName>,
    /// The fragment at this pixel of the render target
    #[arg(long, value_name = "X,Y", group = "place", help_heading = "Place")]
    pub pixel: Option<Position>,
    /// With --pixel: the primitive that covers it (default: the last one)
    #[arg(long, value_name = "N", requires = "pixel", help_heading = "Place")]
    pub primitive: Option<u32>,
    /// With --pixel: the sample, where the shader runs for each (default: the first that is covered)
    #[arg(long, value_name = "N", requires = "pixel", help_heading = "Place")]
    pub sample: Option<Sample>,
    /// The N-th vertex that the draw lists (vs), or the N-th point of the tessellator (ds)
    #[arg(long, value_name = "N", group = "place", help_heading = "Place")]
    pub vertex: Option<u32>,
    /// An invocation: X,Y,Z of a dispatch (cs); PATCH,VERTEX (hs); PRIMITIVE,INVOCATION,VERTEX (gs)
    #[arg(long, value_name = "ID", value_parser = numbers::<3>, group = "place", help_heading = "Place")]
    pub invocation: Option<[u32; 3]>,
    /// The N-th warp of the stage: of fragments, the 8x4 pixels of a primitive, counted over the draw
    #[arg(long, value_name = "N", group = "place", help_heading = "Place")]
    pub warp: Option<u32>,
    /// Lane to look at first (default: the one of the place, or the first that runs)
    #[arg(long, value_name = "N", help_heading = "Place")]
    pub lane: Option<Lane>,
    /// Bounds of the run up to there and of the steps from there
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Arguments of a DAP launch request. Missing ones are taken from the command line.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LaunchArguments {
    capture: Option<PathBuf>,
    draw: Option<serde_json::Value>,
    stage: Option<StageName>,
    pixel: Option<Position>,
    primitive: Option<u32>,
    sample: Option<Sample>,
    vertex: Option<u32>,
    invocation: Option<[u32; 3]>,
    warp: Option<u32>,
    lane: Option<Lane>,
}

impl Target {
    /// Applies the arguments of a launch request.
    ///
    /// # Errors
    /// The call fails if they are invalid.
    pub fn with(&self, arguments: &serde_json::Value) -> anyhow::Result<Self> {
        let given = LaunchArguments::deserialize(arguments).context("launch arguments")?;
        let draw = match given.draw {
            Some(serde_json::Value::String(text)) => Some(text),
            Some(number) => Some(number.to_string()),
            None => None,
        };
        let draw =
            draw.map(|text| Draws::one(&text)).transpose().map_err(|error| anyhow!("draw: {error}"))?;
        let has_place = given.pixel.is_some()
            || given.vertex.is_some()
            || given.invocation.is_some()
            || given.warp.is_some();
        let mut target = self.clone();
        if has_place {
            (target.pixel, target.primitive, target.sample) = (given.pixel, given.primitive, given.sample);
            (target.vertex, target.invocation, target.warp) = (given.vertex, given.invocation, given.warp);
        }
        target.capture = given.capture.or(target.capture);
        target.draw = draw.or(target.draw);
        target.stage = given.stage.or(target.stage);
        target.lane = given.lane.or(target.lane);
        Ok(target)
    }

    fn place(&self) -> Place {
        let sample = self.sample.map(Sample::get);
        let pixel = |Position(at): Position| Place::Pixel {
            at: at.map(|n| n as i32),
            primitive: self.primitive,
            sample,
        };
        let place = self.pixel.map(pixel);
        let place = place.or(self.vertex.map(Place::Vertex)).or(self.invocation.map(Place::Invocation));
        place.unwrap_or(Place::Warp(self.warp.unwrap_or(0)))
    }

    /// Runs the capture up to the draw, and passes the warp to `work`.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened, if it has no such draw or warp, or if `work` fails.
    pub fn reach(
        &self,
        shared: &Shared,
        work: impl FnOnce(Session<'_>, &Subject) -> io::Result<()>,
    ) -> anyhow::Result<Status> {
        let capture = self.capture.as_deref().context("which capture?")?;
        self.reach_in(capture, |budget| open_capture(capture, budget, shared), shared, work)
    }

    /// Runs like [`Target::reach`], with the sections that `open` returns for the capture called `capture`.
    ///
    /// # Errors
    /// The call fails like [`Target::reach`].
    pub fn reach_in(
        &self,
        capture: &Path,
        open: impl FnOnce(&Budget) -> anyhow::Result<Ahead>,
        shared: &Shared,
        work: impl FnOnce(Session<'_>, &Subject) -> io::Result<()>,
    ) -> anyhow::Result<Status> {
        let draw = self.draw.context("which draw? (--draw N, or f3 for frame draw 3)")?;
        let mut playback = self.limits.playback_of_many(capture, SHARES);
        let sections = open(&playback.gpu.budget)?;
        let none = Err(anyhow!("the capture has no draw {draw}"));
        let mut reaching = Reaching { target: self, shared, draw, work: Some(work), result: none };
        playback.run(sections, &mut reaching, &mut Silent);
        let result = reaching.result;
        let told = shared.tell(&capture.display().to_string(), &playback.gpu.report);
        match (result, told) {
            (Ok(()), told) => Ok(told),
            (Err(_), told) if playback.gpu.report.is_refused() => Ok(told),
            (Err(error), Status::Fine) => Err(error),
            // Problems of the capture count in the status too.
            (Err(error), told) => {
                let status = told.worse(status_of(&error));
                Err(Failure { status, message: format!("{error:#}") }.into())
            }
        }
    }
}

/// An engine that draws up to the selected draw, and looks at a warp of it.
struct Reaching<'t, W> {
    target: &'t Target,
    shared: &'t Shared,
    draw: Draws,
    work: Option<W>,
    result: anyhow::Result<()>,
}

impl<W: FnOnce(Session<'_>, &Subject) -> io::Result<()>> Reaching<'_, W> {
    /// Looks at the selected warp of `call`. Returns [`Looked::NotHere`] if another run may have it.
    fn look(&mut self, gpu: &mut Gpu, call: &Call) -> anyhow::Result<Looked> {
        let number = call.number();
        let (stage, place) = (self.stage(call)?, self.target.place());
        let mut done = Ok(());
        let name = format!("draw {number} {stage:?}");
        let (lane, shared, work) = (self.target.lane, self.shared, &mut self.work);
        let budget = self.target.limits.of_steps(SHARES);
        let isa = gpu.chip.generation().isa();
        let look = |launch: Launch<'_>| {
            if let Some(work) = work.take() {
                let within = |session: Session<'_>, subject: &Subject| work(session.within(budget), subject);
                done = with_session(launch, (name, stage, isa), lane.map(Lane::get), shared, within);
            }
        };
        let looked = match (call, stage) {
            (Call::Dispatch(call), _) => inspect_dispatch(&mut gpu.draws(), call, place, look),
            (Call::Draw(call), Stage::FS) => match chosen(place) {
                Some(chosen) => inspect_fragments(&mut gpu.draws(), call, chosen, look),
                None => Err(Stop::Fault(Fault::Draw("fragments have pixels and warps".into()))),
            },
            (Call::Draw(call), stage) => inspect_vertices(&mut gpu.draws(), call, stage, place, look),
            (Call::Uncounted(call), _) => bail!("draw {number} is a {}, which does not run", call.packet),
            (Call::Blit(call), _) => bail!("draw {number} is a blit ({}), which runs no shader", call.name()),
        };
        gpu.report_cut();
        let looked = looked.map_err(|stop| failure(number, &stop))?;
        done?;
        Ok(looked)
    }

    /// The requested stage. For a dispatch the default is CS.
    fn stage(&self, call: &Call) -> anyhow::Result<Stage> {
        // A blit has no stage, which `look` says.
        if matches!(call, Call::Blit(_)) {
            return Ok(Stage::CS);
        }
        let is_dispatch = matches!(call, Call::Dispatch(_));
        match (self.target.stage.map(StageName::stage), is_dispatch) {
            (None, true) | (Some(Stage::CS), true) => Ok(Stage::CS),
            (None, false) => bail!("which stage of the draw? (--stage vs, hs, ds, gs or fs)"),
            (Some(Stage::CS), false) => bail!("draw {} is no dispatch", call.number()),
            (Some(stage), true) => bail!("draw {} is a dispatch: it has no {stage:?}", call.number()),
            (Some(stage), false) => Ok(stage),
        }
    }
}

/// The failure to start a session with draw `number`.
fn failure(number: u32, stop: &Stop) -> Failure {
    let status = match stop {
        Stop::Fault(_) => Status::Usage,
        Stop::TooLarge(_) | Stop::NoBudget => Status::Unsupported,
    };
    Failure { status, message: format!("draw {number}: {stop}") }
}

/// The selector of the fragments at `place`.
fn chosen(place: Place) -> Option<WhichWarp> {
    match place {
        Place::Warp(number) => Some(WhichWarp::Warp(number)),
        Place::Pixel { at, primitive, sample } => Some(WhichWarp::Pixel { at, primitive, sample }),
        Place::Vertex(_) | Place::Invocation(_) => None,
    }
}

/// A description of the place where a session begins.
fn place_text(pixels: Option<&WarpPixels>, lane: &str) -> String {
    let Some(WarpPixels { primitive, covering, sample, .. }) = pixels else { return lane.to_owned() };
    let sample = sample.map_or(String::new(), |sample| format!("sample {sample}, "));
    match covering.len() {
        0 | 1 => format!("primitive {primitive}, {sample}{lane}"),
        _ => format!("primitive {primitive} of {covering:?}, which cover it; {sample}{lane}"),
    }
}

fn with_session(
    launch: Launch<'_>,
    (name, stage, isa): (String, Stage, Isa),
    lane: Option<usize>,
    shared: &Shared,
    work: impl FnOnce(Session<'_>, &Subject) -> io::Result<()>,
) -> io::Result<()> {
    let Launch { words, program, warp, environment, lane: placed, pixels } = launch;
    let first = warp.covered().trailing_zeros() as usize % a4emu_shader::LANES;
    let lane = lane.or(placed).unwrap_or(first);
    let subject = Subject::ir3(name, (isa, words), lane, lane_names(&warp, pixels.as_ref(), Some(stage)));
    if !shared.quiet {
        terminal::say_plainly(place_text(pixels.as_ref(), subject.lane_name(lane)));
    }
    work(Session::new(program, &subject.lines, warp, environment), &subject)
}

impl<W: FnOnce(Session<'_>, &Subject) -> io::Result<()>> Engine for Reaching<'_, W> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if !self.draw.contains(call.number(), call.frame_draw()) {
            return Renderer.run(gpu, call);
        }
        match self.look(gpu, call) {
            Ok(Looked::Done) => self.result = Ok(()),
            Err(error) => self.result = Err(error),
            Ok(Looked::NotHere) => {
                self.result = Err(match call.pass() {
                    Some(pass @ (Pass::Binning | Pass::Resolve)) => {
                        anyhow!("draw {}: no such shader runs in its {} pass", self.draw, pass.name())
                    }
                    _ => anyhow!(
                        "draw {} draws nothing there: it is outside of its tile and scissor",
                        self.draw
                    ),
                });
                if self.draw.numbering == Numbering::Frame {
                    return Renderer.run(gpu, call);
                }
            }
        }
        Flow::Stop
    }
}
