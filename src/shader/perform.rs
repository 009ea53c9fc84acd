//! Operations of the environment: from rows to lanes and back.
use super::alu::Row;
use super::environment::{Environment, Refused};
use super::extra;
use super::lanes::{Lanes, Mask};
use super::ops::{Destination, Op, Precision};
use super::warp::Warp;

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
        let mut out = [Lanes::ZERO; 4];
        environment.perform(&op.map(|row| self.row(row)), allowed, &mut out)?;
        for (row, component) in destination.rows() {
            let value = &out[component];
            match destination.precision {
                Precision::Full => self.write(row, value, mask),
                Precision::HalfFloat => self.write(row, &Lanes(value.map(extra::to_half)), mask),
                Precision::HalfInteger => self.write(row, &Lanes(value.map(|bits| bits & 0xffff)), mask),
            }
        }
        Ok(())
    }
}
