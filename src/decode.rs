//! `a4emu decode`: prints an annotated command stream. The command processor runs; draws are skipped.

mod programs;

use std::path::PathBuf;

use crate::flags::Flags;
use crate::named;
use a4emu_inspect::decode::{self, BASE, Options};
use a4emu_inspect::selection::Selection;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, open_capture};
use a4emu_support::status::{Status, WithErrors};
use programs::Programs;

/// Arguments of `decode`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_parser = named::decode_format(), default_value = "text")]
    pub format: decode::Format,
    /// Only the value of this register per draw: a name in any case, with * and ? as wild cards, NAME.FIELD for a
    /// field, or an offset (0x20a4, or 20a4 as listings print it); or what packets and descriptors of this name
    /// (CP_LOAD_STATE4_0, TEX_CONST_0) held since the draw before; or where an enumerator is (FUNC_LESS); repeatable
    #[arg(long, value_name = "NAME", conflicts_with_all = ["shaders", "once"])]
    pub query: Vec<String>,
    /// Which draws a query shows
    #[arg(long, value_parser = named::query_mode(), default_value = "all", requires = "query")]
    pub query_mode: decode::QueryMode,
    /// Show a command buffer that runs once per tile the first time only
    #[arg(long)]
    pub once: bool,
    /// Disassemble shaders where they are loaded (text: on by default), and with --draw those that the draw uses
    #[arg(long)]
    pub shaders: bool,
    /// Also write each program that a draw or dispatch runs: DIR/HASH.STAGE.bin (instructions) and .txt
    #[arg(long, value_name = "DIR")]
    pub dump_shaders: Option<PathBuf>,
    /// Shows only these
    #[command(flatten)]
    pub selection: Flags<Selection>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Runs the subcommand: decodes every capture to stdout.
///
/// # Errors
/// The call fails on wrong use, or if the output cannot be written.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let options = &Options {
        format: args.format,
        query: args.query.clone(),
        query_mode: args.query_mode,
        once: args.once,
        shaders: args.shaders,
        named: args.captures.len() > 1,
        selection: *args.selection,
        limits: args.limits.begun(),
    };
    let mut status = Status::Fine;
    let mut programs = Programs::new(*args.selection);
    for path in &args.captures {
        let name = path.display().to_string();
        let sections = open_capture(path, &options.limits.work.budget(BASE), shared);
        let decoded = sections.and_then(|sections| match &args.dump_shaders {
            None => decode::decode(sections, &name, options, shared, options.output()),
            Some(_) => {
                decode::decode_with(sections, &name, options, shared, (options.output(), &mut programs))
            }
        });
        match decoded {
            Ok(decoded) => status = status.worse(decoded),
            Err(error) => status = status.and(Err(error)),
        }
    }
    Ok(match &args.dump_shaders {
        Some(folder) => status.and(programs.write(folder, &shared.inputs)),
        None => status,
    })
}
