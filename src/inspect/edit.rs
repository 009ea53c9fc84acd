//! Runs draws with other registers, constants or programs than the stream gave them.

mod packets;
pub mod stored;

use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::a6xx;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::ir3::program::assemble_in;
use a4emu_decoder::adreno::load_state::{Stage, StateKind};
use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::generation::{DEFAULT, Generation};
use anyhow::{Context, bail, ensure};

use crate::describe::Runs;
use crate::explain::{value_of, wide_value_of};
use crate::register_names::{self, Asked};
use a4emu_gpu::cp::{Call, Engine, Flow};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::machine::{CONSTANTS, CodeSource, INSTRUCTIONS};

/// Maximum number of changes of an edit.
const MAX_CHANGES: usize = 256;

/// Instructions per unit of the length registers, and of loads of programs.
const LENGTH_UNIT: usize = 16;

/// Most instructions of a program of an A6xx: NUM_UNIT of CP_LOAD_STATE6 has 10 bits.
const MOST_IN_MEMORY: usize = 0x3ff * LENGTH_UNIT;

/// Programs of an A6xx are placed at multiples of this.
const PLACE_BYTES: u64 = 4096;

const STAGES: [Stage; 6] = [Stage::VS, Stage::HS, Stage::DS, Stage::GS, Stage::FS, Stage::CS];

const COMPONENTS: &str = "xyzw";

/// A new value for a part of the state that a draw runs with.
#[derive(Clone, Debug)]
pub struct Change(What);

#[derive(Clone, Debug)]
enum What {
    /// A register, or a field of it.
    Register { offset: u32, field: Option<&'static FieldRow>, value: u32 },
    /// Constants of a stage, from a dword of its constant file on.
    Constants { stage: Stage, first: usize, values: Vec<u32> },
    /// The program of a stage: dwords of whole groups of [`LENGTH_UNIT`] instructions.
    Program { stage: Stage, words: Vec<u32> },
}

/// A draw, and the changes that it runs with.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The runs of the draw.
    pub runs: Runs,
    /// The changes, in the order in which they are applied.
    pub changes: Vec<Change>,
}

/// Takes a change back.
type Undo = Box<dyn FnOnce(&mut Gpu)>;

/// Name and value of a change.
///
/// # Errors
/// The call fails if `text` has no `=` and no `:`.
pub fn parts(text: &str) -> anyhow::Result<(&str, &str)> {
    let (name, value) = text.split_once(['=', ':']).with_context(|| {
        let shown: String = text.chars().take(60).collect();
        format!("`{shown}` is not REGISTER.FIELD=VALUE, fs.c4.x=VALUE or fs=SHADER")
    })?;
    Ok((name.trim(), value.trim()))
}

/// The stage that `name` means, in any case: `fs`.
pub fn stage(name: &str) -> Option<Stage> {
    STAGES.into_iter().find(|stage| stage.name().eq_ignore_ascii_case(name))
}

impl Change {
    /// Parses `texts`: `REGISTER.FIELD=VALUE`, `STAGE.cN.x=VALUE` or `STAGE=SOURCE` each, or with a colon. The
    /// register, one of `generation`, may be a pattern. `SOURCE` is the text of a program.
    ///
    /// # Errors
    /// The call fails if a register, constant or value does not exist, if a program cannot be assembled, or if
    /// there are too many changes.
    pub fn parse_all<'t>(
        generation: &'static Generation,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> anyhow::Result<Vec<Self>> {
        let mut changes = Vec::new();
        for text in texts {
            changes.extend(Self::parse(generation, text)?);
            ensure!(changes.len() <= MAX_CHANGES, "no more than {MAX_CHANGES} values are edited at once");
        }
        Ok(changes)
    }

    /// Parses `texts` before it is known which chip a capture is of.
    ///
    /// # Errors
    /// The call fails if no generation has all that `texts` name. The error is that of the default.
    pub fn check<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> anyhow::Result<()> {
        Generation::first(|generation| Self::parse_all(generation, texts.clone())).map(drop)
    }

    fn parse(generation: &'static Generation, text: &str) -> anyhow::Result<Vec<Self>> {
        let (name, value) = parts(text)?;
        if let Some(stage) = stage(name) {
            let program = Self::program(generation, stage, value);
            return Ok(vec![program.with_context(|| format!("program of {name}"))?]);
        }
        if let Some((head, constant)) = name.split_once('.')
            && let Some(stage) = stage(head)
        {
            return Ok(vec![Self::constants(stage, constant, value)?]);
        }
        let found = register_names::find(generation, name)?;
        if let Some(halves) = register_names::halves_of(&found) {
            let value = wide_value_of(value)?;
            let values = [value as u32, (value >> 32) as u32];
            let set = |(offset, value)| Self(What::Register { offset, field: None, value });
            return Ok(halves.into_iter().zip(values).map(set).collect());
        }
        let change = |asked: Asked| {
            let value = match asked.field {
                None => value_of(value)?,
                Some(field) => field.parse(value)?,
            };
            Ok(Self(What::Register { offset: asked.offset, field: asked.field, value }))
        };
        found.into_iter().map(change).collect()
    }

    /// Makes the assembly text `source` the program of `stage`.
    ///
    /// # Errors
    /// The call fails if the text cannot be assembled (the message begins with line and column), if the
    /// program does not fit into the instruction store, or into one load of an A6xx.
    pub fn program(generation: &Generation, stage: Stage, source: &str) -> anyhow::Result<Self> {
        let mut code = assemble_in(generation.isa(), source)?;
        ensure!(!code.is_empty(), "there is no instruction in it");
        let most = if generation.number == DEFAULT.number { INSTRUCTIONS } else { MOST_IN_MEMORY };
        ensure!(code.len() <= most, "{} instructions are more than the {most} that fit", code.len());
        code.resize(code.len().next_multiple_of(LENGTH_UNIT), 0);
        let words = code.into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]).collect();
        Ok(Self(What::Program { stage, words }))
    }

    /// Parses `c4.x`, `c4.yz` or `c4` and its values, with commas between.
    fn constants(stage: Stage, name: &str, values: &str) -> anyhow::Result<Self> {
        let wrong = || format!("`{name}` is no constant: write c4.x, c4.xyz or c4, up to c{}", CONSTANTS - 1);
        let (register, components) = name.split_once('.').unwrap_or((name, ""));
        let number: Option<usize> = register.strip_prefix('c').and_then(|number| number.parse().ok());
        let number = number.filter(|number| *number < CONSTANTS).with_context(wrong)?;
        let component = COMPONENTS.find(components).with_context(wrong)?;
        let values = values.split(',').map(|value| constant(value.trim())).collect::<Result<Vec<_>, _>>()?;
        let count = if components.is_empty() { COMPONENTS.len() } else { components.len() };
        ensure!(
            values.len() == count || components.is_empty() && values.len() < count,
            "`{name}` has {count} components, and there are {} values",
            values.len()
        );
        Ok(Self(What::Constants { stage, first: 4 * number + component, values }))
    }

    /// Applies the change, and returns what takes it back.
    fn apply(&self, gpu: &mut Gpu) -> Undo {
        match &self.0 {
            What::Register { offset, field, value } => {
                let (offset, word) = (*offset, gpu.regs.read(*offset));
                set(gpu, offset, field.map_or(*value, |field| field.insert(word, *value)));
                Box::new(move |gpu| set(gpu, offset, word))
            }
            What::Constants { stage, first, values } => {
                let kind = StateKind::Constants(*stage);
                let [number, component] = [first / 4, first % 4];
                let before = gpu.loaded.stage(*stage).constants[number];
                let mut after = before;
                after[component..][..values.len()].copy_from_slice(values);
                gpu.loaded.load(kind, number as u32, &after);
                Box::new(move |gpu| gpu.loaded.load(kind, number as u32, &before))
            }
            What::Program { stage, words } if gpu.chip.generation().number != DEFAULT.number => {
                in_memory(gpu, *stage, words)
            }
            What::Program { stage, words } => {
                let (stage, kind) = (*stage, StateKind::Instructions(*stage));
                let held = gpu.loaded.stage(stage);
                let source = held.source;
                let code = held.code[..words.len() / 2].iter();
                let before: Vec<u32> = code.flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect();
                let register = REGISTERS.by_name(&format!("SP_{}_LENGTH_REG", stage.name()));
                let register = register.expect("each stage has a length register");
                let length = gpu.regs.read(register);
                gpu.loaded.load(kind, 0, words);
                set(gpu, register, (words.len() / 2 / LENGTH_UNIT) as u32);
                Box::new(move |gpu| {
                    set(gpu, register, length);
                    gpu.loaded.load(kind, 0, &before);
                    if source == CodeSource::Memory {
                        gpu.loaded.take_code_from_memory(stage);
                    }
                })
            }
        }
    }
}

/// Registers of a program of an A6xx, which is in memory.
struct ProgramRegisters {
    /// The instruction that runs first, in bytes or groups from the start. A new program begins at its start.
    first: u32,
    /// Low half of the address.
    start: u32,
    /// Length in groups of [`LENGTH_UNIT`] instructions.
    length: u32,
}

impl ProgramRegisters {
    fn of(stage: Stage) -> Self {
        let offset = |what: &str| {
            a6xx::regs::REGISTERS
                .by_name(&format!("SP_{}_{what}", stage.name()))
                .expect("a register of the A6xx")
        };
        Self {
            first: offset("OBJ_FIRST_EXEC_OFFSET"),
            start: offset("OBJ_START_LO"),
            length: offset("INSTRLEN"),
        }
    }
}

/// Places the program of an A6xx where no buffer is, and says where. Returns what takes it back.
fn in_memory(gpu: &mut Gpu, stage: Stage, words: &[u32]) -> Undo {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let size = (bytes.len() as u64).next_multiple_of(PLACE_BYTES);
    let end = 1 << gpu.chip.generation().address_bits;
    let memory = gpu.memory_mut();
    // There are fewer buffers than places, so one is free.
    let mut places = (1..=end / size).map(|number| end - number * size);
    let start = places.find(|start| !memory.holds_any(*start, start + size)).unwrap_or_default();
    memory.announce(Address::new(start), bytes.len() as u32, Some(&bytes));
    let ProgramRegisters { first, start: low, length } = ProgramRegisters::of(stage);
    let groups = (words.len() / 2 / LENGTH_UNIT) as u32;
    let new = [(first, 0), (low, start as u32), (low + 1, (start >> 32) as u32), (length, groups)];
    let old = new.map(|(register, _)| (register, gpu.regs.read(register)));
    new.into_iter().for_each(|(register, value)| set(gpu, register, value));
    Box::new(move |gpu| {
        old.into_iter().for_each(|(register, value)| set(gpu, register, value));
        gpu.memory_mut().unmap(start, start + size);
    })
}

fn set(gpu: &mut Gpu, register: u32, value: u32) {
    let _every_name_has_a_register = gpu.regs.write(register, value);
}

/// The bits of a constant: a float (`1.0`), an integer (`-1`) or hexadecimal digits (`0x3f800000`).
fn constant(text: &str) -> anyhow::Result<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).with_context(|| format!("`{text}` are no 32 bits"));
    }
    let integer =
        text.parse::<i64>().ok().filter(|value| (i32::MIN.into()..=u32::MAX.into()).contains(value));
    match (integer, text.parse::<f32>()) {
        (Some(integer), _) => Ok(integer as u32),
        (None, Ok(float)) if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') => {
            Ok(float.to_bits())
        }
        _ => bail!("`{text}` is no constant: write a float (1.0), an integer (1) or its bits (0x3f800000)"),
    }
}

/// An engine that runs draws with changes. All other draws find the state unchanged.
pub struct Editing<'a, E> {
    /// The draws, and their changes.
    pub edits: &'a [Edit],
    /// The engine that runs the draws.
    pub inner: E,
}

impl<E: Engine> Engine for Editing<'_, E> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let edits = self.edits.iter().filter(|edit| edit.runs.has(gpu, call));
        let changes: Vec<&Change> = edits.flat_map(|edit| &edit.changes).collect();
        if changes.is_empty() {
            return self.inner.run(gpu, call);
        }
        gpu.settle();
        let undo: Vec<Undo> = changes.into_iter().map(|change| change.apply(gpu)).collect();
        let flow = self.inner.run(gpu, call);
        gpu.settle();
        undo.into_iter().rev().for_each(|undo| undo(gpu));
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_decoder::adreno::capture::NamedChip;
    use a4emu_gpu::gpu::Chip;

    #[test]
    fn constants_are_floats_integers_or_bits() {
        for (text, bits) in [
            ("1.0", 0x3f80_0000),
            ("-2e1", 0xc1a0_0000),
            ("1", 1),
            ("-1", u32::MAX),
            ("4294967295", u32::MAX),
            ("0x3f800000", 0x3f80_0000),
            ("inf", 0x7f80_0000),
        ] {
            assert_eq!(constant(text).unwrap(), bits, "{text}");
        }
        for wrong in ["", "x", "4294967296", "0x123456789", "1,0", "FUNC_LESS"] {
            assert!(constant(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn changes_name_constants_and_programs() {
        let parsed = |text: &str| Change::parse_all(DEFAULT, [text]).map(|changes| format!("{changes:?}"));
        let is = |text: &str, part: &str| assert!(parsed(text).unwrap().contains(part), "{text}");
        is("fs.c4.y=1", "Constants { stage: FS, first: 17, values: [1] }");
        is("VS.c4.yz:1,2", "Constants { stage: VS, first: 17, values: [1, 2] }");
        is("fs.c4=1,2,3,4", "Constants { stage: FS, first: 16, values: [1, 2, 3, 4] }");
        is("gs=end", "Program { stage: GS");
        for (text, message) in [
            ("fs.c512.x=1", "c512.x` is no constant"),
            ("fs.r4.x=1", "r4.x` is no constant"),
            ("fs.c4.xz=1,2", "c4.xz` is no constant"),
            ("fs.c4.xy=1", "2 components, and there are 1 values"),
            ("fs.c4=1,2,3,4,5", "4 components, and there are 5 values"),
            ("fs=", "no instruction"),
            ("fs=end\nnop nop", "2:"),
            ("ts=end", "is no register"),
            ("fs", "is not REGISTER.FIELD=VALUE"),
        ] {
            let error = format!("{:#}", parsed(text).unwrap_err());
            assert!(error.contains(message), "{text}: {error}");
        }
        assert!(parsed(&format!("fs={}end", "nop\n".repeat(1024))).is_err());
    }

    /// What a draw could find of an edit.
    fn state(gpu: &Gpu) -> impl PartialEq + std::fmt::Debug + use<> {
        let fs = gpu.loaded.stage(Stage::FS);
        let registers = ["RB_DEPTH_CONTROL", "SP_FS_LENGTH_REG"];
        let registers = registers.map(|name| gpu.regs.read(REGISTERS.by_name(name).expect("a register")));
        (registers, fs.constants.clone(), fs.code.clone(), fs.source)
    }

    #[test]
    fn changes_are_taken_back() {
        for source in [CodeSource::Memory, CodeSource::Store] {
            let mut gpu = Gpu::new(Chip::default());
            gpu.loaded.load(StateKind::Constants(Stage::FS), 0, &[1, 2, 3, 4, 5, 6, 7, 8]);
            gpu.loaded.load(StateKind::Instructions(Stage::FS), 0, &[9; 64]);
            set(&mut gpu, REGISTERS.by_name("SP_FS_LENGTH_REG").expect("a register"), 2);
            if source == CodeSource::Memory {
                gpu.loaded.take_code_from_memory(Stage::FS);
            }
            let before = state(&gpu);
            // Two changes of the same constant and of the program: the last ones count.
            let texts = ["fs.c1.y=1.0", "fs.c1=0,7", "RB_DEPTH_CONTROL.ZFUNC=7", "fs=end", "fs=nop\nend"];
            let changes = Change::parse_all(DEFAULT, texts).unwrap();
            let undo: Vec<Undo> = changes.iter().map(|change| change.apply(&mut gpu)).collect();
            let fs = gpu.loaded.stage(Stage::FS);
            assert_eq!((fs.constants[1], fs.source), ([0, 7, 7, 8], CodeSource::Store));
            assert_eq!((fs.code[1], fs.code[15]), (0x0300_0000_0000_0000, 0));
            let edited = state(&gpu);
            assert!(edited != before);
            undo.into_iter().rev().for_each(|undo| undo(&mut gpu));
            assert_eq!(state(&gpu), before, "{source:?}");
        }
    }

    #[test]
    fn programs_of_an_a6xx_are_placed_in_memory_and_taken_back() {
        let generation = Generation::numbered(6).unwrap();
        let mut gpu = Gpu::new(Chip::named(NamedChip::GpuId(630)));
        let ProgramRegisters { first, start, length } = ProgramRegisters::of(Stage::FS);
        let state = |gpu: &mut Gpu| {
            let registers = [first, start, start + 1, length].map(|register| gpu.regs.read(register));
            (registers, gpu.sync().memory().buffers().collect::<Vec<_>>())
        };
        let before = state(&mut gpu);
        let changes = Change::parse_all(generation, ["fs=(nop1) add.f r0.x, r0.y, r0.z\nend"]).unwrap();
        let undo = changes[0].apply(&mut gpu);
        assert_eq!(gpu.regs.read(length), 1);
        let address = gpu.regs.address(start);
        assert_eq!(gpu.sync().memory().read_u32(address), Some(0x0002_0001));
        undo(&mut gpu);
        assert_eq!(state(&mut gpu), before);
    }
}
