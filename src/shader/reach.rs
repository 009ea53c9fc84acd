//! Reach of a value: which effects of a program it may influence. Found without running the program.
use super::alu::{Alu, Row};
use super::doubt::Reach;
use super::effect::{Effect, File, Gather, Region};
use super::lowered::Step;
use super::ops::Op;
use super::rowmap::{ADDRESS, REGISTERS, UNIFORMS};

/// Most passes over the steps. If they do not suffice, everything is assumed to reach everything.
const ROUNDS: usize = 64;

/// The reach of the value in each writable row.
type Rows = [Reach; UNIFORMS as usize];

/// Backward data flow analysis of a program.
pub struct Backwards<'a> {
    alus: &'a [Alu],
    steps: &'a [Step],
    /// Reaches at the start of each step.
    starts: Vec<Rows>,
    /// Whether a write may leave some later executing lanes unchanged.
    predicated: bool,
}

impl<'a> Backwards<'a> {
    /// Computes the reaches of all rows at each step.
    pub fn new(alus: &'a [Alu], steps: &'a [Step]) -> Self {
        let predicated = steps.iter().any(|step| matches!(step.effect, Effect::Region(_)));
        let starts = vec![[Reach::default(); UNIFORMS as usize]; steps.len()];
        let mut all = Self { alus, steps, starts, predicated };
        for _ in 0..ROUNDS {
            if !all.round() {
                return all;
            }
        }
        all.starts.fill([Reach::ALL; UNIFORMS as usize]);
        all
    }

    /// Makes one pass over the steps. Returns whether something changed.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for index in (0..self.steps.len()).rev() {
            let mut rows = self.behind(index);
            let step = &self.steps[index];
            self.effect(&step.effect, &mut rows);
            self.compute(&self.alus[step.first as usize..step.end as usize], &mut rows);
            changed |= rows != self.starts[index];
            self.starts[index] = rows;
        }
        changed
    }

    /// The reaches of rows after step `index`.
    fn behind(&self, index: usize) -> Rows {
        let mut rows = [Reach::default(); UNIFORMS as usize];
        let mut join = |step: usize| {
            if let Some(start) = self.starts.get(step) {
                rows.iter_mut().zip(start).for_each(|(row, start)| *row |= *start);
            }
        };
        match &self.steps[index].effect {
            Effect::End | Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) => {}
            Effect::Branch(branch) => [branch.target as usize, index + 1].into_iter().for_each(join),
            Effect::Call { target } => [*target as usize, index + 1].into_iter().for_each(join),
            Effect::Return => {
                let calls = self
                    .steps
                    .iter()
                    .enumerate()
                    .filter(|(_, step)| matches!(step.effect, Effect::Call { .. }));
                calls.for_each(|(call, _)| join(call + 1));
            }
            _ => join(index + 1),
        }
        rows
    }

    /// The reach of the value that is written to `row`. The old value of the row then reaches nothing.
    fn take(&self, rows: &mut Rows, row: Row) -> Reach {
        let Some(reach) = rows.get_mut(usize::from(row)) else { return Reach::default() };
        if self.predicated { *reach } else { std::mem::take(reach) }
    }

    fn effect(&self, effect: &Effect, rows: &mut Rows) {
        match effect {
            Effect::End => rows[..2 * usize::from(REGISTERS)].fill(Reach::OUTPUT),
            Effect::Branch(_) | Effect::Region(Region::Begin(_) | Region::Again(_)) => {
                effect.visit_reads(|row| add(rows, row, Reach::CONTROL));
            }
            Effect::Kill(_) => effect.visit_reads(|row| add(rows, row, Reach::CONTROL | Reach::OUTPUT)),
            Effect::Gather(Gather { dst, file, .. }) => {
                let reach = self.take(rows, *dst);
                add(rows, ADDRESS, Reach::ADDRESS);
                if let File::Registers(base) = file {
                    (*base..*base + REGISTERS).for_each(|row| add(rows, row, reach));
                }
            }
            Effect::Scatter { base, src, .. } => {
                let first = usize::from(*base);
                let reach = rows[first..first + usize::from(REGISTERS)]
                    .iter()
                    .fold(Reach::default(), |all, row| all | *row);
                add(rows, ADDRESS, Reach::ADDRESS);
                add(rows, *src, reach);
            }
            Effect::Derivative { dst, src, .. } => {
                let reach = self.take(rows, *dst);
                add(rows, *src, reach);
            }
            Effect::Op(op, destination) => {
                let written: Vec<Row> = destination.rows().map(|(row, _)| row).collect();
                let reach = written.iter().fold(Reach::default(), |all, row| all | self.take(rows, *row));
                operands(op, reach, rows);
            }
            Effect::Region(Region::End) | Effect::Continue | Effect::Call { .. } | Effect::Return => {}
            // Constants reach what reads them, which is not followed.
            Effect::Constants(_) => effect.visit_reads(|row| add(rows, row, Reach::OUTPUT)),
            Effect::Exchange(exchange) => {
                let reach = exchange.written().fold(Reach::default(), |all, row| all | self.take(rows, row));
                exchange.visit_reads(|row| add(rows, row, reach));
            }
            // Its result is the row that it reads.
            Effect::Broadcast { .. } => {}
            Effect::Barrier
            | Effect::LeftProgram
            | Effect::Invalid
            | Effect::Unsupported(_)
            | Effect::Doubt(_) => {}
        }
    }

    /// The reach of the result of the operation or effect after the doubt that ends step `index`.
    pub fn result(&self, index: usize) -> Reach {
        let mut behind = self.steps.iter().enumerate().skip(index + 1);
        let is_doubt = |step: &Step| matches!(step.effect, Effect::Doubt(_)) && step.first == step.end;
        let Some((next, step)) = behind.find(|(_, step)| !is_doubt(step)) else {
            return Reach::default();
        };
        let mut rows = self.behind(next);
        let Some((alu, later)) = self.alus[step.first as usize..step.end as usize].split_first() else {
            let mut reach = match &step.effect {
                Effect::Branch(_) | Effect::Kill(_) => Reach::CONTROL,
                Effect::Op(Op::Store { .. } | Op::ImageStore { .. }, _) => Reach::MEMORY,
                _ => Reach::default(),
            };
            step.effect.visit_writes(|row| reach |= rows[usize::from(row)]);
            return reach;
        };
        self.effect(&step.effect, &mut rows);
        self.compute(later, &mut rows);
        rows.get(usize::from(alu.dst)).copied().unwrap_or_default()
    }

    /// Propagates reaches backward through operations.
    fn compute(&self, alus: &[Alu], rows: &mut Rows) {
        for alu in alus.iter().rev() {
            let reach = self.take(rows, alu.dst);
            alu.src.iter().for_each(|row| add(rows, *row, reach));
        }
    }
}

/// Adds `reach` to `row`.
fn add(rows: &mut Rows, row: Row, reach: Reach) {
    if let Some(row) = rows.get_mut(usize::from(row)) {
        *row |= reach;
    }
}

/// Adds the reaches of the operands of `op`. `answer` is the reach of its result.
fn operands(op: &Op<Row>, answer: Reach, rows: &mut Rows) {
    let stored = match op {
        Op::Store { data, .. } | Op::ImageStore { data, .. } => data.to_vec(),
        _ => Vec::new(),
    };
    let of = |row: Row| match op {
        Op::Varying(_) | Op::FlatVarying { .. } => answer,
        Op::Atomic(_) => answer | Reach::ADDRESS | Reach::MEMORY,
        _ if stored.contains(&row) => Reach::MEMORY,
        _ => answer | Reach::ADDRESS,
    };
    op.visit(|row| add(rows, row, of(row)));
}
