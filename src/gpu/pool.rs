//! Pools of long lists for reuse. A reused list is not cleared, since its user overwrites all of it. This
//! saves a pass over the memory.
use crate::limits::{POOL_BYTES, POOLED_BYTES};
use std::sync::Mutex;

/// Unused lists of one item type.
pub struct Pool<T>(Mutex<Vec<Vec<T>>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T: Clone> Pool<T> {
    /// A list of `count` items. Each item is `fill` or a leftover of an earlier list.
    pub fn take(&self, count: usize, fill: T) -> Vec<T> {
        match self.find(count) {
            Some(mut list) => {
                list.resize(count, fill);
                list
            }
            None => vec![fill; count],
        }
    }

    /// An empty list with the largest capacity in the pool.
    pub fn largest(&self) -> Vec<T> {
        let all = self.0.try_lock().ok();
        let largest = all.and_then(|mut all| {
            let (index, _) = all.iter().enumerate().max_by_key(|(_, list)| list.capacity())?;
            Some(all.swap_remove(index))
        });
        largest.map_or_else(Vec::new, |mut list: Vec<T>| {
            list.clear();
            list
        })
    }

    /// Finds a list with capacity for `count` items, if that many are long.
    fn find(&self, count: usize) -> Option<Vec<T>> {
        if count * size_of::<T>() < POOLED_BYTES {
            return None;
        }
        // `try_lock`: after fork() the lock's owner may not exist. Allocate instead.
        let mut all = self.0.try_lock().ok()?;
        let index = all.iter().rposition(|list| list.capacity() >= count)?;
        Some(all.remove(index))
    }

    /// Keeps a list for reuse, if it is long and the pool has room.
    pub fn leave(&self, list: Vec<T>) {
        let bytes = |list: &Vec<T>| list.capacity() * size_of::<T>();
        if bytes(&list) < POOLED_BYTES {
            return;
        }
        if let Ok(mut all) = self.0.try_lock()
            && all.iter().map(bytes).sum::<usize>() + bytes(&list) <= POOL_BYTES
        {
            all.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_reuses_long_lists() {
        let spare = Pool::default();
        let count = POOLED_BYTES / 4;
        assert_eq!(spare.take(count, 1u32), vec![1; count]);
        let mut list = vec![7u32; count];
        let place = list.as_ptr();
        list.truncate(count - 5);
        spare.leave(list);
        let short = spare.take(10, 2);
        assert_eq!(short, [2; 10]);
        let again = spare.take(count, 3);
        assert_eq!(again.as_ptr(), place);
        assert_eq!((&again[..count - 5], &again[count - 5..]), (&vec![7; count - 5][..], &[3; 5][..]));
        assert_eq!(spare.take(count, 4), vec![4; count], "it is gone");
    }

    #[test]
    fn largest_returns_an_emptied_list_with_most_capacity() {
        let spare = Pool::default();
        let lists: [Vec<u32>; 3] = [1, 3, 2].map(|times| vec![7; times * POOLED_BYTES / 4]);
        let [one, three, two] = lists.each_ref().map(|list| (list.as_ptr(), list.capacity()));
        lists.into_iter().for_each(|list| spare.leave(list));
        for place in [three, two, one] {
            let list = spare.largest();
            assert_eq!((list.len(), list.as_ptr(), list.capacity()), (0, place.0, place.1));
        }
        assert_eq!(spare.largest().capacity(), 0, "nothing is left");
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let spare = Pool::default();
        spare.leave(vec![0u8; POOLED_BYTES - 1]);
        assert!(spare.0.lock().unwrap().is_empty(), "short");
        for _ in 0..4 {
            spare.leave(Vec::<u8>::with_capacity(POOL_BYTES / 3));
        }
        assert_eq!(spare.0.lock().unwrap().len(), 3);
    }
}
