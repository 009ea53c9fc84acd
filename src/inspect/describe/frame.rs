//! The table of a capture's commands: a row each, tiles folded, with what it cost.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use serde::{Serialize, Serializer};

use super::counts::Counts;
use super::draw::{Command, Draw, Key};
use super::name::Address;
use super::shader::Shaders;
use super::target::Place;
use crate::validate::{Finding, Findings};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::draw;
use a4emu_gpu::draw::stats::{CostList, StageCost};
use a4emu_gpu::gpu::{Chip, Gpu};
use a4emu_gpu::pass::Pass;
use a4emu_shader::Counting;

/// Rows that a table has at most.
pub const MAX_ROWS: usize = 1 << 16;

/// Troubles that a row has at most.
const MAX_TROUBLES: usize = 8;

/// The commands of a capture.
#[derive(Debug, Default, Serialize)]
pub struct Frame {
    /// Number of the chip, such as 420.
    pub gpu: u32,
    /// Submits that ran.
    pub submits: u32,
    /// Draws and dispatches that ran, tiles counted.
    pub draws: u32,
    /// What all cost.
    pub cost: Cost,
    /// A row for each command, in the order of their first runs.
    pub rows: Vec<Row>,
    /// What an A4xx would not forgive of all that ran, as `validate` says it.
    pub findings: Vec<Finding>,
    /// Commands for which there was no room.
    pub left_out: u64,
}

/// A draw or dispatch, with its runs for all tiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Number of the command, and of its first run.
    pub frame_draw: u32,
    /// The frame draws that it has in further submits of the same call of the kernel.
    pub more_frame_draws: Vec<u32>,
    /// Number of its first run.
    pub draw: u32,
    /// Submit that holds that.
    pub submit: u32,
    /// How often it ran: once for each tile.
    pub runs: u32,
    /// What it is for; a dispatch belongs to no pass.
    #[serde(serialize_with = "super::draw::pass_name")]
    pub pass: Option<Pass>,
    /// What the packet asks for.
    #[serde(flatten)]
    pub command: Command,
    /// Width and height of the frame.
    pub frame: Option<[u32; 2]>,
    /// Its shaders.
    pub shaders: Vec<RowShader>,
    /// The textures that they name.
    pub textures: Vec<RowTexture>,
    /// What it writes.
    pub targets: Vec<RowTarget>,
    /// What it cost.
    pub cost: Cost,
    /// Its part of what all commands cost.
    pub share: f64,
    /// What went wrong there, as far as it did not go wrong before.
    pub troubles: Vec<String>,
    /// Which of the frame's findings it has.
    pub findings: Vec<u32>,
}

/// A shader of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowShader {
    /// Its stage.
    pub stage: &'static str,
    /// Of its words; null where the capture does not hold them.
    pub hash: Option<String>,
}

/// A texture of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowTexture {
    /// The stage that names it.
    pub stage: &'static str,
    /// Its slot there.
    pub slot: u32,
    /// Of its first texel.
    pub address: Address,
    /// Format.
    pub format: String,
    /// Texels, rows, and layers or slices.
    pub size: [u32; 3],
    /// Levels.
    pub levels: u32,
}

/// A target of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowTarget {
    /// Such as `color0`, `depth` or `stencil`; of a resolve what is copied.
    pub name: String,
    /// Format.
    pub format: String,
    /// Where it lies.
    #[serde(flatten)]
    pub place: Place,
}

/// What commands cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Samples that passed depth and stencil.
    pub pixels: u64,
    /// Warp instructions, by stage.
    #[serde(serialize_with = "by_stage")]
    pub instructions: [u64; 6],
    /// All work of shaders and for pixels, in units of the budget.
    pub units: u64,
}

/// Names of the stages, in order.
pub(super) const STAGE_NAMES: [&str; 6] = ["VS", "HS", "DS", "GS", "FS", "CS"];

fn by_stage<S: Serializer>(counts: &[u64; 6], serializer: S) -> Result<S::Ok, S::Error> {
    let named = STAGE_NAMES.iter().zip(counts).filter(|(_, count)| **count > 0);
    named.collect::<BTreeMap<_, _>>().serialize(serializer)
}

impl Cost {
    fn add(&mut self, cost: &StageCost) {
        let pixels = cost.samples * a4emu_gpu::budget::Work::Pixel.price();
        self.pixels += cost.samples;
        self.instructions[cost.stage as usize] += cost.instructions;
        self.units += cost.units + pixels;
    }

    fn merge(&mut self, other: &Self) {
        self.pixels += other.pixels;
        self.units += other.units;
        self.instructions.iter_mut().zip(other.instructions).for_each(|(all, more)| *all += more);
    }

    /// Adds what was counted.
    pub fn add_all(&mut self, costs: &[StageCost]) {
        costs.iter().for_each(|cost| self.add(cost));
    }

    /// Warp instructions of each stage that ran.
    pub fn by_stage(&self) -> impl Iterator<Item = (&'static str, u64)> {
        STAGE_NAMES.into_iter().zip(self.instructions).filter(|(_, count)| *count > 0)
    }

    /// Warp instructions of all stages.
    pub fn all_instructions(&self) -> u64 {
        self.instructions.iter().sum()
    }
}

/// Renders, and counts what each frame draw costs.
#[derive(Debug, Default)]
pub struct Costing {
    costed: Costed,
    counting: Counting,
}

/// What frame draws took.
#[derive(Debug, Default)]
pub struct Costed {
    /// What they cost, by number.
    pub costs: Vec<Cost>,
    /// How often their instructions ran, if those were counted.
    pub counts: Counts,
}

impl Costing {
    /// One that also counts how often each instruction runs.
    pub fn with_counts() -> Self {
        Self { counting: Counting::On, ..Self::default() }
    }

    /// Takes what has been counted since.
    fn take(&mut self, gpu: &mut Gpu) {
        let Costed { costs, counts } = &mut self.costed;
        let known = gpu.pipeline.costs.get_or_insert_with(|| CostList::new(self.counting));
        for cost in known.list.drain(..) {
            let index = cost.at.frame_draw as usize;
            if index < MAX_ROWS {
                costs.resize_with(costs.len().max(index + 1), Cost::default);
                costs[index].add(&cost);
                counts.add(&cost);
            }
        }
    }

    /// All that was noted, when the run is over.
    pub fn finish(mut self, gpu: &mut Gpu) -> Costed {
        draw::flush(gpu);
        self.take(gpu);
        self.costed
    }
}

impl Engine for Costing {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.take(gpu);
        Renderer.run(gpu, call)
    }
}

/// Watches a run and makes rows.
#[derive(Default)]
pub struct Rows {
    rows: Vec<Row>,
    /// Of this group, by packet.
    commands: HashMap<u32, usize>,
    group: u32,
    shaders: Shaders,
    chip: Chip,
    left_out: u64,
}

impl Rows {
    /// The table, when the run of `gpu` is over.
    pub fn finish(self, gpu: &Gpu, costs: &[Cost], findings: Findings) -> Frame {
        let mut frame = Frame {
            gpu: self.chip.id,
            submits: gpu.at.submit,
            draws: gpu.at.draws,
            rows: self.rows,
            left_out: self.left_out,
            ..Frame::default()
        };
        costs.iter().for_each(|cost| frame.cost.merge(cost));
        for row in &mut frame.rows {
            row.add_costs(costs, frame.cost.units);
            row.add_findings(&findings);
        }
        frame.add_troubles(gpu);
        frame.findings = findings.into_all();
        frame
    }
}

impl Frame {
    /// The troubles of the run, each where it was met first.
    fn add_troubles(&mut self, gpu: &Gpu) {
        let rows = self.rows.iter().enumerate();
        let mut by_number: HashMap<u32, usize> = rows.map(|(index, row)| (row.frame_draw, index)).collect();
        for (index, row) in self.rows.iter().enumerate() {
            by_number.extend(row.more_frame_draws.iter().map(|number| (*number, index)));
        }
        for (trouble, at, count) in gpu.report.troubles.iter() {
            let row = by_number.get(&at.frame_draw).and_then(|index| self.rows.get_mut(*index));
            if let Some(row) = row.filter(|row| row.troubles.len() < MAX_TROUBLES) {
                let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
                row.troubles.push(format!("{trouble}{times}"));
            }
        }
    }
}

impl Observer for Rows {
    fn chip(&mut self, gpu: &Gpu) {
        self.chip = gpu.chip;
    }

    fn call(&mut self, gpu: &Gpu, call: &Call) -> Flow {
        let key = Key::of(gpu);
        if key.group != self.group {
            self.group = key.group;
            self.commands.clear();
        }
        if let Some(row) = self.commands.get(&key.packet).and_then(|index| self.rows.get_mut(*index)) {
            row.add_run(call);
            if row.pass == Some(Pass::Binning) && call.pass() != row.pass {
                *row = row.clone().drawn_as(&Draw::of(gpu, call, &mut self.shaders));
            }
        } else if self.rows.len() < MAX_ROWS && !gpu.budget.is_full() {
            let row = Row::new(&Draw::of(gpu, call, &mut self.shaders));
            if gpu.budget.keep(row.bytes()) {
                self.commands.insert(key.packet, self.rows.len());
                self.rows.push(row);
            } else {
                self.left_out += 1;
            }
        } else {
            self.left_out += 1;
        }
        Flow::Continue
    }
}

impl Row {
    fn new(draw: &Draw) -> Self {
        Self {
            frame_draw: draw.frame_draw,
            more_frame_draws: Vec::new(),
            draw: draw.draw,
            submit: draw.submit,
            runs: 1,
            pass: draw.pass,
            command: draw.command.clone(),
            frame: draw.frame,
            shaders: draw.row_shaders(),
            textures: draw.row_textures(),
            targets: draw.row_targets(),
            cost: Cost::default(),
            share: 0.0,
            troubles: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Bytes of memory that it takes, about, with its troubles.
    fn bytes(&self) -> u64 {
        let Self { shaders, textures, targets, .. } = self;
        let shaders = shaders.len() * (size_of::<RowShader>() + 32);
        let textures = textures.len() * (size_of::<RowTexture>() + 64);
        let targets = targets.len() * (size_of::<RowTarget>() + 128);
        (2 * size_of::<Self>() + shaders + textures + targets) as u64
    }

    /// What bins first is described by its first run that draws.
    fn drawn_as(self, draw: &Draw) -> Self {
        let Self { frame_draw, more_frame_draws, draw: first, submit, runs, .. } = self;
        Self { frame_draw, more_frame_draws, draw: first, submit, runs, ..Self::new(draw) }
    }

    fn add_run(&mut self, call: &Call) {
        self.runs += 1;
        let number = call.frame_draw();
        if number != self.frame_draw && self.more_frame_draws.last() != Some(&number) {
            self.more_frame_draws.push(number);
        }
    }

    /// All its numbers as a frame draw.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.frame_draw).chain(self.more_frame_draws.iter().copied())
    }

    fn add_costs(&mut self, costs: &[Cost], units: u64) {
        for number in self.numbers().collect::<Vec<_>>() {
            if let Some(cost) = costs.get(number as usize) {
                self.cost.merge(cost);
            }
        }
        self.share = if units == 0 { 0.0 } else { self.cost.units as f64 / units as f64 };
    }

    fn add_findings(&mut self, findings: &Findings) {
        self.findings = findings.at_any(self.numbers()).into_iter().collect();
    }
}

impl Draw {
    fn row_shaders(&self) -> Vec<RowShader> {
        let hash = |stage: &super::ShaderStage| stage.shader.as_ref().map(|it| format!("{:016x}", it.hash));
        let row = |stage: &super::ShaderStage| RowShader { stage: stage.name(), hash: hash(stage) };
        self.shaders.iter().map(row).collect()
    }

    fn row_textures(&self) -> Vec<RowTexture> {
        let stages = self.shaders.iter();
        let textures = stages.flat_map(|stage| stage.textures.iter().map(|texture| (stage.name(), texture)));
        let row = |(stage, texture): (_, &super::Texture)| RowTexture {
            stage,
            slot: texture.slot,
            address: texture.address,
            format: texture.format.clone(),
            size: [texture.width, texture.height, texture.depth],
            levels: texture.levels,
        };
        textures.map(row).collect()
    }

    /// What it writes: targets with a write mask, depth that is stored, a stencil test, the copy of a resolve.
    fn row_targets(&self) -> Vec<RowTarget> {
        let color = self.targets.iter().filter(|target| !target.write_mask.is_empty());
        let color = color.map(|target| (format!("color{}", target.index), &target.format, target.place));
        let depth = self.depth.iter().filter(|depth| depth.test && depth.write);
        let depth = depth.map(|depth| ("depth".to_owned(), &depth.format, depth.place));
        let resolve = self.resolve.iter();
        let resolve = resolve.map(|it| (it.content.to_owned(), &it.format, Place::Address(it.address)));
        let row = |(name, format, place): (String, &String, Place)| RowTarget {
            name,
            format: format.clone(),
            place,
        };
        color.chain(depth).chain(resolve).map(row).collect()
    }
}
