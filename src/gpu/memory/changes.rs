//! When the bytes of a block changed, page by page.

use std::ops::RangeInclusive;

/// The times of the last changes, as counted by the address space.
#[derive(Default)]
pub(super) struct Changes {
    /// Of any of it.
    latest: u64,
    /// Of the block as a whole.
    all: u64,
    /// Of each page, as soon as one changed alone.
    pages: Vec<u64>,
}

impl Changes {
    /// Everything changes at time `now`.
    pub(super) fn note_all(&mut self, now: u64) {
        (self.latest, self.all) = (now, now);
    }

    /// The `pages`, of a block that has `count`, change at time `now`.
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
