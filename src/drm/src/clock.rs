//! Times of the monotonic clock, until which something waits.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// A point in time, in nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline(i128);

impl Deadline {
    /// No wait.
    pub const NOW: Self = Self(i128::MIN);
    /// No time limit.
    pub const NEVER: Self = Self(i128::MAX);

    /// The time `seconds` and `nanoseconds`.
    pub fn at(seconds: i64, nanoseconds: i64) -> Self {
        Self(i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds))
    }

    /// The remaining time, at most an hour, since the system's wait does not accept every duration.
    pub fn left(self) -> Timespec {
        const SLICE: i128 = 3600 * 1_000_000_000;
        let now = clock_gettime(ClockId::Monotonic);
        let Self(now) = Self::at(now.tv_sec, now.tv_nsec);
        let left = self.0.saturating_sub(now).clamp(0, SLICE);
        Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 }
    }

    /// The time `time` after now.
    pub fn after(time: Duration) -> Self {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
        let Self(now) = Self::at(tv_sec, tv_nsec);
        Self(now + time.as_nanos() as i128)
    }

    /// Whether the time has passed.
    pub fn has_passed(self) -> bool {
        self.left() == Timespec { tv_sec: 0, tv_nsec: 0 }
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
        assert!(!Deadline::at(i64::MAX, i64::MAX).has_passed() && !Deadline::NEVER.has_passed());
    }
}
