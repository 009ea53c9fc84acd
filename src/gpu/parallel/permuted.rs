//! For tests: runs all work on one thread in an order that a seed selects.
//!
//! Threads of a pool take work in an order that no test can choose. Here, spawned jobs wait in a list. At each
//! [`point`], jobs of that list may run, any of them, before the current work continues. Jobs of a division run in any
//! order, with the state of any thread. So a seed that fails fails again.

use std::cell::{Cell, RefCell};

thread_local! {
    static ORDER: RefCell<Option<Order>> = const { RefCell::new(None) };
    static POINTS: Cell<u64> = const { Cell::new(0) };
}

/// Jobs run in each other at most this often.
const MOST_DEPTH: usize = 8;

/// An order of work, and the jobs that wait.
struct Order {
    state: u64,
    /// Of 256 points, those at which a job runs.
    chance: u64,
    /// Number of threads that work is divided for.
    threads: usize,
    waiting: Vec<Box<dyn FnOnce()>>,
    depth: usize,
}

impl Order {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        // A linear congruential generator modulo 2^64, with Knuth's constants.
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) as usize) % end.max(1)
    }

    /// Removes a job, at random.
    fn take(&mut self) -> Option<Box<dyn FnOnce()>> {
        let index = self.below(self.waiting.len());
        (index < self.waiting.len()).then(|| self.waiting.swap_remove(index))
    }
}

/// Runs `run` with all its work in the order of `seed`. Call it in a pool of one thread. Returns the result, and how often
/// another job could have run.
pub(crate) fn permuted<R>(seed: u64, run: impl FnOnce() -> R) -> (R, u64) {
    let mut order = Order { state: seed, chance: 0, threads: 1, waiting: Vec::new(), depth: 0 };
    // From "jobs run when they must" to "jobs run at once".
    order.chance = [0, 1, 16, 64, 128, 256][order.below(6)];
    order.threads = [2, 3, 5, 8, 16][order.below(5)];
    ORDER.set(Some(order));
    POINTS.set(0);
    let result = run();
    while run_one() {}
    ORDER.set(None);
    (result, POINTS.get())
}

fn with<R>(f: impl FnOnce(&mut Order) -> R) -> Option<R> {
    ORDER.with_borrow_mut(|order| order.as_mut().map(f))
}

/// Whether work of the current thread is permuted.
pub(crate) fn is_on() -> bool {
    ORDER.with_borrow(Option::is_some)
}

/// The number of threads to divide work for, if work is permuted.
pub(super) fn threads() -> Option<usize> {
    with(|order| order.threads)
}

/// Returns `job` if it is not permuted. Otherwise it waits.
pub(super) fn spawn<J: FnOnce() + 'static>(job: J) -> Option<J> {
    if !is_on() {
        return Some(job);
    }
    with(|order| order.waiting.push(Box::new(job)));
    None
}

/// Runs one of the jobs that wait. Returns false if there is none.
pub(super) fn run_one() -> bool {
    let Some(job) = with(Order::take).flatten() else { return false };
    with(|order| order.depth += 1);
    job();
    with(|order| order.depth -= 1);
    true
}

/// Jobs that wait may run here.
pub(crate) fn point() {
    POINTS.set(POINTS.get() + 1);
    // Jobs may spawn others, without end.
    let waiting = with(|order| order.waiting.len()).unwrap_or(0);
    let runs = || with(|order| order.depth < MOST_DEPTH && (order.below(256) as u64) < order.chance);
    for _ in 0..waiting {
        if runs() == Some(true) {
            run_one();
        }
    }
}

/// Whether a job that could do more does it now.
pub(crate) fn goes_on() -> bool {
    with(|order| order.below(2) == 0) == Some(true)
}

/// Runs `jobs` in any order, each with one of the states that `begin` makes. Results are in the order of `jobs`.
pub(super) fn each_with<J, S, R>(
    jobs: Vec<J>,
    begin: impl Fn() -> S,
    work: impl Fn(&mut S, J) -> R,
) -> Vec<R> {
    let mut left: Vec<(usize, J)> = jobs.into_iter().enumerate().collect();
    let mut states: Vec<Option<S>> = (0..super::threads()).map(|_| None).collect();
    let mut done = Vec::new();
    while !left.is_empty() {
        point();
        let chosen = with(|order| [order.below(left.len()), order.below(states.len())]);
        let [job, state] = chosen.expect("it is on");
        let (number, job) = left.swap_remove(job);
        done.push((number, work(states[state].get_or_insert_with(&begin), job)));
    }
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use a4emu_decoder::adreno::capture::Sections;
    use a4emu_decoder::asm::{Bounds, Files, Image, Unreadable, assemble};

    use super::*;
    use crate::cp::{Renderer, Silent};
    use crate::draw::Schedule;
    use crate::parallel::{self, Helpers, with_threads};
    use crate::playback::Playback;
    use crate::settled::Ended;
    use crate::work_trace::Activity;

    /// Orders that are tried for each capture, if `PERMUTATIONS` does not say another number.
    const ORDERS: u64 = 12;

    const CAPTURES: [&str; 16] = [
        "blend",
        "clip",
        "compute",
        "cube",
        "depth",
        "fbo",
        "image",
        "indirect",
        "instanced",
        "many",
        "mipmap",
        "mrt",
        "occlusion",
        "shadow",
        "stencil",
        "torus",
    ];

    /// Captures that are not in the repository.
    const SHARED: [&str; 3] = ["glmark2/ideas", "glmark2/shadow", "games/neverball"];

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Names and contents of captures.
    fn captures() -> Vec<(String, Vec<u8>)> {
        let own = CAPTURES.map(|name| root().join(format!("captures/{name}.rd.gz"))).into_iter();
        let shared = std::env::var_os("A4EMU_SHARED").map(|shared| PathBuf::from(shared).join("captures"));
        let shared = shared.iter().flat_map(|folder| SHARED.map(|name| folder.join(format!("{name}.rd.gz"))));
        let recorded = own.chain(shared);
        let recorded =
            recorded.map(|path| (path.display().to_string(), std::fs::read(&path).expect("a capture")));
        recorded.chain([("late.a4".to_owned(), late())]).collect()
    }

    /// Packets and draws that read what earlier draws of their submit leave in memory.
    fn late() -> Vec<u8> {
        let source = std::fs::read_to_string(root().join("tests/schedules/late.a4")).expect("a source");
        let source = source.replace("CAPTURES", root().join("captures").to_str().expect("text"));
        assemble("late.a4", &source, &mut Included, Bounds::default()).expect("a capture")
    }

    /// The files that sources include.
    struct Included;

    impl Files for Included {
        fn resolve(&mut self, from: &str, path: &str) -> String {
            Path::new(from).parent().unwrap_or(Path::new("")).join(path).display().to_string()
        }

        fn text(&mut self, name: &str) -> Result<String, Unreadable> {
            std::fs::read_to_string(name).map_err(|error| Unreadable(error.to_string()))
        }

        fn image(&mut self, name: &str) -> Result<Image, Unreadable> {
            Err(Unreadable(format!("{name} is not included")))
        }
    }

    fn played(capture: &[u8], schedule: Schedule) -> Ended {
        let mut playback = Playback::default();
        playback.gpu.pipeline.schedule = schedule;
        let sections = Sections::new(Cursor::new(capture.to_vec())).expect("sections");
        playback.run(sections, &mut Renderer, &mut Silent);
        playback.gpu.end()
    }

    /// Memory, registers and counters do not depend on the order in which threads do their work.
    #[test]
    fn the_order_of_work_changes_no_result() {
        let orders = std::env::var("PERMUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(ORDERS);
        with_threads(1, || {
            for (name, capture) in captures() {
                let expected = played(&capture, Schedule::InOrder);
                let mut points = 0;
                for seed in 0..orders {
                    let schedule = [Schedule::Deferred, Schedule::Stress][seed as usize % 2];
                    let (gpu, passed) = permuted(seed, || played(&capture, schedule));
                    points += passed;
                    let work = |gpu: &Ended| gpu.budget.spent();
                    assert_eq!(work(&gpu), work(&expected), "{name}, {schedule:?}, seed {seed}");
                    let difference = expected.difference(&gpu);
                    assert_eq!(difference, None, "{name}, {schedule:?}, seed {seed}");
                }
                assert!(points > orders, "{name}: the work has no order");
            }
        });
    }

    #[test]
    fn a_seed_selects_an_order_of_spawned_jobs_and_of_divisions() {
        let order = |seed| {
            let clock = Arc::new(AtomicUsize::new(0));
            let ended: Arc<[AtomicUsize; 3]> = Arc::default();
            let (jobs, _) = permuted(seed, || {
                for number in 0..3 {
                    let (clock, ended) = (clock.clone(), ended.clone());
                    parallel::spawn(move || {
                        ended[number].store(clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                    });
                }
                let work = |_| clock.fetch_add(1, Ordering::Relaxed);
                let jobs = parallel::each(vec![0, 1, 2], Helpers::TakeFirst, work);
                assert!(parallel::help_until(Activity::WaitForDraws, || clock.load(Ordering::Relaxed) == 6));
                jobs
            });
            (ended.each_ref().map(|at| at.load(Ordering::Relaxed)), jobs)
        };
        let orders: Vec<_> = (0..200).map(order).collect();
        assert_eq!(orders, (0..200).map(order).collect::<Vec<_>>(), "a seed is an order");
        let distinct: std::collections::BTreeSet<_> = orders.iter().collect();
        assert!(distinct.len() > 100, "{} orders", distinct.len());
    }
}
