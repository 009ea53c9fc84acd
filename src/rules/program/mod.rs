//! Checks rules that need only the words of a program: sections 1, 2 and 3.1 of the page.

mod control;
mod delay;
mod encoding;
mod flow;
mod origin;
mod regs;
mod sync;
mod taint;

use std::collections::BTreeSet;

use a4emu_decoder::adreno::ir3::access::{Access, FileReg, Role};
use a4emu_decoder::adreno::ir3::{
    Body, Cat0Op, Cat2Op, Cat5Op, Cat5Slots, Cat6, Cat6Class, Cat6Form, Cat6Op, Instr, Isa, Reg, RegOrImm,
    Src,
};

use super::finding::{Broken, Instruction};
use super::rules::Id;
use crate::shader::Shader;
use a4emu_gpu::gpu::Stage;
use a4emu_shader::Way;
use encoding::needs_quads;
use flow::{Flow, control};
pub use origin::Value;
pub use regs::Regs;
use sync::Pending;
pub use taint::unset;

/// A decoded program with its register accesses and paths.
pub struct Program {
    /// The stage of the program.
    pub stage: Stage,
    /// The generation of its instructions.
    pub isa: Isa,
    /// The words and the resources they name.
    pub shader: Shader,
    /// The instructions.
    pub instrs: Vec<Instr>,
    /// The register reads of each instruction.
    pub reads: Vec<Vec<Access>>,
    /// The register writes of each instruction.
    pub writes: Vec<Vec<Access>>,
    /// The paths through the program.
    pub flow: Flow,
    /// Analysis steps that are left. Without a limit, hostile programs would take minutes.
    steps: u64,
}

/// Facts about a program that the checks of each draw need.
pub struct Facts {
    /// Highest full and half register that is named, as scalar ids.
    pub highest: [Option<u32>; 2],
    /// One past the last reachable instruction.
    pub length: usize,
    /// Indices of the input instructions of a fragment shader.
    pub inputs: Vec<usize>,
    /// Whether an instruction uses a storage slot.
    pub storage: bool,
    /// Whether an instruction needs the pixels of a quad.
    pub quads: bool,
    /// Whether an instruction uses private memory.
    pub private: bool,
    /// Whether an instruction kills lanes.
    pub kills: bool,
    /// Whether an instruction is an atomic operation.
    pub atomics: bool,
    /// Indices of the instructions that read texels, each with its texture slots; `None` if a slot is computed.
    pub texels: Vec<(usize, Option<BTreeSet<Value>>)>,
    /// Slots that an instruction stores to.
    pub stored: BTreeSet<u8>,
    /// Scalars of the constant file that may be part of an address of ldg.
    pub pointers: BTreeSet<u16>,
    /// Registers that the program reads before it writes them.
    pub taken: Regs,
    /// Registers that the program may write.
    pub written: Regs,
}

impl Facts {
    fn of(program: &mut Program) -> Self {
        let (pointers, taken) = (origin::pointers(program), taint::live_at_start(program));
        let texels = texels(program);
        let program = &*program;
        let any = |is_it: fn(&Instr) -> bool| program.reachable().any(|(_, instr)| is_it(instr));
        let inputs = program.reachable().filter(|(_, instr)| is_input(instr)).map(|(index, _)| index);
        Self {
            highest: [false, true].map(|half| highest(program, half)),
            length: program.reachable().last().map_or(0, |(index, _)| index + 1),
            inputs: inputs.collect(),
            storage: any(uses_storage),
            quads: any(needs_quads),
            private: any(uses_private_memory),
            kills: any(|instr| control(instr).is_some_and(|cat0| cat0.op == Cat0Op::Kill)),
            atomics: any(|instr| {
                matches!(instr.body, Body::Cat6(Cat6 { form: Cat6Form::AtomicSlot { .. }, .. }))
            }),
            texels,
            stored: program.reachable().filter_map(|(_, instr)| stored(instr)).collect(),
            pointers,
            taken,
            written: taint::written(program),
        }
    }
}

fn highest(program: &Program, half: bool) -> Option<u32> {
    let accesses = |index: usize| program.reads[index].iter().chain(&program.writes[index]);
    let named = program.reachable().flat_map(|(index, _)| accesses(index)).map(|access| access.reg);
    named.filter(|reg| reg.is_general() && reg.half == half).map(|reg| u32::from(reg.reg.0)).max()
}

fn uses_storage(instr: &Instr) -> bool {
    let Body::Cat6(cat6) = &instr.body else { return false };
    matches!(
        cat6.form,
        Cat6Form::BufferLoad { .. }
            | Cat6Form::BufferStore { .. }
            | Cat6Form::AtomicSlot { .. }
            | Cat6Form::Info { .. }
    )
}

/// The instructions that read texels, with the texture slots that are known without the state of a draw.
fn texels(program: &mut Program) -> Vec<(usize, Option<BTreeSet<Value>>)> {
    let reads = |(index, instr): (usize, &Instr)| match instr.body {
        Body::Cat5(cat5) if cat5.op.class().has_sampler() && cat5.op != Cat5Op::Getlod => {
            Some((index, cat5.slots))
        }
        _ => None,
    };
    let all: Vec<(usize, Cat5Slots)> = program.reachable().filter_map(reads).collect();
    let slots = |(index, slots)| match slots {
        Cat5Slots::Immediate { texture, .. } => (index, Some([Value::Immediate(texture.into())].into())),
        // The texture's register is behind the sampler's.
        Cat5Slots::Indirect { reg, .. } => (index, origin::slots(program, index, Reg(reg.0.wrapping_add(1)))),
        Cat5Slots::Bindless { .. } => (index, None),
    };
    all.into_iter().map(slots).collect()
}

/// The storage slot that an instruction writes.
fn stored(instr: &Instr) -> Option<u8> {
    let Body::Cat6(Cat6 { form, .. }) = instr.body else { return None };
    match form {
        Cat6Form::BufferStore { slot: RegOrImm::Immediate(slot), .. }
        | Cat6Form::AtomicSlot { slot: RegOrImm::Immediate(slot), .. } => Some(slot),
        _ => None,
    }
}

fn uses_private_memory(instr: &Instr) -> bool {
    let Body::Cat6(cat6) = &instr.body else { return false };
    matches!(cat6.op.class(), Cat6Class::LoadPrivate | Cat6Class::StorePrivate)
}

/// A program with all results that hold for every draw.
pub struct Checked {
    /// The program.
    pub program: Program,
    /// Facts for the checks of each draw.
    pub facts: Facts,
    /// Violations that do not depend on registers.
    pub broken: Vec<Broken>,
    /// Pending registers at each end.
    pub pending: Vec<Pending>,
    /// Whether the analysis ran out of steps.
    pub cut: bool,
    /// Number of analysis steps.
    pub steps: u64,
}

/// Maximum number of analysis steps per program. A real one of 2,000 instructions takes some 100,000.
const MAX_STEPS: u64 = 1 << 22;

impl Checked {
    /// Checks `words` of `isa` as a program of `stage`.
    pub fn new(stage: Stage, isa: Isa, words: &[u64]) -> Self {
        let mut program = Program::new(stage, isa, words);
        let mut broken = Vec::new();
        delay::check(&mut program, &mut broken);
        let pending = sync::check(&mut program, &mut broken);
        control::check(&program, &mut broken);
        encoding::check(&program, &mut broken);
        origin::check(&mut program, &mut broken);
        let facts = Facts::of(&mut program);
        taint::check_barriers(&mut program, facts.taken, &mut broken);
        let (cut, steps) = (program.steps == 0, MAX_STEPS - program.steps);
        Self { program, facts, broken, pending, cut, steps }
    }
}

/// Violations of sections 1 and 2 in `words` if a0.x selects these registers, and the number of analysis
/// steps.
pub fn placed(
    stage: Stage,
    isa: Isa,
    words: &[u64],
    chosen: impl IntoIterator<Item = (usize, Way, FileReg)>,
) -> (Vec<Broken>, u64) {
    let mut program = Program::new(stage, isa, words);
    for (at, way, reg) in chosen {
        // The repetition of a repeated instruction is unknown.
        let Some(instr) = program.instrs.get(at).filter(|instr| instr.repeat() == 0) else { continue };
        let addend = matches!(&instr.body, Body::Cat3(cat3) if matches!(cat3.src3.src, Src::RelativeGpr(_)));
        let (accesses, operand) = match way {
            Way::Reads if addend => (&mut program.reads[at], Role::Addend),
            Way::Reads => (&mut program.reads[at], Role::Source),
            Way::Writes => (&mut program.writes[at], Role::Destination),
        };
        accesses.push(Access { reg, step: 0, operand });
    }
    let mut broken = Vec::new();
    delay::check(&mut program, &mut broken);
    sync::check(&mut program, &mut broken);
    (broken, MAX_STEPS - program.steps)
}

impl Program {
    fn new(stage: Stage, isa: Isa, words: &[u64]) -> Self {
        let shader = Shader::of(isa, words);
        let instrs: Vec<Instr> = shader.words.iter().map(|word| isa.decode(*word)).collect();
        let reads = instrs.iter().map(Instr::reads).collect();
        let writes = instrs.iter().map(Instr::writes).collect();
        let flow = Flow::of(&instrs);
        Self { stage, isa, shader, instrs, reads, writes, flow, steps: MAX_STEPS }
    }

    /// The text of the instruction at `index`.
    pub fn text(&self, index: usize) -> String {
        self.instrs[index].in_program(index, self.instrs.len()).to_string()
    }

    /// A violation of `rule` by the instruction at `index`.
    pub fn broken(&self, rule: Id, index: usize, what: impl Into<String>) -> Broken {
        let (stage, program) = (self.stage, self.shader.hash);
        let instruction = Instruction { stage, program, index: index as u32, text: self.text(index) };
        Broken { rule, what: what.into(), instruction: Some(instruction) }
    }

    /// The reachable instructions, in order.
    pub fn reachable(&self) -> impl Iterator<Item = (usize, &Instr)> {
        self.instrs.iter().enumerate().filter(|(index, _)| self.flow.is_reachable(*index))
    }

    /// Takes one analysis step. Returns false if none is left.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }
}

/// Whether the instruction is an input of a fragment shader: bary.f or ldlv.
pub fn is_input(instr: &Instr) -> bool {
    match &instr.body {
        Body::Cat2(cat2) => cat2.op == Cat2Op::BaryF,
        Body::Cat6(cat6) => cat6.op == Cat6Op::Ldlv,
        _ => false,
    }
}

/// Whether the access uses the register as an index and not as a value.
fn is_index(access: &Access) -> bool {
    access.operand == Role::Index
}

/// The last access of `reg` in `accesses`, or of a part of it.
fn last_of(isa: Isa, accesses: &[Access], reg: FileReg) -> Option<&Access> {
    accesses.iter().rev().find(|access| access.reg.overlaps(isa, reg))
}
