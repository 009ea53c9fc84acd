//! `replay --coverage FILE`: counts which parts of the chip a run uses, and adds them to the counts of
//! earlier runs.
//!
//! The file is one JSON object (docs/schema.md). It has a count for each packet, register, enumerator,
//! operation and state. An entry that the tables know and that no run used has the count 0. So the file also
//! shows what is missing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Debug;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::a6xx::A6XX;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::registers::RegRef;
use a4emu_decoder::bits::value::{FieldValue, Value};
use a4emu_decoder::bits::{Certainty, FieldRow, Kind};
use a4emu_decoder::generation::{DEFAULT, Generation};
use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::describe::{Shader, Shaders, a6xx};
use a4emu_gpu::a4xx::sp::code;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::settled::Running;
use a4emu_support::folders::read_bytes;
use a4emu_support::out_file::{OutFile, Turn};

/// Maximum size of a coverage file of earlier runs, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Cost of a name that is made for a register, word or packet, in blocks of 16 bytes (a rough value).
const NAMED: u64 = 4;

/// Counts of one kind of thing, by name.
pub type Counts = BTreeMap<String, u64>;

/// The packets, registers, enumerators, operations and states that runs used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Used {
    /// Type-3 packets, by name.
    packets: Counts,
    /// Writes of registers. The elements of an array share one count.
    registers: Counts,
    /// Enumerators written to registers and descriptors: `RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS`.
    enumerators: Counts,
    /// Programs that contain an operation, alone and with each flag or modifier: `FS mad.f32 (sat)`.
    ops: Counts,
    /// Draws by pass and primitive type, dispatches, and loaded blocks of state.
    states: Counts,
}

/// An observer that counts what a run uses.
#[derive(Default)]
pub struct Coverage {
    used: Used,
    /// The generation of the chip; none before the first packet.
    generation: Option<&'static Generation>,
    shaders: Shaders,
    /// Programs whose operations are counted already.
    programs: HashSet<(usize, u64)>,
}

/// The names of all registers and fields whose name or place is inferred. An array has one entry.
pub fn inferred() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for row in REGISTERS.rows() {
        let reg = RegRef { row, index: 0 };
        let name = array_name(reg);
        let fields = row.fields.iter().filter(|field| field.certainty == Certainty::Inferred);
        names.extend(fields.map(|field| format!("{name}.{}", field.name)));
        if reg.certainty() == Certainty::Inferred {
            names.insert(name);
        }
    }
    names
}

/// The names of the registers of a generation. An array has one.
fn names_of(generation: &'static Generation) -> impl Iterator<Item = String> {
    generation.registers.rows().map(|row| array_name(RegRef { row, index: 0 }))
}

/// The name of a register; for an element of an array, the name of the whole array.
fn array_name(reg: RegRef) -> String {
    let RegRef { row, .. } = reg;
    match (row.len, row.sub) {
        (1, "") => row.name.to_owned(),
        (_, "") => format!("{}[]", row.name),
        (_, sub) => format!("{}[].{sub}", row.name),
    }
}

fn count(counts: &mut Counts, name: String) {
    *counts.entry(name).or_default() += 1;
}

impl Coverage {
    /// Counts the enumerators that `word` holds.
    fn enumerators(&mut self, word_name: &str, fields: &'static [FieldRow], word: u32) {
        for row in fields.iter().filter(|row| matches!(row.kind, Kind::Enum(_))) {
            let value = FieldValue { row, raw: row.raw(word) }.value();
            if let Value::Name(value) = value {
                count(&mut self.used.enumerators, format!("{word_name}.{}={value}", row.name));
            }
        }
    }

    /// Counts each operation of a program once.
    fn program(&mut self, stage: &str, shader: &Shader) {
        let lines = shader.words.iter().zip(shader.lines());
        let before_end = lines.take_while(|(word, _)| !shader.isa.decode(**word).is_end());
        let found: HashSet<String> = before_end.flat_map(|(_, line)| signatures(&line)).collect();
        found.into_iter().for_each(|op| count(&mut self.used.ops, format!("{stage} {op}")));
    }

    /// Counts what the programs of a call of an A6xx name, whose descriptors are in memory.
    fn call_a6xx(&mut self, gpu: &mut Running<'_>, call: &Call) {
        for running in a6xx::running(gpu.sync(), call, &mut self.shaders) {
            for (rows, words) in &running.descriptors {
                gpu.budget.observe(Work::Text16, NAMED * words.len() as u64);
                for (row, word) in rows.iter().zip(words) {
                    self.enumerators(row.name, row.fields, *word);
                }
            }
            if self.programs.insert((running.stage as usize, running.shader.hash)) {
                self.program(running.stage.name(), &running.shader);
            }
        }
    }

    /// The counts of the run.
    pub fn used(self) -> Used {
        self.used.with_known(self.generation.unwrap_or(DEFAULT))
    }

    /// Adds the counts of the file that `out` replaces, if it exists, and writes the sum.
    ///
    /// # Errors
    /// The call fails if the existing file holds something else (it stays as it is), or on I/O errors.
    pub fn write(self, mut out: OutFile) -> anyhow::Result<()> {
        let mut used = self.used();
        let path = out.path();
        // Other processes that add to this file wait.
        let _turn = Turn::at(path).with_context(|| format!("cannot write {}", path.display()))?;
        if path != Path::new("-") && path.exists() {
            used.add(read(path).with_context(|| format!("{} holds no coverage", path.display()))?);
        }
        serde_json::to_writer_pretty(&mut out, &used)?;
        writeln!(out)?;
        out.finish()
    }
}

fn read(path: &Path) -> anyhow::Result<Used> {
    Ok(serde_json::from_slice(&read_bytes(File::open(path)?, MAX_BYTES)?)?)
}

impl Used {
    /// The generation whose tables know most of the registers and packets that were met.
    pub fn generation(&self) -> &'static Generation {
        let known = |generation: &'static Generation| {
            let registers: HashSet<String> = names_of(generation).collect();
            let is_known =
                |name: &String| registers.contains(name) || generation.packets.by_name(name).is_some();
            let names = self.registers.iter().chain(&self.packets);
            names.filter(|(name, met)| **met > 0 && is_known(name)).count()
        };
        // The last of equals is taken, so the default generation stands at the end.
        let others = Generation::all().filter(|generation| generation.number != DEFAULT.number);
        others.chain([DEFAULT]).max_by_key(|generation| known(generation)).unwrap_or(DEFAULT)
    }

    /// Adds an entry with the count 0 for everything that the tables of `generation` know.
    #[must_use]
    pub fn with_known(mut self, generation: &Generation) -> Self {
        fn none(counts: &mut Counts, name: String) {
            counts.entry(name).or_default();
        }
        generation.packets.rows().iter().for_each(|row| none(&mut self.packets, row.name.to_owned()));
        for row in generation.registers.rows() {
            let name = array_name(RegRef { row, index: 0 });
            for field in row.fields {
                let Kind::Enum(table) = field.kind else { continue };
                let named = table.values.iter().map(|(_, value)| format!("{name}.{}={value}", field.name));
                named.for_each(|name| none(&mut self.enumerators, name));
            }
            none(&mut self.registers, name);
        }
        self
    }

    /// Removes all entries with the count 0.
    #[must_use]
    pub fn met(mut self) -> Self {
        let Self { packets, registers, enumerators, ops, states } = &mut self;
        for counts in [packets, registers, enumerators, ops, states] {
            counts.retain(|_, times| *times > 0);
        }
        self
    }

    /// The five kinds of counts, each with its name.
    pub fn kinds(&self) -> [(&'static str, &Counts); 5] {
        let Self { packets, registers, enumerators, ops, states } = self;
        [
            ("packets", packets),
            ("registers", registers),
            ("enumerators", enumerators),
            ("ops", ops),
            ("states", states),
        ]
    }

    fn add(&mut self, earlier: Self) {
        let Self { packets, registers, enumerators, ops, states } = earlier;
        let kinds = [
            (&mut self.packets, packets),
            (&mut self.registers, registers),
            (&mut self.enumerators, enumerators),
            (&mut self.ops, ops),
            (&mut self.states, states),
        ];
        for (counts, earlier) in kinds {
            for (name, met) in earlier {
                let count = counts.entry(name).or_default();
                *count = count.saturating_add(met);
            }
        }
    }
}

/// The operation of a line of disassembly, alone and with each of its flags and modifiers.
fn signatures(line: &str) -> Vec<String> {
    let (flags, rest) = parenthesised(line);
    let op = rest.split([' ', '(']).next().unwrap_or_default();
    let operands = rest.split_once(' ').map_or("", |(_, operands)| operands);
    let modifiers =
        operands.split('(').skip(1).filter_map(|part| part.split_once(')')).map(|(inside, _)| inside);
    let flags = flags.into_iter().chain(modifiers).map(|flag| match flag.strip_prefix("rpt") {
        Some(_) => "rpt",
        None => flag,
    });
    [op.to_owned()].into_iter().chain(flags.map(|flag| format!("{op} ({flag})"))).collect()
}

/// Splits off the parts in parentheses at the start of a line. Returns these parts and the rest.
fn parenthesised(line: &str) -> (Vec<&str>, &str) {
    let (mut flags, mut rest) = (Vec::new(), line.trim_start());
    while let Some((flag, behind)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        flags.push(flag);
        rest = behind.trim_start();
    }
    (flags, rest)
}

/// The name of an enum's variant, as in the source code.
fn name(value: impl Debug) -> String {
    format!("{value:?}")
}

impl Observer for Coverage {
    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        gpu.budget.observe(Work::Text16, NAMED);
        if let Packet::Command { opcode, .. } = packet {
            let generation = gpu.chip.generation();
            self.generation = Some(generation);
            let row = generation.packets.row(*opcode);
            let name = row.map_or_else(|| format!("opcode {opcode:#04x}"), |row| row.name.to_owned());
            count(&mut self.used.packets, name);
        }
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        gpu.budget.observe(Work::Text16, NAMED);
        let Some(reg) = gpu.chip.generation().registers.lookup(offset) else {
            return count(&mut self.used.registers, format!("UNKNOWN_{offset:04X}"));
        };
        let name = array_name(reg);
        self.enumerators(&name, reg.fields(), gpu.regs.read(offset));
        count(&mut self.used.registers, name);
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        if !load.words().is_empty() {
            gpu.budget.observe(Work::Text16, NAMED * load.data.len() as u64);
        }
        count(&mut self.used.states, format!("loads {}", name(load.kind)));
        let rows = load.words();
        for (row, word) in rows.iter().cycle().zip(load.data) {
            self.enumerators(row.name, row.fields, *word);
        }
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let state = match call {
            Call::Draw(draw) => format!("draws {} {}", draw.pass, name(draw.topology)),
            Call::Dispatch(_) => "dispatches".to_owned(),
            Call::Uncounted(draw) => format!("draws of {}", draw.packet),
            Call::Blit(blit) => format!("blits of {}", blit.name()),
        };
        count(&mut self.used.states, state);
        if gpu.chip.generation().number == A6XX.number {
            self.call_a6xx(gpu, call);
            return Flow::Continue;
        }
        for stage in call.stages(gpu.chip, &gpu.regs) {
            let Ok(words) = code(gpu.sync().view(), stage) else { continue };
            let shader = self.shaders.get(&words, &gpu.budget);
            if self.programs.insert((stage as usize, shader.hash)) {
                self.program(stage.name(), &shader);
            }
        }
        Flow::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_counts_alone_and_with_each_flag_and_modifier() {
        let of = |line: &str| signatures(line).join(", ");
        assert_eq!(
            of("(ss)(rpt2)mad.f32 r0.x, (neg)r0.x, (r)c0.x, r1.x"),
            "mad.f32, mad.f32 (ss), mad.f32 (rpt), mad.f32 (neg), mad.f32 (r)"
        );
        assert_eq!(of("end"), "end");
        assert_eq!(of("(sy)sam (f32)(xyzw)r0.x, r1.x, s#0, t#0"), "sam, sam (sy), sam (f32), sam (xyzw)");
    }

    #[test]
    fn counts_add_up_and_what_no_run_met_stands_there() {
        assert_eq!(Used::default().generation().number, 4);
        let later = Used { registers: [("RB_DEPTH_CNTL".to_owned(), 1)].into(), ..Used::default() };
        assert_eq!(later.generation().number, 6);
        let mut used = Coverage::default().used();
        assert_eq!(used.packets.get("CP_DRAW_INDX_OFFSET"), Some(&0));
        assert_eq!(used.enumerators.get("RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS"), Some(&0));
        let earlier = Used { packets: [("CP_NOP".to_owned(), 3)].into(), ..Used::default() };
        used.add(earlier.clone());
        used.add(earlier);
        assert_eq!(used.packets.get("CP_NOP"), Some(&6));
    }
}
