//! Records what the threads of a run do ([`spans`]), for pictures of time.
//!
//! A thread that records nothing pays one look at a thread-local variable for each job.

use std::cell::{Cell, RefCell};

use serde::Serialize;

pub mod spans;

use spans::Recent;

/// What a thread does: a stage of its work, or what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// The command processor reads packets and prepares draws.
    Commands,
    /// Compute shaders run.
    Compute,
    /// Vertices are fetched and shaded; also hull, domain and geometry shaders.
    Vertices,
    /// Primitives are clipped and set up.
    Primitives,
    /// A batch of draws is divided into jobs, and its results are collected.
    Batches,
    /// A job draws fragments, and copies the rows that it drew.
    Fragments,
    /// A resolve that is not part of a batch runs.
    Resolves,
    /// Waits for draws in the queue, whose results are needed next.
    WaitForDraws,
    /// Waits until other threads have done the last jobs of a division.
    WaitForThreads,
    /// Waits for a lock.
    WaitForLock,
    /// Looks for jobs, and there are none.
    NoJobs,
}

impl Activity {
    /// All activities: work, then waiting.
    pub const ALL: [Self; 11] = [
        Self::Commands,
        Self::Compute,
        Self::Vertices,
        Self::Primitives,
        Self::Batches,
        Self::Fragments,
        Self::Resolves,
        Self::WaitForDraws,
        Self::WaitForThreads,
        Self::WaitForLock,
        Self::NoJobs,
    ];

    /// The name, as people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Commands => "command processor",
            Self::Compute => "compute shaders",
            Self::Vertices => "vertices",
            Self::Primitives => "primitives",
            Self::Batches => "division into jobs",
            Self::Fragments => "fragments",
            Self::Resolves => "resolves",
            Self::WaitForDraws => "waits for draws",
            Self::WaitForThreads => "waits for other threads",
            Self::WaitForLock => "waits for a lock",
            Self::NoJobs => "has no jobs",
        }
    }

    /// Whether the thread does nothing useful.
    pub fn is_wait(self) -> bool {
        matches!(self, Self::WaitForDraws | Self::WaitForThreads | Self::WaitForLock | Self::NoJobs)
    }
}

thread_local! {
    /// Whether the current thread records anything. [`RECENT`] has a destructor, which a thread registers under a
    /// lock of the loader when it first uses the variable. A program that ends meanwhile would wait for the lock.
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    /// What the current thread records, while it does.
    static RECENT: RefCell<Option<Recent>> = const { RefCell::new(None) };
}

/// Calls `f` with what the current thread records, if it records anything.
fn with_recent<R>(f: impl FnOnce(&mut Recent) -> R) -> Option<R> {
    if IS_ON.get() { RECENT.with_borrow_mut(|recent| recent.as_mut().map(f)) } else { None }
}

/// Makes the current thread record to `recent`, or nothing.
fn record(recent: Option<Recent>) {
    let is_on = recent.is_some();
    if is_on || IS_ON.get() {
        RECENT.set(recent);
        IS_ON.set(is_on);
    }
}

/// An activity that ends when this is dropped.
#[must_use]
pub(crate) struct Active {
    is_recorded: bool,
}

/// Begins an activity of the current thread, within the one before.
pub(crate) fn begin(activity: Activity) -> Active {
    #[cfg(test)]
    crate::parallel::permuted::point();
    Active { is_recorded: with_recent(|recent| recent.begin(activity)).is_some() }
}

impl Drop for Active {
    fn drop(&mut self) {
        if self.is_recorded {
            with_recent(Recent::end);
        }
    }
}

/// Returns the current activity, if spans are recorded: that of jobs for other threads.
pub(crate) fn current() -> Option<Activity> {
    with_recent(|recent| recent.current()).flatten()
}
