//! `a4emu decode`: annotate the command stream, run nothing.

mod jsonl;
mod output;
mod query;
mod session;
mod sink;
mod state_text;
mod text;
mod tracker;
mod work;

use jsonl::{Jsonl, Shaders};
use output::{Output, Palette};
use query::Query;
use session::{Repeats, Session};
use sink::Sink;
use text::{Detail, Text};

use crate::options::{Shared, open_capture};
use crate::status::Status;
use crate::walk::walk;

/// Arguments of `decode`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<std::path::PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Only the value of this register (name or offset) per draw; repeatable
    #[arg(long, value_name = "REG")]
    pub query: Vec<String>,
    /// Which draws a query shows
    #[arg(long, value_enum, default_value = "all")]
    pub query_mode: QueryMode,
    /// Show a command buffer that runs once per tile the first time only
    #[arg(long)]
    pub once: bool,
    /// Disassemble shaders where they are loaded (text: on by default)
    #[arg(long)]
    pub shaders: bool,
}

/// Output of `decode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON object a line, in execution order.
    Jsonl,
    /// What changed from draw to draw.
    Summary,
}

/// Which draws `--query` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum QueryMode {
    /// Every draw.
    All,
    /// Draws before which the register was written.
    Written,
    /// Draws before which its value changed.
    Delta,
}

impl Args {
    fn sink(&self, shared: &Shared) -> anyhow::Result<Box<dyn Sink>> {
        let palette = Palette::new(shared.color);
        if !self.query.is_empty() {
            let registers = query::registers(&self.query)?;
            return Ok(Box::new(Query::new(Output::paged(), palette, registers, self.query_mode)));
        }
        let shaders = if self.shaders { Shaders::Show } else { Shaders::Hide };
        Ok(match self.format {
            Format::Text => Box::new(Text::new(Output::paged(), palette, Detail::Full)),
            Format::Summary => Box::new(Text::new(Output::paged(), palette, Detail::Summary)),
            Format::Jsonl => Box::new(Jsonl::new(Output::stdout(), shaders)),
        })
    }

    fn repeats(&self) -> Repeats {
        if self.once { Repeats::Hide } else { Repeats::Show }
    }
}

/// Decodes every capture to stdout.
///
/// # Errors
/// Wrong use, or output that cannot be written.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut status = Status::Fine;
    for path in &args.captures {
        let sections = open_capture(path, shared)?;
        let mut session =
            Session::new(args.sink(shared)?, shared, path.display().to_string(), args.repeats());
        walk(sections, &mut session)?;
        status = status.worse(session.finish()?);
    }
    Ok(status)
}
