//! Removes as many units as possible: Zeller's ddmin, then one by one.

/// The nodes that are removed so far.
pub struct Minimiser {
    /// Whether each node is removed, by number.
    pub removed: Vec<bool>,
}

impl Minimiser {
    /// Starts with no node removed, of this number of nodes.
    pub fn new(nodes: usize) -> Self {
        Self { removed: vec![false; nodes] }
    }

    /// Removes as many of `units` as `holds` allows. A unit is a group of nodes. Returns the number of units
    /// that stay. First all units are tried together, then halves, and so on: neighbours are often unneeded
    /// together.
    pub fn minimise(
        &mut self,
        mut units: Vec<Vec<usize>>,
        holds: &mut impl FnMut(&[bool]) -> anyhow::Result<bool>,
    ) -> anyhow::Result<usize> {
        let mut size = units.len();
        while size > 0 {
            let mut kept = Vec::new();
            // Start at the end, since later units depend on earlier ones.
            let mut left = units.len();
            while left > 0 {
                let first = left.saturating_sub(size);
                let chunk = &units[first..left];
                let attempt = self.without(chunk);
                match holds(&attempt)? {
                    true => self.removed = attempt,
                    false => kept.extend(chunk.iter().rev().cloned()),
                }
                left = first;
            }
            kept.reverse();
            // After a removal of single units, further ones may be removable.
            let went = kept.len() < units.len();
            units = kept;
            size = match size {
                1 if went => 1,
                1 => 0,
                size => (size / 2).min(units.len()),
            };
        }
        Ok(units.len())
    }

    fn without(&self, units: &[Vec<usize>]) -> Vec<bool> {
        let mut removed = self.removed.clone();
        units.iter().flatten().for_each(|node| removed[*node] = true);
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units that stay of `count`, and the number of attempts.
    fn minimised(count: usize, holds: impl Fn(&dyn Fn(usize) -> bool) -> bool) -> (Vec<usize>, usize) {
        let mut minimiser = Minimiser::new(count);
        let mut attempts = 0;
        let units = (0..count).map(|unit| vec![unit]).collect();
        let kept = minimiser.minimise(units, &mut |removed| {
            attempts += 1;
            Ok(holds(&|unit| !removed[unit]))
        });
        let left: Vec<usize> = (0..count).filter(|unit| !minimiser.removed[*unit]).collect();
        assert_eq!(kept.unwrap(), left.len());
        (left, attempts)
    }

    #[test]
    fn one_of_many_is_found_in_few_attempts() {
        let (left, attempts) = minimised(1000, |has| has(603));
        assert_eq!(left, [603]);
        assert!(attempts < 40, "{attempts}");
        assert_eq!(minimised(7, |_| true), (vec![], 1));
    }

    #[test]
    fn minimise_keeps_only_the_needed_units() {
        let (left, _) = minimised(100, |has| has(3) && has(50) && has(97));
        assert_eq!(left, [3, 50, 97]);
        // Unit 5 can only be removed after unit 40.
        assert_eq!(minimised(64, |has| has(20) && (has(5) || !has(40))).0, [20]);
    }
}
