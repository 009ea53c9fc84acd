//! A draw run again with other values of registers.

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use a4emu_decoder::bits::FieldRow;

use super::query::Query;
use crate::cp::{Call, Engine, Flow, Silent};
use crate::draw;
use crate::explain::value_of;
use crate::gpu::Gpu;
use crate::inspect::canvas::{Canvas, Keep, Snapshot, Which};
use crate::inspect::{Capture, Draw, Look, Looking, RUNS, Runs, Shaders, find};
use crate::limits::Limits;
use crate::options::Shared;
use crate::picture::Alpha;
use crate::register_names;
use crate::report::canvases::shown;
use crate::report::pictures::{base64, rgba};
use crate::selection::Draws;

/// Registers and fields that are edited at once.
const MAX_CHANGES: usize = 256;

/// A value that a register, or a field of it, shall have.
#[derive(Clone, Copy, Debug)]
struct Change {
    offset: u32,
    field: Option<&'static FieldRow>,
    value: u32,
}

/// What an edit made of a picture.
#[derive(Debug, Serialize)]
pub struct Edited {
    width: u32,
    height: u32,
    /// As it is, as PNG in base64.
    original: String,
    /// With the edit.
    edited: String,
    /// Pixels that are others.
    pixels: u64,
}

/// The picture after draw `until` (or `draw`), as it is and with the registers of `draw` that `set` names
/// (`RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS`, once for each).
///
/// # Errors
/// There is no such draw or register, or no picture.
pub fn edited(capture: &Capture, limits: &Limits, query: &Query, shared: &Shared) -> anyhow::Result<Edited> {
    let draw: Draws = query.needed("draw")?;
    let until = query.get("until")?.unwrap_or(draw);
    let mut changes = Vec::new();
    for text in query.all("set") {
        changes.extend(parse(text)?);
        ensure!(changes.len() <= MAX_CHANGES, "no more than {MAX_CHANGES} fields are edited at once");
    }
    let runs = |draw| find(capture, draw, limits, shared);
    let (edited, until) = (runs(draw)?, runs(until)?);
    let picture = |changes: &[Change]| {
        let look = After::default();
        let mut engine = Editing { runs: &edited, changes, inner: Looking { runs: &until, look } };
        let mut playback = limits.playback_of_many(capture.name(), RUNS);
        playback.run(capture.sections(shared)?, &mut engine, &mut Silent);
        engine.inner.look.picture.context("the run was cut off before the draw")
    };
    let (original, edited) = (picture(&[])?, picture(&changes)?);
    // With the edit it may be another that the draw writes first.
    let shown = |picture: &Picture| picture.snapshot.get(original.shown).cloned();
    match (shown(&original), shown(&edited)) {
        (Some(original), Some(edited)) => Edited::new(&original, &edited),
        (None, _) => bail!("the draw renders to nothing that there is a picture of"),
        (_, None) => bail!("with the edit it does not render to what it renders to without"),
    }
}

/// The fields that `NAME:VALUE` means: NAME may be a pattern.
fn parse(text: &str) -> anyhow::Result<Vec<Change>> {
    let (name, value) =
        text.split_once(':').with_context(|| format!("`{text}` is not REGISTER.FIELD:VALUE"))?;
    let (name, value) = (name.trim(), value.trim());
    let found = register_names::find(name)?;
    let change = |asked: register_names::Asked| {
        let value = match asked.field {
            None => value_of(value)?,
            Some(field) => field.parse(value)?,
        };
        Ok(Change { offset: asked.offset, field: asked.field, value })
    };
    found.into_iter().map(change).collect()
}

impl Change {
    /// What the register holds with it, if it held `word`.
    fn applied(&self, word: u32) -> u32 {
        self.field.map_or(self.value, |field| field.insert(word, self.value))
    }
}

impl Edited {
    fn new(original: &Canvas, edited: &Canvas) -> anyhow::Result<Self> {
        ensure!(
            original.is_alike(edited),
            "with the edit its target has other pixels: there is nothing to compare"
        );
        let png = |canvas: &Canvas| -> anyhow::Result<String> {
            let mut bytes = Vec::new();
            rgba(canvas.image(Alpha::Kept)).write_png(&mut bytes)?;
            Ok(base64(&bytes))
        };
        let [width, height] = original.size();
        let pixels = original.changes(edited).pixels;
        Ok(Self { width, height, original: png(original)?, edited: png(edited)?, pixels })
    }
}

/// Runs a draw with changed registers; all others, and those behind it, find them as they were.
struct Editing<'a, E> {
    runs: &'a Runs,
    changes: &'a [Change],
    inner: E,
}

impl<E: Engine> Engine for Editing<'_, E> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if self.changes.is_empty() || !self.runs.has(gpu, call) {
            return self.inner.run(gpu, call);
        }
        draw::flush(gpu);
        let mut held = Vec::new();
        for change in self.changes {
            let word = gpu.regs.read(change.offset);
            held.push((change.offset, word));
            let _every_name_has_a_register = gpu.regs.write(change.offset, change.applied(word));
        }
        let flow = self.inner.run(gpu, call);
        draw::flush(gpu);
        for (offset, word) in held.into_iter().rev() {
            let _every_name_has_a_register = gpu.regs.write(offset, word);
        }
        flow
    }
}

/// Takes the picture behind a draw.
#[derive(Default)]
struct After {
    shaders: Shaders,
    draw: Option<Draw>,
    picture: Option<Picture>,
}

/// What a draw renders to, and which of it is shown.
#[derive(Default)]
struct Picture {
    snapshot: Snapshot,
    shown: Option<Which>,
}

impl Look for After {
    fn before(&mut self, gpu: &mut Gpu, call: &Call) {
        self.draw = Some(Draw::of(gpu, call, &mut self.shaders));
    }

    fn after(&mut self, gpu: &mut Gpu, _: &Call) {
        let Some(draw) = self.draw.take() else { return };
        let picture = self.picture.get_or_insert_default();
        picture.shown = picture.shown.or(shown(&draw).map(|attachment| attachment.which));
        picture.snapshot.add(gpu, &draw, Keep::Last);
    }
}
