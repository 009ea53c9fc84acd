//! Handles: small numbers from 1, the lowest free one first, as the kernel hands them out.

use std::collections::BTreeMap;

/// A table of what handles name.
#[derive(Debug)]
pub struct Ids<T> {
    rows: BTreeMap<u32, T>,
    /// No number below this one is free.
    full_below: u32,
}

impl<T> Default for Ids<T> {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), full_below: 1 }
    }
}

impl<T> Ids<T> {
    /// Takes the lowest free number for `value`.
    pub fn add(&mut self, value: T) -> u32 {
        let mut id = self.full_below;
        for used in self.rows.range(id..).map(|(used, _)| *used) {
            if used != id {
                break;
            }
            id += 1;
        }
        self.full_below = id + 1;
        self.rows.insert(id, value);
        id
    }

    /// What `id` names.
    pub fn get(&self, id: u32) -> Option<&T> {
        self.rows.get(&id)
    }

    /// Forgets `id`; gives what it named.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let value = self.rows.remove(&id)?;
        self.full_below = self.full_below.min(id);
        Some(value)
    }

    /// The lowest number whose value satisfies `is`.
    pub fn find(&self, is: impl Fn(&T) -> bool) -> Option<u32> {
        self.rows.iter().find(|(_, value)| is(value)).map(|(id, _)| *id)
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
        assert_eq!((ids.get(2), ids.find(|v| *v == 'e')), (Some(&'d'), Some(4)));
    }
}
