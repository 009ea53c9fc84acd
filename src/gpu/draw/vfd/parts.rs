//! Splits a draw that is too large to hold at once into parts.

use std::ops::Range;

use crate::draw::topology::Topology;

use crate::fault::Missing;
use crate::limits::DRAW_PART;
use crate::memory::Memory;

use super::indices::fetch_indices;
use super::state::FetchState;

/// A part of the entries of a draw.
pub struct DrawPart {
    /// The indices; [`None`] is a restart.
    pub indices: Vec<Option<u32>>,
    /// The instances that use them.
    pub instances: Range<u32>,
}

/// Rules for splitting a list of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    /// Distance between possible split points, in entries.
    step: usize,
    /// Entries before a split point that primitives after it use, too.
    overlap: usize,
    /// Entries at the start that all primitives use.
    hub: usize,
}

impl Cut {
    /// Returns the rules for a list of `topology`. `None` where the meaning of an entry depends on the end of
    /// the list.
    fn of(topology: Topology) -> Option<Self> {
        let (step, overlap, hub) = match topology {
            Topology::Points | Topology::SizedPoints => (1, 0, 0),
            Topology::Lines => (2, 0, 0),
            Topology::Triangles => (3, 0, 0),
            Topology::LinesAdjacent => (4, 0, 0),
            Topology::TrianglesAdjacent => (6, 0, 0),
            Topology::LineStrip => (1, 1, 0),
            Topology::LineStripAdjacent => (1, 3, 0),
            // Every other triangle has the opposite winding.
            Topology::TriangleStrip => (2, 2, 0),
            Topology::TriangleFan => (1, 1, 1),
            _ => return None,
        };
        Some(Self { step, overlap, hub })
    }

    /// Takes the complete primitives from the start of `indices`. Entries that later primitives need remain.
    fn take(self, indices: &mut Vec<Option<u32>>) -> Vec<Option<u32>> {
        let run = indices.iter().rposition(Option::is_none).map_or(0, |restart| restart + 1);
        let spare = (indices.len() - run).saturating_sub(self.overlap);
        let next = run + spare / self.step * self.step;
        let (hub, end) = if next > run { (self.hub, next + self.overlap) } else { (0, run) };
        let left = indices[run..run + hub].iter().chain(&indices[next..]).copied().collect();
        let mut taken = std::mem::replace(indices, left);
        taken.truncate(end);
        taken
    }
}

/// Iterator over the parts of a draw.
pub struct Parts<'a> {
    fetch: &'a FetchState,
    cut: Cut,
    instance: u32,
    /// Number of fetched entries of the instance.
    fetched: u32,
    /// Fetched entries that start the next part.
    left: Vec<Option<u32>>,
}

impl<'a> Parts<'a> {
    /// Creates the parts of a draw with a list of `topology`; `None` when it cannot be split.
    pub fn new(fetch: &'a FetchState, topology: Topology) -> Option<Self> {
        Some(Self { fetch, cut: Cut::of(topology)?, instance: 0, fetched: 0, left: Vec::new() })
    }

    /// Returns the next part.
    pub fn next(&mut self, memory: &Memory, missing: &mut Missing) -> Option<DrawPart> {
        let FetchState { count, instances, .. } = *self.fetch;
        if self.instance >= instances || count == 0 {
            return None;
        }
        let first = self.instance;
        let room = DRAW_PART - self.left.len() as u32;
        let range = self.fetched..count.min(self.fetched.saturating_add(room));
        self.fetched = range.end;
        self.left.extend(fetch_indices(self.fetch, range, memory, missing));
        if self.fetched < count {
            return Some(DrawPart { indices: self.cut.take(&mut self.left), instances: first..first + 1 });
        }
        let several = (DRAW_PART / count).clamp(1, instances - first);
        self.instance = first + several;
        self.fetched = 0;
        Some(DrawPart { indices: std::mem::take(&mut self.left), instances: first..self.instance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::call::IndexSource;

    const CUT: [Topology; 9] = [
        Topology::Points,
        Topology::Lines,
        Topology::LineStrip,
        Topology::Triangles,
        Topology::TriangleFan,
        Topology::TriangleStrip,
        Topology::LinesAdjacent,
        Topology::LineStripAdjacent,
        Topology::TrianglesAdjacent,
    ];
    const RESTART: u32 = 0xffff_ffff;

    /// Creates an indexed draw with runs of these lengths.
    fn draw(runs: &[u32], instances: u32) -> FetchState {
        let runs = runs.iter().map(|run| (0..*run).map(|i| 5 * i % 1013).collect::<Vec<_>>());
        let list = runs.collect::<Vec<_>>().join(&RESTART);
        let count = list.len() as u32;
        let indices = IndexSource::Immediate(list);
        FetchState { count, instances, indices, restart: Some(RESTART), ..FetchState::default() }
    }

    /// Returns the primitives of a list, as entries.
    fn primitives(cut: Cut, indices: &[Option<u32>]) -> Vec<Vec<u32>> {
        let runs = indices.split(Option::is_none);
        let runs = runs.map(|run| run.iter().flatten().copied().collect::<Vec<_>>());
        runs.flat_map(|run| match cut {
            Cut { hub: 1, .. } => {
                run.windows(2).skip(1).map(|rim| [&run[..1], rim].concat()).collect::<Vec<_>>()
            }
            // Even and odd triangles are different.
            Cut { overlap: 0, step, .. } => run.chunks_exact(step).map(<[u32]>::to_vec).collect(),
            Cut { overlap, step, .. } => {
                let numbered = run.windows(overlap + 1).enumerate();
                numbered.map(|(i, v)| [&[(i % step) as u32], v].concat()).collect()
            }
        })
        .collect()
    }

    fn parts(fetch: &FetchState, topology: Topology) -> Vec<DrawPart> {
        let mut parts = Parts::new(fetch, topology).expect("it can be taken apart");
        std::iter::from_fn(|| parts.next(&Memory::new(), &mut Missing::default())).collect()
    }

    #[test]
    fn parts_have_the_primitives_of_the_whole() {
        let lists: [&[u32]; 4] = [
            &[3 * DRAW_PART + 7],
            &[DRAW_PART - 1, 2, DRAW_PART + 1, 5],
            &[DRAW_PART, DRAW_PART, 0, 1],
            &[DRAW_PART / 2 + 1; 5],
        ];
        for (topology, runs) in CUT.iter().flat_map(|topology| lists.map(|runs| (*topology, runs))) {
            let (fetch, cut) = (draw(runs, 1), Cut::of(topology).expect("it can be cut"));
            let whole = fetch_indices(&fetch, 0..fetch.count, &Memory::new(), &mut Missing::default());
            let parts = parts(&fetch, topology);
            assert!(parts.len() > 2 && parts.iter().all(|part| part.indices.len() <= DRAW_PART as usize));
            let got: Vec<_> = parts.iter().flat_map(|part| primitives(cut, &part.indices)).collect();
            assert!(got == primitives(cut, &whole), "{topology:?} of {runs:?}");
        }
    }

    #[test]
    fn instances_are_drawn_together_as_far_as_they_fit() {
        let ranges = |runs: &[u32], instances| {
            let parts = parts(&draw(runs, instances), Topology::Triangles);
            parts.into_iter().map(|part| part.instances).collect::<Vec<_>>()
        };
        assert_eq!(ranges(&[DRAW_PART / 3], 7), [0..3, 3..6, 6..7]);
        assert_eq!(ranges(&[DRAW_PART + 1], 2), [0..1, 0..1, 1..2, 1..2]);
        assert_eq!(ranges(&[], 7), []);
    }

    #[test]
    fn a_list_that_closes_is_whole() {
        let fetch = draw(&[3], 1);
        assert!(Parts::new(&fetch, Topology::LineLoop).is_none());
        assert!(Parts::new(&fetch, Topology::Rectangles).is_none());
    }
}
