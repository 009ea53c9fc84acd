//! Liveness of rows: it determines which rows a segment must store.
use std::ops::Range;

use super::super::alu::Row;
use super::super::effect::Effect;
use super::super::lowered::{Lowered, Step};
use super::super::rowmap::{self, FULL, HALF, REGISTERS};

/// Rows of registers, predicates and temporaries.
const ROWS: usize = rowmap::UNIFORMS as usize;
const WORDS: usize = ROWS.div_ceil(64);

/// A set of rows that programs can write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSet([u64; WORDS]);

impl RowSet {
    /// Registers that may be read after a lane has ended.
    pub fn registers() -> Self {
        let mut set = Self::default();
        (FULL..HALF + REGISTERS).for_each(|row| set.add(row));
        set
    }

    /// The four full registers from `id` on.
    pub fn four(id: u32) -> Self {
        let mut set = Self::default();
        (0..4).for_each(|c| set.add(FULL + (id + c) as Row));
        set
    }

    fn all() -> Self {
        Self([u64::MAX; WORDS])
    }

    /// Whether it contains `row`.
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

/// Rows that are live after the operations of each step: its effect or later steps read them.
///
/// The analysis is per lane: each lane follows its own path, and a write on the path is a write of all that
/// the lane reads later. There are two exceptions. Quad neighbours may read a row (derivatives, coordinates)
/// while its lane is elsewhere. So in programs where lanes may diverge, such rows are always live. And in
/// predicated regions lanes skip writes, so there a write does not end the life of a row.
pub struct Liveness {
    behind: Vec<RowSet>,
    /// Rows that are always live.
    always: RowSet,
    /// Whether a row is dead before it is written.
    writes_count: bool,
}

impl Liveness {
    /// The liveness of `program`. The rows `ends` are read after it has ended.
    pub fn new(program: &Lowered, ends: RowSet) -> Self {
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

    /// Rows that are live before `alus`, for given live rows after them.
    fn before(&self, program: &Lowered, alus: Range<u32>, mut live: RowSet) -> RowSet {
        for alu in program.alus[alus.start as usize..alus.end as usize].iter().rev() {
            if self.writes_count {
                live.remove(alu.dst);
            }
            alu.src.iter().for_each(|&row| live.add(row));
        }
        live.merge(&self.always);
        live
    }

    /// Rows that are live before operation `alu` of step `index`.
    pub fn before_alu(&self, program: &Lowered, index: u32, alu: u32) -> RowSet {
        let end = program.steps[index as usize].end;
        self.before(program, alu..end, self.behind[index as usize])
    }
}

/// Rows that are live after step `index`.
fn after(step: &Step, index: usize, before: &[RowSet], ends: &RowSet) -> RowSet {
    let next = before.get(index + 1).copied().unwrap_or_default();
    let with = |mut set: RowSet, other: &RowSet| {
        set.merge(other);
        set
    };
    match &step.effect {
        Effect::Branch(branch) => with(next, &before[branch.target as usize]),
        Effect::Call { target } => with(next, &before[*target as usize]),
        // Control returns to any caller.
        Effect::Return => RowSet::all(),
        Effect::End => *ends,
        // A lane may end here.
        Effect::Kill(_) => with(next, ends),
        Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) => RowSet::all(),
        Effect::Continue | Effect::Doubt(_) | Effect::Region(_) | Effect::Barrier => next,
        Effect::Gather(_) | Effect::Scatter { .. } | Effect::Broadcast { .. } | Effect::Constants(_) => next,
        Effect::Exchange(_) | Effect::Derivative { .. } | Effect::Op(..) => next,
    }
}

/// Rows that lanes read from each other, in a program where lanes may diverge.
fn shared_rows(steps: &[Step]) -> RowSet {
    let mut rows = RowSet::default();
    let parts = |step: &Step| {
        matches!(step.effect, Effect::Branch(_) | Effect::Call { .. } | Effect::Return | Effect::Region(_))
    };
    if steps.iter().any(parts) {
        for step in steps {
            if matches!(
                step.effect,
                Effect::Derivative { .. }
                    | Effect::Broadcast { .. }
                    | Effect::Exchange(_)
                    | Effect::Constants(_)
                    | Effect::Op(..)
            ) {
                step.effect.visit_reads(|row| rows.add(row));
            }
        }
    }
    rows
}
