//! Jobs that several threads share. A thread that finds no job keeps polling for a while. Waking a thread
//! would take as long as drawing a band of a frame.
//!
//! Results do not depend on which thread does which job.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Instant;

use rayon::Yield;

use crate::ambient::{hold, with_rust_float_control};
use crate::limits::POLL_TIME;
use crate::work_trace::{self, Activity};

#[cfg(test)]
pub(crate) mod permuted;

/// Which of the remaining jobs a helper thread takes. The calling thread takes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helpers {
    /// The first, so that jobs begin in order.
    TakeFirst,
    /// The last, so that each thread has adjacent jobs. Data in the thread's CPU cache is then used again
    /// when its jobs are the same as before.
    TakeLast,
}

/// Runs `work` for each of `jobs` on several threads. Each thread takes its next job when one is done.
/// Results are in the order of `jobs`.
pub fn each<J: Send, R: Send>(jobs: Vec<J>, helpers: Helpers, work: impl Fn(J) -> R + Sync) -> Vec<R> {
    each_with(jobs, helpers, || (), |(), job| work(job))
}

/// Like [`each`], with a state of each thread, which `begin` makes.
pub fn each_with<J: Send, S, R: Send>(
    jobs: Vec<J>,
    helpers: Helpers,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> R + Sync,
) -> Vec<R> {
    #[cfg(test)]
    if permuted::is_on() {
        return permuted::each_with(jobs, begin, work);
    }
    let count = rayon::current_num_threads().min(jobs.len()).saturating_sub(1);
    let left = Mutex::new(jobs.into_iter().enumerate());
    let done = Mutex::new(Vec::new());
    let activity = work_trace::current();
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
            let active = activity.map(work_trace::begin);
            mine.push((number, work(&mut own, job)));
            drop(active);
            next = take(from);
        }
        locked(&done).append(&mut mine);
    };
    let gone = AtomicUsize::new(0);
    rayon::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|_| {
                let _goes = CountsDown(&gone);
                help(helpers);
            });
        }
        help(Helpers::TakeFirst);
        help_until(Activity::WaitForThreads, || gone.load(Ordering::Acquire) == count);
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs `job` later on a thread of the pool, which may be a caller's pool.
pub fn spawn(job: impl FnOnce() + Send + 'static) {
    #[cfg(test)]
    let Some(job) = permuted::spawn(job) else { return };
    rayon::spawn(move || with_rust_float_control(job));
}

/// The number of threads to divide work for.
pub fn threads() -> usize {
    #[cfg(test)]
    if let Some(threads) = permuted::threads() {
        return threads;
    }
    rayon::current_num_threads()
}

/// Whether the pool has threads beside the current one.
pub fn has_other_threads() -> bool {
    #[cfg(test)]
    if permuted::is_on() {
        return true;
    }
    rayon::current_num_threads() > 1
}

/// Locks `mutex`, also if a thread panicked while it held the lock.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
        Err(TryLockError::WouldBlock) => {
            let _wait = work_trace::begin(Activity::WaitForLock);
            mutex.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

/// Counts a helper thread that ends, also by a panic.
struct CountsDown<'a>(&'a AtomicUsize);

impl Drop for CountsDown<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

thread_local! {
    /// Whether this thread is in [`help_until`].
    static HELPS: Cell<bool> = const { Cell::new(false) };
}

/// Runs jobs of the pool until `is_over` returns true, which is recorded as `wait`. Returns false if there was no job for
/// [`POLL_TIME`], or this thread is not in a pool.
pub fn help_until(wait: Activity, is_over: impl FnMut() -> bool) -> bool {
    let before = HELPS.replace(true);
    let is_over = work_until(wait, is_over, run_job);
    HELPS.set(before);
    is_over
}

/// Runs a job of the pool, if there is one.
fn run_job() -> Option<Yield> {
    #[cfg(test)]
    if permuted::is_on() {
        return permuted::run_one().then_some(Yield::Executed);
    }
    rayon::yield_now()
}

/// Runs `work` until `is_over` returns true. `work` says whether it did something. Returns false if it did
/// nothing for [`POLL_TIME`], or returns `None`. This is recorded as `wait`, with the work in it.
pub fn work_until(
    wait: Activity,
    mut is_over: impl FnMut() -> bool,
    mut work: impl FnMut() -> Option<Yield>,
) -> bool {
    let _wait = work_trace::begin(wait);
    let mut idle_since = None;
    loop {
        if is_over() {
            return true;
        }
        match work() {
            Some(Yield::Executed) => idle_since = None,
            Some(Yield::Idle) if idle_since.get_or_insert_with(Instant::now).elapsed() < POLL_TIME => {
                thread::yield_now();
            }
            Some(Yield::Idle) | None => return false,
        }
    }
}

/// Polls for jobs for a while, unless this is thread `other` or it is already in [`help_until`]. Such a
/// thread already polls, and must notice when its own wait is over.
pub fn poll_for_jobs(other: Option<usize>) {
    #[cfg(test)]
    if permuted::is_on() {
        return;
    }
    if may_stay(other) {
        help_until(Activity::NoJobs, || false);
    }
}

fn may_stay(other: Option<usize>) -> bool {
    rayon::current_thread_index() != other && !HELPS.get()
}

/// Runs `work` in a pool of `count` threads.
#[cfg(test)]
pub(crate) fn with_threads<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads").install(work)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

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
                // The count of each thread's own state: its jobs, one after the other.
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
            // The first job ends only when the other thread has begun the second.
            let wait = |job: usize| (job, both.wait().is_leader()).0;
            assert_eq!(with_threads(2, || each(vec![0, 1], order, wait)), [0, 1]);
        }
    }

    #[test]
    fn panics_in_jobs_propagate_and_end_the_wait() {
        for threads in [1, 2, 5] {
            let work = |job: usize| assert_ne!(job, 7, "seven");
            let all = || with_threads(threads, || each((0..20).collect(), Helpers::TakeFirst, work));
            assert!(catch_unwind(AssertUnwindSafe(all)).is_err(), "{threads} threads");
        }
    }

    #[test]
    fn waiting_pool_threads_run_other_jobs() {
        let helped = with_threads(1, || {
            let done = AtomicUsize::new(0);
            rayon::scope(|scope| {
                scope.spawn(|_| _ = done.fetch_add(1, Ordering::Release));
                help_until(Activity::NoJobs, || done.load(Ordering::Acquire) == 1)
            })
        });
        assert!(helped);
        assert!(!help_until(Activity::NoJobs, || false), "this thread is none of those");
        assert!(help_until(Activity::NoJobs, || true));
    }

    #[test]
    fn waiting_threads_do_not_poll_for_other_jobs() {
        with_threads(1, || {
            let mut looks = 0;
            help_until(Activity::NoJobs, || {
                assert!(!may_stay(None));
                help_until(Activity::NoJobs, || true);
                assert!(!may_stay(None), "it still waits");
                looks += 1;
                looks == 3
            });
            assert!(may_stay(None));
            assert!(!may_stay(rayon::current_thread_index()), "it is told not to");
        });
    }
}
