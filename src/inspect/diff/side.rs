//! Collects the commands of a capture for a comparison.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::collections::BTreeSet;
use std::mem::size_of;

use a4emu_decoder::adreno::ir3::{Body, Cat6Op};
use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::player::Player;
use crate::describe::{
    Address, Constant, Draw, Key, Read, ShaderStage, Shaders, SurfacePlace, Texture, Tile,
};
use crate::selection::{Draws, Selection};
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Call, Engine, Flow, Silent, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;
use a4emu_support::options::{Shared, accepted};
use a4emu_support::status::{Failure, Status};

/// Maximum number of compared commands.
const MAX_COMMANDS: usize = 1 << 16;

/// Maximum size of the commands of a capture, in bytes (a rough value).
const MAX_KEPT: usize = 1 << 28;

/// Maximum number of runs.
const MAX_RUNS: usize = 1 << 22;

/// Cost of a look at a draw, in blocks of 16 bytes (a rough value).
const LOOK: u64 = 1 << 12;

/// Maximum number of bytes that are compared behind a pointer.
const MAX_POINTED: u32 = 1 << 16;

/// Whether the runs of a command for several tiles count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiles {
    /// All runs of a command count as one.
    Folded,
    /// Each run counts separately.
    Apart,
}

/// Memory that a command fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The range.
    pub read: Read,
    /// XXH3 of the bytes in the capture; 0 for rendered memory.
    pub hash: u64,
    /// Whether an earlier draw has rendered there, so the capture does not hold the bytes.
    pub is_rendered: bool,
}

/// A draw or dispatch, with its runs for all tiles.
#[derive(Clone, Debug)]
pub struct Command {
    /// The state of its first run that draws.
    pub draw: Draw,
    /// All runs that draw, by number and frame draw.
    pub runs: Vec<(u32, u32)>,
    /// Registers that were written since the command before, or whose value changed.
    pub registers: Vec<(u32, u32)>,
    /// The ranges that it fetches.
    pub fetched: Vec<Fetched>,
}

impl Command {
    /// Whether one of its runs is inside `selection`.
    pub fn is_inside(&self, selection: Selection) -> bool {
        self.runs.iter().any(|(number, frame)| selection.contains(self.draw.submit, *number, *frame))
    }

    /// Rough size in memory, in bytes.
    fn bytes(&self) -> usize {
        let of = |stage: &ShaderStage| {
            let slots = stage.textures.len() + stage.samplers.len() + stage.buffers.len();
            stage.constants.len() * 2 * size_of::<Constant>() + slots * 2 * size_of::<Texture>()
        };
        let stages: usize = self.draw.shaders.iter().map(of).sum();
        let inputs = self.draw.vertex_inputs.len() + self.fetched.len();
        size_of::<Self>()
            + stages
            + inputs * 2 * size_of::<Fetched>()
            + self.registers.len() * size_of::<[u32; 2]>()
    }

    /// Whether the command is only there to handle tiles.
    pub fn is_machinery(&self) -> bool {
        matches!(self.draw.pass, Some(Pass::Resolve | Pass::Restore | Pass::Binning))
    }
}

/// How a frame is divided into passes and tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Names of the passes.
    kinds: BTreeSet<&'static str>,
    /// Tiles of the passes in GMEM.
    tiles: BTreeSet<[u32; 4]>,
}

impl Passes {
    fn add(&mut self, draw: &Draw) {
        let Some(pass) = draw.pass else { return };
        self.kinds.insert(pass.name());
        if let (Pass::Gmem | Pass::Restore, Some(Tile { x, y, width, height })) = (pass, draw.tile) {
            self.tiles.insert([x, y, width, height]);
        }
    }

    /// A description of the passes.
    pub fn text(&self) -> String {
        let kinds: Vec<&str> = self.kinds.iter().copied().collect();
        match self.tiles.len() {
            0 => kinds.join(", "),
            1 => format!("{} in 1 tile", kinds.join(", ")),
            tiles => format!("{} in {tiles} tiles", kinds.join(", ")),
        }
    }
}

/// A capture's commands.
#[derive(Debug, Default)]
pub struct Side {
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// The passes of its frames.
    pub passes: Passes,
    /// Number of the chip.
    pub chip: u32,
    /// Draws that ran.
    pub draws: u32,
    /// Submits that ran.
    pub submits: u32,
    /// Number of runs without room.
    pub left_out: u64,
}

impl Side {
    /// Collects the commands of the capture of `player`.
    ///
    /// # Errors
    /// The call fails if the capture cannot be opened.
    pub fn of(player: &mut Player, tiles: Tiles, shared: &Shared) -> anyhow::Result<(Self, Status)> {
        let mut collector = Collector::new(tiles);
        let mut gpu = player.run(&mut collector, &mut Silent, shared)?;
        accepted(player.capture().name(), &gpu.report)?;
        let mut side = std::mem::take(&mut collector.side);
        (side.draws, side.submits) = (gpu.at.draws, gpu.at.submit);
        side.chip = gpu.chip.id;
        if side.left_out > 0 {
            let what = format!("there is no room to compare {} of its draws", side.left_out);
            gpu.cut(what);
        }
        Ok((side, shared.tell(&player.capture().name().display().to_string(), &gpu.report)))
    }

    /// The index of the command with this draw.
    ///
    /// # Errors
    /// The call fails if there is none.
    pub fn find(&self, draw: Draws) -> Result<usize, Failure> {
        let has =
            |command: &Command| command.runs.iter().any(|(number, frame)| draw.contains(*number, *frame));
        self.commands.iter().position(has).ok_or_else(|| Failure {
            status: Status::Usage,
            message: format!("a capture has no draw {draw} that draws; it has {} draws", self.draws),
        })
    }
}

/// An engine that collects the commands of a run.
struct Collector {
    tiles: Tiles,
    side: Side,
    shaders: Shaders,
    group: u32,
    known: HashMap<GpuAddress, usize>,
    /// Registers at the last command that was kept.
    registers: HashMap<u32, u32>,
    /// Addresses of buffers that were rendered to.
    rendered: HashSet<GpuAddress>,
    /// Time and hash of each range when it was last hashed.
    hashes: HashMap<(Address, u32), (u64, u64)>,
    /// Bytes that commands may still take.
    room: usize,
    /// Number of runs that may still be kept.
    runs: usize,
    skip: Skip,
}

impl Collector {
    fn new(tiles: Tiles) -> Self {
        let (side, shaders) = Default::default();
        let (known, registers, rendered, hashes, skip) = Default::default();
        let (room, runs) = (MAX_KEPT, MAX_RUNS);
        Self { tiles, side, shaders, group: 0, known, registers, rendered, hashes, room, runs, skip }
    }

    /// Keeps the command that begins with `draw`, if there is room.
    fn keep(&mut self, gpu: &mut Gpu, draw: Draw) {
        let reads = reads(&draw, gpu.sync());
        let fetched: Option<Vec<Fetched>> = reads.into_iter().map(|read| self.fetched(gpu, read)).collect();
        let Some(fetched) = fetched else { return self.side.left_out += 1 };
        let mut registers = Vec::new();
        for (offset, value) in gpu.regs.iter() {
            if self.registers.insert(offset, value) != Some(value) {
                registers.push((offset, value));
            }
        }
        self.note_rendered(gpu.sync(), &draw);
        let (key, runs) = (draw.key, vec![(draw.draw, draw.frame_draw)]);
        let command = Command { draw, runs, registers, fetched };
        match self.room.checked_sub(command.bytes()) {
            Some(room) if self.side.commands.len() < MAX_COMMANDS => {
                self.room = room;
                self.known.insert(key.packet, self.side.commands.len());
                self.side.commands.push(command);
            }
            _ => self.side.left_out += 1,
        }
    }

    /// The hash of `read`, computed again only after a write; none if the budget is used up.
    fn hash(&mut self, gpu: &mut Gpu, read: &Read) -> Option<u64> {
        let place = (read.address, read.bytes);
        match self.hashes.get(&place) {
            Some((time, hash)) if gpu.sync().memory().is_unchanged(place.0.gpu(), place.1, *time) => {
                Some(*hash)
            }
            _ => {
                let hash = hash(gpu, read)?;
                self.hashes.insert(place, (gpu.sync().memory().now(), hash));
                Some(hash)
            }
        }
    }

    fn fetched(&mut self, gpu: &mut Gpu, read: Read) -> Option<Fetched> {
        let buffer = gpu.sync().memory().buffer_at(read.address.gpu()).map(|(base, _)| base);
        let is_rendered = buffer.is_some_and(|base| self.rendered.contains(&base));
        let hash = if is_rendered { 0 } else { self.hash(gpu, &read)? };
        Some(Fetched { read, hash, is_rendered })
    }

    /// Adds a run to a command.
    fn add_run(&mut self, index: usize, draw: &Draw) {
        match (self.side.commands.get_mut(index), self.runs.checked_sub(1)) {
            (Some(command), Some(left)) => {
                self.runs = left;
                command.runs.push((draw.draw, draw.frame_draw));
            }
            _ => self.side.left_out += 1,
        }
    }

    fn note_rendered(&mut self, gpu: Synced<'_>, draw: &Draw) {
        let targets = draw.targets.iter().map(|target| target.place);
        let depth = draw.depth.iter().map(|depth| depth.place);
        let resolve = draw.resolve.iter().map(|resolve| SurfacePlace::Address(resolve.address));
        for place in targets.chain(depth).chain(resolve) {
            if let SurfacePlace::Address(address) = place {
                self.rendered.extend(gpu.memory().buffer_at(address.gpu()).map(|(base, _)| base));
            }
        }
    }
}

impl Engine for Collector {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if gpu.budget.take(Work::Copy16, LOOK) {
            self.look(gpu, call);
        }
        self.skip.run(gpu, call)
    }

    fn is_stale(&self, address: GpuAddress) -> bool {
        self.skip.is_stale(address)
    }

    fn mark_stale(&mut self, address: GpuAddress, bytes: u32) {
        self.skip.mark_stale(address, bytes);
    }
}

impl Collector {
    fn look(&mut self, gpu: &mut Gpu, call: &Call) {
        let key = Key::of(gpu);
        if key.group != self.group {
            self.group = key.group;
            self.known.clear();
        }
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.side.passes.add(&draw);
        let is_apart = self.tiles == Tiles::Apart;
        if draw.pass == Some(Pass::Binning) && !is_apart {
            return;
        }
        match self.known.get(&key.packet).filter(|_| !is_apart) {
            Some(index) => self.add_run(*index, &draw),
            None => self.keep(gpu, draw),
        }
    }
}

/// The hash of the bytes of `read`; none if the budget is used up.
pub fn hash(gpu: &mut Gpu, read: &Read) -> Option<u64> {
    let pieces = u64::from(read.bytes) / 16 + 1;
    gpu.budget.take(Work::Copy16, pieces).then(|| xxh3_64(&read.contents(gpu.sync().memory())))
}

/// The ranges that `draw` fetches, with the memory that its shaders load through pointers in constants.
pub fn reads(draw: &Draw, gpu: Synced<'_>) -> Vec<Read> {
    let mut reads = draw.reads(gpu.memory());
    for stage in draw.shaders.iter().filter(|stage| has_pointers(stage)) {
        for constant in &stage.constants {
            for (component, bits) in "xyzw".chars().zip(constant.bits) {
                if constant.components.contains(component) && gpu.memory().buffer_at(bits).is_some() {
                    let what = format!("memory at {} c{}.{component}", stage.name(), constant.index);
                    let bytes = gpu.memory().room(bits).min(MAX_POINTED);
                    reads.push(Read { what, address: Address::of(bits), bytes });
                }
            }
        }
    }
    reads
}

/// Whether the program of `stage` loads memory through registers, so that its constants may be pointers.
pub fn has_pointers(stage: &ShaderStage) -> bool {
    stage.shader.iter().any(|shader| {
        shader.words.iter().any(|word| match shader.isa.decode(*word).body {
            Body::Cat6(cat6) => cat6.op == Cat6Op::Ldg,
            _ => false,
        })
    })
}
