//! Long lists that have done their work, for the next ones that are as long: all of them is overwritten anyhow, so that
//! nobody need clear it first, in a loop of its own that goes through all of the memory.
use std::sync::Mutex;

/// Lists of one kind.
pub struct Spare<T>(Mutex<Vec<Vec<T>>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

/// Bytes from which on a list is long: shorter ones are in the caches anyhow.
const LONG: usize = 64 << 10;

/// Bytes of all that are kept.
const MAX_BYTES: usize = 64 << 20;

impl<T: Clone> Spare<T> {
    /// A list of `count` items, each of which is `fill` or anything that was in a list before.
    pub fn take(&self, count: usize, fill: T) -> Vec<T> {
        if count * size_of::<T>() < LONG {
            return vec![fill; count];
        }
        // Who cannot have them at once does without: after a fork nobody may be there to give them back.
        let spare = self.0.try_lock().ok().and_then(|mut all| {
            let fits = |list: &Vec<T>| list.capacity() >= count;
            let index = all.iter().rposition(fits)?;
            Some(all.remove(index))
        });
        match spare {
            Some(mut list) => {
                list.resize(count, fill);
                list
            }
            None => vec![fill; count],
        }
    }

    /// Keeps a list that has done its work, if it is long and there is room.
    pub fn leave(&self, list: Vec<T>) {
        let bytes = |list: &Vec<T>| list.capacity() * size_of::<T>();
        if bytes(&list) < LONG {
            return;
        }
        if let Ok(mut all) = self.0.try_lock()
            && all.iter().map(bytes).sum::<usize>() + bytes(&list) <= MAX_BYTES
        {
            all.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_taken_again() {
        let spare = Spare::default();
        let count = LONG / 4;
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
    fn no_more_is_kept_than_there_is_room_for() {
        let spare = Spare::default();
        spare.leave(vec![0u8; LONG - 1]);
        assert!(spare.0.lock().unwrap().is_empty(), "short");
        for _ in 0..4 {
            spare.leave(Vec::<u8>::with_capacity(MAX_BYTES / 3));
        }
        assert_eq!(spare.0.lock().unwrap().len(), 3);
    }
}
