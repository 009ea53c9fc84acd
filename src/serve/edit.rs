//! Runs a draw again with other registers, constants or shaders.

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use super::query::Query;
use a4emu_gpu::cp::{Call, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Alpha;
use a4emu_inspect::describe::canvas::{Canvas, Keep, Snapshot, Which};
use a4emu_inspect::describe::{Capture, Draw, Look, Looking, RUNS, Shaders, find};
use a4emu_inspect::edit::{Change, Edit, Editing};
use a4emu_inspect::report::canvases::shown;
use a4emu_inspect::report::pack::base64;
use a4emu_inspect::report::pictures::rgba;
use a4emu_inspect::selection::Draws;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;

/// The effect of an edit on a picture.
#[derive(Debug, Serialize)]
pub struct Edited {
    width: u32,
    height: u32,
    /// The picture without the edit, as PNG in base64.
    original: String,
    /// The picture with the edit, as PNG in base64.
    edited: String,
    /// Number of pixels that differ.
    pixels: u64,
}

/// The picture after draw `until` (or `draw`), with and without the edit. The edit changes the state of `draw` as
/// `set` says, once for each: `RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS`, `fs.c4.x:1.0`, or `fs:` and the text of a program.
///
/// # Errors
/// The call fails if there is no such draw or register, or no picture.
pub fn edited(capture: &Capture, limits: &Limits, query: &Query, shared: &Shared) -> anyhow::Result<Edited> {
    let draw: Draws = query.needed("draw")?;
    let until = query.get("until")?.unwrap_or(draw);
    let changes = Change::parse_all(capture.generation(limits, shared)?, query.all("set"))?;
    let runs = |draw| find(capture, draw, limits, shared);
    let edit = Edit { runs: runs(draw)?, changes };
    let until = runs(until)?;
    let picture = |edits: &[Edit]| {
        let look = After::default();
        let mut engine = Editing { edits, inner: Looking::new(&until, look) };
        let mut playback = limits.playback_of_many(capture.name(), RUNS);
        playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut engine, &mut Silent);
        engine.inner.look.picture.context("the run was cut off before the draw")
    };
    let (original, edited) = (picture(&[])?, picture(&[edit])?);
    // With the edit, the draw may write another target first. The same target is compared.
    let shown = |picture: &Picture| picture.snapshot.get(original.shown).cloned();
    match (shown(&original), shown(&edited)) {
        (Some(original), Some(edited)) => Edited::new(&original, &edited),
        (None, _) => bail!("the draw renders to nothing that there is a picture of"),
        (_, None) => bail!("with the edit it does not render to what it renders to without"),
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
            rgba(canvas.image(Alpha::Opaque)).write_png(&mut bytes)?;
            Ok(base64(&bytes))
        };
        let [width, height] = original.size();
        let pixels = original.changes(edited).pixels;
        Ok(Self { width, height, original: png(original)?, edited: png(edited)?, pixels })
    }
}

/// Takes the picture after a draw.
#[derive(Default)]
struct After {
    shaders: Shaders,
    draw: Option<Draw>,
    picture: Option<Picture>,
}

/// The attachments of a draw, and the one that is shown.
#[derive(Default)]
struct Picture {
    snapshot: Snapshot,
    shown: Option<Which>,
}

impl Look for After {
    fn before(&mut self, gpu: &mut Gpu, call: &Call) {
        self.draw = Some(Draw::of(gpu.sync(), call, &mut self.shaders));
    }

    fn after(&mut self, gpu: &mut Gpu, _: &Call) {
        let Some(draw) = self.draw.take() else { return };
        let picture = self.picture.get_or_insert_default();
        picture.shown = picture.shown.or(shown(&draw).map(|attachment| attachment.which));
        picture.snapshot.add(gpu, &draw, Keep::Last);
    }
}
