//! Reads and unpacks sections on a second thread, ahead of the thread that uses them.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Section, SectionId, Sections};
use crate::error::CaptureError;

/// Bytes of one batch. A batch of a single section may have more.
const BATCH: usize = 1 << 18;

/// Limit for the bytes that are read but not yet taken. A single batch may exceed it.
const MAX_WAITING: usize = 16 << 20;

/// Estimated bytes that a section takes besides its payload.
const OVERHEAD: usize = 64;

/// Bytes of the reading thread's stack. It is small because the data lies on the heap.
const STACK: usize = 1 << 20;
/// Padding is a run of empty sections of kind `NONE`. One section is passed on for each so many bytes of it,
/// so that the consumer sees progress.
const PADDING: u64 = 1 << 20;

/// Interval at which a waiting consumer checks whether the run is over.
const PATIENCE: Duration = Duration::from_millis(50);

type Item = Result<Section, CaptureError>;

/// The items of [`Sections`], read ahead on a second thread.
///
/// Padding is a run of empty sections of kind `NONE`: one of them is passed on for each megabyte. After this
/// iterator is dropped, the thread ends as soon as its pending read returns.
pub struct Ahead {
    batches: Receiver<Batch>,
    at_hand: std::vec::IntoIter<Item>,
    waiting: Arc<Waiting>,
    /// Whether the run is over. The iterator then ends.
    is_over: Box<dyn Fn() -> bool + Send>,
}

struct Batch {
    items: Vec<Item>,
    bytes: usize,
}

/// The bytes that are read but not yet taken.
#[derive(Default)]
struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: usize,
    /// The consumer is dropped.
    over: bool,
}

impl Ahead {
    /// Starts to read a capture, raw or gzip, from `reader`.
    ///
    /// While no section arrives, `is_over` is called every 50 ms. If it returns true, the iterator ends.
    ///
    /// # Errors
    /// The first bytes cannot be read, or the thread cannot be started.
    pub fn new<R: Read + Send + 'static>(
        reader: R,
        is_over: impl Fn() -> bool + Send + 'static,
    ) -> Result<Self, CaptureError> {
        let (sender, batches) = channel();
        let (opened, opening) = channel();
        let waiting = Arc::new(Waiting::default());
        let room = waiting.clone();
        let thread = thread::Builder::new().name("a4emu-reader".into()).stack_size(STACK);
        let started = thread.spawn(move || match Sections::new(reader) {
            Ok(sections) if opened.send(Ok(())).is_ok() => read(sections, &sender, &room),
            Ok(_) => {}
            Err(error) => drop(opened.send(Err(error))),
        });
        // The cause is a lack of memory or a limit on threads.
        started.map_err(|error| {
            let source = io::Error::new(
                error.kind(),
                format!("failed to spawn thread (no memory, or too many): {error}"),
            );
            CaptureError::Io { offset: 0, source }
        })?;
        let at_hand = Vec::new().into_iter();
        match receive(&opening, &is_over) {
            Some(Err(error)) => Err(error),
            Some(Ok(())) | None => Ok(Self { batches, at_hand, waiting, is_over: Box::new(is_over) }),
        }
    }
}

/// Receives the next value. `None` if the sender is gone or the run is over.
fn receive<T>(from: &Receiver<T>, is_over: &dyn Fn() -> bool) -> Option<T> {
    loop {
        match from.recv_timeout(PATIENCE) {
            Ok(received) => return Some(received),
            Err(RecvTimeoutError::Timeout) if !is_over() => {}
            Err(_) => return None,
        }
    }
}

impl Iterator for Ahead {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.at_hand.next() {
                return Some(item);
            }
            let Batch { items, bytes } = receive(&self.batches, &*self.is_over)?;
            self.waiting.state().bytes -= bytes;
            self.waiting.changed.notify_all();
            self.at_hand = items.into_iter();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.waiting.state().over = true;
        self.waiting.changed.notify_all();
    }
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for `bytes` more. False if the consumer is dropped.
    fn enter(&self, bytes: usize) -> bool {
        let full = |state: &mut State| !state.over && state.bytes > 0 && state.bytes + bytes > MAX_WAITING;
        let waited = self.changed.wait_while(self.state(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.bytes += bytes;
        !state.over
    }
}

/// Filters padding (empty sections of kind `NONE`). A gigabyte of zeros holds a hundred million of them.
#[derive(Default)]
struct Padding {
    /// Offset in the container from which the next padding section is passed on.
    next: u64,
}

impl Padding {
    /// Whether `item` is padding, and whether it is left out.
    fn sees(&mut self, item: &Item) -> [bool; 2] {
        let Ok(section) = item else { return [false; 2] };
        let is_padding = section.id == SectionId::NONE && section.payload.is_empty();
        let is_out = is_padding && section.offset < self.next.max(PADDING);
        if is_padding && !is_out {
            self.next = section.offset + PADDING;
        }
        [is_padding, is_out]
    }
}

fn read<R: Read>(mut sections: Sections<R>, sender: &Sender<Batch>, waiting: &Waiting) {
    let mut batch = Batch { items: Vec::new(), bytes: 0 };
    let mut padding = Padding::default();
    let hand_over = |batch: Batch| waiting.enter(batch.bytes) && sender.send(batch).is_ok();
    while let Some(item) = sections.next() {
        let [is_padding, is_left_out] = padding.sees(&item);
        if is_left_out {
            sections.pass_padding(padding.next.max(PADDING));
            continue;
        }
        batch.bytes += OVERHEAD + item.as_ref().map_or(0, |section| section.payload.len());
        batch.items.push(item);
        if batch.bytes >= BATCH || is_padding {
            let full = std::mem::replace(&mut batch, Batch { items: Vec::new(), bytes: 0 });
            if !hand_over(full) {
                return;
            }
        }
    }
    hand_over(batch);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A capture of `count` sections of a megabyte each, generated while it is read.
    struct Endless {
        count: usize,
        at: usize,
        made: Arc<AtomicUsize>,
    }

    const SECTION: usize = 8 + (1 << 20);

    impl Read for Endless {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let end = (self.count * SECTION).min(self.at + out.len());
            for (at, byte) in (self.at..end).zip(out) {
                *byte = match at % SECTION {
                    0 => 1,
                    6 => 0x10,
                    _ => 0,
                };
            }
            let got = end - std::mem::replace(&mut self.at, end);
            self.made.fetch_add(got, Ordering::Relaxed);
            Ok(got)
        }
    }

    fn ahead(count: usize) -> (Ahead, Arc<AtomicUsize>) {
        let made = Arc::new(AtomicUsize::new(0));
        let ahead = Ahead::new(Endless { count, at: 0, made: made.clone() }, || false);
        (ahead.expect("it can be read"), made)
    }

    #[test]
    fn all_sections_come_in_order() {
        let offsets: Vec<u64> = ahead(40).0.map(|item| item.expect("a section").offset).collect();
        assert_eq!(offsets, (0..40).map(|i| i * SECTION as u64).collect::<Vec<_>>());
    }

    #[test]
    fn padding_is_passed_over() {
        let section =
            |id: u32, bytes: &[u8]| [&id.to_le_bytes(), &(bytes.len() as u32).to_le_bytes(), bytes].concat();
        let capture = [section(0, &[]), section(1, &[]), section(0, &[]), section(0, &[7])].concat();
        let sections = Ahead::new(io::Cursor::new(capture), || false).expect("it can be read");
        let offsets: Vec<u64> = sections.map(|item| item.expect("a section").offset).collect();
        assert_eq!(offsets, [8, 24]);
    }

    /// A consumer that counts bytes sees progress in an endless container: zeros, markers, bytes after
    /// damage.
    #[test]
    fn endless_containers_give_a_section_for_each_megabyte() {
        let damaged = [[1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]].concat();
        for (start, filled) in [(Vec::new(), 0), (Vec::new(), 0xff), (damaged, 7)] {
            let reader = io::Cursor::new(start).chain(io::repeat(filled));
            let sections = Ahead::new(reader, || false).expect("it can be read");
            let offsets: Vec<u64> = sections.filter_map(|item| Some(item.ok()?.offset)).take(20).collect();
            let steps = offsets.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(steps.max().is_some_and(|most| most < 3 * PADDING), "{filled}: {offsets:?}");
        }
    }

    /// A reader that never returns, such as an idle pipe.
    struct Silent;

    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            loop {
                thread::park();
            }
        }
    }

    #[test]
    fn blocked_reads_end_when_the_run_is_over() {
        let mut sections = Ahead::new(Silent, || true).expect("nothing is wrong with it");
        assert!(sections.next().is_none());
        let begun = io::Cursor::new([1, 0, 0, 0, 0, 0, 0, 0]).chain(Silent);
        assert!(Ahead::new(begun, || true).expect("it can be read").next().is_none());
    }

    #[test]
    fn read_ahead_stops_at_its_limit_and_when_dropped() {
        let (mut ahead, made) = ahead(4096);
        assert!(ahead.next().is_some());
        let limit = MAX_WAITING + 4 * SECTION;
        let settle = || {
            let mut last = 0;
            while last != made.load(Ordering::Relaxed) || last == 0 {
                last = made.load(Ordering::Relaxed);
                thread::sleep(Duration::from_millis(300));
            }
            last
        };
        let before = settle();
        assert!(before <= limit, "{before} bytes were read");
        drop(ahead);
        assert!(settle() <= before + 2 * SECTION, "it goes on");
    }
}
