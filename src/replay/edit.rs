//! `replay --edit`: runs draws with other registers, constants or shaders, and compares the picture with that of the stream.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::generation::Generation;
use anyhow::{Context, anyhow, ensure};

use super::Args;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Picture;
use a4emu_inspect::asm::write_capture;
use a4emu_inspect::describe::{Capture, find};
use a4emu_inspect::edit::{self, Change, Edit};
use a4emu_inspect::selection::Draws;
use a4emu_support::folders::read_text;
use a4emu_support::options::Shared;
use a4emu_support::out_file::OutFile;
use a4emu_support::status::Failure;
use a4emu_support::terminal;

/// Runs of the capture: to find the draws, without edits, and with them. They share the budget.
pub const RUNS: u32 = 3;

/// Largest size of the text of a shader, in bytes.
const MAX_SOURCE: u64 = 1 << 20;

/// A value of `--edit`: `DRAW:REGISTER.FIELD=VALUE`, `DRAW:fs.c4.x=VALUE` or `DRAW:fs=FILE`.
#[derive(Clone, Debug)]
pub struct Wanted {
    draw: Draws,
    changes: Changes,
}

#[derive(Clone, Debug)]
enum Changes {
    /// Registers or constants. Which registers there are is known when the capture is.
    Text(String),
    /// The program of a stage is in a file.
    Program(Stage, PathBuf),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (draw, change) = text.split_once(':').ok_or_else(|| {
            format!(
                "`{text}` is not DRAW:REGISTER.FIELD=VALUE, such as f5:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS"
            )
        })?;
        let parsed = edit::parts(change).and_then(|(name, value)| match edit::stage(name) {
            Some(stage) => Ok(Changes::Program(stage, value.into())),
            None => Change::check([change]).map(|()| Changes::Text(change.to_owned())),
        });
        Ok(Self { draw: Draws::one(draw)?, changes: parsed.map_err(|error| format!("{error:#}"))? })
    }
}

impl Changes {
    fn read(&self, generation: &'static Generation, shared: &Shared) -> anyhow::Result<Vec<Change>> {
        match self {
            Self::Text(text) => Change::parse_all(generation, [text.as_str()])
                .with_context(|| format!("--edit {text} of a capture of an A{}xx", generation.number)),
            Self::Program(stage, path) => {
                let name = path.display();
                let file = shared.inputs.open(path).with_context(|| format!("cannot open {name}"))?;
                let source = read_text(file, MAX_SOURCE).with_context(|| format!("cannot read {name}"))?;
                let program = Change::program(generation, *stage, &source);
                Ok(vec![program.map_err(|error| match error.is::<Failure>() {
                    true => error,
                    false => anyhow!("{name}:{error}"),
                })?])
            }
        }
    }
}

/// The size and the pixels of a picture, as in its PNG.
type Pixels = ([u32; 2], Vec<u8>);

/// What `--edit` changes, and the picture without it.
pub struct Edited {
    /// The capture, which is read several times.
    pub capture: Capture,
    /// The edits, with the runs of their draws.
    pub edits: Vec<Edit>,
    /// None of a chip whose draws are not rendered.
    original: Option<Pixels>,
}

impl Edited {
    /// Prepares the edits of `args`, if there are any, and makes the picture without them.
    ///
    /// # Errors
    /// The call fails if there is no such draw, if the capture cannot be read, or if it renders no picture.
    pub fn new(args: &Args, shared: &Shared) -> anyhow::Result<Option<Self>> {
        if args.edit.is_empty() {
            return Ok(None);
        }
        let capture = Capture::new(&args.capture, shared)?;
        let edits = edits(args, &capture, shared)?;
        let mut playback = args.limits.playback_of_many(capture.name(), RUNS);
        playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut Renderer, &mut Silent);
        let original = if playback.gpu.chip.renders() { Some(last(&mut playback.gpu)?) } else { None };
        Ok(Some(Self { original, capture, edits }))
    }

    /// Writes the capture with the edits to the file of `--save`, if there is one.
    ///
    /// # Errors
    /// The call fails if the edits cannot be written as packets, or if the file cannot be written.
    pub fn save(&self, args: &Args, shared: &Shared) -> anyhow::Result<()> {
        let Some(path) = &args.save else { return Ok(()) };
        let cannot = || format!("cannot write {}", path.display());
        let bytes = edit::stored::capture_of(&self.capture, &self.edits, &args.limits, shared)
            .with_context(cannot)?;
        write_capture(path, &bytes, &shared.inputs)
    }

    /// Says how many pixels of the picture of `gpu` differ from that without edits, if there is one. Writes a picture to
    /// `path` that is white there.
    ///
    /// # Errors
    /// The call fails if the pictures have different sizes, or if the file cannot be written.
    pub fn compare(&self, gpu: &mut Gpu, path: Option<&Path>, shared: &Shared) -> anyhow::Result<()> {
        let Some((size, original)) = &self.original else { return Ok(()) };
        let (edited_size, edited) = last(gpu)?;
        ensure!(
            edited_size == *size && edited.len() == original.len(),
            "with the edits the last surface has another size or format"
        );
        let count = size[0] as usize * size[1] as usize;
        let bytes = (original.len() / count.max(1)).max(1);
        let pairs = original.chunks(bytes).zip(edited.chunks(bytes));
        let mask: Vec<u8> = pairs.map(|(before, after)| if before == after { 0 } else { 0xff }).collect();
        let changed = mask.iter().filter(|pixel| **pixel != 0).count();
        terminal::say(format_args!("{changed} of {count} pixels differ from the run without edits"));
        let Some(path) = path else { return Ok(()) };
        let mut out = OutFile::create(path, &shared.inputs)?;
        let mut encoder = png::Encoder::new(&mut out, size[0], size[1]);
        encoder.set_color(png::ColorType::Grayscale);
        let cannot = || format!("cannot write {}", path.display());
        encoder.write_header().and_then(|mut writer| writer.write_image_data(&mask)).with_context(cannot)?;
        out.finish()
    }
}

/// The edits of `args`. Each draw is looked for once: that takes a run.
fn edits(args: &Args, capture: &Capture, shared: &Shared) -> anyhow::Result<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    let generation = capture.generation(&args.limits, shared)?;
    for (index, Wanted { draw, changes }) in args.edit.iter().enumerate() {
        let before = args.edit[..index].iter().position(|earlier| earlier.draw == *draw);
        let runs = match before {
            Some(earlier) => edits[earlier].runs.clone(),
            None => find(capture, *draw, &args.limits, shared)?,
        };
        edits.push(Edit { runs, changes: changes.read(generation, shared)? });
    }
    Ok(edits)
}

/// The last rendered colour surface of `gpu`.
fn last(gpu: &mut Gpu) -> anyhow::Result<Pixels> {
    let surface = *gpu.pipeline.surfaces.last_color().context("no colour surface was rendered")?;
    let picture = Picture::of(&surface, gpu.sync().memory())
        .ok()
        .context("there is no picture of what was rendered last")?;
    Ok((picture.size(), picture.pixels()))
}
