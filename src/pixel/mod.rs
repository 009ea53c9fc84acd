//! `a4emu pixel`: why pixels of a rendered surface have their colours.
//!
//! The capture runs twice: once to see which draws and copies a pixel came through ([`trail`]), and
//! once more to look at what each primitive of those draws did to it.

mod answer;
mod trail;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use a4emu_decoder::capture::{Ahead, Sections};
use anyhow::{Context, ensure};

use crate::cp::{Call, Engine, Flow, Renderer, Silent};
use crate::draw::pipeline::look::Watch;
use crate::draw::rb::rendered::Written;
use crate::format::{Codec, Format, Transfer};
use crate::gpu::Gpu;
use crate::limits::Limits;
use crate::options::{Shared, Threads, open_capture};
use crate::status::{Failure, Status};
pub use answer::Answer;
use answer::Event;
use trail::{Part, Trail};

/// Bytes of a capture on stdin that are kept for the second run.
const MAX_STDIN: u64 = 2 << 30;

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
    pub surface: Option<u32>,
    /// One JSON object a line for each pixel
    #[arg(long)]
    pub json: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Threads,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Limits,
}

/// A pixel of a picture: column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub [u32; 2]);

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<u16>().ok().map(u32::from);
        let pair = text.split_once(',').and_then(|(x, y)| Some([number(x)?, number(y)?]));
        pair.map(Self).ok_or_else(|| format!("`{text}` is not X,Y"))
    }
}

fn address(text: &str) -> Result<u32, String> {
    let digits = text.trim_start_matches("0x");
    u32::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is no address such as 0x1040000"))
}

/// Which pixels of what are asked about.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// A file; stdin cannot be asked twice.
    pub capture: &'a Path,
    /// Columns and rows.
    pub pixels: &'a [Position],
    /// Address of the surface, if it is not the one that was rendered last.
    pub surface: Option<u32>,
    /// Bounds of each run.
    pub limits: &'a Limits,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use, or that the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let source = Source::new(&args.capture)?;
    let Args { capture, pixels, surface, limits, .. } = args;
    let question = Question { capture, pixels, surface: *surface, limits };
    args.threads.run(|| {
        let (told, answers) = answers(question, &source, shared)?;
        Ok(told.and(answers.and_then(|answers| print(&answers, args.json))))
    })
}

/// The answers for each pixel.
///
/// # Errors
/// There is no such surface or pixel, or the capture cannot be opened.
pub fn ask(question: Question<'_>, shared: &Shared) -> anyhow::Result<Vec<Answer>> {
    let (_, answers) = answers(question, &Source::File(question.capture), shared)?;
    answers
}

fn print(answers: &[Answer], json: bool) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for answer in answers {
        match json {
            true => writeln!(out, "{}", serde_json::to_string(answer)?)?,
            false => write!(out, "{answer}")?,
        }
    }
    Ok(out.flush()?)
}

/// The first run, which finds the draws that pixels came through, and what the second says.
fn answers(
    question: Question<'_>,
    source: &Source<'_>,
    shared: &Shared,
) -> anyhow::Result<(Status, anyhow::Result<Vec<Answer>>)> {
    let Question { capture, limits, .. } = question;
    let mut first = limits.playback(capture);
    let mut trail = Trail::default();
    first.run(source.sections(shared)?, &mut Renderer, &mut trail);
    crate::draw::flush(&mut first.gpu);
    let told = first.gpu.report.tell(&capture.display().to_string(), shared);
    Ok((told, looked_at(question, source, shared, &first.gpu, &trail)))
}

/// The second run: looks at the draws that the trail names.
fn looked_at(
    question: Question<'_>,
    source: &Source<'_>,
    shared: &Shared,
    end: &Gpu,
    trail: &Trail,
) -> anyhow::Result<Vec<Answer>> {
    let surface = surface(end, question.surface)?;
    let wanted: Vec<Wanted> =
        question.pixels.iter().map(|at| Wanted::new(*at, &surface, trail)).collect::<Result<_, _>>()?;
    let mut looking = Looking::new(&wanted);
    let mut second = question.limits.playback(question.capture);
    second.run(source.sections(shared)?, &mut looking, &mut Silent);
    let both = wanted.iter().zip(looking.events);
    Ok(both.map(|(wanted, events)| Answer::new(wanted, &surface, events, end)).collect())
}

/// The surface that is asked about.
fn surface(gpu: &Gpu, address: Option<u32>) -> Result<Written, Failure> {
    let usage = |message| Failure { status: Status::Usage, message };
    let surfaces = &gpu.pipeline.surfaces;
    match address {
        None => surfaces.last_color().copied().ok_or_else(|| usage("no colour surface was rendered".into())),
        Some(address) => {
            surfaces.iter().find(|surface| surface.address == address).copied().ok_or_else(|| {
                let known: Vec<String> = surfaces.iter().map(|s| format!("{:#x}", s.address)).collect();
                usage(format!("no surface at {address:#x} was rendered; there are {}", known.join(", ")))
            })
        }
    }
}

/// A capture that can be read more than once.
enum Source<'a> {
    File(&'a Path),
    Bytes(std::sync::Arc<[u8]>),
}

impl<'a> Source<'a> {
    fn new(path: &'a Path) -> anyhow::Result<Self> {
        if path != Path::new("-") {
            return Ok(Self::File(path));
        }
        let mut bytes = Vec::new();
        io::stdin().take(MAX_STDIN + 1).read_to_end(&mut bytes).context("cannot read stdin")?;
        ensure!(bytes.len() as u64 <= MAX_STDIN, "the capture on stdin is too large to be read twice");
        Ok(Self::Bytes(bytes.into()))
    }

    fn sections(&self, shared: &Shared) -> anyhow::Result<Ahead> {
        match self {
            Self::File(path) => open_capture(path, shared),
            Self::Bytes(bytes) => Ok(Ahead::new(Sections::new(Box::new(Cursor::new(bytes.clone())))?)),
        }
    }
}

/// A pixel, and what it came through.
struct Wanted {
    at: Position,
    address: u32,
    codec: Codec,
    parts: BTreeMap<u32, Part>,
}

impl Wanted {
    fn new(at: Position, surface: &Written, trail: &Trail) -> Result<Self, Failure> {
        let Position([x, y]) = at;
        let Written { address, width, height, pitch, format, swap, .. } = *surface;
        let usage = |message| Failure { status: Status::Usage, message };
        let codec = Format::color(format).and_then(|format| format.codec(swap, Transfer::Linear));
        let codec = codec.ok_or_else(|| usage(format!("pixels of {format:?} are not supported")))?;
        if x >= width || y >= height {
            return Err(usage(format!("pixel {x},{y} is outside of the {width}x{height} surface")));
        }
        let address = address.wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x * codec.bytes());
        Ok(Self { at, address, codec, parts: trail.of(address) })
    }
}

/// Renders, and looks at the pixels before each draw that they come through.
struct Looking<'a> {
    wanted: &'a [Wanted],
    /// By draw: the pixels that it is part of.
    by_draw: BTreeMap<u32, Vec<(usize, Part)>>,
    events: Vec<Vec<Event>>,
}

impl<'a> Looking<'a> {
    fn new(wanted: &'a [Wanted]) -> Self {
        let mut by_draw: BTreeMap<u32, Vec<(usize, Part)>> = BTreeMap::new();
        for (index, wanted) in wanted.iter().enumerate() {
            for (&draw, &part) in &wanted.parts {
                by_draw.entry(draw).or_default().push((index, part));
            }
        }
        Self { wanted, by_draw, events: wanted.iter().map(|_| Vec::new()).collect() }
    }
}

impl Engine for Looking<'_> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let Some(parts) = self.by_draw.remove(&call.number()) else { return Renderer.run(gpu, call) };
        let pixels = parts.iter().filter_map(|(_, part)| part.position()).collect();
        gpu.pipeline.watch = Some(Watch { pixels, found: Vec::new() });
        let address = gpu.at.address;
        let flow = Renderer.run(gpu, call);
        let mut found = gpu.pipeline.watch.take().unwrap_or_default().found.into_iter();
        for (index, part) in parts {
            let touches = part.position().and_then(|_| found.next()).unwrap_or_default();
            let to = self.wanted[index].address;
            self.events[index].extend(Event::of(call, address, part, to, touches));
        }
        match self.by_draw.is_empty() {
            true => Flow::Stop,
            false => flow,
        }
    }
}
