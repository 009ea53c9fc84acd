//! Shows one draw: finds it, renders it, and prints its state.

use std::io::Write;
use std::sync::Arc;

use a4emu_decoder::adreno::registers::RegisterTable;
use anyhow::Context;
use serde::Serialize;

use super::Args;
use super::files;
use super::overlay::{self, Legend};
use super::runs::GeometryRuns;
use super::text;
use a4emu_gpu::cp::{Call, Tee};
use a4emu_gpu::draw::fs::reasons::Reasons;
use a4emu_gpu::draw::gs::runs;
use a4emu_gpu::draw::stats::StageCost;
use a4emu_gpu::draw::stop::Stop;
use a4emu_gpu::draw::{Inspected, Inspection};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Alpha;
use a4emu_inspect::decode::Fields;
use a4emu_inspect::describe::canvas::{Changes, Keep, Snapshot, Which};
use a4emu_inspect::describe::mesh::{Mesh, Side};
use a4emu_inspect::describe::{
    Capture, Cost, Draw, Look, Looking, PacketStores, RUNS, Runs, ShaderStage, Shaders, StageCounts, Tile,
    Touched, Written, WrittenBy, find,
};
use a4emu_inspect::selection::Draws;
use a4emu_rules::{Finding, Findings, Watch};
use a4emu_shader::Counting;
use a4emu_support::options::Shared;
use a4emu_support::out_file::{Inputs, OutFile};
use a4emu_support::status::{Failure, Status, WithErrors};
use a4emu_support::terminal::{self, Form};

/// Maximum number of listed tiles.
const MAX_TILES: usize = 4096;

/// The answer for a draw.
#[derive(Serialize)]
pub struct Answer {
    /// State of its first run.
    #[serde(flatten)]
    pub state: Draw,
    /// All numbers of the command as a frame draw.
    pub frame_draws: Vec<u32>,
    /// Number of runs of the command.
    pub runs: u32,
    /// Index of the selected run, from 0; null selects all.
    pub run: Option<u32>,
    /// The rendered tiles.
    pub tiles: Vec<Tile>,
    /// Cost of the runs.
    pub cost: Cost,
    /// For each stage that ran, how often each instruction ran.
    pub instruction_counts: Vec<StageCounts>,
    /// Changes of the targets.
    pub changes: Vec<Change>,
    /// What it stored to memory apart from its targets, and what the packets behind it stored.
    pub written: Vec<Written>,
    /// The findings of `validate`: errors that an A4xx does not tolerate.
    pub findings: Vec<Finding>,
    /// Legends of the written overlays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Legend>,
    /// The runs of the geometry shader for a primitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry_runs: Option<GeometryRuns>,
    /// All registers that have been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registers: Option<Vec<Register>>,
}

/// The changes of a target by a draw.
#[derive(Serialize)]
pub struct Change {
    /// Name of the target: `target 0`, `depth` or `stencil`.
    pub target: String,
    /// Number and place of the changed pixels.
    #[serde(flatten)]
    pub changes: Changes,
}

/// A register with its value.
#[derive(Serialize)]
pub struct Register {
    /// Offset of the register.
    pub reg: u32,
    /// Name of the register.
    pub name: String,
    /// Value of the register.
    pub value: u32,
    /// Value of each field.
    pub fields: Fields,
}

/// Shows the draw `name`.
///
/// # Errors
/// The call fails if there is none, or if a file cannot be read.
pub fn show(args: &Args, name: Draws, shared: &Shared) -> anyhow::Result<Status> {
    let capture = Capture::new(&args.capture, shared)?;
    let runs = find(&capture, name, &args.limits, shared)?;
    let mut playback = args.limits.playback_of_many(capture.name(), RUNS);
    let mut looking = Looking::new(&runs, Looker::new(args, &shared.inputs, &runs));
    let mut watch = Watch::of_run(&mut playback.gpu);
    let sections = capture.sections(&playback.gpu.budget, shared)?;
    let mut packets = PacketStores::new(Some(&runs));
    playback.run(sections, &mut looking, &mut Tee(vec![&mut watch, &mut packets]));
    watch.finish(&mut playback.gpu);
    looking.look.written.append(packets.take(runs.frame_draws.iter().copied()));
    if looking.look.written.left_out > 0 {
        let what =
            format!("there is no room for {} more ranges that were stored", looking.look.written.left_out);
        playback.gpu.cut(what);
    }
    let told = looking.look.tell(name, watch.findings);
    let report = shared.tell(&args.capture.display().to_string(), &playback.gpu.report);
    Ok(report.and(told))
}

/// A callback that looks at each run.
struct Looker<'a> {
    args: &'a Args,
    inputs: &'a Inputs,
    runs: &'a Runs,
    shaders: Shaders,
    answer: Option<Answer>,
    before: Snapshot,
    after: Snapshot,
    costs: Vec<StageCost>,
    written: WrittenBy,
    /// What happened to the pixels of the overlays.
    touched: Option<Touched>,
    /// The runs of the geometry shader, in the first run of the draw that has one.
    runs_of: Option<runs::GeometryRuns>,
    /// What happens to the pixels of the draw that runs.
    reasons: Option<Arc<Reasons>>,
    mesh: Option<anyhow::Result<Mesh>>,
    /// The result of files that were written during the run.
    files: anyhow::Result<()>,
}

impl Look for Looker<'_> {
    fn before(&mut self, gpu: &mut Gpu, call: &Call) {
        let mut draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        if self.answer.is_none() {
            draw.add_factors(gpu, call);
        }
        self.reasons = self.map(gpu, &draw);
        self.before.add(gpu, &draw, Keep::First);
        self.written.before(gpu, &draw);
        if let Some(directory) = self.args.textures.as_ref().filter(|_| self.answer.is_none()) {
            self.files = files::write_textures(&draw, gpu, (directory, &self.args.texture_view), self.inputs);
        }
        let tile = draw.tile;
        let answer = self.answer.get_or_insert_with(|| Answer::new(draw, self.runs));
        answer.tiles.extend(tile.filter(|_| answer.tiles.len() < MAX_TILES));
        if self.args.registers && answer.registers.is_none() {
            let table = gpu.chip.generation().registers;
            answer.registers = Some(gpu.regs.iter().map(|written| Register::new(table, written)).collect());
        }
        let geometry_runs = self.args.runs_of.filter(|_| self.runs_of.is_none());
        let (costs, reasons) = (Some(Counting::On), self.reasons.clone());
        gpu.inspect(Inspection { costs, geometry_runs, reasons, pixels: None });
    }

    fn after(&mut self, gpu: &mut Gpu, call: &Call) {
        let Inspected { costs, geometry_runs, .. } = gpu.inspect(Inspection::default());
        self.costs.extend(costs);
        self.runs_of = self.runs_of.take().or(geometry_runs);
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.written.after(gpu, &draw);
        self.after.add(gpu, &draw, Keep::Last);
        let reasons = self.reasons.take();
        self.note_pixels(reasons, &draw);
        if self.args.mesh.is_some() && self.mesh.is_none() {
            let made = match call {
                Call::Draw(call) => Mesh::of(gpu, call).map_err(no_vertices),
                Call::Dispatch(_) | Call::Uncounted(_) | Call::Blit(_) => {
                    Err(anyhow::anyhow!("no vertices: it is no draw"))
                }
            };
            if let (Ok(Mesh { stages, .. }), Side::Stage(_)) = (&made, self.args.mesh_of) {
                stages.left_out.iter().for_each(|what| gpu.cut(what.as_str()));
            }
            self.mesh = Some(made);
        }
    }

    fn sees_packets(&self) -> bool {
        true
    }
}

/// The failure of a draw that cannot run: by a fault of the program, or by a limit.
fn no_vertices(stop: Stop) -> anyhow::Error {
    let status = if matches!(stop, Stop::Fault(_)) { Status::Damaged } else { Status::Unsupported };
    Failure { status, message: format!("no vertices: {stop}") }.into()
}

impl<'a> Looker<'a> {
    fn new(args: &'a Args, inputs: &'a Inputs, runs: &'a Runs) -> Self {
        let (shaders, before, after, costs, written) = Default::default();
        let (answer, touched, runs_of, reasons, mesh, files) = (None, None, None, None, None, Ok(()));
        Self {
            args,
            inputs,
            runs,
            shaders,
            answer,
            before,
            after,
            costs,
            written,
            touched,
            runs_of,
            reasons,
            mesh,
            files,
        }
    }

    /// The map that records what happens to the pixels of `draw`, if overlays are requested.
    fn map(&self, gpu: &mut Gpu, draw: &Draw) -> Option<Arc<Reasons>> {
        if self.args.overlay.is_empty() {
            return None;
        }
        let attachments = draw.attachments();
        let shown = attachments.iter().find(|it| self.args.target.is_none_or(|which| which == it.which))?;
        draw.map(gpu, shown, &overlay::planes(&self.args.overlay))
    }

    /// Adds the recorded map of the pixels of `draw`.
    fn note_pixels(&mut self, map: Option<Arc<Reasons>>, draw: &Draw) {
        if let (Some(map), Some(canvas)) = (map, self.after.get(self.args.target)) {
            let touched = self.touched.get_or_insert_with(|| Touched::new(canvas.size()));
            touched.add(&map, draw.map_origin());
        }
    }

    /// Prints the answer and writes the files.
    fn tell(mut self, name: Draws, findings: Findings) -> anyhow::Result<()> {
        let mut answer = self.answer.take().with_context(|| format!("draw {name} did not run"))?;
        let changes = self.before.changes(&self.after).into_iter();
        answer.changes =
            changes.map(|(which, changes)| Change { target: which.to_string(), changes }).collect();
        answer.written = std::mem::take(&mut self.written.all);
        let met = findings.at_any(answer.frame_draws.iter().copied());
        let all = findings.into_all();
        answer.findings = met.into_iter().map(|index| all[index as usize].clone()).collect();
        if self.args.runs_of.is_some() {
            let watched =
                self.runs_of.take().with_context(|| format!("draw {name} has no geometry shader"))?;
            answer.geometry_runs = Some(GeometryRuns::new(watched)?);
        }
        answer.cost.add_all(&self.costs);
        answer.instruction_counts = StageCounts::all(&self.costs);
        std::mem::replace(&mut self.files, Ok(()))?;
        self.write_pictures(name)?;
        answer.overlays = self.write_overlays(name)?;
        if let (Some(path), Some(mesh)) = (&self.args.mesh, self.mesh.take()) {
            files::write_mesh(&mesh?, self.args.mesh_of, path, self.inputs)?;
        }
        if self.args.uses_stdout() { Ok(()) } else { self.print(&answer) }
    }

    fn print(&self, answer: &Answer) -> anyhow::Result<()> {
        let mut out = terminal::stdout(if self.args.json { Form::Json } else { Form::Lines });
        match self.args.json {
            true => {
                serde_json::to_writer(&mut out, answer)?;
                writeln!(out)?;
            }
            false => text::write(answer, &mut out)?,
        }
        Ok(out.flush()?)
    }

    fn write_overlays(&self, name: Draws) -> anyhow::Result<Vec<Legend>> {
        if self.args.overlay.is_empty() {
            return Ok(Vec::new());
        }
        let canvas = self.after.get(self.args.target).with_context(|| no_target(name, self.args.target))?;
        let touched = self.touched.as_ref().with_context(|| format!("draw {name} has no fragments"))?;
        overlay::write(&self.args.overlay, touched, &canvas.image(Alpha::Kept), self.inputs)
    }

    fn write_pictures(&self, name: Draws) -> anyhow::Result<()> {
        let alpha = if self.args.opaque { Alpha::Opaque } else { Alpha::Kept };
        for (path, snapshot) in [(&self.args.before, &self.before), (&self.args.after, &self.after)] {
            if let Some(path) = path {
                let out = OutFile::create(path, self.inputs)?;
                write_picture(snapshot, (name, self.args.target), alpha, out)?;
            }
        }
        Ok(())
    }
}

/// Writes the picture of what draw `name` renders to, or of one of its targets.
///
/// # Errors
/// The call fails if there is no such target, or if the file cannot be written.
fn write_picture(
    snapshot: &Snapshot,
    (name, which): (Draws, Option<Which>),
    alpha: Alpha,
    mut out: OutFile,
) -> anyhow::Result<()> {
    let canvas = snapshot.get(which).with_context(|| no_target(name, which))?;
    let cannot = format!("cannot write {}", out.path().display());
    canvas.image(alpha).write_png(&mut out).context(cannot)?;
    out.finish()
}

fn no_target(name: Draws, which: Option<Which>) -> String {
    match which {
        Some(which) => format!("draw {name} has no {which}"),
        None => format!("draw {name} renders to nothing"),
    }
}

impl Answer {
    /// How often the instructions of `stage` ran, if it ran.
    pub fn counts(&self, stage: &ShaderStage) -> Option<&StageCounts> {
        self.instruction_counts.iter().find(|counts| counts.stage == stage.name())
    }

    fn new(state: Draw, runs: &Runs) -> Self {
        Self {
            state,
            frame_draws: runs.frame_draws.clone(),
            runs: runs.count,
            run: runs.only.map(|(_, run)| run),
            tiles: Vec::new(),
            cost: Cost::default(),
            instruction_counts: Vec::new(),
            findings: Vec::new(),
            overlays: Vec::new(),
            changes: Vec::new(),
            written: Vec::new(),
            geometry_runs: None,
            registers: None,
        }
    }
}

impl Register {
    fn new(registers: &'static RegisterTable, (reg, value): (u32, u32)) -> Self {
        let (name, rows) = (registers.name(reg).to_string(), registers.fields(reg));
        Self { reg, name, value, fields: Fields { rows, word: value } }
    }
}
