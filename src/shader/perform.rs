//! Operations of the environment: operands from rows, results to rows.
use multiversion::multiversion;

use super::alu::Row;
use super::environment::{Environment, Refused};
use super::extra;
use super::lanes::{ALL, Lanes, Mask};
use super::ops::{Destination, Op, Plain, Precision};
use super::warp::{ANSWER, Warp, take};

impl Warp {
    /// Does `op` in `environment` for the lanes of `mask`. Lanes that are helpers or killed do not write
    /// memory.
    pub(super) fn perform(
        &mut self,
        op: &Op<Row>,
        destination: Destination,
        mask: Mask,
        environment: &mut impl Environment,
    ) -> Result<(), Refused> {
        if let Op::Sample(sample) = op
            && let Some(plain) = sample.plain()
            && self.filter(&plain, destination, mask, environment)
        {
            return Ok(());
        }
        self.ask(op, destination, mask, environment)
    }

    /// Like [`Self::perform`], without the fast path.
    pub(super) fn ask(
        &mut self,
        op: &Op<Row>,
        destination: Destination,
        mask: Mask,
        environment: &mut impl Environment,
    ) -> Result<(), Refused> {
        let allowed = if op.writes() { mask & self.covered() } else { mask };
        let Some((rows, answer)) = self.rows.split_last_chunk_mut::<ANSWER>() else { return Err(Refused) };
        environment.perform(&op.map(|row| &rows[row as usize]), allowed, answer)?;
        self.take_answer(destination, mask);
        Ok(())
    }

    /// Does a common sample in `environment` by its fast path, for the lanes of `mask`. Returns false, and
    /// does nothing, if there is none.
    #[inline]
    pub(super) fn filter(
        &mut self,
        plain: &Plain<Row>,
        destination: Destination,
        mask: Mask,
        environment: &mut impl Environment,
    ) -> bool {
        if mask | self.idle == ALL && destination.precision == Precision::Full {
            return self.filter_in_place(plain, destination, mask, environment);
        }
        let Some((rows, answer)) = self.rows.split_last_chunk_mut::<ANSWER>() else { return false };
        let done = environment.filter(&plain.map(|row| &rows[row as usize]), mask, answer);
        if done {
            self.take_answer(destination, mask);
        }
        done
    }

    /// Like [`Self::filter`] if all lanes take the result unchanged: its components go straight to their
    /// registers.
    #[inline]
    fn filter_in_place(
        &mut self,
        plain: &Plain<Row>,
        destination: Destination,
        mask: Mask,
        environment: &mut impl Environment,
    ) -> bool {
        let Self { rows, .. } = self;
        let (first, spare) = (usize::from(destination.first), rows.len().saturating_sub(ANSWER));
        let place = first..first + ANSWER;
        if place.end > spare {
            return false;
        }
        // Operands in the result's rows are read from copies in the spare rows, which are unused meanwhile.
        let mut copies = 0;
        let plain = plain.map(|row| match usize::from(row) {
            row if place.contains(&row) => {
                copies += 1;
                copy(rows, row, spare + copies - 1);
                spare + copies - 1
            }
            row => row,
        });
        let (before, rest) = rows.split_at_mut(first);
        let Some((out, behind)) = rest.split_first_chunk_mut() else { return false };
        let at = |row: usize| before.get(row).unwrap_or_else(|| &behind[row - place.end]);
        environment.filter(&plain.map(at), mask, out)
    }

    /// Stores the result in the rows of `destination`.
    #[inline]
    fn take_answer(&mut self, destination: Destination, mask: Mask) {
        let Self { rows, idle, .. } = self;
        let Some((rows, answer)) = rows.split_last_chunk_mut::<ANSWER>() else { return };
        for (row, component) in destination.rows() {
            let value = &mut answer[component];
            match destination.precision {
                Precision::Full => {}
                Precision::HalfFloat => *value = Lanes(value.map(extra::to_half)),
                Precision::HalfInteger => *value = Lanes(value.map(|bits| bits & 0xffff)),
            }
            take(&mut rows[row as usize], value, mask, *idle);
        }
    }
}

/// Copies a row with wide stores. A wide load right after narrow stores would stall.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn copy(rows: &mut [Lanes], from: usize, to: usize) {
    rows[to] = rows[from];
}
