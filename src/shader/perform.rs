//! Operations of the environment: from rows to lanes and back.
use super::alu::Row;
use super::environment::{Environment, Refused};
use super::extra;
use super::lanes::{Lanes, Mask};
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
        let allowed = if op.writes() { mask & self.covered() } else { mask };
        if let Op::Sample(sample) = op
            && let Some(plain) = sample.plain()
            && self.filter(&plain, destination, mask, environment)
        {
            return Ok(());
        }
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
        let Some((rows, answer)) = self.rows.split_last_chunk_mut::<ANSWER>() else { return false };
        let done = environment.filter(&plain.map(|row| &rows[row as usize]), mask, answer);
        if done {
            self.take_answer(destination, mask);
        }
        done
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
