//! When each thread of a pool did what.

use std::mem;
use std::time::{Duration, Instant};

use super::{Activity, record, with_recent};

/// Most spans that a thread keeps until they are taken.
const MOST: usize = 1 << 20;

/// A time during which a thread did one thing. Spans within it are other things that it did meanwhile: a thread that
/// waits may run jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What the thread did.
    pub activity: Activity,
    /// When it began, after the start of the recording.
    pub start: Duration,
    /// When it ended.
    pub end: Duration,
}

/// The spans of the threads of a pool.
#[derive(Debug, Default)]
pub struct Spans {
    /// The spans of each thread, in the order in which they ended.
    pub threads: Vec<Vec<Span>>,
    /// Spans that are missing, because there were too many.
    pub left_out: u64,
}

/// Spans of the current thread that have not been taken.
pub(super) struct Recent {
    since: Instant,
    open: Vec<(Activity, Duration)>,
    ended: Vec<Span>,
    left_out: u64,
}

impl Recent {
    pub(super) fn begin(&mut self, activity: Activity) {
        self.open.push((activity, self.since.elapsed()));
    }

    pub(super) fn end(&mut self) {
        // The recording may have started within an activity.
        let Some((activity, start)) = self.open.pop() else { return };
        match self.ended.len() < MOST {
            true => self.ended.push(Span { activity, start, end: self.since.elapsed() }),
            false => self.left_out += 1,
        }
    }

    /// The spans that have ended, and how many are missing.
    fn take(&mut self) -> (Vec<Span>, u64) {
        (mem::take(&mut self.ended), mem::take(&mut self.left_out))
    }

    pub(super) fn current(&self) -> Option<Activity> {
        self.open.last().map(|(activity, _)| *activity)
    }
}

/// Records spans of all threads of the current pool, until [`stop`]. Times count from `since`.
pub fn start(since: Instant) {
    rayon::broadcast(|_| {
        let recent = Recent { since, open: Vec::new(), ended: Vec::new(), left_out: 0 };
        record(Some(recent));
    });
}

/// Takes the spans that have ended.
pub fn take() -> Spans {
    let threads = rayon::broadcast(|_| with_recent(Recent::take).unwrap_or_default());
    let left_out = threads.iter().map(|(_, left_out)| left_out).sum();
    Spans { threads: threads.into_iter().map(|(spans, _)| spans).collect(), left_out }
}

/// Ends the recording and takes the rest of the spans.
pub fn stop() -> Spans {
    let spans = take();
    rayon::broadcast(|_| record(None));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::{self, Helpers, with_threads};
    use crate::work_trace::begin;

    #[test]
    fn jobs_of_other_threads_have_the_activity_of_their_division() {
        let spans = with_threads(2, || {
            start(Instant::now());
            let both = std::sync::Barrier::new(2);
            let division = begin(Activity::Vertices);
            parallel::each(vec![0, 1], Helpers::TakeFirst, |_| both.wait().is_leader());
            drop(division);
            stop()
        });
        let of = |thread: &Vec<Span>, wanted| thread.iter().filter(|span| span.activity == wanted).count();
        let mut jobs: Vec<usize> =
            spans.threads.iter().map(|thread| of(thread, Activity::Vertices)).collect();
        jobs.sort_unstable();
        assert_eq!(jobs, [1, 2], "a job each, and the division");
        for thread in &spans.threads {
            assert!(thread.iter().all(|span| span.start <= span.end));
            assert!(thread.windows(2).all(|pair| pair[0].end <= pair[1].end), "{thread:?}");
        }
    }

    #[test]
    fn nothing_is_recorded_before_the_start_and_after_the_end() {
        let spans = with_threads(1, || {
            let before = begin(Activity::Commands);
            start(Instant::now());
            let during = begin(Activity::Batches);
            drop(before);
            let first = take();
            drop(during);
            let last = stop();
            drop(begin(Activity::Commands));
            [first, last, take()]
        });
        let activities = |spans: &Spans| -> Vec<Activity> {
            spans.threads.iter().flatten().map(|span| span.activity).collect()
        };
        assert_eq!(spans.each_ref().map(activities), [vec![], vec![Activity::Batches], vec![]]);
    }
}
