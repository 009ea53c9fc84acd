//! Times at which the bytes of a block changed, page by page.

use std::ops::RangeInclusive;

/// Times of the last changes, by the clock of the address space.
#[derive(Default)]
pub(super) struct Changes {
    /// The last change of any page.
    latest: u64,
    /// The last change of the whole block.
    all: u64,
    /// The last change of each page. Empty until a single page changes.
    pages: Vec<u64>,
}

impl Changes {
    /// Marks all pages as changed at time `now`.
    pub(super) fn note_all(&mut self, now: u64) {
        (self.latest, self.all) = (now, now);
    }

    /// Marks `pages` as changed at time `now`. The block has `count` pages.
    pub(super) fn note(&mut self, pages: RangeInclusive<u32>, count: u32, now: u64) {
        if count == 1 {
            return self.note_all(now);
        }
        self.latest = now;
        if self.pages.is_empty() {
            self.pages = vec![0; count as usize];
        }
        self.pages[*pages.start() as usize..=*pages.end() as usize].fill(now);
    }

    /// Whether one of `pages` changed after `time`.
    pub(super) fn any_after(&self, pages: RangeInclusive<u32>, time: u64) -> bool {
        if self.latest <= time {
            return false;
        }
        let each = self.pages.get(*pages.start() as usize..=*pages.end() as usize);
        self.all > time || each.is_some_and(|pages| pages.iter().any(|changed| *changed > time))
    }
}
