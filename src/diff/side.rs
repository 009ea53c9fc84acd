//! The commands of a capture, as a comparison needs them.

use std::collections::BTreeSet;
use std::path::Path;

use a4emu_decoder::isa::ir3::{Body, Cat6Op, Instr};
use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::Args;
use crate::cp::{Call, Flow, Observer, Skip};
use crate::gpu::Gpu;
use crate::inspect::{Address, Capture, Draw, Key, Place, Read, ShaderStage, Shaders, Tile};
use crate::options::{Shared, open_capture};
use crate::pass::Pass;
use crate::selection::{Draws, Selection};
use crate::status::{Failure, Status};

/// Commands that are compared at most.
const MAX_COMMANDS: usize = 1 << 16;

/// Bytes of memory of a capture that are looked at: a few seconds.
const MAX_LOOKED_AT: u64 = 1 << 34;

/// Bytes of memory behind a pointer that are compared.
const MAX_POINTED: u32 = 1 << 16;

/// Whether the runs of a command for several tiles are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiles {
    /// They are.
    Folded,
    /// Each is for itself.
    Apart,
}

/// Memory that a command fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Where.
    pub read: Read,
    /// XXH3 of what is there.
    pub hash: u64,
    /// An earlier draw has rendered there: what is there follows from that.
    pub is_rendered: bool,
}

/// A draw or dispatch, with its runs for all tiles.
#[derive(Clone, Debug)]
pub struct Command {
    /// The first run that draws.
    pub draw: Draw,
    /// All runs that draw, by number and frame draw.
    pub runs: Vec<(u32, u32)>,
    /// Registers that were written since the command before, or hold something else.
    pub registers: Vec<(u32, u32)>,
    /// What it fetches.
    pub fetched: Vec<Fetched>,
}

impl Command {
    /// Whether one of its runs is inside.
    pub fn is_inside(&self, selection: Selection) -> bool {
        self.runs.iter().any(|(number, frame)| selection.contains(self.draw.submit, *number, *frame))
    }

    /// Whether it is there because of how the frame is cut in tiles.
    pub fn is_machinery(&self) -> bool {
        matches!(self.draw.pass, Some(Pass::Resolve | Pass::Restore | Pass::Binning))
    }
}

/// How the frame was put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Those that there are.
    kinds: BTreeSet<&'static str>,
    /// Tiles of the passes in tile memory.
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

    /// In words.
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
    /// In order.
    pub commands: Vec<Command>,
    /// How it was put together.
    pub passes: Passes,
    /// Number of the chip.
    pub chip: u32,
    /// Draws that ran.
    pub draws: u32,
    /// Submits that ran.
    pub submits: u32,
    /// Commands for which there was no room.
    pub left_out: u64,
}

impl Side {
    /// Of `capture`, which is called `name`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn of(
        capture: &Capture,
        name: &Path,
        tiles: Tiles,
        args: &Args,
        shared: &Shared,
    ) -> anyhow::Result<(Self, Status)> {
        let mut playback = args.limits.playback(capture.path());
        let mut collector = Collector::new(tiles);
        playback.run(open_capture(capture.path(), shared)?, &mut Skip::default(), &mut collector);
        let mut side = std::mem::take(&mut collector.side);
        (side.draws, side.submits) = (playback.gpu.at.draws, playback.gpu.at.submit);
        side.chip = playback.gpu.chip.id;
        let name = name.display().to_string();
        if collector.left == 0 {
            shared.warn(format_args!("{name}: what later draws fetch is not compared: it is too much"));
        }
        if side.left_out > 0 {
            shared.warn(format_args!("{name}: its last {} draws are not compared", side.left_out));
        }
        Ok((side, playback.gpu.report.tell(&name, shared)))
    }

    /// The command that has this draw.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, draw: Draws) -> Result<usize, Failure> {
        let has =
            |command: &Command| command.runs.iter().any(|(number, frame)| draw.contains(*number, *frame));
        self.commands.iter().position(has).ok_or_else(|| Failure {
            status: Status::Usage,
            message: format!("a capture has no draw {draw} that draws; it has {} draws", self.draws),
        })
    }
}

/// Watches a run and keeps its commands.
struct Collector {
    tiles: Tiles,
    side: Side,
    shaders: Shaders,
    group: u32,
    known: HashMap<u32, usize>,
    /// Registers as they were at the last command that was kept.
    registers: HashMap<u32, u32>,
    /// Buffers that were rendered to.
    rendered: HashSet<u32>,
    /// When memory was looked at, and what hash it had.
    hashes: HashMap<(u32, u32), (u64, u64)>,
    /// Bytes that may still be looked at.
    left: u64,
}

impl Collector {
    fn new(tiles: Tiles) -> Self {
        let (side, shaders) = Default::default();
        let (known, registers, rendered, hashes) = Default::default();
        Self { tiles, side, shaders, group: 0, known, registers, rendered, hashes, left: MAX_LOOKED_AT }
    }

    fn keep(&mut self, gpu: &Gpu, draw: Draw) {
        let reads = if self.left == 0 { Vec::new() } else { reads(&draw, gpu) };
        let fetched = reads.into_iter().map(|read| self.fetched(gpu, read)).collect();
        let mut registers = Vec::new();
        for (offset, value) in gpu.regs.iter() {
            if self.registers.insert(offset, value) != Some(value) {
                registers.push((offset, value));
            }
        }
        self.note_rendered(gpu, &draw);
        let runs = vec![(draw.draw, draw.frame_draw)];
        self.side.commands.push(Command { draw, runs, registers, fetched });
    }

    /// The hash of what `read` names, made again only when it has been written.
    fn hash(&mut self, gpu: &Gpu, read: &Read) -> u64 {
        let place = (read.address.0, read.bytes);
        match self.hashes.get(&place) {
            Some((time, hash)) if gpu.mem.is_unchanged(place.0, place.1, *time) => *hash,
            _ => {
                self.left = self.left.saturating_sub(read.bytes.into());
                let hash = xxh3_64(&read.contents(&gpu.mem));
                self.hashes.insert(place, (gpu.mem.now(), hash));
                hash
            }
        }
    }

    fn fetched(&mut self, gpu: &Gpu, read: Read) -> Fetched {
        let buffer = gpu.mem.buffer_at(read.address.0).map(|(base, _)| base);
        let is_rendered = buffer.is_some_and(|base| self.rendered.contains(&base));
        let hash = if is_rendered { 0 } else { self.hash(gpu, &read) };
        Fetched { read, hash, is_rendered }
    }

    fn note_rendered(&mut self, gpu: &Gpu, draw: &Draw) {
        let targets = draw.targets.iter().map(|target| target.place);
        let depth = draw.depth.iter().map(|depth| depth.place);
        let resolve = draw.resolve.iter().map(|resolve| Place::Address(resolve.address));
        for place in targets.chain(depth).chain(resolve) {
            if let Place::Address(Address(address)) = place {
                self.rendered.extend(gpu.mem.buffer_at(address).map(|(base, _)| base));
            }
        }
    }
}

impl Observer for Collector {
    fn call(&mut self, gpu: &Gpu, call: &Call) -> Flow {
        let key = Key::of(gpu);
        if key.group != self.group {
            self.group = key.group;
            self.known.clear();
        }
        let draw = Draw::of(gpu, call, &mut self.shaders);
        self.side.passes.add(&draw);
        let is_apart = self.tiles == Tiles::Apart;
        if draw.pass == Some(Pass::Binning) && !is_apart {
            return Flow::Continue;
        }
        let known = self.known.get(&key.packet).filter(|_| !is_apart);
        if let Some(command) = known.and_then(|index| self.side.commands.get_mut(*index)) {
            command.runs.push((draw.draw, draw.frame_draw));
        } else if self.side.commands.len() < MAX_COMMANDS {
            self.known.insert(key.packet, self.side.commands.len());
            self.keep(gpu, draw);
        } else {
            self.side.left_out += 1;
        }
        Flow::Continue
    }
}

/// What `draw` fetches, what its shaders load through pointers in constants included.
pub fn reads(draw: &Draw, gpu: &Gpu) -> Vec<Read> {
    let mut reads = draw.reads(&gpu.mem);
    for stage in draw.shaders.iter().filter(|stage| has_pointers(stage)) {
        for constant in &stage.constants {
            for (component, bits) in "xyzw".chars().zip(constant.bits) {
                if constant.components.contains(component) && gpu.mem.buffer_at(bits).is_some() {
                    let what = format!("memory at {} c{}.{component}", stage.name(), constant.index);
                    let bytes = gpu.mem.room(bits).min(MAX_POINTED);
                    reads.push(Read { what, address: Address(bits), bytes });
                }
            }
        }
    }
    reads
}

/// Whether the program of `stage` loads from memory through registers, so that its constants may be pointers.
pub fn has_pointers(stage: &ShaderStage) -> bool {
    let words = stage.shader.iter().flat_map(|shader| &shader.words);
    words.map(|word| Instr::decode(*word).body).any(|body| match body {
        Body::Cat6(cat6) => cat6.op == Cat6Op::Ldg,
        _ => false,
    })
}
