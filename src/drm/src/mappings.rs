//! Which addresses of the program show which buffers: a buffer lives as long as somebody
//! has it mapped, also after its last handle is closed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::gem::Bo;

/// A part of a buffer, from a byte on, that is to be mapped.
pub struct Part {
    /// The buffer.
    pub bo: Arc<Bo>,
    /// First byte of it.
    pub start: u64,
}

impl Part {
    /// Descriptor of the file that holds it.
    pub fn file(&self) -> i32 {
        self.bo.store.as_raw_fd()
    }

    /// Where in that file it starts.
    pub fn offset(&self) -> i64 {
        (u64::from(self.bo.address) + self.start) as i64
    }
}

/// Start -> end, and what is there.
type Mapped = BTreeMap<usize, (usize, Arc<Bo>)>;
/// The locked table.
pub type Guard = MutexGuard<'static, Mapped>;

static MAPPED: Mutex<Mapped> = Mutex::new(BTreeMap::new());
/// How many entries there are, so that a program's other mappings cost next to nothing.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Locks the table; entries are whole whoever panicked.
pub fn lock() -> Guard {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `part` is now mapped at `at`.
pub fn note(at: usize, len: usize, part: Part) {
    let mut mapped = lock();
    mapped.insert(at, (at.saturating_add(len), part.bo));
    COUNT.store(mapped.len(), Ordering::Release);
}

/// What is at `at..at + len` is going away.
pub fn forget(at: usize, len: usize) {
    if COUNT.load(Ordering::Acquire) == 0 {
        return;
    }
    let mut mapped = lock();
    // Dropped after the lock: the last owner of a buffer gives its memory back.
    let _gone = cut(&mut mapped, at..at.saturating_add(len));
    COUNT.store(mapped.len(), Ordering::Release);
    drop(mapped);
}

/// Takes `hole` out of the table; what stays on either side of it stays.
fn cut<T: Clone>(mapped: &mut BTreeMap<usize, (usize, T)>, hole: Range<usize>) -> Vec<T> {
    let below = mapped.range(..hole.end).rev();
    let hit: Vec<usize> =
        below.take_while(|(_, (end, _))| *end > hole.start).map(|(start, _)| *start).collect();
    let mut gone = Vec::new();
    for start in hit {
        let Some((end, what)) = mapped.remove(&start) else { continue };
        if start < hole.start {
            mapped.insert(start, (hole.start, what.clone()));
        }
        if hole.end < end {
            mapped.insert(hole.end, (end, what.clone()));
        }
        gone.push(what);
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_leaves_both_sides() {
        let mut mapped = BTreeMap::from([(0, (10, 'a')), (10, (20, 'b')), (30, (40, 'c'))]);
        assert_eq!(cut(&mut mapped, 5..12), ['b', 'a']);
        assert_eq!(mapped, BTreeMap::from([(0, (5, 'a')), (12, (20, 'b')), (30, (40, 'c'))]));
        assert_eq!(cut(&mut mapped, 14..16), ['b']);
        assert_eq!(mapped.len(), 4);
        assert_eq!(cut(&mut mapped, 20..30), [] as [char; 0]);
    }
}
