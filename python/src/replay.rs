//! Runs that render, and their results.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a4emu_gpu::cp::{Call, Flow, Observer, Renderer, Tee};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::fault::{Report, Trouble};
use a4emu_gpu::fidelity::Fidelity;
use a4emu_gpu::picture::{self, Picture, PixelType};
use a4emu_gpu::settled::{Ended, Running};
use a4emu_inspect::describe::canvas::Image;
use a4emu_inspect::describe::find;
use a4emu_inspect::edit::{Change, Edit, Editing};
use a4emu_inspect::selection::{Draws, Selection, Window};
use a4emu_rules::{Findings, Watch};
use a4emu_support::status::{Status, Warnings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::items::Met;
use crate::source::{Source, shared};
use crate::state::State;
use crate::surface::{Chip, Pixels, Surface};
use crate::work::Work;
use crate::{error, json};

/// The options of a run.
#[derive(Default)]
pub struct Asked {
    pub selection: Selection,
    pub stop: Option<Draws>,
    /// The texts of changes, by draw.
    pub edits: Vec<(Draws, Vec<String>)>,
    pub validate: bool,
    pub fidelity: bool,
    pub frames: bool,
    /// Called with each draw before it runs.
    pub on_draw: Option<Py<PyAny>>,
    /// Called with each frame.
    pub on_frame: Option<Py<PyAny>>,
}

/// A message from the run's thread.
enum News {
    /// A draw is about to run. The run waits for the answer.
    Draw(Box<Met>, SyncSender<Flow>),
    /// A submit has rendered a frame.
    Frame(u32, String, Pixels),
}

/// The result of the run's thread.
struct Done {
    gpu: Ended,
    findings: Option<Findings>,
    found: anyhow::Result<()>,
}

/// The frame that a submit left: the largest colour surface that it rendered.
#[pyclass(frozen, get_all, module = "a4emu")]
pub struct Frame {
    /// The submit.
    submit: u32,
    /// Of the picture, as `a4emu corpus run` notes it.
    hash: String,
    /// uint8 [height, width, 4]: R, G, B, A.
    pixels: Py<PyAny>,
}

#[pymethods]
impl Frame {
    /// What a notebook shows: the picture as PNG.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let pixels = self.pixels.bind(py);
        let [height, width, _]: [u32; 3] = pixels.getattr("shape")?.extract()?;
        let image = Image {
            size: [width, height],
            kind: PixelType::Rgba8,
            pixels: pixels.call_method0("tobytes")?.extract()?,
        };
        let mut png = Vec::new();
        image.write_png(&mut png).map_err(|error| error::of(py, &error))?;
        Ok(PyBytes::new(py, &png))
    }

    fn __repr__(&self) -> String {
        format!("<a4emu.Frame of submit {}>", self.submit)
    }
}

/// Plays `source`, and calls Python functions from the calling thread.
pub fn replay(py: Python<'_>, source: &Source, mut asked: Asked) -> PyResult<Replay> {
    let (on_draw, on_frame) = (asked.on_draw.take(), asked.on_frame.take());
    let hears = Hears { draws: on_draw.is_some(), frames: asked.frames || on_frame.is_some() };
    let (keeps_frames, player) = (asked.frames, source.clone());
    let (limits, interrupt) = source.run();
    let work = move |sender| play(&Source { limits, ..player }, asked, hears, sender);
    let mut work: Work<News, anyhow::Result<Done>> = Work::start(interrupt, source.threads, work)?;
    let mut frames = Vec::new();
    while let Some(news) = work.next(py)? {
        let heard = match (news, &on_draw) {
            (News::Draw(met, answer), Some(on_draw)) => tell(py, on_draw, *met).map(|flow| {
                // A run that was cut off no longer waits for the answer.
                let _ = answer.send(flow);
            }),
            (News::Draw(..), None) => Ok(()),
            (News::Frame(submit, hash, pixels), _) => {
                let frame = Py::new(py, Frame { submit, hash, pixels: pixels.into_array(py)? })?;
                let shown = on_frame.as_ref().map_or(Ok(()), |it| it.call1(py, (&frame,)).map(drop));
                frames.extend(keeps_frames.then_some(frame));
                shown
            }
        };
        if let Err(raised) = heard {
            work.end(py);
            return Err(raised);
        }
    }
    let done = work.finish(py)?.ok_or_else(|| error::internal(py, "the run has no end"))?;
    let Done { gpu, findings, found } = done.map_err(|error| error::of(py, &error))?;
    found.map_err(|error| error::of(py, &error))?;
    Ok(Replay { report: gpu.report.clone(), chip: Arc::new(Mutex::new(gpu)), findings, frames })
}

fn tell(py: Python<'_>, on_draw: &Py<PyAny>, met: Met) -> PyResult<Flow> {
    let answer = on_draw.call1(py, (met.into_draw(py)?,))?;
    let stops = answer.bind(py).is_exact_instance_of::<pyo3::types::PyBool>() && !answer.is_truthy(py)?;
    Ok(if stops { Flow::Stop } else { Flow::Continue })
}

/// The messages that the run must send.
#[derive(Clone, Copy)]
struct Hears {
    draws: bool,
    frames: bool,
}

fn play(source: &Source, asked: Asked, hears: Hears, sender: SyncSender<News>) -> anyhow::Result<Done> {
    let Source { capture, limits, .. } = source;
    let mut edits = Vec::new();
    for (draw, texts) in asked.edits {
        let runs = find(capture, draw, limits, &shared())?;
        let generation = capture.generation(limits, &shared())?;
        let changes = Change::parse_all(generation, texts.iter().map(String::as_str))?;
        edits.push(Edit { runs, changes });
    }
    let mut playback = limits.playback(capture.name());
    let looks = hears.draws || asked.validate || asked.fidelity || asked.stop.is_some();
    let schedule = if looks { Schedule::InOrder } else { Schedule::Deferred };
    playback.gpu.pipeline.schedule = limits.schedule(schedule);
    if asked.fidelity {
        playback.gpu.watch_guesses();
    }
    let mut watch = asked.validate.then(|| Watch::of_run(&mut playback.gpu));
    let mut window = Window::new(asked.selection, asked.stop);
    let mut teller = Teller { hears, selection: asked.selection, sender };
    let mut tee = Tee(vec![&mut window, &mut teller]);
    tee.0.extend(watch.as_mut().map(|watch| watch as &mut dyn Observer));
    let mut engine = Editing { edits: &edits, inner: Renderer };
    playback.run(capture.sections(&playback.gpu.budget, &shared())?, &mut engine, &mut tee);
    if let Some(watch) = &mut watch {
        watch.finish(&mut playback.gpu);
    }
    let found = window.finish(&playback.gpu).map_err(anyhow::Error::from);
    Ok(Done { gpu: playback.gpu.end(), findings: watch.map(|watch| watch.findings), found })
}

/// An observer that sends messages to Python and waits for the answers.
struct Teller {
    hears: Hears,
    selection: Selection,
    sender: SyncSender<News>,
}

impl Teller {
    fn send(&self, news: News) -> Flow {
        if self.sender.send(news).is_ok() { Flow::Continue } else { Flow::Stop }
    }
}

impl Observer for Teller {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if !self.hears.draws || !self.selection.has(call) {
            return Flow::Continue;
        }
        let (answer, flow) = sync_channel(1);
        self.send(News::Draw(Box::new(Met::new(gpu, call)), answer));
        flow.recv().unwrap_or(Flow::Stop)
    }

    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        let submit = gpu.at.submit;
        if !self.hears.frames || !self.selection.has_submit(submit) {
            return Flow::Continue;
        }
        let gpu = gpu.sync();
        let Some(frame) = picture::frame(&gpu.pipeline.surfaces, submit) else { return Flow::Continue };
        // As in `corpus run`, a surface that is in no buffer, or whose format has no picture, is no frame.
        match Picture::of(frame, gpu.memory()) {
            Ok(picture) => self.send(News::Frame(submit, picture.hash(), Pixels::of(&picture))),
            Err(_) => Flow::Continue,
        }
    }
}

/// A kind of trouble, and the place where it first occurred.
#[derive(Serialize)]
struct TroubleRow {
    kind: &'static str,
    message: String,
    submit: Option<u32>,
    draw: Option<u32>,
    frame_draw: Option<u32>,
    address: u64,
    offset: Option<u64>,
    count: u64,
    status: u8,
}

fn troubles(report: &Report) -> Vec<TroubleRow> {
    let said = report.troubles.iter().map(|(trouble, at, count)| TroubleRow {
        kind: trouble.kind(),
        message: trouble.to_string(),
        submit: Some(at.submit),
        draw: Some(at.draws),
        frame_draw: Some(at.frame_draw),
        address: at.address.get(),
        offset: trouble.offset(),
        count: *count,
        status: Status::of(trouble.severity(), Warnings::Pass) as u8,
    });
    let missing = report.missing.iter().map(|miss| {
        let (address, trouble) = (miss.address, Trouble::Missing(miss));
        let (kind, message, status) = (trouble.kind(), trouble.to_string(), 0);
        let (submit, draw, frame_draw, offset, count) = (None, None, None, None, 1);
        TroubleRow { kind, message, submit, draw, frame_draw, address: address.get(), offset, count, status }
    });
    said.chain(missing).collect()
}

/// What a run leaves: the chip's memory and registers, what was rendered, and what went wrong.
#[pyclass(frozen, module = "a4emu")]
pub struct Replay {
    chip: Chip,
    pub report: Report,
    findings: Option<Findings>,
    frames: Vec<Py<Frame>>,
}

impl Replay {
    fn gpu(&self) -> MutexGuard<'_, Ended> {
        self.chip.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Replay {
    /// What `a4emu replay` exits with: 0 fine, 3 damaged, 4 not supported or cut off.
    #[getter]
    fn status(&self) -> u8 {
        Status::of_run(&self.report, Warnings::Pass) as u8
    }

    /// Submits that ran.
    #[getter]
    fn submits(&self) -> u32 {
        self.gpu().at.submit
    }

    /// Draws and dispatches that ran, tiles counted.
    #[getter]
    fn draws(&self) -> u32 {
        self.gpu().at.draws
    }

    /// Number of the chip, such as 420.
    #[getter]
    fn gpu_id(&self) -> u32 {
        self.gpu().chip.id
    }

    /// All surfaces that were rendered, last written last.
    #[getter]
    fn surfaces(&self) -> Vec<Surface> {
        let written: Vec<_> = self.gpu().pipeline.surfaces.iter().copied().collect();
        written.into_iter().map(|written| Surface::new(self.chip.clone(), written)).collect()
    }

    /// The colour surface that was rendered last, or None: what `a4emu replay --png` writes.
    #[getter]
    fn surface(&self) -> Option<Surface> {
        let written = self.gpu().pipeline.surfaces.last_color().copied();
        written.map(|written| Surface::new(self.chip.clone(), written))
    }

    /// Its picture: uint8 [height, width, 4], R, G, B, A, rows in the order of memory.
    ///
    /// Raises UsageError where no colour surface was rendered.
    #[getter]
    fn frame(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let surface = self.surface().ok_or_else(|| error::usage(py, "no colour surface was rendered"))?;
        surface.picture(py)
    }

    /// What a notebook shows: the picture of the surface that was rendered last.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(surface) = self.surface() else { return Ok(None) };
        Bound::new(py, surface)?.call_method0("png").map(Some)
    }

    /// The frame that each submit left, if replay(frames=True) was asked for them.
    #[getter]
    fn frames(&self, py: Python<'_>) -> Vec<Py<Frame>> {
        self.frames.iter().map(|frame| frame.clone_ref(py)).collect()
    }

    /// What went wrong, each thing once with where it was met first: kind, message, submit, draw, frame_draw, address, offset
    /// (byte of the capture), count, status.
    #[getter]
    fn troubles(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        json::object(py, &troubles(&self.report))
    }

    /// Mistakes that break on real hardware, as `a4emu validate --json` has them; None unless replay(validate=True).
    #[getter]
    fn findings(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let all = self.findings.as_ref().map(|findings| findings.iter().collect::<Vec<_>>());
        all.map(|all| json::object(py, &all)).transpose()
    }

    /// Counts and times (ms), as `a4emu replay --stats` has them.
    #[getter]
    fn stats(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let report = {
            let gpu = self.gpu();
            gpu.pipeline.report(gpu.fidelity.as_ref().map(Fidelity::lines))
        };
        json::object(py, &report)
    }

    /// Units of work that were spent; the same on any machine.
    #[getter]
    fn work(&self) -> u64 {
        self.gpu().budget.spent()
    }

    /// The registers at the end.
    #[getter]
    fn state(&self) -> State {
        State::of(&self.gpu())
    }

    /// `length` bytes of the chip's memory at `address`. Raises UsageError where the capture does not hold them.
    fn memory<'py>(&self, py: Python<'py>, address: u32, length: u32) -> PyResult<Bound<'py, PyBytes>> {
        let gpu = self.gpu();
        let memory = gpu.settled().memory();
        let held = u64::from(length) <= u64::from(memory.room(address));
        let mut bytes = vec![0; if held { length as usize } else { 0 }];
        match held && memory.read(address, &mut bytes) {
            true => Ok(PyBytes::new(py, &bytes)),
            false => Err(error::usage(py, format!("{length} bytes at {address:#x} are not in the capture"))),
        }
    }

    fn __repr__(&self) -> String {
        let gpu = self.gpu();
        format!(
            "<a4emu.Replay of {} draws in {} submits, status {}>",
            gpu.at.draws,
            gpu.at.submit,
            self.status()
        )
    }
}
