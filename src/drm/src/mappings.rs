//! Which addresses of the program show which buffers: a buffer lives as long as somebody
//! has it mapped, also after its last handle is closed.
//!
//! What `mmap` gives is the buffer's place in the [`Region`], which is mapped anyway: it costs
//! the system nothing, however many there are. Only a second mapping of the same bytes, or one
//! at an address of the program's choice, is a mapping of its own.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::Errno;

use crate::arena::END;
use crate::ffi::pages::Region;
use crate::gem::Bo;

/// A part of a buffer that is to be mapped.
pub struct Part {
    /// The buffer.
    pub bo: Arc<Bo>,
    /// Which bytes of it.
    pub bytes: Range<u64>,
}

/// Start -> end, and what is there; they do not overlap.
type Table = BTreeMap<usize, (usize, Arc<Bo>)>;

/// What is mapped.
#[derive(Default)]
pub struct Mapped {
    /// Buffers at their place in the region.
    inside: Table,
    /// Mappings of their own.
    outside: Table,
}

/// The locked tables.
pub type Guard = MutexGuard<'static, Mapped>;

static MAPPED: Mutex<Mapped> = Mutex::new(Mapped { inside: BTreeMap::new(), outside: BTreeMap::new() });
static REGION: OnceLock<Region> = OnceLock::new();
/// Where the region starts, 0 while there is none: the question of a hook, without locks.
static START: AtomicUsize = AtomicUsize::new(0);
/// How many entries are outside of the region.
static OUTSIDE: AtomicUsize = AtomicUsize::new(0);

/// The memory of all buffers, mapped when it is asked for first.
///
/// # Errors
/// `ENOMEM`.
pub fn region() -> Result<&'static Region, Errno> {
    if REGION.get().is_none() {
        // Of two threads that come at once one has mapped in vain, which costs addresses only.
        let _ = REGION.set(Region::new(END)?);
    }
    let region = REGION.get().ok_or(Errno::NOMEM)?;
    START.store(region.start(), Ordering::Release);
    Ok(region)
}

/// Locks the tables; entries are whole whoever panicked.
pub fn lock() -> Guard {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The addresses of the region; empty while there is none.
fn inside() -> Range<usize> {
    match START.load(Ordering::Acquire) {
        0 => 0..0,
        start => start..start + END as usize,
    }
}

/// Whether `at..at + len` touches the region.
pub fn touches_region(at: usize, len: usize) -> bool {
    let inside = inside();
    at < inside.end && at.saturating_add(len) > inside.start
}

/// Whether a buffer may be mapped in `at..at + len`. Neither locks nor allocates.
pub fn may_show(at: usize, len: usize) -> bool {
    OUTSIDE.load(Ordering::Acquire) > 0 || touches_region(at, len)
}

/// Maps `part`, at the address `wish` if that is given. `show` makes a second mapping, at an
/// address or wherever there is room.
///
/// # Errors
/// Those of `show`; `EINVAL` for an address that is the region's.
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
    // After the lock: the last owner of a buffer gives its memory back.
    drop(gone);
    Ok(at)
}

/// What the program has mapped at `at..at + len` goes away. Gives what is left for the system
/// to unmap: the parts outside of the region.
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

/// The part of a buffer that all of `at..at + len` shows.
pub fn shown(at: usize, len: usize) -> Option<Part> {
    let mapped = lock();
    let table = if touches_region(at, len) { &mapped.inside } else { &mapped.outside };
    let (_, (end, bo)) = table.range(..=at).next_back()?;
    let offset = || (at - inside().start) as u64 - u64::from(bo.address);
    let start = if touches_region(at, len) { offset() } else { 0 };
    (*end >= at.saturating_add(len)).then(|| Part { bo: bo.clone(), bytes: start..start + len as u64 })
}

/// The mapping of `bo` at `old` is now at `at`, where the system has moved `len` bytes of it.
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

/// Starts of the entries that have a byte in `range`, the last first.
fn overlapping<T>(mapped: &BTreeMap<usize, (usize, T)>, range: &Range<usize>) -> Vec<usize> {
    let below = mapped.range(..range.end).rev().take(if range.is_empty() { 0 } else { usize::MAX });
    below.take_while(|(_, (end, _))| *end > range.start).map(|(start, _)| *start).collect()
}

/// Takes `hole` out of the table; what stays on either side of it stays.
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
    fn what_is_mapped_is_seen() {
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
