//! `a4emu pixel`: explains the colours of pixels of a rendered surface.

use std::io::Write;
use std::path::PathBuf;

use crate::flags::Flags;
use a4emu_inspect::describe::Capture;
use a4emu_inspect::pixel::{Answer, Question, ask};
use a4emu_inspect::selection::Position;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::status::Status;
use a4emu_support::terminal::{self, Form};

/// Arguments of `pixel`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Columns and rows of the picture, as `replay --png` writes it: from its upper left pixel 0,0
    #[arg(required = true, value_name = "X,Y")]
    pub pixels: Vec<Position>,
    /// Of the surface at this address (default: the colour surface that was rendered last)
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub surface: Option<u64>,
    /// One JSON object a line for each pixel
    #[arg(long)]
    pub json: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

fn address(text: &str) -> Result<u64, String> {
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no address such as 0x1040000"))
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let capture = &Capture::new(&args.capture, shared)?;
    let Args { pixels, surface, limits, .. } = args;
    let question = Question { capture, pixels, surface: *surface, limits };
    args.threads.run(|| {
        let (report, answers) = ask(question, shared)?;
        let printed = answers.and_then(|answers| print(&answers, args.json));
        Ok(shared.tell_with(&args.capture.display().to_string(), &report, printed))
    })
}

fn print(answers: &[Answer], json: bool) -> anyhow::Result<()> {
    let mut out = terminal::stdout(if json { Form::Json } else { Form::Lines });
    for answer in answers {
        match json {
            true => writeln!(out, "{}", serde_json::to_string(answer)?)?,
            false => write!(out, "{answer}")?,
        }
    }
    Ok(out.flush()?)
}
