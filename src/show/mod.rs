//! `a4emu show`: the commands of a frame, or one draw with all that it runs with.

mod draw;
mod files;
mod table;
mod text;

pub use draw::write_picture;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::inspect::canvas::Which;
use crate::inspect::mesh::Side;
use crate::inspect::{Capture, Costing, Rows};
use crate::limits::Limits;
use crate::options::{Shared, Threads};
use crate::selection::Draws;
use crate::status::Status;

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
    /// Also all registers that have been written
    #[arg(long, requires = "draw")]
    pub registers: bool,
    /// Write each level and layer of the draw's textures as PNG, float formats also as EXR
    #[arg(long, value_name = "DIR", requires = "draw")]
    pub textures: Option<PathBuf>,
    /// Write the draw's vertices: FILE.csv, FILE.obj or FILE.ply (- for CSV on stdout)
    #[arg(long, value_name = "FILE", requires = "draw")]
    pub mesh: Option<PathBuf>,
    /// Which vertices --mesh writes; CSV has both where each vertex stays one
    #[arg(long, value_name = "SIDE", requires = "mesh", value_enum, default_value = "inputs")]
    pub mesh_of: Side,
    /// Write what the draw renders to as PNG, as it was before it; tiles joined (- for stdout)
    #[arg(long, value_name = "FILE", requires = "draw")]
    pub before: Option<PathBuf>,
    /// The same after it
    #[arg(long, value_name = "FILE", requires = "draw")]
    pub after: Option<PathBuf>,
    /// What --before and --after show: 0 to 7 for a colour target, depth or stencil
    /// (default: the first that the draw has)
    #[arg(long, value_name = "TARGET", requires = "draw")]
    pub target: Option<Which>,
    /// Pictures without holes: alpha is 1 everywhere
    #[arg(long, requires = "draw")]
    pub opaque: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Threads,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, or that the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    args.threads.run(|| match args.draw {
        Some(draw) => draw::show(args, draw, shared),
        None => frame(args, shared),
    })
}

/// The table of all commands.
fn frame(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let capture = Capture::new(&args.capture)?;
    let mut playback = args.limits.playback(capture.name());
    let (mut costing, mut rows) = (Costing::default(), Rows::default());
    playback.run(capture.sections(shared)?, &mut costing, &mut rows);
    let costs = costing.finish(&mut playback.gpu);
    let frame = rows.finish(&playback.gpu, &costs);
    if frame.left_out > 0 {
        let what = format!("the table has no room for {} more draws", frame.left_out);
        playback.gpu.report.cut(what, playback.gpu.at);
    }
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let written = match args.json {
        true => serde_json::to_writer(&mut out, &frame).map_err(anyhow::Error::from),
        false => table::write(&frame, &mut out).map_err(anyhow::Error::from),
    };
    let written = written.and_then(|()| if args.json { writeln!(out) } else { Ok(()) }.map_err(Into::into));
    let told = playback.gpu.report.tell(&args.capture.display().to_string(), shared);
    Ok(told.and(written.and_then(|()| Ok(out.flush()?))))
}
