//! Records what the threads of a run do ([`spans`]), for pictures of time.
//!
//! A thread that records nothing pays one look at a thread-local variable for each job.

use std::cell::RefCell;

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
    static TRACE: RefCell<Trace> = const { RefCell::new(Trace::Off) };
}

/// What the current thread records.
enum Trace {
    Off,
    Spans(Recent),
}

/// Calls `f` with what the current thread records.
fn with_trace<R>(f: impl FnOnce(&mut Trace) -> R) -> R {
    TRACE.with_borrow_mut(f)
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
    let is_recorded = with_trace(|trace| match trace {
        Trace::Off => false,
        Trace::Spans(recent) => {
            recent.begin(activity);
            true
        }
    });
    Active { is_recorded }
}

impl Drop for Active {
    fn drop(&mut self) {
        if self.is_recorded {
            with_trace(|trace| match trace {
                Trace::Off => {}
                Trace::Spans(recent) => recent.end(),
            });
        }
    }
}

/// Returns the current activity, if spans are recorded: that of jobs for other threads.
pub(crate) fn current() -> Option<Activity> {
    with_trace(|trace| match trace {
        Trace::Spans(recent) => recent.current(),
        Trace::Off => None,
    })
}
