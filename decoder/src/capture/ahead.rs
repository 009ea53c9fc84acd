//! Sections that another thread reads and unpacks while this one works on those before.

use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::{Section, SectionId, Sections};
use crate::error::CaptureError;

/// Bytes that are handed over at once, if no single section has more.
const BATCH: usize = 1 << 18;

/// Bytes that wait at most, or one batch.
const MAX_WAITING: usize = 16 << 20;

/// What is kept of a section besides its payload, about.
const OVERHEAD: usize = 64;

/// Bytes of the thread's stack: what it reads it keeps elsewhere.
const STACK: usize = 1 << 20;

type Item = Result<Section, CaptureError>;

/// The items of [`Sections`] but the empty ones of no kind, read ahead of whoever takes them. Who takes no more drops it; the
/// thread ends when what it waits for comes.
pub struct Ahead {
    batches: Receiver<Batch>,
    at_hand: std::vec::IntoIter<Item>,
    waiting: Arc<Waiting>,
}

struct Batch {
    items: Vec<Item>,
    bytes: usize,
}

/// How much waits to be taken.
#[derive(Default)]
struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: usize,
    /// Nobody takes any more.
    over: bool,
}

impl Ahead {
    /// Begins to read.
    pub fn new<R: Read + Send + 'static>(sections: Sections<R>) -> Self {
        let (sender, batches) = channel();
        let waiting = Arc::new(Waiting::default());
        let (room, refused) = (waiting.clone(), sender.clone());
        let thread = thread::Builder::new().name("a4emu-reader".into()).stack_size(STACK);
        // Where there can be no thread there are no sections either, and the error is said in their place.
        if let Err(source) = thread.spawn(move || read(sections, &sender, &room)) {
            // It is taken: the receiver is below.
            let _ =
                refused.send(Batch { items: vec![Err(CaptureError::Io { offset: 0, source })], bytes: 0 });
        }
        Self { batches, at_hand: Vec::new().into_iter(), waiting }
    }
}

impl Iterator for Ahead {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.at_hand.next() {
                return Some(item);
            }
            let Batch { items, bytes } = self.batches.recv().ok()?;
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

    /// Waits until there is room for `bytes` more; false when nobody takes any more.
    fn enter(&self, bytes: usize) -> bool {
        let full = |state: &mut State| !state.over && state.bytes > 0 && state.bytes + bytes > MAX_WAITING;
        let waited = self.changed.wait_while(self.state(), full);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        state.bytes += bytes;
        !state.over
    }
}

/// Whether it is nothing: a gigabyte of zeros is a hundred million of them.
fn is_padding(item: &Item) -> bool {
    item.as_ref().is_ok_and(|section| section.id == SectionId::NONE && section.payload.is_empty())
}

fn read<R: Read>(sections: Sections<R>, sender: &Sender<Batch>, waiting: &Waiting) {
    let mut batch = Batch { items: Vec::new(), bytes: 0 };
    let hand_over = |batch: Batch| waiting.enter(batch.bytes) && sender.send(batch).is_ok();
    for item in sections.filter(|item| !is_padding(item)) {
        batch.bytes += OVERHEAD + item.as_ref().map_or(0, |section| section.payload.len());
        batch.items.push(item);
        if batch.bytes >= BATCH {
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

    /// A capture of `count` sections of a megabyte each, made as it is read.
    struct Endless {
        count: usize,
        at: usize,
        made: Arc<AtomicUsize>,
    }

    const SECTION: usize = 8 + (1 << 20);

    impl Read for Endless {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
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
        let sections = Sections::new(Endless { count, at: 0, made: made.clone() });
        (Ahead::new(sections.expect("it can be read")), made)
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
        let sections = Sections::new(std::io::Cursor::new(capture)).expect("it can be read");
        let offsets: Vec<u64> = Ahead::new(sections).map(|item| item.expect("a section").offset).collect();
        assert_eq!(offsets, [8, 24]);
    }

    #[test]
    fn no_more_is_read_than_may_wait_and_none_when_nobody_takes_it() {
        let (mut ahead, made) = ahead(4096);
        assert!(ahead.next().is_some());
        let limit = MAX_WAITING + 4 * SECTION;
        let settle = || {
            let mut last = 0;
            while last != made.load(Ordering::Relaxed) || last == 0 {
                last = made.load(Ordering::Relaxed);
                thread::sleep(std::time::Duration::from_millis(300));
            }
            last
        };
        let before = settle();
        assert!(before <= limit, "{before} bytes were read");
        drop(ahead);
        assert!(settle() <= before + 2 * SECTION, "it goes on");
    }
}
