//! Operations of the environment: from rows to lanes and back.
use multiversion::multiversion;

use super::alu::Row;
use super::environment::{Environment, Refused};
use super::extra;
use super::lanes::{ALL, Lanes, Mask};
use super::ops::{Destination, Op, Plain, Precision};
use super::warp::{ANSWER, Warp, take};

impl Warp {
    /// Has `environment` do `op` for the lanes of `mask`. What writes memory is done for
    /// those alone that are neither helpers nor killed.
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

    /// The same of what is no common request, or one that is not done sooner.
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

    /// Has `environment` do a common request for the lanes of `mask`, if that is done sooner; false, and nothing
    /// done, if not.
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

    /// The same where all lanes take the answer as it is: its components go straight to their registers.
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
        // What lies where the answer goes is read elsewhere: nobody answers in the spare rows meanwhile.
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

    /// The rows of `destination` take what was answered.
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

/// Copies a row as widely as it will be read: what narrow stores have just written, a wide load waits for.
#[multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn copy(rows: &mut [Lanes], from: usize, to: usize) {
    rows[to] = rows[from];
}
