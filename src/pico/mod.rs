//! `a4emu pico`: the PicoGpu front end. It uses the lanes, operands and loops of ir3.
mod draw;
mod programs;
mod raster;
mod report;
mod scene;
mod stepping;
pub mod unit;
mod value;

use std::path::PathBuf;

use crate::flags::Flags;
use a4emu_gpu::budget::{BASE, Budget};
use a4emu_support::limits::WorkLimits;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

pub use value::Form;

/// Arguments of `pico`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do with PicoGpu.
#[derive(clap::Subcommand, Clone, Debug)]
enum Command {
    /// Assemble a shader to PicoGpu's own bytes
    Asm {
        /// Shader source
        shader: PathBuf,
        /// Write bytes here, - for stdout (default: dwords as text on stdout)
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
    /// Run a shader on one line of stdin per thread
    Run {
        /// Shader source
        shader: PathBuf,
        /// Values of the next uniform
        #[arg(long, value_name = "1.0,2.0")]
        uniform: Vec<String>,
        /// How to print results
        #[arg(long = "as", default_value = "hex")]
        form: Form,
        #[command(flatten)]
        limits: Flags<WorkLimits>,
    },
    /// Execute a binary stream of StoreIsa and ExecuteIsa commands
    Exec {
        /// The stream
        stream: PathBuf,
        #[command(flatten)]
        limits: Flags<WorkLimits>,
    },
    /// Render a scene
    Draw {
        /// Scene description (TOML)
        scene: PathBuf,
        /// The picture to write (- for stdout)
        #[arg(long, value_name = "FILE")]
        png: PathBuf,
        /// A folder, beside that of the scene, where its shaders may be (repeatable)
        #[arg(long, value_name = "DIR")]
        include: Vec<PathBuf>,
        #[command(flatten)]
        limits: Flags<WorkLimits>,
    },
    /// Write a page that shows a scene: picture, draws, programs, and the steps of chosen pixels and vertices
    Report(report::Args),
    /// Step through a shader
    Debug(stepping::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, on I/O errors, if a source breaks a rule, or if a stream is damaged.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    match &args.command {
        Command::Asm { shader, output } => programs::asm(shader, output.as_deref(), shared),
        Command::Run { shader, uniform, form, limits } => {
            programs::run(shader, uniform, *form, limits.budget(BASE), shared)
        }
        Command::Exec { stream, limits } => programs::exec(stream, limits.budget(BASE), shared),
        Command::Draw { scene, png, include, limits } => {
            draw::draw(scene, png, include, limits.budget(BASE), shared)
        }
        Command::Report(args) => report::run(args, shared),
        Command::Debug(args) => stepping::debug(args, shared),
    }
}

/// Warns on stderr if `budget` ended the work early. Returns the status for that.
fn cut_status(budget: &Budget, shared: &Shared) -> Status {
    let Some(refusal) = budget.refusal() else { return Status::Fine };
    shared.warn(format_args!("cut off: {refusal}"));
    Status::Unsupported
}
