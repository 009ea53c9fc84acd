//! Which work of a run can be done in parallel, so that its time on more threads can be predicted.
//!
//! The run takes place on one thread, in a pool of one thread. Work is divided as it would be for the number of threads
//! that is asked about.

use std::mem;
use std::time::{Duration, Instant};

use super::{Activity, Trace, with_trace};

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The tasks. The first one is the caller; tasks start the others.
    pub tasks: Vec<Task>,
}

/// Steps that run one after the other.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// A step of a task.
#[derive(Clone, Debug)]
pub enum Step {
    /// Work of this thread alone.
    Serial(Activity, Duration),
    /// Jobs that any threads can do. The task continues when all are done.
    Jobs(Activity, Vec<Duration>),
    /// Starts a task (its index), which then runs beside this one.
    Start(usize),
    /// Waits until all tasks that have been started are done.
    Wait,
}

pub(super) struct Recorder {
    recording: Recording,
    /// The number of threads that work is divided for.
    threads: usize,
    /// Indices of the running task, and of those that it interrupts.
    running: Vec<usize>,
    /// The activity, and those around it.
    activities: Vec<Activity>,
    /// Since when the running task has done serial work. `None` within a job.
    since: Option<Instant>,
}

impl Recorder {
    fn add(&mut self, step: Step) {
        let running = *self.running.last().expect("the caller runs");
        self.recording.tasks[running].steps.push(step);
    }

    fn activity(&self) -> Activity {
        self.activities.last().copied().unwrap_or(Activity::Commands)
    }

    /// Ends the current serial work.
    fn end_serial(&mut self) {
        if let Some(since) = self.since.take() {
            self.add(Step::Serial(self.activity(), since.elapsed()));
        }
    }

    fn begin_serial(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Begins an activity. Returns false if it is not recorded: it is part of a job, or one thread does not wait.
    pub(super) fn begin(&mut self, activity: Activity) -> bool {
        let is_recorded = self.since.is_some() && !activity.is_wait();
        if is_recorded {
            self.end_serial();
            self.activities.push(activity);
            self.begin_serial();
        }
        is_recorded
    }

    /// Ends an activity that [`Recorder::begin`] recorded.
    pub(super) fn end(&mut self) {
        self.end_serial();
        self.activities.pop();
        self.begin_serial();
    }
}

/// Runs `run` and records its work, divided as for `threads` threads. Call it in a pool of one thread.
pub fn record<R>(threads: usize, run: impl FnOnce() -> R) -> (R, Recording) {
    let recording = Recording { tasks: vec![Task::default()] };
    let (running, activities, since) = (vec![0], Vec::new(), Some(Instant::now()));
    let recorder = Recorder { recording, threads, running, activities, since };
    with_trace(|trace| *trace = Trace::Recording(recorder));
    let result = run();
    let Trace::Recording(mut recorder) = with_trace(|trace| mem::replace(trace, Trace::Off)) else {
        unreachable!("it is only taken here");
    };
    recorder.end_serial();
    (result, recorder.recording)
}

/// Calls `f` with the recorder, if the current thread has one and is not within a job.
fn with<R>(f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    with_trace(|trace| match trace {
        Trace::Recording(recorder) if recorder.since.is_some() => Some(f(recorder)),
        _ => None,
    })
}

/// Returns the number of threads to divide work for.
pub(crate) fn threads() -> usize {
    #[cfg(test)]
    if let Some(threads) = crate::parallel::permuted::threads() {
        return threads;
    }
    let recorded = with_trace(|trace| match trace {
        Trace::Recording(recorder) => Some(recorder.threads),
        Trace::Off | Trace::Spans(_) => None,
    });
    recorded.unwrap_or_else(rayon::current_num_threads)
}

/// Calls `next` until it returns `None`, and records each call as a job. Returns `None` and does nothing if the current
/// thread does not record.
pub(crate) fn jobs<R>(mut next: impl FnMut() -> Option<R>) -> Option<Vec<R>> {
    with(Recorder::end_serial)?;
    let (mut results, mut times) = (Vec::new(), Vec::new());
    loop {
        let start = Instant::now();
        let Some(result) = next() else { break };
        times.push(start.elapsed());
        results.push(result);
    }
    end_jobs(times);
    Some(results)
}

/// Runs `work`, and records it as `count` jobs of equal length if the current thread records.
pub(crate) fn divided<R>(count: usize, work: impl FnOnce() -> R) -> R {
    if with(Recorder::end_serial).is_none() {
        return work();
    }
    let start = Instant::now();
    let result = work();
    end_jobs(vec![start.elapsed() / count.max(1) as u32; count.max(1)]);
    result
}

fn end_jobs(times: Vec<Duration>) {
    with_trace(|trace| {
        if let Trace::Recording(recorder) = trace {
            recorder.add(Step::Jobs(recorder.activity(), times));
            recorder.begin_serial();
        }
    });
}

/// Records the start of a task. Returns its index for [`in_task`].
pub(crate) fn start_task() -> Option<usize> {
    with(|recorder| {
        recorder.end_serial();
        let index = recorder.recording.tasks.len();
        recorder.recording.tasks.push(Task::default());
        recorder.add(Step::Start(index));
        recorder.begin_serial();
        index
    })
}

/// Runs `work` as this task, if it is one.
pub(crate) fn in_task<R>(task: Option<usize>, work: impl FnOnce() -> R) -> R {
    let begun = task.and_then(|task| {
        with(|recorder| {
            recorder.end_serial();
            recorder.running.push(task);
            recorder.begin_serial();
        })
    });
    let result = work();
    if begun.is_some() {
        with(|recorder| {
            recorder.end_serial();
            recorder.running.pop();
            recorder.begin_serial();
        });
    }
    result
}

/// Records that the running task waits for all others.
pub(crate) fn wait() {
    with(|recorder| {
        recorder.end_serial();
        recorder.add(Step::Wait);
        recorder.begin_serial();
    });
}
