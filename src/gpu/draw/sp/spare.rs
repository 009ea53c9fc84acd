//! Spare warps, which a draw leaves for the next draw with the same program.

use std::sync::{Arc, Mutex, PoisonError};

use crate::limits::{SPARE_SHARDS, SPARE_WARPS};
use a4emu_shader::Warp;

/// Spare warps of one program. A thread reuses its own warps first, because they are in the cache of its
/// core.
#[derive(Clone, Default)]
pub struct SpareWarps(Arc<[Shard; SPARE_SHARDS]>);

/// Spare warps of some threads, aligned to cache lines that no other threads write.
#[derive(Default)]
#[repr(align(128))]
struct Shard(Mutex<Vec<Warp>>);

impl SpareWarps {
    /// Takes a spare warp, if there is one.
    pub fn take(&self) -> Option<Warp> {
        let own = own_shelf();
        (own..SPARE_SHARDS).chain(0..own).find_map(|shelf| self.on(shelf, Vec::pop))
    }

    /// Adds a spare warp.
    pub fn leave(&self, warp: Warp) {
        self.leave_all([warp]);
    }

    /// Adds spare warps.
    pub fn leave_all(&self, warps: impl IntoIterator<Item = Warp>) {
        self.on(own_shelf(), |kept| {
            let room = SPARE_WARPS.saturating_sub(kept.len());
            kept.extend(warps.into_iter().take(room));
        });
    }

    fn on<R>(&self, shelf: usize, work: impl FnOnce(&mut Vec<Warp>) -> R) -> R {
        work(&mut self.0[shelf].0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the shard of this thread.
fn own_shelf() -> usize {
    rayon::current_thread_index().map_or(0, |index| index % SPARE_SHARDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_get_what_they_have_left_and_else_what_others_have() {
        let spare = SpareWarps::default();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let warp = |limit| {
            let mut warp = Warp::default();
            warp.limit = limit;
            warp
        };
        let taken_by = |number| {
            let take = |thread: rayon::BroadcastContext<'_>| {
                (thread.index() == number).then(|| spare.take()).flatten()
            };
            pool.broadcast(take).into_iter().flatten().map(|warp| warp.limit).next()
        };
        pool.broadcast(|thread| spare.leave(warp(1 + thread.index() as u64)));
        assert_eq!(taken_by(1), Some(2));
        assert_eq!(taken_by(1), Some(1));
        assert_eq!(taken_by(0), None);
        assert!(spare.take().is_none());
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let spare = SpareWarps::default();
        spare.leave_all(std::iter::repeat_with(Warp::default).take(3 * SPARE_WARPS));
        assert_eq!(std::iter::from_fn(|| spare.take()).count(), SPARE_WARPS);
    }
}
