//! Renders a capture, and copies what each run changes.

use std::sync::Arc;

use hashbrown::HashMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::canvases::{Canvases, shown};
use super::changed::changed;
use super::commands::{Command, Commands};
use super::contents::{self, Contents};
use super::cost_map;
use super::frame::Seen;
use super::pictures;
use super::room::{DataKind, Room, kept};
use crate::describe::canvas::Attachment;
use crate::describe::{self, Costing, Counts, Draw, PacketStores, Shaders, Tile, Written};
use a4emu_gpu::a4xx::rb::resolve_bounds;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::{Call, Engine, Flow};
use a4emu_gpu::draw::Inspection;
use a4emu_gpu::draw::fs::reasons::{Plane, Reasons};
use a4emu_gpu::draw::gras::raster::Rect;
use a4emu_gpu::gpu::{Gpu, STAGES};
use a4emu_gpu::pass::Pass;
use a4emu_support::progress::Counted;

/// Number of times that the text of a draw's state is processed: written, read, compared.
const COMPARED: u64 = 3;

/// Blocks of 16 bytes that are copied while a pixel of the two maps of a draw is read and encoded. Measure: `scripts/prices`.
const MAP: u64 = 4;

/// Maximum number of restores of one tile: eight colour targets, depth and stencil.
const MAX_RESTORES: usize = 10;

/// A restore that has run. The next draw has its tile.
struct Restore {
    command: usize,
    draw: Draw,
    attachment: Attachment,
    reasons: Option<Arc<Reasons>>,
}

/// The engine of a report.
pub struct Recorder {
    /// The cost of the draws.
    pub costing: Costing,
    /// Recorded data by number of the command.
    pub seen: Vec<Seen>,
    /// The surfaces of the draws.
    pub canvases: Canvases,
    /// The programs, textures and vertices of the draws.
    pub contents: Contents,
    /// The room that is used.
    pub room: Room,
    commands: Commands,
    shaders: Shaders,
    restores: Vec<Restore>,
    /// The last state of each kind of pass.
    last: HashMap<Option<Pass>, Value>,
    progress: Counted,
    /// The map of the last draw, for the next one.
    spare: Option<Arc<Reasons>>,
}

impl Recorder {
    /// Makes an empty recorder; `progress` counts the draws.
    pub fn new(progress: Counted) -> Self {
        let costing = Costing::with_counts();
        let (seen, canvases, contents, room) = Default::default();
        let (commands, shaders, restores, last) = Default::default();
        Self {
            costing,
            seen,
            canvases,
            contents,
            room,
            commands,
            shaders,
            restores,
            last,
            progress,
            spare: None,
        }
    }

    /// Adds how often the instructions of each command's programs ran, if there is room.
    pub fn add_counts(&mut self, rows: &describe::Frame, counts: &Counts) {
        for (row, seen) in rows.rows.iter().zip(&mut self.seen) {
            for used in &mut seen.shader_use {
                let Some(stage) = STAGES.into_iter().find(|stage| stage.name() == used.stage) else {
                    continue;
                };
                let all = counts.of(row.numbers(), stage);
                let bytes = 2 * size_of::<u64>() * all.warps.len();
                if self.room.take(DataKind::Counts, bytes, row.frame_draw) {
                    (used.warps, used.lanes) = (all.warps, all.lanes);
                }
            }
        }
    }

    /// Records the state before a run.
    fn before(&mut self, gpu: &mut Gpu, call: &Call, command: Command, draw: &mut Draw) {
        if let Command::New(_) = command {
            self.seen.push(Seen::default());
        }
        let index = command.number();
        // If a command begins with a binning run, its first drawing run describes it better.
        let is_better = self.seen[index].pass == Some(Pass::Binning) && draw.pass != Some(Pass::Binning);
        if !is_better && matches!(command, Command::Known(_)) {
            return;
        }
        draw.add_factors(gpu, call);
        let draw = &*draw;
        let shader_use = self.contents.shaders(draw, &mut self.room);
        let texture_use = self.contents.textures(draw, gpu, &mut self.room);
        let mesh = contents::mesh(draw, gpu, call, (&mut self.contents.extras, &mut self.room));
        self.contents.memory(draw, gpu);
        let attachment = shown(draw);
        let canvas = attachment.and_then(|it| self.canvas(gpu, draw, &it));
        let (state, changed) = self.state(draw, &gpu.budget);
        let seen = &mut self.seen[index];
        (seen.state, seen.pass, seen.changed) = (state, draw.pass, changed);
        (seen.canvas, seen.mesh) = (canvas, mesh);
        seen.pass_number = self.canvases.pass();
        (seen.shader_use, seen.texture_use) = (shader_use, texture_use);
    }

    /// The canvas of a first run of `draw`. A restore has none here: its tile is only known at the next
    /// draw.
    fn canvas(&mut self, gpu: &mut Gpu, draw: &Draw, attachment: &Attachment) -> Option<usize> {
        if draw.pass == Some(Pass::Restore) {
            return None;
        }
        if draw.pass == Some(Pass::Gmem) {
            self.canvases.begin();
        }
        self.canvases.of(gpu, draw, attachment, &mut self.room)
    }

    /// The state of a draw, and the differences to the draw before it in the same pass.
    fn state(&mut self, draw: &Draw, budget: &Budget) -> (Option<Box<RawValue>>, Vec<String>) {
        let Ok(state) = serde_json::value::to_raw_value(draw) else { return (None, Vec::new()) };
        budget.observe(Work::Text16, COMPARED * state.get().len() as u64 / 16);
        // Parsing the text back gives the key order and the numbers that the page gets.
        let value: Value = serde_json::from_str(state.get()).unwrap_or_default();
        let lines = self.last.get(&draw.pass).map(|last| changed(last, &value)).unwrap_or_default();
        self.last.insert(draw.pass, value);
        let kept: usize = lines.iter().map(|line| size_of::<String>() + line.len()).sum();
        let lines = if budget.keep(kept as u64) { lines } else { Vec::new() };
        let fits = self.room.take(DataKind::States, state.get().len(), draw.frame_draw);
        (fits.then_some(state), lines)
    }

    /// Adds the restores since the last draw to their canvases. `draw`, which is about to run, has their
    /// tile; a restore draws as if its tile began at 0, 0.
    fn place_restores(&mut self, gpu: &mut Gpu, draw: &Draw) {
        let Some(tile) = draw.tile else { return };
        for restore in std::mem::take(&mut self.restores) {
            let attachment = Attachment { area: tile, ..restore.attachment };
            let canvas = self.canvases.of(gpu, &restore.draw, &attachment, &mut self.room);
            let Some(canvas) = canvas else { continue };
            self.seen[restore.command].canvas = Some(canvas);
            let shown_by = self.canvases.restored_by(canvas, restore.command);
            self.note_map(
                restore.reasons.as_deref(),
                [tile.x, tile.y],
                (shown_by, &restore.draw),
                &gpu.budget,
            );
            self.update(gpu, (shown_by, canvas), &restore.draw, &attachment);
            self.canvases.note_begun(canvas, tile);
        }
    }

    /// Reads what the first draw of a tile finds in tile memory.
    fn begin_tile(&mut self, gpu: &mut Gpu, command: usize, draw: &Draw, attachment: &Attachment) {
        let Some(canvas) = self.seen[command].canvas.filter(|_| draw.pass == Some(Pass::Gmem)) else {
            return;
        };
        if let Err(why) = self.canvases.begin_tile(canvas, gpu, attachment, &mut self.room) {
            gpu.cut(format!("draw {}: {why}", draw.draw));
        }
    }

    /// Adds to draws without colours the colour canvas over whose pixels they draw.
    pub fn add_overs(&mut self) {
        let mut last = None;
        for seen in &mut self.seen {
            let Some(canvas) = seen.canvas else { continue };
            if self.canvases.is_color(canvas) {
                last = Some(canvas);
            } else if seen.pass == Some(Pass::Bypass) {
                seen.over = last;
            } else if seen.pass == Some(Pass::Gmem) {
                seen.over = self.canvases.color_of(seen.pass_number);
            }
        }
    }

    /// Runs a call, and adds what it stores apart from its targets to `command`.
    fn stored(
        &mut self,
        gpu: &mut Gpu,
        call: &Call,
        command: usize,
        draw: &Draw,
        reasons: Option<Arc<Reasons>>,
    ) -> Flow {
        self.seen[command].stored.before(gpu, draw);
        let flow = self.costing.run_with(gpu, call, Inspection { reasons, ..Inspection::default() });
        self.seen[command].stored.after(gpu, draw);
        flow
    }

    /// Adds what the packets behind each command stored, and makes lines of it, if there is room.
    pub fn add_stored(&mut self, rows: &describe::Frame, mut packets: PacketStores<'_>) {
        for (row, seen) in rows.rows.iter().zip(&mut self.seen) {
            let mut stored = std::mem::take(&mut seen.stored);
            stored.append(packets.take(row.numbers()));
            let more = (stored.left_out > 0).then(|| vec![format!("... {} more ranges", stored.left_out)]);
            let lines: Vec<Vec<String>> = stored.all.iter().map(Written::lines).chain(more).collect();
            let bytes = lines.iter().flatten().map(|line| kept(line)).sum();
            if self.room.take(DataKind::States, bytes, row.frame_draw) {
                seen.written = lines;
            }
        }
    }

    /// Records the result of a run.
    fn after(
        &mut self,
        gpu: &mut Gpu,
        (command, draw): (usize, Draw),
        attachment: &Attachment,
        reasons: Option<Arc<Reasons>>,
    ) {
        if draw.pass == Some(Pass::Restore) {
            if self.restores.len() < MAX_RESTORES {
                self.restores.push(Restore { command, draw, attachment: *attachment, reasons });
            }
            return;
        }
        let is_touched = reasons.as_ref().is_none_or(|map| !map.touched().is_empty());
        self.note_map(reasons.as_deref(), [0; 2], (command, &draw), &gpu.budget);
        self.spare = reasons;
        if !is_touched && !stores(&draw) {
            return;
        }
        let Some(canvas) = self.seen[command].canvas else { return };
        self.update(gpu, (command, canvas), &draw, attachment);
        if draw.resolve.is_some() {
            self.canvases.note_copy(canvas, attachment);
            self.seen[command].copies.extend(copied(gpu, attachment));
        }
    }

    /// Adds the reasons and the cost of pixels as patches of a command.
    fn note_map(
        &mut self,
        map: Option<&Reasons>,
        origin: [u32; 2],
        (command, draw): (usize, &Draw),
        budget: &Budget,
    ) {
        let Some(map) = map else { return };
        budget.observe(Work::Copy16, MAP * map.touched_pixels());
        let (seen, room) = (&mut self.seen[command], &mut self.room);
        seen.reasons.extend(pictures::reasons(map, origin, room, draw.frame_draw));
        seen.cost_map.extend(cost_map::patch(map, origin, room, draw.frame_draw));
    }

    /// Adds the changes of a canvas as a patch of a command.
    fn update(
        &mut self,
        gpu: &mut Gpu,
        (command, canvas): (usize, usize),
        draw: &Draw,
        attachment: &Attachment,
    ) {
        match self.canvases.update(canvas, gpu, attachment, &mut self.room) {
            Err(why) => gpu.cut(format!("draw {}: {why}", draw.draw)),
            Ok(patch) => self.seen[command].patches.extend(patch),
        }
    }
}

/// Whether shaders of a draw store. Then it can change pixels that it does not cover.
fn stores(draw: &Draw) -> bool {
    draw.shaders.iter().any(|stage| stage.shader.as_ref().is_none_or(|shader| shader.uses.stores))
}

/// The part of a resolve's tile that it copies, if it is not empty.
fn copied(gpu: &Gpu, attachment: &Attachment) -> Option<[u32; 4]> {
    let Tile { x, y, width, height } = attachment.area;
    let [x0, y0, x1, y1] = [x, y, x + width, y + height].map(u32::cast_signed);
    let area = resolve_bounds(&gpu.regs).intersect(Rect { x0, y0, x1, y1 });
    let side = |from: i32, to: i32| (to - from).cast_unsigned();
    (!area.is_empty()).then(|| {
        [area.x0.cast_unsigned(), area.y0.cast_unsigned(), side(area.x0, area.x1), side(area.y0, area.y1)]
    })
}

impl Engine for Recorder {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.progress.next();
        let Some(command) = self.commands.of(gpu) else { return self.costing.run(gpu, call) };
        gpu.settle();
        let mut draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.before(gpu, call, command, &mut draw);
        if draw.pass != Some(Pass::Restore) {
            self.place_restores(gpu, &draw);
        }
        let Some(mut attachment) = shown(&draw) else {
            return self.stored(gpu, call, command.number(), &draw, None);
        };
        // A resolve writes only its tile.
        attachment.area = draw.resolve.as_ref().and(draw.tile).unwrap_or(attachment.area);
        self.begin_tile(gpu, command.number(), &draw, &attachment);
        let copied = draw.resolve.as_ref().and(self.seen[command.number()].canvas);
        self.canvases.settle(gpu, &attachment, copied, &mut self.room);
        let spare = self.spare.take();
        let reasons = draw.map_in(gpu, &attachment, &[Plane::Cost, Plane::Unseen], spare);
        let flow = self.stored(gpu, call, command.number(), &draw, reasons.clone());
        gpu.settle();
        self.costing.inspect(gpu, Inspection::default());
        self.after(gpu, (command.number(), draw), &attachment, reasons);
        flow
    }
}
