//! `a4emu decode`: prints an annotated command stream. The command processor runs; draws are skipped.

use std::path::Path;

use a4emu_decoder::adreno::capture::{Body, NamedChip, Section};
use a4emu_decoder::error::CaptureError;
use a4emu_decoder::generation::{DEFAULT, Generation};

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
mod values;

pub use jsonl::{Fields, PacketFields};
use jsonl::{Jsonl, Shaders};
use lines::Lines;
pub use listing::Listing;
pub use output::{Hold, Output};
pub use primitive::Primitive;
use query::Query;
use session::{Repeats, Session};
use sink::Sink;
pub use sink::comm;
use text::{Detail, Text};
pub use tracker::{Change, Tracker};

use crate::selection::Selection;
use a4emu_gpu::cp::{Observer, Skip, Tee};
use a4emu_gpu::fault::Report;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

/// Most sections that are read ahead to find which chip the capture is of. It is named in one of the first few.
const MOST_AHEAD: usize = 16;

/// Least budget of a run, however small the capture is. No draw runs and each packet is printed, so this is
/// some hundreds of megabytes of text.
pub const BASE: u64 = 1 << 33;

/// Options of `decode`.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format of the output.
    pub format: Format,
    /// Shows only the values of these registers, packets and descriptors per draw: names, patterns or offsets, as
    /// [`subjects`](crate::subjects::subjects) accepts them.
    pub query: Vec<String>,
    /// The draws that a query shows.
    pub query_mode: QueryMode,
    /// Shows a command buffer that runs once per tile only the first time.
    pub once: bool,
    /// Disassembles shaders where they are loaded; with [`Options::selection`], the shaders of the selected
    /// draw.
    pub shaders: bool,
    /// Adds the name of the capture to each line of a JSON format.
    pub named: bool,
    /// The part of the capture that is shown.
    pub selection: Selection,
    /// Limits of the run.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: Format::Text,
            query: Vec::new(),
            query_mode: QueryMode::All,
            once: false,
            shaders: false,
            named: false,
            selection: Selection::default(),
            limits: Limits::default(),
        }
    }
}

/// The format of `decode`'s output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for readers.
    Text,
    /// One JSON object a line, in execution order.
    Jsonl,
    /// Only the changes from draw to draw.
    Summary,
}

/// The draws that `--query` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryMode {
    /// Every draw.
    All,
    /// Draws before which the register was written.
    Written,
    /// Draws before which its value changed.
    Delta,
    /// Each value once, with the number of draws, the first one and the last.
    Values,
}

impl QueryMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::All, Self::Written, Self::Delta, Self::Values];

    /// The mode's name in the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Written => "written",
            Self::Delta => "delta",
            Self::Values => "values",
        }
    }
}

impl Options {
    /// Makes the sink for the capture called `name`, which is of a chip of `generation`.
    fn sink<'a>(
        &self,
        name: &str,
        generation: &'static Generation,
        out: Output<'a>,
    ) -> anyhow::Result<Box<dyn Sink + 'a>> {
        let lines = |out| Lines::new(out, self.named.then_some(name));
        if !self.query.is_empty() {
            return Ok(Box::new(Query::new(lines(out), generation, self)?));
        }
        let shaders = if self.shaders { Shaders::Show } else { Shaders::Hide };
        Ok(match self.format {
            Format::Text => Box::new(Text::new(out, Detail::Full, shaders)),
            Format::Summary => Box::new(Text::new(out, Detail::Summary, shaders)),
            Format::Jsonl => Box::new(Jsonl::new(lines(out), shaders)),
        })
    }

    /// Stdout, set up for this format.
    pub fn output(&self) -> Output<'static> {
        match self.format {
            Format::Text | Format::Summary => Output::paged(),
            Format::Jsonl => Output::json(),
        }
    }

    fn repeats(&self) -> Repeats {
        if self.once { Repeats::Hide } else { Repeats::Show }
    }
}

/// Decodes the capture called `name` into `out`. Returns the worst status.
///
/// # Errors
/// The call fails on wrong use, or if the output cannot be written.
pub fn decode(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    options: &Options,
    shared: &Shared,
    out: Output<'_>,
) -> anyhow::Result<Status> {
    let (report, put_out) = play(sections, name, options, out)?;
    Ok(shared.tell_with(name, &report, put_out))
}

/// Decodes like [`decode`], and shows the run to `other` too.
///
/// # Errors
/// The call fails on wrong use, or if the output cannot be written.
pub fn decode_with(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    options: &Options,
    shared: &Shared,
    (out, other): (Output<'_>, &mut dyn Observer),
) -> anyhow::Result<Status> {
    let (report, put_out) = play_with(sections, name, options, (out, Some(other)))?;
    Ok(shared.tell_with(name, &report, put_out))
}

/// Decodes like [`decode`] but prints no report. Returns the report, and whether the whole output was
/// written.
///
/// # Errors
/// The call fails on wrong use.
pub fn play(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    options: &Options,
    out: Output<'_>,
) -> anyhow::Result<(Report, anyhow::Result<()>)> {
    play_with(sections, name, options, (out, None))
}

fn play_with(
    sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
    name: &str,
    options: &Options,
    (out, other): (Output<'_>, Option<&mut dyn Observer>),
) -> anyhow::Result<(Report, anyhow::Result<()>)> {
    let mut sections = sections.into_iter();
    let (ahead, generation) = read_ahead(&mut sections);
    let sink = options.sink(name, generation, out)?;
    let mut session = Session::new(sink, options.selection, options.repeats());
    let mut playback = options.limits.playback_of(Path::new(name), BASE);
    let (sections, engine) = (ahead.into_iter().chain(sections), &mut Skip::default());
    match other {
        Some(other) => playback.run(sections, engine, &mut Tee(vec![&mut session, other])),
        None => playback.run(sections, engine, &mut session),
    };
    let put_out = session.finish(&playback.gpu);
    Ok((playback.gpu.machine.report, put_out))
}

/// Reads sections until one names the chip or begins the commands. Returns them, and the generation of the chip.
pub(crate) fn read_ahead(
    sections: &mut impl Iterator<Item = Result<Section, CaptureError>>,
) -> (Vec<Result<Section, CaptureError>>, &'static Generation) {
    let mut ahead = Vec::new();
    for section in sections.take(MOST_AHEAD) {
        let body = section.as_ref().ok().and_then(|section| section.body().ok());
        let named = body.as_ref().and_then(NamedChip::of);
        let begins = matches!(body, Some(Body::CmdstreamAddr(_) | Body::BufferContents(_)));
        drop(body);
        ahead.push(section);
        if let Some(named) = named {
            return (ahead, Generation::of(named).unwrap_or(DEFAULT));
        }
        if begins {
            break;
        }
    }
    (ahead, DEFAULT)
}
