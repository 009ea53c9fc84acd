//! An independent walk through captures, which collects the data for the questions in lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use a4emu_decoder::a4xx::pm4::PACKETS;
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::adreno::ir3::Instr;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use a4emu_inspect::describe::{Draw, Shaders};
use a4emu_rules::found_in;

/// A write of a register.
pub struct Write {
    pub name: String,
    pub value: u32,
    /// The value before, if the walk has seen one.
    pub previous: Option<u32>,
    /// Capture and number of the command that the write precedes.
    pub command: Option<(usize, u32)>,
}

/// A texture of a draw. The draw is identified by capture and number.
pub struct Sampled {
    pub format: String,
    pub tiling: &'static str,
    pub width: u32,
    pub draw: (usize, u32),
}

/// The data of all captures.
#[derive(Default)]
pub struct Walk {
    pub writes: Vec<Write>,
    /// TESS_MODE of patches, and the address, for draws with a PC_TESSFACTOR_ADDR.
    pub tessellated: Vec<(Option<String>, u32)>,
    /// Operation and stage, once for each occurrence in a program of a capture.
    pub ops: Vec<(String, &'static str)>,
    /// Opcode, name, capture and number of dwords of each command.
    pub packets: Vec<(u8, Option<&'static str>, usize, usize)>,
    /// Number of instructions of each fragment shader.
    pub instructions: BTreeMap<String, usize>,
    /// The fragment shader of each draw that has one.
    pub drawn: Vec<String>,
    pub textures: Vec<Sampled>,
    /// Severity, rule, count and capture.
    pub findings: Vec<(String, &'static str, u64, usize)>,
    /// Number of the current capture.
    capture: usize,
    /// Number of writes before the last draw.
    drawn_writes: usize,
    registers: BTreeMap<u32, u32>,
    programs: BTreeSet<(&'static str, u64)>,
    shaders: Shaders,
}

impl Walk {
    /// Walks through the capture at `path`.
    pub fn through(&mut self, path: &Path) {
        let bytes = fs::read(path).unwrap();
        self.capture += 1;
        self.drawn_writes = self.writes.len();
        self.registers.clear();
        self.programs.clear();
        let sections = Sections::new(&bytes[..]).unwrap();
        Playback::default().run(sections, &mut Skip::default(), self);
        for finding in found_in(&bytes, Budget::default()).0.findings() {
            let rule = finding.broken.rule.rule();
            self.findings.push((rule.severity.to_string(), rule.id, finding.count, self.capture));
        }
    }

    fn program(&mut self, stage: &'static str, hash: u64, words: &[u64]) {
        if self.programs.insert((stage, hash)) {
            let end = words.iter().position(|word| Instr::decode(*word).is_end());
            for word in &words[..end.map_or(words.len(), |end| end + 1)] {
                let op = Instr::decode(*word).body.mnemonic();
                self.ops.push((op.expect("drivers write instructions").to_owned(), stage));
            }
        }
    }
}

impl Observer for Walk {
    fn packet(&mut self, _: &mut Running<'_>, packet: &Packet<'_>) {
        if let Packet::Command { opcode, payload, .. } = *packet {
            let name = PACKETS.row(opcode).map(|row| row.name);
            self.packets.push((opcode, name, self.capture, payload.len()));
        }
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        let value = gpu.regs.read(offset);
        let previous = self.registers.insert(offset, value);
        self.writes.push(Write { name: REGISTERS.name(offset).to_string(), value, previous, command: None });
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let command = Some((self.capture, call.frame_draw()));
        self.writes[self.drawn_writes..].iter_mut().for_each(|write| write.command = command);
        self.drawn_writes = self.writes.len();
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let factor = REGISTERS.by_name("PC_TESSFACTOR_ADDR").expect("a register");
        if let Some(address) = self.registers.get(&factor) {
            let mode = match call {
                Call::Draw(call) if initiator(call).patch_vertices().is_some() => {
                    let mode = format!("{:?}", initiator(call).TESS_MODE());
                    // A value without a name is a number.
                    Some(mode.trim_start_matches("Other(").trim_end_matches(')').to_owned())
                }
                _ => None,
            };
            self.tessellated.push((mode, *address));
        }
        for stage in &draw.shaders {
            if let Some(shader) = &stage.shader {
                self.program(stage.name(), shader.hash, &shader.words);
                if stage.name() == "FS" {
                    let hash = format!("{:016x}", shader.hash);
                    self.instructions.insert(hash.clone(), shader.words.len());
                    self.drawn.push(hash);
                }
            }
            for texture in &stage.textures {
                let draw = (self.capture, call.number());
                let (format, tiling, width) = (texture.format.clone(), texture.tiling, texture.width);
                self.textures.push(Sampled { format, tiling, width, draw });
            }
        }
        Flow::Continue
    }
}
