//! `a4emu pico`: the PicoGpu front end.

use crate::options::Shared;
use crate::status::{Failure, Status};

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
        shader: std::path::PathBuf,
        /// Write bytes here (default: dwords as text on stdout)
        #[arg(short, long)]
        output: Option<std::path::PathBuf>,
    },
    /// Run a shader on one line of stdin per thread
    Run {
        /// Shader source
        shader: std::path::PathBuf,
        /// Values of the next uniform
        #[arg(long, value_name = "1.0,2.0")]
        uniform: Vec<String>,
        /// How to print results
        #[arg(long = "as", default_value = "hex", value_parser = ["hex", "f32", "i32"])]
        form: String,
    },
    /// Execute a binary stream of StoreIsa and ExecuteIsa commands
    Exec {
        /// The stream
        stream: std::path::PathBuf,
    },
    /// Render a scene
    Draw {
        /// Scene description (TOML)
        scene: std::path::PathBuf,
        /// The picture to write
        #[arg(long, value_name = "FILE")]
        png: std::path::PathBuf,
    },
    /// Step through a shader
    Debug {
        /// Shader source
        shader: std::path::PathBuf,
    },
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, I/O, or that it is not supported yet.
pub fn run(args: &Args, _shared: &Shared) -> anyhow::Result<Status> {
    let what = match &args.command {
        Command::Asm { .. } => "pico asm",
        Command::Run { .. } => "pico run",
        Command::Exec { .. } => "pico exec",
        Command::Draw { .. } => "pico draw",
        Command::Debug { .. } => "pico debug",
    };
    Err(Failure::unimplemented(what).into())
}
