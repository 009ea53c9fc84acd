//! Answers the queries of the page.

use a4emu_decoder::generation::Generation;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context, anyhow, bail, ensure};

use super::http::Response;
use super::query::{self, Query};
use super::{Args, edit, memory, step};
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::describe::{Capture, Draw, Part, Shaders};
use a4emu_inspect::memory::Starts;
use a4emu_inspect::pixel::{FirstRun, Question};
use a4emu_inspect::register_names;
use a4emu_inspect::report::blocks::BlockKind;
use a4emu_inspect::report::extras::PartOfTexture;
use a4emu_inspect::report::frame::{Frame, Register, Why};
use a4emu_inspect::report::{self, contents, html};
use a4emu_inspect::selection::Position;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};

/// A capture with the data of its page.
pub struct Site {
    capture: Capture,
    generation: &'static Generation,
    limits: Limits,
    threads: Threads,
    page: Arc<[u8]>,
    /// The data of the page, or why there is none. It is made while the page loads.
    frame: OnceLock<Result<Frame, String>>,
    /// The first run of the history of a pixel: all pixels share it.
    first: Mutex<Option<FirstRun>>,
    shared: Shared,
    title: String,
    /// A run needs all threads and much memory, so only one runs at a time.
    turn: Mutex<()>,
}

impl Site {
    /// Makes the site of a capture of a chip of this generation, with URLs below `path`. It runs nothing yet.
    pub fn new(
        (capture, generation): (Capture, &'static Generation),
        args: &Args,
        shared: &Shared,
        path: &str,
    ) -> Self {
        Self {
            generation,
            limits: args.limits.0.clone(),
            threads: *args.threads,
            page: html::live(path).into_bytes().into(),
            frame: OnceLock::new(),
            first: Mutex::new(None),
            shared: shared.clone(),
            title: args.capture.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            turn: Mutex::new(()),
            capture,
        }
    }

    /// The data of the page. The first call runs the capture, and others wait for it.
    ///
    /// # Errors
    /// The call fails if the capture cannot be read.
    pub fn frame(&self) -> anyhow::Result<&Frame> {
        let made = self.frame.get_or_init(|| {
            let run = || report::of_capture(&self.capture, &self.limits, &self.shared);
            let (mut frame, _told) = self.in_turn(run).map_err(|error| format!("{error:#}"))?;
            frame.title.clone_from(&self.title);
            Ok(frame)
        });
        made.as_ref().map_err(|why| anyhow!("{why}"))
    }

    /// Makes what requests need: the data of the page, and the first run of the history of a pixel. The requests report
    /// errors.
    pub fn prepare(&self) {
        let _made = self.frame();
        let _made = self.with_first(|_| Ok(()));
    }

    /// The response to a path after the token; none for an unknown path.
    pub fn answer(&self, question: &str) -> Option<Response> {
        let (path, query) = question.split_once('?').unwrap_or((question, ""));
        let made = match path {
            "" => {
                let (kind, body) = ("text/html; charset=utf-8", self.page.clone());
                return Some(Response { status: 200, kind, body });
            }
            "frame.json" => self.frame().and_then(|frame| Ok(serde_json::to_vec(frame)?)),
            "pixel" => self.pixel(query),
            "step" => self.step(query),
            "edit" => self.edit(query),
            "memory" => self.memory(query),
            _ => match path.split_once('/')? {
                ("draw", number) => self.draw(number.parse().ok()?),
                ("texels", query) => self.texels(query),
                ("vertices", run) => self.vertices(run.parse().ok()?),
                ("places", run) => self.places(run.parse().ok()?),
                ("explain", name) => explain(self.generation, name),
                ("texts", index) => self.block(BlockKind::Texts, index.parse().ok()?),
                ("pictures", index) => self.block(BlockKind::Pictures, index.parse().ok()?),
                _ => return None,
            },
        };
        Some(made.map_or_else(|error| Response::text(400, &format!("{error:#}")), Response::json))
    }

    /// A block of draws.
    fn block(&self, kind: BlockKind, index: usize) -> anyhow::Result<Vec<u8>> {
        Ok(kind.json(self.frame()?, index)?)
    }

    /// The history of a pixel, like `pixel --json`.
    fn pixel(&self, query: &str) -> anyhow::Result<Vec<u8>> {
        let query = Query::new(query)?;
        let at = Position([query.needed("x")?, query.needed("y")?]);
        let surface = match query.get::<usize>("canvas")? {
            None => None,
            Some(canvas) => {
                let canvas = self.frame()?.canvases.get(canvas).context("there is no such canvas")?;
                Some(canvas.address.context("it is never copied to memory: its pixels cannot be followed")?)
            }
        };
        let question = Question { capture: &self.capture, pixels: &[at], surface, limits: &self.limits };
        let answers = self.with_first(|first| first.answers(question, &quiet()));
        Ok(serde_json::to_vec(answers?.first().context("there is no answer")?)?)
    }

    /// The steps of a lane of a shader.
    fn step(&self, query: &str) -> anyhow::Result<Vec<u8>> {
        let query = Query::new(query)?;
        let walk = self.in_turn(|| step::walk(&self.capture, self.limits.clone(), &query, &quiet()))?;
        Ok(serde_json::to_vec(&walk)?)
    }

    /// A picture with other register values.
    fn edit(&self, query: &str) -> anyhow::Result<Vec<u8>> {
        let query = Query::new(query)?;
        let edited = self.in_turn(|| edit::edited(&self.capture, &self.limits, &query, &quiet()))?;
        Ok(serde_json::to_vec(&edited)?)
    }

    /// A range of memory, like `memory --json`.
    fn memory(&self, query: &str) -> anyhow::Result<Vec<u8>> {
        let query = Query::new(query)?;
        let answer = self.in_turn(|| memory::listed(&self.capture, &self.limits, &query, &quiet()))?;
        Ok(serde_json::to_vec(&answer)?)
    }

    /// Calls `ask` with the first run, which is made if there is none yet.
    fn with_first<R: Send>(
        &self,
        ask: impl FnOnce(&FirstRun) -> anyhow::Result<R> + Send,
    ) -> anyhow::Result<R> {
        self.in_turn(|| {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *first {
                Some(done) => ask(done),
                none => ask(none.insert(FirstRun::new(&self.capture, &self.limits, &quiet())?)),
            }
        })
    }

    /// Runs `work` with all threads when no other run is in progress.
    fn in_turn<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.threads.run(work)
    }

    /// The state of run `number`, like the start of `show --draw --json`.
    fn draw(&self, number: u32) -> anyhow::Result<Vec<u8>> {
        self.at(number, |gpu, call| {
            let mut state = Draw::of(gpu.sync(), call, &mut Shaders::default());
            state.add_factors(gpu, call);
            Ok(serde_json::to_vec(&state)?)
        })
    }

    /// The vertices of run `number`, as tables.
    fn vertices(&self, number: u32) -> anyhow::Result<Vec<u8>> {
        self.at(number, |gpu, call| {
            let tables = contents::tables(gpu, call).map_err(|Why { why }| anyhow!(why))?;
            Ok(serde_json::to_vec(&tables)?)
        })
    }

    /// The start of each range that the state of run `number` names.
    fn places(&self, number: u32) -> anyhow::Result<Vec<u8>> {
        self.at(number, |gpu, call| {
            let draw = Draw::of(gpu.sync(), call, &mut Shaders::default());
            Ok(serde_json::to_vec(&Starts::of(&draw, gpu.sync()).answers())?)
        })
    }

    /// The texels of a part of a texture: `KEY/LEVEL/LAYER/SAMPLE`, where the key is that of the page.
    fn texels(&self, part: &str) -> anyhow::Result<Vec<u8>> {
        let names: Vec<&str> = part.split('/').collect();
        let [key, level, layer, sample] = names[..] else { bail!("KEY/LEVEL/LAYER/SAMPLE is needed") };
        let number = |text: &str| text.parse().with_context(|| format!("`{text}` is no number"));
        let part = Part { level: number(level)?, layer: number(layer)?, sample: number(sample)? };
        let texture = self.frame()?.textures.get(key).context("there is no such texture")?;
        let (run, stage, slot) = texture.seen;
        let has_it = texture.layers.get(part.level as usize).is_some_and(|layers| part.layer < *layers);
        ensure!(has_it, "it has no such level or layer");
        self.at(run, |gpu, call| {
            let draw = Draw::of(gpu.sync(), call, &mut Shaders::default());
            let stages = draw.shaders.iter().filter(|it| it.name() == stage);
            let texture = stages.flat_map(|it| &it.textures).find(|texture| texture.slot == slot);
            let texels = texture.context("the run has no such texture")?.part(part, gpu)?;
            Ok(serde_json::to_vec(&PartOfTexture::new(&texels))?)
        })
    }

    /// What `ask` answers when run `number` is about to begin.
    fn at(
        &self,
        number: u32,
        ask: impl FnOnce(&mut Gpu, &Call) -> anyhow::Result<Vec<u8>> + Send,
    ) -> anyhow::Result<Vec<u8>> {
        let mut playback = self.limits.playback(self.capture.name());
        let mut engine = UpTo { number, ask: Some(ask), answer: None };
        let sections = self.capture.sections(&playback.gpu.budget, &quiet())?;
        self.in_turn(|| playback.run(sections, &mut engine, &mut Silent));
        let draws = playback.gpu.at.draws;
        engine.answer.with_context(|| format!("there is no draw {number}: there are {draws}"))?
    }
}

/// The description of the register `name`.
fn explain(generation: &'static Generation, name: &str) -> anyhow::Result<Vec<u8>> {
    let found = register_names::find(generation, &query::decoded(name)?)?;
    let register = found.first().context("there is no such register")?;
    Ok(serde_json::to_vec(&Register::at(register.registers, register.offset))?)
}

/// Options that print nothing on stderr, since the page shows no messages.
fn quiet() -> Shared {
    Shared { quiet: true, ..Shared::default() }
}

/// An engine that renders up to a run, asks, and stops.
struct UpTo<F> {
    number: u32,
    ask: Option<F>,
    answer: Option<anyhow::Result<Vec<u8>>>,
}

impl<F: FnOnce(&mut Gpu, &Call) -> anyhow::Result<Vec<u8>>> Engine for UpTo<F> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if call.number() != self.number {
            return Renderer.run(gpu, call);
        }
        gpu.settle();
        self.answer = self.ask.take().map(|ask| ask(gpu, call));
        Flow::Stop
    }
}
