//! Renders a capture, and copies what each run changes.

use hashbrown::HashMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::canvases::{Canvases, shown};
use super::changed::changed;
use super::commands::{Command, Commands};
use super::contents::{self, Contents};
use super::cost_map;
use super::frame::{Mesh, Patch, ShaderUse};
use super::pictures::{self, rgba};
use super::room::{Kind, Room};
use crate::cp::{Call, Engine, Flow};
use crate::draw;
use crate::draw::fs::reasons::Plane;
use crate::gpu::{Gpu, STAGES};
use crate::inspect::canvas::Attachment;
use crate::inspect::{self, Costing, Counts, Draw, Shaders};
use crate::pass::Pass;
use crate::progress::Counted;

/// What was seen of a command.
#[derive(Default)]
pub struct Seen {
    /// What it runs with.
    pub state: Option<Box<RawValue>>,
    /// The pass that this is of: binning runs know no targets.
    pass: Option<Pass>,
    /// What of that is not as before.
    pub changed: Vec<String>,
    /// What it draws to.
    pub canvas: Option<usize>,
    /// What its runs changed there.
    pub patches: Vec<Patch>,
    /// What became of pixels.
    pub reasons: Vec<Patch>,
    /// What was spent on pixels.
    pub cost_map: Vec<Patch>,
    /// Its programs.
    pub shader_use: Vec<ShaderUse>,
    /// Its textures.
    pub texture_use: Vec<String>,
    /// Its vertices.
    pub mesh: Option<Mesh>,
    /// Why there are none.
    pub no_mesh: Option<String>,
}

/// The engine of a report.
pub struct Recorder {
    /// What draws cost.
    pub costing: Costing,
    /// By command.
    pub seen: Vec<Seen>,
    /// What is drawn to.
    pub canvases: Canvases,
    /// What draws use.
    pub contents: Contents,
    /// What has been taken.
    pub room: Room,
    commands: Commands,
    shaders: Shaders,
    /// The last state of each kind of pass.
    last: HashMap<Option<Pass>, Value>,
    progress: Counted,
}

impl Recorder {
    /// Nothing seen yet; `progress` is told of each draw.
    pub fn new(progress: Counted) -> Self {
        let costing = Costing::with_counts();
        let (seen, canvases, contents, room) = Default::default();
        let (commands, shaders, last) = Default::default();
        Self { costing, seen, canvases, contents, room, commands, shaders, last, progress }
    }

    /// Adds how often the instructions of each command's programs ran, as far as there is room.
    pub fn add_counts(&mut self, rows: &inspect::Frame, counts: &Counts) {
        for (row, seen) in rows.rows.iter().zip(&mut self.seen) {
            for used in &mut seen.shader_use {
                let Some(stage) = STAGES.into_iter().find(|stage| stage.name() == used.stage) else {
                    continue;
                };
                let all = counts.of(row.numbers(), stage);
                let bytes = 2 * size_of::<u64>() * all.warps.len();
                if self.room.take(Kind::Counts, bytes, row.frame_draw) {
                    (used.warps, used.lanes) = (all.warps, all.lanes);
                }
            }
        }
    }

    /// What is looked at before a run.
    fn before(&mut self, gpu: &mut Gpu, call: &Call, command: Command, draw: &Draw) {
        if let Command::New(_) = command {
            self.seen.push(Seen::default());
        }
        let index = command.number();
        // Of a command that bins first, the first run that draws says more.
        let is_better = self.seen[index].pass == Some(Pass::Binning) && draw.pass != Some(Pass::Binning);
        if !is_better && matches!(command, Command::Known(_)) {
            return;
        }
        let shader_use = self.contents.shaders(draw, &mut self.room);
        let texture_use = self.contents.textures(draw, gpu, &mut self.room);
        let mesh = contents::mesh(draw, gpu, call, &mut self.room);
        let attachment = shown(draw);
        let canvas = attachment.and_then(|it| self.canvases.of(draw, &it, &mut self.room));
        let (state, changed) = self.state(draw);
        let seen = &mut self.seen[index];
        (seen.state, seen.pass, seen.changed) = (state, draw.pass, changed);
        seen.canvas = canvas;
        (seen.mesh, seen.no_mesh) = mesh.map_or_else(|why| (None, Some(why)), |mesh| (Some(mesh), None));
        (seen.shader_use, seen.texture_use) = (shader_use, texture_use);
    }

    /// The state of a draw, and what of it is not as in the draw of the same pass before it.
    fn state(&mut self, draw: &Draw) -> (Option<Box<RawValue>>, Vec<String>) {
        let lines = match serde_json::to_value(draw) {
            Err(_) => Vec::new(),
            Ok(value) => {
                let lines = self.last.get(&draw.pass).map(|last| changed(last, &value));
                self.last.insert(draw.pass, value);
                lines.unwrap_or_default()
            }
        };
        let state = serde_json::value::to_raw_value(draw).ok();
        let state = state.filter(|state| self.room.take(Kind::States, state.get().len(), draw.frame_draw));
        (state, lines)
    }

    /// What is looked at after a run.
    fn after(&mut self, gpu: &mut Gpu, index: usize, draw: &Draw, attachment: &Attachment) {
        let reasons = gpu.pipeline.reasons.take();
        let origin = draw.map_origin();
        let canvas = self.seen[index].canvas;
        let index = canvas.map_or(index, |canvas| self.canvases.shown_by(canvas, draw, index));
        let (seen, room) = (&mut self.seen[index], &mut self.room);
        let noted = reasons.as_ref().and_then(|map| pictures::reasons(map, origin, room, draw.frame_draw));
        let spent = reasons.as_ref().and_then(|map| cost_map::patch(map, origin, room, draw.frame_draw));
        seen.reasons.extend(noted);
        seen.cost_map.extend(spent);
        let Some(canvas) = canvas else { return };
        match self.canvases.update(canvas, gpu, attachment) {
            Err(why) => gpu.report.cut(format!("draw {}: {why}", draw.draw), gpu.at),
            Ok(None) => {}
            Ok(Some((area, image))) => {
                seen.patches.extend(pictures::patch(&rgba(image), area, room, draw.frame_draw));
            }
        }
        if draw.resolve.is_some() {
            self.canvases.note_copy(canvas, draw, attachment);
        }
    }
}

impl Engine for Recorder {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.progress.next();
        let Some(command) = self.commands.of(gpu) else { return self.costing.run(gpu, call) };
        draw::flush(gpu);
        let draw = Draw::of(gpu, call, &mut self.shaders);
        self.before(gpu, call, command, &draw);
        let Some(attachment) = shown(&draw) else { return self.costing.run(gpu, call) };
        gpu.pipeline.reasons = draw.map(gpu, &attachment, &[Plane::Cost]);
        let flow = self.costing.run(gpu, call);
        draw::flush(gpu);
        self.after(gpu, command.number(), &draw, &attachment);
        flow
    }
}
