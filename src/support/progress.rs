//! Progress bars for slow readers: on stderr, and only on a terminal.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

use crate::options::Shared;
use crate::terminal;

/// Time before a bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar for `steps` steps of a command that prints nothing before its end.
pub fn bar(steps: u64, shared: &Shared) -> ProgressBar {
    match shared.quiet {
        true => ProgressBar::hidden(),
        false => ProgressBar::new(steps).with_style(style("{wide_bar} {pos}/{len} {eta} left")),
    }
}

/// A bar like [`bar`] that also shows the steps per second.
pub fn rated(steps: u64, shared: &Shared) -> ProgressBar {
    bar(steps, shared).with_style(style("{wide_bar} {pos}/{len}  {per_sec}  {eta} left"))
}

/// A bar for `steps` steps that take unlike times: it shows the message of the step, and no time left. It is gone when it
/// is dropped.
pub fn named(steps: u64, shared: &Shared) -> ProgressBar {
    bar(steps, shared).with_style(style("{wide_bar} {pos}/{len} {msg}")).with_finish(ProgressFinish::AndClear)
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
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
            let style = style("{wide_bar} {binary_bytes}/{binary_total_bytes} read, {eta} left");
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
                    ProgressBar::new(total).with_style(style("{wide_bar} {pos}/{len} {msg}, {eta} left"))
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
