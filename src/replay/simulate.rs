//! `--simulate`: predicts the times of a frame on more threads from its work on one.
//!
//! The model: a free thread takes the first ready task, else the first job, else the first task that has not started.
//! Starting work costs nothing, and all threads are as fast as the one that was measured. So the prediction is what the
//! division of the work allows, at best.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use a4emu_gpu::work_trace::Activity;
use a4emu_gpu::work_trace::recording::{Recording, Step};
use a4emu_gpu::work_trace::spans::Span;

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// Serial work of a task.
    Task(usize),
    /// A job of the task that waits for it.
    Job(usize),
}

/// The state of a simulated run.
struct Simulation<'a> {
    recording: &'a Recording,
    now: Duration,
    free: usize,
    /// Work in progress, by its end.
    busy: BinaryHeap<Reverse<(Duration, Work)>>,
    /// Tasks that can continue.
    ready: VecDeque<usize>,
    /// Jobs that no thread has taken, with their task.
    jobs: VecDeque<(usize, Activity, Duration)>,
    /// Tasks that can start.
    starts: VecDeque<usize>,
    /// Next step of each task.
    next: Vec<usize>,
    /// Jobs that each task waits for.
    left: Vec<usize>,
    /// Tasks that wait for all others.
    waiting: Vec<usize>,
    /// Tasks that have been started and are not done.
    unfinished: usize,
    /// The work that has begun, by its start.
    spans: Vec<Span>,
}

/// Returns how long the recorded work takes on `threads` threads, and when which work is done.
pub fn simulate(recording: &Recording, threads: usize) -> (Duration, Vec<Span>) {
    let count = recording.tasks.len();
    let mut simulation = Simulation {
        recording,
        now: Duration::ZERO,
        free: threads.max(1),
        busy: BinaryHeap::new(),
        ready: VecDeque::from([0]),
        jobs: VecDeque::new(),
        starts: VecDeque::new(),
        next: vec![0; count],
        left: vec![0; count],
        waiting: Vec::new(),
        unfinished: 1,
        spans: Vec::new(),
    };
    simulation.run();
    (simulation.now, simulation.spans)
}

impl Simulation<'_> {
    fn run(&mut self) {
        loop {
            while self.free > 0 && self.take() {}
            let Some(Reverse((end, work))) = self.busy.pop() else { return };
            self.now = end;
            self.free += 1;
            match work {
                Work::Task(task) => self.ready.push_front(task),
                Work::Job(task) => {
                    self.left[task] -= 1;
                    if self.left[task] == 0 {
                        self.ready.push_front(task);
                    }
                }
            }
        }
    }

    /// Gives the next work to a free thread. Returns false if there is none.
    fn take(&mut self) -> bool {
        if let Some(task) = self.ready.pop_front() {
            self.advance(task);
        } else if let Some((task, activity, time)) = self.jobs.pop_front() {
            self.begin(activity, time, Work::Job(task));
        } else if let Some(task) = self.starts.pop_front() {
            self.advance(task);
        } else {
            return false;
        }
        true
    }

    fn begin(&mut self, activity: Activity, time: Duration, work: Work) {
        self.free -= 1;
        let (start, end) = (self.now, self.now + time);
        self.spans.push(Span { activity, start, end });
        self.busy.push(Reverse((end, work)));
    }

    /// Continues a task until it works or waits.
    fn advance(&mut self, task: usize) {
        while let Some(step) = self.recording.tasks[task].steps.get(self.next[task]) {
            self.next[task] += 1;
            match step {
                Step::Serial(activity, time) => return self.begin(*activity, *time, Work::Task(task)),
                Step::Jobs(_, times) if times.is_empty() => {}
                Step::Jobs(activity, times) => {
                    self.left[task] = times.len();
                    self.jobs.extend(times.iter().map(|time| (task, *activity, *time)));
                    return;
                }
                Step::Start(other) => {
                    self.unfinished += 1;
                    self.starts.push_back(*other);
                }
                Step::Wait if self.unfinished == self.waiting.len() + 1 => {}
                Step::Wait => return self.waiting.push(task),
            }
        }
        self.unfinished -= 1;
        if self.unfinished == self.waiting.len() {
            self.ready.extend(self.waiting.drain(..));
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_gpu::work_trace::recording::Task;

    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn serial(count: u64) -> Step {
        Step::Serial(Activity::Commands, ms(count))
    }

    fn jobs(times: Vec<Duration>) -> Step {
        Step::Jobs(Activity::Fragments, times)
    }

    fn recording<const N: usize>(tasks: [Vec<Step>; N]) -> Recording {
        Recording { tasks: tasks.into_iter().map(|steps| Task { steps }).collect() }
    }

    /// The total work of a recording.
    fn total(recording: &Recording) -> Duration {
        simulate(recording, 1).1.iter().map(|span| span.end - span.start).sum()
    }

    fn time(recording: &Recording, threads: usize) -> Duration {
        simulate(recording, threads).0
    }

    #[test]
    fn jobs_share_the_threads_and_serial_work_does_not() {
        let all = recording([vec![serial(3), jobs(vec![ms(2); 6]), serial(1)]]);
        assert_eq!(total(&all), ms(16));
        assert_eq!([1, 2, 3, 6, 60].map(|threads| time(&all, threads)), [16, 10, 8, 6, 6].map(ms));
        assert_eq!(time(&recording([vec![jobs(Vec::new())]]), 4), Duration::ZERO);
    }

    #[test]
    fn simulation_says_when_which_work_is_done() {
        let (_, spans) = simulate(&recording([vec![serial(3), jobs(vec![ms(2); 3])]]), 2);
        let jobs = spans[1..].iter().map(|span| [span.start, span.end]).collect::<Vec<_>>();
        assert_eq!(spans[0], Span { activity: Activity::Commands, start: ms(0), end: ms(3) });
        assert_eq!(jobs, [[3, 5], [3, 5], [5, 7]].map(|times| times.map(ms)));
        assert!(spans[1..].iter().all(|span| span.activity == Activity::Fragments));
    }

    #[test]
    fn tasks_run_beside_each_other_until_one_waits() {
        let other = vec![serial(1), jobs(vec![ms(4), ms(4)])];
        let all = recording([vec![Step::Start(1), serial(3), Step::Wait, serial(2)], other]);
        // On two threads, the second job has to wait for the serial work of the first task.
        assert_eq!([1, 2, 3].map(|threads| time(&all, threads)), [14, 9, 7].map(ms));
    }

    #[test]
    fn simulation_includes_tasks_that_no_task_waits_for() {
        let all = recording([vec![Step::Start(1), Step::Start(2), Step::Wait], vec![serial(5)], vec![]]);
        assert_eq!(time(&all, 2), ms(5));
        let all = recording([vec![Step::Start(1)], vec![serial(5), Step::Wait]]);
        assert_eq!(time(&all, 1), ms(5));
    }
}
