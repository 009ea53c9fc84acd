//! Rows that effects read and write. They determine which registers are cleared.
use super::alu::{Alu, Row};
use super::effect::{Condition, Effect, File, Region, Test};
use super::lowered::Step;
use super::rowmap::{ADDRESS, REGISTERS, ZERO};

/// Register rows that a program uses. First those that may be read before every lane has written them; they
/// are cleared for each warp. Then those that are written first.
pub(super) fn touched_rows(alus: &[Alu], steps: &[Step]) -> [Vec<Row>; 2] {
    let mut rows = Rows { of: [State::Untouched; ZERO as usize], straight: true };
    for step in steps {
        for alu in &alus[step.first as usize..step.end as usize] {
            alu.src.iter().for_each(|&row| rows.read(row));
            rows.write(alu.dst);
        }
        step.effect.visit_reads(|row| rows.read(row));
        step.effect.visit_writes(|row| rows.write(row));
        rows.straight &= step.effect.falls_through();
    }
    [State::Unsure, State::Written]
        .map(|state| (0..ZERO).filter(|&row| rows.of[row as usize] == state).collect())
}

/// State of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Untouched,
    /// First used by a write, in every lane.
    Written,
    Unsure,
}

struct Rows {
    of: [State; ZERO as usize],
    /// Whether every lane has come this far.
    straight: bool,
}

impl Rows {
    fn read(&mut self, row: Row) {
        self.touch(row, State::Unsure);
    }

    fn write(&mut self, row: Row) {
        self.touch(row, if self.straight { State::Written } else { State::Unsure });
    }

    fn touch(&mut self, row: Row, first: State) {
        if let Some(state @ State::Untouched) = self.of.get_mut(row as usize) {
            *state = first;
        }
    }
}

impl Effect {
    /// Whether the next step runs next, with the same lanes.
    fn falls_through(&self) -> bool {
        !matches!(
            self,
            Self::Branch(_)
                | Self::Call { .. }
                | Self::Return
                | Self::Region(_)
                | Self::End
                | Self::LeftProgram
        )
    }

    /// Calls `read` with every row that it reads.
    pub(super) fn visit_reads(&self, mut read: impl FnMut(Row)) {
        match self {
            Self::Op(op, _) => op.visit(read),
            Self::Branch(branch) => branch.condition.visit(read),
            Self::Kill(condition) => condition.visit(read),
            Self::Region(Region::Begin(test) | Region::Again(test)) => read(test.row),
            Self::Gather(gather) => {
                read(ADDRESS);
                if let File::Registers(base) = gather.file {
                    (base..base + REGISTERS).for_each(read);
                }
            }
            Self::Scatter { base, src, .. } => {
                [ADDRESS, *src].into_iter().chain(*base..base + REGISTERS).for_each(read);
            }
            Self::Derivative { src, .. } => read(*src),
            Self::Broadcast { row } => read(*row),
            Self::Exchange(exchange) => exchange.visit_reads(read),
            Self::Constants(write) => write.visit_reads(read),
            Self::Region(Region::End) | Self::Continue | Self::End | Self::Barrier => {}
            Self::Return | Self::Call { .. } | Self::LeftProgram | Self::Invalid | Self::Unsupported(_) => {}
            // The operation after it reads the same rows.
            Self::Doubt(_) => {}
        }
    }

    /// Calls `write` with every row that it always writes in the executing lanes.
    pub(super) fn visit_writes(&self, mut write: impl FnMut(Row)) {
        match self {
            Self::Op(_, destination) => destination.rows().for_each(|(row, _)| write(row)),
            Self::Gather(gather) => write(gather.dst),
            Self::Derivative { dst, .. } => write(*dst),
            Self::Broadcast { row } => write(*row),
            Self::Exchange(exchange) => exchange.written().for_each(write),
            Self::Branch(_) | Self::Kill(_) | Self::Region(_) | Self::Scatter { .. } | Self::Continue => {}
            Self::Constants(_) => {}
            Self::End | Self::Barrier | Self::Return | Self::Call { .. } => {}
            Self::LeftProgram | Self::Invalid | Self::Unsupported(_) | Self::Doubt(_) => {}
        }
    }
}

impl Condition {
    fn visit(&self, mut read: impl FnMut(Row)) {
        match self {
            Self::Always => {}
            Self::If(Test { row, .. }) => read(*row),
            Self::Both(a, b) | Self::Either(a, b) => [a, b].into_iter().for_each(|test| read(test.row)),
        }
    }
}
