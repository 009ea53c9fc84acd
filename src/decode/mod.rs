//! `a4emu decode`: annotate the command stream; the command processor runs, draws are skipped.

use std::path::Path;

use a4emu_decoder::capture::Section;
use a4emu_decoder::error::CaptureError;

pub mod in_effect;
mod jsonl;
mod lines;
mod listing;
mod loaded;
mod memo;
mod output;
mod primitive;
mod query;
mod session;
mod sink;
mod state_text;
mod text;
mod tracker;

pub use jsonl::{Fields, PacketFields, PacketName};
use jsonl::{Jsonl, Shaders};
use lines::Lines;
pub use listing::Listing;
use output::Palette;
pub use output::{Hold, Output};
pub use primitive::Primitive;
use query::Query;
use session::{Repeats, Session};
use sink::Sink;
pub use sink::comm;
use text::{Detail, Text};
pub use tracker::{Change, Tracker};

use crate::limits::Limits;
use crate::options::{Shared, open_capture};
use crate::selection::Selection;
use crate::status::{Status, WithErrors};
use a4emu_gpu::cp::Skip;
use a4emu_gpu::fault::Report;

/// Work that any capture may ask for, however small: no draws run, and each packet is put out,
/// so that this is some hundreds of megabytes of text.
pub const BASE: u64 = 1 << 33;

/// Arguments of `decode`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// .rd or .rd.gz files, or - for stdin
    #[arg(value_name = "CAPTURE", required = true)]
    pub captures: Vec<std::path::PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Only the value of this register per draw: a name in any case, with * and ? as wild cards, NAME.FIELD for a
    /// field, or an offset (0x20a4, or 20a4 as listings print it); repeatable
    #[arg(long, value_name = "REG", conflicts_with_all = ["shaders", "once"])]
    pub query: Vec<String>,
    /// Which draws a query shows
    #[arg(long, value_enum, default_value = "all", requires = "query")]
    pub query_mode: QueryMode,
    /// Show a command buffer that runs once per tile the first time only
    #[arg(long)]
    pub once: bool,
    /// Disassemble shaders where they are loaded (text: on by default), and with --draw those that the draw uses
    #[arg(long)]
    pub shaders: bool,
    /// Shows only these
    #[command(flatten)]
    pub selection: Selection,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
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

impl QueryMode {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::All, Self::Written, Self::Delta];

    /// As the option has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Written => "written",
            Self::Delta => "delta",
        }
    }
}

impl Args {
    /// The sink for the capture called `name`.
    fn sink<'a>(&self, name: &str, out: Output<'a>, shared: &Shared) -> anyhow::Result<Box<dyn Sink + 'a>> {
        let palette = Palette::new(shared.color);
        let several = self.captures.len() > 1;
        let lines = |out| Lines::new(out, several.then_some(name));
        if !self.query.is_empty() {
            return Ok(Box::new(Query::new(lines(out), palette, self)?));
        }
        let shaders = if self.shaders { Shaders::Show } else { Shaders::Hide };
        Ok(match self.format {
            Format::Text => Box::new(Text::new(out, palette, Detail::Full, shaders)),
            Format::Summary => Box::new(Text::new(out, palette, Detail::Summary, shaders)),
            Format::Jsonl => Box::new(Jsonl::new(lines(out), shaders)),
        })
    }

    fn output(&self, shared: &Shared) -> Output<'static> {
        match self.format {
            Format::Text | Format::Summary => Output::paged(Palette::new(shared.color).colours()),
            Format::Jsonl => Output::json(),
        }
    }

    fn repeats(&self) -> Repeats {
        if self.once { Repeats::Hide } else { Repeats::Show }
    }
}

/// Decodes the capture in the file called `name` into `out`; the worst status met.
///
/// # Errors
/// Wrong use, or output that cannot be written.
pub fn decode(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    args: &Args,
    shared: &Shared,
    out: Output<'_>,
) -> anyhow::Result<Status> {
    let (report, put_out) = play(sections, name, args, shared, out)?;
    Ok(shared.tell(name, &report).and(put_out))
}

/// The same, but for telling: what went wrong with the capture, and whether all of it was put out.
///
/// # Errors
/// Wrong use.
pub fn play(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    args: &Args,
    shared: &Shared,
    out: Output<'_>,
) -> anyhow::Result<(Report, anyhow::Result<()>)> {
    let mut session = Session::new(args.sink(name, out, shared)?, args.selection, args.repeats());
    let mut playback = args.limits.playback_of(Path::new(name), BASE);
    playback.run(sections, &mut Skip::default(), &mut session);
    let put_out = session.finish(&playback.gpu);
    Ok((playback.gpu.report, put_out))
}

/// Decodes every capture to stdout.
///
/// # Errors
/// As [`decode`].
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let args = &Args { limits: args.limits.begun(), ..args.clone() };
    let mut status = Status::Fine;
    for path in &args.captures {
        let name = path.display().to_string();
        let decoded = open_capture(path, &args.limits.work.budget(BASE), shared)
            .and_then(|sections| decode(sections, &name, args, shared, args.output(shared)));
        match decoded {
            Ok(decoded) => status = status.worse(decoded),
            Err(error) => status = status.and(Err(error)),
        }
    }
    Ok(status)
}
