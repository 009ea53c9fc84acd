//! Assembly of a program: the part of lowering that every front end shares.
use a4emu_decoder::adreno::ir3::Cond;
use a4emu_decoder::isa::pico::Op as PicoOp;
use hashbrown::{HashMap, HashSet};

use super::alu::{Alu, Row};
use super::doubt::{Doubt, Reach, When};
use super::effect::{Effect, File, Gather};
use super::extra::Extra;
use super::liveness::touched_rows;
use super::lowered::{Lowered, Step, Uniform};
use super::merged::merge;
use super::reach::Backwards;
use super::rowmap;
use super::rows::{AluOp, kernel};
use super::summary::Summary;

/// A source of an operation: a row, and modifiers of its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The row.
    pub row: Row,
    /// Mask of the bits that are kept.
    pub and: u32,
    /// Mask of the bits that are flipped after that.
    pub xor: u32,
}

impl From<Row> for Operand {
    fn from(row: Row) -> Self {
        Self { row, and: u32::MAX, xor: 0 }
    }
}

/// Collects operations and effects in program order. Branch targets are source instructions until
/// [`Builder::finish`].
#[derive(Default)]
pub struct Builder {
    alus: Vec<Alu>,
    sources: Vec<u32>,
    steps: Vec<Step>,
    uniforms: Vec<Uniform>,
    uniform_rows: HashMap<Uniform, Row>,
    /// The step that begins with each source instruction, for branch targets.
    starts: HashMap<u32, u32>,
    /// Number of operations in finished steps.
    taken: u32,
    /// The source instruction being lowered. `pending` counts those since the last step that is not a doubt.
    at: u32,
    pending: u32,
    /// Number of doubts since then.
    doubts: usize,
    /// Whether doubts are added for guesses.
    watched: bool,
    /// Whether half registers are halves of full ones.
    merged: bool,
    /// The program's hash, if selections of a0.x are reported.
    chooses: Option<u64>,
}

impl Builder {
    /// A builder that adds doubts for guesses, and reports selections of a0.x.
    pub fn watched(program: u64) -> Self {
        Self { watched: true, ..Self::choosing(program) }
    }

    /// A builder that reports selections of a0.x.
    pub fn choosing(program: u64) -> Self {
        Self { chooses: Some(program), ..Self::default() }
    }

    /// The builder, of a program for a chip on which half registers are halves of full ones.
    pub fn merged(self) -> Self {
        Self { merged: true, ..self }
    }

    /// Begins source instruction `at`. If it is in `targets`, control can also arrive from elsewhere, so a
    /// new step begins.
    pub fn instruction(&mut self, at: u32, targets: &HashSet<u32>) {
        if targets.contains(&at) {
            self.end_open_step();
            self.starts.insert(at, self.steps.len() as u32);
        }
        self.at = at;
        self.pending += 1;
    }

    fn end_open_step(&mut self) {
        if self.pending > 0 || (self.taken as usize) < self.alus.len() {
            self.effect(Effect::Continue);
        }
    }

    /// The row of a value that is equal in all lanes.
    pub fn uniform(&mut self, uniform: Uniform) -> Row {
        let uniforms = &mut self.uniforms;
        *self.uniform_rows.entry(uniform).or_insert_with(|| {
            uniforms.push(uniform);
            rowmap::UNIFORMS + (uniforms.len() - 1) as Row
        })
    }

    /// Adds an operation on 32 bits.
    pub fn alu(&mut self, op: impl Into<AluOp>, dst: Row, sources: &[Operand]) {
        self.alu_with(op, dst, sources, Cond::Lt, 32);
    }

    /// Adds an operation on one plain source of `width` bits.
    pub fn alu_narrow(&mut self, op: impl Into<AluOp>, dst: Row, src: Row, width: u32) {
        self.alu_with(op, dst, &[src.into()], Cond::Lt, width);
    }

    /// Adds an operation with a condition (compares) and a width (integers).
    pub fn alu_with(&mut self, op: impl Into<AluOp>, dst: Row, sources: &[Operand], cond: Cond, width: u32) {
        let op = op.into();
        let source = |n: usize| sources.get(n).copied().unwrap_or(Operand::from(rowmap::ZERO));
        let src = [source(0), source(1), source(2)];
        let alu = Alu {
            kernel: kernel(op),
            op,
            dst,
            src: src.map(|operand| operand.row),
            and: src.map(|operand| operand.and),
            xor: src.map(|operand| operand.xor),
            cond,
            width,
        };
        if self.watched {
            When::of_alu(&alu).into_iter().for_each(|when| self.doubt(when));
        }
        self.alus.push(alu);
        self.sources.push(self.at);
    }

    /// Adds a doubt for the next operation, if guesses are watched.
    pub fn doubt(&mut self, when: When) {
        if self.watched {
            self.look(when);
        }
    }

    fn look(&mut self, when: When) {
        self.end_step(Effect::Doubt(Box::new(Doubt { when, reach: Reach::default() })));
    }

    /// Adds an effect, which ends the step.
    pub fn effect(&mut self, effect: Effect) {
        When::of_effect(&effect).into_iter().for_each(|when| self.doubt(when));
        let choice = self.chooses.and_then(|program| When::of_choice(&effect, program, self.at));
        choice.into_iter().for_each(|when| self.look(when));
        self.end_step(effect);
    }

    /// Ends the step. If doubts split it, the first part counts the instructions of all parts. So the
    /// instruction limit ends a watched program in the same place.
    fn end_step(&mut self, effect: Effect) {
        let end = self.alus.len() as u32;
        let doubt = matches!(effect, Effect::Doubt(_));
        self.steps.push(Step { first: self.taken, end, instructions: 0, at: self.at, effect });
        self.taken = end;
        if doubt {
            self.doubts += 1;
            return;
        }
        // The step that leaves the program is past its last instruction.
        let last = self.steps.len() - 1;
        let at = self.at - u32::from(self.doubts > 0 && self.steps[last].effect == Effect::LeftProgram);
        let first = &mut self.steps[last - self.doubts];
        (first.instructions, first.at) = (self.pending, at);
        (self.pending, self.doubts) = (0, 0);
    }

    /// Removes operations since the last effect that do not affect the rows `wanted`. Reads of copies become
    /// reads of the original, and unused results are not computed.
    pub fn keep_wanted(&mut self, wanted: impl Iterator<Item = Row>) {
        let first = self.taken as usize;
        self.read_originals(first);
        let mut wanted: HashSet<Row> = wanted.collect();
        let mut kept = vec![true; self.alus.len()];
        for (kept, alu) in kept.iter_mut().zip(&self.alus).skip(first).rev() {
            *kept = wanted.remove(&alu.dst);
            if *kept {
                wanted.extend(alu.src);
            }
        }
        let mut keep = kept.iter();
        self.alus.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.sources.retain(|_| keep.next() == Some(&true));
    }

    /// Replaces reads of copies by reads of their original, in operations from `first` on, while both hold
    /// the same value.
    fn read_originals(&mut self, first: usize) {
        let mut originals: HashMap<Row, Row> = HashMap::new();
        for alu in &mut self.alus[first..] {
            alu.src = alu.src.map(|row| originals.get(&row).copied().unwrap_or(row));
            originals.retain(|copy, original| *copy != alu.dst && *original != alu.dst);
            let is_copy = matches!(alu.op, AluOp::Extra(Extra::Copy) | AluOp::Pico(PicoOp::Mov));
            if is_copy && (alu.and[0], alu.xor[0]) == (u32::MAX, 0) && alu.src[0] != alu.dst {
                originals.insert(alu.dst, alu.src[0]);
            }
        }
    }

    /// The program, with resolved branch targets. Control that leaves the source goes to a last step that
    /// faults.
    pub fn finish(mut self, instructions: usize) -> Lowered {
        let Self { steps, starts, .. } = &mut self;
        let mut targets = steps.iter_mut().filter_map(|step| step.effect.target_mut());
        if targets.any(|target| !starts.contains_key(target)) {
            // A jump to the last step must not run the operations before it.
            self.end_open_step();
        }
        self.at = instructions as u32;
        self.effect(Effect::LeftProgram);
        let last = self.steps.len() as u32 - 1;
        for step in &mut self.steps {
            if let Some(target) = step.effect.target_mut() {
                *target = self.starts.get(target).copied().unwrap_or(last);
            }
        }
        if self.merged {
            let shift = self.uniform(Uniform::Bits(16));
            merge(&mut self.alus, &mut self.sources, &mut self.steps, shift);
        }
        if self.watched {
            self.find_reaches();
        }
        let [zeroed, overwritten] = touched_rows(&self.alus, &self.steps);
        let summary = Summary::of(self.steps.iter().map(|step| &step.effect));
        // A doubt reads rows that compiled code may leave out.
        let watched = self.watched || self.steps.iter().any(|step| matches!(step.effect, Effect::Doubt(_)));
        let Self { alus, sources, steps, uniforms, .. } = self;
        let constants = constants_read(&steps, &uniforms);
        Lowered {
            alus,
            sources,
            steps,
            uniforms,
            constants,
            zeroed,
            overwritten,
            summary,
            bindless: Vec::new(),
            instructions,
            classes: Vec::new(),
            watched,
            hash: 0,
        }
    }
}

/// Number of scalars of the constant file up to the last one read. `None` if a0.x selects them.
fn constants_read(steps: &[Step], uniforms: &[Uniform]) -> Option<usize> {
    let chosen = |step: &Step| matches!(step.effect, Effect::Gather(Gather { file: File::Constants, .. }));
    match steps.iter().any(chosen) {
        true => None,
        false => {
            Some(uniforms.iter().filter_map(|uniform| uniform.constant()).max().map_or(0, |last| last + 1))
        }
    }
}

impl Builder {
    /// Sets the reach of each doubt.
    fn find_reaches(&mut self) {
        let backwards = Backwards::new(&self.alus, &self.steps);
        let reaches: Vec<Reach> = (0..self.steps.len()).map(|step| backwards.result(step)).collect();
        for (step, reach) in self.steps.iter_mut().zip(reaches) {
            if let Effect::Doubt(doubt) = &mut step.effect {
                doubt.reach = reach;
            }
        }
    }
}

impl Effect {
    /// The target step of this effect.
    pub(super) fn target_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::Branch(branch) => Some(&mut branch.target),
            Self::Call { target } => Some(target),
            Self::Continue | Self::End | Self::Return | Self::Kill(_) | Self::Region(_) => None,
            Self::Barrier | Self::Gather(_) | Self::Scatter { .. } | Self::Derivative { .. } => None,
            Self::Op(..)
            | Self::Doubt(_)
            | Self::Broadcast { .. }
            | Self::Exchange(_)
            | Self::Constants(_) => None,
            Self::LeftProgram | Self::Invalid | Self::Unsupported(_) => None,
        }
    }
}
