//! Time limits that a busy machine does not break.

use std::time::Duration;

/// Number of measurements.
const TRIES: usize = 3;

/// Measures until one is below `limit`, a few times. A busy machine delays some of them, a mistake all. `limit` is that of
/// an idle machine: where programs wait for processors, it is as many times longer as there are programs for each.
///
/// # Panics
/// None is below `limit`.
#[track_caller]
pub fn within(limit: Duration, mut measure: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.len() < TRIES {
        let (before, time) = (waiting(), measure());
        let limit = limit.mul_f64(before.max(waiting()).max(1.0));
        if time < limit {
            return;
        }
        times.push((time, limit));
    }
    panic!("none of the times is below its limit: {times:?}");
}

/// The number of programs that want to run for each processor, on average over a minute.
fn waiting() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    load / std::thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}
