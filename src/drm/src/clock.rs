//! Waiting: until something is so, or a point of the monotonic clock has come.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::device::{Device, State};

/// A point in time, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(i128);

impl Deadline {
    /// Do not wait.
    pub const NOW: Self = Self(i128::MIN);

    /// The point `seconds` and `nanoseconds`.
    pub fn at(seconds: i64, nanoseconds: i64) -> Self {
        Self(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
    }

    fn left(self) -> Duration {
        let now = clock_gettime(ClockId::Monotonic);
        let Self(now) = Self::at(now.tv_sec, now.tv_nsec);
        Duration::from_nanos(self.0.saturating_sub(now).clamp(0, i128::from(u64::MAX)) as u64)
    }

    /// Whether it is in the past.
    pub fn has_passed(self) -> bool {
        self.left().is_zero()
    }
}

impl Device {
    /// What `done` finds in the state, as soon as it finds something; `None` at the deadline.
    pub fn wait<R>(&self, deadline: Deadline, done: impl Fn(&mut State) -> Option<R>) -> Option<R> {
        // Long waits are cut: the system's wait does not take every duration.
        const SLICE: Duration = Duration::from_secs(3600);
        let mut state = self.state();
        loop {
            if let Some(result) = done(&mut state) {
                return Some(result);
            }
            let left = deadline.left().min(SLICE);
            if left.is_zero() {
                return None;
            }
            let waited = self.progress.wait_timeout(state, left);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_and_past_deadlines() {
        assert!(
            Deadline::NOW.has_passed()
                && Deadline::at(0, 0).has_passed()
                && Deadline::at(i64::MIN, 0).has_passed()
        );
        assert!(!Deadline::at(i64::MAX, i64::MAX).has_passed());
    }
}
