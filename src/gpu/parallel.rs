//! Jobs that threads share. Whoever is done first stays awake for the others: they are done soon, and to wake a thread
//! takes as long as to draw a band of a frame.
//!
//! What comes of it does not depend on who does what.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rayon::Yield;

use crate::ambient::{hold, steady};

/// How long somebody who finds nothing to help with stays awake.
const AWAKE: Duration = Duration::from_micros(200);

/// Which of the jobs that are left a helper takes. Who has them done takes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helpers {
    /// The first as well: so the jobs begin in their order.
    TakeFirst,
    /// The last: so each thread has jobs that lie beside each other, and finds what it has left in its cache when it
    /// had such jobs before.
    TakeLast,
}

/// Has `work` done for each of `jobs`, of which each thread takes another when it is done with one. Gives the results
/// in their order.
pub fn each<J: Send, R: Send>(jobs: Vec<J>, helpers: Helpers, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    each_with(jobs, helpers, || (), |(), job| work(job))
}

/// The same, where each thread works with something of its own, which `begin` makes.
pub fn each_with<J: Send, S, R: Send>(
    jobs: Vec<J>,
    helpers: Helpers,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
) -> Vec<R> {
    let count = rayon::current_num_threads().min(jobs.len()).saturating_sub(1);
    let left = Mutex::new(jobs.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let take = |from: Helpers| {
        let mut left = locked(&left);
        match from {
            Helpers::TakeFirst => left.next(),
            Helpers::TakeLast => left.next_back(),
        }
    };
    let help = |from: Helpers| {
        let _control = hold();
        let mut next = take(from);
        if next.is_none() {
            return;
        }
        let (mut own, mut mine) = (begin(), Vec::new());
        while let Some((number, job)) = next {
            mine.push((number, work(&mut own, job)));
            next = take(from);
        }
        locked(&done).append(&mut mine);
    };
    let gone = AtomicUsize::new(0);
    rayon::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|_| {
                let _goes = Goes(&gone);
                help(helpers);
            });
        }
        help(Helpers::TakeFirst);
        help_until(|| gone.load(Ordering::Acquire) == count);
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Has `job` done by some thread of the pool, later. The pool may be a caller's.
pub fn spawn(job: impl FnOnce() + Send + 'static) {
    rayon::spawn(move || steady(job));
}

/// What is in `mutex`, whatever became of who had it before.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a helper that goes, whatever makes him.
struct Goes<'a>(&'a AtomicUsize);

impl Drop for Goes<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

thread_local! {
    /// Whether this thread is in [`help_until`].
    static HELPS: Cell<bool> = const { Cell::new(false) };
}

/// Helps with whatever there is for threads to do until `is_over`, as long as there is something now and then. False
/// if there was nothing for a while, or this thread is none that helps.
pub fn help_until(is_over: impl FnMut() -> bool) -> bool {
    let before = HELPS.replace(true);
    let is_over = work_until(is_over, rayon::yield_now);
    HELPS.set(before);
    is_over
}

/// Does `work`, which says whether there was any, until `is_over`, as long as there is some now and then. False if there
/// was none for a while, or it says that there will be none.
pub fn work_until(mut is_over: impl FnMut() -> bool, mut work: impl FnMut() -> Option<Yield>) -> bool {
    let mut idle_since = None;
    loop {
        if is_over() {
            return true;
        }
        match work() {
            Some(Yield::Executed) => idle_since = None,
            Some(Yield::Idle) if idle_since.get_or_insert_with(Instant::now).elapsed() < AWAKE => {
                thread::yield_now();
            }
            Some(Yield::Idle) | None => return false,
        }
    }
}

/// Stays awake for what is about to begin, if this is not the thread `other`, and none that waits for something: whoever
/// does is awake, and is to notice that it is there.
pub fn stay_awake(other: Option<usize>) {
    if may_stay(other) {
        help_until(|| false);
    }
}

fn may_stay(other: Option<usize>) -> bool {
    rayon::current_thread_index() != other && !HELPS.get()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn with_threads<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads").install(work)
    }

    #[test]
    fn each_job_is_done_once_and_results_are_in_order() {
        for (threads, jobs) in [(1, 5), (2, 0), (2, 1), (2, 1000), (5, 3), (5, 1000)] {
            for order in [Helpers::TakeFirst, Helpers::TakeLast] {
                let begun = AtomicUsize::new(0);
                let begin = || (begun.fetch_add(1, Ordering::Relaxed), 0);
                let work = |(hand, count): &mut (usize, usize), job: usize| {
                    *count += 1;
                    (job * job, *hand, *count)
                };
                let done = with_threads(threads, || each_with((0..jobs).collect(), order, begin, work));
                let squares: Vec<usize> = done.iter().map(|(square, ..)| *square).collect();
                assert_eq!(squares, (0..jobs).map(|job| job * job).collect::<Vec<_>>());
                let hands = begun.into_inner();
                assert!(hands <= threads.min(jobs), "{hands} of {threads} threads");
                // What each has done with its own, one job after the other.
                let of_hand =
                    |hand| done.iter().filter(|(_, by, _)| *by == hand).map(|(.., count)| *count).max();
                assert_eq!((0..hands).filter_map(of_hand).sum::<usize>(), jobs);
            }
        }
    }

    #[test]
    fn all_threads_have_a_share() {
        let both = std::sync::Barrier::new(2);
        for order in [Helpers::TakeFirst, Helpers::TakeLast] {
            // Nobody gets past the first job alone.
            let wait = |job: usize| (job, both.wait().is_leader()).0;
            assert_eq!(with_threads(2, || each(vec![0, 1], order, wait)), [0, 1]);
        }
    }

    #[test]
    fn a_panic_in_a_job_comes_out_and_nobody_waits_for_ever() {
        for threads in [1, 2, 5] {
            let work = |job: usize| assert_ne!(job, 7, "seven");
            let all = || with_threads(threads, || each((0..20).collect(), Helpers::TakeFirst, work));
            assert!(catch_unwind(AssertUnwindSafe(all)).is_err(), "{threads} threads");
        }
    }

    #[test]
    fn who_waits_helps() {
        let helped = with_threads(1, || {
            let done = AtomicUsize::new(0);
            rayon::scope(|scope| {
                scope.spawn(|_| _ = done.fetch_add(1, Ordering::Release));
                help_until(|| done.load(Ordering::Acquire) == 1)
            })
        });
        assert!(helped);
        assert!(!help_until(|| false), "this thread is none of those");
        assert!(help_until(|| true));
    }

    #[test]
    fn who_waits_for_something_does_not_stay_for_anything_else() {
        with_threads(1, || {
            let mut looks = 0;
            help_until(|| {
                assert!(!may_stay(None));
                help_until(|| true);
                assert!(!may_stay(None), "it still waits");
                looks += 1;
                looks == 3
            });
            assert!(may_stay(None));
            assert!(!may_stay(rayon::current_thread_index()), "it is told not to");
        });
    }
}
