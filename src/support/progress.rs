//! Progress bars for slow readers: on stderr, and only on a terminal.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressFinish, ProgressState, ProgressStyle};

use crate::options::Shared;
use crate::terminal;

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar for `steps` steps of a command that prints nothing before its end.
pub fn bar(steps: u64, shared: &Shared) -> ProgressBar {
    match shared.quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(steps).with_style(style("{wide_bar} {pos}/{len}{left}")),
    }
}

/// A bar like [`bar`] that also shows the steps per second.
pub fn rated(steps: u64, shared: &Shared) -> ProgressBar {
    bar(steps, shared).with_style(style("{wide_bar} {pos}/{len}  {per_sec}{left}"))
}

/// A bar for `steps` steps that take unlike times: it shows the message of the step, and no time left. It is gone when it
/// is dropped.
pub fn named(steps: u64, shared: &Shared) -> ProgressBar {
    bar(steps, shared).with_style(style("{wide_bar} {pos}/{len} {msg}")).with_finish(ProgressFinish::AndClear)
}

/// A style with `{left}`, the time left as far as it can be said.
fn style(template: &str) -> ProgressStyle {
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let left = time_left(state.pos(), state.len().unwrap_or(0), state.elapsed());
        // A formatter has no place for errors.
        let _written = left.map_or(Ok(()), |left| write!(out, ", about {} left", HumanDuration(left)));
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("left", left)
}

/// Time before a time left is shown.
const LEAST_TIME: Duration = Duration::from_secs(3);

/// The time left if all steps take as long as those that are done did. `None` while too little is done to say so.
fn time_left(done: u64, total: u64, elapsed: Duration) -> Option<Duration> {
    let left = total.checked_sub(done).filter(|left| *left > 0)?;
    let is_early = elapsed < LEAST_TIME || done.saturating_mul(50) < total;
    let seconds = elapsed.as_secs_f64() * left as f64 / done.max(1) as f64;
    (!is_early).then(|| Duration::from_secs(seconds.ceil() as u64))
}

/// A reader that shows its progress if reading takes long. A run reads its capture as it proceeds. Nothing is
/// shown once the terminal shows a listing.
pub struct Watched<R> {
    inner: R,
    bytes: u64,
    read: u64,
    since: Instant,
    bar: Option<ProgressBar>,
}

impl<R: Read> Watched<R> {
    /// Wraps `inner`, which has `bytes` bytes.
    pub fn new(inner: R, bytes: u64) -> Self {
        Self { inner, bytes, read: 0, since: Instant::now(), bar: None }
    }

    fn show(&mut self) {
        if terminal::shows_listing() {
            return self.bar.iter().for_each(ProgressBar::finish_and_clear);
        }
        if self.bar.is_none() && self.since.elapsed() > PATIENCE {
            let style = style("{wide_bar} {binary_bytes}/{binary_total_bytes} read, {elapsed}");
            self.bar = Some(ProgressBar::new(self.bytes).with_style(style));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.read);
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        self.read += got as u64;
        self.show();
        Ok(got)
    }
}

impl<R> Drop for Watched<R> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A count of finished items on stderr. It appears if the work takes long.
pub struct Counted {
    what: &'static str,
    total: Option<u64>,
    done: u64,
    since: Instant,
    bar: Option<ProgressBar>,
    shows: Shows,
}

/// Whether a count is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Shown, since stderr is a terminal and `quiet` is not set.
    Yes,
    /// Not shown.
    No,
}

impl Counted {
    /// Starts at 0; `what` names the counted items.
    pub fn new(what: &'static str, shows: Shows) -> Self {
        Self { what, total: None, done: 0, since: Instant::now(), bar: None, shows }
    }

    /// Says how many items there are. Then the time left is shown.
    #[must_use]
    pub fn of(mut self, total: Option<u64>) -> Self {
        self.total = total;
        self
    }

    /// Counts one more item.
    pub fn next(&mut self) {
        self.done += 1;
        if self.shows == Shows::Yes && self.bar.is_none() && self.since.elapsed() > PATIENCE {
            let bar = match self.total {
                Some(total) => {
                    ProgressBar::new(total).with_style(style("{wide_bar} {pos}/{len} {msg}{left}"))
                }
                None => ProgressBar::no_length().with_style(style("{spinner} {pos} {msg}, {elapsed}")),
            };
            self.bar = Some(bar.with_message(self.what).with_elapsed(self.since.elapsed()));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.done);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_steps_so_far_or_is_not_said() {
        let left =
            |done, seconds| time_left(done, 100, Duration::from_secs(seconds)).map(|left| left.as_secs());
        assert_eq!(left(7, 21), Some(279));
        assert_eq!(left(50, 10), Some(10));
        assert_eq!(left(99, 4), Some(1), "never 0 before the end");
        assert_eq!([left(1, 60), left(0, 60), left(50, 1), left(100, 60)], [None; 4]);
    }
}
