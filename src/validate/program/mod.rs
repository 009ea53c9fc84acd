//! Rules of programs that follow from their words alone: sections 1, 2 and 3.1 of the page.

mod control;
mod delay;
pub mod encoding;
pub mod flow;
pub mod sync;

use a4emu_decoder::isa::ir3::access::{Access, FileReg, Role};
use a4emu_decoder::isa::ir3::{Body, Cat2Op, Cat6Op, Instr};

use super::finding::{Broken, Instruction};
use super::rules::Id;
use crate::gpu::Stage;
use crate::inspect::Shader;
use flow::Flow;
use sync::Pending;

/// A program, taken apart for the rules.
pub struct Program {
    /// The stage that runs it.
    pub stage: Stage,
    /// Its words and text.
    pub shader: Shader,
    /// The instructions.
    pub instrs: Vec<Instr>,
    /// What each reads.
    pub reads: Vec<Vec<Access>>,
    /// What each writes.
    pub writes: Vec<Vec<Access>>,
    /// Who follows whom.
    pub flow: Flow,
    /// Steps of analysis that are left: hostile programs would take minutes.
    steps: u64,
}

/// What is known of a program once and for all.
pub struct Checked {
    /// The program.
    pub program: Program,
    /// The rules that it breaks whatever the registers hold.
    pub broken: Vec<Broken>,
    /// What may not have arrived at each of its ends.
    pub pending: Vec<Pending>,
    /// It was too much work to look at all of it.
    pub cut: bool,
    /// Steps of analysis that it took.
    pub steps: u64,
}

/// Steps that the analysis of one program may take: a real one of 2,000 instructions takes some 100,000.
const MAX_STEPS: u64 = 1 << 22;

impl Checked {
    /// Checks `words` as a program of `stage`.
    pub fn new(stage: Stage, words: &[u64]) -> Self {
        let mut program = Program::new(stage, words);
        let mut broken = Vec::new();
        delay::check(&mut program, &mut broken);
        let pending = sync::check(&mut program, &mut broken);
        control::check(&program, &mut broken);
        encoding::check(&program, &mut broken);
        let (cut, steps) = (program.steps == 0, MAX_STEPS - program.steps);
        Self { program, broken, pending, cut, steps }
    }
}

impl Program {
    fn new(stage: Stage, words: &[u64]) -> Self {
        let shader = Shader::new(words);
        let instrs: Vec<Instr> = shader.words.iter().map(|word| Instr::decode(*word)).collect();
        let reads = instrs.iter().map(Instr::reads).collect();
        let writes = instrs.iter().map(Instr::writes).collect();
        let flow = Flow::of(&instrs);
        Self { stage, shader, instrs, reads, writes, flow, steps: MAX_STEPS }
    }

    /// The text of an instruction.
    pub fn text(&self, index: usize) -> String {
        self.instrs[index].in_program(index, self.instrs.len()).to_string()
    }

    /// `rule` is broken by the instruction at `index`.
    pub fn broken(&self, rule: Id, index: usize, what: impl Into<String>) -> Broken {
        let (stage, program) = (self.stage, self.shader.hash);
        let instruction = Instruction { stage, program, index: index as u32, text: self.text(index) };
        Broken { rule, what: what.into(), instruction: Some(instruction) }
    }

    /// The instructions that may run, in order.
    pub fn reachable(&self) -> impl Iterator<Item = (usize, &Instr)> {
        self.instrs.iter().enumerate().filter(|(index, _)| self.flow.is_reachable(*index))
    }

    /// Takes a step of work; false when there is none left.
    fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
    }

    /// The highest register of a file that is named, as a scalar id.
    pub fn highest(&self, half: bool) -> Option<u32> {
        let named =
            self.reachable().flat_map(|(index, _)| self.reads[index].iter().chain(&self.writes[index]));
        let general = named.map(|access| access.reg).filter(|reg| reg.is_general() && reg.half == half);
        general.map(|reg| u32::from(reg.reg.0)).max()
    }

    /// The end of the program: one past its last instruction that may run.
    pub fn length(&self) -> usize {
        self.reachable().last().map_or(0, |(index, _)| index + 1)
    }
}

/// Is it an input of a fragment shader: bary.f or ldlv?
pub fn is_input(instr: &Instr) -> bool {
    match &instr.body {
        Body::Cat2(cat2) => cat2.op == Cat2Op::BaryF,
        Body::Cat6(cat6) => cat6.op == Cat6Op::Ldlv,
        _ => false,
    }
}

/// Does the reader take this register as something that chooses, rather than as a value?
fn is_index(access: &Access) -> bool {
    access.operand == Role::Index
}

/// Which of `accesses` is one of `reg`, the last repetition first.
fn last_of(accesses: &[Access], reg: FileReg) -> Option<&Access> {
    accesses.iter().rev().find(|access| access.reg == reg)
}
