//! Which rows are read later: what a segment has to write.
use std::ops::Range;

use super::super::alu::Row;
use super::super::effect::Effect;
use super::super::program::{Program, Step};
use super::super::rowmap::{self, FULL, HALF, REGISTERS};

/// Rows of registers, predicates and temporaries.
const ROWS: usize = rowmap::UNIFORMS as usize;
const WORDS: usize = ROWS.div_ceil(64);

/// A set of rows that programs can write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSet([u64; WORDS]);

impl RowSet {
    /// Registers that somebody may look at when a lane has ended.
    pub fn registers() -> Self {
        let mut set = Self::default();
        (FULL..HALF + REGISTERS).for_each(|row| set.add(row));
        set
    }

    /// The four full registers from this id on.
    pub fn four(id: u32) -> Self {
        let mut set = Self::default();
        (0..4).for_each(|c| set.add(FULL + (id + c) as Row));
        set
    }

    fn all() -> Self {
        Self([u64::MAX; WORDS])
    }

    /// Whether `row` is in it.
    pub fn has(&self, row: Row) -> bool {
        self.0.get(usize::from(row) / 64).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    fn add(&mut self, row: Row) {
        if let Some(word) = self.0.get_mut(usize::from(row) / 64) {
            *word |= 1 << (row % 64);
        }
    }

    fn remove(&mut self, row: Row) {
        if let Some(word) = self.0.get_mut(usize::from(row) / 64) {
            *word &= !(1 << (row % 64));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

/// Rows that are read behind the operations of each step: by its effect, or by what comes then.
///
/// Lanes are looked at one by one: each runs its own way through the program, and a write in its way is a
/// write of all that it will see. Two things break this. What a quad's neighbours read (derivatives,
/// coordinates) may be read while its lane is elsewhere, so in programs whose lanes may part such rows are
/// always read. And in predicated regions lanes pass writes that they do not do: there nothing ends.
pub struct Liveness {
    behind: Vec<RowSet>,
    /// Rows that are always read.
    always: RowSet,
    /// Whether a row is not read any more before it is written.
    writes_count: bool,
}

impl Liveness {
    /// Of `program`, of which `ends` are looked at when it has ended.
    pub fn new(program: &Program, ends: RowSet) -> Self {
        let steps = &program.steps;
        let always = shared_rows(steps);
        let writes_count = !steps.iter().any(|step| matches!(step.effect, Effect::Region(_)));
        let mut before = vec![RowSet::default(); steps.len() + 1];
        let behind = vec![RowSet::default(); steps.len()];
        let mut liveness = Self { behind, always, writes_count };
        loop {
            let mut changed = false;
            for (index, step) in steps.iter().enumerate().rev() {
                let mut live = after(step, index, &before, &ends);
                live.merge(&always);
                if writes_count {
                    step.effect.visit_writes(|row| live.remove(row));
                    live.merge(&always);
                }
                step.effect.visit_reads(|row| live.add(row));
                liveness.behind[index] = live;
                live = liveness.before(program, step.first..step.end, live);
                changed |= before[index] != live;
                before[index] = live;
            }
            if !changed {
                return liveness;
            }
        }
    }

    /// Rows that are read before `alus`, of those that are read behind them.
    fn before(&self, program: &Program, alus: Range<u32>, mut live: RowSet) -> RowSet {
        for alu in program.alus[alus.start as usize..alus.end as usize].iter().rev() {
            if self.writes_count {
                live.remove(alu.dst);
            }
            alu.src.iter().for_each(|&row| live.add(row));
        }
        live.merge(&self.always);
        live
    }

    /// Rows that are read from operation `alu` of step `index` on.
    pub fn before_alu(&self, program: &Program, index: u32, alu: u32) -> RowSet {
        let end = program.steps[index as usize].end;
        self.before(program, alu..end, self.behind[index as usize])
    }
}

/// What may be read behind step `index`.
fn after(step: &Step, index: usize, before: &[RowSet], ends: &RowSet) -> RowSet {
    let next = before.get(index + 1).copied().unwrap_or_default();
    let with = |mut set: RowSet, other: &RowSet| {
        set.merge(other);
        set
    };
    match &step.effect {
        Effect::Branch(branch) => with(next, &before[branch.target as usize]),
        Effect::Call { target } => with(next, &before[*target as usize]),
        // It comes back to wherever it was called from.
        Effect::Return => RowSet::all(),
        Effect::End => *ends,
        // A lane may end here.
        Effect::Kill(_) => with(next, ends),
        Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) => RowSet::all(),
        Effect::Continue | Effect::Doubt(_) | Effect::Region(_) | Effect::Barrier => next,
        Effect::Gather(_) | Effect::Scatter { .. } | Effect::Derivative { .. } | Effect::Op(..) => next,
    }
}

/// Rows that lanes read of each other, in a program whose lanes may part.
fn shared_rows(steps: &[Step]) -> RowSet {
    let mut rows = RowSet::default();
    let parts = |step: &Step| {
        matches!(step.effect, Effect::Branch(_) | Effect::Call { .. } | Effect::Return | Effect::Region(_))
    };
    if steps.iter().any(parts) {
        for step in steps {
            if matches!(step.effect, Effect::Derivative { .. } | Effect::Op(..)) {
                step.effect.visit_reads(|row| rows.add(row));
            }
        }
    }
    rows
}
