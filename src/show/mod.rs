//! `a4emu show`: prints the commands of a frame, or one draw with its whole state.

mod draw;
mod files;
mod overlay;
mod runs;
mod table;
mod text;

pub use overlay::Wanted;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::overlay::Legend;
use crate::flags::{self, Flags};
use crate::named;
use a4emu_gpu::cp::Tee;
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::describe::canvas::Which;
use a4emu_inspect::describe::mesh::Side;
use a4emu_inspect::describe::{Capture, Costing, Following, Frame, Rows};
use a4emu_inspect::selection::Draws;
use a4emu_rules::Watch;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads, accepted};
use a4emu_support::out_file::{make_folder, may_write, one_stdout};
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form};

/// Arguments of `show`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// One draw: `5` is a run, `f5` a frame draw with its runs for all tiles
    #[arg(long, value_name = "DRAW", value_parser = Draws::one)]
    pub draw: Option<Draws>,
    /// One JSON object (docs/schema.md)
    #[arg(long)]
    pub json: bool,
    /// Also list each run of the geometry shader for this primitive, from 0: what it makes, and which run kills
    #[arg(long, value_name = "PRIMITIVE", requires = "draw")]
    pub runs_of: Option<usize>,
    /// Also list all registers that have been written
    #[arg(long, requires = "draw")]
    pub registers: bool,
    /// Write each level and layer of the draw's textures as PNG, float formats also as EXR
    #[arg(long, value_name = "DIR", requires = "draw")]
    pub textures: Option<PathBuf>,
    /// What --textures writes
    #[command(flatten)]
    pub texture_view: files::TextureView,
    /// Write the draw's vertices: FILE.csv, FILE.obj or FILE.ply (- for CSV on stdout)
    #[arg(long, value_name = "FILE", requires = "draw")]
    pub mesh: Option<PathBuf>,
    /// Which vertices --mesh writes; CSV has both where each vertex stays one
    #[arg(long, value_name = "SIDE", requires = "mesh", value_parser = named::side(), default_value = "inputs")]
    pub mesh_of: Side,
    /// Write what the draw renders to as PNG, as it was before it; tiles joined (- for stdout)
    #[arg(long, value_name = "FILE", requires = "draw", value_parser = flags::png())]
    pub before: Option<PathBuf>,
    /// Write what the draw renders to as PNG, as it is after it; tiles joined (- for stdout)
    #[arg(long, value_name = "FILE", requires = "draw", value_parser = flags::png())]
    pub after: Option<PathBuf>,
    /// What --before, --after and --overlay show: 0 to 7 for a colour target, depth or stencil
    /// (default: the first that the draw has)
    #[arg(long, value_name = "TARGET", requires = "draw")]
    pub target: Option<Which>,
    /// Write what became of each pixel, over the picture as it is after the draw, dimmed: `wireframe`, `overdraw`,
    /// `depth` (passed and failed), `discard` (killed) or `cost` (warp instructions). Without --draw: of all draws, over the
    /// picture that `replay --png` writes. Several times for several overlays
    #[arg(long, value_name = "KIND=FILE")]
    pub overlay: Vec<Wanted>,
    /// Write opaque pictures: alpha is 1 everywhere
    #[arg(long, requires = "draw")]
    pub opaque: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

impl Args {
    /// The options that name a file, with the file.
    fn outputs(&self) -> Vec<(&'static str, Option<&Path>)> {
        let named = [("--mesh", &self.mesh), ("--before", &self.before), ("--after", &self.after)];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)));
        let overlays = self.overlay.iter().map(|wanted| ("--overlay", wanted.path.as_path()));
        named.chain(overlays).map(|(name, path)| (name, Some(path))).collect()
    }

    /// Whether a file is written to stdout instead of the answer.
    fn uses_stdout(&self) -> bool {
        self.outputs().iter().any(|(_, path)| *path == Some(Path::new("-")))
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let outputs = args.outputs();
    one_stdout(&outputs)?;
    outputs.iter().filter_map(|(_, path)| *path).try_for_each(|path| may_write(path, &shared.inputs))?;
    args.textures.as_deref().map_or(Ok(()), make_folder)?;
    args.threads.run(|| match args.draw {
        Some(draw) => draw::show(args, draw, shared),
        None => frame(args, shared),
    })
}

/// The answer for a frame.
#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    frame: Frame,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlays: Vec<Legend>,
}

/// Prints the table of all commands.
fn frame(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let capture = Capture::new(&args.capture, shared)?;
    let mut playback = args.limits.playback(capture.name());
    let (mut rows, mut watch) = (Rows::default(), Watch::of_run(&mut playback.gpu));
    let mut observer = Tee(vec![&mut rows, &mut watch]);
    let sections = capture.sections(&playback.gpu.budget, shared)?;
    let (costed, overlays) = if args.overlay.is_empty() {
        let mut costing = Costing::default();
        playback.run(sections, &mut costing, &mut observer);
        (costing.finish(&mut playback.gpu), Ok(Vec::new()))
    } else {
        let mut following = Following::new(overlay::planes(&args.overlay));
        playback.run(sections, &mut following, &mut observer);
        let costed = std::mem::take(&mut following.costing).finish(&mut playback.gpu);
        (costed, write_overlays(args, following, &mut playback.gpu, shared))
    };
    watch.finish(&mut playback.gpu);
    let frame = rows.finish(&playback.gpu, &costed.costs, watch.findings);
    if frame.left_out > 0 {
        let what = format!("the table has no room for {} more draws", frame.left_out);
        playback.gpu.cut(what);
    }
    accepted(&args.capture, &playback.gpu.report)?;
    let told = shared.tell(&args.capture.display().to_string(), &playback.gpu.report);
    let printed = overlays.and_then(|overlays| print(args, &Answer { frame, overlays }));
    Ok(told.and(printed))
}

/// Writes the overlays of the whole frame.
fn write_overlays(
    args: &Args,
    following: Following,
    gpu: &mut Gpu,
    shared: &Shared,
) -> anyhow::Result<Vec<Legend>> {
    let (picture, touched) = following.finish(gpu)?;
    overlay::write(&args.overlay, &touched, &picture, &shared.inputs)
}

fn print(args: &Args, answer: &Answer) -> anyhow::Result<()> {
    if args.uses_stdout() {
        return Ok(());
    }
    let mut out = terminal::stdout(if args.json { Form::Json } else { Form::Lines });
    match args.json {
        true => {
            serde_json::to_writer(&mut out, answer)?;
            writeln!(out)?;
        }
        false => {
            table::write(&answer.frame, terminal::columns(), &mut out)?;
            answer.overlays.iter().try_for_each(|legend| writeln!(out, "overlay {legend}"))?;
        }
    }
    Ok(out.flush()?)
}
