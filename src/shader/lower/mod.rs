//! Lowering of ir3 instructions to steps.
//!
//! Each instruction is lowered separately, and so is each repetition of a (rptN). Operands that a compact
//! operation cannot express (half precision, integer modifiers, relative addresses) become further operations
//! on temporaries. Only reachable instructions are lowered: the instruction store may hold anything after
//! `end`.
mod computing;
mod flow;
mod memory;
mod operands;
pub(super) mod pico;
mod texture;

use a4emu_decoder::adreno::ir3::{Body, Cat0Op, Instr, Isa};
use a4emu_decoder::isa::pico as pico_isa;
use a4emu_decoder::isa::pico::command::Interface;
use hashbrown::HashSet;

use super::alu::Row;
use super::builder::Builder;
use super::effect::{Effect, Test};
use super::lowered::{BindlessSlot, InstructionClass, Lowered, ProgramError};
use super::program::Program;
use super::rowmap::{TEMPORARIES, TEMPORARY_COUNT};

/// What instruction words mean beside their own bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The generation of the instruction set.
    pub isa: Isa,
    /// Where half registers lie.
    pub halves: Halves,
    /// What (ss) means.
    pub sync: SyncFlag,
}

impl Dialect {
    /// That of programs of an A4xx which are no hull shaders.
    pub const A4XX: Self = Self { isa: Isa::A4xx, halves: Halves::Apart, sync: SyncFlag::Scheduling };
}

/// Where half registers lie. From A6xx on, SP_xS_CTRL_REG0.MERGEDREGS says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halves {
    /// In a file of their own.
    Apart,
    /// In the full registers: hr0.x and hr0.y are the halves of r0.x.
    Merged,
}

/// Meaning of an (ss) flag in the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SyncFlag {
    /// Only waits for results, so it has no effect.
    Scheduling,
    /// A barrier after a store (hull shaders).
    Barrier,
}

/// Size of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// All operations up to the next effect.
    Runs,
    /// One instruction, for a debugger.
    Instructions,
    /// Like [`Self::Runs`], with reports of the registers that a0.x selects.
    Choices,
    /// Like [`Self::Choices`], with doubts before operations that may rest on a guess.
    Watched,
}

impl Program {
    /// Lowers ir3 instruction words of an A4xx. Words that are never reached do not matter. Invalid instructions fault
    /// when they are reached.
    pub fn new(code: &[u64]) -> Result<Self, ProgramError> {
        lower(Dialect::A4XX, code, Granularity::Runs).map(Self::from)
    }

    /// Lowers instruction words. Instructions without a lowering are unsupported when they are reached. `granularity` says
    /// what is reported to the environment.
    pub fn lowered(dialect: Dialect, granularity: Granularity, code: &[u64]) -> Result<Self, ProgramError> {
        lower(dialect, code, granularity).map(Self::from)
    }

    /// Lowers PicoGpu instructions. `interface` names the registers that `lduni` loads from the constant
    /// file, in order, and those that `initregs` clears.
    pub fn from_pico(code: &[pico_isa::Instr], interface: &Interface) -> Result<Self, ProgramError> {
        pico::lower(code, interface, Granularity::Runs).map(Self::from)
    }

    /// Like [`Program::from_pico`], with one step per instruction, for a debugger.
    pub fn pico_stepwise(code: &[pico_isa::Instr], interface: &Interface) -> Result<Self, ProgramError> {
        pico::lower(code, interface, Granularity::Instructions).map(Self::from)
    }
}

/// Lowers `code` to a program.
pub(super) fn lower(
    Dialect { isa, halves, sync }: Dialect,
    code: &[u64],
    granularity: Granularity,
) -> Result<Lowered, ProgramError> {
    match code.len() {
        0 => return Err(ProgramError::Empty),
        len if len > Lowered::MAX_INSTRUCTIONS => return Err(ProgramError::TooLong(len)),
        _ => {}
    }
    let instrs: Vec<Instr> = code.iter().map(|&word| isa.decode(word)).collect();
    let targets = match granularity {
        Granularity::Runs | Granularity::Choices | Granularity::Watched => targets(&instrs),
        Granularity::Instructions => (0..code.len() as u32).collect(),
    };
    let reached = reached(&instrs);
    let hash = Lowered::hash_of(code);
    let builder = match granularity {
        Granularity::Watched => Builder::watched(hash),
        Granularity::Choices => Builder::choosing(hash),
        Granularity::Runs | Granularity::Instructions => Builder::default(),
    };
    let builder = if halves == Halves::Merged { builder.merged() } else { builder };
    let (bindless, a1) = (Vec::new(), None);
    let mut lowerer = Lowerer {
        isa,
        builder,
        sync,
        stored: false,
        preamble: false,
        region: None,
        at: 0,
        used: 0,
        bindless,
        a1,
    };
    for (at, instr) in instrs.iter().enumerate().filter(|(at, _)| reached[*at]) {
        lowerer.builder.instruction(at as u32, &targets);
        lowerer.at = at as u32;
        if targets.contains(&lowerer.at) {
            lowerer.a1 = None;
        }
        lowerer.instruction(instr);
    }
    let classes = instrs.iter().map(InstructionClass::of).collect();
    let Lowerer { builder, bindless, .. } = lowerer;
    Ok(Lowered { hash, classes, bindless, ..builder.finish(code.len()) })
}

/// The branch target of `instr`, which is at index `at`.
fn target(at: usize, instr: &Instr) -> Option<u32> {
    match &instr.body {
        Body::Cat0(flow) if flow.op.class().has_target() => {
            Some((at as u32).wrapping_add_signed(flow.offset))
        }
        _ => None,
    }
}

/// The indices of all branch targets.
fn targets(instrs: &[Instr]) -> HashSet<u32> {
    instrs.iter().enumerate().filter_map(|(at, instr)| target(at, instr)).collect()
}

/// Whether each instruction is reachable.
fn reached(instrs: &[Instr]) -> Vec<bool> {
    let mut reached = vec![false; instrs.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        if at >= instrs.len() || reached[at] {
            continue;
        }
        reached[at] = true;
        open.extend(target(at, &instrs[at]).map(|target| target as usize));
        if !stops(&instrs[at]) {
            open.push(at + 1);
        }
    }
    reached
}

/// Whether control never continues at the next instruction.
fn stops(instr: &Instr) -> bool {
    match &instr.body {
        Body::Cat0(flow) => matches!(flow.op, Cat0Op::End | Cat0Op::Jump | Cat0Op::Ret),
        _ => false,
    }
}

/// State of the lowering of a program.
struct Lowerer {
    isa: Isa,
    builder: Builder,
    sync: SyncFlag,
    /// Whether a store followed the last (ss).
    stored: bool,
    /// Whether the current instruction is in a preamble (shps to shpe).
    preamble: bool,
    /// The test of the current predicated region.
    region: Option<Test>,
    /// Index of the current instruction.
    at: u32,
    /// Number of temporaries in use by the current repetition.
    used: Row,
    /// Descriptors at bindless bases so far.
    bindless: Vec<BindlessSlot>,
    /// The value of a1.x, if it is the same on each way to the current instruction.
    a1: Option<u32>,
}

impl Lowerer {
    fn instruction(&mut self, instr: &Instr) {
        self.used = 0;
        self.synchronise(instr);
        match &instr.body {
            Body::Cat0(instr) => self.cat0(instr),
            Body::Cat1(instr) => self.cat1(instr),
            Body::Cat2(instr) => self.cat2(instr),
            Body::Cat3(instr) => self.cat3(instr),
            Body::Cat4(instr) => self.cat4(instr),
            Body::Cat5(instr) => self.cat5(instr),
            Body::Cat6(instr) => self.cat6(instr),
            Body::Cat7(instr) => self.cat7(instr),
            Body::Unknown => self.builder.effect(Effect::Invalid),
        }
    }

    /// The first of `count` consecutive temporaries. No instruction needs more than there are; otherwise it
    /// would share the last ones.
    fn temporaries(&mut self, count: Row) -> Row {
        let first = self.used.min(TEMPORARY_COUNT - count);
        self.used = first + count;
        TEMPORARIES + first
    }
}
