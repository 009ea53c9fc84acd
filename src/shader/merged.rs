//! The one register file of A6xx and later, on rows.
//!
//! From A6xx on half registers lie in the full ones: hr0.x is the low half of r0.x, hr0.y its high half, and so on up to
//! hr47.w in r23.w (Mesa: `ir3_shader_variant::mergedregs`). A warp has rows of its own for half registers. So a value may
//! lie in the row of the full register, in the rows of its halves, or in both. This pass finds for each step where each
//! value is, and adds the operations that move it when the other place is read: `full = low | high << 16` ([`Sync::Join`]),
//! or one half of the full row ([`Sync::Low`], [`Sync::High`]). Programs that use a register in one way only get none.
//!
//! Lanes that a step leaves out take another path, on which the same holds: a place is valid if it is on all paths to it.
use a4emu_decoder::adreno::ir3::{Cat2Op, Cond};

use super::alu::{Alu, Row};
use super::effect::{Effect, Region};
use super::lowered::Step;
use super::rowmap::{FULL, HALF, REGISTERS, SHIFTED, ZERO};
use super::rows::{AluOp, kernel};
use crate::extra::Extra;

/// Number of full registers that have halves.
const PAIRS: Row = REGISTERS / 2;
/// Most passes over the steps. After them every value is moved to the full rows at the end of each step.
const ROUNDS: usize = 64;

/// A set of full registers that have halves: bit n is register n.
type Pairs = u128;

/// All of them.
const ALL: Pairs = (1 << PAIRS) - 1;

/// The places that hold the current value of each register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Valid {
    /// The full row.
    full: Pairs,
    /// The row of the low half.
    low: Pairs,
    /// The row of the high half.
    high: Pairs,
}

/// Where a row lies in the merged file.
enum Place {
    Full(Pairs),
    Low(Pairs),
    High(Pairs),
    /// Not in the file, or a full register without halves.
    Apart,
}

impl Place {
    fn of(row: Row) -> Self {
        if row < FULL + PAIRS {
            return Self::Full(1 << (row - FULL));
        }
        match row.checked_sub(HALF).filter(|half| *half < REGISTERS) {
            None => Self::Apart,
            Some(half) if half % 2 == 0 => Self::Low(1 << (half / 2)),
            Some(half) => Self::High(1 << (half / 2)),
        }
    }
}

/// An operation that moves values to another place, for each register of a set.
#[derive(Clone, Copy)]
enum Sync {
    /// Makes the full row of its halves.
    Join(Pairs),
    /// Makes the low half of the full row.
    Low(Pairs),
    /// Makes the high half of the full row.
    High(Pairs),
}

impl Valid {
    /// At the start of a program, inputs are in full registers; all others are zero.
    const START: Self = Self { full: ALL, low: 0, high: 0 };
    /// Nothing is known to be wrong: the state of a step that no path has reached.
    const ANY: Self = Self { full: 0, low: ALL, high: ALL };

    /// The state in which halves are valid where they are in all of two states. Elsewhere the full row has to be.
    fn meet(self, other: Self) -> Self {
        let (low, high) = (self.low & other.low, self.high & other.high);
        Self { full: ALL & !(low & high), low, high }
    }

    fn read(&mut self, row: Row, sync: &mut impl FnMut(Sync)) {
        match Place::of(row) {
            Place::Full(pair) if self.full & pair == 0 => {
                sync(Sync::Join(pair));
                self.full |= pair;
            }
            Place::Low(pair) if self.low & pair == 0 => {
                sync(Sync::Low(pair));
                self.low |= pair;
            }
            Place::High(pair) if self.high & pair == 0 => {
                sync(Sync::High(pair));
                self.high |= pair;
            }
            Place::Full(_) | Place::Low(_) | Place::High(_) | Place::Apart => {}
        }
    }

    /// Saves the half beside one that is going to be written.
    fn before_write(&mut self, row: Row, sync: &mut impl FnMut(Sync)) {
        match Place::of(row) {
            Place::Low(_) => self.read(row + 1, sync),
            Place::High(_) => self.read(row - 1, sync),
            Place::Full(_) | Place::Apart => {}
        }
    }

    fn write(&mut self, row: Row) {
        let (full, low, high) = (self.full, self.low, self.high);
        (self.full, self.low, self.high) = match Place::of(row) {
            Place::Full(pair) => (full | pair, low & !pair, high & !pair),
            Place::Low(pair) => (full & !pair, low | pair, high),
            Place::High(pair) => (full & !pair, low, high | pair),
            Place::Apart => return,
        };
    }

    fn alu(&mut self, alu: &Alu, sync: &mut impl FnMut(Sync)) {
        alu.src.into_iter().for_each(|row| self.read(row, sync));
        self.before_write(alu.dst, sync);
        self.write(alu.dst);
    }

    /// What `effect` reads, and the halves beside those that it writes.
    fn before_effect(&mut self, effect: &Effect, sync: &mut impl FnMut(Sync)) {
        effect.visit_reads(|row| self.read(row, sync));
        let mut written = Vec::new();
        effect.visit_writes(|row| written.push(row));
        // Rows of halves are at even numbers, so that the other half of a register is one bit away.
        let lone = written.iter().filter(|&&row| !written.contains(&(row ^ 1)));
        lone.for_each(|&row| self.before_write(row, sync));
    }

    fn after_effect(&mut self, effect: &Effect) {
        effect.visit_writes(|row| self.write(row));
        if let Effect::Scatter { base, .. } = effect {
            (*base..*base + REGISTERS).for_each(|row| self.write(row));
        }
    }
}

/// Adds the moves to a program: its operations, the instruction of each, and its steps.
pub fn merge(alus: &mut Vec<Alu>, sources: &mut Vec<u32>, steps: &mut Vec<Step>, shift: Row) {
    let halves = HALF..HALF + REGISTERS;
    let names_half = |alu: &Alu| alu.src.iter().chain([&alu.dst]).any(|row| halves.contains(row));
    let mut any = alus.iter().any(names_half);
    for step in &*steps {
        step.effect.visit_reads(|row| any |= halves.contains(&row));
        step.effect.visit_writes(|row| any |= halves.contains(&row));
    }
    if !any {
        return;
    }
    let starts = starts(alus, steps);
    let mut merged = Merged { shift, alus: Vec::new(), sources: Vec::new(), steps: Vec::new() };
    let mut moved = Vec::with_capacity(steps.len());
    for index in 0..steps.len() {
        moved.push(merged.steps.len() as u32);
        merged.step(index, alus, sources, steps, &starts);
    }
    for step in &mut merged.steps {
        if let Some(target) = step.effect.target_mut() {
            *target = moved[*target as usize];
        }
    }
    (*alus, *sources, *steps) = (merged.alus, merged.sources, merged.steps);
}

/// The state at the start of each step.
fn starts(alus: &[Alu], steps: &[Step]) -> Vec<Valid> {
    let mut starts = vec![Valid::ANY; steps.len()];
    starts[0] = Valid::START;
    for _ in 0..ROUNDS {
        let mut changed = false;
        for index in 0..steps.len() {
            let end = end(alus, &steps[index], starts[index]);
            successors(steps, index, |next| {
                let met = starts[next].meet(end);
                changed |= met != starts[next];
                starts[next] = met;
            });
        }
        if !changed {
            return starts;
        }
    }
    vec![Valid::START; steps.len()]
}

/// The state after `step`, whose start has `valid`.
fn end(alus: &[Alu], step: &Step, mut valid: Valid) -> Valid {
    let mut none = |_| {};
    alus[step.first as usize..step.end as usize].iter().for_each(|alu| valid.alu(alu, &mut none));
    valid.before_effect(&step.effect, &mut none);
    valid.after_effect(&step.effect);
    valid
}

/// Calls `each` with every step at which a lane may go on after step `index`.
fn successors(steps: &[Step], index: usize, mut each: impl FnMut(usize)) {
    let mut each = |step: usize| {
        if step < steps.len() {
            each(step)
        }
    };
    match &steps[index].effect {
        Effect::End | Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) => {}
        Effect::Branch(branch) => [branch.target as usize, index + 1].into_iter().for_each(each),
        Effect::Call { target } => [*target as usize, index + 1].into_iter().for_each(each),
        Effect::Return => {
            let calls = (0..steps.len()).filter(|call| matches!(steps[*call].effect, Effect::Call { .. }));
            calls.for_each(|call| each(call + 1));
        }
        // Lanes in which the test fails do nothing up to the next test, or to the end of the region.
        Effect::Region(Region::Begin(_) | Region::Again(_)) => {
            each(index + 1);
            for (later, step) in steps.iter().enumerate().skip(index + 1) {
                if let Effect::Region(region) = &step.effect {
                    each(later + 1);
                    if *region == Region::End {
                        break;
                    }
                }
            }
        }
        _ => each(index + 1),
    }
}

/// The program with its moves.
struct Merged {
    /// The row that holds 16 in all lanes.
    shift: Row,
    alus: Vec<Alu>,
    sources: Vec<u32>,
    steps: Vec<Step>,
}

impl Merged {
    fn step(&mut self, index: usize, alus: &[Alu], sources: &[u32], steps: &[Step], starts: &[Valid]) {
        let step = &steps[index];
        let (mut valid, first) = (starts[index], self.alus.len() as u32);
        for at in step.first as usize..step.end as usize {
            valid.alu(&alus[at], &mut |sync| self.add(sync, sources[at]));
            self.alus.push(alus[at]);
            self.sources.push(sources[at]);
        }
        let mut add = |sync| self.add(sync, step.at);
        valid.before_effect(&step.effect, &mut add);
        if let Effect::Doubt(_) = step.effect {
            of_doubted(alus, &steps[index + 1..], |row| valid.read(row, &mut add));
        }
        let mut needed = 0;
        successors(steps, index, |next| needed |= starts[next].full);
        let mut after = valid;
        after.after_effect(&step.effect);
        // What the effect writes can only be moved after it.
        let (needed, written) = (needed & !after.full, written(&step.effect));
        self.add(Sync::Join(needed & !written), step.at);
        let late = needed & written;
        self.steps.push(Step { first, end: self.alus.len() as u32, ..step.clone() });
        if late != 0 {
            let first = self.alus.len() as u32;
            self.add(Sync::Join(late), step.at);
            let end = self.alus.len() as u32;
            self.steps.push(Step { first, end, instructions: 0, at: step.at, effect: Effect::Continue });
        }
    }

    fn add(&mut self, sync: Sync, source: u32) {
        let (Sync::Join(pairs) | Sync::Low(pairs) | Sync::High(pairs)) = sync;
        for pair in (0..PAIRS).filter(|pair| pairs >> pair & 1 != 0) {
            let (full, low) = (FULL + pair, HALF + 2 * pair);
            match sync {
                Sync::Join(_) => {
                    self.push(Cat2Op::ShlB.into(), SHIFTED, [low + 1, self.shift], source);
                    self.push(Cat2Op::OrB.into(), full, [low, SHIFTED], source);
                }
                Sync::Low(_) => self.push(Extra::Cut.into(), low, [full, ZERO], source),
                Sync::High(_) => self.push(Cat2Op::ShrB.into(), low + 1, [full, self.shift], source),
            }
        }
    }

    fn push(&mut self, op: AluOp, dst: Row, src: [Row; 2], source: u32) {
        let width = if op == AluOp::from(Extra::Cut) { 16 } else { 32 };
        self.alus.push(Alu {
            kernel: kernel(op),
            op,
            dst,
            src: [src[0], src[1], ZERO],
            and: [u32::MAX; 3],
            xor: [0; 3],
            cond: Cond::Lt,
            width,
        });
        self.sources.push(source);
    }
}

/// The registers of which `effect` writes a half.
fn written(effect: &Effect) -> Pairs {
    let mut pairs = 0;
    let mut add = |row| {
        if let Place::Low(pair) | Place::High(pair) = Place::of(row) {
            pairs |= pair;
        }
    };
    effect.visit_writes(&mut add);
    if let Effect::Scatter { base, .. } = effect {
        (*base..*base + REGISTERS).for_each(add);
    }
    pairs
}

/// Calls `read` with the rows that a doubt may look at: those of the operation or effect after it.
fn of_doubted(alus: &[Alu], behind: &[Step], read: impl FnMut(Row)) {
    let is_doubt = |step: &&Step| matches!(step.effect, Effect::Doubt(_)) && step.first == step.end;
    let Some(step) = behind.iter().find(|step| !is_doubt(step)) else { return };
    match alus[step.first as usize..step.end as usize].first() {
        Some(alu) => alu.src.into_iter().for_each(read),
        None => step.effect.visit_reads(read),
    }
}
