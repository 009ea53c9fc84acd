//! The table of mapped buffers by address. A buffer lives as long as it is mapped, also after its last
//! handle is closed.
//!
//! `mmap` returns the buffer's place in the [`Region`], which is always mapped. So a mapping costs the
//! system nothing. Only a second mapping of the same bytes, or one at an address that the program chooses,
//! is a separate mapping.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::Errno;

use crate::arena::END;
use crate::bo::Bo;
use crate::ffi::pages::Region;

/// A part of a buffer to be mapped.
pub struct Part {
    /// The buffer.
    pub bo: Arc<Bo>,
    /// The byte range in the buffer.
    pub bytes: Range<u64>,
}

/// Entries by start address: the end address and the buffer. They do not overlap.
type Table = BTreeMap<usize, (usize, Arc<Bo>)>;

/// The mapped buffers.
#[derive(Default)]
pub struct Mapped {
    /// Buffers mapped at their place in the region.
    inside: Table,
    /// Separate mappings.
    outside: Table,
}

/// The locked tables.
pub type Guard = MutexGuard<'static, Mapped>;

static MAPPED: Mutex<Mapped> = Mutex::new(Mapped { inside: BTreeMap::new(), outside: BTreeMap::new() });
static REGION: OnceLock<Region> = OnceLock::new();
/// Start of the region; 0 before it exists. Hooks read it without a lock.
static START: AtomicUsize = AtomicUsize::new(0);
/// Number of entries outside of the region.
static OUTSIDE: AtomicUsize = AtomicUsize::new(0);

/// The memory of all buffers. It is mapped at the first call.
///
/// # Errors
/// The call fails with `ENOMEM`.
pub fn region() -> Result<&'static Region, Errno> {
    if REGION.get().is_none() {
        // If two threads come at once, one maps in vain, which only costs addresses.
        let _ = REGION.set(Region::new(END)?);
    }
    let region = REGION.get().ok_or(Errno::NOMEM)?;
    START.store(region.start(), Ordering::Release);
    Ok(region)
}

/// Locks the tables. Entries are complete even after a panic.
pub fn lock() -> Guard {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The addresses of the region; empty before it exists.
fn inside() -> Range<usize> {
    match START.load(Ordering::Acquire) {
        0 => 0..0,
        start => start..start + END as usize,
    }
}

/// Whether `at..at + len` overlaps the region.
pub fn touches_region(at: usize, len: usize) -> bool {
    let inside = inside();
    at < inside.end && at.saturating_add(len) > inside.start
}

/// Whether a buffer may be mapped in `at..at + len`. The call neither locks nor allocates.
pub fn may_show(at: usize, len: usize) -> bool {
    OUTSIDE.load(Ordering::Acquire) > 0 || touches_region(at, len)
}

/// Maps `part`, at the address `wish` if given. `show` makes a second mapping, at an address or at any free
/// place.
///
/// # Errors
/// The call fails if `show` fails, and with `EINVAL` for an address in the region.
pub fn add(
    part: Part,
    wish: Option<usize>,
    show: impl FnOnce(Range<u64>, Option<usize>) -> Result<usize, Errno>,
) -> Result<usize, Errno> {
    let first = u64::from(part.bo.address) + part.bytes.start;
    let bytes = first..first + (part.bytes.end - part.bytes.start);
    let len = (bytes.end - bytes.start) as usize;
    if wish.is_some_and(|at| touches_region(at, len)) {
        return Err(Errno::INVAL);
    }
    let place = inside().start + bytes.start as usize;
    part.bo.show();
    let mut mapped = lock();
    if wish.is_none() && overlapping(&mapped.inside, &(place..place + len)).is_empty() {
        mapped.inside.insert(place, (place + len, part.bo));
        return Ok(place);
    }
    let at = show(bytes, wish)?;
    let gone = cut(&mut mapped.outside, at..at + len);
    mapped.outside.insert(at, (at + len, part.bo));
    count(&mapped);
    drop(mapped);
    // After the lock: dropping the last owner of a buffer releases its memory.
    drop(gone);
    Ok(at)
}

/// Removes the mappings in `at..at + len`. Returns the parts outside of the region, which the system has to
/// unmap.
pub fn remove(at: usize, len: usize) -> [Range<usize>; 2] {
    let end = at.saturating_add(len);
    let mut mapped = lock();
    let gone = (cut(&mut mapped.inside, at..end), cut(&mut mapped.outside, at..end));
    count(&mapped);
    drop(mapped);
    drop(gone);
    let inside = inside();
    if touches_region(at, len) {
        [at..at.max(inside.start), end.min(inside.end)..end]
    } else {
        [at..end, end..end]
    }
}

/// The part of a buffer that is mapped in all of `at..at + len`.
pub fn shown(at: usize, len: usize) -> Option<Part> {
    let mapped = lock();
    let table = if touches_region(at, len) { &mapped.inside } else { &mapped.outside };
    let (_, (end, bo)) = table.range(..=at).next_back()?;
    let offset = || (at - inside().start) as u64 - u64::from(bo.address);
    let start = if touches_region(at, len) { offset() } else { 0 };
    (*end >= at.saturating_add(len)).then(|| Part { bo: bo.clone(), bytes: start..start + len as u64 })
}

/// Records that the system has moved `len` bytes of the mapping of `bo` from `old` to `at`.
pub fn moved(old: Range<usize>, at: usize, len: usize, bo: Arc<Bo>) {
    let mut mapped = lock();
    let gone = [cut(&mut mapped.outside, old), cut(&mut mapped.outside, at..at + len)];
    mapped.outside.insert(at, (at + len, bo));
    count(&mapped);
    drop(mapped);
    drop(gone);
}

fn count(mapped: &Mapped) {
    OUTSIDE.store(mapped.outside.len(), Ordering::Release);
}

/// Starts of the entries that overlap `range`, the last first.
fn overlapping<T>(mapped: &BTreeMap<usize, (usize, T)>, range: &Range<usize>) -> Vec<usize> {
    let below = mapped.range(..range.end).rev().take(if range.is_empty() { 0 } else { usize::MAX });
    below.take_while(|(_, (end, _))| *end > range.start).map(|(start, _)| *start).collect()
}

/// Removes `hole` from the table. The parts of entries on either side stay.
fn cut<T: Clone>(mapped: &mut BTreeMap<usize, (usize, T)>, hole: Range<usize>) -> Vec<T> {
    let mut gone = Vec::new();
    for start in overlapping(mapped, &hole) {
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
    use a4emu_gpu::memory::Memory;

    use super::*;
    use crate::arena::{self, Arena, PAGE};

    #[test]
    fn a_hole_leaves_both_sides() {
        let mut mapped = BTreeMap::from([(0, (10, 'a')), (10, (20, 'b')), (30, (40, 'c'))]);
        assert_eq!(cut(&mut mapped, 5..12), ['b', 'a']);
        assert_eq!(mapped, BTreeMap::from([(0, (5, 'a')), (12, (20, 'b')), (30, (40, 'c'))]));
        assert_eq!(cut(&mut mapped, 14..16), ['b']);
        assert_eq!(mapped.len(), 4);
        assert_eq!(cut(&mut mapped, 20..30), [] as [char; 0]);
    }

    #[test]
    fn mapped_buffers_are_no_longer_private() {
        let arena = Arc::new(Mutex::new(Arena::new(region().unwrap())));
        let bo = Arc::new(Bo::new(&arena, PAGE).unwrap());
        let pages = arena::lock(&arena).take_changes().born.remove(&bo.address).unwrap();
        let (mut memory, seen) = (Memory::new(), pages.seen.clone());
        memory.map_shared(bo.address, Arc::new(pages), seen);
        let mut is_private = |address| {
            let now = memory.now();
            memory.host_may_have_written();
            memory.is_unchanged(address, PAGE as u32, now)
        };
        assert!(is_private(bo.address));
        let part = Part { bo: bo.clone(), bytes: 0..PAGE };
        let at = add(part, None, |_, _| unreachable!("nobody has it mapped")).unwrap();
        assert!(!is_private(bo.address));
        remove(at, PAGE as usize);
        assert!(!is_private(bo.address), "it may be written already");
    }
}
