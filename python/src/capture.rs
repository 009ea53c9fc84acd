//! The class of captures, with all its methods.

use a4emu_decoder::adreno::capture::Foreign;
use a4emu_decoder::asm::disassemble_into;
use a4emu_gpu::budget::BASE;
use a4emu_gpu::cp::{Skip, Tee};
use a4emu_gpu::draw::fs::reasons::{COST_UNIT, Plane};
use a4emu_gpu::fault::Trouble;
use a4emu_inspect::decode::{self, Format, QueryMode};
use a4emu_inspect::describe::{Costing, Following, Rows};
use a4emu_inspect::disasm;
use a4emu_inspect::edit::Change;
use a4emu_inspect::pixel::{self, Question};
use a4emu_inspect::selection::{Draws, Position, Selection};
use a4emu_rules::Watch;
use a4emu_support::options::DiagnosticSink;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::arrays::array;
use crate::look::{self, Shown};
use crate::replay::{self, Asked, Replay};
use crate::source::{Range, Source, collecting, named, selection, shared};
use crate::walk::{Objects, Walk, Wanted};
use crate::{error, json};

/// A capture: a sequence of buffers and submits that a driver wrote. Made by a4emu.open().
///
/// Everything that is asked runs it from the start, in threads of its own and without the interpreter's lock; ctrl-C ends
/// that. `submit` and `draw` select a part as on the command line: a number, or '3..7', and 'f3' for a frame draw.
#[pyclass(frozen, module = "a4emu")]
pub struct Capture(pub Source);

#[pymethods]
impl Capture {
    /// What it was opened as.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// Its submits, in order.
    #[pyo3(signature = (*, submit = None))]
    fn submits(&self, py: Python<'_>, submit: Option<Range>) -> PyResult<Walk> {
        Walk::new(&self.0, Wanted::Submits, selection(py, submit, None)?)
    }

    /// Its draws and dispatches, each with the registers that it finds. None of them runs: what a later one reads of
    /// what they write is taken as the capture holds it.
    #[pyo3(signature = (*, submit = None, draw = None))]
    fn draws(&self, py: Python<'_>, submit: Option<Range>, draw: Option<Range>) -> PyResult<Walk> {
        Walk::new(&self.0, Wanted::Draws, selection(py, submit, draw)?)
    }

    /// Its packets, in order of execution; those that come before a draw belong to it.
    #[pyo3(signature = (*, submit = None, draw = None))]
    fn packets(&self, py: Python<'_>, submit: Option<Range>, draw: Option<Range>) -> PyResult<Walk> {
        Walk::new(&self.0, Wanted::Packets, selection(py, submit, draw)?)
    }

    /// The objects of `a4emu decode --format jsonl` (docs/schema.md) as dictionaries: kind, submit, address and so on.
    ///
    /// Args:
    ///     query: registers or fields, as patterns: then only their values at each draw.
    ///     mode: with query, 'all' draws, those where it was 'written', or where it is another, 'delta'; 'values' has each value once.
    ///     once: command buffers that run for each tile the first time only.
    ///     shaders: also the instructions of programs, where they are loaded.
    #[pyo3(signature = (*, query = None, mode = "all", once = false, shaders = false, submit = None, draw = None))]
    #[allow(clippy::too_many_arguments)] // Keywords.
    fn decode(
        &self,
        py: Python<'_>,
        query: Option<Patterns>,
        mode: &str,
        once: bool,
        shaders: bool,
        submit: Option<Range>,
        draw: Option<Range>,
    ) -> PyResult<Objects> {
        let options = decode::Options {
            format: Format::Jsonl,
            query: query.map_or_else(Vec::new, Patterns::list),
            query_mode: named(py, "mode", mode, &QueryMode::ALL, QueryMode::name)?,
            once,
            shaders,
            selection: selection(py, submit, draw)?,
            ..decode::Options::default()
        };
        Objects::new(&self.0, options)
    }

    /// Runs it and renders.
    ///
    /// Args:
    ///     on_draw: called with each Draw before it runs; False ends the run there.
    ///     on_frame: called with the Frame of each submit that rendered one.
    ///     frames: keep these, as Replay.frames.
    ///     validate: note mistakes that break on real hardware, as Replay.findings.
    ///     fidelity: note the guesses that the run uses, in Replay.stats.
    ///     edit: other state for draws, {'f3': {'RB_DEPTH_CONTROL.ZFUNC': 'FUNC_ALWAYS'}}: a draw is a number, or 'f3' with its
    ///         runs for all tiles. A key is a register, which may be a pattern, a constant ('fs.c4.x', 'fs.c4' with a list)
    ///         or a stage ('fs'), whose value is the text of a program.
    ///     submit, draw: the run ends behind these, and only they are told to on_draw and on_frame.
    ///     stop: the run ends before this draw.
    ///     check: raise DamagedError or UnsupportedError where the command line would exit with 3 or 4; the exception's
    ///         result is the Replay. Otherwise look at Replay.status and Replay.troubles.
    #[pyo3(signature = (*, on_draw = None, on_frame = None, frames = false, validate = false, fidelity = false, edit = None,
        submit = None, draw = None, stop = None, check = true))]
    #[allow(clippy::too_many_arguments)] // Keywords.
    fn replay(
        &self,
        py: Python<'_>,
        on_draw: Option<Py<PyAny>>,
        on_frame: Option<Py<PyAny>>,
        frames: bool,
        validate: bool,
        fidelity: bool,
        edit: Option<Bound<'_, PyDict>>,
        submit: Option<Range>,
        draw: Option<Range>,
        stop: Option<Range>,
        check: bool,
    ) -> PyResult<Py<Replay>> {
        let selection = selection(py, submit, draw)?;
        let stop = stop.map(|stop| stop.draw(py)).transpose()?;
        let edits = edit.map_or_else(|| Ok(Vec::new()), |edit| edits(&edit))?;
        let asked = Asked { selection, stop, edits, validate, fidelity, frames, on_draw, on_frame };
        let replay = Py::new(py, replay::replay(py, &self.0, asked)?)?;
        if check {
            error::worst(py, &replay.get().report, Some(replay.clone_ref(py).into_any()))?;
        }
        Ok(replay)
    }

    /// Why a pixel has its colour: what each primitive that covered it did, in order, and who wrote it last; the object of
    /// `a4emu pixel --json`. Column and row count from the first pixel in memory, as in Replay.frame[y, x].
    ///
    /// Args:
    ///     surface: address of the surface, if not the one that was rendered last.
    #[pyo3(signature = (x, y, *, surface = None))]
    fn pixel(&self, py: Python<'_>, x: u32, y: u32, surface: Option<u64>) -> PyResult<Py<PyAny>> {
        let answers = self.0.ask(py, move |capture, limits| {
            let pixels = &[Position([x, y])];
            pixel::ask(Question { capture, pixels, surface, limits: &limits }, &shared())?.1
        })?;
        json::object(py, &answers.first())
    }

    /// The commands of the frame, the runs for all tiles folded, with what each costs: the object of `a4emu show --json`
    /// (docs/schema.md): rows have frame_draw, draw, runs, shaders, textures, targets, and cost with pixels and instructions.
    fn commands(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let frame = self.0.ask(py, |capture, limits| {
            let mut playback = limits.playback(capture.name());
            let (mut rows, mut watch) = (Rows::default(), Watch::of_run(&mut playback.gpu));
            let mut costing = Costing::default();
            playback.run(
                capture.sections(&playback.gpu.budget, &shared())?,
                &mut costing,
                &mut Tee(vec![&mut rows, &mut watch]),
            );
            let costed = costing.finish(&mut playback.gpu);
            watch.finish(&mut playback.gpu);
            Ok(rows.finish(&playback.gpu, &costed.costs, watch.findings))
        })?;
        json::object(py, &frame)
    }

    /// One draw with all that it runs with, reads and changes: state, pictures before and after it, textures, vertices, and
    /// the text of its programs. `draw` is 'f3' with its runs for all tiles, or the number of one run.
    fn show(&self, py: Python<'_>, draw: Range) -> PyResult<Shown> {
        let draw = draw.draw(py)?;
        look::show(py, &self.0, draw)
    }

    /// Mistakes that break on real hardware, as `a4emu validate --json` has them, without a replay: the draws do not run.
    fn validate(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let watch = self.0.ask(py, |capture, limits| {
            let mut playback = limits.playback(capture.name());
            let mut watch = Watch::of_run(&mut playback.gpu);
            let sections = capture.sections(&playback.gpu.budget, &shared())?;
            playback.run(sections, &mut Skip::default(), &mut watch);
            watch.finish(&mut playback.gpu);
            Ok(watch)
        })?;
        json::object(py, &watch.findings.iter().collect::<Vec<_>>())
    }

    /// What became of each pixel of the last picture, over all draws, [height, width]:
    ///
    ///     'overdraw'  uint32, fragments that cover it
    ///     'cost'      float64, warp instructions that the fragment shader spent on it
    ///     'verdict'   uint8, bits: 1 covered, 2 failed depth or stencil, 4 killed, 8 written, 16 covered twice, 32 an edge
    fn overlay(&self, py: Python<'_>, kind: &str) -> PyResult<Py<PyAny>> {
        let planes = match kind {
            "overdraw" => vec![Plane::Fragments],
            "cost" => vec![Plane::Cost],
            "verdict" => vec![Plane::Edges],
            _ => return Err(error::usage(py, format!("'{kind}' is none of 'overdraw', 'cost', 'verdict'"))),
        };
        let ([width, height], touched) = self.0.ask(py, move |capture, limits| {
            let mut playback = limits.playback(capture.name());
            let mut following = Following::new(planes);
            playback.run(
                capture.sections(&playback.gpu.budget, &shared())?,
                &mut following,
                &mut a4emu_gpu::cp::Silent,
            );
            let (image, touched) = following.finish(&mut playback.gpu)?;
            Ok((image.size, touched))
        })?;
        let shape = [height, width].map(|side| side as usize);
        let pixels = shape[0] * shape[1];
        let cost = |units: &u64| *units as f64 / COST_UNIT as f64;
        match kind {
            "overdraw" => {
                array(py, &bytes(&touched.fragments[..pixels], |it| it.to_le_bytes()), "<u4", &shape)
            }
            "cost" => array(py, &bytes(&touched.cost[..pixels], |it| cost(it).to_le_bytes()), "<f8", &shape),
            _ => array(py, &touched.bits[..pixels], "u1", &shape),
        }
    }

    /// The capture as text that a4emu.assemble() turns back into the same bytes; of a selection into a smaller capture.
    #[pyo3(signature = (*, submit = None, draw = None))]
    fn disassemble(&self, py: Python<'_>, submit: Option<Range>, draw: Option<Range>) -> PyResult<String> {
        let selected = selection(py, submit, draw)?;
        let sink = DiagnosticSink::default();
        let shared = collecting(&sink);
        let text = self.0.ask(py, move |capture, limits| {
            let packed = capture.bytes(&shared)?;
            let (capture, _) =
                disasm::unpack(&packed[..], limits.memory(0), limits.work.budget(BASE), &shared)?;
            let capture = match selected {
                Selection { submit: None, draw: None } => capture,
                selection => disasm::cut(&capture, selection, &limits)?,
            };
            let (mut text, interrupt) = (Vec::new(), limits.work.interrupt.unwrap_or_default());
            let (rest, written) =
                disassemble_into(&capture, &mut text, Foreign::PassOver, &mut |_| !interrupt.is_raised());
            written?;
            if rest.damaged > 0 {
                let what = format!("the last {} bytes are no section", rest.damaged);
                shared.say(Trouble::damaged(what));
            }
            Ok(String::from_utf8(text)?)
        })?;
        error::worst_collected(py, &sink, Some(text.as_str().into_py_any(py)?))?;
        Ok(text)
    }

    fn __repr__(&self) -> String {
        format!("<a4emu.Capture {}>", self.0.name())
    }
}

fn bytes<T, const N: usize>(all: &[T], of: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    all.iter().flat_map(of).collect()
}

/// One pattern, or several.
#[derive(FromPyObject)]
pub enum Patterns {
    One(String),
    Several(Vec<String>),
}

impl Patterns {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(pattern) => vec![pattern],
            Self::Several(patterns) => patterns,
        }
    }
}

/// Converts the argument `edit` to the texts of changes for draws.
fn edits(edit: &Bound<'_, PyDict>) -> PyResult<Vec<(Draws, Vec<String>)>> {
    let py = edit.py();
    let mut all = Vec::new();
    for (draw, registers) in edit {
        let draw = draw.extract::<Range>()?.draw(py)?;
        let mut texts = Vec::new();
        for (register, value) in registers.cast_into::<PyDict>()? {
            let value = match (value.cast::<PyBool>(), value.extract::<Vec<f32>>()) {
                (Ok(flag), _) => flag.is_true().to_string(),
                // Components of a constant.
                (_, Ok(values)) => {
                    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(",")
                }
                _ => value.str()?.to_string(),
            };
            texts.push(format!("{}:{value}", register.str()?));
        }
        let checked = Change::check(texts.iter().map(String::as_str));
        checked.map_err(|error| error::of(py, &error))?;
        all.push((draw, texts));
    }
    Ok(all)
}
