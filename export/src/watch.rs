//! An observer of a run that makes rows of the tables.

use a4emu_decoder::adreno::address::Address;
use std::collections::BTreeMap;
use std::mem;

use a4emu_decoder::a4xx::enums::TessMode;
use a4emu_decoder::a4xx::pm4::VGT_DRAW_INITIATOR_A4XX;
use a4emu_decoder::adreno::ir3::Instr;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::generation::{DEFAULT, Framing};
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::settled::{Running, Synced};
use a4emu_inspect::decode::Primitive;
use a4emu_inspect::decode::comm;
use a4emu_inspect::describe::{Draw as Inspected, Shader, ShaderStage, Shaders, Texture as Seen, Written};
use a4emu_rules::Finding;
use anyhow::Result;
use hashbrown::{HashMap, HashSet};

use crate::rows::{Command, Draw, Found, Op, Program, Stored, Submit, Texture, Write};
use crate::table::Tables;

/// Largest number of register writes that wait for their draw.
const MAX_WAITING: usize = 1 << 18;

/// A register write whose frame draw is not known yet.
struct Waiting {
    submit: u32,
    draw: u32,
    address: u64,
    register: u32,
    value: u32,
    previous: Option<u32>,
}

/// Observes a run and adds rows to the tables.
pub struct Watch {
    tables: Tables,
    shaders: Shaders,
    /// Stage and hash of the programs that are in the tables.
    programs: HashSet<(&'static str, u64)>,
    /// Names of the registers seen so far.
    names: HashMap<u32, String>,
    /// The registers of the chip's generation.
    registers: &'static RegisterTable,
    waiting: Vec<Waiting>,
    process: String,
    /// Number of packets so far.
    pub packets: u64,
    /// Number of register writes in the table, without the waiting ones.
    written: u64,
    /// The first error of writing.
    problem: Result<()>,
}

impl Watch {
    /// A watch that adds rows to `tables`.
    pub fn new(tables: Tables) -> Self {
        Self {
            tables,
            shaders: Shaders::default(),
            programs: HashSet::new(),
            names: HashMap::new(),
            registers: DEFAULT.registers,
            waiting: Vec::new(),
            process: String::new(),
            packets: 0,
            written: 0,
            problem: Ok(()),
        }
    }

    /// Number of register writes so far.
    pub fn writes(&self) -> u64 {
        self.written + self.waiting.len() as u64
    }

    /// Writes the last rows and returns the tables.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(mut self) -> Result<Tables> {
        mem::replace(&mut self.problem, Ok(()))?;
        self.write(None)?;
        Ok(self.tables)
    }

    /// Runs `work`, unless an earlier call failed. After an error the run is stopped.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Flow {
        if self.problem.is_ok() {
            self.problem = work(self);
        }
        if self.problem.is_ok() { Flow::Continue } else { Flow::Stop }
    }

    /// Adds the waiting writes to their table, with `frame_draw`.
    fn write(&mut self, frame_draw: Option<u32>) -> Result<()> {
        for waiting in self.waiting.drain(..) {
            let Waiting { submit, draw, address, register, value, previous } = waiting;
            let name =
                self.names.entry(register).or_insert_with(|| self.registers.name(register).to_string());
            let number = self.written;
            self.written += 1;
            self.tables.put(Write {
                number,
                submit,
                draw,
                frame_draw,
                address,
                register,
                name,
                value,
                previous,
            })?;
        }
        Ok(())
    }

    fn draw(&mut self, gpu: Synced<'_>, call: &Call) -> Result<()> {
        self.write(Some(call.frame_draw()))?;
        let draw = Inspected::of(gpu, call, &mut self.shaders);
        self.call(&draw, gpu.at.address, call)?;
        for stage in &draw.shaders {
            if let Some(shader) = &stage.shader {
                self.program(&draw, stage, shader)?;
            }
            for texture in &stage.textures {
                self.texture(&draw, stage, texture)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, draw: &Inspected, packet: Address, call: &Call) -> Result<()> {
        let (kind, initiator, count, instances) = match call {
            Call::Draw(call) => ("draw", Some(call.initiator), Some(call.count), Some(call.instances)),
            Call::Uncounted(call) => ("draw", call.initiator, None, call.instances),
            Call::Dispatch(_) => ("dispatch", None, None, None),
            Call::Blit(_) => ("blit", None, None, None),
        };
        let primitive = initiator.map(|initiator| Primitive::of(initiator).to_string());
        let tess_mode = initiator.and_then(tess_mode);
        let groups = if let Call::Dispatch(call) = call { &call.groups[..] } else { &[] };
        let hashes: Vec<_> = draw.shaders.iter().map(|stage| (stage.name(), hash(stage))).collect();
        let hash =
            |name| hashes.iter().find(|(stage, _)| *stage == name).and_then(|(_, hash)| hash.as_deref());
        self.tables.put(Draw {
            submit: draw.submit,
            draw: draw.draw,
            frame_draw: draw.frame_draw,
            address: packet.get(),
            kind,
            pass: call.pass().map(a4emu_gpu::pass::Pass::name),
            primitive: primitive.as_deref(),
            tess_mode: tess_mode.as_deref(),
            count,
            instances,
            groups,
            writes: self.written,
            vs: hash("VS"),
            hs: hash("HS"),
            ds: hash("DS"),
            gs: hash("GS"),
            fs: hash("FS"),
            cs: hash("CS"),
        })?;
        Ok(())
    }

    /// Adds a program when a stage first uses it.
    fn program(&mut self, draw: &Inspected, stage: &ShaderStage, shader: &Shader) -> Result<()> {
        if !self.programs.insert((stage.name(), shader.hash)) {
            return Ok(());
        }
        let (hash, stage) = (written(shader.hash), stage.name());
        let (instructions, text) = (shader.words.len() as u32, shader.text());
        self.tables.put(Program { hash: &hash, stage, draw: draw.draw, instructions, text: &text })?;
        for (op, count) in ops(shader) {
            self.tables.put(Op { hash: &hash, stage, op, count })?;
        }
        Ok(())
    }

    fn texture(&mut self, draw: &Inspected, stage: &ShaderStage, seen: &Seen) -> Result<()> {
        self.tables.put(Texture {
            submit: draw.submit,
            draw: draw.draw,
            frame_draw: draw.frame_draw,
            stage: stage.name(),
            slot: seen.slot,
            samplers: &seen.samplers,
            address: seen.address.0,
            bytes: seen.bytes,
            kind: &seen.kind,
            format: &seen.format,
            width: seen.width,
            height: seen.height,
            depth: seen.depth,
            levels: seen.levels,
            pitch: seen.pitch,
            layer_bytes: seen.layer_bytes,
            tiling: seen.tiling,
            srgb: seen.srgb,
            swap: &seen.swap,
            swizzle: &seen.swizzle,
            unsupported: seen.unsupported.as_deref(),
        })?;
        Ok(())
    }
}

/// The tessellation mode by name, or as a number; `None` unless the primitives are patches.
fn tess_mode(initiator: u32) -> Option<String> {
    let initiator = VGT_DRAW_INITIATOR_A4XX(initiator);
    initiator.patch_vertices()?;
    let mode = initiator.TESS_MODE().to_bits();
    Some(TessMode::TABLE.name_of(mode).map_or_else(|| mode.to_string(), str::to_owned))
}

/// A hash in the form that all tables use.
fn written(hash: u64) -> String {
    format!("{hash:016x}")
}

fn hash(stage: &ShaderStage) -> Option<String> {
    stage.shader.as_ref().map(|shader| written(shader.hash))
}

/// The operations of a program up to its end, by name, with their numbers.
fn ops(shader: &Shader) -> Vec<(Option<&'static str>, u32)> {
    let mut counts = BTreeMap::new();
    for word in &shader.words {
        let instr = Instr::decode(*word);
        *counts.entry(instr.body.mnemonic()).or_insert(0) += 1;
        if instr.is_end() {
            break;
        }
    }
    counts.into_iter().collect()
}

/// Adds a row for what the command with this number, or a packet behind it, stored.
pub fn put_stored(tables: &mut Tables, frame_draw: u32, written: &Written) -> Result<()> {
    let words: Vec<u64> = written.words.iter().map(|word| word.address.0).collect();
    // A list has no nulls: one unknown value leaves it empty.
    let [before, after] = [
        written.words.iter().map(|word| word.before).collect::<Option<Vec<u32>>>().unwrap_or_default(),
        written.words.iter().map(|word| word.after).collect::<Option<Vec<u32>>>().unwrap_or_default(),
    ];
    tables.put(Stored {
        frame_draw,
        what: &written.what,
        by: written.by.as_deref(),
        address: written.address.0,
        bytes: written.bytes,
        changed: written.changed,
        words: &words,
        before: &before,
        after: &after,
        more: written.more,
    })?;
    Ok(())
}

/// Adds a finding of `validate` to its table.
pub fn put_finding(tables: &mut Tables, finding: &Finding) -> Result<()> {
    let (broken, place) = (&finding.broken, finding.place);
    let rule = broken.rule.rule();
    let instruction = broken.instruction.as_ref();
    let hash = instruction.map(|at| written(at.program));
    tables.put(Found {
        rule: rule.id,
        severity: &rule.severity.to_string(),
        confidence: &rule.confidence.to_string(),
        what: &broken.what,
        count: finding.count,
        submit: place.submit,
        draw: place.draw,
        frame_draw: place.frame_draw,
        address: place.address,
        pass: place.pass.name(),
        stage: instruction.map(|at| at.stage.name()),
        hash: hash.as_deref(),
        instruction: instruction.map(|at| at.index),
        text: instruction.map(|at| &*at.text),
    })?;
    Ok(())
}

/// The type of packets that write registers.
const fn type_of_writes(framing: Framing) -> u32 {
    match framing {
        Framing::Types0To3 => 0,
        Framing::Types4And7 => 4,
    }
}

impl Observer for Watch {
    fn process(&mut self, command: &str) {
        comm(command).clone_into(&mut self.process);
    }

    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        let process = mem::take(&mut self.process);
        let (first_draw, first_write) = (gpu.at.draws, self.writes());
        let submit = gpu.at.submit;
        let address = address.get();
        let row = Submit { submit, process: &process, address, dwords, first_draw, first_write };
        let flow = self.attempt(|watch| Ok(watch.tables.put(row)?));
        self.process = process;
        flow
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let generation = gpu.chip.generation();
        let (kind, opcode, dwords, payload) = match *packet {
            Packet::Registers { values, .. } => {
                (type_of_writes(generation.framing), None, values.len(), &[][..])
            }
            Packet::TwoRegisters { values, .. } => (1, None, values.len(), &[][..]),
            Packet::Filler => (2, None, 0, &[][..]),
            Packet::Command { opcode, payload, .. } => {
                (generation.framing.command_type(), Some(opcode), payload.len(), payload)
            }
        };
        self.registers = generation.registers;
        let number = self.packets;
        self.packets += 1;
        let row = Command {
            number,
            submit: gpu.at.submit,
            draw: gpu.at.draws,
            address: gpu.at.address.get(),
            depth: gpu.at.depth,
            repeated: gpu.at.repeated,
            kind,
            opcode: opcode.map(u32::from),
            name: opcode.and_then(|opcode| generation.packets.row(opcode)).map(|row| row.name),
            dwords: dwords as u32,
            payload,
        };
        self.attempt(|watch| Ok(watch.tables.put(row)?));
    }

    fn register(&mut self, gpu: &mut Running<'_>, register: u32, previous: Option<u32>) {
        if self.waiting.len() == MAX_WAITING {
            self.attempt(|watch| watch.write(None));
        }
        let (submit, draw, address) = (gpu.at.submit, gpu.at.draws, gpu.at.address.get());
        let value = gpu.regs.read(register);
        self.waiting.push(Waiting { submit, draw, address, register, value, previous });
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        self.attempt(|watch| watch.draw(gpu.sync(), call))
    }
}
