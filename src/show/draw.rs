//! One draw: found, rendered, looked at, told.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use a4emu_decoder::regs::{RegName, lookup};
use anyhow::{Context, bail};
use serde::Serialize;

use super::Args;
use super::files;
use super::text;
use crate::cp::{Call, Silent};
use crate::decode::Fields;
use crate::gpu::Gpu;
use crate::inspect::canvas::{Attachment, Canvas, Changes, NoCanvas};
use crate::inspect::mesh::Mesh;
use crate::inspect::{Capture, Cost, Draw, Look, Looking, Runs, Shaders, Tile, find};
use crate::options::{Shared, open_capture};
use crate::out_file::{Inputs, OutFile};
use crate::picture::Alpha;
use crate::selection::Draws;
use crate::status::Status;

/// What is known about the draw.
#[derive(Serialize)]
pub struct Answer {
    /// Its first run.
    #[serde(flatten)]
    pub state: Draw,
    /// All numbers that the command has as a frame draw.
    pub frame_draws: Vec<u32>,
    /// Runs that the command has.
    pub runs: u32,
    /// Which of them this is about, from 0; null: all.
    pub run: Option<u32>,
    /// The tiles that were rendered.
    pub tiles: Vec<Tile>,
    /// What the runs cost.
    pub cost: Cost,
    /// What they changed.
    pub changes: Vec<Change>,
    /// All registers that have been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<Vec<Register>>,
}

/// What a draw changed.
#[derive(Serialize)]
pub struct Change {
    /// `target 0`, `depth` or `stencil`.
    pub target: String,
    /// How much, and where.
    #[serde(flatten)]
    pub changes: Changes,
}

/// A register.
#[derive(Serialize)]
pub struct Register {
    /// Its offset.
    pub reg: u32,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: u32,
    /// The same by fields.
    pub fields: Fields,
}

/// Shows the draw that `name` names.
///
/// # Errors
/// There is none, or a file cannot be read.
pub fn show(args: &Args, name: Draws, shared: &Shared) -> anyhow::Result<Status> {
    let capture = Capture::new(&args.capture)?;
    let runs = find(capture.path(), name, &args.limits, shared)?;
    let mut playback = args.limits.playback(capture.path());
    let inputs = Inputs::of(&args.capture);
    let mut looking = Looking { runs: &runs, look: Looker::new(args, &inputs, &runs) };
    playback.run(open_capture(capture.path(), shared)?, &mut looking, &mut Silent);
    let told = looking.look.tell(name);
    let report = playback.gpu.report.tell(&args.capture.display().to_string(), shared);
    Ok(report.and(told))
}

/// Looks at each run.
struct Looker<'a> {
    args: &'a Args,
    inputs: &'a Inputs,
    runs: &'a Runs,
    shaders: Shaders,
    answer: Option<Answer>,
    pictures: Vec<Pictures>,
    mesh: Option<anyhow::Result<Mesh>>,
    /// What became of files that were written on the way.
    files: anyhow::Result<()>,
}

/// An attachment, and how it was.
struct Pictures {
    attachment: Attachment,
    before: Canvas,
    after: Canvas,
}

impl Look for Looker<'_> {
    fn before(&mut self, gpu: &mut Gpu, call: &Call) {
        gpu.pipeline.costs = Some(Vec::new());
        let draw = Draw::of(gpu, call, &mut self.shaders);
        self.copy(gpu, &draw, Moment::Before);
        if let Some(directory) = self.args.textures.as_ref().filter(|_| self.answer.is_none()) {
            self.files = files::write_textures(&draw, gpu, directory, self.inputs);
        }
        let tile = draw.tile;
        let answer = self.answer.get_or_insert_with(|| Answer::new(draw, self.runs));
        answer.tiles.extend(tile);
        if self.args.registers && answer.registers.is_none() {
            answer.registers = Some(gpu.regs.iter().map(Register::new).collect());
        }
    }

    fn after(&mut self, gpu: &mut Gpu, call: &Call) {
        if let Some(answer) = &mut self.answer {
            answer.cost.add_all(gpu.pipeline.costs.take().unwrap_or_default());
        }
        let draw = Draw::of(gpu, call, &mut self.shaders);
        self.copy(gpu, &draw, Moment::After);
        if self.args.mesh.is_some() && self.mesh.is_none() {
            self.mesh = Some(match call {
                Call::Draw(call) => Mesh::of(gpu, call).map_err(|stop| anyhow::anyhow!("no vertices: {stop}")),
                Call::Dispatch(_) | Call::Uncounted(_) => Err(anyhow::anyhow!("no vertices: it is no draw")),
            });
        }
    }
}

/// Which of two pictures is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Before,
    After,
}

impl<'a> Looker<'a> {
    fn new(args: &'a Args, inputs: &'a Inputs, runs: &'a Runs) -> Self {
        let shaders = Shaders::default();
        Self { args, inputs, runs, shaders, answer: None, pictures: Vec::new(), mesh: None, files: Ok(()) }
    }

    /// Copies what `draw` renders to. Bypass draws of several runs keep what was there before the first.
    fn copy(&mut self, gpu: &mut Gpu, draw: &Draw, moment: Moment) {
        for attachment in draw.attachments() {
            if let Err(why) = self.copy_attachment(gpu, attachment, moment) {
                let what = format!("draw {}: {}: {why}", draw.draw, attachment.which);
                gpu.report.cut(what, gpu.at);
            }
        }
    }

    fn copy_attachment(&mut self, gpu: &mut Gpu, attachment: Attachment, moment: Moment) -> Result<(), NoCanvas> {
        let same = |pictures: &&mut Pictures| pictures.attachment.which == attachment.which;
        let pictures = match self.pictures.iter_mut().find(same) {
            Some(known) => known,
            None => {
                let empty = Canvas::new(&attachment)?;
                self.pictures.push(Pictures { attachment, before: empty.clone(), after: empty });
                self.pictures.last_mut().expect("it was just pushed")
            }
        };
        match moment {
            Moment::Before if pictures.before.areas().contains(&attachment.area) => Ok(()),
            Moment::Before => pictures.before.copy(gpu, &attachment),
            Moment::After => pictures.after.copy(gpu, &attachment),
        }
    }

    /// Puts out what was seen.
    fn tell(mut self, name: Draws) -> anyhow::Result<()> {
        let mut answer = self.answer.take().with_context(|| format!("draw {name} did not run"))?;
        let change = |pictures: &Pictures| Change {
            target: pictures.attachment.which.to_string(),
            changes: pictures.before.changes(&pictures.after),
        };
        answer.changes = self.pictures.iter().map(change).collect();
        std::mem::replace(&mut self.files, Ok(()))?;
        self.write_pictures(name)?;
        if let (Some(path), Some(mesh)) = (&self.args.mesh, self.mesh.take()) {
            files::write_mesh(&mesh?, self.args.mesh_of, path, self.inputs)?;
        }
        if self.uses_stdout() { Ok(()) } else { self.print(&answer) }
    }

    /// Whether a file goes where the answer would.
    fn uses_stdout(&self) -> bool {
        [&self.args.before, &self.args.after, &self.args.mesh].into_iter().flatten().any(|path| path == Path::new("-"))
    }

    fn print(&self, answer: &Answer) -> anyhow::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        match self.args.json {
            true => {
                serde_json::to_writer(&mut out, answer)?;
                writeln!(out)?;
            }
            false => text::write(answer, &mut out)?,
        }
        Ok(out.flush()?)
    }

    fn write_pictures(&self, name: Draws) -> anyhow::Result<()> {
        if self.args.before.is_none() && self.args.after.is_none() {
            return Ok(());
        }
        let wanted = |pictures: &&Pictures| self.args.target.is_none_or(|which| pictures.attachment.which == which);
        let Some(pictures) = self.pictures.iter().find(wanted) else {
            match self.args.target {
                Some(which) => bail!("draw {name} has no {which}"),
                None => bail!("draw {name} renders to nothing"),
            }
        };
        let alpha = if self.args.opaque { Alpha::Opaque } else { Alpha::Kept };
        for (path, canvas) in [(&self.args.before, &pictures.before), (&self.args.after, &pictures.after)] {
            if let Some(path) = path {
                let mut out = OutFile::create(path, self.inputs)?;
                let written = canvas.image(alpha).write_png(&mut out);
                written.with_context(|| format!("cannot write {}", path.display()))?;
                out.finish()?;
            }
        }
        Ok(())
    }
}

impl Answer {
    fn new(state: Draw, runs: &Runs) -> Self {
        Self {
            state,
            frame_draws: runs.frame_draws.clone(),
            runs: runs.count,
            run: runs.only.map(|(_, run)| run),
            tiles: Vec::new(),
            cost: Cost::default(),
            changes: Vec::new(),
            registers: None,
        }
    }
}

impl Register {
    fn new((reg, value): (u32, u32)) -> Self {
        let rows = lookup(reg).map_or(&[][..], |row| row.fields());
        Self { reg, name: RegName { offset: reg }.to_string(), value, fields: Fields { rows, word: value } }
    }
}
