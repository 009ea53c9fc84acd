//! Handles: small numbers from 1, the lowest free one first, like the kernel's.

use std::collections::{BTreeMap, BTreeSet};

/// A table of values by handle.
#[derive(Debug)]
pub struct Ids<T> {
    rows: BTreeMap<u32, T>,
    /// No number from here on was ever used.
    fresh: u32,
    /// Free numbers below `fresh`.
    free: BTreeSet<u32>,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), fresh: 1, free: BTreeSet::new() }
    }
}

impl<T> Ids<T> {
    /// Takes the lowest free number for `value`.
    pub fn add(&mut self, value: T) -> u32 {
        let id = self.free.pop_first().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.rows.insert(id, value);
        id
    }

    /// The value of `id`.
    pub fn get(&self, id: u32) -> Option<&T> {
        self.rows.get(&id)
    }

    /// The value of `id`, to change it.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        self.rows.get_mut(&id)
    }

    /// Removes `id`. Returns its value.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let value = self.rows.remove(&id)?;
        self.free.insert(id);
        Some(value)
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.values()
    }

    /// All values, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.rows.values_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn the_lowest_free_number_is_next() {
        let mut ids = Ids::default();
        assert_eq!([ids.add('a'), ids.add('b'), ids.add('c')], [1, 2, 3]);
        assert_eq!((ids.remove(2), ids.remove(2)), (Some('b'), None));
        assert_eq!([ids.add('d'), ids.add('e')], [2, 4]);
        assert_eq!((ids.get(2), ids.iter().count()), (Some(&'d'), 4));
    }
}
