//! The table of a capture's commands: one row for each, with all its tiles and its cost.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::collections::BTreeMap;
use std::fmt;

use a4emu_decoder::adreno::packet::Packet;
use hashbrown::HashMap;
use serde::{Serialize, Serializer};

use super::counts::Counts;
use super::draw::{Command, Draw, Key};
use super::name::{Address, STAGE_NAMES, packet_name};
use super::target::SurfacePlace;
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::draw::Inspection;
use a4emu_gpu::draw::stats::StageCost;
use a4emu_gpu::gpu::{Chip, Gpu};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Running;
use a4emu_rules::shader::Shaders;
use a4emu_rules::{Finding, Findings};
use a4emu_shader::Counting;

/// Maximum number of rows of a table.
pub const MAX_ROWS: usize = 1 << 16;

/// Maximum number of troubles of a row.
const MAX_TROUBLES: usize = 8;

/// The commands of a capture.
#[derive(Debug, Default, Serialize)]
pub struct Frame {
    /// Number of the chip, such as 420.
    pub gpu: u32,
    /// Submits that ran.
    pub submits: u32,
    /// Draws and dispatches that ran, counted per tile.
    pub draws: u32,
    /// Frame draws that ran: each packet counts once in a submit, for all tiles.
    #[serde(skip)]
    pub frame_draws: u32,
    /// Cost of all commands.
    pub cost: Cost,
    /// One row for each command, in the order of their first runs.
    pub rows: Vec<Row>,
    /// The findings of `validate`: errors that an A4xx does not tolerate.
    pub findings: Vec<Finding>,
    /// Number of draws without a row, since the table was full.
    pub left_out: u64,
    /// Where the GPU of a kernel dump stood, if the dump holds that packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stood: Option<Stood>,
}

/// The packet at which the GPU of a kernel dump stood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stood {
    /// Name of the packet.
    pub packet: String,
    /// Address of the packet.
    pub address: Address,
    /// The submit that holds it.
    pub submit: u32,
    /// The command of the packet, or the next one.
    pub frame_draw: u32,
    /// The registers that name the place.
    pub registers: String,
}

impl fmt::Display for Stood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packet, address, submit, frame_draw, registers } = self;
        // At any other packet, the GPU had not begun the draw.
        let is_call = ["CP_DRAW", "CP_EXEC_CS"].iter().any(|call| packet.starts_with(call));
        let side = if is_call { "at" } else { "before" };
        write!(
            f,
            "the GPU stood {side} f{frame_draw}: {packet} at {address} of submit {submit} ({registers})"
        )
    }
}

/// A draw, dispatch or blit with its runs for all tiles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Number of the command and of its first run.
    pub frame_draw: u32,
    /// Further frame draws of the command, in other submits of the same kernel call.
    pub more_frame_draws: Vec<u32>,
    /// Number of its first run.
    pub draw: u32,
    /// Number of the submit that holds the first run.
    pub submit: u32,
    /// Number of runs: one for each tile.
    pub runs: u32,
    /// The pass of the draw; none for a dispatch, and for a blit between surfaces in memory.
    #[serde(serialize_with = "super::draw::pass_name")]
    pub pass: Option<Pass>,
    /// The command that the packet holds.
    #[serde(flatten)]
    pub command: Command,
    /// Width and height of the frame.
    pub frame: Option<[u32; 2]>,
    /// The shaders of the command.
    pub shaders: Vec<RowShader>,
    /// The textures that the shaders name.
    pub textures: Vec<RowTexture>,
    /// The targets that the command writes.
    pub targets: Vec<RowTarget>,
    /// Cost of the command.
    pub cost: Cost,
    /// Its part of the cost of all commands, from 0 to 1.
    pub share: f64,
    /// Troubles that first occurred in this command.
    pub troubles: Vec<String>,
    /// Indices of its findings in [`Frame::findings`].
    pub findings: Vec<u32>,
}

/// A shader of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowShader {
    /// Name of its stage.
    pub stage: &'static str,
    /// Hash of its words; null if the capture does not hold them.
    pub hash: Option<String>,
}

/// A texture of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowTexture {
    /// The stage that names it.
    pub stage: &'static str,
    /// The bindless base that the slot is of, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<u8>,
    /// Its slot in that stage, or there.
    pub slot: u32,
    /// Address of its first texel.
    pub address: Address,
    /// Format of a texel.
    pub format: String,
    /// Width, height, and number of layers or slices.
    pub size: [u32; 3],
    /// Number of levels.
    pub levels: u32,
}

/// A target of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowTarget {
    /// Name, such as `color0`, `depth` or `stencil`; for a resolve, the content that it copies.
    pub name: String,
    /// Format of a pixel.
    pub format: String,
    /// Place of its first pixel.
    #[serde(flatten)]
    pub place: SurfacePlace,
}

/// The cost of commands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Samples that passed the depth and stencil tests.
    pub pixels: u64,
    /// Warp instructions per stage.
    #[serde(serialize_with = "by_stage")]
    pub instructions: [u64; 6],
    /// Work of shaders and pixels, in units of the budget.
    pub units: u64,
}

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

    /// Adds the costs of stages.
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

/// An engine that renders and counts the cost of each frame draw.
#[derive(Debug, Default)]
pub struct Costing {
    costed: Costed,
    counting: Counting,
}

/// The costs of frame draws.
#[derive(Debug, Default)]
pub struct Costed {
    /// Cost of each frame draw, by number.
    pub costs: Vec<Cost>,
    /// How often each instruction ran, if that was counted.
    pub counts: Counts,
}

impl Costing {
    /// Makes an engine that also counts how often each instruction runs.
    pub fn with_counts() -> Self {
        Self { counting: Counting::On, ..Self::default() }
    }

    /// Runs a command. `more` is recorded too.
    pub fn run_with(&mut self, gpu: &mut Gpu, call: &Call, more: Inspection) -> Flow {
        self.inspect(gpu, more);
        Renderer.run(gpu, call)
    }

    /// Records costs and `more` from now on, and adds the costs that were recorded since the last call.
    pub fn inspect(&mut self, gpu: &mut Gpu, more: Inspection) {
        let wanted = Inspection { costs: Some(self.counting), ..more };
        let Costed { costs, counts } = &mut self.costed;
        for cost in gpu.inspect(wanted).costs {
            let index = cost.at.frame_draw as usize;
            if index < MAX_ROWS {
                costs.resize_with(costs.len().max(index + 1), Cost::default);
                costs[index].add(&cost);
                counts.add(&cost);
            }
        }
    }

    /// All costs, at the end of the run.
    pub fn finish(mut self, gpu: &mut Gpu) -> Costed {
        gpu.settle();
        self.inspect(gpu, Inspection::default());
        self.costed
    }
}

impl Engine for Costing {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.run_with(gpu, call, Inspection::default())
    }
}

/// An observer that makes the rows of the table.
#[derive(Default)]
pub struct Rows {
    rows: Vec<Row>,
    /// Row of each command of the current group, by packet address.
    commands: HashMap<GpuAddress, usize>,
    group: u32,
    shaders: Shaders,
    chip: Chip,
    left_out: u64,
    stood: Option<Stood>,
}

impl Rows {
    /// Makes the table at the end of the run of `gpu`.
    pub fn finish(self, gpu: &Gpu, costs: &[Cost], findings: Findings) -> Frame {
        let mut frame = Frame {
            gpu: self.chip.id,
            submits: gpu.at.submit,
            draws: gpu.at.draws,
            frame_draws: gpu.at.frame_draw,
            rows: self.rows,
            left_out: self.left_out,
            stood: self.stood,
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
    /// Adds each trouble of the run to the row where it first occurred.
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
    fn chip(&mut self, gpu: &mut Running<'_>) {
        self.chip = gpu.chip;
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let Some(search) = gpu.hang.as_ref().filter(|search| search.is_here()) else { return };
        self.stood = Some(Stood {
            packet: packet_name(gpu.chip.generation(), packet),
            address: Address::of(gpu.at.address),
            submit: gpu.at.submit,
            frame_draw: gpu.at.frame_draw,
            registers: search.registers(),
        });
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let key = Key::of(gpu);
        if key.group != self.group {
            self.group = key.group;
            self.commands.clear();
        }
        if let Some(row) = self.commands.get(&key.packet).and_then(|index| self.rows.get_mut(*index)) {
            row.add_run(call);
            if row.pass == Some(Pass::Binning) && call.pass() != row.pass {
                *row = row.clone().drawn_as(&Draw::of(gpu.sync(), call, &mut self.shaders));
            }
        } else if self.rows.len() < MAX_ROWS && !gpu.budget.is_full() {
            let row = Row::new(&Draw::of(gpu.sync(), call, &mut self.shaders));
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

    /// Rough size in memory with its troubles, in bytes.
    fn bytes(&self) -> u64 {
        let Self { shaders, textures, targets, .. } = self;
        let shaders = shaders.len() * (size_of::<RowShader>() + 32);
        let textures = textures.len() * (size_of::<RowTexture>() + 64);
        let targets = targets.len() * (size_of::<RowTarget>() + 128);
        (2 * size_of::<Self>() + shaders + textures + targets) as u64
    }

    /// Replaces the description of a binning run by the first run that draws.
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

    /// All frame draw numbers of the command.
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
            base: texture.base,
            slot: texture.slot,
            address: texture.address,
            format: texture.format.clone(),
            size: [texture.width, texture.height, texture.depth],
            levels: texture.levels,
        };
        textures.map(row).collect()
    }

    /// The targets that the draw writes: those with a write mask, depth if stored, stencil, the copy of a
    /// resolve, or the destination of a blit.
    fn row_targets(&self) -> Vec<RowTarget> {
        let color = self.targets.iter().filter(|target| !target.write_mask.is_empty());
        let color = color.map(|target| (format!("color{}", target.index), &target.format, target.place));
        let depth = self.depth.iter().filter(|depth| depth.test && depth.write);
        let depth = depth.map(|depth| ("depth".to_owned(), &depth.format, depth.place));
        let blit = self.blit.iter().map(|it| &it.destination);
        let blit = blit.map(|it| (it.register.to_owned(), &it.format, it.place));
        let resolve = self.resolve.iter();
        let resolve =
            resolve.map(|it| (it.content.to_owned(), &it.format, SurfacePlace::Address(it.address)));
        let row = |(name, format, place): (String, &String, SurfacePlace)| RowTarget {
            name,
            format: format.clone(),
            place,
        };
        color.chain(depth).chain(resolve).chain(blit).map(row).collect()
    }
}
