//! `a4emu pixel`: explains the colour of pixels of a rendered surface.
//!
//! The capture runs twice. The first run finds the draws and resolves that affect a pixel ([`trail`]). The
//! second looks at the effect of each primitive of these draws, and finds other writers of its memory
//! ([`writers`]).

mod answer;
mod trail;
mod writers;

use std::collections::BTreeMap;

use a4emu_decoder::a4xx::regs::rb::RB_COPY_CONTROL;
use a4emu_decoder::adreno::address::Address;

use crate::describe::{Capture, RUNS};
use crate::selection::Position;
use a4emu_gpu::a4xx::rb::copied_samples;
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::draw::Inspection;
use a4emu_gpu::draw::fs::history::Color;
use a4emu_gpu::draw::rb::rendered::Written;
use a4emu_gpu::fault::Report;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::{Ended, Synced};
use a4emu_shader::format::arrangement::resolved;
use a4emu_shader::format::{Codec, Transfer};
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::{Failure, Status};
pub use answer::Answer;
use answer::{Event, Left};
use trail::{HistoryPart, Trail};
use writers::{Watched, Writer, Writers};

/// The arguments of a pixel query.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The capture, which is read twice.
    pub capture: &'a Capture,
    /// The pixels.
    pub pixels: &'a [Position],
    /// Address of the surface; the default is the one rendered last.
    pub surface: Option<u64>,
    /// Limits of both runs together.
    pub limits: &'a Limits,
}

/// The report of the first run, which finds the draws of the pixels, and the history of each pixel from the
/// second run. The inner error means that there is no such surface or pixel.
///
/// # Errors
/// The call fails if the capture cannot be opened.
pub fn ask(question: Question<'_>, shared: &Shared) -> anyhow::Result<(Report, anyhow::Result<Vec<Answer>>)> {
    let first = FirstRun::new(question.capture, question.limits, shared)?;
    let answers = first.answers(question, shared);
    Ok((first.end.into_report(), answers))
}

/// The first run, which is the same for all pixels of a capture.
pub struct FirstRun {
    /// The machine at the end of the run.
    end: Ended,
    trail: Trail,
}

impl FirstRun {
    /// Runs the capture.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened.
    pub fn new(capture: &Capture, limits: &Limits, shared: &Shared) -> anyhow::Result<Self> {
        let mut first = limits.playback_of_many(capture.name(), RUNS);
        let mut trail = Trail::default();
        let sections = capture.sections(&first.gpu.budget, shared)?;
        first.run(sections, &mut Renderer, &mut trail);
        if trail.forgotten > 0 {
            let what = format!("there is no room to look at the first {} draws", trail.forgotten);
            first.gpu.cut(what);
        }
        Ok(Self { end: first.gpu.end(), trail })
    }

    /// The second run: looks at the draws of the trail. The question is about the capture of the first run.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened, or if there is no such surface or pixel.
    pub fn answers(&self, question: Question<'_>, shared: &Shared) -> anyhow::Result<Vec<Answer>> {
        let surface = surface(&self.end, question.surface)?;
        let wanted: Vec<Wanted> = question
            .pixels
            .iter()
            .map(|at| Wanted::new(&self.end, *at, &surface, &self.trail))
            .collect::<Result<_, _>>()?;
        let mut looking = Looking::new(&wanted);
        let mut second = question.limits.playback_of_many(question.capture.name(), RUNS);
        let sections = question.capture.sections(&second.gpu.budget, shared)?;
        second.run(sections, &mut looking, &mut Silent);
        second.gpu.settle();
        let last = second.gpu.at.submit.saturating_sub(1);
        looking.writers.between(&mut second.gpu, last);
        let answer = |(index, wanted)| looking.answer(index, wanted, &surface, *self.end.settled());
        Ok(wanted.iter().enumerate().map(answer).collect())
    }
}

/// The queried surface.
fn surface(gpu: &Gpu, address: Option<u64>) -> Result<Written, Failure> {
    let usage = |message| Failure { status: Status::Usage, message };
    let surfaces = &gpu.pipeline.surfaces;
    match address {
        None => surfaces.last_color().copied().ok_or_else(|| usage("no colour surface was rendered".into())),
        Some(address) => {
            surfaces.iter().find(|surface| surface.address.get() == address).copied().ok_or_else(|| {
                let known: Vec<String> = surfaces.iter().map(|s| format!("{:#x}", s.address)).collect();
                usage(format!("no surface at {address:#x} was rendered; there are {}", known.join(", ")))
            })
        }
    }
}

/// A queried pixel, and the calls that affect it.
struct Wanted {
    at: Position,
    address: Address,
    codec: Codec,
    /// Size of the pixel with all its samples, in bytes.
    bytes: u32,
    parts: BTreeMap<u32, HistoryPart>,
}

impl Wanted {
    fn new(gpu: &Gpu, at: Position, surface: &Written, trail: &Trail) -> Result<Self, Failure> {
        let Position([x, y]) = at;
        let Written { address, width, height, pitch, format, swap, arrangement, .. } = *surface;
        let usage = |message| Failure { status: Status::Usage, message };
        let codec = format.value.codec(swap, Transfer::Linear);
        let codec = codec.ok_or_else(|| usage(format!("pixels of {format:?} are not supported")))?;
        if x >= width || y >= height {
            return Err(usage(format!("pixel {x},{y} is outside of the {width}x{height} surface")));
        }
        let bytes = codec.bytes() * arrangement.samples;
        let address = gpu.chip.generation().behind(address, arrangement.tiling.offset([x, y], pitch, bytes));
        Ok(Self { at, address, codec, bytes, parts: trail.of(address) })
    }

    /// The value in memory; `None` if the capture has no memory there.
    fn value(&self, gpu: Synced<'_>) -> Option<Color> {
        let mut bytes = vec![0; self.bytes as usize];
        let held = gpu.memory().read(self.address, &mut bytes);
        held.then(|| Color::new(&self.codec, resolved(&self.codec, &bytes)))
    }

    /// The state of the pixel after the last call.
    fn left(&self, gpu: Synced<'_>) -> Left {
        let [samples, _] = copied_samples(&gpu.regs, gpu.regs.get::<RB_COPY_CONTROL>());
        let resolved = self.value(gpu).filter(|_| samples > 1);
        Left { to: self.address.get(), resolved }
    }
}

/// An engine that renders, and looks at the pixels before each draw that affects them.
struct Looking<'a> {
    wanted: &'a [Wanted],
    /// The pixels that each draw affects.
    by_draw: BTreeMap<u32, Vec<(usize, HistoryPart)>>,
    events: Vec<Vec<Event>>,
    writers: Writers,
}

impl<'a> Looking<'a> {
    fn new(wanted: &'a [Wanted]) -> Self {
        let mut by_draw: BTreeMap<u32, Vec<(usize, HistoryPart)>> = BTreeMap::new();
        for (index, wanted) in wanted.iter().enumerate() {
            for (&draw, &part) in &wanted.parts {
                by_draw.entry(draw).or_default().push((index, part));
            }
        }
        let watched = wanted.iter().map(|wanted| Watched::new(wanted.address, wanted.bytes));
        let events = wanted.iter().map(|_| Vec::new()).collect();
        Self { wanted, by_draw, events, writers: Writers::new(watched.collect()) }
    }

    fn answer(&mut self, index: usize, wanted: &Wanted, surface: &Written, end: Synced<'_>) -> Answer {
        let events = answer::of_memory(std::mem::take(&mut self.events[index]));
        Answer::new(wanted, surface, events, self.writers.pixel(index).writer(), end)
    }

    /// Runs `call`, which affects `parts`, and records the effects.
    fn look(&mut self, gpu: &mut Gpu, call: &Call, parts: Vec<(usize, HistoryPart)>) -> Flow {
        let pixels = parts.iter().filter_map(|(_, part)| part.position()).collect();
        gpu.inspect(Inspection { pixels: Some(pixels), ..Inspection::default() });
        let address = gpu.at.address;
        let flow = Renderer.run(gpu, call);
        let mut found = gpu.inspect(Inspection::default()).pixels.into_iter();
        gpu.settle();
        for (index, part) in parts {
            let touches = part.position().and_then(|_| found.next()).unwrap_or_default();
            let left = self.wanted[index].left(gpu.sync());
            let events = Event::of(call, address, part, left, touches);
            if events.iter().any(Event::writes_memory) {
                let writer = Writer::Draw { submit: call.submit(), draw: call.number() };
                self.writers.pixel(index).rendered(gpu.sync(), writer);
            }
            self.events[index].extend(events);
        }
        flow
    }

    /// Records the stores by shaders of `call`, which has run.
    fn look_for_stores(&mut self, gpu: &mut Gpu, call: &Call) {
        let writer = Writer::Store { submit: call.submit(), draw: call.number() };
        for (index, change) in self.writers.look(gpu, writer) {
            self.events[index].push(Event::stored(call, gpu.at.address, &self.wanted[index].codec, &change));
        }
    }
}

impl Engine for Looking<'_> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let parts = self.by_draw.remove(&call.number()).unwrap_or_default();
        let stores = self.writers.stores(gpu.sync(), call);
        if parts.is_empty() && !stores {
            self.writers.between(gpu, call.submit());
            return Renderer.run(gpu, call);
        }
        gpu.settle();
        self.writers.between(gpu, call.submit());
        let flow = match parts.is_empty() {
            true => Renderer.run(gpu, call),
            false => self.look(gpu, call, parts),
        };
        if stores {
            gpu.settle();
            self.look_for_stores(gpu, call);
        }
        flow
    }
}
